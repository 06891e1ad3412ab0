"""Expressions that a kernel computes again for other iterations of its loops, or of other numbers
of these."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg

NAMING = (tg.EndOp, tg.ReduceOp, tg.AfterOp)
"""Ops whose operands after the first name loops. Every other op with a RANGE as operand computes
with the number of its iteration."""
IN_LOOPS = (tg.EndOp, tg.ReduceOp, tg.GroupOp, tg.StoreOp, tg.AtomicAddOp)
"""The ops that belong to loops: what depends on one cannot be computed again in other loops."""
NOT_COPIED: tuple[type[Operation], ...] = (tg.RangeOp, *IN_LOOPS)
"""The ops that an expression which is computed again has in common with the first one."""


def computed_again(
    builder: tg.OpBuilder, value: SSAValue, mapping: dict[SSAValue, SSAValue]
) -> SSAValue:
    """A value for other ranges, or other values, than the keys of `mapping` (`OpBuilder.clone`)."""
    return builder.clone(value, mapping, shared=NOT_COPIED)


def renumber(range: tg.RangeOp, number: SSAValue, *keep: object) -> None:
    """Have all ops that compute with the number of an iteration take another one, but for some."""
    for use in list(range.result.uses):
        op = use.operation
        if op not in keep and not (isinstance(op, NAMING) and use.index):
            op.operands[use.index] = number


def emit_sum(
    builder: tg.OpBuilder,
    of: tg.Polynomial,
    again: Callable[[SSAValue], SSAValue] = lambda value: value,
) -> SSAValue:
    """The value of a polynomial, in which `again` gives the values of atoms."""
    put, total = builder.put, None
    for product, factor in of.terms.items():
        values = [again(atom) for atom in product if isinstance(atom, SSAValue)]
        term = reduce(lambda a, b: put(tg.MulOp(a, b)), values)
        if factor != 1:
            term = put(tg.MulOp(term, builder.index_constant(factor)))
        total = term if total is None else put(tg.AddOp(total, term))
    if total is not None and not of.constant:
        return total
    constant = builder.index_constant(of.constant)
    return constant if total is None else put(tg.AddOp(total, constant))
