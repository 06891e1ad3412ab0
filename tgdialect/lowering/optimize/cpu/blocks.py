"""Blocked reductions: a block of steps for all results, then the next block."""

from __future__ import annotations

import math

from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.cpu.copies import loop_of_copy
from tgdialect.lowering.optimize.cpu.costs import pages_of
from tgdialect.lowering.optimize.cpu.vectors import is_tiled, vector_of
from tgdialect.lowering.optimize.nests import Nests, StridedAccess, part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.ops import tg

BLOCKED_ROWS = 256
"""The most rows of results for which a reduction is blocked. Larger: more passes over results, one
for each block; smaller: columns that are used too seldom to pay for their pages are loaded in one
go. From timing products."""

PACKED_BLOCK = 2
"""The most steps of a block whose operand is packed, as a multiple of the pages that the TLB holds.
Packing reads one page at a time, so that more than one multiple is possible. Larger: fewer passes
over the results; smaller: a shorter packed column, which has to stay in L1. From timing
products."""

CACHE_PARTS = 4
"""Reserve one in so many parts of L2 for the results of a block; operands take the others."""


def block_reductions(nests: Nests) -> None:
    """Block reductions whose operand is spread over more pages than the TLB holds: the steps of a
    block run for all results before the next block, so that each page is read in one go."""
    axes = nests.axes
    for number in range(len(axes.kernel.sink.effects)):
        end = axes.kernel.sink.effects[number].owner
        if not isinstance(end, tg.EndOp) or not is_tiled(end):
            continue
        vector = vector_of(end)
        for access in nests.accesses:
            is_load = isinstance(access.op, tg.LoadOp) and not access.is_constant
            if is_load and access.strides.get(vector) == 1:
                over = _over_pages(nests, access)
                if over is not None and _block(nests, access, over, end):
                    nests = Nests(axes, nests.target)  # The kernel has changed.
                    break


def _over_pages(nests: Nests, access: StridedAccess) -> tg.RangeOp | None:
    """The range of a REDUCE along which an operand is spread over more pages than the TLB holds."""
    for range, stride in access.strides.items():
        is_reduced = range.axis_type.data is tg.AxisType.REDUCE and range not in nests.axes.ends
        pages = pages_of(nests.extent(range), stride, access.itemsize, nests.target)
        if is_reduced and pages > nests.target.tlb_pages:
            return range
    return None


def _block(nests: Nests, access: StridedAccess, over: tg.RangeOp, end: tg.EndOp) -> bool:
    """Block the reduction that loads an operand, if that pays. Returns whether it did."""
    axes, strides = nests.axes, access.strides
    ranges = list(reversed(closed_ranges(end)))
    loops = loops_of(end)
    beside = [i for i, r in enumerate(loops) if strides.get(r) == nests.extent(vector_of(end))]
    if not beside or loops[beside[0]].axis_type.data is tg.AxisType.THREAD:
        return False
    along, inside = loops[beside[0]], loops[beside[0] + 1 :]
    results = [r for r in ranges if r in inside or is_expanded(r)]
    rows = math.prod(nests.extent(r) for r in results if strides.get(r, 0) == 0)
    # Blocks keep a packed column in L1. One that fits needs none, nor do columns that L2 keeps for
    # all rows: blocks cost passes over results.
    copied = loop_of_copy(nests, access, end)
    column = nests.extent(over) * nests.extent(vector_of(end)) * access.itemsize
    if copied is not None and (
        column <= nests.target.l1 or copied.axis_type.data is tg.AxisType.THREAD
    ):
        return False
    most = nests.target.tlb_pages * (PACKED_BLOCK if copied is not None else 1)
    steps = part(nests.extent(over), most)
    # The results of a block are to stay in L2, with the block and all else.
    row = math.prod(map(nests.extent, results)) * access.itemsize
    fitting = min(nests.target.l2 // CACHE_PARTS // row, nests.extent(along))
    width = part(nests.extent(along), fitting)
    if rows > BLOCKED_ROWS or 2 * steps < most or fitting == 0 or 2 * width < fitting:
        return False
    numbers = [r.axis.data for r in (along, *inside)]
    if width < nests.extent(along):
        kind = along.axis_type.data
        if (made := made_by(axes, tg.OptOp.SPLIT, along.axis.data, width, kind)) is None:
            return False
        (numbers[0],) = made
    return attempt(axes, tg.OptOp.SPLIT, over.axis.data, steps, tg.AxisType.REDUCE) and attempt(
        axes, tg.OptOp.ORDER, over.axis.data, *numbers
    )
