"""One rule for positions (docs/tensor.md), in every dtype and on every target: negative ones count
from the end, others outside of their axis read 0 and write nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opencl_device import needs_opencl, target
from random_seeds import batches

import tgdialect as tg
from tgdialect.ops.arrays import numpy_dtype

SEEDS = batches("TG_RANDOM_POSITIONS", 10)
TARGETS = ["interpreter", "cpu", "c", pytest.param("opencl", marks=needs_opencl)]
INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
FAR = (-(1 << 63), -(1 << 62), 1 << 62, (1 << 63) - 1, (1 << 64) - 1, 1 << 32, -(1 << 32))
"""Positions whose place in a flattened tensor wraps around."""

Array = np.ndarray[Any, Any]


def in_axis(positions: Array, extent: int) -> tuple[Array, Array]:
    """Positions from the front, and which of them are in the axis."""
    exact = np.vectorize(int, otypes=[object])(positions)
    exact = np.where(exact < 0, exact + extent, exact)
    is_inside = ((exact >= 0) & (exact < extent)).astype(bool)
    return np.where(is_inside, exact, 0).astype(int), is_inside


def random_positions(rng: np.random.Generator, extent: int, shape: Any) -> Array:
    dtype = numpy_dtype(tg.dtypes.NAMES[rng.choice(INTEGERS)])
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    near = rng.integers(max(low, -2 * extent), min(high, 2 * extent), shape, endpoint=True)
    far = [each for each in (*FAR, low, high) if low <= each <= high]
    result = near.astype(dtype)
    for cell in np.ndindex(result.shape):
        if rng.random() < 0.2:
            result[cell] = far[rng.integers(len(far))]
    return result


def gather(x: Array, index: Array, axis: int) -> Array:
    at, is_inside = in_axis(index, x.shape[axis])
    window = x[tuple(slice(None) if a == axis else slice(d) for a, d in enumerate(index.shape))]
    return np.where(is_inside, np.take_along_axis(window, at, axis), 0)


def scatter(x: Array, index: Array, src: Array, axis: int, adds: bool) -> Array:
    result = x.copy()
    at, is_inside = in_axis(index, x.shape[axis])
    for cell in np.ndindex(index.shape):
        place = (*cell[:axis], at[cell], *cell[axis + 1 :])
        if is_inside[cell]:
            result[place] = src[cell] + (result[place] if adds else 0)
    return result


def pick(x: Array, first: Array, second: Array) -> Array:
    (a, is_a), (b, is_b) = in_axis(first, x.shape[0]), in_axis(second, x.shape[1])
    return np.where(is_a & is_b, x[a, b], 0)


def put(x: Array, first: Array, second: Array, values: Array) -> Array:
    result = x.copy()
    (a, is_a), (b, is_b) = in_axis(first, x.shape[0]), in_axis(second, x.shape[1])
    for i in np.flatnonzero(is_a & is_b):
        result[a[i], b[i]] = values[i]
    return result


def put_in(x: tg.Tensor, first: tg.Tensor, second: tg.Tensor, values: tg.Tensor) -> tg.Tensor:
    y = x.clone()
    y[first, second] = values
    return y


def picked_gradient(x: tg.Tensor, first: tg.Tensor, second: tg.Tensor) -> tg.Tensor:
    (gradient,) = x[first, second].sum().gradient(x)
    return gradient


def case(seed: int) -> tuple[Callable[..., tg.Tensor], list[Array], Array]:
    """A function, its arguments, and what it gives."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 7)), int(rng.integers(1, 7))) if rng.random() < 0.7 else (3, 300)
    x = rng.integers(1, 100, shape).astype(np.float32)
    axis, count = int(rng.integers(2)), int(rng.integers(1, 9))
    extents = [int(rng.integers(1, d, endpoint=True)) for d in shape]
    extents[axis] = count
    index = random_positions(rng, shape[axis], extents)
    src = rng.integers(1, 100, extents).astype(np.float32)
    pair = [random_positions(rng, d, (count,)) for d in shape]
    values = rng.integers(1, 100, count).astype(np.float32)
    match seed % 6:
        case 0:
            return lambda x, i: x.gather(axis, i), [x, index], gather(x, index, axis)
        case 1:
            wanted = scatter(x, index, src, axis, False)
            return lambda x, i, s: x.scatter(axis, i, s), [x, index, src], wanted
        case 2:
            wanted = scatter(x, index, src, axis, True)
            return lambda x, i, s: x.scatter_reduce(axis, i, s, "sum"), [x, index, src], wanted
        case 3:
            return lambda x, a, b: x[a, b], [x, *pair], pick(x, *pair)
        case 4:
            return put_in, [x, *pair, values], put(x, *pair, values)
        case _:
            (a, is_a), (b, is_b) = (in_axis(i, d) for i, d in zip(pair, shape, strict=True))
            wanted = np.zeros(shape)
            np.add.at(wanted, (a, b), is_a & is_b)
            return picked_gradient, [x, *pair], wanted


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_random_positions(name: str, seeds: range):
    for seed in seeds:
        function, arguments, wanted = case(seed)
        program = tg.compile(function, *arguments, target=target() if name == "opencl" else name)
        np.testing.assert_array_equal(program(*arguments), wanted, err_msg=f"seed {seed}")


def test_classes_are_no_positions():
    """A class that there is not has a row of zeros, negative ones included."""
    assert tg.Tensor([-1, 0, 2, 3]).one_hot(3).tolist() == [[0] * 3, [1, 0, 0], [0, 0, 1], [0] * 3]
    embedding = tg.nn.Embedding(4, 2)
    found = embedding(tg.Tensor([-1, 3, 4])).numpy()
    np.testing.assert_array_equal(found[0], found[1])
    assert not found[2].any()
