"""IDIV and MOD of a sum by a constant.

One theorem justifies nearly all rewrites. For f, d > 0 and 0 <= S < f,

    (f * (d * Q + Y) + S) idiv (f * d) = Q + Y idiv d
    (f * (d * Q + Y) + S) mod  (f * d) = f * (Y mod d) + S

since f * (Y mod d) + S lies in [0, f * d). The theorem has these special cases:

* f = 1 takes multiples of the divisor out of a sum;
* d = 1 divides a sum whose remainder is in range;
* a constant S divides by a common factor;
* other f drop the low part, as in `(4i + j) idiv 8 = i idiv 2` for j in [0, 4).

If the dividend depends on one atom with only two values x and x + 1, the result is a linear
function of that atom. For a negative divisor, `X idiv -d = -X idiv d` and
`X mod -d = -(-X mod d)`. `quotients.py` handles divisors that are not constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.transforms.simplify.engine import Engine, is_even
from tgdialect.transforms.simplify.matching import divided, integer_of
from tgdialect.transforms.simplify.quotients import divide_by_value


@dataclass(frozen=True)
class Split:
    """A dividend as the sum `factor * (divisor * quotient + rest) + low`, 0 <= low < factor."""

    factor: int
    divisor: int
    quotient: Linear
    rest: Linear
    low: Linear


def splits(form: Linear, by: int, of: Callable[[Linear], tg.Interval]) -> Iterator[Split]:
    """The splits of `form`, divided by `by`, that simplify the division; the best comes first.

    `of` gives the interval of a form.
    """
    # A larger factor drops a larger low part.
    factors = {math.gcd(c, by) for c in form.terms.values()} | {by}
    for factor in sorted(factors - {1}, reverse=True):
        for residue in _RESIDUES:
            if (found := _split(form, factor, by // factor, residue, of)) is not None:
                yield found
                break
    # The factor 1 always applies, but is of use only if there is a quotient to take out.
    quotient = form.map(lambda c: _quotient(c, by))
    if quotient.summands:
        yield Split(1, by, quotient, form - quotient * by, tg.Affine())


def _quotient(coefficient: int, divisor: int) -> int:
    """Division that rounds towards 0, so that a coefficient of lesser magnitude gives 0."""
    quotient = abs(coefficient) // divisor
    return quotient if coefficient >= 0 else -quotient


_RESIDUES: tuple[Callable[[int, int], int], ...] = (
    lambda c, factor: c - factor * _quotient(c, factor),
    lambda c, factor: c % factor,
    lambda c, factor: c % factor - (factor if 2 * (c % factor) > factor else 0),
    lambda c, factor: -(-c % factor),
)
"""The residues of a coefficient modulo a factor: with the coefficient's sign, not negative, of the
least magnitude, and not positive."""


def _split(
    form: Linear,
    factor: int,
    divisor: int,
    residue: Callable[[int, int], int],
    of: Callable[[Linear], tg.Interval],
) -> Split | None:
    """The split by a factor whose low part has these residues; None if it may reach the factor."""
    low = tg.Affine(form.terms).map(lambda c: residue(c, factor))
    bounds = of(low)
    # Choose the residue of the constant that brings the least value of `low` into [0, factor).
    constant = (form.constant + int(bounds.lo)) % factor - int(bounds.lo)
    if bounds.hi + constant >= factor:
        return None
    low = tg.Affine(low.terms, constant)
    high = (form - low).divided(factor)
    quotient = high.map(lambda c: _quotient(c, divisor))
    return Split(factor, divisor, quotient, high - quotient * divisor, low)


# -- on the IR -----------------------------------------------------------------------------------


def simplify_division(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify an IDIV or MOD of a sum that does not wrap."""
    # Leave a divisor that is negative or not constant to the other functions.
    value, divisor = op.operands
    by = integer_of(divisor)
    if not is_even(op) or not engine.validity[op.results[0]]:
        return None
    if by is None:
        return divide_by_value(engine, op)
    if by <= 0:
        return _by_negative(engine, op, by)
    dtype = tg.dtype_of(value)
    form = whole = engine.exact_form(value)
    # Try in turn: inner remainders, a dividend of two values, and the theorem.
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
    """Divide by a negative constant, if no term of the dividend is positive: negate both sides."""
    value = op.operands[0]
    dtype = tg.dtype_of(value)
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
    """The result as a linear form of the dividend's only atom, if that atom has just two values."""
    if len(form.terms) != 1:
        return None
    ((atom, factor),) = form.terms.items()
    interval = engine.min_max[atom]
    if interval.hi - interval.lo != 1:
        return None
    least = int(interval.lo)
    dividends = [form.constant + factor * x for x in (least, least + 1)]
    first, second = (d // by if name == "tg.idiv" else d % by for d in dividends)
    return tg.Affine({atom: 1}, -least) * (second - first) + first


def _emit(engine: Engine, name: str, split: Split, like: SSAValue) -> SSAValue:
    """Emit the right side of the theorem."""
    inner: Linear = tg.Affine()
    if split.divisor != 1:
        rest = engine.emit(split.rest, like)
        inner = engine.form(engine.apply(name, (rest, engine.integer(split.divisor, like))))
    quotient, remainder = split.quotient + inner, inner * split.factor + split.low
    result = quotient if name == "tg.idiv" else remainder
    return engine.emit(result.wrapped(tg.dtype_of(like)), like)


def _without_inner_remainders(engine: Engine, form: Linear, by: int, dtype: tg.DType) -> Linear:
    """Replace `k * (y mod n)` by `k * y` in a form, where `by` divides k * n.

    The result is congruent to the form modulo `by`.
    """
    for atom, k in form.terms.items():
        inner = divided(atom, "tg.mod")
        if inner is None or k * inner[1] % by:
            continue
        candidate = form - tg.Affine({atom: k}) + engine.form(inner[0]) * k
        if engine.fits(candidate, dtype):
            form = candidate
    return form
