"""A sum that scatters has a kernel of its own where more than a sum uses it."""

from __future__ import annotations

from typing import Any

import numpy as np

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
