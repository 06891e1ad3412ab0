"""The min_max column: rules from the intervals of an op's operands to the interval of its result.

The arithmetic is in `ops/intervals.py`; `analysis/min_max.py` walks the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tgdialect.ops import intervals
from tgdialect.ops.attributes import InvalidAttr
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import dtype
from tgdialect.ops.properties.values import dtype_of, integer, integers, number, tensor

MinMaxRule = Callable[[Operation, Sequence[Interval]], Interval]


def dtype_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.dtype_range(dtype.result(op))


def _operand(number: int) -> MinMaxRule:
    return lambda op, sources: sources[number]


source, second = map(_operand, range(2))


def materialised(op: Operation, sources: Sequence[Interval]) -> Interval:
    """The interval of the source, extended by 0: invalid cells are stored as 0."""
    return sources[0].union(intervals.constant(0))


def loaded(op: Operation, sources: Sequence[Interval]) -> Interval:
    """The interval of the buffer, extended by 0 for invalid cells, and by `alt` if there is a
    gate."""
    result = materialised(op, sources)
    return result.union(sources[1]) if len(sources) > 1 else result


def union(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = sources[0]
    for other in sources[1:]:
        result = result.union(other)
    return result


def indexed(op: Operation, sources: Sequence[Interval]) -> Interval:
    """The interval of the source, extended by 0 unless the indices are proven to be in range."""
    shape = tensor(op.operands[0]).get_shape()
    proven = all(
        extent != DYNAMIC_INDEX and index.within(0, extent - 1)
        for extent, index in zip(shape, sources[1:], strict=False)
    )
    return sources[0] if proven else materialised(op, sources)


def padded(op: Operation, sources: Sequence[Interval]) -> Interval:
    fill = op.properties.get("fill")
    return sources[0] if fill is None else sources[0].union(intervals.constant(number(fill)))


def constant(op: Operation, sources: Sequence[Interval]) -> Interval:
    value = op.properties["value"]
    if value.__class__ is InvalidAttr:
        return dtype_range(op, sources)
    return intervals.constant(number(value))


def constants(op: Operation, sources: Sequence[Interval]) -> Interval:
    values = integers(op, "values")
    return Interval(min(values), max(values)) if values else dtype_range(op, sources)


def parameter(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = dtype_range(op, sources)
    low, high = integer(op, "min"), integer(op, "max")
    return Interval(
        result.lo if low is None else low, result.hi if high is None else high, nan=result.nan
    )


def iterated(op: Operation, sources: Sequence[Interval]) -> Interval:
    """RANGE: [0, n - 1] for the greatest bound n; [0, 0] if the range is always empty."""
    return Interval(0, max(sources[0].hi - 1, 0))


def bitcast(op: Operation, sources: Sequence[Interval]) -> Interval:
    same = dtype.source(op) == dtype.argument(op)
    return sources[0] if same else dtype_range(op, sources)


def cast(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.cast(dtype_of(op.operands[0]), dtype.result(op), sources[0])


def of_dtype(function: Callable[..., Interval]) -> MinMaxRule:
    """The rule that applies an interval function to the dtype and the operands' intervals."""
    return lambda op, sources: function(dtype.result(op), *sources)


def on_bools(logical: Callable[..., Interval], numeric: MinMaxRule) -> MinMaxRule:
    """ADD and MAX of bools are or, MUL is and."""
    of_bools = of_dtype(logical)
    return lambda op, sources: (of_bools if dtype.result(op).is_bool else numeric)(op, sources)


add = on_bools(intervals.bitwise_or, of_dtype(intervals.add))
mul = on_bools(intervals.bitwise_and, of_dtype(intervals.mul))
maximum = on_bools(intervals.bitwise_or, lambda op, sources: intervals.maximum(*sources))


def compared(
    function: Callable[[Interval, Interval], Interval], *, swap: bool = False, negate: bool = False
) -> MinMaxRule:
    """A comparison by `less_than` or `not_equal`, with operands swapped or the result negated.

    CMPGE and CMPLE are the negations of CMPLT that the specification writes, on NaN as well.
    """

    def rule(op: Operation, sources: Sequence[Interval]) -> Interval:
        a, b = reversed(sources) if swap else sources
        result = function(a, b)
        return intervals.logical_not(result) if negate else result

    return rule


