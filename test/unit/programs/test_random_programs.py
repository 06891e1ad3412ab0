"""Properties of random programs: the text round-trips, executors agree, intervals are sound.

A failure prints the program as MLIR, its inputs, and the call of `random_program` that makes it:
where executors disagree, as the reproducer of a reduced program.
`TG_RANDOM_PROGRAMS=10000` in the environment makes that many, and others each time.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
from agreement import differences
from executors import EXECUTORS, interpret
from expression import Array
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_programs import RandomProgram, Value, random_program
from reproduced import Failed
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from tgdialect.analysis.min_max import MinMax
from tgdialect.dialect import TG
from tgdialect.ops.intervals import constant

COUNT = "TG_RANDOM_PROGRAMS"

deterministic = settings(
    derandomize=COUNT not in os.environ,
    max_examples=int(os.environ.get(COUNT, "150")),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # `reproduced.py` makes them smaller.
)
seeds = st.integers(0, 2**32 - 1)
lengths = st.integers(1, 14)


def report(program: RandomProgram, seed: int, steps: int, message: str) -> str:
    """What a failed test says."""
    inputs = "\n".join(f"input {n}: {array!r}" for n, array in enumerate(program.inputs))
    return f"random_program({seed}, {steps}): {message}\n{inputs}\n{program.module}"


@deterministic
@given(seeds, lengths)
def test_text_round_trips(seed: int, steps: int):
    program = random_program(seed, steps)
    program.module.verify()
    text = str(program.module)
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    parsed = Parser(context, text).parse_module()
    parsed.verify()
    assert str(parsed) == text
    assert parsed.is_structurally_equivalent(program.module)


@deterministic
@given(seeds, lengths)
def test_intervals_hold_every_value(seed: int, steps: int):
    program = random_program(seed, steps)
    arrays = interpret(program.exposing_everything(), program.inputs)
    known = MinMax()
    assert len(arrays) == len(program.values)
    for value, array in zip(program.values, arrays, strict=True):
        interval = known[value.expression.value]
        if value.invalid:
            # Such a cell is 0 in the results, whatever the interval of the valid ones.
            interval = interval.union(constant(0))
        outside = [x for x in numbers(array, value) if x not in interval]
        message = f"{value.expression.value} is in {interval}, but it has {outside[:3]}"
        assert not outside, report(program, seed, steps, message)


def numbers(array: Array, value: Value) -> list[int | float]:
    """The elements as exact Python numbers."""
    wide = np.float64 if value.row.is_float else object
    with np.errstate(invalid="ignore"):
        return array.astype(wide).ravel().tolist()


@settings(deterministic, max_examples=deterministic.max_examples // 20)
@given(seeds, lengths)
def test_c_agrees(seed: int, steps: int):
    """The C compiler takes longer than all stages: a sample."""
    check("c", seed, steps)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["cpu-heuristic", "cpu-none"])
@deterministic
@given(seeds, lengths)
def test_executors_agree(name: str, seed: int, steps: int):
    check(name, seed, steps)


@settings(deterministic, max_examples=deterministic.max_examples // 4)
@given(seeds, lengths)
def test_constants_change_nothing(seed: int, steps: int):
    check("cpu-frozen", seed, steps)


def check(name: str, seed: int, steps: int) -> None:
    """Fail where an executor does otherwise than the interpreter."""
    if text := failure(name, seed, steps):
        pytest.fail(text, pytrace=False)


@cache  # Hypothesis runs what fails again.
def failure(name: str, seed: int, steps: int) -> str:
    """The reproducer of a program that an executor gets wrong; nothing if it is right."""
    program = random_program(seed, steps)
    expected = interpret(program.module, program.inputs)
    try:
        found = EXECUTORS[name](program.module, program.inputs)
    except Exception as error:
        wrong = [f"{type(error).__name__}: {error}"]
    else:
        wrong = differences(program.outputs, expected, found)
    if wrong:
        made = f"random_program({seed}, {steps})"
        failed = Failed.on(name, made, program.module, program.inputs, "\n".join(wrong))
        return failed.reproducer()
    return ""


@deterministic
@given(seeds, lengths)
def test_returning_everything_changes_nothing(seed: int, steps: int):
    program = random_program(seed, steps)
    alone = interpret(program.module, program.inputs)
    together = interpret(program.exposing_everything(), program.inputs)
    positions = {v.expression.value: n for n, v in enumerate(program.values)}
    shared = [o for o in program.outputs if o.value.expression.value in positions]
    first = [a for o, a in zip(program.outputs, alone, strict=True) if o in shared]
    second = [together[positions[o.value.expression.value]] for o in shared]
    for x, y in zip(first, second, strict=True):
        assert x.tobytes() == y.tobytes(), report(program, seed, steps, f"{x!r} and {y!r}")
