"""Bounds of polynomials in index values, for cases in which interval arithmetic is too imprecise.

A RANGE is less than its bound, even if that is symbolic. For example, let i be a RANGE with bound m
and j one with bound n: the greatest value of `i * n + j - m * n` is
`(m - 1) * n + (n - 1) - m * n = -1`.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import cast

from xdsl.ir import SSAValue

from tgdialect.analysis.limits import MANY
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import tg
from tgdialect.ops.affine import monomials, polynomial_interval, times


def exact_polynomial(
    value: SSAValue | int,
    min_max: MinMax,
    atoms: Collection[SSAValue] = (),
    known: dict[SSAValue, tg.Polynomial] | None = None,
) -> tg.Polynomial:
    """A value as a polynomial over the integers; as a single atom if its arithmetic might wrap.

    `known` is that of `polynomial`.
    """
    found = tg.polynomial(value, atoms, known)
    if isinstance(value, int):
        return found
    dtype = tg.dtype_of(value)
    is_exact = interval(found, min_max).within(dtype.low, dtype.high)
    return found if is_exact else tg.Affine({(value,): 1})


def interval(of: tg.Polynomial, min_max: MinMax) -> tg.Interval:
    """An interval of a polynomial over the integers: the sum of its monomials' intervals."""
    return polynomial_interval(of, lambda atom: min_max[cast(SSAValue, atom)])


def greatest(of: tg.Polynomial, min_max: MinMax, atoms: Collection[SSAValue] = ()) -> int:
    """An upper bound of a polynomial, using that each RANGE is less than its bound. Each
    round resolves one more level of RANGEs whose bounds depend on others."""
    result = int(interval(of, min_max).hi)
    for _ in range(MANY):
        bound = _at_last_iteration(of, min_max, atoms)
        if bound == of:
            break
        of = bound
        result = min(result, int(interval(of, min_max).hi))
    return result


def _at_last_iteration(
    of: tg.Polynomial, min_max: MinMax, atoms: Collection[SSAValue]
) -> tg.Polynomial:
    """A polynomial that is never less than `of`, with RANGEs replaced by their extreme values.

    In a monomial of values that are not negative, a RANGE becomes its bound minus 1 if the
    coefficient is positive, and otherwise the monomial becomes 0; `min(x, y)` with a positive one
    becomes either. Other monomials are kept. So are, for now, RANGEs that a bound or a minimum
    depends on: in `64 * i + j`, where j is less than `min(100 - 64 * i, 64)`.
    """
    waiting = _awaited(of)

    def replaced(value: SSAValue, coefficient: int) -> tg.Polynomial:
        if value.owner in waiting:
            return tg.Affine({(value,): 1})
        if coefficient > 0 and (pair := minimum(value)):
            x, y = pair
            greatest = x if isinstance(y.owner, tg.ConstOp) else y
            return exact_polynomial(greatest, min_max, atoms)
        if isinstance(value.owner, tg.RangeOp):
            last = exact_polynomial(value.owner.bound, min_max, atoms) - 1
            return last if coefficient > 0 else tg.Affine()
        return tg.Affine({(value,): 1})

    result: tg.Polynomial = tg.Affine()
    for product, coefficient in monomials(of):
        values = [atom for atom in product if isinstance(atom, SSAValue)]
        is_kept = any(min_max[value].lo < 0 for value in values)
        term: tg.Polynomial | None = None if is_kept else tg.Affine(constant=coefficient)
        for value in values:
            term = None if term is None else times(term, replaced(value, coefficient))
        result += tg.Affine({product: coefficient}) if term is None else term
    return result


def _awaited(of: tg.Polynomial) -> Set[tg.RangeOp]:
    """The RANGEs that bounds of others, or minima, in a polynomial depend on."""
    found: set[tg.RangeOp] = set()
    for product in of.terms:
        for atom in product:
            owner = atom.owner if isinstance(atom, SSAValue) else None
            if isinstance(owner, tg.RangeOp) and not isinstance(owner.bound.owner, tg.ConstOp):
                found |= tg.dependent_ranges(owner.bound)
            elif isinstance(owner, tg.WhereOp):
                found |= tg.dependent_ranges(owner.result)
    return found


def minimum(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The x and the y of `where(x < y, x, y)`."""
    op = value.owner
    if not isinstance(op, tg.WhereOp) or not isinstance(test := op.condition.owner, tg.CmpLtOp):
        return None
    return (op.lhs, op.rhs) if test.lhs is op.lhs and test.rhs is op.rhs else None


def is_less(
    a: tg.Polynomial, b: tg.Polynomial, min_max: MinMax, atoms: Collection[SSAValue] = ()
) -> bool:
    """Whether a is always less than b."""
    return greatest(a - b, min_max, atoms) < 0


def is_inside(bounds: tuple[tg.Dim, tg.Dim, tg.Dim], min_max: MinMax) -> bool:
    """Whether a window on one axis, given by its offset and the inner and the outer extent, is in
    bounds for every call."""
    known = [exact_polynomial(dim, min_max) for dim in bounds if not isinstance(dim, tg.UnknownDim)]
    if len(known) < len(bounds):
        return False
    offset, inner, outer = known
    return all(greatest(of, min_max) <= 0 for of in (-offset, -inner, offset + inner - outer))
