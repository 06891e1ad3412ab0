"""Values with a shape, which UPCAST and UNROLL make: movement, reductions, bitcasts, WMMA."""

from functools import reduce

import numpy as np
import pytest
from kernels import DTYPES, INTEGERS, NARROW_FLOATS, WIDE_FLOATS, bits, compiled, specials

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.interpreter.elementwise import compute
from tgdialect.ops.arrays import NUMPY_DTYPES
from tgdialect.ops.dtypes import DTYPES as ROWS

FEATURES = CpuTarget.host().features.split(",")
ROW = {row.name: row for row in ROWS.values()}


def tile(body, shapes, dtypes, results):
    """A kernel that loads whole parameters %x0, %x1, ... of a shape, and stores %y0, %y1, ..."""
    text = ["tg.kernel @k {"]
    slots = [(f"o{i}", s, d) for i, (s, d) in enumerate(results)]
    slots += [(f"p{i}", s, d) for i, (s, d) in enumerate(zip(shapes, dtypes, strict=True))]
    for slot, (name, shape, dtype) in enumerate(slots):
        text.append(f"%{name} = tg.param {slot} : tensor<{shape}{dtype}, #g>")
    for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
        text.append(f"%x{i} = tg.load %p{i} : tensor<{shape}{dtype}, #g> -> tensor<{shape}{dtype}>")
    text.append(body)
    for i, (shape, dtype) in enumerate(results):
        types = f"tensor<{shape}{dtype}, #g>, tensor<{shape}{dtype}>"
        text.append(f"%s{i} = tg.store %o{i}, %y{i} : {types}")
    stores = ", ".join(f"%s{i}" for i in range(len(results)))
    return "\n".join([*text, f"%g = tg.group {stores}", "%k = tg.sink %g : !tg.void", "}"])


MOVEMENT = """
%c0 = tg.const 0 : !i
%c1 = tg.const 1 : !i
%c7 = tg.const 7 : !i
%y0 = tg.permute %x0 [2, 0, 1] : tensor<2x3x4xi32> -> tensor<4x2x3xi32>
%y1 = tg.flip %x0 [true, false, true] : tensor<2x3x4xi32>
%r = tg.reshape %x0 [6, 4] : tensor<2x3x4xi32> -> tensor<6x4xi32>
%y2 = tg.shrink %r at [1, 2] to [4, 2] : tensor<6x4xi32> -> tensor<4x2xi32>
%e = tg.reshape %y2 [4, 1, 2] : tensor<4x2xi32> -> tensor<4x1x2xi32>
%y3 = tg.expand %e [4, 3, 2] : tensor<4x1x2xi32> -> tensor<4x3x2xi32>
%v = tg.stack %c1, %c0, %c7, %c1 : (!i, !i, !i, !i) -> tensor<4xindex>
%w = tg.vconst [2, -1, 0] : tensor<3xindex>
%y4 = tg.index %x0[%c1, %v] : (tensor<2x3x4xi32>, !i, tensor<4xindex>) -> tensor<4x4xi32>
%y5 = tg.index %r[%x1, %v] : (tensor<6x4xi32>, tensor<3xi8>, tensor<4xindex>) -> tensor<3x4xi32>
%y6 = tg.stack %y2, %y2 : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<2x4x2xi32>
%y7 = tg.index %r[%w] : (tensor<6x4xi32>, tensor<3xindex>) -> tensor<3x4xi32>
%y8 = tg.cast %w to i32 : tensor<3xindex> -> tensor<3xi32>
"""


