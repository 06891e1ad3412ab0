"""Packing: which operands of a tiled nest are copied into contiguous memory, and in which loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.tiles import nest_parts, split_off
from tgdialect.lowering.optimize.cpu.vectors import (
    MIN_REUSE,
    is_apart,
    is_stageable,
    is_tiled,
    loop_outside,
    vector_of,
)
from tgdialect.lowering.optimize.nests import Nests, StridedAccess, part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by, opt
from tgdialect.ops import tg
from tgdialect.targets import Target

MANY_ROWS = 128
"""The fewest rows of results for which packing pays even if it gains no more than aligned vectors.
Smaller: a copy that is used too seldom; larger: unaligned loads, as each row loads the tile again.
From timing products."""

MIN_APART = 2
"""`MIN_REUSE` for operands with a stride along the vector: smaller, as packing saves loads lane by
lane."""


def pack_tiles(nests: Nests) -> None:
    """Pack the operands that loops load again and again, where that pays."""
    axes = nests.axes
    for end in dict.fromkeys(axes.ends.values()):
        if not is_tiled(end):
            continue
        vector = _lanes(nests, end)
        for access in nests.accesses_along(closed_ranges(end)):
            # One that was the same as another has been packed.
            load = access.op
            if not isinstance(load, tg.LoadOp) or load.parent is None:
                continue
            is_inside = axes.open[load] & axes.ends.keys() <= {*closed_ranges(end), *axes.open[end]}
            if not is_inside or not is_stageable(nests, load):
                continue
            loop = loop_of_copy(nests, access, end)
            around = loop_outside(nests, access, end)
            # A nest of one tile has no loop to copy it in.
            if loop is None and (around is None or not is_apart(access, vector)):
                continue
            memory = tg.memory_of(load.buffer).owner
            assert isinstance(memory, tg.ParamOp)
            if access.is_constant and loop is not None:
                attempt(axes, tg.OptOp.STAGE, memory.slot.data, loop.axis.data, "global")
                continue
            for at in filter(None, (around, loop)):
                made = made_by(axes, tg.OptOp.STAGE, memory.slot.data, at.axis.data, "local")
                if made is not None:
                    if is_apart(access, vector):
                        _transpose(axes, [axes[number] for number in made], nests.target)
                    break


def loop_of_copy(nests: Nests, access: StridedAccess, end: tg.EndOp) -> tg.RangeOp | None:
    """The loop of a tiled nest in which packing an operand pays, because loops inside it use the
    copy often enough; None if there is none. Packing a constant along which vectors lie always
    pays."""
    ranges = list(reversed(closed_ranges(end)))
    loops = loops_of(end)
    used = [i for i, r in enumerate(loops) if access.strides.get(r, 0) != 0]
    # A constant is packed by a kernel of its own, once.
    if access.is_constant and access.strides.get(vector := _lanes(nests, end), 0) != 0:
        if _is_in_order(nests, access, loops):
            return None
        return loops[used[-1]] if used else vector
    # Other operands are copied in the innermost loop that they depend on, or before the rows that
    # use all that a thread packs.
    if not used:
        return None  # There is no loop to copy it in.
    around = 0 if _is_part(nests, access, loops, used) else used[-1]
    uses = math.prod(nests.extent(r) for r in loops[around + 1 :])
    outside = {*loops[: around + 1], *nests.axes.open[end]}
    inside = {r: s for r, s in access.strides.items() if r not in outside and s != 0}
    if math.prod(nests.extent(r) for r in inside) * access.itemsize > nests.target.copied:
        return None
    # Lanes that are apart: the copy is transposed.
    if is_apart(access, _lanes(nests, end)):
        in_squares = any(
            s == 1 for r, s in inside.items() if r.axis_type.data is tg.AxisType.REDUCE
        )
        return loops[around] if in_squares or uses >= MIN_APART else None
    # Others: the copy saves TLB misses, or strided loads of vectors in a reduction over many rows.
    # Elements that are the same for all lanes are loaded as quickly from where they are.
    pages = math.prod(nests.pages(access, r) for r in inside)
    rows = uses * math.prod(nests.extent(r) for r in ranges if r not in (*loops, *inside))
    is_vector = access.strides.get(_lanes(nests, end), 0) != 0
    in_steps = any(r.axis_type.data is tg.AxisType.REDUCE for r in inside)
    pays = pages > nests.target.tlb_pages or (is_vector and in_steps and rows >= MANY_ROWS)
    return loops[around] if pays and uses >= MIN_REUSE else None


def _is_part(
    nests: Nests, access: StridedAccess, loops: Sequence[tg.RangeOp], used: Sequence[int]
) -> bool:
    """Whether threads have neighbouring parts of an operand, and use all of theirs again in each
    iteration of the loop inside (`order_loops`)."""
    if len(used) != 2 or used[0] or used[1] < 2:
        return False
    thread, along = (loops[i] for i in used)
    parts = nests.extent(along) * (access.strides[along] or 0)
    return thread.axis_type.data is tg.AxisType.THREAD and access.strides[thread] == parts


def _lanes(nests: Nests, end: tg.EndOp) -> tg.RangeOp:
    """The range that the vectors of a tiled nest lie along, which may be one of its reduction."""
    tile = {*closed_ranges(end)}
    reduces = [r for r in nests.closers if isinstance(r, tg.ReduceOp) and tile & nests.axes.open[r]]
    steps = (range for reduce in reduces for range in closed_ranges(reduce))
    along = (range for range in steps if range.axis_type.data is tg.AxisType.GROUP_REDUCE)
    return next(along, vector_of(end))


def _is_in_order(nests: Nests, access: StridedAccess, loops: Sequence[tg.RangeOp]) -> bool:
    """Whether an operand is already in packed order: loops, then steps, then the tile."""
    ranges = [r for r, stride in access.strides.items() if stride != 0 and r not in loops]
    ranges.sort(key=lambda r: is_expanded(r) and r.axis_type.data is not tg.AxisType.UNROLL)
    step = 1
    for range in reversed([*(r for r in loops if access.strides.get(r, 0) != 0), *ranges]):
        if access.strides[range] != step:
            return False
        step *= nests.extent(range)
    return True


def _transpose(axes: Axes, copy: Sequence[tg.RangeOp], target: Target) -> None:
    """Transpose in the loop that copies: load whole columns, and transpose squares in registers."""
    if len(copy) < 2:
        return
    *_, along, vector = copy
    lanes = target.lanes(min(tg.dtype_of(load.buffer).itemsize for load in axes.reads(vector)))
    width, axis = axes.extent(vector), vector.axis.data
    if width > lanes and width % lanes == 0:
        attempt(axes, tg.OptOp.SPLIT, axis, width // lanes, tg.AxisType.LOOP, "top")
        vector = axes[axis]
    if along.axis_type.data is tg.AxisType.LOOP:
        height = min(lanes, axes.extent(along))
        where = ("overlap",) if axes.extent(along) % height else ()
        which = opt(tg.OptOp.SPLIT, along.axis.data, height, tg.AxisType.UPCAST.value, *where)
        if (part := split_off(axes, which)) is not None:
            nest_parts(axes, [part, vector])


# -- blocked reductions ----------------------------------------------------------------------------


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
                    nests = Nests.of(axes, nests.target)  # The kernel has changed.
                    break


def _over_pages(nests: Nests, access: StridedAccess) -> tg.RangeOp | None:
    """The range of a REDUCE along which an operand is spread over more pages than the TLB holds."""
    for range in access.strides:
        is_reduced = range.axis_type.data is tg.AxisType.REDUCE and range not in nests.axes.ends
        if is_reduced and nests.pages(access, range) > nests.target.tlb_pages:
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
    is_shared = copied is not None and copied.axis_type.data is tg.AxisType.THREAD
    if is_shared or (copied is not None and column <= nests.target.l1):
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
    is_split = attempt(axes, tg.OptOp.SPLIT, over.axis.data, steps, tg.AxisType.REDUCE)
    return is_split and attempt(axes, tg.OptOp.ORDER, over.axis.data, *numbers)
