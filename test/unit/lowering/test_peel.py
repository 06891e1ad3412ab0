"""Rows whose length is no multiple of vectors, and borders of stencils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tgdialect as tg

Array = np.ndarray[Any, Any]

LENGTHS = [33, 34, 100, 257, 1000, 1025]


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


ROWS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (lambda x: x.sum(1), lambda x: x.sum(1)),
    (lambda x: x.sum(0), lambda x: x.sum(0)),
    (lambda x: x.max(1), lambda x: x.max(1)),
    (lambda x: x.softmax(-1), softmax),
    (lambda x: (x - x[0]).exp(), lambda x: np.exp(x - x[0])),
    (lambda x: x.cumsum(1), lambda x: x.cumsum(1)),
    (lambda x: x.T * 2, lambda x: x.T * 2),
    # An AND that is no mask, in a loop that has some.
    (
        lambda x: (x * 4).cast("i32").bitwise_and(1).pad(((0, 0), (1, 1))),
        lambda x: np.pad((x * 4).astype(np.int32) & 1, ((0, 0), (1, 1))),
    ),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("ours", "reference"), ROWS)
def test_rows(ours: Callable[..., Any], reference: Callable[..., Any], length: int):
    for dtype in (np.float32, np.float64):
        x = np.random.default_rng(0).standard_normal((40, length)).astype(dtype)
        found = tg.compile(ours, tg.Tensor(x))(x)
        np.testing.assert_allclose(found, reference(x.astype(np.float64)), rtol=1e-4, atol=1e-4)


def stencil(x: Any, padded: Any) -> Any:
    """The sum of the neighbours of each cell along each axis, in an array with a border."""
    inside = [slice(1, -1)] * x.ndim
    total = -2 * x.ndim * x
    for axis in range(x.ndim):
        for part in (slice(None, -2), slice(2, None)):
            total = total + padded[(*inside[:axis], part, *inside[axis + 1 :])]
    return total


SHAPES = [(33,), (1000,), (5, 5), (34, 34), (32, 100), (257, 40), (300, 300), (7, 9, 34), (34,) * 3]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_stencils(shape: tuple[int, ...], dtype: Any):
    x = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    exe = tg.compile(lambda t: stencil(t, t.pad(((1, 1),) * t.ndim)), tg.Tensor(x))
    np.testing.assert_allclose(exe(x), stencil(x, np.pad(x, 1)), rtol=1e-5, atol=1e-4)