def test_movement_of_values():
    x, rows = np.arange(1, 25, dtype=np.int32).reshape(2, 3, 4), np.array([5, -1, 2], np.int8)
    shapes = ["4x2x3x", "2x3x4x", "4x2x", "4x3x2x", "4x4x", "3x4x", "2x4x2x", "3x4x", "3x"]
    kernel = tile(MOVEMENT, ["2x3x4x", "3x"], ["i32", "i8"], [(s, "i32") for s in shapes])
    outputs = [np.zeros([int(n) for n in s.split("x")[:-1]], np.int32) for s in shapes]
    compiled(kernel)("k")(*outputs, x, rows)
    r = x.reshape(6, 4)
    part = r[1:5, 2:]
    y4 = x[1][[1, 0, 0, 1]] * np.array([1, 1, 0, 1])[:, None]
    y5 = r[[5, 0, 2]][:, [1, 0, 0, 1]] * np.array([1, 0, 1])[:, None] * [1, 1, 0, 1]
    expected = [
        x.transpose(2, 0, 1),
        x[::-1, :, ::-1],
        part,
        np.repeat(part[:, None], 3, 1),
        y4,
        y5,
        np.stack([part, part]),
        r[[2, 0, 0]] * np.array([1, 0, 1])[:, None],
        np.array([2, -1, 0]),
    ]
    for i, (output, wanted) in enumerate(zip(outputs, expected, strict=True)):
        assert np.array_equal(output, wanted), f"%y{i}"


