"""What is left around a tile: the order of the loops, packing what they use again, threads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tgdialect.analysis.memory_order import memory_of
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.expand.tile import EXPANDED
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.merging import mergeable
from tgdialect.lowering.optimize.nests import Access, Nests
from tgdialect.lowering.optimize.opts import divisors, may_split, opt, try_opt
from tgdialect.lowering.optimize.tiles import nest_parts, split_off
from tgdialect.lowering.optimize.vectors import (
    MIN_REUSE,
    is_apart,
    is_expandable,
    is_stageable,
)
from tgdialect.ops.attributes import AxisType, OptAttr, OptOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import dtype_of, known_index
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ParamOp
from tgdialect.targets import Target

LINE_COST = 4
"""How many times as long it takes to load what is apart along a tile: whole lines for parts."""

MAX_IMBALANCE, MOST_CHUNKS = 1.03, 64
"""How much longer threads may take because their chunks cannot be divided evenly, and into how many
chunks for each of them iterations are divided at most so that they can."""

MANY_ROWS = 128
"""How many rows of results a tile is loaded for, again in each step of a reduction, for a copy to
be worth while that is next to nothing but aligned vectors."""

BLOCKED_ROWS = 256
"""For up to how many rows of results reductions are done in blocks: more make up for what it takes
to go through an operand by columns once."""

PACKED_BLOCK = 4
"""How many times the steps of another block one has that is packed: it follows one page at a time,
and there are fewer passes over the results."""

CACHE_PARTS = 4
"""L2 is thought to be divided into so many parts, one of them for results."""

ROWS_AT_ONCE, CHAIN_OPS = 2, 16
"""How many rows a loop goes through at once whose steps wait for each other, and how many ops it
has at most: of more some can be done meanwhile."""

MIN_APART = 2
"""As `MIN_REUSE`, where the lanes of a vector are apart."""


def split_loops(axes: Axes) -> None:
    """Make a loop for each digit of a number that indices take apart: what is next to what in
    memory is not seen through divisions."""
    while any(try_opt(axes, which) for which in _digits(axes)):
        pass


def _digits(axes: Axes) -> Iterator[OptAttr]:
    """The SPLITs that leave fewer divisions."""
    for axis, range in axes.ranges.items():
        if not (found := divisors(range)) or (extent := known_index(range.bound)) is None:
            continue
        least = min(found)
        if 1 < least < extent and not any(each % least for each in (*found, extent)):
            yield opt(OptOp.SPLIT, axis, least, range.axis_type.data.value)


def merge_loops(axes: Axes) -> None:
    """Make one loop of each two that go through memory as one would."""
    tried: set[tuple[int, int]] = set()
    while (pair := next((p for p in mergeable(axes) if p not in tried), None)) is not None:
        tried.add(pair)
        try_opt(axes, opt(OptOp.MERGE, *pair))


def order_loops(nests: Nests) -> None:
    """Have those loops of a tiled nest inside whose iterations use most of what is in the cache
    again, or else of what is next to what was loaded before. Where a tile stores more than it loads
    they stay in the order of what it stores."""
    axes = nests.axes
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, EndOp):
            continue
        loops = [r for r in reversed(closed_ranges(end)) if r.axis_type.data not in EXPANDED]
        if len(loops) < 2 or not _is_tiled(end):
            continue
        reduces = [op for op in axes.ops if isinstance(op, ReduceOp)]
        vector = _vector(end)
        if any(set(loops) <= axes.open[op] for op in reduces):
            loaded = {r: _loaded_anew(nests, r, vector) for r in loops}
            if max(loaded.values()) <= _stored(nests, end):
                continue
            order = sorted(loops, key=lambda r: -loaded[r])
        elif not reduces and any(is_apart(a, vector) for a in nests.accesses):
            order = sorted(loops, key=lambda r: -_step(nests, r))
        else:
            continue
        if order != loops:
            try_opt(axes, opt(OptOp.ORDER, *(r.axis.data for r in order)))


def interleave_scans(nests: Nests) -> None:
    """Go through two rows at once where each step in a row waits for the one before."""
    axes = nests.axes
    for end in dict.fromkeys(axes.ends.values()):
        step, *loops = closed_ranges(end)
        if not loops or any(r.axis_type.data in EXPANDED for r in (step, *loops)):
            continue
        row = loops[0]
        is_scan = nests.extent(step) >= ROWS_AT_ONCE and not is_expandable(axes, step)
        if not is_scan or nests.extent(row) % ROWS_AT_ONCE or not is_expandable(axes, row):
            continue
        if sum(row in nests.around(op) for op in nests.work) <= CHAIN_OPS:
            which = opt(OptOp.SPLIT, row.axis.data, ROWS_AT_ONCE, AxisType.UPCAST.value)
            try_opt(axes, which)


def block_reductions(nests: Nests, target: Target) -> None:
    """Do reductions that go down many pages for few results in blocks: the steps of a block for all
    results before those of the next, so that all of a page that is needed is read in one go."""
    axes = nests.axes
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, EndOp) or not _is_tiled(end):
            continue
        vector = _vector(end)
        for access in nests.accesses:
            is_load = isinstance(access.op, LoadOp) and not access.is_constant
            if is_load and access.strides.get(vector) == 1:
                over = _over_pages(nests, access, target)
                if over is not None and _block(nests, access, over, end, target):
                    break


def _over_pages(nests: Nests, access: Access, target: Target) -> RangeOp | None:
    """The range of a REDUCE that takes an operand from one page to others, again and again."""
    for range, stride in access.strides.items():
        is_reduced = range.axis_type.data is AxisType.REDUCE and range not in nests.axes.ends
        pages = _pages(nests.extent(range), stride, access.itemsize, target)
        if is_reduced and pages > target.tlb_pages:
            return range
    return None


def _block(nests: Nests, access: Access, over: RangeOp, end: EndOp, target: Target) -> bool:
    """Do a reduction that an operand is loaded for in blocks, if that pays. Whether it does."""
    axes, strides = nests.axes, access.strides
    ranges = list(reversed(closed_ranges(end)))
    loops = [r for r in ranges if r.axis_type.data not in EXPANDED]
    beside = [i for i, r in enumerate(loops) if strides.get(r) == nests.extent(_vector(end))]
    if not beside or loops[beside[0]].axis_type.data is AxisType.THREAD:
        return False
    along, inside = loops[beside[0]], loops[beside[0] + 1 :]
    results = [r for r in ranges if r in inside or r.axis_type.data in EXPANDED]
    rows = math.prod(nests.extent(r) for r in results if strides.get(r, 0) == 0)
    is_packed = _loop_of_copy(nests, access, end, target) is not None
    column = nests.extent(over) * nests.extent(_vector(end)) * access.itemsize
    if is_packed and column <= target.packed_block:
        return False
    most = target.page_streams * (PACKED_BLOCK if is_packed else 1)
    steps = _divisor(nests.extent(over), most)
    # The results of a block are to stay in L2, with the block and all else.
    row = math.prod(map(nests.extent, results)) * access.itemsize
    fitting = min(target.l2 // CACHE_PARTS // row, nests.extent(along))
    width = _divisor(nests.extent(along), fitting)
    if rows > BLOCKED_ROWS or 2 * steps < most or fitting == 0 or 2 * width < fitting:
        return False
    numbers = [r.axis.data for r in (along, *inside)]
    if width < nests.extent(along):
        kind = along.axis_type.data.value
        numbers[0] = max(axes.ranges) + 1
        if not try_opt(axes, opt(OptOp.SPLIT, along.axis.data, width, kind)):
            return False
    return try_opt(
        axes, opt(OptOp.SPLIT, over.axis.data, steps, AxisType.REDUCE.value)
    ) and try_opt(axes, opt(OptOp.ORDER, over.axis.data, *numbers))


def _divisor(extent: int, most: int) -> int:
    """The largest number of parts, up to `most`, that an extent is made of; 0 if there is none."""
    return next((n for n in range(min(extent, most), 0, -1) if extent % n == 0), 0)


def pack_tiles(nests: Nests, target: Target) -> None:
    """Put together what loops load again in every iteration, where that pays."""
    axes = nests.axes
    for end in dict.fromkeys(axes.ends.values()):
        if not _is_tiled(end):
            continue
        vector = _vector(end)
        for access in nests.accesses_along(closed_ranges(end)):
            if not isinstance(load := access.op, LoadOp):
                continue
            if load.parent is None:
                continue  # It was the same as another, which has been packed.
            if not is_stageable(nests, load):
                continue
            loops = axes.open[load] & axes.ends.keys()
            if not loops <= {*closed_ranges(end), *axes.open[end]}:
                continue  # It is in another nest.
            if (loop := _loop_of_copy(nests, access, end, target)) is None:
                continue
            memory = memory_of(load.buffer).owner
            assert isinstance(memory, ParamOp)
            if access.is_constant:
                try_opt(axes, opt(OptOp.STAGE, memory.slot.data, loop.axis.data, "global"))
                continue
            before = set(axes.ranges.values())
            which = opt(OptOp.STAGE, memory.slot.data, loop.axis.data, "local")
            if try_opt(axes, which) and is_apart(access, vector):
                _transpose(axes, [r for r in axes.ranges.values() if r not in before], target)


def _loop_of_copy(nests: Nests, access: Access, end: EndOp, target: Target) -> RangeOp | None:
    """The loop of a tiled nest in which a copy of what it loads pays: where loops inside it use
    that often enough; None if there is none. Of constants it always does, if vectors lie there."""
    ranges = list(reversed(closed_ranges(end)))
    loops = [r for r in ranges if r.axis_type.data not in EXPANDED]
    used = [i for i, r in enumerate(loops) if access.strides.get(r, 0) != 0]
    if access.is_constant and access.strides.get(vector := _vector(end), 0) != 0:
        return None if _is_in_order(nests, access, loops) else loops[used[-1]] if used else vector
    if not used:
        return None  # There is no loop to copy it in.
    around = used[-1]
    uses = math.prod(nests.extent(r) for r in loops[around + 1 :])
    inside = {r: s for r, s in access.strides.items() if r not in loops and s != 0}
    if math.prod(nests.extent(r) for r in inside) * access.itemsize > target.l2:
        return None
    if is_apart(access, _vector(end)):
        in_squares = any(r.axis_type.data is AxisType.REDUCE and s == 1 for r, s in inside.items())
        return loops[around] if in_squares or uses >= MIN_APART else None
    pages = math.prod(
        _pages(nests.extent(r), s, access.itemsize, target) for r, s in inside.items()
    )
    rows = uses * math.prod(nests.extent(r) for r in ranges if r not in (*loops, *inside))
    in_steps = any(r.axis_type.data is AxisType.REDUCE for r in inside)
    pays = pages > target.tlb_pages or (in_steps and rows >= MANY_ROWS)
    return loops[around] if pays and uses >= MIN_REUSE else None


def _is_in_order(nests: Nests, access: Access, loops: Sequence[RangeOp]) -> bool:
    """Whether memory is already as a kernel goes through it: loops, then steps, then the tile."""
    ranges = [r for r, stride in access.strides.items() if stride != 0 and r not in loops]
    ranges.sort(key=lambda r: r.axis_type.data in EXPANDED)
    step = 1
    for range in reversed([*(r for r in loops if access.strides.get(r, 0) != 0), *ranges]):
        if access.strides[range] != step:
            return False
        step *= nests.extent(range)
    return True


def _pages(extent: int, stride: int | None, itemsize: int, target: Target) -> float:
    """Over how many pages the iterations of a range are spread."""
    apart = target.page if stride is None else min(abs(stride) * itemsize, target.page)
    return max(1.0, extent * apart / target.page)


def _transpose(axes: Axes, copy: Sequence[RangeOp], target: Target) -> None:
    """Have a loop that copies columns load them whole, and exchange rows and columns in squares."""
    if len(copy) < 2:
        return
    *_, along, vector = copy
    lanes = target.lanes(min(dtype_of(load.buffer).itemsize for load in axes.reads(vector)))
    width, axis = axes.extent(vector), vector.axis.data
    if width > lanes and width % lanes == 0:
        try_opt(axes, opt(OptOp.SPLIT, axis, width // lanes, AxisType.LOOP.value, "top"))
        vector = axes[axis]
    if along.axis_type.data is AxisType.LOOP:
        height = min(lanes, axes.extent(along))
        how = ("overlap",) if axes.extent(along) % height else ()
        which = opt(OptOp.SPLIT, along.axis.data, height, AxisType.UPCAST.value, *how)
        if (part := split_off(axes, which)) is not None:
            nest_parts(axes, [part, vector])


def _is_tiled(end: EndOp) -> bool:
    return any(r.axis_type.data is AxisType.UPCAST for r in closed_ranges(end))


def _vector(end: EndOp) -> RangeOp:
    """The part that the vectors of a tiled nest lie along."""
    return next(r for r in closed_ranges(end) if r.axis_type.data is AxisType.UPCAST)


def _loaded_anew(nests: Nests, range: RangeOp, vector: RangeOp) -> float:
    """The bytes that each iteration of a loop loads and the one before has not."""
    total = 0.0
    for access in nests.accesses:
        if isinstance(access.op, LoadOp) and access.strides.get(range, 0) != 0:
            inner = [
                r
                for r, stride in access.strides.items()
                if stride != 0
                and (r.axis_type.data in EXPANDED or r.axis_type.data is AxisType.REDUCE)
            ]
            cells = math.prod(nests.extent(r) for r in inner)
            lines = LINE_COST if is_apart(access, vector) else 1
            total += cells * access.itemsize * lines
    return total


def _stored(nests: Nests, end: EndOp) -> int:
    """The bytes that each tile of a nest stores."""
    tile = math.prod(nests.extent(r) for r in closed_ranges(end) if r.axis_type.data in EXPANDED)
    stores = nests.axes.stores(closed_ranges(end)[0])
    return tile * sum(dtype_of(store.buffer).itemsize for store in stores)


def _step(nests: Nests, range: RangeOp) -> int:
    """How far each iteration of a loop goes in what it loads."""
    steps = (a.strides.get(range, 0) for a in nests.accesses if isinstance(a.op, LoadOp))
    return sum(abs(step or 0) for step in steps)


def share_among_threads(nests: Nests, target: Target) -> None:
    """Share the iterations of a loop among the threads: the outermost that can be divided well."""
    axes, threads = nests.axes, target.threads
    candidates: list[tuple[float, int, RangeOp, int]] = []
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, EndOp):
            continue
        loops = [r for r in reversed(closed_ranges(end)) if r.axis_type.data is AxisType.GLOBAL]
        for depth, range in enumerate(loops):
            extent = known_index(range.bound)
            if extent is None or extent < 2:
                continue
            if not may_split(axes, range, AxisType.THREAD, top=True):
                continue
            is_inner = any(nests.extent(r) > 1 for r in loops[:depth])
            # Each chunk of an inner loop goes through those around it: it is one for each thread.
            fewest = threads if is_inner else 2 * threads
            prefer_equal = not (is_inner or _is_dense(nests, range, target))
            chunks = _chunks(extent, threads, fewest, prefer_equal=prefer_equal)
            candidates.append((_imbalance(extent, chunks, threads), depth, range, chunks))
    if not candidates:
        return
    _, _, range, chunks = min(candidates, key=lambda c: (max(c[0], MAX_IMBALANCE), c[1]))
    axis, extent = range.axis.data, nests.extent(range)
    if extent % chunks and not try_opt(axes, opt(OptOp.PADTO, axis, chunks, "clamp")):
        chunks = extent
    try_opt(axes, opt(OptOp.SPLIT, axis, chunks, AxisType.THREAD.value, "top"))


def _is_dense(nests: Nests, range: RangeOp, target: Target) -> bool:
    """Whether a loop stores several times in a cache line, which threads take from each other where
    their chunks meet."""
    return any(
        0 < abs(access.strides.get(range) or 0) * access.itemsize < target.cache_line
        for access in nests.accesses
        if isinstance(access.op, StoreOp)
    )


def _chunks(extent: int, threads: int, fewest: int, *, prefer_equal: bool) -> int:
    """Into how many chunks iterations are divided, so that threads get as many of them: as few as
    can be. The last one is padded if they are not equal, which can be preferred."""
    counts = range(fewest, min(extent, MOST_CHUNKS * threads) + 1)
    times = {count: _imbalance(extent, count, threads) for count in counts}
    most = max(MAX_IMBALANCE, min(times.values(), default=math.inf))
    good = [count for count, time in times.items() if time <= most]
    equal = (count for count in good if prefer_equal and extent % count == 0)
    return next(iter((*equal, *good)), extent)


def _imbalance(extent: int, chunks: int, threads: int) -> float:
    """How many times as long the thread with most iterations takes as all would on average, if as
    many as the chunks have are the same for all."""
    return -(-chunks // threads) * threads * -(-extent // chunks) / extent
