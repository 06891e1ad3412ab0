"""Trees of elementwise ops, and where they are zero: a product is where any of its factors is.

Sums over windows and over dilated values leave out the terms that are zero because an operand is
padding. Which terms these are is decided here, for products and for what else gradients are made
of: `where(x == max, g, 0)` is 0 where `g` is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.limits import MANY
from tgdialect.ops import tg

_IF_ANY = (tg.MulOp, tg.AndOp)
"""Ops that are 0 if any operand is. A zero times infinity counts as 0, as padding does in sums."""

_IF_ALL = (
    tg.AddOp,
    tg.CastOp,
    tg.CmpLtOp,
    tg.CmpNeOp,
    tg.MaxOp,
    tg.NegOp,
    tg.OrOp,
    tg.SqrtOp,
    tg.SubOp,
    tg.TruncOp,
    tg.XorOp,
)
"""Ops that are 0, or false, if all operands are."""


def elementwise_leaves(root: SSAValue, is_inner: Callable[[SSAValue], bool]) -> Sequence[SSAValue]:
    """The leaves of a tree of elementwise ops: the nearest values to the root that are not
    `is_inner`, or are defined by other ops. Beyond MANY values, each is a leaf."""
    values = [root]
    seen = {root}
    leaves: list[SSAValue] = []
    for value in values:  # which grows
        op = value.owner
        if len(values) < MANY and isinstance(op, tg.ElementwiseOp) and is_inner(value):
            new = [operand for operand in dict.fromkeys(op.operands) if operand not in seen]
            values += new
            seen.update(new)
        else:
            leaves.append(value)
    return leaves


def is_zero_where(value: SSAValue, zeros: Collection[SSAValue]) -> bool:
    """Whether a tree of elementwise ops is 0 in every cell where all of `zeros` are."""

    def operands(value: SSAValue) -> Sequence[SSAValue]:
        op = value.owner
        return op.operands if isinstance(op, tg.ElementwiseOp) and value not in zeros else ()

    def is_zero(value: SSAValue) -> bool:
        if value in zeros:
            return True
        match op := value.owner:
            case tg.WhereOp():
                return known[op.rhs] and (known[op.condition] or known[op.lhs])
            case _ if isinstance(op, _IF_ANY):
                return any(known[operand] for operand in op.operands)
            case _ if isinstance(op, _IF_ALL):
                return all(known[operand] for operand in op.operands)
            case _:
                return constant_of(value) == 0

    known: dict[SSAValue, bool] = {}
    return tg.computed(value, known, operands, is_zero)


def constant_of(value: SSAValue) -> float | None:
    """The number that all elements of a value are."""
    op = tg.behind(value, tg.ExpandOp, tg.PermuteOp, tg.ReshapeOp).owner
    if not isinstance(op, tg.ConstOp) or isinstance(op.value, tg.InvalidAttr):
        return None
    return float(tg.number(op.value))
