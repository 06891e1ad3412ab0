"""Access to memory: what is out of bounds is not touched, gates, views, dynamic extents."""

import numpy as np
import pytest
from kernels import DTYPES, bits, compiled, specials

from tgdialect.ops.arrays import NUMPY_DTYPES

GATHER = """
tg.kernel @gather {{
  %o = tg.param 0 : tensor<{n}x{t}, #g>
  %x = tg.param 1 : tensor<{rows}x{columns}x{t}, #g>
  %p = tg.param 2 : tensor<{n}xindex, #g>
  %q = tg.param 3 : tensor<{n}xindex, #g>
  %n = tg.const {n} : !i
  %i = tg.range 0 loop to %n : !i
  %pi = tg.index %p[%i] : (tensor<{n}xindex, #g>, !i) -> tensor<index, #g>
  %qi = tg.index %q[%i] : (tensor<{n}xindex, #g>, !i) -> tensor<index, #g>
  %r = tg.load %pi : tensor<index, #g> -> !i
  %c = tg.load %qi : tensor<index, #g> -> !i
  %xi = tg.index %x[%r, %c] : (tensor<{rows}x{columns}x{t}, #g>, !i, !i) -> tensor<{t}, #g>
  %v = tg.load %xi : tensor<{t}, #g> -> tensor<{t}>
  %oi = tg.index %o[%i] : (tensor<{n}x{t}, #g>, !i) -> tensor<{t}, #g>
  %s = tg.store %oi, %v : tensor<{t}, #g>, tensor<{t}>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}}
tg.kernel @scatter {{
  %x = tg.param 0 : tensor<{rows}x{columns}x{t}, #g>
  %v = tg.param 1 : tensor<{n}x{t}, #g>
  %p = tg.param 2 : tensor<{n}xindex, #g>
  %q = tg.param 3 : tensor<{n}xindex, #g>
  %n = tg.const {n} : !i
  %i = tg.range 0 loop to %n : !i
  %pi = tg.index %p[%i] : (tensor<{n}xindex, #g>, !i) -> tensor<index, #g>
  %qi = tg.index %q[%i] : (tensor<{n}xindex, #g>, !i) -> tensor<index, #g>
  %vi = tg.index %v[%i] : (tensor<{n}x{t}, #g>, !i) -> tensor<{t}, #g>
  %r = tg.load %pi : tensor<index, #g> -> !i
  %c = tg.load %qi : tensor<index, #g> -> !i
  %vv = tg.load %vi : tensor<{t}, #g> -> tensor<{t}>
  %xi = tg.index %x[%r, %c] : (tensor<{rows}x{columns}x{t}, #g>, !i, !i) -> tensor<{t}, #g>
  %s = tg.store %xi, %vv : tensor<{t}, #g>, tensor<{t}>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}}
"""
ROWS, COLUMNS = 3, 4
POSITIONS = np.array([0, 1, 2, 3, 4, -1, -3, 7, 2**40, -(2**40), 2**62, 2**63 - 1, -(2**63)])


def positions():
    """Every pair of a row and a column index, most of them out of bounds."""
    p, q = (m.ravel().astype(np.int64) for m in np.meshgrid(POSITIONS, POSITIONS, indexing="ij"))
    return p, q, (p >= 0) & (p < ROWS) & (q >= 0) & (q < COLUMNS)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", DTYPES)
def test_out_of_bounds_reads_zero(dtype):
    p, q, inside = positions()
    x = np.resize(specials(NUMPY_DTYPES[dtype]), (ROWS, COLUMNS))
    output = np.ones(len(p), x.dtype)
    text = GATHER.format(n=len(p), t=dtype, rows=ROWS, columns=COLUMNS)
    compiled(text)("gather")(output, x, p, q)
    expected = np.zeros(len(p), x.dtype)
    expected[inside] = x[p[inside], q[inside]]
    assert np.array_equal(bits(output), bits(expected))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", DTYPES)
def test_out_of_bounds_writes_nothing(dtype):
    p, q, inside = positions()
    values = np.resize(specials(NUMPY_DTYPES[dtype]), len(p))
    guarded = np.ones(3 * ROWS * COLUMNS, values.dtype)
    x = guarded[ROWS * COLUMNS : 2 * ROWS * COLUMNS].reshape(ROWS, COLUMNS)
    expected = guarded.copy()
    for i in np.flatnonzero(inside):
        expected[ROWS * COLUMNS + p[i] * COLUMNS + q[i]] = values[i]
    text = GATHER.format(n=len(p), t=dtype, rows=ROWS, columns=COLUMNS)
    compiled(text)("scatter")(x, values, p, q)
    assert np.array_equal(bits(guarded), bits(expected))


def test_an_empty_buffer_is_not_touched():
    p, q, _ = positions()
    kernels = compiled(GATHER.format(n=len(p), t="f32", rows=0, columns=COLUMNS))
    output = np.ones(len(p), np.float32)
    kernels("gather")(output, 0, p, q)  # a null pointer
    assert not output.any()
    kernels("scatter")(0, output, p, q)


