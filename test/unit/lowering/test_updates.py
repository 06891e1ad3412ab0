"""Scatters whose updates threads share: by rows, and by parts of many updates of few cells."""

from __future__ import annotations

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.analysis import parts
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.targets import INTERPRETER


def summed(base: np.ndarray, axis: int, index: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """`base` and the updates of its cells along an axis, one after the other."""
    result = base.astype(np.float64 if base.dtype.kind == "f" else base.dtype)
    places = list(np.indices(index.shape))
    places[axis] = index
    np.add.at(result, tuple(places), updates)
    return result


@pytest.mark.sampled(6)
@pytest.mark.parametrize("target", ["cpu", "c", INTERPRETER])
@pytest.mark.parametrize("seed", range(12))
def test_scatters(seed: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Along any axis, with few and many updates for each cell, in parts of any number."""
    monkeypatch.setattr(parts, "is_much", lambda *_: True)
    monkeypatch.setattr(parts, "CELLS_OF_PART", 1)
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 4))
    axis = int(rng.integers(rank))
    shape = rng.integers(1, 5, rank)
    updated = [*shape]
    updated[axis] = int(rng.choice([3, 60, 257, 1031]))
    dtype = rng.choice(["float32", "float64", "int32", "int64"])
    base = rng.integers(-50, 50, shape).astype(dtype)
    updates = rng.integers(-50, 50, updated).astype(dtype)
    index = rng.integers(0, shape[axis], updated)
    if seed % 3 == 0:
        index[...] = index.flat[0]  # Each update waits for the one before.

    def scatter(base: tg.Tensor, index: tg.Tensor, updates: tg.Tensor) -> tg.Tensor:
        return base.scatter_reduce(axis, index, updates, "sum")

    lowered = tg.function(scatter).lower(*map(tg.Tensor, (base, index, updates)))
    found = tg.compile(lowered.as_text(), target=target)(base, index, updates)
    np.testing.assert_array_equal(found, summed(base, axis, index, updates))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", [1 << 17, 150_001])
@pytest.mark.parametrize("size", [1, 7, 900, 3000])
def test_counts_of_many_numbers(n: int, size: int) -> None:
    """Numbers that are not counted are dropped, by each part."""
    x = np.random.default_rng(size).integers(-3, size + 5, n)
    wanted = np.bincount(x[(x >= 0) & (x < size)], minlength=size)
    np.testing.assert_array_equal(tg.Tensor(x).bincount(size=size).numpy(), wanted)
    weights = np.random.default_rng(0).standard_normal(n)
    found = tg.Tensor(x).bincount(tg.Tensor(weights), size=size).numpy()
    inside = (x >= 0) & (x < size)
    wanted = np.bincount(x[inside], weights[inside], minlength=size)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-10)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["cpu", "c", INTERPRETER])
@pytest.mark.parametrize("shape", [(5, 7), (40, 64), (9, 70), (3, 4, 16), (2, 33, 1)])
def test_whole_rows(shape: tuple[int, ...], target: str) -> None:
    """Rows are added at positions that are counted from both ends, several at one."""
    rng = np.random.default_rng(0)
    base = rng.integers(-50, 50, shape).astype(np.float32)
    updates = rng.integers(-50, 50, (60, *shape[1:])).astype(np.float32)
    index = rng.integers(-shape[0], shape[0], 60)

    def scatter(base: tg.Tensor, index: tg.Tensor, updates: tg.Tensor) -> tg.Tensor:
        places = index.reshape((-1, *(1,) * (len(shape) - 1))).expand(updates.shape)
        return base.scatter_add(0, places, updates)

    lowered = tg.function(scatter).lower(*map(tg.Tensor, (base, index, updates)))
    found = tg.compile(lowered.as_text(), target=target)(base, index, updates)
    places = np.broadcast_to(index.reshape(-1, *(1,) * (len(shape) - 1)), updates.shape)
    np.testing.assert_array_equal(found, summed(base, 0, places, updates))


@pytest.mark.parametrize(
    ("shape", "is_atomic"), [((16, 200), False), ((200, 16), False), ((200,), True)]
)
def test_threads_share_rows(shape: tuple[int, ...], is_atomic: bool) -> None:
    """An iteration of a loop apart from the scattered axis has cells of its own."""
    axis = shape.index(200)
    x = np.zeros(shape, np.int64)

    def count(index: tg.Tensor) -> tg.Tensor:
        return tg.Tensor.zeros(
            *(5 if i == axis else n for i, n in enumerate(shape))
        ).scatter_reduce(axis, index, tg.Tensor.ones(*shape), "sum")

    module = tg.compile(tg.function(count).lower(tg.Tensor(x)).as_text(), target="cpu").module(
        "tg-rangeify"
    )
    assert any(isinstance(op, AtomicAddOp) for op in module.walk()) == is_atomic
