"""Features of loop nests: how often a nest does what, and what it moves, for one cost model.

A `Nest` has what a kernel says of a nest: loops, accesses with strides, arithmetic. A `Tiling` is
one way to execute it: the loop that vectors lie along, and what is kept in registers. A `Counter`
counts for a tiling, or for many at once, and no kernel is changed for it. What the counts cost is
the business of `cycles.py` alone.

Source: features, cost and search are apart as in Halide's autoscheduler (Adams et al., "Learning to
Optimize Halide with Tree Search and Random Programs", 2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tgdialect.targets import Target

Count = Any
"""A number, or an array of them with one for each of many tilings."""

AHEAD = 256
"""The instructions that a core looks ahead for what waits for nothing. Larger: short sums count for
less. An order of magnitude: the reorder buffers of cores have 200 to 600 entries."""

MASK = 3
"""The vector instructions that the mask of an access takes. Larger: fewer vectors along loops that
they do not divide."""

INDEX = 6
"""The instructions that compute the index of a lane whose distance from the others varies. Larger:
fewer vectors across windows and tables. An order of magnitude."""


class Work(NamedTuple):
    """Arithmetic on elements, all of it in the same loops."""

    loops: Set[int]
    """The loops that it depends on."""
    cycles: float
    """The time of a vector of it, in cycles of one port."""
    itemsize: int
    """The bytes of an element."""


class Moved(NamedTuple):
    """A LOAD or a STORE."""

    strides: Mapping[int, int | None]
    """The elements between neighbouring iterations of each loop; 0 where a loop is missing, None
    where the distance varies."""
    itemsize: int
    """The bytes of an element."""
    is_store: bool = False
    is_packed: bool = False
    """Whether its cells lie in memory in the order in which loops need them: a copy, or a constant
    that a kernel packs once."""
    is_near: bool = False
    """Whether it is in memory of the kernel's own, which stays in L1."""
    gates: Set[int] = frozenset()
    """The loops that decide whether its cells are accessed: padding is not."""


@dataclass(frozen=True)
class Nest:
    """A nest of loops. Loops have numbers, the ids of a kernel's axes."""

    extents: Mapping[int, int]
    """The iterations of each loop."""
    order: Sequence[int]
    """The loops, outermost first."""
    steps: Set[int]
    """The loops of a reduction, whose iterations add to the same results."""
    work: Sequence[Work]
    moved: Sequence[Moved]
    chains: int = 1
    """The accumulators of a result."""


@dataclass(frozen=True)
class Tiling:
    """One way to execute a nest, in the order of its loops."""

    vector: int | None = None
    """The loop that vectors lie along."""
    sizes: Mapping[int, Count] = field(default_factory=dict[int, Any])
    """The iterations of loops that are written out in an iteration of the tile's loop: elements of
    vectors, rows of a register tile, steps of a reduction."""
    masks: Set[int] = frozenset()
    """The loops whose last part is masked where sizes do not divide them; that of others overlaps
    the one before."""
    packs: Sequence[int] = ()
    """The numbers of accesses whose cells are copied before, in the order of loops."""


class Features(NamedTuple):
    """Counts of a nest: of all its iterations, on one core."""

    iterations: Count
    """Iterations of the innermost loop."""
    entries: Count
    """How often the innermost loop is entered."""
    arithmetic: Count
    """Vectors of arithmetic, in cycles of one port, with those of idle lanes."""
    loads: Count
    """Loads of whole vectors."""
    broadcasts: Count
    """Loads of one element for all lanes of a vector."""
    lanes: Count
    """Loads of single lanes of a vector, each with its insertion."""
    stores: Count
    """Stores of whole vectors."""
    scattered: Count
    """Stores of single lanes of a vector, each with its extraction."""
    shuffles: Count
    """Shuffles of vectors, of transposed squares and of sums over lanes."""
    copies: Count
    """Elements that are copied, and transposed, into the order of loops."""
    chain: Count
    """Multiply-accumulates in sequence, each of which waits for the one before."""
    registers: Count
    """Vector registers in use in the innermost loop."""
    code: Count
    """Instructions of the body of the innermost loop."""
    into_l1: Count = 0
    """Bytes that come from L2."""
    into_l2: Count = 0
    """Bytes that come from the last-level cache."""
    into_llc: Count = 0
    """Bytes that come from memory, or go there."""
    streams: Count = 1
    """Rows that the innermost loop goes through at a time, each in memory of its own."""
    pages: Count = 0
    """Pages that are accessed while the first-level TLB does not hold them."""
    unforeseen: Count = 0
    """Cache lines that come from beyond L2 and were not loaded ahead: before a row goes on to its
    next line, the loops inside touch more than L2 holds."""


