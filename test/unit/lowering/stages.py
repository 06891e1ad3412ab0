"""Run a kernel after each stage, to compare what it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from parsing import tg_context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from tgdialect.interpreter import run
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.plan import PlanPass
from tgdialect.lowering.select import SelectPass
from tgdialect.lowering.verify import verify_level

Array = np.ndarray[Any, Any]

STAGES: Sequence[tuple[str, Callable[[], ModulePass], str]] = (
    ("expand", ExpandPass, "tiles"),
    ("select", lambda: SelectPass("cpu"), "target"),
    ("linearize", LinearizePass, "linear"),
    ("plan", PlanPass, "planned"),
)


def parse(text: str) -> ModuleOp:
    return Parser(tg_context(), text).parse_module()


def results_by_stage(text: str, entry: str, inputs: Sequence[Array]) -> dict[str, list[Array]]:
    """All arguments of a kernel or function after it has run: as it is, and after each stage.

    The module verifies after each stage, and is at its level.
    """
    module, ctx = parse(text), tg_context()
    module.verify()
    results = {"kernels": _run(module, entry, inputs)}
    for name, make, level in STAGES:
        make().apply(ctx, module)
        module.verify()
        verify_level(module, level)
        results[name] = _run(module, entry, inputs)
    return results


def _run(module: ModuleOp, entry: str, inputs: Sequence[Array]) -> list[Array]:
    arguments = [array.copy() if isinstance(array, np.ndarray) else array for array in inputs]
    run(module, entry, arguments)
    return arguments


def kernel(name: str, params: Sequence[str], body: str) -> str:
    """The text of a kernel. `params` are `name: type`; in the body, `@4x8xf32` is global memory."""
    lines = [
        f"%{p.split(':')[0]} = tg.param {slot} : {p.split(':')[1]}" for slot, p in enumerate(params)
    ]
    return f"tg.kernel @{name} {{\n" + "\n".join((*lines, body)) + "\n}"


def memory(shape: str) -> str:
    return f"tensor<{shape}, #tg.place<global>>"


def load(name: str, buffer: str, type: str, indices: Sequence[str]) -> str:
    """`%name = buffer[indices]`; `type` is `4x8xf32`."""
    return (
        _index(f"{name}_at", buffer, type, indices)
        + f"%{name} = tg.load %{name}_at : {memory(_dtype(type))} -> tensor<{_dtype(type)}>\n"
    )


def store(name: str, buffer: str, type: str, indices: Sequence[str], value: str) -> str:
    """`buffer[indices] = value`, an op of this name."""
    dtype = _dtype(type)
    return (
        _index(f"{name}_at", buffer, type, indices)
        + f"%{name} = tg.store %{name}_at, %{value} : {memory(dtype)}, tensor<{dtype}>\n"
    )


def _index(name: str, buffer: str, type: str, indices: Sequence[str]) -> str:
    operands = ", ".join(f"%{i}" for i in indices)
    types = ", ".join([memory(type), *["tensor<index>"] * len(indices)])
    return f"%{name} = tg.index %{buffer}[{operands}] : ({types}) -> {memory(_dtype(type))}\n"


def _dtype(type: str) -> str:
    return type.rsplit("x", 1)[-1]
