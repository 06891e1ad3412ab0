"""The loop whose iterations threads share, and into how many chunks it is divided."""

from __future__ import annotations

import math

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.cpu.loops import has_less_in_common
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index

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
        for depth, range in enumerate(loops):
            extent = known_index(range.bound)
            if extent is None or extent < 2 or shared not in (None, range):
                continue
            if not may_split(axes, range, tg.AxisType.THREAD, top=True):
                continue
            is_inner = any(nests.extent(r) > 1 for r in loops[:depth])
            # Each chunk of an inner loop goes through those around it: it is one for each thread.
            fewest = threads if is_inner else 2 * threads
            prefer_equal = not (is_inner or _is_dense(nests, range))
            chunks = _chunks(extent, threads, fewest, prefer_equal=prefer_equal)
            candidates.append((_imbalance(extent, chunks, threads), depth, range, chunks))
    if not candidates:
        return
    _, _, range, chunks = min(candidates, key=lambda c: (max(c[0], MAX_IMBALANCE), c[1]))
    for imbalance, _, other, number in candidates:
        if imbalance <= MAX_IMBALANCE and has_less_in_common(nests, other, range):
            range, chunks = other, number
    axis, extent = range.axis.data, nests.extent(range)
    if extent % chunks and not attempt(axes, tg.OptOp.PADTO, axis, chunks, "clamp"):
        chunks = extent
    attempt(axes, tg.OptOp.SPLIT, axis, chunks, tg.AxisType.THREAD, "top")


def _is_dense(nests: Nests, range: tg.RangeOp) -> bool:
    """Whether a loop stores several times in a cache line, so that threads would share the line
    where their chunks meet (false sharing)."""
    return any(
        0 < abs(access.strides.get(range) or 0) * access.itemsize < nests.target.cache_line
        for access in nests.accesses
        if isinstance(access.op, tg.StoreOp)
    )


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
