"""The loops around a register tile: their order, the one that threads share, and blocks of steps.

Each is the candidate of least cost (`analysis/cycles.py`), by what the tile computes and what moves
between caches in that order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tgdialect.analysis.features import Moved, Nest, Tiling
from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.cpu.copies import copies_of, copyable
from tgdialect.lowering.optimize.cpu.vectors import (
    is_apart,
    is_expandable,
    is_tiled,
)
from tgdialect.lowering.optimize.expected import tiling_of
from tgdialect.lowering.optimize.nests import Nests, part
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops import tg

CHUNK = 200
"""The cycles in which a thread takes the next chunk of a loop: an atomic addition and a call.
Larger: fewer chunks, which are balanced less."""


PART = -1
"""The number of the loop over the part of another loop that a thread has."""

SURE = 1.02
"""The ratio of two costs from which on the lesser one decides; else loops stay as they are. The
model is not as exact. Larger: loops are moved only for much; smaller: they are moved for
nothing."""


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
    """Interleave two rows of a scan, in which each step waits for the one before, if one of them
    leaves ports idle."""
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
        if len(nests.work_around.get(row, ())) <= 2 * nests.target.mulaccs_in_flight:
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

    def cycles(self, order: Sequence[int], shared: int | None = None, threads: int = 1) -> float:
        """The cycles of one of some threads that share a loop, with the loops in an order, and with
        copies where they pay."""
        return sum(
            copies_of(made, tiling, may, {*order, PART}, self._nests.target)[0]
            for _, nest, tiling, may in self._models
            for made in [self._ordered(nest, order, shared, threads)]
        )

    def _ordered(self, nest: Nest, order: Sequence[int], shared: int | None, threads: int) -> Nest:
        placed = iter([n for n in order if n in nest.extents])
        loops = [next(placed) if n in self.loops else n for n in nest.order]
        if shared is None or shared not in nest.extents:
            return replace(nest, order=loops)
        part = -(-nest.extents[shared] // threads)
        return replace(
            nest,
            order=[PART, *loops],
            extents={**nest.extents, PART: 1, shared: part},
            moved=[
                each._replace(strides={**each.strides, PART: each.strides.get(shared, 0)})
                for each in nest.moved
            ],
        )

    def orders(self) -> Iterator[Sequence[int]]:
        """The orders of the loops, that which they are in first. Loops around nests that are not in
        all of them stay outside of the others."""
        nests, ranges = self._nests, loops_of(self.end)
        partly = [nests.axes.open[c] for c, *_ in self._models if c is not self.end]
        outer = {r for open in partly if not open >= {*ranges} for r in open}
        fixed = [r.axis.data for r in ranges if r in outer]
        free = [r.axis.data for r in ranges if r not in outer]
        found = [free, free[::-1]]
        for each in free:
            others = [n for n in free if n != each]
            found += [[each, *others], [*others, each]]
        for order in dict.fromkeys(map(tuple, found)):
            yield [*fixed, *order]


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
    """Order the loops around each tile, unless they `is_ordered` already, and share one
    loop of the kernel among threads."""
    axes, found = nests.axes, list[tuple[_Choice, _Choice]]()
    for effect in axes.kernel.sink.effects:
        if isinstance(end := effect.owner, tg.EndOp):
            around = Around(nests, end)
            orders = [around.loops] if is_ordered or not is_tiled(end) else [*around.orders()]
            alone = _least(around, orders)
            found.append((alone, _first([*_shared(nests, around, orders, threads)] or [alone])))
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


def _least(around: Around, orders: Iterable[Sequence[int]]) -> _Choice:
    """The order of least cost for one thread."""
    return _first([_Choice(around.cycles(order), order) for order in orders])


def _first(choices: Sequence[_Choice]) -> _Choice:
    """The first of some choices that costs no more than another."""
    least = min(choice.cycles for choice in choices)
    return next(choice for choice in choices if choice.cycles <= SURE * least)


def _shared(
    nests: Nests, around: Around, orders: Sequence[Sequence[int]], threads: int
) -> Iterator[_Choice]:
    """The least cost of each loop that threads may share."""
    if threads < 2:
        return
    axes = nests.axes
    dynamic = [r for r in loops_of(around.end) if tg.known_index(r.bound) is None]
    for order in orders:
        is_inner = False
        for axis in order:
            range, extent = axes[axis], nests.extent(axes[axis])
            # Of several dynamic extents, the first is that of a batch, often 1.
            is_batch = len(dynamic) > 1 and range is dynamic[0]
            if extent < 2 or is_batch or range.axis_type.data is not tg.AxisType.GLOBAL:
                continue
            if may_split(axes, range, tg.AxisType.THREAD, top=True):
                cycles = around.cycles(order, axis, threads)
                # Each chunk of an inner loop goes through those around it.
                fewest = threads if is_inner else 2 * threads
                counts = [(fewest, 1.0)] if range in dynamic else _chunks(extent, threads, fewest)
                yield min(
                    (
                        _Choice(cycles * each + CHUNK * -(-chunks // threads), order, axis, chunks)
                        for chunks, each in counts
                    ),
                    key=lambda choice: choice.cycles,
                )
            is_inner = True


def _chunks(extent: int, threads: int, fewest: int) -> Iterator[tuple[int, float]]:
    """The numbers of chunks that a loop may have, with the iterations of the slowest thread as a
    multiple of the average."""
    for chunks in range(min(fewest, extent), extent + 1):
        iterations = -(-chunks // threads) * -(-extent // chunks)
        yield chunks, iterations * threads / extent
        if iterations * threads == extent:
            return


# -- blocks of steps -------------------------------------------------------------------------------


def block_reductions(nests: Nests) -> None:
    """Block reductions each of whose steps loads from another page, where that pays: the steps of a
    block, as many as the TLB holds pages, run for all results before the next block."""
    axes, most = nests.axes, nests.target.tlb_pages
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
            size = part(nests.extent(steps), most)
            far = [a for a in nests.accesses_along([steps]) if nests.pages(a, steps) > most]
            if far and 1 < size < nests.extent(steps) and _pays(nests, loops, reduce, steps, size):
                axis = steps.axis.data
                if attempt(axes, tg.OptOp.SPLIT, axis, size, tg.AxisType.REDUCE):
                    attempt(axes, tg.OptOp.ORDER, axis, *(r.axis.data for r in loops))
                return


def _pays(
    nests: Nests,
    loops: Sequence[tg.RangeOp],
    reduce: tg.ReduceOp,
    steps: tg.RangeOp,
    size: int,
) -> bool:
    """Whether blocks of some steps cost less: they load and store each result once a block."""
    nest, tiling, axis = nests.models[reduce], tiling_of(nests, reduce), steps.axis.data
    block = max(nest.extents) + 1
    first = nest.order.index(loops[0].axis.data)
    results = {n: 1 for n in nest.order if n not in nest.steps}
    itemsize = tg.dtype_of(reduce.result).itemsize
    blocked = replace(
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
    may, outer = copyable(nests, reduce, tiling), {r.axis.data for r in loops}
    before, after = (copies_of(n, tiling, may, outer, nests.target) for n in (nest, blocked))
    return SURE * after[0] < before[0]


def _times(strides: Mapping[int, int | None], axis: int, size: int) -> int | None:
    stride = strides.get(axis, 0)
    return None if stride is None else stride * size
