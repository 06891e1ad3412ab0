"""The dtypes of the dialect: one row each, and exact rounding of Python numbers into them.

A dtype is a builtin scalar type. Signless integers are signed and `i1` is bool, as in StableHLO.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl import unchecked


class Kind(Enum):
    """The kind of arithmetic of a dtype."""

    BOOL = "bool"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"
    FLOAT = "float"


@dataclass(frozen=True, repr=False)
class DType:
    """One row of the dtype table.

    `bits` is the width in memory (a bool takes a byte there); `low` and `high` are the least and
    greatest values, infinities included. For floats `precision` counts the significand's bits with
    the hidden one and `min_exponent` is the exponent of the least normal number.
    """

    name: str
    kind: Kind
    bits: int
    low: int | float
    high: int | float
    precision: int = 0
    min_exponent: int = 0
    max_finite: float = 0.0

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @cached_property
    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    @cached_property
    def is_integer(self) -> bool:
        """Signed or unsigned, index included, bool not."""
        return self.kind is Kind.SIGNED or self.kind is Kind.UNSIGNED

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return self.bits // 8


def _signed(name: str, bits: int) -> DType:
    return DType(name, Kind.SIGNED, bits, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _unsigned(name: str, bits: int) -> DType:
    return DType(name, Kind.UNSIGNED, bits, 0, 2**bits - 1)


def _float(
    name: str, bits: int, precision: int, min_exponent: int, max_finite: float, *, infinite: bool
) -> DType:
    bound = math.inf if infinite else max_finite
    return DType(
        name, Kind.FLOAT, bits, -bound, bound, precision, min_exponent, max_finite=max_finite
    )


BOOL = builtin.IntegerType(1)
INDEX = builtin.IndexType()
I32 = builtin.IntegerType(32)
I64 = builtin.IntegerType(64)
UI8 = builtin.IntegerType(8, builtin.Signedness.UNSIGNED)
UI64 = builtin.IntegerType(64, builtin.Signedness.UNSIGNED)
F32 = builtin.Float32Type()
F64 = builtin.Float64Type()

DTYPES: dict[Attribute, DType] = {
    BOOL: DType("i1", Kind.BOOL, 8, 0, 1),
    INDEX: _signed("index", 64),
    builtin.IntegerType(8): _signed("i8", 8),
    builtin.IntegerType(16): _signed("i16", 16),
    I32: _signed("i32", 32),
    I64: _signed("i64", 64),
    UI8: _unsigned("ui8", 8),
    builtin.IntegerType(16, builtin.Signedness.UNSIGNED): _unsigned("ui16", 16),
    builtin.IntegerType(32, builtin.Signedness.UNSIGNED): _unsigned("ui32", 32),
    UI64: _unsigned("ui64", 64),
    builtin.Float8E4M3FNType(): _float("f8E4M3FN", 8, 4, -6, 448.0, infinite=False),
    builtin.Float8E5M2Type(): _float("f8E5M2", 8, 3, -14, 57344.0, infinite=True),
    builtin.Float16Type(): _float("f16", 16, 11, -14, 65504.0, infinite=True),
    builtin.BFloat16Type(): _float("bf16", 16, 8, -126, (2 - 2**-7) * 2.0**127, infinite=True),
    F32: _float("f32", 32, 24, -126, (2 - 2**-23) * 2.0**127, infinite=True),
    F64: _float("f64", 64, 53, -1022, math.nextafter(math.inf, 0), infinite=True),
}
"""Every dtype a tg value may have, by its builtin type."""

TYPES: dict[str, Attribute] = {row.name: type for type, row in DTYPES.items()}
"""The builtin type of each dtype, by its name."""


def unsigned(bits: int) -> Attribute:
    """The unsigned integer dtype of a width."""
    return builtin.IntegerType(bits, builtin.Signedness.UNSIGNED)


def round_to(dtype: DType, value: float) -> float:
    """A Python int or float rounded to a float `dtype`, to nearest even.

    Overflow gives an infinity, or the greatest finite number if the dtype has none. Rounding the
    result of +, -, *, / or sqrt in f64 on two numbers of `dtype` gives the correctly rounded
    result: f64 has at least 2p + 2 bits for each narrower precision p (Figueroa, "When is double
    rounding innocuous?", 1995).
    """
    rounded = to_nearest(dtype, value)
    return min(max(rounded, dtype.low), dtype.high) if rounded == rounded else rounded


def to_nearest(dtype: DType, value: float) -> float:
    """`round_to`, but an infinity for what is too great, in every dtype."""
    if value in (0, math.inf, -math.inf) or value != value:
        return float(value)
    if dtype.precision == 53 and isinstance(value, float):
        return value
    if abs(value) <= 1 << dtype.precision and value == int(value):
        return float(value)
    exponent = value.bit_length() if isinstance(value, int) else math.frexp(value)[1]
    ulp = Fraction(2) ** (max(exponent - 1, dtype.min_exponent) - dtype.precision + 1)
    rounded = round(Fraction(value) / ulp) * ulp
    if abs(rounded) > dtype.max_finite:
        return math.inf if value > 0 else -math.inf
    return float(rounded) if rounded else math.copysign(0.0, value)


def wrap_to(dtype: DType, value: int) -> int:
    """`value` modulo 2^width, as an integer of `dtype`; a bool is `value != 0`."""
    if dtype.is_bool:
        return int(value != 0)
    span = 1 << dtype.bits
    return (value - int(dtype.low)) % span + int(dtype.low)


def dtype_row(dtype: Attribute) -> DType:
    """The row of the dtype table. Raises VerifyException for a type without one.

    It is kept in the type: to hash and compare types takes ten times as long.
    """
    kept: dict[str, Any] = vars(dtype)
    if (row := kept.get(_ROW)) is None:
        if (row := DTYPES.get(dtype)) is None:
            raise VerifyException(f"{dtype} is not a dtype: {', '.join(TYPES)}")
        kept[_ROW] = row
    return row


_ROW = "tg_dtype"
"""Where a type keeps its row of the dtype table."""


def check_representable(dtype: DType, value: float) -> None:
    """Raise for NaN or an infinity that `dtype` does not have."""
    if dtype.is_float:
        rounded = round_to(dtype, value)
        same = rounded == value or (rounded != rounded and value != value)
    else:
        same = dtype.low <= value <= dtype.high and value == int(value)
    if not same:
        raise VerifyException(f"{value} is not representable in {dtype.name}")


def number_attribute(value: float, dtype: Attribute) -> Attribute:
    """A Python number as an attribute of `dtype`: a float rounds, an integer must fit.

    Raises VerifyException for a number that would round to an infinity, and for a NaN or infinity
    that the dtype does not have.
    """
    row = dtype_row(dtype)
    if not row.is_float:
        check_representable(row, value)
        return _integer_attribute(int(value), row.name)
    rounded = to_nearest(row, value)
    if math.isinf(rounded) and not (rounded == value and math.isinf(row.high)):
        raise VerifyException(f"{value} is not representable in {row.name}")
    return _float_attribute(rounded, math.copysign(1, rounded), row.name)


@lru_cache(maxsize=4096)
def _float_attribute(value: float, sign: float, dtype: str) -> Attribute:
    # `sign` is part of the key, because 0.0 == -0.0 in this function's cache.
    data = unchecked.made(builtin.FloatData, data=value)
    return unchecked.made(builtin.FloatAttr, value=data, type=TYPES[dtype])


@lru_cache(maxsize=4096)
def _integer_attribute(value: int, dtype: str) -> Attribute:
    if TYPES[dtype] is BOOL:
        return builtin.IntegerAttr.from_bool(bool(value))
    return unchecked.integer(value, TYPES[dtype])


def bits_of_nan(value: builtin.FloatAttr) -> int | None:
    """The bits of a NaN that has a sign or a payload; None for other numbers."""
    number, dtype = value.value.data, value.type
    if not math.isnan(number) or (raw := dtype.pack([number])) == dtype.pack([math.nan]):
        return None
    return int.from_bytes(raw, "little")
