"""Reductions of much to little, in two steps: parts of it, which threads share, and then those.

Source: tinygrad's schedule does the same (`split_reduceop`), for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from tgdialect.analysis.parts import parts_of
from tgdialect.analysis.selection import may_select
from tgdialect.ops.movement import ReshapeOp
from tgdialect.ops.properties import dtype_of, integers, tensor
from tgdialect.ops.reduce import ReduceOp


def split_reductions(block: Block, is_whole: Callable[[ReduceOp], bool]) -> set[Operation]:
    """Split reductions of much to little; returns the reductions of the parts, which are to have
    buffers. Those that `is_whole` says are left alone.

    rewrite: `reduce %x [0] : 1048576 -> 1` ->
        `reduce (reshape %x [64, 16384]) [1]`, `reduce ... [0]`, `reshape ... [1]`
    """
    found: set[Operation] = set()
    for op in list(block.ops):
        if isinstance(op, ReduceOp) and not is_whole(op) and (split := _axis(op)) is not None:
            found.add(_split(op, *split))
    return found


def _axis(op: ReduceOp) -> tuple[int, int] | None:
    """The axis to split and the number of its parts, if that is worth while."""
    source, result = tensor(op.source).get_shape(), tensor(op.result).get_shape()
    dtype = dtype_of(op.source)
    if op.ordered is not None or DYNAMIC_INDEX in source:
        return None
    if dtype.is_float and dtype.itemsize < 4:
        return None  # Narrow floats accumulate in f32, and a buffer would be narrow.
    if may_select(op):
        return None
    for axis in integers(op, "axes"):
        if parts := parts_of(source[axis], math.prod(source), math.prod(result)):
            return axis, parts
    return None


def _split(op: ReduceOp, axis: int, parts: int) -> ReduceOp:
    """Put two reductions in place of one; the first of them."""
    source = tensor(op.source).get_shape()
    cut = (*source[:axis], parts, source[axis] // parts, *source[axis + 1 :])
    inner = [each + (each >= axis) for each in integers(op, "axes")]
    view = ReshapeOp(op.source, cut)
    partial = ReduceOp(op.kind.data, view.results[0], inner)
    whole = ReduceOp(op.kind.data, partial.results[0], (axis,))
    new = (view, partial, whole, ReshapeOp(whole.results[0], tensor(op.result).get_shape()))
    for each in new:
        each.location = op.location
    Rewriter.replace_op(op, new)
    return partial
