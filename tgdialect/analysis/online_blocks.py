"""The sizes of the blocks in which a workgroup computes sums of exponentials (`online.py`)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tgdialect.analysis.demand import LOAD, STORE, is_storage
from tgdialect.analysis.online import OnlineSum, OnlineSums
from tgdialect.ops.elementwise import CastOp
from tgdialect.ops.movement import MovementOp, PadOp
from tgdialect.ops.properties import dtype_of, integers, is_memory, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.targets import Target

ROWS = (64, 32, 16)
"""The rows of a block, the most that fit into LOCAL memory: what is loaded for a block of steps is
used for all of its rows. With 64 rows, 256 work items have 16 results each of 64 columns."""

STEPS = (64, 32, 16)
"""The steps of a block, likewise. With more, there are fewer BARRIERs for a step."""


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
    """Whether all other factors of a sum's summands are memory, or moved from there."""
    on_path = {step.op for step in each.inner}
    factors = {factor.op for factor in each.factors}
    for step in each.inner:
        for number, operand in enumerate(step.op.operands):
            if number == step.operand or step.op in factors:
                continue
            while isinstance(op := operand.owner, MovementOp | CastOp) and op not in on_path:
                if isinstance(op, PadOp) or is_memory(operand):
                    break
                operand = op.operands[0]
            if not is_storage(operand):
                return False
    return True
