"""Every method compiled with others in one program: after a reduction, before one, and between two
look-ups by index, where it has to give the numbers that it gives alone.

A run tries each method in one of the three, and the slow run in all.

The numbers of methods alone are compared with PyTorch's in `test_tensor_parity.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity import listed
from parity_table import METHODS

import tgdialect as tg

INPUTS = [((3, 5), "float32"), ((2, 3, 4), "float32"), ((3, 5), "int32"), ((6,), "float32")]
"""Shapes and dtypes of inputs: a method is tried with the first that it takes."""


def every_third(first: int) -> list[Any]:
    """The names of the methods; all but each third one are for the slow run. The three compositions
    share the methods among them."""
    return [
        pytest.param(name, marks=[] if i % 3 == first else pytest.mark.slow)
        for i, name in enumerate(METHODS)
    ]


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Numbers whose sums are exact: orders and roundings do not depend on how they are added."""
    random = np.random.default_rng(seed)
    low, scale = (0, 1) if dtype == "int32" else (-8, 8)
    return (random.integers(low, 8, shape) / scale).astype(dtype)


def tensors(results: Any) -> list[tg.Tensor]:
    return [r for r in listed(results) if isinstance(r, tg.Tensor)]


def alone(name: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """What a method gives for arrays."""
    return [t.numpy() for t in tensors(METHODS[name][0](*map(tg.Tensor, arrays)))]


def accepted(name: str) -> tuple[tuple[int, ...], str]:
    """The shape and dtype of inputs for a method. Skips those that return no tensor."""
    refusals: list[str] = []
    for shape, dtype in INPUTS:
        try:
            found = METHODS[name][0](*(tg.Tensor(numbers(shape, dtype, s)) for s in (1, 2)))
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            refusals.append(str(error))
            continue
        if not tensors(found):
            pytest.skip("it returns no tensor")
        return shape, dtype
    raise AssertionError(f"{name} takes no inputs: {refusals}")


@pytest.mark.sampled(32)
@pytest.mark.parametrize("name", every_third(0))
def test_after_a_reduction(name: str):
    shape, dtype = accepted(name)
    x, y = (numbers((4, *shape), dtype, seed) for seed in (1, 2))
    if dtype == "float32":
        x, y = x / 4, y / 4  # Their sums are within the domains of inverse functions.
    found = METHODS[name][0](tg.Tensor(x).sum(0), tg.Tensor(y).sum(0))
    wanted = alone(name, x.sum(0, dtype=dtype), y.sum(0, dtype=dtype))
    for mine, expected in zip(tensors(found), wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", every_third(1))
def test_before_a_reduction(name: str):
    shape, dtype = accepted(name)
    x, y = (numbers(shape, dtype, seed) for seed in (1, 2))
    found = METHODS[name][0](tg.Tensor(x), tg.Tensor(y))
    for mine, expected in zip(tensors(found), alone(name, x, y), strict=True):
        values = expected.astype(np.float64)
        with np.errstate(invalid="ignore"):
            size = np.abs(values).sum()
            tolerance = 1e-5 * size if np.isfinite(size) else 0
        np.testing.assert_allclose(
            mine.double().sum().numpy(), values.sum(), rtol=1e-5, atol=tolerance
        )


@pytest.mark.sampled(48)
@pytest.mark.parametrize("name", every_third(2))
def test_through_an_index(name: str):
    shape, dtype = accepted(name)
    x, y = (numbers((4, *shape[1:]), dtype, seed) for seed in (1, 2))
    rows = np.array([3, 0, 2][: shape[0]], np.int32)
    found = METHODS[name][0](*(tg.Tensor(a)[tg.Tensor(rows)] for a in (x, y)))
    for mine, expected in zip(tensors(found), alone(name, x[rows], y[rows]), strict=True):
        if not expected.ndim or not expected.shape[0]:
            np.testing.assert_allclose(mine.numpy(), expected, rtol=1e-5, atol=1e-6)
            continue
        last = np.array([expected.shape[0] - 1, 0], np.int32)
        picked = mine[tg.Tensor(last)].numpy()
        np.testing.assert_allclose(picked, expected[last], rtol=1e-5, atol=1e-6)
