"""PADs of small arrays: the offsets of vector loads are negative, 0 and positive."""

from __future__ import annotations

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_PADDINGS", 60), ids=str)
def test_random_paddings(seeds: range):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        shape = tuple(map(int, rng.integers(1, 5, rng.integers(1, 4))))
        pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 4, (len(shape), 2)))
        order = tuple(map(int, rng.permutation(len(shape))))
        x = rng.normal(size=shape).astype(np.float32)
        found = tg.Tensor(x).pad(pads).permute(order).contiguous().numpy()
        np.testing.assert_array_equal(found, np.pad(x, pads).transpose(order), f"{shape} {pads}")


def test_second_vector_of_a_gather_begins_at_the_array():
    # Each column is gathered from vectors at offsets -4 and 0 of the array.
    x = np.arange(1, 5, dtype=np.float32).reshape(2, 2)
    found = tg.Tensor(x).pad(((2, 1), (0, 0))).contiguous().numpy()
    np.testing.assert_array_equal(found, np.pad(x, ((2, 1), (0, 0))))
