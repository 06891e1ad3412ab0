"""A sum, maximum or product that scatters has a kernel of its own where more than a total uses it;
so have prefix sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tgdialect as tg


def test_a_scatter_whose_sum_is_divided():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 20, 300)
    values, degrees = rng.normal(size=(300, 8)).astype(np.float32), np.ones(300, np.float32)

    def mean(places: tg.Tensor, values: tg.Tensor, degrees: tg.Tensor) -> tg.Tensor:
        index = places.unsqueeze(1).expand(300, 8)
        total = tg.Tensor.zeros(20, 8).scatter_add(0, index, values)
        count = tg.Tensor.zeros(20).scatter_add(0, places, degrees)
        return (total / count.clamp(1).unsqueeze(1)).relu()

    program: Any = tg.compile(mean, places, values, degrees)
    sums = np.zeros((20, 8))
    np.add.at(sums, places, values)
    wanted = np.maximum(sums / np.bincount(places, minlength=20).clip(1)[:, None], 0)
    np.testing.assert_allclose(program(places, values, degrees), wanted, rtol=1e-4, atol=1e-5)
    # A sum over all updates for each cell would be 20 * 300 * 8 additions.
    assert sum(kernel.flops for kernel in program.kernels) < 10_000


@pytest.mark.parametrize("reduce", ["amax", "prod"])
def test_a_scatter_whose_total_is_used_by_more(reduce: Any):
    rng = np.random.default_rng(1)
    places, values = rng.integers(0, 20, 300), rng.uniform(0.9, 1.1, (300, 8)).astype(np.float32)

    def total(places: tg.Tensor, values: tg.Tensor) -> tg.Tensor:
        index = places.unsqueeze(1).expand(300, 8)
        return tg.Tensor.ones(20, 8).scatter_reduce(0, index, values, reduce).sqrt() * 2

    program: Any = tg.compile(total, places, values)
    totals = np.ones((20, 8))
    (np.maximum if reduce == "amax" else np.multiply).at(totals, places, values)
    np.testing.assert_allclose(program(places, values), np.sqrt(totals) * 2, rtol=1e-4)
    assert sum(kernel.flops for kernel in program.kernels) < 10_000


def test_prefix_sums_at_cells_of_two_loops():
    """A kernel with other loops would add up all cells before each."""
    x = np.random.default_rng(2).normal(size=(50, 40)).astype(np.float32)
    source = np.arange(2000, dtype=np.float32)

    def scattered(x: tg.Tensor, source: tg.Tensor) -> tg.Tensor:
        mask = x > 0
        place = (mask.flatten().cast("int64").cumsum(0) - 1).clamp(0, 1999)
        return mask.where(source[place].reshape((50, 40)), x)

    program: Any = tg.compile(scattered, x, source)
    wanted = x.copy()
    wanted[x > 0] = source[: (x > 0).sum()]
    np.testing.assert_array_equal(program(x, source), wanted)
    assert sum(kernel.flops for kernel in program.kernels) < 10_000
