"""The loops around a register tile: how many there are, and in which order they nest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.cpu.vectors import (
    is_apart,
    is_expandable,
    is_stageable,
    is_tiled,
    vector_of,
)
from tgdialect.lowering.optimize.nests import Nests, StridedAccess
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED

LINE_COST = 4
"""The factor by which a load with a stride along the vector costs more, as it reads a cache line
for each element. It decides which loop is outermost. Larger: such loads are kept together at the
expense of others; it is less than elements per line, because some of the line is used while it is
in L1. From timing."""

L2_PART = 0.5
"""The part of L2 that constant weights may fill so that blocks of rows are outermost. Larger: each
block loads all weights again from L2, with no room for rows and results; smaller: results are not
stored in order. From timing on a core whose L2 has 2 MiB: pointwise convolutions are 1.1 to 1.8
times as fast with weights of 6 KiB to 1 MiB, and 0.5 to 0.7 times with 2 MiB; with 1.1 MiB products
of 128 and 160 rows take up to 1.2 times as long, those of 784 rows 0.93 of the time."""

OWN_PART = 0.6
"""The same part for the columns of an operand that each thread packs for itself (`_kept_part`),
where a thread has at least `KEPT_ROWS` rows to use them for. From timing products on two such
cores: 1.04 to 1.3 times as fast with 0.5 to 1.2 MiB for a thread, 0.8 times with 2 MiB."""

KEPT_ROWS = 256
"""The fewest rows of results for which each thread packs its part of an operand before all rows.
Smaller: a tile of few rows loads it from L2, while a column that is packed alone is in L1 for the
first tile; larger: results are not stored in order. From timing products: those of 256 to 2000 rows
take 0.76 to 1.0 of the time, those of 128 and 197 rows 1.06."""

COMMON_PART = 2
"""Share the other loop when this one makes the threads load COMMON_PART times as many bytes in
common. Smaller: an operand is packed by each thread, since a loop inside packs for itself; larger:
half of the common bytes come from the L2 of another core. From timing explicit schedules of
convolutions on two threads: with 6 and 12 times as many, sharing the other loop took 0.8 to 0.9 of
the time, with 1.6 times as many 1.0 to 1.08."""

LOADED_AGAIN = 4
"""Store results in order if an operand that is not packed then makes a tile load at most
LOADED_AGAIN times the bytes that it stores from L2. Larger: more results are stored in order;
smaller: fewer loads are repeated. From timing products of 8 to 64 steps that store 8 to 16 MB: 0.65
of the time where a tile loads 3.4 times as many bytes (17 steps), 1.0 to 1.2 times with 6.4 and 13
times as many (32 and 64 steps)."""

ROWS_AT_ONCE, CHAIN_OPS = 2, 16
"""The rows of a scan that run at once, and the most ops of a step for that. More rows: work while
steps wait for the one before, in more registers; with more ops in a step there is other work
anyway."""


def order_reductions(nests: Nests, vectors: Sequence[tg.RangeOp]) -> bool:
    """Order the loops of each reduction: the one whose steps are farthest apart in memory is
    outermost, so that the steps of the inner ones load from the same cache lines and pages. In a
    convolution with vectors along its channels these are the columns of a window. Operands whose
    lanes are apart do not count: they are packed. Returns whether a loop has moved."""
    axes, along = nests.axes, set(vectors)
    has_moved = False
    for reduce in nests.closers:
        loops = closed_ranges(reduce)
        # Nests in one of the loops would run more often in another order.
        if isinstance(reduce, tg.EndOp) or len(reduce.ranges) < 2:
            continue
        if any({*nests.closers_in.get(loop, ())} - {reduce} for loop in loops):
            continue
        moved = [a for a in nests.accesses_along(loops) if isinstance(a.op, tg.LoadOp)]
        loads = [a for a in moved if not any(is_apart(a, r) for r in along & a.strides.keys())]
        step = {r: sum(access.apart(r, nests.target.page) for access in loads) for r in loops}
        order = sorted(loops, key=step.__getitem__, reverse=True)
        if order != list(loops):
            has_moved |= attempt(axes, tg.OptOp.ORDER, *(r.axis.data for r in order))
    return has_moved


def order_loops(nests: Nests, threads: int) -> tg.RangeOp | None:
    """Order the loops around the tiles: around a reduction, the loop whose iterations reload most
    is outermost. If an operand is streamed, since no loop uses its elements again, or without a
    reduction if the tile has strided accesses, the loop with the largest stride is. Loops stay in
    the order of the STOREs if a tile stores more than it loads, or if L2 keeps what the outermost
    loads again and this is packed or little. Those around a nest inside, which fills a LOCAL
    buffer, stay outside of the others. Returns the loop that `threads` have to share so that L2
    keeps what each of them packs; None if they may share any loop."""
    axes, shared = nests.axes, None
    ends = dict.fromkeys(axes.ends.values())
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, tg.EndOp):
            continue
        loops = loops_of(end)
        if len(loops) < 2 or not is_tiled(end):
            continue
        vector = vector_of(end)
        if any(set(loops) <= axes.open[op] for op in nests.reductions_along.get(loops[0], ())):
            loaded = {r: _loaded_anew(nests, r, vector) for r in loops}
            most, stored = max(loaded.values()), _stored(nests, end)
            if most <= stored or _is_kept(nests, loops, packed=most > LOADED_AGAIN * stored):
                continue
            # Threads share one loop of a kernel.
            if shared is None and (shared := _kept_part(nests, end, threads)) is not None:
                continue
            filling = {r for other in ends if other is not end for r in axes.open[other]}
            streamed = _streamed(nests, loops, vector)
            far = loaded if streamed is None else {r: abs(streamed[r] or 0) for r in loops}
            order = sorted(loops, key=lambda r: (r not in filling, -far[r]))
        elif not axes.reductions and any(is_apart(a, vector) for a in nests.accesses):
            order = sorted(loops, key=lambda r: -_step(nests, r))
        else:
            continue
        if order != loops:
            attempt(axes, tg.OptOp.ORDER, *(r.axis.data for r in order))
    return shared


def interleave_scans(nests: Nests) -> None:
    """Interleave rows of a scan, in which each step waits for the one before."""
    axes = nests.axes
    for end in dict.fromkeys(axes.ends.values()):
        step, *loops = closed_ranges(end)
        if not loops or any(is_expanded(r) for r in (step, *loops)):
            continue
        row = loops[0]
        is_scan = nests.extent(step) >= ROWS_AT_ONCE and not is_expandable(axes, step)
        if not is_scan or nests.extent(row) % ROWS_AT_ONCE or not is_expandable(axes, row):
            continue
        if len(nests.work_around.get(row, ())) <= CHAIN_OPS:
            attempt(axes, tg.OptOp.SPLIT, row.axis.data, ROWS_AT_ONCE, tg.AxisType.UPCAST)


def _loaded_anew(nests: Nests, range: tg.RangeOp, vector: tg.RangeOp) -> float:
    """The bytes that an iteration of a loop loads and the iteration before did not."""
    total = 0.0
    for access in nests.accesses_along([range]):
        if isinstance(access.op, tg.LoadOp):
            moved = [r for r, stride in access.strides.items() if stride != 0]
            kinds = {*EXPANDED, tg.AxisType.REDUCE}
            cells = math.prod(nests.extent(r) for r in moved if r.axis_type.data in kinds)
            lines = LINE_COST if is_apart(access, vector) else 1
            total += cells * access.itemsize * lines
    return total


def _streamed(
    nests: Nests, loops: Sequence[tg.RangeOp], vector: tg.RangeOp
) -> Mapping[tg.RangeOp, int | None] | None:
    """The strides of a LOAD of vectors that a reduction makes and that depends on all loops around
    it, as the image of a depthwise convolution. An operand of the epilogue is loaded once for all
    steps, and counts for nothing."""
    for access in nests.accesses_along([vector]):
        is_load = isinstance(access.op, tg.LoadOp) and access.strides.get(vector) in (1, -1)
        is_in_steps = any(r not in nests.axes.ends for r in nests.around(access.op))
        if is_load and is_in_steps and all(access.strides.get(r, 0) for r in loops):
            return access.strides
    return None


def _is_kept(nests: Nests, loops: Sequence[tg.RangeOp], *, packed: bool) -> bool:
    """Whether L2 keeps what the steps of a reduction load again in each iteration of the outermost
    loop, and, if that has to be `packed`, all of it is packed before, since it is constant."""
    again = _loaded_again(nests, loops[0])
    is_packed = all(access.is_constant for access in again)
    return (is_packed or not packed) and 0 < _bytes(nests, again) <= L2_PART * nests.target.l2


def _kept_part(nests: Nests, end: tg.EndOp, threads: int) -> tg.RangeOp | None:
    """The loop that `threads` share evenly so that L2 keeps the part of an operand that each thread
    loads again in each iteration of the outermost loop. `pack_tiles` packs it once, before that
    loop."""
    outermost, *inner = loops_of(end)
    again = _loaded_again(nests, outermost)
    if threads < 2 or len(again) != 1 or again[0].is_constant:
        return None
    (access,) = again
    along = [r for r in inner if access.strides.get(r, 0) != 0]
    if len(along) != 1 or not access.strides[along[0]]:
        return None
    if not may_split(nests.axes, along[0], tg.AxisType.THREAD, top=True):
        return None
    assert isinstance(access.op, tg.LoadOp)
    rows = [nests.extent(r) for r in closed_ranges(end) if access.strides.get(r, 0) == 0]
    if math.prod(rows) < KEPT_ROWS or not is_stageable(nests, access.op):
        return None
    bytes, tiles = _bytes(nests, again), nests.extent(along[0])
    # A column that fits into L1 comes from there for all rows, if it is packed alone.
    is_long = bytes > tiles * nests.target.l1
    is_kept = bytes <= threads * min(OWN_PART * nests.target.l2, nests.target.copied)
    if has_less_in_common(nests, outermost, along[0]):
        return None
    return along[0] if is_long and is_kept and tiles % threads == 0 else None


def has_less_in_common(nests: Nests, range: tg.RangeOp, other: tg.RangeOp) -> bool:
    """Whether threads that share one loop load much less that others load as well than if they
    share another loop."""
    return COMMON_PART * _in_common(nests, range) < _in_common(nests, other)


def _in_common(nests: Nests, range: tg.RangeOp) -> int:
    """The bytes that the steps of a reduction load in all threads that share a loop, without
    constants that each L2 keeps."""
    again = _loaded_again(nests, range)
    constant = [access for access in again if access.is_constant]
    kept = _bytes(nests, constant)
    return _bytes(nests, again) - (kept if kept <= L2_PART * nests.target.l2 else 0)


def _loaded_again(nests: Nests, loop: tg.RangeOp) -> Sequence[StridedAccess]:
    """The operands that the steps of a reduction load again in each iteration of a loop."""
    again = [access for access in nests.loads if access.strides.get(loop, 0) == 0]
    steps = {range for range in nests.axes.ranges.values() if range not in nests.axes.ends}
    return [a for a in again if any(s != 0 and r in steps for r, s in a.strides.items())]


def _bytes(nests: Nests, accesses: Sequence[StridedAccess]) -> int:
    """The bytes that LOADs load in all iterations together. Windows that overlap load cells once:
    there are no more of them than from the first to the last."""
    total = 0
    for access in accesses:
        moved = [(nests.extent(r), stride) for r, stride in access.strides.items() if stride != 0]
        cells = math.prod(extent for extent, _ in moved)
        reach = [abs(stride) * (extent - 1) for extent, stride in moved if stride is not None]
        if len(reach) == len(moved):
            cells = min(cells, 1 + sum(reach))
        total += cells * access.itemsize
    return total


def _stored(nests: Nests, end: tg.EndOp) -> int:
    """The bytes that a tile of a nest stores."""
    tile = math.prod(nests.extent(r) for r in closed_ranges(end) if is_expanded(r))
    stores = nests.axes.stores(closed_ranges(end)[0])
    return tile * sum(tg.dtype_of(store.buffer).itemsize for store in stores)


def _step(nests: Nests, range: tg.RangeOp) -> int:
    """The sum of the strides of all LOADs along a loop."""
    loads = (a for a in nests.accesses_along([range]) if isinstance(a.op, tg.LoadOp))
    return sum(abs(load.strides[range] or 0) for load in loads)


# -- threads ---------------------------------------------------------------------------------------


MAX_IMBALANCE = 1.03
"""The greatest accepted ratio of the slowest thread's iterations to the average. Larger: threads
wait for one another; smaller: more and shorter chunks."""

MOST_CHUNKS = 64
"""The most chunks per thread that are tried to balance the load. Larger: chunks so short that
taking them counts; smaller: less balance."""


def share_among_threads(nests: Nests, shared: tg.RangeOp | None = None) -> None:
    """Share the iterations of a loop among the threads: `shared`, or else the outermost that can be
    divided well."""
    axes, threads = nests.axes, nests.target.threads
    candidates: list[tuple[float, int, tg.RangeOp, int]] = []
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, tg.EndOp):
            continue
        loops = [r for r in reversed(closed_ranges(end)) if r.axis_type.data is tg.AxisType.GLOBAL]
        dynamic = [r for r in loops if tg.known_index(r.bound) is None]
        # Of several dynamic extents, the first is that of a batch, often 1.
        batch = dynamic[0] if len(dynamic) > 1 else None
        for depth, range in enumerate(loops):
            extent = nests.extent(range)
            if extent < 2 or shared not in (None, range) or range is batch:
                continue
            if not may_split(axes, range, tg.AxisType.THREAD, top=True):
                continue
            is_inner = any(nests.extent(r) > 1 for r in loops[:depth])
            # Each chunk of an inner loop goes through those around it: it is one for each thread.
            fewest = threads if is_inner else 2 * threads
            prefer_equal = not (is_inner or _is_dense(nests, range))
            if range in dynamic:
                candidates.append((1.0, depth, range, fewest))  # Chunks are as equal as can be.
                continue
            chunks = _chunks(extent, threads, fewest, prefer_equal=prefer_equal)
            candidates.append((_imbalance(extent, chunks, threads), depth, range, chunks))
    if not candidates:
        return
    _, _, range, chunks = min(candidates, key=lambda c: (max(c[0], MAX_IMBALANCE), c[1]))
    for imbalance, _, other, number in candidates:
        if imbalance <= MAX_IMBALANCE and has_less_in_common(nests, other, range):
            range, chunks = other, number
    axis, extent = range.axis.data, tg.known_index(range.bound)
    if (
        extent is not None
        and extent % chunks
        and not attempt(axes, tg.OptOp.PADTO, axis, chunks, "clamp")
    ):
        chunks = extent
    attempt(axes, tg.OptOp.SPLIT, axis, chunks, tg.AxisType.THREAD, "top")


def _is_dense(nests: Nests, range: tg.RangeOp) -> bool:
    """Whether a loop stores several times in a cache line, so that threads would share the line
    where their chunks meet (false sharing)."""
    apart = [abs(a.strides.get(range) or 0) * a.itemsize for a in nests.stores]
    return any(0 < each < nests.target.cache_line for each in apart)


def _chunks(extent: int, threads: int, fewest: int, *, prefer_equal: bool) -> int:
    """The least number of chunks whose imbalance is accepted. With `prefer_equal`, a count that
    divides the extent is preferred; otherwise the last chunk is padded."""
    counts = range(fewest, min(extent, MOST_CHUNKS * threads) + 1)
    times = {count: _imbalance(extent, count, threads) for count in counts}
    most = max(MAX_IMBALANCE, min(times.values(), default=math.inf))
    good = [count for count, time in times.items() if time <= most]
    equal = (count for count in good if prefer_equal and extent % count == 0)
    return next(iter((*equal, *good)), extent)


def _imbalance(extent: int, chunks: int, threads: int) -> float:
    """The iterations of the slowest thread, padding included, divided by the average per thread."""
    return -(-chunks // threads) * threads * -(-extent // chunks) / extent