@pytest.mark.sampled(24)
@pytest.mark.parametrize("kind", ["add", "mul", "max"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_over_axes(kind, dtype):
    """A chain in ascending order; narrow floats are summed in f32 and rounded once."""
    values = specials(NUMPY_DTYPES[dtype])
    x = np.resize(values[: len(values) // 2 * 2 - 1], (2, 3, 5))
    t = f"tensor<2x3x5x{dtype}>"
    body = f"%y0 = tg.reduce {kind} %x0 [0, 2] : {t} -> tensor<1x3x1x{dtype}>"
    output = np.zeros((1, 3, 1), x.dtype)
    compiled(tile(body, ["2x3x5x"], [dtype], [("1x3x1x", dtype)]))("k")(output, x)
    row = ROW[dtype]
    wide = ROW["f32"] if dtype in NARROW_FLOATS else row
    lanes = x.transpose(0, 2, 1).reshape(10, 3).astype(NUMPY_DTYPES[wide.name])
    with np.errstate(all="ignore"):
        total = reduce(lambda a, b: compute(f"tg.{kind}", [a, b], [wide, wide], wide), lanes)
        expected = compute("tg.cast", [total], [wide], row)
    assert np.array_equal(bits(output.ravel()), bits(expected))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", ["add", "max"])
@pytest.mark.parametrize("length", [2, 3, 7, 10, 31, 37, 64, 74, 131])
def test_rows_of_any_length(length, kind):
    """One vector of a row has what is left; it is reduced apart from those that are full."""
    x = np.random.default_rng(length).integers(-9, 10, (3, length)).astype(np.float32)
    row, one = f"3x{length}x", "3x1x"
    body = f"""
    %d = tg.add %x0, %x0 : tensor<{row}f32>
    %y0 = tg.reduce {kind} %d [1] : tensor<{row}f32> -> tensor<3x1xf32>
    %y1 = tg.sub %d, %y0 : (tensor<{row}f32>, tensor<3x1xf32>) -> tensor<{row}f32>"""
    total, rest = np.zeros((3, 1), np.float32), np.zeros_like(x)
    kernel = tile(body, [row], ["f32"], [(one, "f32"), (row, "f32")])
    compiled(kernel, features=FEATURES)("k")(total, rest, x)
    expected = (2 * x).sum(1, keepdims=True) if kind == "add" else (2 * x).max(1, keepdims=True)
    np.testing.assert_array_equal(total, expected)
    np.testing.assert_array_equal(rest, 2 * x - expected)


@pytest.mark.sampled(36)
@pytest.mark.parametrize("rows", range(2, 20))
@pytest.mark.parametrize("columns", [16, 32])
@pytest.mark.parametrize(("source", "dtype"), [("f32", "f32"), ("i64", "i32"), ("f64", "f32")])
def test_columns_of_any_height(rows, columns, source, dtype):
    """Where they are shorter than a vector they are stored with a mask: what is beyond stays."""
    x = np.random.default_rng(rows).integers(-99, 99, (rows, columns)).astype(NUMPY_DTYPES[source])
    new = np.full((columns + 1, rows), 12345, NUMPY_DTYPES[dtype])
    kernel = f"""tg.kernel @k {{
      %o = tg.param 0 : tensor<{columns}x{rows}x{dtype}, #g>
      %p = tg.param 1 : tensor<{rows}x{columns}x{source}, #g>
      %x = tg.load %p : tensor<{rows}x{columns}x{source}, #g> -> tensor<{rows}x{columns}x{source}>
      %m = tg.neg %x : tensor<{rows}x{columns}x{source}>
      %n = tg.cast %m to {dtype}
        : tensor<{rows}x{columns}x{source}> -> tensor<{rows}x{columns}x{dtype}>
      %t = tg.permute %o [1, 0]
        : tensor<{columns}x{rows}x{dtype}, #g> -> tensor<{rows}x{columns}x{dtype}, #g>
      %s = tg.store %t, %n
        : tensor<{rows}x{columns}x{dtype}, #g>, tensor<{rows}x{columns}x{dtype}>
      %k = tg.sink %s : !tg.void
    }}"""
    compiled(kernel, features=FEATURES)("k")(new, x)
    np.testing.assert_array_equal(new[:-1], -x.T)
    assert (new[-1] == 12345).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["i8", "ui16", "f32", "f64", "bf16", "f8E5M2", "i1"])
def test_bitcasts_of_values_to_other_sizes(dtype):
    values = np.resize(specials(NUMPY_DTYPES[dtype]), 16)
    n = values.nbytes
    sizes = {"ui8": 1, "bf16": 2, "i32": 4, "f64": 8}
    results = [(f"{n // size}x", name) for name, size in sizes.items()]
    body = "\n".join(
        f"%y{i} = tg.bitcast %x0 to {d} : tensor<16x{dtype}> -> tensor<{s}{d}>"
        for i, (s, d) in enumerate(results)
    )
    outputs = [np.zeros(n // sizes[d], NUMPY_DTYPES[d]) for _, d in results]
    compiled(tile(body, ["16x"], [dtype], results))("k")(*outputs, values)
    for output, (_, name) in zip(outputs, results, strict=True):
        assert output.tobytes() == values.tobytes(), name


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("dtype", "acc"), [("f32", "f32"), ("bf16", "f32"), ("f16", "f16"), ("i8", "i32")]
)
def test_wmma_of_one_thread(dtype, acc):
    random = np.random.default_rng(0)
    shapes = ["2x4x", "4x3x", "2x3x"]
    a, b, c = (
        random.integers(-3, 4, [int(n) for n in s.split("x")[:-1]]).astype(NUMPY_DTYPES[d])
        for s, d in zip(shapes, (dtype, dtype, acc), strict=True)
    )
    types = ", ".join(f"tensor<{s}{d}>" for s, d in zip(shapes, (dtype, dtype, acc), strict=True))
    body = f"%y0 = tg.wmma %x0, %x1, %x2 config <2x3x4> : ({types}) -> tensor<2x3x{acc}>"
    output = np.zeros_like(c)
    kernel = tile(body, shapes, [dtype, dtype, acc], [("2x3x", acc)])
    compiled(kernel)("k")(output, a, b, c)
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(output.astype(np.float64), expected)


GEMM = """
!v = tensor<2xindex>
tg.kernel @gemm {{
  %o = tg.param 0 : tensor<4x6x{t}, #g>
  %a = tg.param 1 : tensor<4x8x{t}, #g>
  %b = tg.param 2 : tensor<8x6x{t}, #g>
  %c0 = tg.const 0 : !i
  %c1 = tg.const 1 : !i
  %c2 = tg.const 2 : !i
  %c3 = tg.const 3 : !i
  %c8 = tg.const 8 : !i
  %z = tg.const {zero} : tensor<{t}>
  %i0 = tg.range 0 loop to %c2 : !i
  %j0 = tg.range 1 loop to %c3 : !i
  %k = tg.range 2 reduce to %c8 : !i
  %lane = tg.stack %c0, %c1 : (!i, !i) -> !v
  %i2 = tg.mul %i0, %c2 : !i
  %i = tg.add %i2, %lane : (!i, !v) -> !v
  %j2 = tg.mul %j0, %c2 : !i
  %j = tg.add %j2, %lane : (!i, !v) -> !v
  %acc = tg.buffer 0 : tensor<2x2x{t}, #r>
  %acc0 = tg.after %acc, %i0, %j0 : (tensor<2x2x{t}, #r>, !i, !i) -> tensor<2x2x{t}, #r>
  %z1 = tg.reshape %z [1, 1] : tensor<{t}> -> tensor<1x1x{t}>
  %zz = tg.expand %z1 [2, 2] : tensor<1x1x{t}> -> tensor<2x2x{t}>
  %init = tg.store %acc0, %zz : tensor<2x2x{t}, #r>, tensor<2x2x{t}>
  %acc1 = tg.after %acc, %init, %k : (tensor<2x2x{t}, #r>, !tg.void, !i) -> tensor<2x2x{t}, #r>
  %old = tg.load %acc1 : tensor<2x2x{t}, #r> -> tensor<2x2x{t}>
  %pa = tg.index %a[%i, %k] : (tensor<4x8x{t}, #g>, !v, !i) -> tensor<2x{t}, #g>
  %pb = tg.index %b[%k, %j] : (tensor<8x6x{t}, #g>, !i, !v) -> tensor<2x{t}, #g>
  %va = tg.load %pa : tensor<2x{t}, #g> -> tensor<2x{t}>
  %vb = tg.load %pb : tensor<2x{t}, #g> -> tensor<2x{t}>
  %va1 = tg.reshape %va [2, 1] : tensor<2x{t}> -> tensor<2x1x{t}>
  %m = tg.mul %va1, %vb : (tensor<2x1x{t}>, tensor<2x{t}>) -> tensor<2x2x{t}>
  %new = tg.{kind} %old, %m : tensor<2x2x{t}>
  %st = tg.store %acc1, %new : tensor<2x2x{t}, #r>, tensor<2x2x{t}>
  %end = tg.end %st over %k : !tg.void
  %acc2 = tg.after %acc, %end : (tensor<2x2x{t}, #r>, !tg.void) -> tensor<2x2x{t}, #r>
  %sum = tg.load %acc2 : tensor<2x2x{t}, #r> -> tensor<2x2x{t}>
  %po = tg.index %o[%i, %j] : (tensor<4x6x{t}, #g>, !v, !v) -> tensor<2x2x{t}, #g>
  %so = tg.store %po, %sum : tensor<2x2x{t}, #g>, tensor<2x2x{t}>
  %eo = tg.end %so over %j0, %i0 : !tg.void
  %sink = tg.sink %eo : !tg.void
}}
"""


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", ["add", "mul", "max"])
@pytest.mark.parametrize("dtype", [*INTEGERS, *WIDE_FLOATS, "bf16", "f16"])
def test_accumulators_in_registers(kind, dtype):
    """A tiled matrix product, or what it is with MUL or MAX in the place of ADD."""
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 4, s).astype(NUMPY_DTYPES[dtype]) for s in ((4, 8), (8, 6)))
    output = np.zeros((4, 6), a.dtype)
    zero = f"{int(kind == 'mul')}{'.0' if 'f' in dtype else ''}"
    compiled(GEMM.format(t=dtype, kind=kind, zero=zero))("gemm")(output, a, b)
    products = a[:, :, None] * b
    neutral = np.full((4, 6), int(kind == "mul"), a.dtype)
    function = {"add": np.add, "mul": np.multiply, "max": np.maximum}[kind]
    with np.errstate(over="ignore"):
        expected = reduce(function, products.swapaxes(0, 1), neutral)
    assert np.array_equal(output, expected)
