"""A sum that scatters into some cells of a buffer leaves the other cells as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages
from tgdialect.targets import INTERPRETER

CELLS = 'tensor<8xf32, #tg.place<"CPU", global>>'
RESULT = 'tensor<8xf32, #tg.place<"CPU">>'
HEAD = 'tensor<3xf32, #tg.place<"CPU", global>>'

FIRST_CELLS = f"""
func.func @main(%cells: {CELLS}, %at: tensor<6xi32>, %updates: tensor<6xf32>) -> {RESULT} {{
  // 0, 1, 2: the row sums of a triangle of ones, less one.
  %one = tg.const 1 : tensor<i32>
  %zero = tg.const 0.0 : tensor<f32>
  %line = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %line [3] : tensor<1xi32> -> tensor<3xi32>
  %padded = tg.pad %ones at [2] to [5] fill 0 : i32 : tensor<3xi32> -> tensor<5xi32>
  %row = tg.reshape %padded [1, 5] : tensor<5xi32> -> tensor<1x5xi32>
  %rows = tg.expand %row [4, 5] : tensor<1x5xi32> -> tensor<4x5xi32>
  %flat = tg.reshape %rows [20] : tensor<4x5xi32> -> tensor<20xi32>
  %skewed = tg.shrink %flat at [0] to [18] : tensor<20xi32> -> tensor<18xi32>
  %windows = tg.reshape %skewed [3, 6] : tensor<18xi32> -> tensor<3x6xi32>
  %triangle = tg.shrink %windows at [0, 0] to [3, 3] : tensor<3x6xi32> -> tensor<3x3xi32>
  %counts = tg.reduce add %triangle [1] : tensor<3x3xi32> -> tensor<3x1xi32>
  %numbers = tg.sub %counts, %one : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>
  // cells[k] = sum of the updates at k, for the first three cells.
  %hits = tg.cmpeq %at, %numbers : (tensor<6xi32>, tensor<3x1xi32>) -> tensor<3x6xi1>
  %terms = tg.where %hits, %updates, %zero
    : (tensor<3x6xi1>, tensor<6xf32>, tensor<f32>) -> tensor<3x6xf32>
  %column = tg.reduce add %terms [1] : tensor<3x6xf32> -> tensor<3x1xf32>
  %sums = tg.reshape %column [3] : tensor<3x1xf32> -> tensor<3xf32>
  %head = tg.shrink %cells at [0] to [3] : {CELLS} -> {HEAD}
  %store = tg.store %head, %sums : {HEAD}, tensor<3xf32>
  %stored = tg.after %cells, %store : ({CELLS}, !tg.void) -> {CELLS}
  %result = tg.neg %stored : {CELLS} -> {RESULT}
  func.return %result : {RESULT}
}}
"""


@pytest.mark.parametrize("target", ["cpu", "c", INTERPRETER])
def test_updates_beyond_the_first_cells_are_dropped(target: str):
    cells = np.arange(10, 18, dtype=np.float32)
    at = np.array([0, 1, 5, 2, 1, 7], np.int32)
    updates = np.arange(1, 7, dtype=np.float32)
    expected = cells.copy()
    expected[:3] = [updates[at == cell].sum() for cell in range(3)]
    result = tg.compile(FIRST_CELLS, target=target)(cells, at, updates)
    np.testing.assert_array_equal(result, -expected)
    np.testing.assert_array_equal(cells, expected)


SHAPES = [(7,), (5, 6), (2, 5, 4)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["cpu", "c", INTERPRETER])
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_CELLS", 60))
def test_rows_that_are_replaced_in_place(target: str, seeds: range):
    """A row at a computed position, of an argument whose memory the result takes; also one that is
    computed from the old row, and positions that count from the end."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        shape = SHAPES[seed % len(SHAPES)]
        axes = sorted(random.permutation(len(shape))[: 1 + seed % 2].tolist())
        at = [random.integers(-shape[axis], shape[axis], 1) for axis in axes]
        x = random.integers(0, 100, shape).astype(np.float32)
        replaced = replacement(len(shape), axes, is_of_old=bool(seed & 4))
        lowered = tg.function(replaced, donate="x").lower(x, *at)
        found = lowered.compile(target=target)(x.copy(), *at)
        expected = x.copy()
        replaced(expected, *at)
        for got, wanted in zip(found, (expected, expected.sum()), strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=f"seed {seed}")


