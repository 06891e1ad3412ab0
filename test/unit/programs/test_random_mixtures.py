"""All executors agree on programs that mix gradients, narrow dtypes, views that are written, sizes
that are arguments, and values that are used many times.

`many_mixtures.py` runs thousands of them, in processes of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from expression import Expression, function
from finite_differences import failed_gradient
from mixture_runs import RULES, Outcome, check, program_of
from random_seeds import batches
from reproduced import RUNS, Failed, check_all
from slack import unexplained
from xdsl.dialects.builtin import Float16Type
from xdsl.dialects.func import FuncOp

from tgdialect.interpreter import run
from tgdialect.ops.dtypes import F32, I32

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_MIXTURES", 50), ids=str)
def test_executors_agree(seeds: range):
    check_all(_failed(outcome) for outcome in check(seeds) if not outcome.is_right)


def _failed(outcome: Outcome) -> Failed:
    """A program that an executor gets wrong, with the inputs that show it."""
    program, name = program_of(outcome.seed), outcome.executor
    made, module, primal = f"program_of({outcome.seed})", program.module, program.primal
    if name not in RUNS:  # The gradient is wrong, or the interpreter.
        if primal is not None:
            count = len(next(op for op in primal.ops if isinstance(op, FuncOp)).args)
            for arrays in program.runs:
                if failed := failed_gradient(made, primal, arrays[:count], str(outcome)):
                    return failed
        return Failed(made, module, program.runs[0], str(outcome), lambda module, inputs: "")
    every = [Failed.on(name, made, module, run, str(outcome)) for run in program.runs]
    return next((each for each in every if each.shows()), every[0])


def test_docs_state_the_rules_of_refusals():
    for rule in RULES.values():
        page, sentence = rule.split(": ", 1)
        assert sentence in (DOCS / page).read_text()


def total(x: Expression) -> Expression:
    return x.sum(0)


SUMS: Sequence[tuple[list[float], float, bool]] = [
    # Exact in any order, so that nothing else is right.
    ([1.5, 2.0, -0.5, 3.0], 6.0, True),
    ([1.5, 2.0, -0.5, 3.0], float(np.float32(6.0000005)), False),
    # Rounded: neighbours are right, and what is further away is not.
    ([0.1, 0.2, 0.3, 0.4], float(np.float32(1.0000001)), True),
    ([0.1, 0.2, 0.3, 0.4], 1.0001, False),
    ([0.1, 1e8, 0.2, -1e8], 0.0, True),
]


@pytest.mark.parametrize(("terms", "result", "is_right"), SUMS)
def test_sums_may_differ_as_far_as_an_order_explains(
    terms: list[float], result: float, is_right: bool
):
    module = function([((4,), F32)], total)
    given = [np.array(terms, np.float32)]
    wrong = unexplained(
        lambda: run(module, "main", given),
        run(module, "main", given),
        [np.array(result, np.float32)],
    )
    assert (not wrong) == is_right, wrong


def test_a_comparison_that_an_order_decides_may_be_either():
    def is_one(x: Expression) -> Expression:
        return x.sum(0).equals(1.0).cast(I32)

    module = function([((4,), F32)], is_one)
    given = [np.array([0.1, 0.2, 0.3, 0.4], np.float32)]

    def again() -> Sequence[np.ndarray]:
        return run(module, "main", given)

    assert not unexplained(again, again(), [np.array(0, np.int32)])
    assert not unexplained(again, again(), [np.array(1, np.int32)])
    assert unexplained(again, again(), [np.array(2, np.int32)])


def test_narrow_sums_are_rounded_once():
    """In f16 2048 + 1 is 2048; in f32 the sum is exact."""
    module = function([((3,), Float16Type())], total)
    given = [np.array([2048, 1, 1], np.float16)]

    def again() -> Sequence[np.ndarray]:
        return run(module, "main", given)

    assert not unexplained(again, again(), [np.array(2050, np.float16)])
    assert unexplained(again, again(), [np.array(2048, np.float16)])
