"""The gradient of an INDEX goes to the cells that were read, whatever the dtype of the index."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from tgdialect.dialect import TG
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
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
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
    module = Parser(context, text).parse_module()
    for entry in ("vector", "scalar"):
        GradientPass(entry).apply(context, module)
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
