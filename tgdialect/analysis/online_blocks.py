"""The sizes of the blocks in which a workgroup computes sums of exponentials (`online.py`)."""

from __future__ import annotations

import math
from typing import NamedTuple

from xdsl.ir import Operation

from tgdialect.analysis.demand import LOAD, STORE, is_storage
from tgdialect.analysis.online import OnlineSum, OnlineSums
from tgdialect.ops.elementwise import CastOp, ElementwiseOp
from tgdialect.ops.movement import ExpandOp, MovementOp, PermuteOp, ReshapeOp
from tgdialect.ops.properties import dtype_of, integers, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.targets import Target

ROWS = (64, 32, 16)
"""The rows of a block, the most that fit into LOCAL memory: what is loaded for a block of steps is
used for all of its rows. With 64 rows, 256 work items have 16 results each of 64 columns."""

STEPS = (32, 16)
"""The steps of a block, likewise. With more, there are fewer BARRIERs for a step; with 64 a work
item has twice as many scores at once, and `ptxas` spills registers."""

COLUMNS = 16
"""Loops over columns are padded to a multiple of this: so many work items share a row."""

SPARE = 4 << 10
"""LOCAL memory that is left for maxima, corrections, and the padding of tiles against conflicts
of banks."""


class Blocks(NamedTuple):
    """The sizes of blocks."""

    rows: int
    steps: int
    reads_zeros: bool
    """Whether the factors of exponentials are 0 past the last step, because they are loaded."""


def blocks_of(group: OnlineSums, target: Target) -> Blocks | None:
    """The sizes of blocks with which a grid computes sums in one pass; None where three passes
    that store the scores are better, or LOCAL memory is too small."""
    shape = tensor(group.root.results[0]).get_shape()
    columns = math.prod(shape[axis] for axis in group.columns)
    results = math.prod(shape) // columns
    width = sum(map(_depth, group.products)) + columns
    size = dtype_of(group.scores).itemsize
    for rows in ROWS:
        blocks = results // group.rows * math.ceil(group.rows / rows)
        if rows > group.rows or blocks < target.units:
            continue
        # A block of steps is loaded for each block of rows; otherwise scores and exponentials are
        # stored and loaded once each.
        if width > (2 * LOAD + 2 * STORE) / LOAD * rows:
            return None
        for steps in sorted(STEPS, key=lambda n: (group.steps % n != 0, -n)):
            bytes = size * (rows * steps + width * steps)
            if 2 * steps <= group.steps and bytes + SPARE <= target.local:
                zeros = all(map(_are_loaded, group.sums))
                return Blocks(rows, steps, zeros)
    return None


def _depth(product: ReduceOp) -> int:
    """The steps of a product."""
    shape = tensor(product.source).get_shape()
    return math.prod(shape[axis] for axis in integers(product, "axes"))


def _are_loaded(each: OnlineSum) -> bool:
    """Whether all other factors of a sum's summands are memory, or moved from there, so that the
    steps are an axis of it: past its end a LOAD is 0."""
    axis: int | None
    (axis,) = integers(each.op, "axes")
    factors = {factor.op for factor in each.factors}
    for op, number in each.inner:
        for other in range(len(op.operands)):
            if other != number and op not in factors and not _is_loaded(op, other, axis):
                return False
        if (axis := _below(op, number, axis)) is None:
            return False
    return True


def _is_loaded(op: Operation, number: int, axis: int) -> bool:
    """Whether an operand is memory of which an axis of the op's result is an axis."""
    below = _below(op, number, axis)
    value = op.operands[number]
    while below is not None and not is_storage(value):
        if not isinstance(source := value.owner, MovementOp | CastOp):
            return False
        below = _below(source, 0, below)
        value = source.operands[0]
    return below is not None


def _below(op: Operation, number: int, axis: int) -> int | None:
    """The axis of an operand that an axis of the result is; None if it is none, or only a part of
    one."""
    new, old = (tensor(v).get_shape() for v in (op.results[0], op.operands[number]))
    match op:
        case PermuteOp():
            return integers(op, "order")[axis]
        case ReshapeOp():
            same = (
                a
                for a, extent in enumerate(old)
                if extent == new[axis] and math.prod(old[:a]) == math.prod(new[:axis])
            )
            return next(same, None)
        case ElementwiseOp() | ExpandOp():
            below = axis - (len(new) - len(old))
            return below if below >= 0 and old[below] == new[axis] else None
        case _:
            return None
