"""Reductions of much to little, in two steps: parts of it, which threads share, and then those.

Source: tinygrad's schedule does the same (`split_reduceop`), for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation

from tgdialect.analysis.selection import may_select
from tgdialect.ops.base import TgOp
from tgdialect.ops.movement import ReshapeOp
from tgdialect.ops.properties import dtype_of, integers, is_memory, tensor
from tgdialect.ops.reduce import ReduceOp

MANY_ELEMENTS = 1 << 17
"""From so many elements on, reducing them on one core takes longer than two kernels and a start of
threads."""

FEW_RESULTS = 3
"""With more results than that there are loops around the reduction for threads to share."""

PARTS = 64
"""At most so many parts: enough to share evenly, and quickly reduced."""


def split_reductions(block: Block, is_whole: Callable[[ReduceOp], bool]) -> set[Operation]:
    """Split reductions of much to little; returns the reductions of the parts, which are to have
    buffers. Those that `is_whole` says are left alone.

    rewrite: `reduce %x [0] : 1048576 -> 1` ->
        `reduce (reshape %x [64, 16384]) [1]`, `reduce ... [0]`, `reshape ... [1]`
    """
    found: set[Operation] = set()
    for op in list(block.ops):
        if isinstance(op, ReduceOp) and not is_whole(op) and (split := _axis(op)) is not None:
            partial, result = _split(op, *split)
            op.result.replace_all_uses_with(result.results[0])
            block.erase_op(op)
            found.add(partial)
    return found


def _axis(op: ReduceOp) -> tuple[int, int] | None:
    """The axis to split and the number of its parts, if that is worth while."""
    if op.ranges or op.ordered is not None or is_memory(op.result):
        return None
    source, result = tensor(op.source).get_shape(), tensor(op.result).get_shape()
    dtype = dtype_of(op.source)
    if DYNAMIC_INDEX in source or (dtype.is_float and dtype.itemsize < 4):
        return None  # Narrow floats accumulate in f32, and a buffer would be narrow.
    if math.prod(source) < MANY_ELEMENTS or math.prod(result) > FEW_RESULTS or may_select(op):
        return None
    for axis in integers(op, "axes"):
        parts = max(n for n in range(1, PARTS + 1) if source[axis] % n == 0)
        if parts * 4 >= PARTS:
            return axis, parts
    return None


def _split(op: ReduceOp, axis: int, parts: int) -> tuple[Operation, Operation]:
    source = tensor(op.source).get_shape()

    def placed(new: TgOp) -> TgOp:
        new.location = op.location
        block = op.parent
        assert block is not None
        block.insert_op_before(new, op)
        return new

    cut = (*source[:axis], parts, source[axis] // parts, *source[axis + 1 :])
    inner = [each + (each >= axis) for each in integers(op, "axes")]
    view = placed(ReshapeOp(op.source, cut))
    partial = placed(ReduceOp(op.kind.data, view.results[0], inner))
    whole = placed(ReduceOp(op.kind.data, partial.results[0], (axis,)))
    return partial, placed(ReshapeOp(whole.results[0], tensor(op.result).get_shape()))
