"""Intervals: the arithmetic behind the specification's `min_max` property.

An interval contains all possible values except NaN; `nan` says whether NaN is possible, too. Bounds
are Python ints for integers and bools, floats (infinities included) for floats.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from tgdialect.ops.dtypes import DType, round_to


@dataclass(frozen=True, slots=True)
class Interval:
    """The closed interval [lo, hi], and whether NaN is possible, too."""

    lo: int | float
    hi: int | float
    nan: bool = False

    def __contains__(self, value: float) -> bool:
        return self.nan if value != value else self.lo <= value <= self.hi

    def __str__(self) -> str:
        return f"[{self.lo}, {self.hi}]" + (" or nan" if self.nan else "")

    @property
    def is_constant(self) -> bool:
        return self.lo == self.hi and not self.nan

    def within(self, lo: float, hi: float) -> bool:
        """Whether no value can lie outside [lo, hi]."""
        return not self.nan and lo <= self.lo and self.hi <= hi

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi), nan=self.nan or other.nan)


def dtype_range(dtype: DType) -> Interval:
    """[dtype_min, dtype_max]; for floats the infinities, and NaN."""
    return Interval(dtype.low, dtype.high, nan=dtype.is_float)


def constant(value: float) -> Interval:
    """[v, v]; for a NaN constant an interval that excludes nothing."""
    return Interval(-math.inf, math.inf, nan=True) if value != value else Interval(value, value)


def representable(dtype: DType, lo: float, hi: float, *, nan: bool = False) -> Interval:
    """[lo, hi] as values of `dtype`: floats round, integers wrap.

    If only some of the integers wrap, it is the dtype's range.
    """
    if dtype.is_float:
        lo, hi = round_to(dtype, lo), round_to(dtype, hi)
        return dtype_range(dtype) if lo != lo or hi != hi else Interval(lo, hi, nan=nan)
    span = dtype.high - dtype.low + 1
    wraps = (lo - dtype.low) // span
    if wraps != (hi - dtype.low) // span:
        return dtype_range(dtype)
    return Interval(lo - wraps * span, hi - wraps * span)


def corners(
    dtype: DType, function: Callable[[float, float], float], a: Interval, b: Interval
) -> Interval:
    """The hull of `function` at the four corners, for a function monotone in each argument."""
    values = [function(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    if any(v != v for v in values):
        return dtype_range(dtype)
    return representable(dtype, min(values), max(values), nan=a.nan or b.nan)


def add(dtype: DType, a: Interval, b: Interval) -> Interval:
    """[a + b, A + B]."""
    return corners(dtype, operator.add, a, b)


def sub(dtype: DType, a: Interval, b: Interval) -> Interval:
    """[a - B, A - b]."""
    return corners(dtype, operator.sub, a, b)


def mul(dtype: DType, a: Interval, b: Interval) -> Interval:
    """[min, max] of the products of the ends. Zero times infinity is NaN."""
    infinite = dtype.is_float and any(math.isinf(v) for v in (a.lo, a.hi, b.lo, b.hi))
    return dtype_range(dtype) if infinite else corners(dtype, operator.mul, a, b)


def product(a: Interval, b: Interval) -> Interval:
    """[min, max] of the products of the ends, over the integers; bounds may be infinite."""
    ends = [x * y if x and y else 0 for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return Interval(min(ends), max(ends))


def maximum(a: Interval, b: Interval) -> Interval:
    """[max(a, b), max(A, B)]; NaN is possible if it is for either."""
    return Interval(max(a.lo, b.lo), max(a.hi, b.hi), nan=a.nan or b.nan)


def floor_divide(dtype: DType, a: Interval, b: Interval) -> Interval:
    """Floor division; x idiv 0 is 0, so a divisor that can be 0 adds 0 to the hull."""
    return _divided(b, lambda part: corners(dtype, lambda x, y: int(x) // int(y), a, part))


def modulo(dtype: DType, a: Interval, b: Interval) -> Interval:
    """Modulo with the divisor's sign; x mod 0 is 0."""
    return _divided(b, lambda part: _modulo_part(a, part))


def _modulo_part(a: Interval, b: Interval) -> Interval:
    """Modulo for a divisor of one sign."""
    if b.is_constant and a.lo // b.lo == a.hi // b.lo:
        return Interval(a.lo % b.lo, a.hi % b.lo)
    if b.lo > 0:
        most = a.hi if a.lo >= 0 else math.inf
        return a if a.within(0, b.lo - 1) else Interval(0, min(b.hi - 1, most))
    least = a.lo if a.hi <= 0 else -math.inf
    return a if a.within(b.hi + 1, 0) else Interval(max(b.lo + 1, least), 0)


