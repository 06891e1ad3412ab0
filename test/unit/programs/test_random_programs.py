"""Properties of random programs: the text round-trips, executors agree, intervals are sound.

A failure prints the program as MLIR, its inputs, and the call of `random_program` that makes it:
where executors disagree, as the reproducer of a reduced program.
`TG_RANDOM_PROGRAMS=10000` in the environment makes that many, and others each time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from agreement import differences
from executors import EXECUTORS, interpret
from expression import Array
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_programs import random_program, returning
from reproduced import Failed, Wrong, raised
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from tgdialect.analysis.min_max import MinMax
from tgdialect.dialect import TG
from tgdialect.ops.intervals import Interval, constant

COUNT = "TG_RANDOM_PROGRAMS"

deterministic = settings(
    derandomize=COUNT not in os.environ,
    max_examples=int(os.environ.get(COUNT, "150")),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # `reproduced.py` makes them smaller.
)
seeds = st.integers(0, 2**32 - 1)
lengths = st.integers(1, 14)


@cache  # Hypothesis runs what fails again.
def report(wrong: Wrong, seed: int, steps: int, message: str) -> str:
    """The reproducer of a program, which returns all of its values, that a test finds wrong."""
    program = random_program(seed, steps)
    made, module = f"random_program({seed}, {steps})", program.exposing_everything()
    return Failed(made, module, program.inputs, message, wrong).reproducer()


@deterministic
@given(seeds, lengths)
def test_text_round_trips(seed: int, steps: int):
    if message := changed_text(random_program(seed, steps).module, ()):
        pytest.fail(report(changed_text, seed, steps, message), pytrace=False)


@raised
def changed_text(module: ModuleOp, _: object) -> str:
    module.verify()
    text = str(module)
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    parsed = Parser(context, text).parse_module()
    parsed.verify()
    is_same = str(parsed) == text and parsed.is_structurally_equivalent(module)
    return "" if is_same else f"it is parsed as {parsed}"


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
        if message := outside(interval, array):
            pytest.fail(report(beyond_interval, seed, steps, message), pytrace=False)


def outside(interval: Interval, array: Array) -> str:
    """The elements of an array that are not in an interval; nothing if all are."""
    wide = object if array.dtype.kind in "biu" else np.float64
    with np.errstate(invalid="ignore"):
        found = [x for x in array.astype(wide).ravel().tolist() if x not in interval]
    return f"differs: {found[:3]} are not in {interval}" if found else ""


def beyond_interval(module: ModuleOp, inputs: Sequence[Array]) -> str:
    """A result outside of its interval, which has 0 here: any cell may be invalid."""
    known, arrays = MinMax(), interpret(module, inputs)
    intervals = (known[value].union(constant(0)) for value in returned(module))
    return next(filter(None, map(outside, intervals, arrays)), "")


def returned(module: ModuleOp) -> Sequence[SSAValue]:
    """The results of the function of a module."""
    entry = module.body.block.last_op
    assert isinstance(entry, FuncOp)
    assert entry.body.block.last_op is not None
    return entry.body.block.last_op.operands


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
        if x.tobytes() != y.tobytes():
            said = report(other_alone, seed, steps, f"differs: {x!r} and {y!r}")
            pytest.fail(said, pytrace=False)


def other_alone(module: ModuleOp, inputs: Sequence[Array]) -> str:
    """A result that is another one if it is the only one."""
    for number, array in enumerate(interpret(module, inputs)):
        copy = module.clone()
        entry, value = copy.body.block.last_op, returned(copy)[number]
        assert isinstance(entry, FuncOp)
        (alone,) = interpret(returning(entry, [value]), inputs)
        if alone.tobytes() != array.tobytes():
            return f"differs: {alone!r} and {array!r}"
    return ""
