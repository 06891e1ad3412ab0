"""Removing loops of one iteration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.recomputation import renumber
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import known_index


def drop_single_iterations(ops: Sequence[Operation]) -> bool:
    """Replace RANGEs of one iteration that ENDs close by 0. Whether there were any.

    Else folding the RANGE could move ops out of the loop: a STORE that its END waits for would have
    to be both after the LOADs and before the loop. And an axis of one lane would have a STORE for
    every lane.
    """
    found = [range for range in _closed_by_ends(ops) if _is_single(range)]
    for range in found:
        _drop(range)
    return bool(found)


def _closed_by_ends(ops: Iterable[Operation]) -> Iterable[tg.RangeOp]:
    ranges = (range for op in ops if isinstance(op, tg.EndOp) for range in closed_ranges(op))
    return dict.fromkeys(ranges)


def _is_single(range: tg.RangeOp) -> bool:
    if known_index(range.bound) != 1 or range.axis_type.data is tg.AxisType.THREAD:
        return False
    return not any(
        isinstance(use.operation, tg.ReduceOp) and use.index for use in range.result.uses
    )


def _drop(range: tg.RangeOp) -> None:
    builder = OpBuilder.before(range)
    renumber(range, builder.index_constant(0))
    for op in dict.fromkeys(use.operation for use in range.result.uses):
        kept: list[SSAValue] = [operand for operand in op.operands if operand is not range.result]
        if len(kept) > 1:
            op.operands = kept
        else:
            op.results[0].replace_all_uses_with(kept[0])
            builder.block.erase_op(op)
    builder.block.erase_op(range)
