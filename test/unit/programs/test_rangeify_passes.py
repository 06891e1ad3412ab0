"""`tg-rangeify` is the sequence of its passes, also where each reads the text of the one before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from work import module_of
from work_programs import GRID_PROGRAMS, PROGRAMS
from xdsl.dialects.builtin import ModuleOp

from tgdialect import Tensor
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.rangeify.planning.plan import ATTRIBUTES
from tgdialect.lowering.verify import verify_level
from tgdialect.registry import make_context
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))


def read(text: str) -> ModuleOp:
    return parse_module(make_context(), SourceFile("test", text, 1))


def check(text: str) -> str:
    """Check that a program on tensors becomes the same by the stage and by its passes, whose texts
    are at their levels. Returns the text of the plan."""
    program = read(text)
    CallifyPass().lower(program)
    text = str(program)
    stage = read(text)
    RangeifyPass().lower(stage)
    *passes, build = RangeifyPass().passes()
    for each in passes:
        module = read(text)
        verify_level(module, each.level_before)
        each.lower(module)
        text = str(module)
    module = read(text)
    build.lower(module)
    assert str(module) == str(stage)
    assert not any(name in str(module) for name in ATTRIBUTES)
    return text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path):
    check(path.read_text(encoding="utf-8"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [*PROGRAMS, *GRID_PROGRAMS])
def test_programs(name: str):
    target, program = GRID_PROGRAMS.get(name) or ("cpu", PROGRAMS[name])
    made = program()
    results = [made] if isinstance(made, Tensor) else made
    module = results if isinstance(results, ModuleOp) else module_of([*results])
    state_target(module, target_named(target))
    check(str(module))


def test_each_attribute_of_the_plan_is_in_some_program():
    """Attributes that no program has would not be tested by the texts above."""
    files = Path(__file__).parents[2] / "filecheck" / "lowering" / "rangeify"
    tests = ("padded_in_place", "online", "kernels/axis_orders", "kernels/layernorm")
    parts = [
        part
        for test in tests
        for part in (files / f"{test}.mlir").read_text(encoding="utf-8").split("// -----")
    ]
    texts = "".join(map(check, parts))
    assert {*re.findall(r"tg\.\w+(?= =|[,}])", texts)} >= ATTRIBUTES.keys()
