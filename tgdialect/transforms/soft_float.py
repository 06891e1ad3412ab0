"""CAST to and from f16, bf16 and fp8, in integer operations on their bits.

For targets without the conversion. Rounds to nearest even, once, also from f64 and 64-bit
integers; values too great for a format become its infinity, or its greatest number where it has
none, as with PyTorch and the conversions of GPUs. NaNs become the quiet NaN of their sign (from
bf16 they keep their payload).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tgdialect.transforms.float_format import F32, F64, BitFormat, format_of
from tgdialect.transforms.recipe import Dtype, RecipeValue, V


@dataclass(frozen=True, kw_only=True, slots=True)
class NarrowFormat(BitFormat):
    """A float format of 8 or 16 bits."""

    overflow: int
    """The bits of numbers that are too great: those of infinity, or of the greatest number."""
    nan: int
    """The bits of the quiet NaN."""

    @property
    def has_infinity(self) -> bool:
        return self.overflow + 1 != self.nan


NARROW_FORMATS: dict[str, NarrowFormat] = {
    "bf16": NarrowFormat(unsigned="ui16", precision=8, bias=127, overflow=0x7F80, nan=0x7FC0),
    "f16": NarrowFormat(unsigned="ui16", precision=11, bias=15, overflow=0x7C00, nan=0x7E00),
    "f8E5M2": NarrowFormat(unsigned="ui8", precision=3, bias=15, overflow=0x7C, nan=0x7E),
    "f8E4M3FN": NarrowFormat(unsigned="ui8", precision=4, bias=7, overflow=0x7E, nan=0x7F),
}


def soft_cast(x: RecipeValue[V], dtype: Dtype) -> RecipeValue[V]:
    """x as `dtype`, where one of both dtypes is narrow; as CAST."""
    source = NARROW_FORMATS.get(x.dtype)
    if source is not None:
        x = decode(x.bitcast(source.unsigned), source)
    narrow = NARROW_FORMATS.get(dtype)
    if narrow is None:
        return x.cast(dtype)
    return encode(wide_float(x), narrow).bitcast(dtype)


def encode(x: RecipeValue[V], narrow: NarrowFormat) -> RecipeValue[V]:
    """The bits of x, f32 or f64, rounded to the narrow format."""
    form = format_of(x)
    bits = x.bitcast(form.unsigned)
    magnitude = bits & (form.sign_bit - 1)
    shift = form.stored - narrow.stored
    rebias = (form.bias - narrow.bias) << form.stored

    # Half of the last place that stays, less one unit, plus one unit if that place is odd: the
    # carry rounds to nearest even, into the exponent if need be.
    odd = (magnitude >> shift) & 1
    round_up = ((1 << (shift - 1)) - 1 - rebias) % (1 << form.width)
    result = (magnitude + round_up + odd) >> shift
    if rebias:
        result = (result > narrow.overflow).where(result.constant(narrow.overflow), result)
        # Below the least normal number: a float whose last place is the least subnormal makes the
        # addition do the rounding.
        exponent = 1 - narrow.bias - narrow.stored + form.stored
        magic = magnitude.bitcast(form.dtype) + 2.0**exponent
        count = magic.bitcast(form.unsigned) - ((exponent + form.bias) << form.stored)
        least_normal = (1 - narrow.bias + form.bias) << form.stored
        result = (magnitude < least_normal).where(count, result)
    infinity = (2 * form.bias + 1) << form.stored
    result = (magnitude > infinity).where(result.constant(narrow.nan), result)
    sign = (bits >> (form.width - narrow.width)) & narrow.sign_bit
    return (result | sign).cast(narrow.unsigned)


def decode(bits: RecipeValue[V], narrow: NarrowFormat) -> RecipeValue[V]:
    """The f32 that the bits of the narrow format stand for, exactly."""
    wide = bits.cast("ui32")
    if narrow.bias == F32.bias:
        return (wide << (F32.stored - narrow.stored)).bitcast("f32")
    magnitude = wide & (narrow.sign_bit - 1)
    # The exponents differ by a constant, which the product puts right for subnormals too.
    result = (magnitude << (F32.stored - narrow.stored)).bitcast("f32")
    result = result * 2.0 ** (F32.bias - narrow.bias)
    if narrow.has_infinity:
        result = magnitude.eq(narrow.overflow).where(result.constant(math.inf), result)
    result = (magnitude > narrow.overflow).where(result.constant(math.nan), result)
    sign = (wide & narrow.sign_bit) << (F32.width - narrow.width)
    return (result.bitcast("ui32") | sign).bitcast("f32")


def wide_float(x: RecipeValue[V], *, has_f64: bool = True) -> RecipeValue[V]:
    """x as f32, or as f64 if there is one, such that rounding it to a narrow format rounds x.

    64-bit integers need more bits than f64 has; their lowest bits are told apart from 0 only
    (rounding to odd: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    match x.dtype:
        case "f32" | "f64":
            return x
        case "i32" | "ui32" | "i64" | "ui64" | "index" if not has_f64:
            return _odd_f32(x.cast("i64") if x.dtype == "index" else x)
        case "i32" | "ui32":
            return x.cast("f64")
        case "i64" | "ui64" | "index":
            x = x.cast("i64") if x.dtype == "index" else x
            low = (x & 2047).ne(0).cast(x.dtype)
            odd = ((x >> 11) | low).cast("f64") * 2048.0
            limit = 1 << F64.precision
            if x.dtype == "ui64":
                return (x < limit).where(x.cast("f64"), odd)
            exact = (x + limit).bitcast("ui64") < 2 * limit
            return exact.where(x.cast("f64"), odd)
        case _:
            return x.cast("f32")


def _odd_f32(x: RecipeValue[V]) -> RecipeValue[V]:
    """An integer as f32, rounded to odd: one that is none becomes its neighbour of an odd bit
    pattern."""
    nearest = x.cast("f32")
    back, bits = nearest.cast(x.dtype), nearest.bitcast("ui32")
    grows = (back < x) ^ (x < 0)
    neighbour = grows.where(bits + 1, bits - 1)
    return (back.ne(x) & (bits & 1).eq(0)).where(neighbour, bits).bitcast("f32")