def test_any_byte_but_zero_is_true():
    p, q, inside = positions()
    x = np.arange(ROWS * COLUMNS, dtype=np.uint8).reshape(ROWS, COLUMNS)
    x[2, 3] = 255
    output = np.full(len(p), 7, np.uint8)
    compiled(GATHER.format(n=len(p), t="i1", rows=ROWS, columns=COLUMNS))("gather")(output, x, p, q)
    expected = np.zeros(len(p), np.uint8)
    expected[inside] = x[p[inside], q[inside]] != 0
    assert np.array_equal(output, expected)


DYNAMIC = """
tg.kernel @rows {
  %n = tg.param 0 "n" min 0 max 100 : !i
  %o = tg.param 1 (%n) : tensor<?x3xf32, #g>
  %x = tg.param 2 (%n) : tensor<?x3xf32, #g>
  %m = tg.param 3 "m" : !i
  %c3 = tg.const 3 : !i
  %c1 = tg.const 1 : !i
  %two = tg.const 2.0 : tensor<f32>
  %i = tg.range 0 loop to %m : !i
  %j = tg.range 1 loop to %c3 : !i
  %up = tg.add %i, %c1 : !i
  %xi = tg.index %x[%up, %j] : (tensor<?x3xf32, #g>, !i, !i) -> tensor<f32, #g>
  %v = tg.load %xi : tensor<f32, #g> -> tensor<f32>
  %w = tg.add %v, %two : tensor<f32>
  %oi = tg.index %o[%i, %j] : (tensor<?x3xf32, #g>, !i, !i) -> tensor<f32, #g>
  %s = tg.store %oi, %w : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  %k = tg.sink %e : !tg.void
}
"""


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (5, 5), (5, 2), (5, 9), (0, 4), (3, -1)])
def test_dynamic_extents_and_bounds(n, m):
    x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
    guarded = np.full((n + 10, 3), -1, np.float32)
    compiled(DYNAMIC)("rows")(n, guarded, x, m)
    shifted = np.concatenate([x[1:], np.zeros((1, 3), np.float32)])[:n] + 2
    written = max(min(m, n), 0)
    assert np.array_equal(guarded[:written], shifted[:written])
    assert np.all(guarded[written:] == -1)


GATED = """
tg.kernel @gated {
  %o = tg.param 0 : tensor<8xf32, #g>
  %x = tg.param 1 : tensor<4xf32, #g>
  %n = tg.const 8 : !i
  %c2 = tg.const 2 : !i
  %c6 = tg.const 6 : !i
  %alt = tg.const 9.0 : tensor<f32>
  %i = tg.range 0 loop to %n : !i
  %j = tg.sub %i, %c2 : !i
  %low = tg.cmpge %i, %c2 : (!i, !i) -> tensor<i1>
  %high = tg.cmplt %i, %c6 : (!i, !i) -> tensor<i1>
  %g = tg.and %low, %high : tensor<i1>
  %xj = tg.index %x[%j] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
  %v = tg.load %xj alt %alt gate %g : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>
  %oi = tg.index %o[%i] : (tensor<8xf32, #g>, !i) -> tensor<f32, #g>
  %s = tg.store %oi, %v gate %low : tensor<f32, #g>, tensor<f32>, tensor<i1>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}
"""


def test_gates():
    output, x = np.full(8, -1, np.float32), np.arange(1, 5, dtype=np.float32)
    compiled(GATED)("gated")(output, x)
    assert output.tolist() == [-1, -1, 1, 2, 3, 4, 9, 9]


VIEWS = """
tg.kernel @views {
  %o = tg.param 0 : tensor<4x6xf32, #g>
  %x = tg.param 1 : tensor<2x3x4xf32, #g>
  %b = tg.param 2 : tensor<48xui8, #g>
  %c0 = tg.const 0 : !i
  %c4 = tg.const 4 : !i
  %c6 = tg.const 6 : !i
  %i = tg.range 0 loop to %c4 : !i
  %j = tg.range 1 loop to %c6 : !i
  %r = tg.reshape %x [6, 4] : tensor<2x3x4xf32, #g> -> tensor<6x4xf32, #g>
  %f = tg.flip %r [true, false] : tensor<6x4xf32, #g>
  %p = tg.permute %f [1, 0] : tensor<6x4xf32, #g> -> tensor<4x6xf32, #g>
  %pl = tg.index %p[%i, %j] : (tensor<4x6xf32, #g>, !i, !i) -> tensor<f32, #g>
  %pv = tg.load %pl : tensor<f32, #g> -> tensor<f32>
  %s = tg.shrink %r at [1, 2] to [4, 2] : tensor<6x4xf32, #g> -> tensor<4x2xf32, #g>
  %sl = tg.index %s[%j, %c0] : (tensor<4x2xf32, #g>, !i, !i) -> tensor<f32, #g>
  %sv = tg.load %sl : tensor<f32, #g> -> tensor<f32>
  %w = tg.bitcast %b to f32 : tensor<48xui8, #g> -> tensor<12xf32, #g>
  %wr = tg.reshape %w [6, 2] : tensor<12xf32, #g> -> tensor<6x2xf32, #g>
  %wl = tg.index %wr[%j, %i] : (tensor<6x2xf32, #g>, !i, !i) -> tensor<f32, #g>
  %wv = tg.load %wl : tensor<f32, #g> -> tensor<f32>
  %row = tg.index %o[%i] : (tensor<4x6xf32, #g>, !i) -> tensor<6xf32, #g>
  %ol = tg.index %row[%j] : (tensor<6xf32, #g>, !i) -> tensor<f32, #g>
  %t = tg.add %pv, %sv : tensor<f32>
  %u = tg.add %t, %wv : tensor<f32>
  %st = tg.store %ol, %u : tensor<f32, #g>, tensor<f32>
  %e = tg.end %st over %j, %i : !tg.void
  %k = tg.sink %e : !tg.void
}
"""


