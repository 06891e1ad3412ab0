"""The gradient of an INDEX goes to the cells that were read, whatever the dtype of the index."""

from __future__ import annotations

import numpy as np
import pytest
from parsing import parse_module
from xdsl.context import Context

from tgdialect.interpreter import run
from tgdialect.transforms.gradient import GradientPass


@pytest.mark.parametrize(
    ("dtype", "index"),
    [
        ("ui8", np.array([5, 255, 5], np.uint8)),
        ("i8", np.array([-6, 7, 127], np.int8)),
        ("i16", np.array([-1, 299, 300], np.int16)),
        ("ui64", np.array([2**64 - 1, 2**63, 299], np.uint64)),
        ("index", np.array([0, -1, 299], np.int64)),
    ],
)
def test_rows_that_no_index_reads_get_nothing(dtype: str, index: np.ndarray):
    types = f"tensor<300x2xf32>, tensor<3x{dtype}>"
    text = f"""
    func.func @vector(%x: tensor<300x2xf32>, %i: tensor<3x{dtype}>) -> tensor<3x2xf32> {{
      %r = tg.index %x[%i] : ({types}) -> tensor<3x2xf32>
      return %r : tensor<3x2xf32>
    }}
    func.func @scalar(%x: tensor<300x2xf32>, %i: tensor<{dtype}>) -> tensor<2xf32> {{
      %r = tg.index %x[%i] : ({types.replace("3x" + dtype, dtype)}) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }}"""
    module = parse_module(text)
    for entry in ("vector", "scalar"):
        GradientPass(entry).apply(Context(), module)
    module.verify()
    x, seed = np.zeros((300, 2), np.float32), np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    expected = np.zeros_like(x)
    for row, gradient in zip(index.tolist(), seed, strict=True):
        one = np.zeros_like(x)
        if 0 <= row < 300:
            one[row] = gradient
        expected += one
        scalar = np.array(index.dtype.type(row))
        (result,) = run(module, "scalar_gradient", [x, scalar, gradient])
        np.testing.assert_array_equal(result, one)
    (result,) = run(module, "vector_gradient", [x, index, seed])
    np.testing.assert_array_equal(result, expected)


def test_each_of_several_scalar_indices_has_its_axis():
    module = parse_module("""
    func.func @main(%x: tensor<2x3x4x5xf32>, %i: tensor<i32>, %v: tensor<2xi32>, %j: tensor<i32>)
        -> tensor<2x5xf32> {
      %r = tg.index %x[%i, %v, %j]
        : (tensor<2x3x4x5xf32>, tensor<i32>, tensor<2xi32>, tensor<i32>) -> tensor<2x5xf32>
      return %r : tensor<2x5xf32>
    }""")
    GradientPass().apply(Context(), module)
    module.verify()
    x, seed = np.zeros((2, 3, 4, 5), np.float32), np.arange(10, dtype=np.float32).reshape(2, 5)
    i, v, j = np.int32(1), np.array([2, 0], np.int32), np.int32(3)
    (result,) = run(module, "main_gradient", [x, np.array(i), v, np.array(j), seed])
    expected = x.copy()
    expected[1, [2, 0], 3] = seed
    np.testing.assert_array_equal(result, expected)
