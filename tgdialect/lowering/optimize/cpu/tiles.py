"""Register tiles: the results that one iteration of a nest keeps in registers, of least cost."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import combinations, product
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tgdialect.analysis.cycles import cycles
from tgdialect.analysis.features import Count, Counter, Tiling
from tgdialect.analysis.ranges import MAX_EXPANDED, MAX_LANES, closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.vectors import (
    MASKED,
    is_apart,
    is_expandable,
    is_packable,
    lanes_along,
    loop_outside,
    may_be_vectors,
    packed_bytes,
    vector_ranges,
)
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import attempt, opt, try_opt
from tgdialect.lowering.optimize.optops.split import may_overlap
from tgdialect.ops import tg
from tgdialect.targets.costs import own_cost

DYNAMIC_ROWS = 4
"""The most rows along a range whose extent is one dynamic size; twice as many along one that is a
product, as all columns of all rows of an image. Larger: fewer loads; but if there are fewer rows
than a tile has, all are masked."""

MOST_TRIED = 16
"""The tiles of least arithmetic for which is counted what comes from the caches. Larger: longer
compilation; smaller: tiles that reload more."""

MOST_CODE = 640
"""The most instructions of a loop that is written out. Larger: longer compilation; smaller: more
iterations of loops, and windows that are loaded again."""

MAX_STEPS = 9
"""The most steps of a reduction that are written out. Larger: more code to compile; smaller: more
overhead of loops."""


class Tile(NamedTuple):
    """A register tile, with vectors along a range."""

    cost: float = math.inf
    """The cycles of the nests that vectors along the range are in."""
    vectors: int = 1
    """How many vectors are next to each other."""
    rows: Sequence[tuple[tg.RangeOp, int]] = ()
    """Other ranges, and how many of their iterations the tile has."""
    written: Sequence[tg.RangeOp] = ()
    """The loops of its reduction that are written out, the innermost first."""


class Tiles:
    """The register tiles of a kernel, by the range that vectors lie along."""

    def __init__(self, nests: Nests) -> None:
        self._nests, self._target = nests, nests.target
        self._counters = {c: Counter(nest, nests.target) for c, nest in nests.models.items()}
        ranges = [r for closer in nests.closers for r in closed_ranges(closer)]
        may = [r for r in dict.fromkeys(ranges) if may_be_vectors(nests, r)]
        self._lanes = {each: lanes_along(nests, each) for each in may}
        self._found: dict[tg.RangeOp, Sequence[tuple[float, Tile]]] = {}
        self._best: dict[tg.RangeOp, Tile] = {}

    def vectors(self) -> Sequence[tg.RangeOp]:
        """The ranges that vectors lie along: those that save most. The best tile is found only for
        ranges that may be among them."""
        axes, scalar = self._nests.axes, dict[tg.EndOp | tg.ReduceOp, float]()
        for closer, counter in self._counters.items():
            scalar[closer] = cycles(counter.counted(Tiling()), self._target).total

        def gain(vector: tg.RangeOp, cost: float) -> float:
            saved = sum(scalar[closer] for closer in self._closers[vector.axis.data]) - cost
            return saved * (MASKED if tg.known_index(vector.bound) is None else 1)

        gains = dict.fromkeys(axes.ranges.values(), 0.0)
        gains |= {each: gain(each, self._candidates(each)[0][0]) for each in self._lanes}
        while True:
            chosen = list(vector_ranges(self._nests, gains))
            if all(each in self._best for each in chosen):
                return chosen
            gains |= {each: gain(each, self.best(each).cost) for each in chosen}

    def best(self, vector: tg.RangeOp) -> Tile:
        """The tile of least cost with vectors along a range. The cost of most is never computed:
        what they compute takes longer than the best one."""
        if (best := self._best.get(vector)) is not None:
            return best
        best = Tile()
        for least, tile in self._candidates(vector)[:MOST_TRIED]:
            if least >= best.cost:
                break
            width = min(tile.vectors * self._lanes[vector], self._nests.extent(vector))
            tilings = self._tilings(vector, width, tile.rows, tile.written)
            cost = sum(itertools.starmap(self._time, tilings))
            if cost < best.cost:
                best = tile._replace(cost=cost)
        self._best[vector] = best
        return best

    def _time(self, closer: tg.EndOp | tg.ReduceOp, tiling: Tiling) -> float:
        counter = self._counters[closer]
        found = counter.counted(tiling)
        if counter.nest.steps:
            found = counter.near(found, tiling)
        return cycles(found, self._target).total

    # -- the tiles of a range

    def _candidates(self, vector: tg.RangeOp) -> Sequence[tuple[float, Tile]]:
        """The tiles with vectors along a range, each with the least that it costs, the least
        first."""
        if (found := self._found.get(vector)) is None:
            reduces = self._nests.reductions_along.get(vector, ())
            reduce = max(reduces, key=self._nests.trips, default=None)
            kinds = product(self._rows(vector, reduce), self._written(reduce, vector))
            every = [each for kind in kinds for each in self._tiles(vector, *kind)]
            found = self._found[vector] = sorted(every, key=itemgetter(0))
        return found

    def _tiles(
        self, vector: tg.RangeOp, rows: Sequence[tg.RangeOp], written: Sequence[tg.RangeOp]
    ) -> Iterator[tuple[float, Tile]]:
        """The tiles of some rows and of some loops that are written out, each with the least that
        it costs."""
        nests, target = self._nests, self._target
        lanes, extent = self._lanes[vector], nests.extent(vector)
        is_reduced = bool(nests.reductions_along.get(vector))
        # Squares that are transposed are one vector wide.
        most = self._most_vectors(vector, lanes) if is_reduced else target.registers_at_once
        most = min(most if is_reduced or not rows else 1, -(-extent // lanes))
        heights = [self._heights(vector, row, len(rows)) for row in rows]
        numbers = [*range(1, most + 1)]
        if not is_reduced and self._is_gated(vector):
            numbers.append(max(-(-extent // lanes), most))
        every = product(dict.fromkeys(numbers), *heights)
        if is_reduced:
            every = (each for each in every if math.prod(each) <= target.vector_registers)
        shapes = np.array([*every], np.int64)
        if not shapes.size:
            return
        vectors, *counts = shapes.T
        widths = np.minimum(vectors * lanes, extent)
        elements = widths * math.prod(counts, start=math.prod(map(nests.extent, written)))
        each = sum(max(own_cost(type(op)), 1) for op, r in nests.axes.open.items() if vector in r)
        fits = (elements <= MAX_LANES) & (elements * each <= MAX_EXPANDED)
        least = np.zeros(len(shapes))
        for closer, tiling in self._tilings(
            vector, widths, zip(rows, counts, strict=True), written
        ):
            found = self._counters[closer].counted(tiling)
            fits &= found.code <= MOST_CODE
            if self._nests.models[closer].steps:
                fits &= found.registers <= target.vector_registers
            least += cycles(found, target).total
        if not rows and not written:
            fits[0] = True  # There is one tile at least.
        for number in np.flatnonzero(fits):
            count, *sizes = shapes[number].tolist()
            made = [*zip(rows, sizes, strict=True)]
            yield float(least[number]), Tile(math.inf, count, made, written)

    def _tilings(
        self,
        vector: tg.RangeOp,
        width: Count,
        rows: Iterable[tuple[tg.RangeOp, Count]],
        written: Sequence[tg.RangeOp],
    ) -> Iterator[tuple[tg.EndOp | tg.ReduceOp, Tiling]]:
        """How each nest that vectors along a range are in is executed with a tile, or with each of
        some."""
        axis = vector.axis.data
        sizes = {axis: width, **{row.axis.data: count for row, count in rows}}
        sizes |= {each.axis.data: self._nests.extent(each) for each in written}
        packed = self._packed.get(vector, {})
        for closer in self._closers[axis]:
            yield closer, Tiling(axis, sizes, self._masked(vector), packed.get(closer, ()))

    def _masked(self, vector: tg.RangeOp) -> Set[int]:
        """The loop that vectors lie along, if its last part may not overlap the one before."""
        if may_overlap(self._nests.axes, vector, self._lanes[vector]):
            return frozenset()
        return {vector.axis.data}

    def _is_gated(self, vector: tg.RangeOp) -> bool:
        """Whether the lanes of vectors along a range have masks, unless they are all of a row."""
        axis = vector.axis.data
        moved = (m for closer in self._closers[axis] for m in self._nests.models[closer].moved)
        return any(axis in m.gates and m.strides.get(axis, 0) in (1, -1) for m in moved)

    @cached_property
    def _is_far(self) -> bool:
        """Whether no cache holds what the kernel accesses, so that rows are worth reading side by
        side though they share nothing."""
        return sum(map(self._nests.bytes, self._nests.accesses)) > self._target.llc

    @cached_property
    def _closers(self) -> Mapping[int, Sequence[tg.EndOp | tg.ReduceOp]]:
        """The nests that are in the loop of each range."""
        found: dict[int, list[tg.EndOp | tg.ReduceOp]] = defaultdict(list)
        for closer, nest in self._nests.models.items():
            for axis in nest.order:
                found[axis].append(closer)
        return found

    @cached_property
    def _packed(self) -> Mapping[tg.RangeOp, Mapping[tg.EndOp | tg.ReduceOp, Sequence[int]]]:
        """For each range, the numbers of the operands of nests that are packed where vectors lie
        along it."""
        nests = self._nests
        found: dict[tg.RangeOp, dict[tg.EndOp | tg.ReduceOp, list[int]]] = defaultdict(dict)
        every = ((c, *each) for c, moving in nests.moving.items() for each in enumerate(moving))
        for closer, number, access in every:
            for along in filter(self._lanes.__contains__, access.strides):
                if is_apart(access, along) and is_packable(
                    nests, access, along, self._lanes[along]
                ):
                    found[along].setdefault(closer, []).append(number)
        return found

    def _rows(
        self, vector: tg.RangeOp, reduce: tg.ReduceOp | None
    ) -> Iterator[Sequence[tg.RangeOp]]:
        """The ranges with rows of a tile: none, one whose iterations share loads or stores, or two
        where vectors lie along the reduction."""
        nests, axes = self._nests, self._nests.axes
        yield ()
        if reduce is None:
            for op in nests.work_in.get(vector, ()):
                along = nests.stride_of.get(op, {})
                if along.get(vector, 0) in (None, 0, 1, -1):
                    continue
                for row, stride in along.items():
                    is_beside = axes.ends.get(row) is axes.ends.get(vector)
                    if stride == 1 and is_beside and is_expandable(axes, row):
                        yield (row,)
            return
        loops = {*closed_ranges(reduce)}
        reads = [a.strides for a in nests.loads if not loops.isdisjoint(axes.open[a.op])]
        columns = [a.strides for a in nests.stores if a.strides.get(vector, 0) not in (0, 1, -1)]
        ranges = [
            r
            for r in axes.ranges.values()
            if r in axes.open[reduce]
            and r in axes.ends
            and r is not vector
            and is_expandable(axes, r)
            and not axes.shared_buffers(r)
            and (
                any(not s.get(r, 0) for s in reads)
                or any(s.get(r) == 1 for s in columns)
                or (vector in loops and self._is_far)
            )
        ]
        yield from ((row,) for row in ranges)
        if vector in loops and all(strides.get(vector) == 1 for strides in reads):
            yield from combinations(ranges, 2)

    def _heights(self, vector: tg.RangeOp, row: tg.RangeOp, rows: int) -> Sequence[int]:
        """How many rows along a range a tile may have, of some ranges with rows."""
        extent = self._nests.extent(row)
        if vector not in self._nests.reductions_along:
            return [min(extent, self._lanes[vector])]
        most = min(extent, self._target.vector_registers - 1)
        if tg.known_index(row.bound) is None:
            is_product = any(len(term) > 1 for term in tg.polynomial(row.bound).terms)
            most = min(most, DYNAMIC_ROWS * (2 if is_product else 1))
        # Rows whose elements are used once are streams, each of which needs a way of L1.
        along = [a.strides for a in self._nests.loads if a.strides.get(row, 0) != 0]
        if rows == 1 and along and all(strides.get(vector, 0) != 0 for strides in along):
            most = min(most, self._target.l1_ways)
        return [n for n in range(2, most + 1) if rows == 1 or extent % n == 0]

    def _written(
        self, reduce: tg.ReduceOp | None, vector: tg.RangeOp
    ) -> Sequence[Sequence[tg.RangeOp]]:
        """The loops of a reduction that are written out: none, or as many of the innermost as may
        be."""
        steps, found = 1, list[tg.RangeOp]()
        loops = closed_ranges(reduce) if reduce is not None else ()
        for loop in reversed([r for r in loops if r is not vector]):
            steps *= self._nests.extent(loop)
            if steps > MAX_STEPS:
                break
            found.append(loop)
        return [(), found] if found else [()]

    def _most_vectors(self, vector: tg.RangeOp, lanes: int) -> int:
        """The most vectors of a tile whose packed operands fit into the caches."""
        nests, target, most = self._nests, self._target, self._target.vector_registers
        by_nest = self._packed.get(vector, {})
        packed = [nests.moving[closer][n] for closer in by_nest for n in by_nest[closer]]
        if packed:
            # A copy is made in the loop over tiles, of which there has to be more than one, or for
            # all of the nest outside of loops around it.
            end = nests.axes.ends[vector]
            bytes = max(packed_bytes(nests, each, end, lanes) for each in packed)
            outside = [loop_outside(nests, each, end) for each in packed]
            most = min(most, target.copied // bytes)
            most = min(most, -(-nests.extent(vector) // lanes) - (not all(outside)))
        return max(most, 1)


def tile_opts(nests: Nests, vector: tg.RangeOp, tile: Tile) -> Sequence[tg.OptAttr]:
    """The OptOps that keep a tile of results in registers, with vectors along a range."""
    opts: list[tg.OptAttr] = []
    for loop in reversed(tile.written):
        extent = nests.extent(loop)
        opts.append(opt(tg.OptOp.SPLIT, loop.axis.data, extent, tg.AxisType.UNROLL.value))
    for row, height in tile.rows:
        opts += _parts(nests, row, height, tg.AxisType.UPCAST, "clamp")
    kind = tg.AxisType.UPCAST if vector in nests.axes.ends else tg.AxisType.GROUP_REDUCE
    width = min(nests.extent(vector), lanes_along(nests, vector) * tile.vectors)
    return [*opts, *_parts(nests, vector, width, kind)]


def _parts(
    nests: Nests, range: tg.RangeOp, size: int, kind: tg.AxisType, *where: str
) -> Iterator[tg.OptAttr]:
    """The OptOps that split parts of a size off a range. If the size does not divide it, the last
    part overlaps the one before, if that is legal; else the range is padded."""
    axis, is_dynamic = range.axis.data, tg.known_index(range.bound) is None
    overlap = ["overlap"] if may_overlap(nests.axes, range, size) else []
    if not nests.axes.is_multiple(range, size) and (is_dynamic or not overlap):
        yield opt(tg.OptOp.PADTO, axis, size, *where)
    yield opt(tg.OptOp.SPLIT, axis, size, kind.value, *overlap)


def split_off(axes: Axes, which: tg.OptAttr) -> tg.RangeOp | None:
    """Apply an OptOp. Returns the expanded range that a SPLIT has made; None for other OptOps."""
    before, axis = {*axes.ranges}, which.arguments.data[0].data
    if not try_opt(axes, which) or which.op.data != tg.OptOp.SPLIT:
        return None
    return axes[next((n for n in axes.ranges if n not in before), int(axis))]


def nest_parts(axes: Axes, parts: Sequence[tg.RangeOp]) -> None:
    """Nest the ranges of a tile in this order: vectors lie along the last."""
    tile = [part for part in parts if part in axes.ends]
    if len(tile) > 1:
        nest = [r for r in reversed(closed_ranges(axes.ends[tile[-1]])) if r in tile]
        if nest != tile:
            attempt(axes, tg.OptOp.ORDER, *(part.axis.data for part in tile))


def write_out_reductions(axes: Axes) -> None:
    """Unroll the reductions of a kernel without other loops that have few steps in all."""
    steps = 1
    for range in list(axes.ranges.values()):
        extent = tg.known_index(range.bound)
        if extent is None or (steps := steps * extent) > MAX_STEPS:
            return
        if range.axis_type.data is tg.AxisType.REDUCE and extent > 1:
            attempt(axes, tg.OptOp.SPLIT, range.axis.data, extent, tg.AxisType.UNROLL)
