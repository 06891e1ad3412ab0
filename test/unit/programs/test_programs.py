"""The programs of `examples/` in every shape, on every executor, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import programs
import pytest
from executors import EXECUTORS
from expression import Array
from programs import Program

CASES: dict[Callable[..., Program], tuple[tuple[Any, ...], ...]] = {
    programs.gemm: (
        *((1, 1, 1), (2, 3, 4), (7, 11, 13), (1, 64, 1), (17, 1, 19)),
        *((0, 3, 4), (3, 0, 4), (3, 4, 0), (256, 300, 200)),
    ),
    programs.prefix_sum: ((1,), (2,), (7,), (31,), (1000,)),
    programs.arange: ((1,), (2,), (7,), (97,), (3000,)),
    programs.gather: ((1, 1), (5, 3), (13, 29), (7, 0), (500, 1200)),
    programs.scatter_add: ((1, 1), (5, 3), (13, 29), (7, 0), (500, 1200)),
    programs.softmax: ((1, 1), (3, 7), (0, 4), (4, 0), (1, 997), (512, 1000)),
    programs.layernorm: ((1, 1), (3, 7), (0, 4), (4, 0), (5, 997), (512, 1000)),
    programs.mlp: ((1, (1, 1)), (3, (5, 7, 2)), (0, (3, 4)), (2, (0, 3)), (64, (100, 80, 10))),
    programs.matmul_softmax: ((1, 1, 1), (3, 5, 7), (0, 3, 4), (3, 0, 4), (128, 200, 300)),
    programs.attention: ((1, 1, 1), (2, 5, 3), (0, 3, 2), (3, 0, 2), (4, 128, 32)),
    programs.threefry: ((1,), (2,), (13,), (1000,)),
}

TOLERANCE = 1e-5
"""Of the greatest magnitude in the result. The least wrong algorithm is off by far more."""


def relative_error(actual: Array, expected: Array) -> float:
    """The greatest error as a part of the greatest magnitude."""
    if expected.size == 0:
        return 0.0
    scale = max(float(np.abs(expected).max()), np.finfo(np.float32).tiny)
    return float(np.abs(actual.astype(np.float64) - expected).max()) / scale


@pytest.mark.sampled(20)
@pytest.mark.parametrize("target", EXECUTORS)
@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        pytest.param(make, arguments, id=f"{make.__name__}{arguments}".replace(" ", ""))
        for make, cases in CASES.items()
        for arguments in cases
    ],
)
def test_against_numpy(make: Callable[..., Program], arguments: tuple[Any, ...], target: str):
    program = make(*arguments)
    program.module.verify()
    before = [array.copy() for array in program.inputs]
    (actual,) = EXECUTORS[target](program.module, program.inputs)
    assert actual.shape == program.expected.shape
    if program.exact:
        assert actual.dtype == program.expected.dtype
        np.testing.assert_array_equal(actual, program.expected)
    else:
        assert actual.dtype == np.float32
        assert relative_error(actual, program.expected) < TOLERANCE
    for array, old in zip(program.inputs, before, strict=True):
        np.testing.assert_array_equal(array, old, err_msg="an input has changed")


@pytest.mark.parametrize("make", CASES)
def test_a_wrong_result_is_noticed(make: Callable[..., Program]):
    """One element that is off by a thousandth of the greatest is more than the tolerance."""
    program = make(*CASES[make][-1])
    wrong = program.expected.astype(np.float64)
    wrong.flat[wrong.size // 2] += np.abs(wrong).max() * 1e-3
    assert relative_error(wrong, program.expected.astype(np.float64)) > TOLERANCE


def test_threefry_reference():
    """The known answers of the Random123 distribution for 20 rounds, counter then key."""
    for counter, key, expected in (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ):
        packed = [np.array([low | high << 32], np.uint64) for low, high in (counter, key, expected)]
        assert programs.threefry2x32(packed[0], packed[1]) == packed[2]