class Counter:
    """Counts of one nest for many tilings."""

    def __init__(self, nest: Nest, target: Target) -> None:
        self.nest, self._target = nest, target
        self._lanes = {w.itemsize: target.lanes(w.itemsize) for w in (*nest.work, *nest.moved)}
        self._moving = [
            tuple((n, stride) for n, stride in moved.strides.items() if stride != 0)
            for moved in nest.moved
        ]
        self._results = {n for n in nest.order if n not in nest.steps}
        widest = max((work.itemsize for work in nest.work), default=4)
        self._summed = target.lanes(widest)
        """The lanes of a vector of sums."""

    def counted(self, tiling: Tiling) -> Features:
        """The counts of a tiling, but for what moves between levels of memory."""
        nest, target, vector = self.nest, self._target, tiling.vector
        sizes, loops = self._loops(tiling)
        if vector not in sizes:
            vector = None
        around, place = list[Count]([1.0]), dict[int, int]()
        for n, trips in loops:
            place[n] = len(around)
            around.append(around[-1] * trips)
        # Arithmetic: executed outside of the loops that it does not depend on.
        arithmetic = code = 0.0
        for work in nest.work:
            each, lanes, inside = work.cycles, self._lanes[work.itemsize], 0
            for n, size in sizes.items():
                if n in work.loops:
                    each = each * (-(-size // lanes) if n == vector else size)
            for n in work.loops:
                inside = max(inside, place.get(n, 0))
            arithmetic = arithmetic + each * around[inside]
            code = code + each
        # Accesses.
        loads = broadcasts = single = stores = scattered = shuffles = 0.0
        streams: Count = 0
        live: Count = 0
        splats: Count = 0
        evicted: Count = 0.0
        for number, (moved, moving) in enumerate(zip(nest.moved, self._moving, strict=True)):
            times = around[max((place.get(n, 0) for n, _ in moving), default=0)]
            along = moved.strides.get(vector, 0) if vector is not None else 0
            lanes, width = (
                self._lanes[moved.itemsize],
                sizes.get(vector, 1) if vector is not None else 1,
            )
            rows, held = _distinct(moving, sizes, vector, nest.steps)
            # Cells that later steps load again stay in registers.
            live = live + (held * -(-width // lanes) if along else held)
            evicted = evicted + rows * times * target.cache_line * _is_one_set(
                moved, sizes, vector, target
            )
            in_order = moved.is_packed or number in tiling.packs
            if vector is None or along == 0:
                index = INDEX * rows if any(stride is None for _, stride in moving) else 0
                arithmetic, code = arithmetic + index * times, code + rows + index
                if moved.is_store:
                    stores = stores + rows * times
                else:
                    broadcasts, splats = broadcasts + rows * times, splats + rows
                continue
            whole, streams = -(-width // lanes), streams + rows
            if along in (1, -1) or in_order:
                count, live = rows * whole, live + whole
                code = code + count
                if vector in tiling.masks or vector in moved.gates:
                    # The mask of all of a row is a constant.
                    extent = nest.extents[vector]
                    is_masked = (extent % width != 0) if vector in tiling.masks else width < extent
                    arithmetic = arithmetic + MASK * is_masked * count * times
                if not in_order and any(s is None or s % lanes for n, s in moving if n != vector):
                    # Vectors are in two cache lines each, or some of them.
                    count = count * (1 + min(lanes * moved.itemsize / target.cache_line, 1))
                if moved.is_store:
                    stores = stores + count * times
                else:
                    loads = loads + count * times
                continue
            row = next((sizes[n] for n, s in moving if s in (1, -1) and n in sizes), None)
            if row is not None and (moved.is_store or not nest.steps):
                # Squares of rows and lanes, which are transposed in registers.
                count = rows // row * width * -(-row // lanes)
                moves = greater(count, rows * whole) * max(lanes - 1, 1).bit_length()
                shuffles, code = shuffles + moves * times, code + count + moves
                if moved.is_store:
                    stores = stores + count * times
                else:
                    loads = loads + count * times
            elif not moved.is_store and along is not None and 2 * abs(along) <= lanes:
                # Whole vectors, out of which lanes are shuffled. Rows in between share them.
                count = rows * whole * abs(along)
                near = (sizes[n] for n, s in moving if n in sizes and s and abs(s) < abs(along))
                shared = lesser(math.prod(near), abs(along))
                loads, shuffles, code = (
                    loads + count / shared * times,
                    shuffles + count * times,
                    code + count,
                )
            else:
                # Each lane has an index of its own where distances vary.
                count = rows * width
                code = code + (2 if along is not None else 2 + INDEX) * count
                arithmetic = arithmetic + (0 if along is not None else INDEX) * count * times
                if moved.is_store:
                    scattered = scattered + count * times
                else:
                    single = single + count * times
        # Copies that transpose what is packed.
        copies = 0.0
        for number in tiling.packs:
            copies += math.prod(nest.extents[n] for n, _ in self._moving[number])
        # Sums: their latency, and the lanes that are added up where vectors lie along steps.
        held, chain = 1, 0.0
        for n, size in sizes.items():
            if n in self._results:
                held = held * (-(-size // self._summed) if n == vector else size)
        if nest.steps:
            held = held * (nest.chains)
            inner = math.prod(size for n, size in sizes.items() if n in nest.steps and n != vector)
            whole = math.prod(trips for n, trips in loops if n not in nest.steps)
            # The sums of neighbouring results overlap if they are short.
            steps = around[-1] / whole * code
            chain = around[-1] * inner * lesser(steps / AHEAD, 1)
            if vector is not None and vector in nest.steps:
                width = -(-sizes[vector] // self._summed)
                folds = (self._summed - 1).bit_length()
                shuffles = shuffles + whole * folds * held
                arithmetic = arithmetic + whole * (folds + width - 1) * held
                held = held * width
        return Features(
            around[-1],
            around[-2] if len(around) > 1 else 1.0,
            arithmetic,
            loads,
            broadcasts,
            single,
            stores,
            scattered,
            shuffles,
            copies,
            chain,
            # A load-store architecture has all operands of a step in registers. Without steps,
            # one vector is computed after the other.
            held + live + (splats if target.load_store else 1) if nest.steps else len(nest.moved),
            code,
            evicted,
            streams=greater(streams, 1),
        )

    def near(self, counted: Features, tiling: Tiling) -> Features:
        """The counts of a tiling with what comes from L2, and what has to come from farther away
        whatever the order of loops is, as if all that vectors are loaded from lay in that order, as
        it does where copies pay."""
        target, moves = self._target, self.traffic(tiling, is_packed=True)
        return counted._replace(
            into_l1=counted.into_l1 + moves.into(target.l1),
            into_l2=moves.total if moves.total > target.l2 else 0,
            into_llc=moves.total if moves.total > target.llc else 0,
            pages=moves.pages(),
            unforeseen=moves.unforeseen(),
        )

    def moved(self, counted: Features, tiling: Tiling) -> Features:
        """The counts of a tiling with what it moves between levels of memory."""
        target, moves = self._target, self.traffic(tiling)
        return counted._replace(
            into_l1=counted.into_l1 + moves.into(target.l1),
            into_l2=moves.into(target.l2),
            into_llc=moves.into(target.llc),
            pages=moves.pages(),
            unforeseen=moves.unforeseen(),
        )

    def traffic(self, tiling: Tiling, *, is_packed: bool = False) -> Traffic:
        """The bytes that a tiling moves between levels of memory; `is_packed` as if all that
        vectors are loaded from lay in the order of loops."""
        sizes, loops = self._loops(tiling)
        packed = {
            number
            for number, moved in enumerate(self.nest.moved)
            if number in tiling.packs
            or (
                (moved.is_packed or (is_packed and not moved.is_store))
                and moved.strides.get(-1 if tiling.vector is None else tiling.vector, 0) != 0
            )
        }
        return Traffic(self.nest.moved, packed, loops, sizes, self._target)

    def _loops(self, tiling: Tiling) -> tuple[Mapping[int, Count], Sequence[tuple[int, Count]]]:
        """The sizes of the tile in the loops of the nest, and the loops around it with their
        iterations."""
        extents = self.nest.extents
        sizes = {n: size for n, size in tiling.sizes.items() if n in extents}
        trips = (
            (n, -(-extents[n] // sizes[n]) if n in sizes else extents[n]) for n in self.nest.order
        )
        return sizes, [(n, count) for n, count in trips if not isinstance(count, int) or count > 1]


def lesser(a: Count, b: Count) -> Count:
    """The lesser of two counts. Numbers stay numbers, whose arithmetic is quicker than NumPy's."""
    return np.minimum(a, b) if _are_arrays(a, b) else min(a, b)


def greater(a: Count, b: Count) -> Count:
    """The greater of two counts."""
    return np.maximum(a, b) if _are_arrays(a, b) else max(a, b)


def _are_arrays(*counts: object) -> bool:
    return any(isinstance(count, np.ndarray) for count in counts)


def _distinct(
    moving: Iterable[tuple[int, int | None]],
    sizes: Mapping[int, Count],
    vector: int | None,
    steps: Set[int],
) -> tuple[Count, Count]:
    """The different cells, or vectors of them, that the code of one iteration accesses, and how
    many stay in registers meanwhile. Rows of a tile share the cells of windows that overlap:
    i * row + k * step is the same cell for several pairs of i and k."""
    rows = [
        (stride, sizes[n]) for n, stride in moving if n != vector and n in sizes and n not in steps
    ]
    written = [
        (stride, sizes[n]) for n, stride in moving if n != vector and n in sizes and n in steps
    ]
    cells, held = 1, 0
    for stride, size in rows:
        each = size
        for number, (step, count) in enumerate(written):
            if not stride or not step or (step % stride and stride % step):
                continue
            far, near = (count, size) if step % stride == 0 else (size, count)
            ratio = max(abs(step), abs(stride)) // min(abs(step), abs(stride))
            if ratio >= np.max(near):
                continue  # The farther stride moves past the window.
            shared = lesser(size * count, near + (far - 1) * ratio)
            inner = math.prod(other for n, (_, other) in enumerate(written) if n > number)
            held = held + (size * count - shared) // max(count - 1, 1) * inner
            each = shared
            del written[number]
            break
        cells = cells * each
    for _, count in written:
        cells = cells * count
    return cells, held


def _is_one_set(
    moved: Moved, sizes: Mapping[int, Count], vector: int | None, target: Target
) -> Count:
    """Whether the rows of a tile evict one another from one set of L1: 1 or 0."""
    found = 0
    for n, size in sizes.items():
        stride = moved.strides.get(n, 0) if n != vector else 0
        if stride and stride * moved.itemsize % target.l1_way == 0:
            found = found + (size > target.l1_ways)
    return found


class Traffic:
    """The bytes that a nest moves between levels of memory.

    A cache holds what the innermost loops touch, as many of them as fit. It is filled anew as often
    as loops around change what is touched, or run loops again that do.
    """

    def __init__(
        self,
        moved: Sequence[Moved],
        packed: Set[int],
        loops: Sequence[tuple[int, int]],
        sizes: Mapping[int, int],
        target: Target,
    ) -> None:
        """`packed` are the numbers of accesses whose cells lie in the order of loops. `loops` are
        numbers and iterations, outermost first, and `sizes` the tile inside."""
        self._target, self._loops = target, loops
        self._far = [each for each in moved if not each.is_near]
        self._packed = [number in packed for number, each in enumerate(moved) if not each.is_near]
        self._sizes = sizes
        touched = [
            self._touched(each, is_packed)
            for each, is_packed in zip(self._far, self._packed, strict=True)
        ]
        self._lines, self._held, self._pages, self._rows = (
            [each[i] for each in touched] for i in range(4)
        )

    @property
    def total(self) -> float:
        """The bytes that are accessed in all."""
        return sum(each[0] for each in self._lines)

    def into(self, capacity: int) -> float:
        """The bytes that come into a cache of some bytes."""
        return sum(self._filled(self._lines, self._depth(self._held, capacity)))

    def pages(self) -> float:
        """The pages that come into the first-level TLB."""
        target = self._target
        depth = self._depth(self._pages, target.tlb_pages * target.page)
        return sum(self._filled(self._pages, depth)) / target.page

    def unforeseen(self) -> float:
        """The cache lines that come from beyond L2 though nothing has loaded them ahead: next lines
        of more rows than L2 holds, or, from memory, than prefetchers follow."""
        target, lines = self._target, 0.0
        # Next lines take as much again.
        near, far = self._depth(self._held, target.l2 / 2), self._depth(self._held, target.llc)
        if not near:
            return 0.0
        into_l2, into_llc = (self._filled(self._lines, depth) for depth in (near, far))
        followed = [sum(rows) for rows in zip(*self._rows, strict=True)]
        for each, is_packed, close, distant in zip(
            self._far, self._packed, into_l2, into_llc, strict=True
        ):
            # The loop that goes on to the next line of a row is that of the shortest stride.
            along = [
                (abs(stride) * self._sizes.get(n, 1) * each.itemsize, place)
                for place, (n, _) in enumerate(self._loops)
                if (stride := each.strides.get(n, 0))
            ]
            step, place = min(along, default=(target.page, 0))
            inside = place + 1 if step < target.page else len(self._loops) + 1
            if is_packed or inside > len(self._loops):
                continue
            # Loads from the last-level cache wait beside others, stores one after the other.
            if inside < near or (each.is_store and followed[inside] > target.streams):
                lines += close / target.cache_line
            elif far and followed[inside] > target.streams:
                lines += distant / target.cache_line
        return lines

    def _depth(self, touched: Sequence[Sequence[float]], capacity: float) -> int:
        """The number of loops outside of those whose cells a cache of some bytes holds."""
        sums = map(sum, zip(*touched, strict=True))
        return next((d for d, bytes in enumerate(sums) if bytes <= capacity), len(self._loops))

    def _filled(self, touched: Sequence[Sequence[float]], depth: int) -> Iterator[float]:
        """The bytes of each access that come into a cache that holds what so many loops are outside
        of."""
        # The loop around goes through its cells once; those that it does not change stay.
        around = max(depth - 1, 0)
        for each, bytes in zip(self._far, touched, strict=True):
            times, is_changed = 1, False
            for place in reversed(range(depth)):
                n, trips = self._loops[place]
                is_changed = is_changed or each.strides.get(n, 0) != 0
                if is_changed and place < around:
                    times *= trips
            yield bytes[around] * times

    def _touched(self, moved: Moved, is_packed: bool) -> Sequence[Sequence[float]]:
        """The bytes that an access touches in the loops from each depth on, in whole cache lines,
        as parts of a cache that they take, and in whole pages, and the rows that these are in."""
        # Loops with one stride, as those of an image and of a window, go through one range.
        spans: dict[int, int] = {}
        strides, rows, sizes = moved.strides, 1, self._sizes
        for n, extent in sizes.items():
            if (stride := strides.get(n, 0)) is None:
                rows *= extent
            elif stride:
                spans[abs(stride)] = spans.get(abs(stride), 0) + extent - 1
        bytes = self._bytes(moved.itemsize, rows, spans, is_packed)
        found = [[each] for each in bytes]
        for n, trips in reversed(self._loops):
            if (stride := strides.get(n, 0)) != 0:
                if stride is None:
                    rows *= trips
                else:
                    span = (trips - 1) * sizes.get(n, 1)
                    spans[abs(stride)] = spans.get(abs(stride), 0) + span
                bytes = self._bytes(moved.itemsize, rows, spans, is_packed)
            for each, more in zip(found, bytes, strict=True):
                each.append(more)
        return [each[::-1] for each in found]

    def _bytes(
        self, size: int, rows: int, spans: Mapping[int, int], is_packed: bool
    ) -> Sequence[float]:
        """The bytes of cells of a size, of rows that are apart, and of ranges by stride, and the
        rows."""
        line, page = self._target.cache_line, self._target.page
        lines, pages = (_in_units(size, rows, spans, is_packed, unit) for unit in (line, page))
        if is_packed or rows > 1:
            return lines, lines, pages, 1 if is_packed else rows
        # Rows that begin at one place of their pages share a few sets of a cache.
        run, apart = size, page
        for stride, span in sorted(spans.items()):
            if span and stride * size <= max(run, line):
                run += span * stride * size
            elif span:
                apart, rows = math.gcd(apart, stride * size), rows * (span + 1)
        held = lines if rows == 1 else lines * max(apart / max(run, line), 1)
        return lines, held, pages, rows


def _in_units(size: int, rows: int, spans: Mapping[int, int], is_packed: bool, unit: int) -> float:
    """The bytes of cells of a size, in whole units, of rows that are apart, and of ranges by
    stride."""
    run = 1
    for stride, span in spans.items():
        if is_packed or stride * size >= unit:
            rows *= span + 1
        else:
            run += stride * span
    return rows * (size if is_packed or rows == run == 1 else max(run * size, unit))
