"""Comparisons of sums: `difference < 0` and `difference != 0` over the integers, made smaller.

g * T + k < 0          is  T < ceil(-k / g)
f * Y + S < f * q + r  is  Y < q      if r = 0,       for 0 <= S <= s < f
                       or  Y < q + 1  if s < r < f
f * Y + S != f * q + r is  true       if s < r < f

A sum of multiples of y, z, ... >= 0 is less than the least of the factors only if y = z = ... = 0,
which their sum says as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, is_less
from tgdialect.ops.affine import Affine, Linear
from tgdialect.ops.dtypes import BOOL, number_attribute
from tgdialect.ops.elementwise import CastOp, MulOp, WhereOp
from tgdialect.ops.intervals import Interval
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of, tensor
from tgdialect.transforms.simplify.engine import Engine, is_even
from tgdialect.transforms.simplify.matching import integer_of

Intervals = Callable[[SSAValue], Interval]


@dataclass(frozen=True)
class Comparison:
    """`left` against `right`, neither with a negative coefficient; the constant is on the right,
    or on the left where nothing else is."""

    left: Linear
    right: Linear


def less_than_zero(difference: Linear, of: Intervals) -> Comparison:
    """`difference < 0`, where the interval allows both outcomes."""
    terms, bound = _reduced(Affine(difference.terms), -difference.constant)
    while (dropped := _without_low_part(terms, bound, of)) is not None:
        terms, bound = _reduced(*dropped)
    return _sides(*_without_coefficients(terms, bound, of))


def _without_coefficients(terms: Linear, bound: int, of: Intervals) -> tuple[Linear, int]:
    """`terms < bound` without coefficients, where only the least or the greatest value decides."""
    interval = terms.interval(of)
    step = min(abs(c) for c in terms.terms.values())
    signs = Affine({a: 1 if c > 0 else -1 for a, c in terms.terms.items()})
    if 0 < bound - interval.lo <= step:
        return signs, int(signs.interval(of).lo) + 1
    if 0 <= interval.hi - bound < step:
        return signs, int(signs.interval(of).hi)
    return terms, bound


def _reduced(terms: Linear, bound: int) -> tuple[Linear, int]:
    """`terms < bound` without the common factor of the terms; the bound rounds up."""
    divisor = terms.divisor
    return terms.divided(divisor), -(-bound // divisor)


def _without_low_part(terms: Linear, bound: int, of: Intervals) -> tuple[Linear, int] | None:
    """`terms < bound` without the terms that a common factor of the others exceeds."""
    for factor in sorted({abs(c) for c in terms.terms.values()} - {1}, reverse=True):
        high, low = terms.split(factor)
        if not low.terms:
            continue
        interval = low.interval(of)
        greatest = int(interval.hi - interval.lo)
        quotient, remainder = divmod(bound - int(interval.lo), factor)
        if greatest < factor and (remainder == 0 or greatest < remainder):
            return high, quotient + (remainder != 0)
    return None


def unequal_zero(difference: Linear, of: Intervals) -> Comparison | bool:
    """`difference != 0`, where the interval allows both outcomes."""
    divisor = difference.divisor
    if difference.constant % divisor:
        return True
    terms = Affine(difference.terms).divided(divisor)
    bound = -difference.constant // divisor
    if _is_never(terms, bound, of):
        return True
    return _sides(terms, bound)


def _is_never(terms: Linear, bound: int, of: Intervals) -> bool:
    """Whether no remainder by some coefficient lets `terms` be `bound`."""
    for factor in {abs(c) for c in terms.terms.values()} - {1}:
        interval = terms.split(factor)[1].interval(of)
        if int(interval.hi - interval.lo) < (bound - int(interval.lo)) % factor:
            return True
    return False


def wrapped_sides(difference: Linear) -> Comparison:
    """`difference != 0` modulo 2^width: terms may change sides, but nothing can be divided."""
    return _sides(Affine(difference.terms), -difference.constant)


def _sides(terms: Linear, bound: int) -> Comparison:
    left = Affine(terms.terms).map(lambda c: max(c, 0))
    right = Affine(terms.terms).map(lambda c: max(-c, 0))
    return Comparison(left, right + bound) if left.terms else Comparison(left - bound, right)


# -- on the IR -----------------------------------------------------------------------------------

_NEGATED = frozenset({"tg.cmpge", "tg.cmple", "tg.cmpeq"})
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "tg.cmplt": operator.lt,
    "tg.cmpge": operator.ge,
    "tg.cmpne": operator.ne,
    "tg.cmpeq": operator.eq,
}


def simplify_comparison(engine: Engine, op: Operation) -> SSAValue | None:
    """CMPLT and CMPNE of integer sums, and the comparisons that are their negations."""
    result = op.results[0]
    dtype = dtype_of(op.operands[0])
    if not dtype.is_integer or not is_even(op) or not engine.validity[result]:
        return None
    swapped = op.name == "tg.cmple"
    left, right = reversed(op.operands) if swapped else op.operands
    equality = op.name in ("tg.cmpne", "tg.cmpeq")
    difference = engine.exact_form(left) - engine.exact_form(right)
    if (known := _of_condition(engine, op, difference)) is not None:
        return engine.widened(known, result)
    new: Comparison | bool | None = _decided(engine.interval(difference), equality)
    if new is None and not equality:
        new = _by_bounds(engine, difference, left, right)
    if new is None:
        compare = unequal_zero if equality else less_than_zero
        new = compare(difference, engine.min_max.__getitem__)
    if isinstance(new, bool):
        return engine.splat(number_attribute(new != (op.name in _NEGATED), BOOL), result.type)
    if _is_of_clamp(op):
        return None
    written = engine.written_cost(op)
    fits = engine.fits(new.left, dtype) and engine.fits(new.right, dtype)
    if equality and not (fits and _cost(engine, new) < written):
        new, fits = wrapped_sides((engine.form(left) - engine.form(right)).wrapped(dtype)), True
    if not fits or _cost(engine, new) >= written:
        return None
    sides = [engine.emit(side, left) for side in (new.left, new.right)]
    return engine.widened(engine.apply(op.name, sides[::-1] if swapped else sides), result)


def _is_of_clamp(op: Operation) -> bool:
    """Whether a WHERE clamps a value by a comparison, as `where(i < n, i, n - 1)` does, so that its
    interval is known."""
    return any(
        isinstance(use.operation, WhereOp)
        and not use.index
        and not {*op.operands}.isdisjoint(use.operation.operands[1:])
        for use in op.results[0].uses
    )


def _decided(difference: Interval, equality: bool) -> bool | None:
    """`difference != 0` or `difference < 0`, if its interval decides it."""
    if equality:
        return None if 0 in difference and not difference.is_constant else 0 not in difference
    return None if difference.lo < 0 <= difference.hi else difference.hi < 0


def simplify_maximum(engine: Engine, op: Operation) -> SSAValue | None:
    """MAX of integers that the bounds of RANGEs order."""
    left, right = op.operands
    if not dtype_of(left).is_integer or not is_even(op) or not engine.validity[op.results[0]]:
        return None
    difference = engine.exact_form(left) - engine.exact_form(right)
    less = _decided(engine.interval(difference), equality=False)
    if less is None:
        less = _by_bounds(engine, difference, left, right)
    return None if less is None else engine.widened(right if less else left, op.results[0])


def _by_bounds(engine: Engine, difference: Linear, left: SSAValue, right: SSAValue) -> bool | None:
    """`left < right`, if the bounds of RANGEs decide it."""
    if not any(_is_symbolic(atom) for atom in difference.terms):
        return None
    a, b = (exact_polynomial(side, engine.min_max) for side in (left, right))
    if is_less(a, b, engine.min_max):
        return True
    return False if is_less(b, a + 1, engine.min_max) else None


def _is_symbolic(atom: SSAValue) -> bool:
    """Whether bounds that are not constant may say more of a value than its interval."""
    owner = atom.owner
    if isinstance(owner, RangeOp):
        return integer_of(owner.bound) is None
    return isinstance(owner, MulOp)


def _of_condition(engine: Engine, op: Operation, difference: Linear) -> SSAValue | None:
    """A comparison of nothing but a bool that was cast: the bool, or its negation."""
    if len(difference.terms) != 1 or op.name not in _COMPARE:
        return None
    ((atom, coefficient),) = difference.terms.items()
    cast = atom.owner
    if not isinstance(cast, CastOp) or tensor(cast.source).element_type != BOOL:
        return None
    compare = _COMPARE[op.name]
    if_false, if_true = (compare(difference.constant + coefficient * x, 0) for x in (0, 1))
    if if_false == if_true:
        return None
    return cast.source if if_true else engine.apply("tg.not", (cast.source,))


def _cost(engine: Engine, new: Comparison) -> int:
    """The additions and multiplications of both sides, also those inside of an atom."""
    atoms = (*new.left.terms, *new.right.terms)
    return new.left.cost + new.right.cost + sum(engine.costs.get(atom, 0) for atom in atoms)
