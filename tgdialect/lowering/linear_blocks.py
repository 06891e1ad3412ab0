"""The blocks of a LINEAR: loops over workgroups, loops over work items, and IFs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from xdsl.ir import Block, Operation

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg

GROUPS = frozenset((tg.AxisType.GLOBAL,))
"""The types of loops over workgroups."""

ITEMS = frozenset((tg.AxisType.LOCAL, tg.AxisType.WARP))
"""The types of loops over the work items of a workgroup."""

Nest = tuple[tg.RangeOp, ...]
"""Loops around an op, the outermost first."""


def nest(around: Sequence[Operation], kinds: Set[tg.AxisType]) -> Nest:
    """The loops of some axis types among the blocks around an op."""
    return tuple(op for op in around if isinstance(op, tg.RangeOp) and op.axis_type.data in kinds)


def loops_by_depth(
    around: Mapping[Operation, Sequence[Operation]], kinds: Set[tg.AxisType]
) -> list[list[tg.RangeOp]]:
    """The loops of some axis types, by how many such loops are around each; `around` has the blocks
    around each op."""
    levels: list[list[tg.RangeOp]] = []
    for op, blocks in around.items():
        if isinstance(op, tg.RangeOp) and op.axis_type.data in kinds:
            depth = len(nest(blocks, kinds))
            levels.extend([] for _ in range(depth + 1 - len(levels)))
            levels[depth].append(op)
    return levels


def close_one_by_one(block: Block) -> None:
    """Give each loop an END of its own.

    rewrite: `end %s over %k, %i` -> `%0 = end %s over %k; end %0 over %i`
    """
    for op in ops_of(block):
        while isinstance(op, tg.EndOp) and len(op.ranges) > 1:
            inner = tg.OpBuilder.before(op).put(tg.EndOp(op.body, op.ranges[:1]))
            op.operands = (inner, *op.ranges[1:])
