"""`tg-simplify` keeps the values of random programs, and gets on with it."""

from __future__ import annotations

from hypothesis import given, settings
from random_programs import Program, outputs, programs

from tgdialect.transforms.simplify import simplify


@settings(max_examples=400, deadline=None)
@given(programs())
def test_values_stay(program: Program):
    before = [outputs(program.block, a) for a in program.arguments]
    text = str(program.module)
    simplify(program.module)
    program.module.verify()
    after = [outputs(program.block, a) for a in program.arguments]
    assert before == after, f"{text}\n{program.module}\n{program.arguments}"


@settings(max_examples=200, deadline=None)
@given(programs())
def test_the_second_time_changes_nothing(program: Program):
    simplify(program.module)
    once = str(program.module)
    simplify(program.module)
    assert str(program.module) == once
