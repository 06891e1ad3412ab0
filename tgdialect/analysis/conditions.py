"""Conditions as conjunctions: what follows from a bool that is true or false."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute

Condition = tuple[SSAValue, bool]
"""A bool, and the value that it has."""

_AS_LESS: Mapping[type[Operation], tuple[bool, bool]] = {
    tg.CmpLtOp: (False, False),
    tg.CmpGtOp: (True, False),
    tg.CmpGeOp: (False, True),
    tg.CmpLeOp: (True, True),
}
"""Comparisons as CMPLT: whether the operands are swapped, and whether the result is negated."""


class Order(NamedTuple):
    """`low + margin <= high`, over the integers."""

    low: SSAValue
    high: SSAValue
    margin: int


def conjuncts(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conjuncts of conditions that all hold, as small as possible, in order, each once."""
    stack = [*conditions][::-1]
    seen: set[Condition] = set()
    while stack:
        condition = value, holds = stack.pop()
        if condition in seen:
            continue
        seen.add(condition)
        match value.owner:
            case tg.AndOp() | tg.MulOp() | tg.OrOp() as op if holds != isinstance(op, tg.OrOp):
                stack += [(op.rhs, holds), (op.lhs, holds)]
            case tg.NotOp() as op:
                stack.append((op.source, not holds))
            case tg.CmpNeOp() | tg.CmpEqOp() as op if tg.dtype_of(op.lhs).is_bool:
                constant = constant_attribute(op.rhs)
                if constant is None or isinstance(constant, tg.InvalidAttr):
                    yield condition
                else:
                    same = isinstance(op, tg.CmpEqOp) == holds
                    stack.append((op.lhs, same == bool(tg.number(constant))))
            case _:
                yield condition


def order(condition: SSAValue, holds: bool) -> Order | None:
    """The inequality that the outcome of an integer comparison implies; None for other
    conditions."""
    op = condition.owner
    if (
        not isinstance(op, tg.CompareOp)
        or type(op) not in _AS_LESS
        or not tg.dtype_of(op.lhs).is_integer
    ):
        return None
    swapped, negated = _AS_LESS[type(op)]
    a, b = (op.rhs, op.lhs) if swapped else (op.lhs, op.rhs)
    return Order(a, b, 1) if holds != negated else Order(b, a, 0)
