"""SHUFFLE in the interpreter: each work item of a warp gets the value of a neighbour."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32

from tgdialect.interpreter.values import MaskedArray
from tgdialect.interpreter.wmma import of_warp
from tgdialect.ops import tg


@pytest.mark.parametrize("workgroups", [0, 1, 3])
@pytest.mark.parametrize("cells", [(), (2,), (0,)], ids=str)
@pytest.mark.parametrize("distance", [1, 4])
def test_any_number_of_workgroups_and_cells(workgroups: int, cells: tuple[int, ...], distance: int):
    """Two axes of work items, in warps of 8: those of the last axis are next to each other."""
    value = tg.ParamOp(0, TensorType(f32, cells))
    op = tg.ShuffleOp(value, distance, 8)
    data = np.random.default_rng(0).random((workgroups, 4, 4, *cells), np.float32)
    result = of_warp(op, [MaskedArray(data)], 3, [2, 1])
    warps = data.reshape(workgroups, 2, 8, *cells)
    expected = warps[:, :, np.arange(8) ^ distance].reshape(data.shape)
    np.testing.assert_array_equal(result.data, expected)
