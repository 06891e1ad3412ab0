"""A sum that scatters into some cells of a buffer leaves the other cells as they are."""

from __future__ import annotations

import numpy as np
import pytest

import tgdialect as tg
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
