"""The sizes of the blocks in which a workgroup computes sums of exponentials (`online.py`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import starmap
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import operand_indices
from tgdialect.analysis.affine.positions import Index
from tgdialect.lowering.rangeify.planning.demand import LOAD, STORE, Demands
from tgdialect.lowering.rangeify.planning.online import OnlineSum, OnlineSums
from tgdialect.ops import tg
from tgdialect.targets import Target

ROWS = (64, 32, 16)
"""The rows of a block, the first that fit into LOCAL memory. More: what is loaded for a block of
steps is used for more rows; fewer: less LOCAL memory and fewer registers. With 64 rows, 256 work
items have 16 results each of 64 columns."""

STEPS = (32, 16)
"""The steps of a block, likewise. More: fewer BARRIERs for a step; fewer: fewer scores at once.
With 64 a work item has twice as many scores, and `ptxas` spills registers."""

COLUMNS = 16
"""Loops over columns are padded to a multiple of this: so many work items share a row."""

VECTORS = 2
"""On a CPU the rows of a block are a multiple of so many vectors, as those of a register tile of
scores are: with other numbers tiles have idle lanes."""
MOST_ROWS = 112
"""The most rows of a block on a CPU. More rows reuse a block of keys more often, and leave less of
the caches for it. From timing attentions, as the next two."""
LEAST_STEPS, MOST_STEPS = 16, 64
"""The least and the most steps of a block on a CPU. Fewer: maxima and corrections are a greater
part of the work; more: the scores of a block and its rows do not fit into L1 together. With 128
attentions take 1.0 to 1.15 times as long."""

SCORED_STEPS = 8
"""The steps of a block whose scores are computed at once on a CPU, if not all steps of all blocks
count. More: more scores are computed that are masked, or a second time; fewer: accumulators do not
hide the latency of additions, for which a register tile of 8 steps by two vectors has enough."""

BLOCK_COST = 4.0
"""The cost of each row and each step of a block, in units of one row times one step: the loads of
the other factor, and passes over sums. Larger: larger blocks. From timing attentions of 64 to 4096
rows."""

_WHOLE = (tg.PermuteOp, tg.ReshapeOp, tg.ExpandOp, tg.ElementwiseOp)
"""Ops whose operands have no cells beyond those of an axis that they share with the result."""

SPARE = 4 << 10
"""LOCAL memory that is left for maxima, corrections, and the padding of tiles against conflicts
of banks."""


class Blocks(NamedTuple):
    """The sizes of blocks."""

    rows: int
    steps: int
    reads_zeros: bool
    """Whether the factors of exponentials are 0 past the last step, because they are loaded."""
    columns: int = COLUMNS
    """Loops over columns are padded to a multiple of this."""
    is_tiled: bool = False
    """Whether the scores of a block are computed in tiles of `SCORED_STEPS`, and only those with a
    step that counts: where an index masks scores, or blocks do not divide the steps."""
    is_grid: bool = True
    """Whether work items share a block. Elsewhere vectors lie along its rows, which are next to
    each other in memory, and the last block of rows begins in the one before."""


def blocks_of(group: OnlineSums, target: Target) -> Blocks | None:
    """The sizes of blocks with which a grid computes sums in one pass; None where three passes
    that store the scores are better, or LOCAL memory is too small."""
    if not target.is_grid:
        return _host_blocks_of(group, target)
    width, size = _width(group), tg.dtype_of(group.scores).itemsize
    for rows in ROWS:
        blocks = group.results // group.rows * math.ceil(group.rows / rows)
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


def _host_blocks_of(group: OnlineSums, target: Target) -> Blocks | None:
    """The sizes for a core: those of least cost. None where rows do not fill vectors, or a block
    does not fit into half of L2.

    A block of 1 by 1 costs 1; padding, and what an inequality of indices masks in the blocks that
    it crosses, come on top, and `BLOCK_COST` for each row and each step of a block.
    """
    width, size = _width(group), tg.dtype_of(group.scores).itemsize
    unit = VECTORS * target.lanes(size)
    rows, steps = group.rows, group.steps
    if rows < unit or steps < LEAST_STEPS:
        return None
    is_masked = group.is_masked_by_index

    def is_tiled(s: int) -> bool:
        return is_masked or steps % s != 0

    def cost(r: int, s: int) -> float:
        if size * (r * s + r * width + s * width) > target.l2:
            return math.inf
        # Half of the scores of the last tile are computed in vain, and where a diagonal crosses
        # them, half of the scores of a block's rows. The latter are twice the part of the work.
        done = steps + (r if is_masked else 0)
        if is_tiled(s):
            done += SCORED_STEPS / 2
        return math.ceil(rows / r) * r * done * (1 + BLOCK_COST / r + BLOCK_COST / s)

    heights = [*range(unit, min(rows, MOST_ROWS) + 1, unit)]
    if rows <= MOST_ROWS and rows % unit:
        heights.append(rows)
    whole = math.ceil(steps / SCORED_STEPS) * SCORED_STEPS
    lengths = [
        s
        for s in range(LEAST_STEPS, min(whole, MOST_STEPS) + 1)
        if not is_tiled(s) or (s % SCORED_STEPS == 0 and not 0 < steps % s < SCORED_STEPS)
    ]
    r, s = min(((r, s) for r in heights for s in lengths), key=lambda rs: cost(*rs))
    if math.isinf(cost(r, s)):
        return None
    # Rows may be shared among threads: unlike those of steps, their blocks decide no result.

    def slowest(r: int) -> float:
        blocks = group.results // rows * math.ceil(rows / r)
        return cost(r, s) * math.ceil(blocks / target.threads) / blocks

    zeros = all(map(_are_loaded, group.sums))
    return Blocks(min(heights, key=slowest), s, zeros, 1, is_tiled(s), False)


def _width(group: OnlineSums) -> int:
    """The elements that a row needs: the steps of products, and the columns of results."""
    shapes = [
        (tg.tensor(each.source).get_shape(), tg.integers(each, "axes")) for each in group.products
    ]
    shapes.append((tg.tensor(group.root.results[0]).get_shape(), group.columns))
    return sum(math.prod(shape[axis] for axis in axes) for shape, axes in shapes)


def _are_loaded(each: OnlineSum) -> bool:
    """Whether all other factors of a sum's summands are memory, or moved from there, so that the
    steps are an axis of it: past its end a LOAD is 0."""
    positions = Demands()
    (axis,) = tg.integers(each.op, "axes")
    index = positions.loops(tg.shape_of(each.op.source))
    step, factors = index[axis], {factor.op for factor in each.factors}

    def operands(op: Operation, index: Index) -> Mapping[int, Index]:
        return dict(operand_indices(positions, op, index)) if isinstance(op, _WHOLE) else {}

    def is_loaded(value: SSAValue, at: Index) -> bool:
        while step in at and not tg.is_storage(value):
            if not isinstance(source := value.owner, tg.MovementOp | tg.CastOp):
                return False
            value, at = source.operands[0], operands(source, at).get(0, ())
        return step in at

    for op, number in each.inner:
        further = operands(op, index)
        others = ((op.operands[n], at) for n, at in further.items() if n != number)
        index = further.get(number, ())
        if step not in index or (op not in factors and not all(starmap(is_loaded, others))):
            return False
    return True
