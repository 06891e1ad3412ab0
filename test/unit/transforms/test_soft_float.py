"""Soft casts against ml_dtypes from f32, and against exact rounding from f64 and integers."""

from fractions import Fraction

import numpy as np
import pytest
from numpy_recipe import DTYPES, Array, carry_out, f32_patterns, random_patterns

from tgdialect.transforms.soft_float import (
    NARROW_FORMATS,
    NarrowFormat,
    decode,
    encode,
    soft_cast,
    wide_float,
)

every_format = pytest.mark.parametrize(
    ("name", "narrow"), NARROW_FORMATS.items(), ids=list(NARROW_FORMATS)
)


def patterns(narrow: NarrowFormat) -> Array:
    return np.arange(1 << narrow.width).astype(DTYPES[narrow.unsigned])


def check_encode(x: Array, expected: Array, narrow: NarrowFormat) -> None:
    """Bit by bit; a NaN is the quiet one of its sign."""
    bits, _ = carry_out(lambda v: encode(v, narrow), x)
    sign = np.where(np.signbit(x), narrow.sign_bit, 0)
    if not narrow.has_infinity:
        expected = np.minimum(expected & ~sign, narrow.overflow) | sign
    expected = np.where(np.isnan(x), narrow.nan | sign, expected)
    np.testing.assert_array_equal(bits, expected)


@every_format
def test_decode_every_pattern(name, narrow):
    bits = patterns(narrow)
    result, _ = carry_out(lambda b: decode(b, narrow), bits)
    expected = bits.view(DTYPES[name]).astype(np.float32)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@every_format
def test_encode_f32_strided(name, narrow):
    for x in f32_patterns(509):
        with np.errstate(all="ignore"):
            expected = x.astype(DTYPES[name]).view(DTYPES[narrow.unsigned])
        check_encode(x, expected, narrow)


@every_format
def test_encode_around_midpoints(name, narrow):
    """Every value, every midpoint and their neighbours; the carry into infinity too."""
    x = boundaries(name, narrow, np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(DTYPES[name]).view(DTYPES[narrow.unsigned])
    check_encode(x, expected, narrow)


@every_format
def test_encode_f64_rounds_once(name, narrow):
    """ml_dtypes goes through f32, so the expected value is looked up between neighbours."""
    x = np.concatenate(
        [
            boundaries(name, narrow, np.float64),
            random_patterns(np.float64, 200_000, seed=1),
            np.random.default_rng(2).uniform(-1e-3, 1e-3, 200_000),
        ]
    )
    check_encode(x, nearest_even(x, name, narrow), narrow)


@pytest.mark.sampled(3)
@every_format
def test_cast_of_integers_rounds_once(name, narrow):
    """Ties of 64-bit integers that differ from a midpoint in their last bit only."""
    numbers = [
        0,
        1,
        -1,
        5,
        2**63 - 1,
        -(2**63),
        2**62 + 2**54,
        2**62 + 2**54 + 1,
        2**62 + 2**54 - 1,
    ]
    numbers += [2**53 + 2**45, 2**53 + 2**45 + 1, -(2**53) - 2**45 - 1, 464, 465, 65519, 65520]
    x = np.array(numbers, np.int64)
    expected = np.array([exactly_rounded(n, name, narrow) for n in numbers])
    for arguments, bits in ((x, expected), (x[x >= 0].astype(np.uint64), expected[x >= 0])):
        result, _ = carry_out(lambda v: soft_cast(v, name), arguments)
        np.testing.assert_array_equal(result.view(DTYPES[narrow.unsigned]), bits)
    small = np.array([0, 1, 5, 100], np.int32)
    for dtype in (np.int8, np.uint16, np.int32, np.uint32):
        result, _ = carry_out(lambda v: soft_cast(v, name), small.astype(dtype))
        np.testing.assert_array_equal(result, small.astype(result.dtype))


@every_format
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_integers_round_once_without_f64(name: str, narrow: NarrowFormat, dtype: str):
    """Around every power of two and midpoint, as by f64."""
    bits = np.iinfo(dtype).bits
    powers = [1 << p for p in range(bits)]
    near = [p + (p >> n) + d for p in powers for n in range(1, 27) for d in (-1, 0, 1)]
    random = random_patterns(f"u{bits // 8}", 10_000, seed=3)
    x = np.concatenate([np.array([*powers, *near, 0], object) % (1 << bits), random])
    x = x.astype(f"uint{bits}").view(dtype)
    found, expected = (
        carry_out(lambda v, has=has: encode(wide_float(v, has_f64=has), narrow), x)[0]
        for has in (False, True)
    )
    np.testing.assert_array_equal(found, expected)


def test_cast_from_narrow():
    for name in NARROW_FORMATS:
        x = np.array([0.0, -0.0, 1.5, -2.0, 16.0, 448.0, -0.015625], DTYPES[name])
        for dtype in ("f32", "f64", "bf16", "f8E5M2"):
            result, _ = carry_out(lambda v, to=dtype: soft_cast(v, to), x)
            np.testing.assert_array_equal(
                result.astype(np.float64), x.astype(DTYPES[dtype]).astype(np.float64)
            )


def boundaries(name: str, narrow: NarrowFormat, dtype) -> Array:
    """The values of the format, what lies halfway between two, and the neighbours of both."""
    values = finite_values(name, narrow)
    with np.errstate(over="ignore"):
        beyond = np.append(values, 2 * values[-1] - values[-2])
        points = np.concatenate([beyond, (beyond[1:] + beyond[:-1]) / 2]).astype(dtype)
        near = [np.nextafter(points, dtype(0)), points, np.nextafter(points, dtype(np.inf))]
    x = np.concatenate([*near, [np.inf, np.nan, np.finfo(dtype).max]]).astype(dtype)
    return np.concatenate([x, -x])


def finite_values(name: str, narrow: NarrowFormat) -> Array:
    """The finite values >= 0 of the format, ascending; the index is the bit pattern."""
    greatest = narrow.overflow - narrow.has_infinity
    return patterns(narrow)[: greatest + 1].view(DTYPES[name]).astype(np.float64)


def nearest_even(x: Array, name: str, narrow: NarrowFormat) -> Array:
    """The bits of x rounded to the format, by comparing with midpoints, which f64 holds."""
    values = finite_values(name, narrow)
    values = np.append(values, 2 * values[-1] - values[-2])
    middle = (values[1:] + values[:-1]) / 2
    magnitude = np.abs(x)
    low = np.searchsorted(middle, magnitude, "left")  # at a midpoint, the one below
    tie = (low < len(middle)) & (middle[np.minimum(low, len(middle) - 1)] == magnitude)
    bits = np.where(tie & (low % 2 == 1), low + 1, low)
    return bits | np.where(np.signbit(x), narrow.sign_bit, 0)


def exactly_rounded(number: int, name: str, narrow: NarrowFormat) -> int:
    """The bits of an integer rounded to the format, with exact arithmetic."""
    values = finite_values(name, narrow)
    values = [*map(Fraction, values), Fraction(2 * values[-1] - values[-2])]
    bits = min(range(len(values)), key=lambda i: (abs(values[i] - abs(number)), i % 2))
    return min(bits, narrow.overflow) | (narrow.sign_bit if number < 0 else 0)
