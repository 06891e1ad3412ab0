"""Rows: a workgroup for each row or for several short ones, or for each result of a long
reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.grid.nests import FEW, GridNest
from tgdialect.lowering.optimize.grid.products import TILE, reusing_row
from tgdialect.lowering.optimize.nests import part
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index
from tgdialect.ops.views import memory_of

CELLS = 32
"""The most cells of a row for each work item of a warp, for one warp to compute the row without a
BARRIER, if there are enough rows. Larger: the registers of a row and those of its exponentials are
half of what a work item has; smaller: more BARRIERs. Not measured."""

ROWS = 8
"""The rows of a product that a work item computes where it shares the steps of few rows with
others. Fewer: the second factor is loaded more often; more: accumulators take the registers of many
warps. On an H100, 8 x 4096 x 4096 in bf16 took 160 us with one row each, which loads the second
factor eight times."""


def share_rows(
    nest: GridNest, inner: Sequence[tg.EndOp | tg.ReduceOp], rows: Sequence[tg.RangeOp]
) -> None:
    """A workgroup for each row, or for as many short rows as it has work items for. Its work items
    share the loops inside, which `inner` closes.

    Products in the rows, as those of an attention, decide how many work items share a row, and
    each work item computes TILE rows of them in registers.
    """
    own = [closer for closer in inner if nest.axes.open[closer] <= {*rows}]
    closers = own if nest.end is None else [nest.end, *own]
    parts = [[r for r in closed_ranges(closer) if r not in rows] for closer in closers]
    parts = [ranges for ranges in parts if ranges]
    extents = [nest.nests.extent(range) for range in rows]
    longest = max((math.prod(map(nest.nests.extent, ranges)) for ranges in parts), default=1)
    if longest <= FEW and rows and nest.split_items(rows[-1:], nest.items) > 1:
        return
    nested = {r for op in inner if _reuses(nest, op, rows) for r in nest.axes.open[op]}
    products = [ranges for ranges in parts if nested & {*ranges}]
    row = rows[-1].axis.data if rows else None
    if products:
        shared = max(nest.share(ranges, nest.items) for ranges in products)
        for ranges in parts:
            if ranges not in products:
                nest.share(ranges, shared, 1)
    else:
        items = _items(nest, longest, math.prod(extents))
        shared = max((nest.share_cells(ranges, items) for ranges in parts), default=1)
    if row is None:
        return
    if products and nest.nests.extent(rows[-1]) % TILE == 0:
        nest.split(nest.axes[row], TILE, tg.AxisType.UPCAST)
    extent = known_index(nest.axes[row].bound) or 1
    count = part(extent, nest.items // shared)
    # Fewer rows where LOCAL memory does not hold as many.
    while count > 1 and not nest.split(nest.axes[row], count, tg.AxisType.LOCAL):
        count = part(extent, count // 2)


def _reuses(nest: GridNest, op: tg.EndOp | tg.ReduceOp, rows: Sequence[tg.RangeOp]) -> bool:
    """Whether the steps of a REDUCE in a loop inside a row load what other rows load, too."""
    if not isinstance(op, tg.ReduceOp) or not rows or nest.axes.open[op] <= {*rows}:
        return False
    return any(
        isinstance(access.op, tg.LoadOp)
        and isinstance(memory_of(access.op.buffer).owner, tg.ParamOp)
        and access.strides.get(rows[-1], 0) == 0
        for access in nest.nests.accesses_along(closed_ranges(op))
    )


def _items(nest: GridNest, longest: int, rows: int) -> int:
    """How many work items share a row: those of a warp if the row is short enough, and there are
    enough rows to fill the device."""
    is_short = longest <= CELLS * nest.warp and rows * nest.warp >= nest.enough
    return nest.warp if is_short and nest.warp > 1 else nest.items


def share_reductions(nest: GridNest, reductions: Sequence[tg.ReduceOp]) -> None:
    """Work items share the steps of reductions. Those that load neighbours are neighbours. Each of
    them does all steps of a reduction inside of another one's loops."""
    items = nest.items
    # A work item computes several rows of a product with few rows: what it loads for a column is
    # used for each of them.
    row = reusing_row(nest, nest.column()) if nest.loops else None
    if row is not None and (width := part(nest.nests.extent(row), ROWS)) > 1:
        nest.split(row, width, tg.AxisType.UPCAST)
    loops = {r for op in reductions for r in closed_ranges(op)}
    reductions = [op for op in reductions if not nest.axes.open[op] & loops]
    columns = [r for r in nest.loops if nest.is_contiguous(r)]
    steps = dict.fromkeys(tuple(closed_ranges(op)) for op in reductions)
    if columns and not any(nest.is_contiguous(r) for ranges in steps for r in ranges):
        items //= nest.split_items(columns[-1:], FEW)
    results = math.prod(map(nest.nests.extent, nest.loops))
    if not columns:
        longest = max((math.prod(map(nest.nests.extent, r)) for r in steps), default=1)
        items = _items(nest, longest, results)
    found = max((nest.share_cells(ranges, items) for ranges in steps), default=1)
    # Several short rows have a workgroup: a warp at least, and no more where processors would idle.
    if columns or nest.warp == 1 or not nest.loops:
        return
    most = min(nest.items // found, max(nest.warp // found, results * nest.items // nest.enough))
    if most > 1:
        nest.split_items([max(nest.loops, key=nest.nests.extent)], most)
