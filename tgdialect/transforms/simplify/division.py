"""IDIV and MOD of a sum by a positive constant.

One theorem does it all. For f, d > 0 and 0 <= S < f,

    (f * (d * Q + Y) + S) idiv (f * d) = Q + Y idiv d
    (f * (d * Q + Y) + S) mod  (f * d) = f * (Y mod d) + S

since f * (Y mod d) + S lies in [0, f * d). With f = 1 it takes multiples of the divisor out of a sum;
with d = 1 it divides a sum whose remainder is in range; with S constant it divides by a common
factor; and in between it drops the low part, as in `(4i + j) idiv 8 = i idiv 2` for j in [0, 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tgdialect.ops.intervals import Interval
from tgdialect.transforms.simplify.linear import Linear, linear


@dataclass(frozen=True)
class Split:
    """A dividend as `factor * (divisor * quotient + rest) + low`, with 0 <= low < factor."""

    factor: int
    divisor: int
    quotient: Linear
    rest: Linear
    low: Linear


def splits(form: Linear, by: int, of: Callable[[SSAValue], Interval]) -> Iterator[Split]:
    """The ways to apply the theorem to `form` divided by `by` that get somewhere, best first."""
    factors = {math.gcd(c, by) for c in form.terms.values()} | {by}
    for factor in sorted(factors - {1}, reverse=True):
        for residue in (_truncated, _floored):
            if (found := _split(form, factor, by // factor, residue, of)) is not None:
                yield found
                break
    quotient = form.map(lambda c: _quotient(c, by))
    if quotient.terms or quotient.constant:
        yield Split(1, by, quotient, form - quotient * by, Linear())


def _truncated(coefficient: int, factor: int) -> int:
    """The residue with the coefficient's sign."""
    return coefficient - factor * _quotient(coefficient, factor)


def _floored(coefficient: int, factor: int) -> int:
    """The residue that is not negative."""
    return coefficient % factor


def _quotient(coefficient: int, divisor: int) -> int:
    """Division that leaves coefficients alone that are less than the divisor."""
    quotient = abs(coefficient) // divisor
    return quotient if coefficient >= 0 else -quotient


def _split(
    form: Linear,
    factor: int,
    divisor: int,
    residue: Callable[[int, int], int],
    of: Callable[[SSAValue], Interval],
) -> Split | None:
    low = linear({a: residue(c, factor) for a, c in form.terms.items()})
    bounds = low.interval(of)
    # The constant's residue is the one that brings the low part's least value into [0, factor).
    constant = (form.constant + int(bounds.lo)) % factor - int(bounds.lo)
    if bounds.hi + constant >= factor:
        return None
    low = Linear(low.terms, constant)
    high = (form - low).map(lambda c: c // factor)
    quotient = high.map(lambda c: _quotient(c, divisor))
    return Split(factor, divisor, quotient, high - quotient * divisor, low)
