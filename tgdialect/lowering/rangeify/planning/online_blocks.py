"""The sizes of the blocks in which a workgroup computes sums of exponentials (`online.py`)."""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

from tgdialect.lowering.rangeify.planning.online import OnlineSums
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.costs import LOAD, STORE

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

SPARE = 4 << 10
"""LOCAL memory that is left for maxima, corrections, and the padding of tiles against conflicts
of banks."""


class Blocks(NamedTuple):
    """The sizes of blocks."""

    rows: int
    steps: int


def are_tiled(group: OnlineSums, steps: int) -> bool:
    """Whether a core computes the scores of a block in tiles of `SCORED_STEPS`, and only those with
    a step that counts: where an index masks scores, or blocks do not divide the steps."""
    return group.is_masked_by_index or group.steps % steps != 0


def blocks_of(group: OnlineSums, target: Target) -> Blocks | None:
    """The sizes of blocks with which sums are computed in one pass; None where three passes that
    store the scores are better, or no block fits into memory."""
    rows, steps, size = group.rows, group.steps, tg.dtype_of(group.scores).itemsize
    # The elements that a row needs: the steps of products, and the columns of results.
    shapes = [(each.source, tg.integers(each, "axes")) for each in group.products]
    shapes.append((group.root.results[0], group.columns))
    width = sum(math.prod(tg.tensor(v).get_shape()[a] for a in axes) for v, axes in shapes)

    def count(r: int) -> int:
        """The blocks of rows."""
        return group.results // rows * math.ceil(rows / r)

    if target.is_grid:
        # A block of steps is loaded for each block of rows; otherwise scores and exponentials are
        # stored and loaded once each.
        heights = [r for r in ROWS if width <= (2 * LOAD + 2 * STORE) / LOAD * r]
        most = (target.local - SPARE) // size
        fitting = [
            Blocks(r, s)
            for r in heights
            for s in sorted(STEPS, key=lambda n: (steps % n != 0, -n))
            if r <= rows and count(r) >= target.units and 2 * s <= steps and (r + width) * s <= most
        ]
        return next(iter(fitting), None)
    unit = VECTORS * target.lanes(size)
    if rows < unit or steps < LEAST_STEPS:
        return None
    heights = [*range(unit, min(rows, MOST_ROWS) + 1, unit)]
    if rows <= MOST_ROWS and rows % unit:
        heights.append(rows)
    whole = math.ceil(steps / SCORED_STEPS) * SCORED_STEPS
    # Steps that each length of blocks adds to those computed: half of the scores of the last
    # tile are computed in vain.
    lengths = range(LEAST_STEPS, min(whole, MOST_STEPS) + 1)
    vain = {s: are_tiled(group, s) * SCORED_STEPS / 2 for s in lengths}

    def cost(r: int, s: int) -> float:
        """Each row and step costs 1, and `BLOCK_COST` comes on top for each of a block. So do half
        of the scores of a block's rows where a diagonal crosses them, which are twice the part of
        the work."""
        if size * (r * s + r * width + s * width) > target.l2:
            return math.inf
        done = steps + r * group.is_masked_by_index + vain[s]
        return math.ceil(rows / r) * r * done * (1 + BLOCK_COST / r + BLOCK_COST / s)

    lengths = [
        s
        for s, more in vain.items()
        if not more or (s % SCORED_STEPS == 0 and not 0 < steps % s < SCORED_STEPS)
    ]
    r, s = min(product(heights, lengths), key=lambda rs: cost(*rs))
    if math.isinf(cost(r, s)):
        return None
    # Rows may be shared among threads: unlike those of steps, their blocks decide no result.
    heights.sort(key=lambda r: cost(r, s) * math.ceil(count(r) / target.threads) / count(r))
    return Blocks(heights[0], s)
