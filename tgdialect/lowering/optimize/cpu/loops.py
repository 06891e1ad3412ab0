"""The loops around a register tile: their order, the one that threads share, and blocks of steps.

Each is the candidate of least cost (`analysis/cycles.py`), by what the tile computes and what moves
between caches in that order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tgdialect.analysis.cycles import ERROR
from tgdialect.analysis.features import Counter, Moved, Nest, Tiling
from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.cpu.copies import copies_of, copyable, in_order
from tgdialect.lowering.optimize.cpu.vectors import is_apart, is_expandable, is_tiled
from tgdialect.lowering.optimize.expected import tiling_of
from tgdialect.lowering.optimize.nests import Nests, part
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops import tg

CHUNK = 200
"""The cycles in which a thread takes the next chunk of a loop: an atomic addition and a call.
Larger: fewer chunks, which are balanced less. An order of magnitude."""


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


def interleave_scans(nests: Nests) -> None:
    """Interleave two rows of a scan, in which each step waits for the one before, if a step has too
    few ops to keep the ports busy meanwhile."""
    axes = nests.axes
    for end in dict.fromkeys(axes.ends.values()):
        step, *loops = closed_ranges(end)
        if not loops or any(is_expanded(r) for r in (step, *loops)):
            continue
        row = loops[0]
        if nests.extent(step) < 2 or is_expandable(axes, step):
            continue
        if nests.extent(row) % 2 or not is_expandable(axes, row):
            continue
        steps = sum(row in nests.around(op) for op in nests.work)
        if steps <= 2 * nests.target.mulaccs_in_flight:
            attempt(axes, tg.OptOp.SPLIT, row.axis.data, 2, tg.AxisType.UPCAST)


# -- the cost of the loops around a tile -----------------------------------------------------------


class Around:
    """The loops around the tile of a nest, and what they cost in some order."""

    def __init__(self, nests: Nests, end: tg.EndOp) -> None:
        self._nests, self.end = nests, end
        self.loops = [r.axis.data for r in loops_of(end)]
        """The axes of the loops, outermost first."""
        self._models: list[tuple[tg.EndOp | tg.ReduceOp, Nest, Tiling, Collection[int]]] = []
        for closer, nest in nests.models.items():
            if not nest.extents.keys().isdisjoint(self.loops):
                tiling = tiling_of(nests, closer)
                self._models.append((closer, nest, tiling, copyable(nests, closer, tiling)))
        self._known: dict[object, float] = {}

    def cycles(self, order: Sequence[int], shared: int | None = None, threads: int = 1) -> float:
        """The cycles of one of some threads that share a loop, with the loops in an order, and with
        copies where they pay."""
        total = 0.0
        for closer, nest, tiling, may in self._models:
            placed = iter([n for n in order if n in nest.extents])
            loops = tuple(next(placed) if n in self.loops else n for n in nest.order)
            part = shared if shared in nest.extents else None
            if (found := self._known.get(key := (closer, loops, part))) is None:
                made = replace(nest, order=loops)
                if part is not None:
                    made = _shared_by(threads, made, part)
                found, _ = copies_of(made, tiling, may, self._nests.target)
                self._known[key] = found
            total += found
        return total

    def orders(self) -> Iterator[Sequence[int]]:
        """The orders of the loops, that which they are in first. Loops around nests that are not in
        all of them stay outside of the others."""
        nests, ranges = self._nests, loops_of(self.end)
        partly = [nests.axes.open[c] for c, *_ in self._models if c is not self.end]
        outer = {r for open in partly if not open >= {*ranges} for r in open}
        fixed = [r.axis.data for r in ranges if r in outer or nests.extent(r) == 1]
        free = [r.axis.data for r in ranges if r.axis.data not in fixed]
        found = [free, free[::-1]]
        for each in free:
            others = [n for n in free if n != each]
            found += [[each, *others], [*others, each]]
        for order in dict.fromkeys(map(tuple, found)):
            yield [*fixed, *order]


def _shared_by(threads: int, nest: Nest, loop: int) -> Nest:
    """The part of a nest that one of some threads has, in a loop of its own outside of others."""
    part = max(nest.extents) + 1
    extents = {**nest.extents, part: 1, loop: -(-nest.extents[loop] // threads)}
    moved = [
        each._replace(strides={**each.strides, part: each.strides.get(loop, 0)})
        for each in nest.moved
    ]
    return replace(nest, order=[part, *nest.order], extents=extents, moved=moved)


class _Choice(NamedTuple):
    """How the loops around a tile are executed."""

    cycles: float
    """The cycles of the slowest thread."""
    order: Sequence[int]
    """The axes of the loops, outermost first."""
    shared: int | None = None
    """The axis of the loop that threads share, in `chunks`."""
    chunks: int = 1


def arrange_loops(nests: Nests, threads: int, *, is_ordered: bool = False) -> None:
    """Order the loops around each tile, which stay as they are with `is_ordered`, and share one
    loop of the kernel among threads."""
    axes, found = nests.axes, list[tuple[_Choice, _Choice]]()
    ends = [e.owner for e in axes.kernel.sink.effects if isinstance(e.owner, tg.EndOp)]
    for end in ends:
        around = Around(nests, end)
        orders = [around.loops] if is_ordered or not is_tiled(end) else [*around.orders()]
        alone = _least(_Choice(around.cycles(order), order) for order in orders)
        shared = _least(_shared(nests, around, [each.order for each in alone], threads))
        found.append((alone[0], next(iter(shared), alone[0])))
    # Threads share one loop of a kernel: that with which they save most.
    most = max(found, key=lambda each: each[0].cycles - each[1].cycles, default=None)
    for each in found:
        choice = each[each is most]
        loops = [n for n in choice.order if n in axes.ranges]
        if len(loops) > 1 and loops != [r.axis.data for r in loops_of(axes.ends[axes[loops[0]]])]:
            attempt(axes, tg.OptOp.ORDER, *loops)
        if (axis := choice.shared) is None:
            continue
        chunks, extent = choice.chunks, tg.known_index(axes[axis].bound)
        is_whole = extent is None or extent % chunks == 0
        if not is_whole and not attempt(axes, tg.OptOp.PADTO, axis, chunks, "clamp"):
            chunks = axes.extent(axes[axis])
        attempt(axes, tg.OptOp.SPLIT, axis, chunks, tg.AxisType.THREAD, "top")


def _least(choices: Iterable[_Choice]) -> Sequence[_Choice]:
    """The choices that cost no more than others."""
    found = [*choices]
    least = (1 + ERROR) * min((choice.cycles for choice in found), default=0)
    return [choice for choice in found if choice.cycles <= least]


def _shared(
    nests: Nests, around: Around, orders: Sequence[Sequence[int]], threads: int
) -> Iterator[_Choice]:
    """The costs of orders, for each loop that threads may share."""
    dynamic = [r for r in loops_of(around.end) if tg.known_index(r.bound) is None]
    # Of several dynamic extents, the first is that of a batch, often 1.
    loops = [r for r in loops_of(around.end) if len(dynamic) < 2 or r is not dynamic[0]]
    extents = {r.axis.data: nests.extent(r) for r in loops if nests.extent(r) > 1}
    may = {
        r.axis.data
        for r in loops
        if threads > 1
        and r.axis.data in extents
        and r.axis_type.data is tg.AxisType.GLOBAL
        and may_split(nests.axes, r, tg.AxisType.THREAD, top=True)
    }
    for order in orders:
        outermost = next((axis for axis in order if axis in extents), None)
        for axis in filter(may.__contains__, order):
            cycles = around.cycles(order, axis, threads)
            # Each chunk of an inner loop goes through those around it.
            chunks = 2 * threads if axis == outermost else threads
            if nests.axes[axis] not in dynamic:
                cycles, chunks = _divided(cycles, extents[axis], threads, chunks)
            yield _Choice(cycles, order, axis, chunks)


def _divided(cycles: float, extent: int, threads: int, fewest: int) -> tuple[float, int]:
    """The number of chunks of least cost, of those that a loop may have, and the cycles of the
    slowest thread with it."""
    least, best = math.inf, extent
    for chunks in range(min(fewest, extent), extent + 1):
        turns = -(-chunks // threads)
        if cycles + CHUNK * turns >= least:
            break
        cost = cycles * turns * -(-extent // chunks) * threads / extent + CHUNK * turns
        if cost < least:
            least, best = cost, chunks
    return least, best


# -- blocks of steps -------------------------------------------------------------------------------


def block_reductions(nests: Nests) -> None:
    """Block reductions whose steps load lines that nothing loads ahead, where that pays: the steps
    of a block, as many as caches hold lines, run for all results before the next block."""
    axes, target = nests.axes, nests.target
    for effect in list(axes.kernel.sink.effects):
        end = effect.owner
        if not isinstance(end, tg.EndOp) or not is_tiled(end):
            continue
        if not (loops := [r for r in loops_of(end) if r.axis_type.data is not tg.AxisType.THREAD]):
            continue
        for reduce in nests.closers:
            steps = closed_ranges(reduce)[0]
            if isinstance(reduce, tg.EndOp) or not axes.open[reduce] >= {*loops}:
                continue
            nest, tiling, axis = nests.models[reduce], tiling_of(nests, reduce), steps.axis.data
            if not Counter(nest, target).traffic(tiling).unforeseen():
                continue
            # Sums are kept between blocks, beside what is copied.
            tile = filter(is_expanded, closed_ranges(end))
            sums = math.prod(nests.extent(r) for r in (*loops, *tile))
            if sums * tg.dtype_of(reduce.result).itemsize > target.local // 2:
                continue
            may, first = copyable(nests, reduce, tiling), loops[0].axis.data
            before, _ = copies_of(nest, tiling, may, target)
            extent, most = nests.extent(steps), target.tlb_pages
            sizes = {part(extent, most >> i) for i in range(most.bit_length())} - {1, extent}
            costs = {
                size: copies_of(_blocked(nest, axis, size, first), tiling, may, target)[0]
                for size in sorted(sizes, reverse=True)
            }
            size = min(costs, key=costs.__getitem__, default=0)
            if size and (1 + ERROR) * costs[size] < before:
                if attempt(axes, tg.OptOp.SPLIT, axis, size, tg.AxisType.REDUCE):
                    attempt(axes, tg.OptOp.ORDER, axis, *(r.axis.data for r in loops))
                return


def _blocked(nest: Nest, axis: int, size: int, outside: int) -> Nest:
    """A nest whose blocks of some steps are outside of a loop: it loads and stores each result once
    a block."""
    block, first = max(nest.extents) + 1, nest.order.index(outside)
    results = in_order([n for n in nest.order if n not in nest.steps], nest.extents)
    itemsize = max(work.itemsize for work in nest.work)
    return replace(
        nest,
        order=[*nest.order[:first], block, *nest.order[first:]],
        extents={**nest.extents, axis: size, block: nest.extents[axis] // size},
        steps=nest.steps | {block},
        moved=[
            *(
                each._replace(strides={**each.strides, block: _times(each.strides, axis, size)})
                for each in nest.moved
            ),
            Moved(results, itemsize, is_packed=True),
            Moved(results, itemsize, is_store=True, is_packed=True),
        ],
    )


def _times(strides: Mapping[int, int | None], axis: int, size: int) -> int | None:
    stride = strides.get(axis, 0)
    return None if stride is None else stride * size
