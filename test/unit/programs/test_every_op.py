"""Which pass makes each op, which target compiles it, and which program of `op_programs.py` runs it
there: an op without an answer fails, and so does an exception that is not needed.

What is compiled is executed and compared with the interpreter, or else lowered as far as its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from op_programs import PROGRAMS, RUN, WRITTEN, OpProgram
from opencl_device import DEVICE, needs_opencl, takes_opencl_c
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.dialect import TG
from tgdialect.lowering.levels import LoweringPass, find_level, is_before
from tgdialect.lowering.pipeline import ToGpuPass, ToLlvmPass, ToSourcePass
from tgdialect.registry import make_context
from tgdialect.targets.host import host_features

OPS = {op.name for op in TG.operations}
COMPILED = (*RUN[1:], *WRITTEN)
EXECUTED = ("cpu", "c", pytest.param("opencl", marks=[needs_opencl, takes_opencl_c]))

_SEVERAL = "several devices: each of them compiles its part, which has none"
_HOST = "a function of the host: a device cannot call it"
_NO_TABLE = "no table of instructions"
_TEXT_LATER = "stage 8 makes `gpu` or `llvm` ops instead"
_ONE_THREAD = "for the work items of a grid"
_LACKS = {
    "cpu": {
        "tg.barrier": _ONE_THREAD,
        "tg.shuffle": _ONE_THREAD,
        "tg.special": _ONE_THREAD,
        "tg.source": _TEXT_LATER,
        "tg.wmma": "for AMX, which this processor need not have",
    },
    "c": {
        "tg.barrier": _ONE_THREAD,
        "tg.shuffle": _ONE_THREAD,
        "tg.special": _ONE_THREAD,
        "tg.wmma": "no matrix instructions",
        "tg.vconst": "no vectors: kernels are scalar",
        "tg.ins": _NO_TABLE,
        "tg.copy": _SEVERAL,
        "tg.replicated": _SEVERAL,
    },
    "opencl": {
        "tg.ins": _NO_TABLE,
        "tg.shuffle": "no shuffles",
        "tg.wmma": "no matrix instructions",
    },
    "metal": {
        "tg.ins": _NO_TABLE,
        "tg.wmma": "no matrix instructions",
        "tg.fmod": "computed in f64",
    },
}
_ON_DEVICES = {"tg.copy": _SEVERAL, "tg.replicated": _SEVERAL, "tg.customfunction": _HOST}


def lacks(target: str) -> Mapping[str, str]:
    """The ops that no program has on a target, and why."""
    own = _LACKS.get(target, {"tg.source": _TEXT_LATER})
    return own if target in ("cpu", "c") else {**_ON_DEVICES, **own}


MADE: Mapping[str, str] = {
    "tg.atomicadd": "tg-rangeify",
    "tg.barrier": "tg-linearize",
    "tg.endif": "tg-linearize",
    "tg.if": "tg-linearize",
    "tg.linear": "tg-linearize",
    "tg.program": "tg-linearize",
    "tg.shuffle": "tg-expand",
    "tg.source": "tg-render",
    "tg.special": "tg-linearize",
    "tg.vconst": "tg-expand",
    "tg.wmma": "tg-expand",
}
"""The passes that make the ops which no program here is written in."""


def module_of(program: OpProgram) -> ModuleOp:
    return parse_module(make_context(), SourceFile("test", program.text, 1))


def has_source(target: str) -> bool:
    """Whether the programs of a target become text, which stands beside their ops."""
    return target in ("c", "opencl", "metal")


def pipeline(target: str) -> list[LoweringPass]:
    if target == "cpu":
        return [*ToLlvmPass(mode="heuristic", features=host_features()).pipeline()]
    make = ToSourcePass if has_source(target) else ToGpuPass
    return [*make(target=target, mode="heuristic").pipeline()]


def ops_in(module: ModuleOp) -> set[str]:
    return {op.name for op in module.walk()} & OPS


@cache
def seen(target: str) -> Mapping[str, set[str]]:
    """The ops of the programs of a target, each with the passes that make it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, program in PROGRAMS.items():
        if target not in program.targets:
            continue
        module = module_of(program)
        before = ops_in(module)
        for op in before:
            found[op]  # Written in a program.
        if name == "copies":
            continue  # `runtime.distributed` lowers the parts of each device.
        level = find_level(module)
        for stage in pipeline(target):
            if is_before(stage.level_before, level):
                continue
            stage.lower(module)
            after = ops_in(module)
            for op in after - before:
                found[op].add(stage.name)
            before = after
        if not has_source(target):
            rest = before - {"tg.customfunction"}
            assert not rest, f"{name}: tg-render leaves {sorted(rest)}"
    return found


@pytest.mark.parametrize("target", COMPILED)
def test_a_target_compiles_each_op(target):
    found, exceptions = seen(target), lacks(target)
    assert OPS - found.keys() - exceptions.keys() == set(), "no program has these"
    assert found.keys() & exceptions.keys() <= {"tg.wmma"}, "these are there"


def test_each_op_is_written_or_made_by_a_pass():
    made: defaultdict[str, set[str]] = defaultdict(set)
    written = set().union(*(ops_in(module_of(program)) for program in PROGRAMS.values()))
    for target in COMPILED:
        for op, passes in seen(target).items():
            made[op] |= passes
    assert OPS - written == MADE.keys()
    assert {op: name for op, name in MADE.items() if name not in made[op]} == {}


def execute(program: OpProgram, target: str | None) -> Any:
    is_registered = target == "interpreter" or "tg.customfunction" in program.text
    executable = tg.compile(
        program.text,
        target=DEVICE if target == "opencl" else target,
        allow_custom=True,
        custom=program.custom if is_registered else {},
    )
    return executable(*program.inputs)


@pytest.mark.parametrize("target", EXECUTED)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_target_computes_what_the_interpreter_does(name, target):
    program = PROGRAMS[name]
    if target not in program.targets:
        return
    expected = execute(program, "interpreter")
    result = execute(program, None if name == "copies" else target)
    np.testing.assert_allclose(result, expected, rtol=program.tolerance, atol=1e-4)