def logical_not(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.logical_not(sources[0])


def negated(op: Operation, sources: Sequence[Interval]) -> Interval:
    a = sources[0]
    return intervals.representable(dtype.result(op), -a.hi, -a.lo, nan=a.nan)


def where(op: Operation, sources: Sequence[Interval]) -> Interval:
    condition, a, b = sources
    if condition.is_constant:
        return a if condition.lo else b
    test, chosen, other = op.operands
    if isinstance(comparison := test.owner, Operation) and comparison.name == "tg.cmplt":
        # In min(x, y) = where(x < y, x, y), restrict x and y to the values that pass the test.
        known = {chosen: a, other: b}
        a, b = (
            _passing(comparison, chosen, known, holds=True),
            _passing(comparison, other, known, holds=False),
        )
        if a.lo > a.hi or b.lo > b.hi:
            return b if a.lo > a.hi else a
    return a.union(b)


def _passing(
    comparison: Operation, value: SSAValue, known: Mapping[SSAValue, Interval], *, holds: bool
) -> Interval:
    """The part of the interval of `value` for which a comparison has the result `holds`.

    The comparison is `value < n` or `n < value` with a constant n or one of `known`; for others,
    and for floats, it is the whole interval. The result is empty (lo > hi) if no integer passes.
    """
    low, high = (among := known[value]).lo, among.hi
    x, y = comparison.operands
    if isinstance(low, float) or isinstance(high, float) or value not in (x, y):
        return among
    limit = y if value is x else x
    if (bounds := known.get(limit, _constant(limit))) is None:
        return among
    least, most = bounds.lo, bounds.hi
    if value is x:
        return Interval(low, min(high, most - 1)) if holds else Interval(max(low, least), high)
    return Interval(max(low, least + 1), high) if holds else Interval(low, min(high, most))


def _constant(value: SSAValue) -> Interval | None:
    """The interval of an integer CONST."""
    op = value.owner
    if not isinstance(op, Operation) or op.name != "tg.const":
        return None
    attribute = op.properties["value"]
    is_invalid = isinstance(attribute, InvalidAttr)
    return None if is_invalid else intervals.constant(int(number(attribute)))


def mulacc(op: Operation, sources: Sequence[Interval]) -> Interval:
    """MUL, then ADD; for floats the range of the dtype."""
    row = dtype.result(op)
    a, b, c = sources
    if row.is_float:
        return intervals.dtype_range(row)
    return intervals.add(row, intervals.mul(row, a, b), c)


def exp2(x: float) -> float:
    return math.inf if x >= 1100 else 2.0**x if x > -1200 else 0.0


def exponential(function: Callable[[float], float]) -> Callable[[float], float]:
    """exp or expm1, infinite where the result has no f64."""
    return lambda x: math.inf if x >= 710 else function(x)


def logarithm(function: Callable[[float], float], pole: float = 0.0) -> Callable[[float], float]:
    """A logarithm that is -inf up to its pole, and inf at inf."""
    return lambda x: -math.inf if x <= pole else x if math.isinf(x) else function(x)


def softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def increasing(
    function: Callable[[float], float],
    low: float = -math.inf,
    high: float = math.inf,
    domain: float = -math.inf,
) -> MinMaxRule:
    """The rule of an increasing function with results in [low, high], and NaN below `domain`."""

    def rule(op: Operation, sources: Sequence[Interval]) -> Interval:
        found = intervals.monotone(dtype.result(op), function, sources[0])
        return Interval(
            max(found.lo, low), min(found.hi, high), nan=found.nan or sources[0].lo < domain
        )

    return rule


def erfc(op: Operation, sources: Sequence[Interval]) -> Interval:
    """The rule of a decreasing function, with results in [0, 2]."""
    a = sources[0]
    mirrored = Interval(-a.hi, -a.lo, nan=a.nan)
    found = intervals.monotone(dtype.result(op), lambda x: math.erfc(-x), mirrored)
    return Interval(max(found.lo, 0.0), min(found.hi, 2.0), nan=found.nan)


def gate(op: Operation, sources: Sequence[Interval]) -> Interval:
    """Between 0 and the factor."""
    x = sources[0]
    is_nan = any(source.nan for source in sources) or math.inf in (-x.lo, x.hi)
    return Interval(min(x.lo, 0.0), max(x.hi, 0.0), nan=is_nan)


LEAST_GELU = -0.1875
"""Less than the least result of GELU, -0.16997 at -0.7518, rounded to any format."""


def gelu(op: Operation, sources: Sequence[Interval]) -> Interval:
    """From `LEAST_GELU`, or 0 for positive x, to the greater of x and 0."""
    a = sources[0]
    least = LEAST_GELU if a.lo < 0 else 0.0
    return Interval(least, max(a.hi, 0.0), nan=a.nan or math.isinf(a.lo))


def sin(op: Operation, sources: Sequence[Interval]) -> Interval:
    a = sources[0]
    return Interval(-1.0, 1.0, nan=a.nan or math.isinf(a.lo) or math.isinf(a.hi))
