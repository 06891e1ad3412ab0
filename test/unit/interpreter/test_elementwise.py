"""Every elementwise op, with each row of docs/semantics.md about them."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

NAN, INF = math.nan, math.inf

NUMPY = {
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui64": np.uint64,
    "index": np.int64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


def apply(execute, op, dtypes, operands, result=None, suffix=""):
    """Run one elementwise op on lists of numbers."""
    dtypes = [dtypes] * len(operands) if isinstance(dtypes, str) else dtypes
    result = result or dtypes[0]
    arrays = [np.array(o).astype(NUMPY[d]) for o, d in zip(operands, dtypes, strict=True)]
    types = [f"tensor<{len(a)}x{d}>" for a, d in zip(arrays, dtypes, strict=True)]
    n = max(len(a) for a in arrays)
    names = [f"%a{i}" for i in range(len(arrays))]
    text = f"""
    func.func @main({", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))})
        -> tensor<{n}x{result}> {{
      %r = tg.{op} {", ".join(names)}{suffix} : ({", ".join(types)}) -> tensor<{n}x{result}>
      return %r : tensor<{n}x{result}>
    }}"""
    (value,) = execute(text, *arrays)
    assert value.dtype == NUMPY[result]
    return value


def check(value, expected):
    """Equal, NaN to NaN, and zeros by sign."""
    expected = np.array(expected)
    if np.array(expected).dtype.kind in "iub":
        assert value.tolist() == expected.tolist()
        return
    wide = value.astype(np.float64)
    assert_array_equal(wide, expected)
    zero = expected == 0
    assert_array_equal(np.signbit(wide[zero]), np.signbit(expected[zero]))


I32_MIN, I32_MAX = -(2**31), 2**31 - 1

CASES = [
    # integers wrap
    ("add", "i32", ([I32_MAX, -1], [1, 2]), [I32_MIN, 1]),
    ("sub", "i32", ([I32_MIN], [1]), [I32_MAX]),
    ("mul", "i32", ([2**30, -3], [4, 5]), [0, -15]),
    ("neg", "i32", ([I32_MIN, 5],), [I32_MIN, -5]),
    ("add", "ui8", ([250], [10]), [4]),
    ("sub", "ui8", ([3], [5]), [254]),
    ("mulacc", "i8", ([100], [2], [100]), [300 - 256]),
    # floor division and its modulo; by zero; MIN by -1
    (
        "idiv",
        "i32",
        ([7, -7, 7, -7, 5, I32_MIN], [2, 2, -2, -2, 0, -1]),
        [3, -4, -4, 3, 0, I32_MIN],
    ),
    ("mod", "i32", ([7, -7, 7, -7, 5, I32_MIN], [2, 2, -2, -2, 0, -1]), [1, 1, -1, -1, 0, 0]),
    ("idiv", "ui8", ([250, 7], [7, 0]), [35, 0]),
    ("mod", "ui8", ([250, 7], [7, 0]), [5, 0]),
    # shifts: arithmetic on signed, logical on unsigned; counts past the width and negative
    ("shl", "i32", ([1, 1, 1, 3, 1], [31, 32, -1, 31, 1000]), [I32_MIN, 0, 0, I32_MIN, 0]),
    ("shr", "i32", ([-8, -8, 8, -1, 8], [1, 32, 40, -5, -5]), [-4, -1, 0, -1, 0]),
    ("shr", "ui8", ([200, 200, 255], [1, 8, 200]), [100, 0, 0]),
    ("shl", "ui8", ([200, 3], [1, 8]), [144, 0]),
    ("shr", ("i8", "ui64"), ([-128, 127], [2**63, 3]), [-1, 15]),
    # bits
    ("xor", "i32", ([0b1100, -1], [0b1010, 1]), [0b0110, -2]),
    ("or", "i32", ([0b1100], [0b1010]), [0b1110]),
    ("and", "i32", ([0b1100], [0b1010]), [0b1000]),
    ("xor", "i1", ([False, True, True], [True, True, False]), [True, False, True]),
    # bool arithmetic is or, and, or
    ("add", "i1", ([False, True, True], [False, True, False]), [False, True, True]),
    ("mul", "i1", ([False, True, True], [False, True, False]), [False, True, False]),
    ("max", "i1", ([False, True, True], [False, True, False]), [False, True, True]),
    ("not", "i1", ([False, True],), [True, False]),
    # MAX: NaN wins, and +0 is above -0 in either order
    (
        "max",
        "f32",
        ([NAN, 1, -0.0, 0.0, -0.0, -INF], [1, NAN, 0.0, -0.0, -0.0, -5]),
        [NAN, NAN, 0.0, 0.0, -0.0, -5],
    ),
    ("max", "bf16", ([-0.0, NAN], [0.0, 2]), [0.0, NAN]),
    ("max", "i32", ([3, -4], [2, -3]), [3, -3]),
    # float arithmetic
    ("recip", "f32", ([0.0, -0.0, 4, INF],), [INF, -INF, 0.25, 0.0]),
    ("trunc", "f32", ([1.7, -1.7, -0.5, NAN, INF],), [1, -1, -0.0, NAN, INF]),
    ("trunc", "i32", ([-7],), [-7]),
    ("div", "f32", ([1, 0, -1], [4, 0, 0]), [0.25, NAN, -INF]),
    ("neg", "f32", ([0.0, 2],), [-0.0, -2]),
    ("sqrt", "f32", ([4, -0.0, -1, INF],), [2, -0.0, NAN, INF]),
    ("exp2", "f32", ([3, -1, -INF, INF, NAN, 200, -200],), [8, 0.5, 0, INF, NAN, INF, 0]),
    ("log2", "f32", ([8, 0.0, -0.0, -1, INF],), [3, -INF, -INF, NAN, INF]),
    ("sin", "f32", ([0.0, -0.0, INF, NAN],), [0.0, -0.0, NAN, NAN]),
    # pow as C99's
    (
        "pow",
        "f32",
        ([2, NAN, 1, -1, -8, 0.0, -2, 0.0], [10, 0, NAN, INF, 1 / 3, -1, 3, 0]),
        [1024, 1, 1, 1, NAN, INF, -8, 1],
    ),
    ("mulacc", "f32", ([2], [3], [4]), [10]),
    # bf16 and fp8 are computed in f32 and rounded once
    ("add", "bf16", ([256, 256], [1, 3]), [256, 260]),
    ("add", "f16", ([65504, 2048], [16, 1]), [INF, 2048]),
    ("mulacc", "f16", ([256], [256], [-65504]), [32]),
    ("add", "f8E4M3FN", ([448, 448], [16, 32]), [448, 448]),
    ("mul", "f8E5M2", ([57344], [2]), [INF]),
]


@pytest.mark.parametrize(("op", "dtype", "operands", "expected"), CASES)
def test_arithmetic(execute, op, dtype, operands, expected):
    check(apply(execute, op, dtype if isinstance(dtype, str) else list(dtype), operands), expected)


A, B = [1, 2, 2, NAN, 1, NAN], [2, 2, 1, 1, NAN, NAN]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("cmplt", [1, 0, 0, 0, 0, 0]),
        ("cmpgt", [0, 0, 1, 0, 0, 0]),
        ("cmpne", [1, 0, 1, 1, 1, 1]),
        ("cmpeq", [0, 1, 0, 0, 0, 0]),
        # The negations of cmplt and cmpgt, so true on NaN.
        ("cmpge", [0, 1, 1, 1, 1, 1]),
        ("cmple", [1, 1, 0, 1, 1, 1]),
    ],
)
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "f8E4M3FN"])
def test_comparison_of_floats(execute, op, expected, dtype):
    check(apply(execute, op, dtype, (A, B), "i1"), [bool(e) for e in expected])


def test_comparison_of_bools_and_unsigned(execute):
    check(
        apply(execute, "cmplt", "i1", ([0, 0, 1, 1], [0, 1, 0, 1]), "i1"),
        [False, True, False, False],
    )
    check(apply(execute, "cmplt", "ui64", ([2**63], [1]), "i1"), [False])


CASTS = [
    (
        "f32",
        "i32",
        [1.9, -1.9, NAN, INF, -INF, 3e9, -3e9],
        [1, -1, 0, I32_MAX, I32_MIN, I32_MAX, I32_MIN],
    ),
    ("f64", "i64", [2.0**63, -(2.0**63), 2.0**62], [2**63 - 1, -(2**63), 2**62]),
    ("f32", "ui8", [-1, 255.9, 256, NAN, 3.5], [0, 255, 255, 0, 3]),
    ("f64", "ui64", [2.0**64, 2.0**63, -1], [2**64 - 1, 2**63, 0]),
    ("bf16", "i8", [200, -200, 100], [127, -128, 100]),
    ("i32", "i8", [300, -129, 128], [44, 127, -128]),
    ("i32", "ui8", [-1, 256], [255, 0]),
    ("f32", "i1", [0.0, -0.0, NAN, 0.5], [False, False, True, True]),
    ("i32", "i1", [0, 256, -1], [False, True, True]),
    ("i1", "f32", [False, True], [0.0, 1.0]),
    ("f32", "f16", [65520, 65519, 1e-8], [INF, 65504, 0.0]),
    ("f32", "f8E4M3FN", [464, 465, INF, NAN, 2**-10, -1], [448, 448, 448, NAN, 0.0, -1]),
    ("f32", "f8E5M2", [61439, 61440], [57344, INF]),
    # Rounded once: through f32 this would round to even twice, to 1.
    (
        "f64",
        "bf16",
        [1 + 2**-8 + 2**-40, 1 + 2**-8, -1 - 2**-8 - 2**-40],
        [1 + 2**-7, 1, -1 - 2**-7],
    ),
    ("f64", "f16", [1 + 2**-11 + 2**-40], [1 + 2**-10]),
    ("f64", "f8E5M2", [1 + 2**-3 + 2**-40], [1.25]),
    (
        "i64",
        "bf16",
        [2**62 + 2**54 + 1, 2**62 + 2**54, -(2**62) - 2**54 - 1],
        [2.0**62 * (1 + 2**-7), 2.0**62, -(2.0**62) * (1 + 2**-7)],
    ),
    ("ui64", "f32", [2**63 + 2**39 + 1, 2**63 + 2**39], [2.0**63 + 2**40, 2.0**63]),
    ("i64", "f64", [2**53 + 1], [2.0**53]),
]


@pytest.mark.parametrize(("source", "target", "values", "expected"), CASTS)
def test_cast(execute, source, target, values, expected):
    check(apply(execute, "cast", [source], (values,), target, f" to {target}"), expected)


@pytest.mark.parametrize("target", ["bf16", "f8E4M3FN", "f8E5M2", "f16", "f32"])
def test_cast_rounds_as_the_exact_rule(execute, target):
    """Against the rational arithmetic of ops/dtypes.py, on f64 and i64 values of every size."""
    from tgdialect.ops.dtypes import DTYPES, round_to

    row = next(d for d in DTYPES.values() if d.name == target)
    rng = np.random.default_rng(0)
    floats = rng.normal(size=300) * 2.0 ** rng.integers(-30, 30, 300)
    # Values at and beside the midpoints between two neighbours.
    coarse = np.array([round_to(row, x) for x in floats[:100]])
    floats = np.concatenate(
        [floats, coarse * (1 + 2.0**-row.precision), coarse * (1 + 2.0**-row.precision + 2**-50)]
    )
    floats = floats[np.isfinite(floats)]
    got = apply(execute, "cast", ["f64"], (floats,), target, f" to {target}")
    check(got, [round_to(row, float(x)) for x in floats])
    integers = rng.integers(-(2**63), 2**63 - 1, 300) >> rng.integers(0, 60, 300)
    integers = np.concatenate([integers, np.array([2**62 + 2**54 + 1, 2**60 + 2**49 + 1])])
    got = apply(execute, "cast", ["i64"], (integers,), target, f" to {target}")
    check(got, [round_to(row, int(x)) for x in integers])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("op", ["exp2", "log2", "sin"])
def test_transcendental_ops_are_correctly_rounded_or_nearly(execute, op, dtype):
    x = np.random.default_rng(1).uniform(0.01, 100, 2000).astype(NUMPY[dtype])
    wide = getattr(np, op)(x.astype(np.longdouble))
    error = np.abs(apply(execute, op, dtype, (x,)) - wide) / np.spacing(
        np.abs(wide).astype(NUMPY[dtype])
    )
    assert error.max() < 0.51


def test_sin_of_great_arguments(execute):
    """sin(1e22), a value that only exact argument reduction finds."""
    assert apply(execute, "sin", "f64", ([1e22],))[0] == pytest.approx(
        -0.8522008497671888, abs=1e-16
    )


def test_where_and_broadcasting(execute):
    text = """
    func.func @main(%p: tensor<2x1xi1>, %a: tensor<3xf32>, %b: tensor<f32>) -> tensor<2x3xf32> {
      %r = tg.where %p, %a, %b : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }"""
    (r,) = execute(text, np.array([[True], [False]]), np.arange(3, dtype="f4"), np.float32(9))
    assert r.tolist() == [[0, 1, 2], [9, 9, 9]]


THREEFRY = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


def test_threefry_published_vectors(execute):
    """The known answers of Random123 for threefry2x32 with 20 rounds."""
    columns = [[a | b << 32 for a, b in column] for column in zip(*THREEFRY, strict=True)]
    counters, keys, expected = (np.array(c, np.uint64) for c in columns)
    check(apply(execute, "threefry", "ui64", (counters, keys)), expected)
