"""How much work it is to compile a program, counted and not timed: every run counts the same.

The counters wrap methods of the compiler, so that it has none itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from tgdialect import Tensor
from tgdialect.analysis.min_max import MinMax
from tgdialect.frontend import realization
from tgdialect.frontend.graph import sorted_nodes
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.lowering.rangeify.planning.demand import Demands
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.properties import is_memory, tensor
from tgdialect.targets import Target, target_named
from tgdialect.targets.attribute import state_target
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.work_items.accesses import WorkItems

FEATURES = ("avx512f", "avx512dq", "avx512bw", "avx512vl", "avx2", "avx", "fma", "f16c")
TARGET = replace(target_named("cpu", FEATURES), threads=2, l1=48 << 10, l2=1 << 20, llc=32 << 20)
"""The machine that the table is about, whichever this one is."""

STAGES = stages(mode="heuristic")


@dataclass
class Work:
    """What it took to compile a program, and what came out of it."""

    made: int = field(default=0, metadata={"of": (OpResult, "__init__")})
    """Results of ops that were made."""
    visited: int = field(default=0, metadata={"of": (Engine, "_visit")})
    """Ops that tg-simplify looked at: those there are, and those that its rewrites made."""
    intervals: int = field(default=0, metadata={"of": (MinMax, "_compute")})
    """Intervals that were computed."""
    demands: int = field(default=0, metadata={"of": (Demands, "operands")})
    """Steps of walks that say what a value costs to compute again."""
    meetings: int = field(default=0, metadata={"of": (WorkItems, "_meet")})
    """Pairs of shapes of indices that are compared, to find out where work items may meet."""
    schedules: int = field(default=0, metadata={"of": (Axes, "changed")})
    """Times that an OptOp changed a kernel, which is analysed anew then."""
    kernels: int = 0
    """Kernels that the program calls."""
    vectors: int = 0
    """LOADs and STOREs of vectors."""
    scalars: int = 0
    """LOADs and STOREs of single elements."""
    llvm: int = 0
    """Operations of the `llvm` dialect."""


COUNTS = tuple(each.name for each in fields(Work))


def module_of(results: Sequence[Tensor]) -> ModuleOp:
    """The program that computes tensors, at the tensor level. Arrays are its arguments."""
    wanted = [result.node for result in results]
    order = sorted_nodes(wanted)
    leaves = [node for node in order if node.data is not None]
    return realization.module_of(realization.function_of("main", order, leaves, wanted))


def work_of(module: ModuleOp, target: Target = TARGET) -> Work:
    """Compile a program for a machine, by default the one that the table is about."""
    work = Work()

    def count(stage: LoweringPass, module: ModuleOp) -> None:
        if stage.name == "tg-linearize":
            programs = [op for op in module.ops if isinstance(op, ProgramOp)]
            work.kernels = len(programs)
            for op in (op for program in programs for op in program.walk()):
                if isinstance(op, LoadOp | StoreOp):
                    _count_access(work, op)
        elif stage.name == "tg-render":
            work.llvm = sum(op.dialect_name() == llvm.LLVM.name for op in module.walk())

    state_target(module, target)
    with _counting(work):
        run_stages(module, STAGES, count)
    return work


def _count_access(work: Work, op: LoadOp | StoreOp) -> None:
    value = op.value if isinstance(op, StoreOp) else op.result
    if is_memory(value) or not tensor(value).get_shape():
        work.scalars += 1
    else:
        work.vectors += 1


@contextmanager
def _counting(work: Work) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for each in fields(Work):
            if "of" in each.metadata:
                owner, name = each.metadata["of"]
                patch.setattr(owner, name, _counted(work, each.name, getattr(owner, name)))
        yield


def _counted(work: Work, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        setattr(work, name, getattr(work, name) + 1)
        return method(*args, **kwargs)

    return call
