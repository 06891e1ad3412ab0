"""A sum that is 0 is +0, of terms that are all -0 as well: in the interpreter and
compiled with any schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from kernels import ALIASES, compiled
from stages import parse

import tgdialect as tg
from tgdialect.interpreter import run

LENGTHS = (1, 2, 3, 4, 7, 16, 17, 100, 1000, 100003)
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def reduction(source, axis, result, dtype="f32", ordered=""):
    """A function that sums over an axis."""
    source, result = (f"tensor<{shape}x{dtype}>" for shape in (source, result))
    return (
        f"func.func @main(%x: {source}) -> {result} {{\n"
        f"%r = tg.reduce add %x [{axis}]{ordered} : {source} -> {result}\n"
        f"func.return %r : {result}\n}}"
    )


def check(text, *inputs, modes=("none", "heuristic"), cells=None):
    results = [run(parse(text), "main", inputs)[0]]
    results += [np.asarray(tg.compile(text, opt=mode)(*inputs)) for mode in modes]
    for result in results:
        assert cells is None or result.size == cells
        assert not np.any(result), text
        assert not np.any(np.signbit(result)), text


def zeros(*shape, dtype="f32"):
    return np.full(shape, -0.0, DTYPES[dtype])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", LENGTHS)
def test_vector(n):
    check(reduction(n, 0, 1), zeros(n))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [1, 3, 4, 17, 1000])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns(n, axis):
    source, result = ((n, 5), (1, 5)) if axis == 0 else ((5, n), (5, 1))
    text = reduction("x".join(map(str, source)), axis, "x".join(map(str, result)))
    check(text, zeros(*source))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 4, 17])
@pytest.mark.parametrize("ordered", ["", " ordered"])
def test_dtypes(dtype, n, ordered):
    check(reduction(n, 0, 1, dtype, ordered), zeros(n, dtype=dtype))


@pytest.mark.parametrize("n", [1, 4, 33])
def test_matrix_product(n):
    text = f"""
    func.func @main(%x: tensor<3x{n}x1xf32>, %y: tensor<1x{n}x8xf32>) -> tensor<3x1x8xf32> {{
      %p = tg.mul %x, %y : (tensor<3x{n}x1xf32>, tensor<1x{n}x8xf32>) -> tensor<3x{n}x8xf32>
      %r = tg.reduce add %p [1] : tensor<3x{n}x8xf32> -> tensor<3x1x8xf32>
      func.return %r : tensor<3x1x8xf32>
    }}"""
    check(text, zeros(3, n, 1), np.ones((1, n, 8), "f4"))


SCHEDULES = (
    "split 1, 12, unroll",
    "split 1, 4, unroll",
    "split 0, 4, upcast; split 1, 12, unroll",
    "split 0, 4, upcast; split 1, 3, unroll",
    "split 0, 2, upcast; split 1, 2, unroll",
    "padto 1, 16",
    "padto 1, 16; split 1, 16, unroll",
    "padto 1, 15; split 1, 5, unroll",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opts", SCHEDULES)
def test_schedules(opts):
    check(reduction("4x12", 1, "4x1"), zeros(4, 12), modes=(f"explicit:{opts}",))
    check(reduction("12x8", 0, "1x8"), zeros(12, 8), modes=(f"explicit:{opts}",))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_dynamic(n):
    text = """
    func.func @main(%n: tensor<index> {tg.min = 0 : index, tg.max = 9 : index},
                    %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<1xf32> {
      %r = tg.reduce add %x [0] : tensor<?xf32> -> tensor<1xf32>
      func.return %r : tensor<1xf32>
    }"""
    check(text, n, zeros(n))


def test_empty():
    check(reduction("4x0", 1, "4x1"), zeros(4, 0), cells=4)


GRAPHS = {
    "repeated term": lambda x: x.reshape(4, 1).expand(4, 3).sum(1),
    "unit axis": lambda x: x.reshape(4, 1).sum(1),
    "two sums": lambda x: x.reshape(2, 2).sum(1).sum(0),
    "one-hot": lambda x: (x.arange(4).reshape(4, 1) == x.arange(4)).where(x, 0).sum(1),
    "prefix": lambda x: x.cumsum(0),
    "padded": lambda x: x.pad(((2, 3),)).sum(),
    "scatter": lambda x: x.scatter_reduce(0, x[:2].cast("i32"), x[:2], "sum"),
    "sum and term": lambda x: x.reshape(2, 2).sum(1) + x[:2],
    "sum and sum": lambda x: x.reshape(2, 2).sum(1) + x.reshape(2, 2).sum(0),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", GRAPHS)
def test_rewrites(name):
    """What becomes of a sum that needs no loop, or another loop."""
    check(str(tg.function(GRAPHS[name]).lower(zeros(4))), zeros(4))


TILES = """
tg.kernel @k {
  %out = tg.param 0 : tensor<8xf32, #g>
  %in = tg.param 1 : tensor<8x4xf32, #g>
  %x = tg.load %in : tensor<8x4xf32, #g> -> tensor<8x4xf32>
  %s = tg.reduce add %x [1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %r = tg.reshape %s [8] : tensor<8x1xf32> -> tensor<8xf32>
  %e = tg.store %out, %r : tensor<8xf32, #g>, tensor<8xf32>
  %sink = tg.sink %e : !tg.void
}
"""


def test_tiles():
    """REDUCE over axes in a kernel, whatever uses it."""
    interpreted, result = zeros(8), zeros(8)
    run(parse(ALIASES + TILES), "k", [interpreted, zeros(8, 4)])
    compiled(TILES)("k")(result, zeros(8, 4))
    for array in (interpreted, result):
        assert not np.any(array)
        assert not np.any(np.signbit(array))