def _divided(b: Interval, divide: Callable[[Interval], Interval]) -> Interval:
    """The hull of the results for the divisors of each sign, and of 0 for the divisor 0."""
    pieces: list[Interval] = []
    if b.lo < 0:
        pieces.append(divide(Interval(b.lo, min(b.hi, -1))))
    if b.hi > 0:
        pieces.append(divide(Interval(max(b.lo, 1), b.hi)))
    if b.lo <= 0 <= b.hi:
        pieces.append(Interval(0, 0))
    return reduce(Interval.union, pieces)


def less_than(a: Interval, b: Interval) -> Interval:
    """a < b as a bool interval. A comparison with NaN is false."""
    if a.hi < b.lo and not (a.nan or b.nan):
        return TRUE
    return FALSE if a.lo >= b.hi else UNKNOWN


def not_equal(a: Interval, b: Interval) -> Interval:
    """a != b as a bool interval. NaN differs from everything."""
    if a.hi < b.lo or b.hi < a.lo:
        return TRUE
    return FALSE if a.is_constant and b.is_constant else UNKNOWN


def logical_not(a: Interval) -> Interval:
    return Interval(1 - a.hi, 1 - a.lo)


TRUE = Interval(1, 1)
FALSE = Interval(0, 0)
UNKNOWN = Interval(0, 1)


def bitwise_and(dtype: DType, a: Interval, b: Interval) -> Interval:
    """A nonnegative operand is an upper bound of the result, which is nonnegative then."""
    if a.is_constant and b.is_constant:
        return constant(int(a.lo) & int(b.lo))
    bounds = [x.hi for x in (a, b) if x.lo >= 0]
    return Interval(0, min(bounds)) if bounds else dtype_range(dtype)


def bitwise_or(dtype: DType, a: Interval, b: Interval) -> Interval:
    """For nonnegative operands: at least the larger one, with no more bits than the wider one."""
    return _bitwise(lambda x, y: x | y, dtype, a, b, max(a.lo, b.lo))


def bitwise_xor(dtype: DType, a: Interval, b: Interval) -> Interval:
    """For nonnegative operands: no more bits than the wider one."""
    return _bitwise(lambda x, y: x ^ y, dtype, a, b, 0)


def _bitwise(
    function: Callable[[int, int], int], dtype: DType, a: Interval, b: Interval, least: float
) -> Interval:
    if a.is_constant and b.is_constant:
        return constant(function(int(a.lo), int(b.lo)))
    if a.lo < 0 or b.lo < 0:
        return dtype_range(dtype)
    return Interval(least, (1 << int(max(a.hi, b.hi)).bit_length()) - 1)


def shift_left(dtype: DType, a: Interval, count: Interval) -> Interval:
    """a << count; a count that is negative, or the width or more, gives 0."""
    if count.lo < 0 or count.hi >= dtype.bits:
        return dtype_range(dtype)
    return corners(dtype, lambda x, n: int(x) << int(n), a, count)


def shift_right(dtype: DType, a: Interval, count: Interval) -> Interval:
    """a >> count, arithmetic on signed dtypes; a count of the width or more gives 0 or the sign."""
    if count.lo < 0:
        return a.union(Interval(0, 0)) if a.lo >= 0 else a.union(Interval(-1, 0))
    return corners(dtype, lambda x, n: int(x) >> int(min(n, dtype.bits)), a, count)


def truncate(dtype: DType, a: Interval) -> Interval:
    """Round toward zero: monotone, and the identity on integers and infinities."""
    if not dtype.is_float:
        return a
    lo, hi = (v if math.isinf(v) else float(math.trunc(v)) for v in (a.lo, a.hi))
    return Interval(lo, hi, nan=a.nan)


def cast(source: DType, target: DType, a: Interval) -> Interval:
    """The interval of a CAST with the semantics of docs/semantics.md."""
    if target.is_bool:
        return not_equal(a, FALSE)
    if target.is_float:
        return representable(target, a.lo, a.hi, nan=a.nan)
    if not source.is_float:
        return representable(target, a.lo, a.hi)
    lo, hi = (math.trunc(min(max(v, target.low), target.high)) for v in (a.lo, a.hi))
    return Interval(min(lo, 0), max(hi, 0)) if a.nan else Interval(lo, hi)


def monotone(dtype: DType, function: Callable[[float], float], a: Interval) -> Interval:
    """An increasing float function that is computed to within a few ulp: its values at the ends,
    widened outward.

    The widening, 2^-20 relative (f32 and f64) or 1/16 (narrower dtypes) plus four times the least
    number, covers every implementation within the ulp bounds of docs/semantics.md.
    """
    slack = 2.0**-20 if dtype.precision >= 24 else 1 / 16
    least = 4 * 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    lo, hi = function(a.lo), function(a.hi)
    lo = lo if math.isinf(lo) else lo - abs(lo) * slack - least
    hi = hi if math.isinf(hi) else hi + abs(hi) * slack + least
    return representable(dtype, lo, hi, nan=a.nan)
