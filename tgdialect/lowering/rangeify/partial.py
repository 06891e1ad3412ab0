"""Long reductions of few results in two steps: of parts, which threads or the workgroups of a grid
share, and of their results.

Source: tinygrad's schedule does the same (`split_reduceop`), for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from tgdialect.analysis.one_hot import may_be_one_hot
from tgdialect.analysis.parts import COLUMNS, PARTS, grid_parts_of, parts_of
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.movement import ReshapeOp, ShrinkOp
from tgdialect.ops.properties import integers, tensor
from tgdialect.ops.reduce import ALU, ReduceOp, accumulated_dtype
from tgdialect.targets import Target

WHOLE = 128
"""The length of a part of the last axis is a multiple of this, so that vectors and unrolled loops
fill it without masks. Parts of odd sizes took twice as long (a sum of 10^6)."""

WHOLE_COLUMN = 8
"""The length of a part of another axis on a grid is a multiple of this: so many of 256 work items
share a column, if 32 columns have a workgroup."""


def split_reductions(
    block: Block, is_whole: Callable[[ReduceOp], bool], target: Target
) -> set[Operation]:
    """Split long reductions of few results; returns the reductions of the parts, whose results have
    to be stored. A REDUCE that `is_whole` holds for stays.

    rewrite: `reduce %x [0] : 1048576 -> 1` ->
        `reduce (reshape %x [64, 16384]) [1]`, `reduce ... [0]`, `reshape ... [1]`

    The remainder that does not fill a part is reduced by itself, and combined with the rest.
    """
    found: set[Operation] = set()
    for op in list(block.ops):
        if (
            isinstance(op, ReduceOp)
            and not is_whole(op)
            and (split := _axis(op, target)) is not None
        ):
            found.add(_split(op, *split))
    return found


def _axis(op: ReduceOp, target: Target) -> tuple[int, int, int] | None:
    """The axis to split, the number of parts, and their size; None where splitting does not pay."""
    source, result = tensor(op.source).get_shape(), tensor(op.result).get_shape()
    if op.ordered is not None or DYNAMIC_INDEX in source:
        return None
    if accumulated_dtype(op) != tensor(op.source).element_type:
        return None  # A buffer of parts would be rounded.
    if may_be_one_hot(op):
        return None
    for axis in integers(op, "axes"):
        extent, cells, results = source[axis], math.prod(source), math.prod(result)
        is_last = math.prod(source[axis + 1 :]) == 1
        if target.is_grid:
            workgroups = results if is_last else math.ceil(results / COLUMNS)
            whole = WHOLE if is_last else WHOLE_COLUMN
            if split := grid_parts_of(extent, cells, workgroups, target.units, whole):
                return axis, *split
        elif parts := parts_of(extent, cells, results):
            if is_last and (size := extent // (PARTS * WHOLE) * WHOLE):
                return axis, PARTS, size
            return axis, parts, extent // parts
    return None


def _split(op: ReduceOp, axis: int, parts: int, size: int) -> ReduceOp:
    """Replace a REDUCE by two; returns the first."""
    kind, axes, source = op.kind.data, integers(op, "axes"), tensor(op.source).get_shape()
    left = source[axis] - parts * size
    before, after = source[:axis], source[axis + 1 :]
    start = [0] * len(source)
    builder = OpBuilder.before(op)
    put = builder.put

    even = op.source
    if left:
        even = put(ShrinkOp(even, start, (*before, source[axis] - left, *after)))
    view = put(ReshapeOp(even, (*before, parts, size, *after)))
    partial = builder.insert(ReduceOp(kind, view, [each + (each >= axis) for each in axes]))
    whole = put(ReduceOp(kind, partial, (axis,)))
    result = put(ReshapeOp(whole, tensor(op.result).get_shape()))
    if left:
        start[axis] = source[axis] - left
        rest = put(ReduceOp(kind, put(ShrinkOp(op.source, start, (*before, left, *after))), axes))
        result = put(ALU[kind](result, rest))
    Rewriter.replace_op(op, (), [result])
    return partial
