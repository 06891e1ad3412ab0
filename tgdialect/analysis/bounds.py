"""Bounds of polynomials in index values, where intervals of the values alone say too little.

A RANGE is less than its bound, whatever that is: of `i * n + j - m * n`, with i a RANGE to m and j
one to n, the greatest value is `(m - 1) * n + (n - 1) - m * n = -1`.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.ops.intervals import Interval
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import Polynomial, dtype_of, negative, plus, polynomial, times

MAX_ROUNDS = 4
"""How often RANGEs are replaced whose bounds depend on RANGEs."""


def exact_polynomial(
    value: SSAValue | int, min_max: MinMax, atoms: Collection[SSAValue] = ()
) -> Polynomial:
    """A value over the integers: as a polynomial, or as an atom if that might wrap."""
    found = polynomial(value, atoms)
    if isinstance(value, int):
        return found
    dtype = dtype_of(value)
    return found if interval(found, min_max).within(dtype.low, dtype.high) else {(value,): 1}


def interval(of: Polynomial, min_max: MinMax) -> Interval:
    """The values that a polynomial may have over the integers, each monomial on its own."""
    low = high = 0
    for monomial, coefficient in of.items():
        ends = [coefficient]
        for atom in monomial:
            assert isinstance(atom, SSAValue)
            bounds = min_max[atom]
            ends = [x * int(y) for x in ends for y in (bounds.lo, bounds.hi)]
            ends = [min(ends), max(ends)]
        low, high = low + min(ends), high + max(ends)
    return Interval(low, high)


def greatest(of: Polynomial, min_max: MinMax, atoms: Collection[SSAValue] = ()) -> int:
    """What a polynomial never exceeds, RANGEs being less than their bounds."""
    result = int(interval(of, min_max).hi)
    for _ in range(MAX_ROUNDS):
        bound = _at_last_iteration(of, min_max, atoms)
        if bound == of:
            break
        of = bound
        result = min(result, int(interval(of, min_max).hi))
    return result


def _at_last_iteration(of: Polynomial, min_max: MinMax, atoms: Collection[SSAValue]) -> Polynomial:
    """A polynomial that is never less, with the bounds of RANGEs in place of them."""
    result: Polynomial = {}
    for monomial, coefficient in of.items():
        values = [atom for atom in monomial if isinstance(atom, SSAValue)]
        term: Polynomial | None = {(): coefficient}
        if all(min_max[value].lo >= 0 for value in values):
            for value in values:
                if term is not None and isinstance(value.owner, RangeOp):
                    last = plus(exact_polynomial(value.owner.bound, min_max, atoms), {(): -1})
                    term = times(term, last) if coefficient > 0 else {}
                elif term is not None:
                    term = times(term, {(value,): 1})
        else:
            term = None
        result = plus(result, {monomial: coefficient} if term is None else term)
    return result


def is_less(
    a: Polynomial, b: Polynomial, min_max: MinMax, atoms: Collection[SSAValue] = ()
) -> bool:
    """Whether a is always less than b."""
    return greatest(plus(a, negative(b)), min_max, atoms) < 0
