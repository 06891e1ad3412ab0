"""The masks of REDUCEs: the specification writes arange, gather and one-hot as sums over masks.

The operand of the REDUCE is `value` where all conditions of the mask hold, and the identity of the
reduction elsewhere. A condition on a range variable r is an equation `a r + b = 0`, or it bounds r,
as `a r + b < 0` does. This is integer arithmetic: it does not apply where a comparand may wrap, or
where a cast may lose bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from tgdialect.analysis.conditions import Condition, conjuncts, order
from tgdialect.analysis.min_max import keeps_integer
from tgdialect.ops import tg
from tgdialect.ops.affine import Linear, affine
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.matching import constant_of

_MARGIN = 2**62
"""The most that a sum may exceed 64 bits by if a wrapped position is acceptable. Within this margin
a sum wraps to a negative number or to at least 2^62, and no loop reaches either."""


@dataclass
class Masked:
    """The operand of a REDUCE: `value` where all conditions hold, elsewhere the identity."""

    value: SSAValue
    conditions: list[Condition]


Equation = tuple[SSAValue, int, Linear]


@dataclass
class Constraints:
    """The constraints on a range variable r: low <= r < high for each of `lows` and `highs`."""

    lows: list[Linear] = field(default_factory=list[Linear])
    highs: list[Linear] = field(default_factory=list[Linear])
    equal: list[Equation] = field(default_factory=list[Equation])
    """For each condition `a r + b = 0`: its value, a, and b."""
    others: list[Condition] = field(default_factory=list[Condition])
    """The conditions that do not depend on r."""
    unknown: bool = False
    """Whether some condition depends on r, but has none of these forms."""


def masked(engine: Engine, op: tg.ReduceOp) -> Masked:
    """Split the operand of a REDUCE into a value and the conditions of its mask.

    A product with a bool cast to a number is a mask as well. Where the bool is false, the other
    factor does not count, even if it is infinite or NaN (docs/semantics.md).
    """
    # Peel off one mask at a time, the outermost first.
    kind, value = op.kind.data, op.source
    other = tg.identity(kind, tg.dtype_row(tg.tensor(value).element_type))
    conditions: list[Condition] = []
    while True:
        owner = value.owner
        match owner:
            case tg.WhereOp() if _is(owner.rhs, other):
                conditions.append((owner.condition, True))
                value = owner.lhs
            case tg.WhereOp() if _is(owner.lhs, other):
                conditions.append((owner.condition, False))
                value = owner.rhs
            case tg.MulOp() if kind is tg.ReduceKind.ADD and not tg.dtype_of(value).is_bool:
                if (condition := _cast_bool(owner.lhs)) is not None:
                    value = owner.rhs
                elif (condition := _cast_bool(owner.rhs)) is not None:
                    value = owner.lhs
                else:
                    break
                conditions.append((condition, True))
            case tg.AddOp() if kind is tg.ReduceKind.ADD and _adds_zero(owner):
                value = owner.lhs
            case tg.CastOp() if kind is tg.ReduceKind.ADD and tg.dtype_of(owner.source).is_bool:
                conditions.append((owner.source, True))
                value = engine.constant(tg.number_attribute(1, tg.tensor(value).element_type))
            case _:
                if kind is tg.ReduceKind.MAX and tg.dtype_of(value).is_bool and not _is(value, 1):
                    conditions.append((value, True))
                    value = engine.constant(tg.number_attribute(1, tg.BOOL))
                break
    return Masked(value, list(conjuncts(conditions)))


def _is(value: SSAValue, number_: float) -> bool:
    """Whether a value is a constant that equals a number."""
    constant = constant_of(value)
    return constant is not None and tg.number(constant) == number_


def _adds_zero(op: tg.AddOp) -> bool:
    """Whether an op adds 0 to a float. A sum over such terms does not need the 0 in each term."""
    return tg.dtype_of(op.result).is_float and _is(op.rhs, 0)


def _cast_bool(value: SSAValue) -> SSAValue | None:
    """The bool that a value is cast from; None for any other value."""
    owner = value.owner
    return (
        owner.source if isinstance(owner, tg.CastOp) and tg.dtype_of(owner.source).is_bool else None
    )


def where_all(
    engine: Engine, op: tg.ReduceOp, conditions: Sequence[Condition], value: SSAValue
) -> SSAValue:
    """The value where all conditions hold, and the identity of the reduction elsewhere."""
    both: SSAValue | None = None
    for condition, holds in conditions:
        test = condition if holds else engine.apply("tg.not", (condition,))
        both = test if both is None else engine.apply("tg.and", (both, test))
    if both is None:
        return value
    return engine.apply("tg.where", (both, value, neutral(engine, op, value)))


def neutral(engine: Engine, op: tg.ReduceOp, like: SSAValue) -> SSAValue:
    """The identity of the reduction in the dtype of `like`."""
    element = tg.tensor(like).element_type
    return engine.constant(
        tg.number_attribute(tg.identity(op.kind.data, tg.dtype_row(element)), element)
    )


# -- conditions on a range -----------------------------------------------------------------------


def constraints_of(
    engine: Engine,
    conditions: Sequence[Condition],
    axis: tg.RangeOp,
    known: Constraints | None = None,
) -> Constraints:
    """The constraints that conditions put on a range variable, added to those in `known`."""
    result = known or Constraints()
    for value, holds in conditions:
        if axis not in engine.loops.open(value):
            result.others.append((value, holds))
        elif not _add_constraint(engine, result, axis, value, holds):
            result.unknown = True
    return result


def _add_constraint(
    engine: Engine, constraints: Constraints, axis: tg.RangeOp, condition: SSAValue, holds: bool
) -> bool:
    """Add a condition that depends on a range variable to its constraints.

    The condition must be a comparison of sums in which the variable is a term, and in which no
    other atom depends on it. Returns False for any other condition.
    """
    difference, is_equality = _difference(engine, condition, holds)
    if not (factor := difference.terms.get(axis.result, 0)):
        return False
    rest = difference - tg.Affine({axis.result: factor})
    if any(axis in engine.loops.open(atom) for atom in rest.terms):
        return False
    if is_equality is not None:
        if is_equality:
            constraints.equal.append((condition, factor, rest))
        return is_equality
    if factor == 1:
        constraints.highs.append(-rest + 1)
    elif factor == -1:
        constraints.lows.append(rest)
    return abs(factor) == 1


def _difference(engine: Engine, condition: SSAValue, holds: bool) -> tuple[Linear, bool | None]:
    """A condition as a difference of sums, and how the difference compares with 0.

    The second result is None for `difference <= 0`, True for `difference = 0`, and False for
    `difference != 0`. For a condition that is no comparison of integers the difference is empty.
    """
    op = condition.owner
    match op:
        case tg.CmpEqOp() | tg.CmpNeOp() if tg.dtype_of(op.lhs).is_integer:
            difference = _integers(engine, op.lhs) - _integers(engine, op.rhs)
            return difference, isinstance(op, tg.CmpEqOp) == holds
        case _:
            if (known := order(condition, holds)) is None:
                return tg.Affine(), None
            low, high = (_integers(engine, side) for side in (known.low, known.high))
            return low - high + known.margin, None


def _integers(engine: Engine, value: SSAValue) -> Linear:
    """The linear form of an integer without wrapping, which looks through lossless casts."""
    result: Linear = tg.Affine()
    stack = [(value, 1)]
    while stack:
        value, factor = stack.pop()
        op = value.owner
        form = engine.exact_form(value)
        if form.atom is not value:
            stack += [(atom, factor * c) for atom, c in form.terms.items()]
            result += form.constant * factor
        elif isinstance(op, tg.CastOp) and keeps_integer(op, engine.min_max):
            stack.append((op.source, factor))
        else:
            result += tg.Affine({value: factor})
    return result


def emit_index(engine: Engine, form: Linear, *, wraps: bool = False) -> SSAValue | None:
    """Emit a sum with dtype index; None if it may exceed 64 bits.

    With `wraps` it may exceed them by `_MARGIN`. A wrapped sum is then a position that no loop
    reaches.
    """
    interval = engine.interval(form)
    margin = _MARGIN if wraps else 0
    if not interval.within(-(2**63) - margin, 2**63 - 1 + margin):
        return None

    def as_index(atom: SSAValue) -> SSAValue:
        is_index = tg.tensor(atom).element_type == tg.INDEX
        return atom if is_index else engine.insert(tg.CastOp(atom, tg.INDEX))

    terms = [(as_index(atom), factor) for atom, factor in form.terms.items()]
    like = engine.constant(tg.number_attribute(0, tg.INDEX))
    return engine.emit(affine(terms, form.constant), like)
