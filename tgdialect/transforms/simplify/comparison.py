"""Comparisons of sums: `difference < 0` and `difference != 0` over the integers, with fewer terms.

g * T + k < 0          is  T < ceil(-k / g)
f * Y + S < f * q + r  is  Y < q      if r = 0,       for 0 <= S <= s < f
                       or  Y < q + 1  if s < r < f
f * Y + S != f * q + r is  true       if s < r < f

A sum of positive multiples of y, z, ... >= 0 is less than its least coefficient if and only if
y = z = ... = 0. The comparison `y + z + ... < 1` says the same without coefficients.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, is_less
from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.transforms.simplify.engine import Engine, is_even
from tgdialect.transforms.simplify.matching import integer_of

Intervals = Callable[[SSAValue], tg.Interval]


@dataclass(frozen=True)
class Comparison:
    """The two sides of a comparison. Neither has a negative coefficient.

    The constant is on the right, or on the left if the left side has no terms.
    """

    left: Linear
    right: Linear


def less_than_zero(difference: Linear, of: Intervals) -> Comparison:
    """Simplify `difference < 0`, given that its interval allows both outcomes."""
    terms, bound = _reduced(tg.Affine(difference.terms), -difference.constant)
    while (dropped := _without_low_part(terms, bound, of)) is not None:
        terms, bound = _reduced(*dropped)
    return _sides(*_without_coefficients(terms, bound, of))


def _without_coefficients(terms: Linear, bound: int, of: Intervals) -> tuple[Linear, int]:
    """Drop the coefficients of `terms < bound` if only one value of the terms decides it.

    Either the comparison holds only for the least value, or it fails only for the greatest.
    """
    interval = terms.interval(of)
    step = min(abs(c) for c in terms.terms.values())
    signs = tg.Affine({a: 1 if c > 0 else -1 for a, c in terms.terms.items()})
    if 0 < bound - interval.lo <= step:
        return signs, int(signs.interval(of).lo) + 1
    if 0 <= interval.hi - bound < step:
        return signs, int(signs.interval(of).hi)
    return terms, bound


def _reduced(terms: Linear, bound: int) -> tuple[Linear, int]:
    """Divide `terms < bound` by the common factor of the terms, and round the bound up."""
    divisor = terms.divisor
    return terms.divided(divisor), -(-bound // divisor)


def _without_low_part(terms: Linear, bound: int, of: Intervals) -> tuple[Linear, int] | None:
    """Drop terms of `terms < bound` whose sum is less than a common factor of the other terms."""
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
    """Simplify `difference != 0`, given that its interval allows both outcomes."""
    divisor = difference.divisor
    if difference.constant % divisor:
        return True
    terms = tg.Affine(difference.terms).divided(divisor)
    bound = -difference.constant // divisor
    if _is_never(terms, bound, of):
        return True
    return _sides(terms, bound)


def _is_never(terms: Linear, bound: int, of: Intervals) -> bool:
    """Whether `terms` never equals `bound`, because their remainders by a coefficient differ."""
    for factor in {abs(c) for c in terms.terms.values()} - {1}:
        interval = terms.split(factor)[1].interval(of)
        if int(interval.hi - interval.lo) < (bound - int(interval.lo)) % factor:
            return True
    return False


def _sides(terms: Linear, bound: int) -> Comparison:
    left = tg.Affine(terms.terms).map(lambda c: max(c, 0))
    right = tg.Affine(terms.terms).map(lambda c: max(-c, 0))
    return Comparison(left, right + bound) if left.terms else Comparison(left - bound, right)


# -- on the IR -----------------------------------------------------------------------------------

_NEGATED = frozenset({"tg.cmpge", "tg.cmple", "tg.cmpeq"})
"""Comparisons that are negations of CMPLT (with swapped operands for CMPLE) or CMPNE."""
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "tg.cmplt": operator.lt,
    "tg.cmpge": operator.ge,
    "tg.cmpne": operator.ne,
    "tg.cmpeq": operator.eq,
}
"""How each comparison relates the difference of its operands to 0."""


def simplify_comparison(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify CMPLT and CMPNE of integer sums, and CMPGE, CMPLE and CMPEQ, their negations."""
    # Bring the comparison to the form `difference < 0` or `difference != 0`.
    result = op.results[0]
    dtype = tg.dtype_of(op.operands[0])
    if not dtype.is_integer or not is_even(op) or not engine.validity[result]:
        return None
    swapped = op.name == "tg.cmple"
    left, right = reversed(op.operands) if swapped else op.operands
    equality = op.name in ("tg.cmpne", "tg.cmpeq")
    difference = engine.exact_form(left) - engine.exact_form(right)
    # Try in turn: a bool that was cast, intervals, bounds of RANGEs, and the rewrites above.
    if (known := _of_condition(engine, op, difference)) is not None:
        return engine.widened(known, result)
    new: Comparison | bool | None = _decided(engine.interval(difference), equality)
    if new is None and not equality:
        new = _by_bounds(engine, difference, left, right)
    if new is None:
        compare = unequal_zero if equality else less_than_zero
        new = compare(difference, engine.min_max.__getitem__)
    if isinstance(new, bool):
        return engine.splat(tg.number_attribute(new != (op.name in _NEGATED), tg.BOOL), result.type)
    if is_of_clamp(op):
        return None
    # Emit the new sides only if they take fewer ops than the operands, and do not wrap.
    written = engine.written_cost(op)
    fits = engine.fits(new.left, dtype) and engine.fits(new.right, dtype)
    if equality and not (fits and _cost(engine, new) < written):
        # Modulo 2^width terms may change sides, but not be divided.
        wrapped = (engine.form(left) - engine.form(right)).wrapped(dtype)
        new, fits = _sides(tg.Affine(wrapped.terms), -wrapped.constant), True
    if not fits or _cost(engine, new) >= written:
        return None
    sides = [engine.emit(side, left) for side in (new.left, new.right)]
    return engine.widened(engine.apply(op.name, sides[::-1] if swapped else sides), result)