def replacement(rank: int, axes: Sequence[int], is_of_old: bool) -> Callable[..., Any]:
    """A function of a tensor and of positions along axes, which replaces a row in place."""

    def replaced(x: Any, *at: Any) -> Any:
        places = dict(zip(axes, at, strict=True))
        index = tuple(places.get(axis, slice(None)) for axis in range(rank))
        x[index] = x[index] * 2 + 1 if is_of_old else -1
        return x, x.sum()

    return replaced


KINDS = ("sum", "prod", "amax", "amin", "mean", "replace")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["cpu", "c", INTERPRETER])
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_UPDATES", 90))
def test_updates_of_cells_that_others_update_too(target: str, seeds: range):
    """Positions that occur several times, that count from the end, or that are outside; of cells or
    of whole rows, in order where that matters."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        rank, kind = int(random.integers(1, 4)), KINDS[seed % len(KINDS)]
        dim, has_self = int(random.integers(rank)), bool(random.integers(2))
        shape, updated = ([int(n) for n in random.integers(1, 7, rank)] for _ in range(2))
        is_of_rows = bool(random.integers(2))
        for axis in range(rank):
            if axis != dim:
                shorter = int(random.integers(1, shape[axis] + 1))
                updated[axis] = shape[axis] if is_of_rows else shorter
        dtype: Any = random.choice([np.float32, np.int32, np.int8])
        x, updates = (random.integers(-3, 4, s).astype(dtype) for s in (shape, updated))
        at = random.integers(-shape[dim] - 1, shape[dim] + 1, updated)
        if is_of_rows:
            at = at.take([0], 1 - dim) if rank == 2 else at
        program = scattering(dim, kind, has_self, updated)
        found = tg.compile(program, x, at, updates, target=target)(x, at, updates)
        expected = updated_cells(x, np.broadcast_to(at, updated), updates, dim, kind, has_self)
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=f"seed {seed}, {kind}")
        lowered = tg.function(program).lower(x, at, updates)
        for stage in stages() if target == INTERPRETER else ():
            if stage.name != "tg-render":
                module = lowered.module(stage.name.removeprefix("tg-"))
                (found,) = run(module, "main", [x, at, updates])
                np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=stage.name)


def scattering(dim: int, kind: str, has_self: bool, shape: Sequence[int]) -> Callable[..., Any]:
    """A function of a tensor, of positions and of updates, of this shape."""

    def scattered(x: Any, at: Any, updates: Any) -> Any:
        at = at.expand(*shape)
        if kind == "replace":
            return x.scatter(dim, at, updates)
        return x.scatter_reduce(dim, at, updates, kind, has_self)

    return scattered


def updated_cells(
    x: np.ndarray, at: np.ndarray, updates: np.ndarray, dim: int, kind: str, has_self: bool
) -> np.ndarray:
    """The result of a scatter, update by update."""
    result, counts = x.copy(), np.zeros(x.shape, int)
    joins = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
    for place in np.ndindex(*at.shape):
        cell = list(place)
        cell[dim] = int(at[place]) + (x.shape[dim] if at[place] < 0 else 0)
        if not 0 <= cell[dim] < x.shape[dim]:
            continue
        here = tuple(cell)
        is_first = counts[here] == 0 and not has_self
        counts[here] += 1
        if is_first or kind == "replace":
            result[here] = updates[place]
        else:
            result[here] = joins.get(kind, np.add)(result[here], updates[place])
    if kind == "mean":
        counts = np.maximum(counts + has_self, 1)
        result = result / counts if x.dtype.kind == "f" else result // counts.astype(x.dtype)
    return result
