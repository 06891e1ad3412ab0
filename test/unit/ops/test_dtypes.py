"""Rounding and wrapping into every dtype, against NumPy and ml_dtypes."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tgdialect.ops.dtypes import DTYPES, DType, round_to, wrap_to

ROWS = {row.name: row for row in DTYPES.values()}
NUMPY = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
FLOATS = list(NUMPY)
INTEGERS = [name for name, row in ROWS.items() if row.is_integer and name != "index"]


def numpy_rounded(name: str, value: float) -> float:
    # ml_dtypes rounds a float64 by way of float32; a float32 it rounds once.
    if name == "f8E4M3FN":  # It has no infinity, and ml_dtypes makes NaN of what is too great.
        value = min(max(value, -448.0), 448.0) if value == value else value
    with np.errstate(over="ignore"):
        return float(np.float32(value).astype(NUMPY[name]))


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def all_values(name: str) -> np.ndarray:
    """Every value of an 8 or 16 bit float dtype."""
    bits = ROWS[name].bits
    raw = np.arange(2**bits, dtype=f"uint{bits}")
    with np.errstate(invalid="ignore"):
        return raw.view(NUMPY[name]).astype(np.float64)


@pytest.mark.parametrize("name", FLOATS)
@given(value=st.floats(width=32))
def test_round_to(name: str, value: float):
    assert same(round_to(ROWS[name], value), numpy_rounded(name, value))


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
@given(value=st.floats())
def test_round_to_from_f64(name: str, value: float):
    with np.errstate(over="ignore"):
        assert same(round_to(ROWS[name], value), float(np.float64(value).astype(NUMPY[name])))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [n for n in FLOATS if ROWS[n].bits <= 16])
def test_ties_and_halfway_points(name: str):
    """Values, the midpoints between neighbours, and the points next to the midpoints."""
    values = np.unique(all_values(name)[np.isfinite(all_values(name))])
    middles = (values[1:] + values[:-1]) / 2
    points = np.concatenate([values, middles, np.nextafter(np.float32(middles), np.float32(0))])
    assert np.array_equal(np.float32(points).astype(np.float64), points)  # f32 holds them all
    wrong = [p for p in points[::7] if not same(round_to(ROWS[name], p), numpy_rounded(name, p))]
    assert wrong == []


@pytest.mark.parametrize("name", FLOATS)
def test_row_matches_numpy(name: str):
    row, info = ROWS[name], ml_dtypes.finfo(NUMPY[name])
    assert row.max_finite == float(info.max)
    assert row.bits == info.bits
    assert 2.0**row.min_exponent == float(info.smallest_normal)
    assert 2.0 ** (1 - row.precision) == float(info.eps)
    assert math.isinf(row.high) == math.isinf(float(np.float32("inf").astype(NUMPY[name])))


@given(value=st.integers(-(2**200), 2**200))
def test_round_integers(value: int):
    assert round_to(ROWS["f64"], value) == float(value)


def test_round_past_the_greatest_value():
    """The midpoint to what would be the next value is a tie, and the greatest value is even."""
    assert round_to(ROWS["f8E4M3FN"], 464.0) == 448.0
    assert round_to(ROWS["f8E4M3FN"], 464.5) == 448.0
    assert round_to(ROWS["f8E4M3FN"], -math.inf) == -448.0
    assert round_to(ROWS["f16"], 65519.0) == 65504.0
    assert round_to(ROWS["f16"], -65520.0) == -math.inf


def test_round_to_beyond_f64():
    assert round_to(ROWS["f64"], 10**400) == math.inf
    assert round_to(ROWS["f32"], -(10**400)) == -math.inf
    assert round_to(ROWS["f8E4M3FN"], 10**400) == 448.0
    assert round_to(ROWS["f64"], 2**53 + 1) == 2**53
    assert round_to(ROWS["f64"], 2**53 + 3) == 2**53 + 4


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", INTEGERS)
@given(value=st.integers(-(2**70), 2**70))
def test_wrap_to(name: str, value: int):
    dtype = np.dtype(name.replace("ui", "uint") if name.startswith("u") else f"int{name[1:]}")
    assert wrap_to(ROWS[name], value) == int(np.array(value % 2**64, np.uint64).astype(dtype))


def test_bounds_are_numpys():
    def bounds(row: DType) -> tuple[float, float]:
        return row.low, row.high

    for name in INTEGERS:
        info = np.iinfo(name.replace("ui", "uint") if name.startswith("u") else f"int{name[1:]}")
        assert bounds(ROWS[name]) == (info.min, info.max)