def is_of_clamp(op: Operation) -> bool:
    """Whether a WHERE uses a comparison to clamp one of the values it compares.

    An example is `where(i < n, i, n - 1)`. Its interval is known only while the comparison has the
    clamped value as an operand.
    """
    return any(
        isinstance(use.operation, tg.WhereOp)
        and not use.index
        and not {*op.operands}.isdisjoint(use.operation.operands[1:])
        for use in op.results[0].uses
    )


def _decided(difference: tg.Interval, equality: bool) -> bool | None:
    """The outcome of `difference != 0` or `difference < 0`; None if the interval allows both."""
    if equality:
        return None if 0 in difference and not difference.is_constant else 0 not in difference
    return None if difference.lo < 0 <= difference.hi else difference.hi < 0


def simplify_maximum(engine: Engine, op: Operation) -> SSAValue | None:
    """Replace a MAX of integers by the greater operand, if intervals or RANGE bounds order them."""
    left, right = op.operands
    if not tg.dtype_of(left).is_integer or not is_even(op) or not engine.validity[op.results[0]]:
        return None
    difference = engine.exact_form(left) - engine.exact_form(right)
    less = _decided(engine.interval(difference), equality=False)
    if less is None:
        less = _by_bounds(engine, difference, left, right)
    return None if less is None else engine.widened(right if less else left, op.results[0])


def _by_bounds(engine: Engine, difference: Linear, left: SSAValue, right: SSAValue) -> bool | None:
    """The outcome of `left < right`; None if the bounds of RANGEs do not decide it."""
    if not any(_is_symbolic(atom) for atom in difference.terms):
        return None
    a, b = (exact_polynomial(side, engine.min_max) for side in (left, right))
    if is_less(a, b, engine.min_max):
        return True
    return False if is_less(b, a + 1, engine.min_max) else None


def _is_symbolic(atom: SSAValue) -> bool:
    """Whether symbolic bounds may say more about an atom than its interval does.

    This is so for the variable of a RANGE whose bound is not constant, and for a product.
    """
    owner = atom.owner
    if isinstance(owner, tg.RangeOp):
        return integer_of(owner.bound) is None
    return isinstance(owner, tg.MulOp)


def _of_condition(engine: Engine, op: Operation, difference: Linear) -> SSAValue | None:
    """The bool, or its negation, that equals a comparison of a bool cast to an integer."""
    if len(difference.terms) != 1 or op.name not in _COMPARE:
        return None
    ((atom, coefficient),) = difference.terms.items()
    cast = atom.owner
    if not isinstance(cast, tg.CastOp) or tg.tensor(cast.source).element_type != tg.BOOL:
        return None
    compare = _COMPARE[op.name]
    if_false, if_true = (compare(difference.constant + coefficient * x, 0) for x in (0, 1))
    if if_false == if_true:
        return None
    return cast.source if if_true else engine.apply("tg.not", (cast.source,))


def _cost(engine: Engine, new: Comparison) -> int:
    """The number of ADDs and MULs that both sides take, those that compute the atoms included."""
    atoms = (*new.left.terms, *new.right.terms)
    return new.left.cost + new.right.cost + sum(engine.costs.get(atom, 0) for atom in atoms)
