"""Expressions that a kernel computes again for other iterations of its loops."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder

IN_LOOPS = (tg.EndOp, tg.ReduceOp, tg.GroupOp, tg.StoreOp, tg.AtomicAddOp)
"""The ops that belong to loops: what depends on one cannot be computed again in other loops."""
NOT_COPIED: tuple[type[Operation], ...] = (tg.RangeOp, *IN_LOOPS)
"""The ops that an expression which is computed again has in common with the first one."""


def computed_again(
    builder: OpBuilder, value: SSAValue, mapping: dict[SSAValue, SSAValue]
) -> SSAValue:
    """A value for other ranges, or other values, than the keys of `mapping` (`OpBuilder.clone`)."""
    return builder.clone(value, mapping, shared=NOT_COPIED)
