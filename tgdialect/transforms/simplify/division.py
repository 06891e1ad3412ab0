"""IDIV and MOD of a sum by a constant.

One theorem does nearly all. For f, d > 0 and 0 <= S < f,

    (f * (d * Q + Y) + S) idiv (f * d) = Q + Y idiv d
    (f * (d * Q + Y) + S) mod  (f * d) = f * (Y mod d) + S

since f * (Y mod d) + S lies in [0, f * d). With f = 1 it takes multiples of the divisor out of a
sum; with d = 1 it divides a sum whose remainder is in range; with S constant it divides by a common
factor; and in between it drops the low part, as in `(4i + j) idiv 8 = i idiv 2` for j in [0, 4).

What has only two values, x and x + 1, is a sum of what becomes of each. By a negative divisor,
`X idiv -d = -X idiv d` and `X mod -d = -(-X mod d)`. `quotients.py` divides by what is not a
constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.affine import Affine, Linear
from tgdialect.ops.dtypes import DType
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import dtype_of
from tgdialect.transforms.simplify.engine import Engine, is_even
from tgdialect.transforms.simplify.matching import divided, integer_of
from tgdialect.transforms.simplify.quotients import divide_by_value


@dataclass(frozen=True)
class Split:
    """A dividend as `factor * (divisor * quotient + rest) + low`, with 0 <= low < factor."""

    factor: int
    divisor: int
    quotient: Linear
    rest: Linear
    low: Linear


def splits(form: Linear, by: int, of: Callable[[Linear], Interval]) -> Iterator[Split]:
    """The ways to apply the theorem to `form` divided by `by` that get somewhere, best first.

    `of` is the interval of a form.
    """
    factors = {math.gcd(c, by) for c in form.terms.values()} | {by}
    for factor in sorted(factors - {1}, reverse=True):
        for residue in (_truncated, _floored, _nearest, _ceiled):
            if (found := _split(form, factor, by // factor, residue, of)) is not None:
                yield found
                break
    quotient = form.map(lambda c: _quotient(c, by))
    if quotient.summands:
        yield Split(1, by, quotient, form - quotient * by, Affine())


def _truncated(coefficient: int, factor: int) -> int:
    """The residue with the coefficient's sign."""
    return coefficient - factor * _quotient(coefficient, factor)


def _floored(coefficient: int, factor: int) -> int:
    """The residue that is not negative."""
    return coefficient % factor


def _nearest(coefficient: int, factor: int) -> int:
    """The residue of least magnitude."""
    residue = coefficient % factor
    return residue - factor if 2 * residue > factor else residue


def _ceiled(coefficient: int, factor: int) -> int:
    """The residue that is not positive."""
    return -(-coefficient % factor)


def _quotient(coefficient: int, divisor: int) -> int:
    """Division that leaves coefficients alone that are less than the divisor."""
    quotient = abs(coefficient) // divisor
    return quotient if coefficient >= 0 else -quotient


def _split(
    form: Linear,
    factor: int,
    divisor: int,
    residue: Callable[[int, int], int],
    of: Callable[[Linear], Interval],
) -> Split | None:
    low = Affine(form.terms).map(lambda c: residue(c, factor))
    bounds = of(low)
    # The constant's residue is the one that brings the low part's least value into [0, factor).
    constant = (form.constant + int(bounds.lo)) % factor - int(bounds.lo)
    if bounds.hi + constant >= factor:
        return None
    low = Affine(low.terms, constant)
    high = (form - low).divided(factor)
    quotient = high.map(lambda c: _quotient(c, divisor))
    return Split(factor, divisor, quotient, high - quotient * divisor, low)


# -- on the IR -----------------------------------------------------------------------------------


def simplify_division(engine: Engine, op: Operation) -> SSAValue | None:
    """IDIV and MOD of a sum that does not wrap."""
    value, divisor = op.operands
    by = integer_of(divisor)
    if not is_even(op) or not engine.validity[op.results[0]]:
        return None
    if by is None:
        return divide_by_value(engine, op)
    if by <= 0:
        return _by_negative(engine, op, by)
    dtype = dtype_of(value)
    form = whole = engine.exact_form(value)
    if op.name == "tg.mod":
        form = _without_inner_remainders(engine, form, by, dtype)
    if (chosen := _of_two_values(engine, op.name, form, by)) is not None:
        return engine.widened(engine.emit(chosen.wrapped(dtype), value), op.results[0])
    for split in splits(form, by, engine.interval):
        if engine.fits(split.quotient, dtype) and engine.fits(split.rest, dtype):
            new = _emit(engine, op.name, split, value)
            break
    else:
        if form is whole:
            return None
        new = engine.apply("tg.mod", (engine.emit(form, value), divisor))
    return engine.widened(new, op.results[0])


def _by_negative(engine: Engine, op: Operation, by: int) -> SSAValue | None:
    """Division of what has only negative terms, by their opposites."""
    value = op.operands[0]
    dtype = dtype_of(value)
    negated = -engine.exact_form(value)
    if any(c < 0 for c in negated.terms.values()):
        return None
    if not engine.fits(negated, dtype) or -by > dtype.high:
        return None
    result = engine.apply(op.name, (engine.emit(negated, value), engine.integer(-by, value)))
    if op.name == "tg.mod":
        result = engine.emit((-engine.form(result)).wrapped(dtype), value)
    return engine.widened(result, op.results[0])


def _of_two_values(engine: Engine, name: str, form: Linear, by: int) -> Linear | None:
    """The result as a line through its two values, where the dividend has no more."""
    if len(form.terms) != 1:
        return None
    ((atom, factor),) = form.terms.items()
    interval = engine.min_max[atom]
    if interval.hi - interval.lo != 1:
        return None
    least = int(interval.lo)
    dividends = [form.constant + factor * x for x in (least, least + 1)]
    first, second = (d // by if name == "tg.idiv" else d % by for d in dividends)
    return Affine({atom: 1}, -least) * (second - first) + first


def _emit(engine: Engine, name: str, split: Split, like: SSAValue) -> SSAValue:
    """The theorem's right side."""
    inner: Linear = Affine()
    if split.divisor != 1:
        rest = engine.emit(split.rest, like)
        inner = engine.form(engine.apply(name, (rest, engine.integer(split.divisor, like))))
    quotient, remainder = split.quotient + inner, inner * split.factor + split.low
    result = quotient if name == "tg.idiv" else remainder
    return engine.emit(result.wrapped(dtype_of(like)), like)


def _without_inner_remainders(engine: Engine, form: Linear, by: int, dtype: DType) -> Linear:
    """A form that is congruent modulo `by`: `k * (y mod n)` is `k * y` where `by` divides k * n."""
    for atom, k in form.terms.items():
        inner = divided(atom, "tg.mod")
        if inner is None or k * inner[1] % by:
            continue
        candidate = form - Affine({atom: k}) + engine.form(inner[0]) * k
        if engine.fits(candidate, dtype):
            form = candidate
    return form