def test_views_of_memory():
    output = np.zeros((4, 6), np.float32)
    x = np.arange(1, 25, dtype=np.float32)
    w = np.arange(100, 1300, 100, dtype=np.float32)
    raw = np.zeros(49, np.uint8)
    raw[1:] = w.view(np.uint8)  # bytes need not be aligned
    compiled(VIEWS)("views")(output, x, raw[1:])
    r = x.reshape(6, 4)
    column = np.pad(r[1:5, 2], (0, 2))
    table = np.pad(w.reshape(6, 2), ((0, 0), (0, 2)))
    assert np.array_equal(output, r[::-1].T + column + table.T)


UNWRITTEN = """
tg.kernel @unwritten {
  %o = tg.param 0 : tensor<64xi32, #g>
  %l = tg.buffer 0 : tensor<64xi32, #l>
  %r = tg.buffer 1 : tensor<i32, #r>
  %n = tg.const 64 : !i
  %i = tg.range 0 loop to %n : !i
  %ll = tg.index %l[%i] : (tensor<64xi32, #l>, !i) -> tensor<i32, #l>
  %a = tg.load %ll : tensor<i32, #l> -> tensor<i32>
  %b = tg.load %r : tensor<i32, #r> -> tensor<i32>
  %v = tg.add %a, %b : tensor<i32>
  %ol = tg.index %o[%i] : (tensor<64xi32, #g>, !i) -> tensor<i32, #g>
  %s = tg.store %ol, %v : tensor<i32, #g>, tensor<i32>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}
"""


def test_buffers_that_nobody_wrote_are_zero():
    output = np.ones(64, np.int32)
    compiled(UNWRITTEN)("unwritten")(output)
    assert not output.any()


ATOMIC = """
tg.kernel @histogram {{
  %o = tg.param 0 : tensor<4x{t}, #g>
  %p = tg.param 1 : tensor<16xindex, #g>
  %v = tg.param 2 : tensor<16x{t}, #g>
  %n = tg.const 16 : !i
  %i = tg.range 0 loop to %n : !i
  %pl = tg.index %p[%i] : (tensor<16xindex, #g>, !i) -> tensor<index, #g>
  %b = tg.load %pl : tensor<index, #g> -> !i
  %vl = tg.index %v[%i] : (tensor<16x{t}, #g>, !i) -> tensor<{t}, #g>
  %x = tg.load %vl : tensor<{t}, #g> -> tensor<{t}>
  %ol = tg.index %o[%b] : (tensor<4x{t}, #g>, !i) -> tensor<{t}, #g>
  %s = tg.atomicadd %ol, %x : tensor<{t}, #g>, tensor<{t}>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}}
"""


@pytest.mark.parametrize("dtype", ["i1", "i8", "ui16", "i32", "ui64", "index", "f32", "f64"])
def test_atomic_add(dtype):
    """Where the index is out of bounds nothing changes, not even the sign of a zero."""
    numpy = NUMPY_DTYPES[dtype]
    p = np.array([1, -1, 4, 2**60, 1, 2, 3, 3, 3, -5, 2, 2, 2, 9, 1, 1])
    v = np.arange(16).astype(numpy)
    guarded = np.zeros(12, numpy)
    zero = np.array(-0.0 if dtype[0] == "f" else 0).astype(numpy)
    guarded[4] = zero
    compiled(ATOMIC.format(t=dtype))("histogram")(guarded[4:8], p, v)
    expected = np.zeros(12, numpy)
    expected[4] = zero
    for position, value in zip(p, v, strict=True):
        if 0 <= position < 4:
            expected[4 + position] += value
    assert np.array_equal(bits(guarded), bits(expected))


def test_no_iterations_touch_nothing():
    compiled(DYNAMIC)("rows")(0, 0, 0, 0)  # null pointers
