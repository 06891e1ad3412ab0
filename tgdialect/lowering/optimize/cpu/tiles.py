"""The tile of results that is kept in registers, with vectors along one range of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from tgdialect.analysis.affine.lanes import is_near
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.nests import Access, Nests, cycles_of, is_arithmetic
from tgdialect.lowering.optimize.cpu.vectors import (
    is_apart,
    is_expandable,
    is_packable,
    lanes_along,
    packed_bytes,
    transposed_row,
)
from tgdialect.lowering.optimize.optops.apply import opt, try_opt
from tgdialect.lowering.optimize.optops.split import may_overlap
from tgdialect.ops.attributes import AxisType, OptAttr, OptOp
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.reduce import ReduceOp
from tgdialect.targets import Target

# Weights of the model that the tile with the least cost is chosen by, and bounds of that choice.
# They are ratios, and so no fields of `Target`; like its fitted defaults they come from timing
# kernels on one CPU (docs/decisions.md, "Schedules").

MAX_WASTE = 1.1
"""How many times as many iterations padding may make of a range: wider tiles against idle lanes."""

OPS_PER_TILE = 64
"""Beyond this many elementwise ops on vectors, a longer loop body gains nothing: it compiles for
longer."""

MAX_TRANSPOSED_OPS = 400
"""How many ops on vectors may be done to a square that is transposed in registers: compile time
against stores of single elements."""

OPS_PER_STEP = 16
"""How many ops a step of a reduction may have for its tile to be as large as it can be: their
intermediate values need registers as well."""

OPS_PER_REGISTER = 40
"""How many ops a result of a reduction may go through for its tile to be as large as it can be:
all of them are written out for each register."""

MOST_ROWS, MOST_VECTORS = 16, 8
"""The tallest and the widest tile that is tried, where the registers have room for it: larger ones
compile for longer, and are not faster."""

SHORT, MAX_STEPS, MAX_UNROLLED = 64, 9, 600
"""Up to how many steps a reduction has of which some are written out; how many those are, and how
many cycles they take in all: the loop's overhead against the size of the code."""

LOAD_COST = 0.75
"""The time of a vector's load, in multiply-accumulates, next to which it is done: the more, the
more the tile is a square."""

SPLAT_COST = 0.25
"""The same of a load of one element for all lanes, which a multiply-accumulate may do itself."""

APART = 0.1
"""The part by which a load is dearer where each row lies in a cache line of its own."""

CODE_COST = 1.5e-4
"""The cost of an op for being there: a tile twice as large compiles for twice as long."""

STREAM_COST = 0.025
"""The cost of each row that is loaded for one use: a core follows few streams at once."""

MASK_COST = 1.06
"""How many times as long a step takes whose vectors are masked: masks against narrower tiles."""

ROW_MASK_STEPS = 8
"""How many steps the masks of padded rows take: they are the same for all steps of a tile."""


class TileWork(NamedTuple):
    """What is done for each register of a tile."""

    reductions: int
    epilogue: int
    """Cycles of what is done to the result of the reduction."""
    body: int
    """Cycles of one of its steps."""
    steps: int
    """How many steps it has."""


class Tile(NamedTuple):
    """A tile of results: its rows, how many there are, and the vectors of each."""

    row: RangeOp | None
    height: int
    vectors: int


def tile_opts(nests: Nests, vector: RangeOp, target: Target) -> Sequence[OptAttr]:
    """The OptOps that keep a tile of results in registers, with vectors along a range."""
    axes = nests.axes
    lanes = lanes_along(nests, vector, target)
    reduces = [
        op
        for op in axes.ops
        if isinstance(op, ReduceOp) and (vector in axes.open[op] or vector in closed_ranges(op))
    ]
    opts: list[OptAttr] = []
    if reduces:
        heaviest = max(reduces, key=nests.trips)
        work = _work(nests, reduces, heaviest, vector, target)
        tile = _reduction_tile(nests, heaviest, work, vector, target)
        loaded = sum(_loaded(a, vector, lanes) for a in _reads(nests, heaviest))
        step = tile.height * tile.vectors * (work.body + loaded)
        opts += _unrolled(nests, heaviest, vector, step)
    else:
        tile = _elementwise_tile(nests, vector, lanes)
    kind = AxisType.UPCAST if vector in axes.ends else AxisType.GROUP_REDUCE
    width = _width(nests.extent(vector), lanes, tile.vectors)
    overlap = not reduces
    if tile.row is not None and tile.height > 1:
        opts += _parts(nests, tile.row, tile.height, AxisType.UPCAST, "clamp", overlap=overlap)
    return [*opts, *_parts(nests, vector, width, kind, overlap=overlap)]


def _loaded(access: Access, vector: RangeOp, lanes: int) -> int:
    """How many loads it takes for the lanes of a vector that are apart."""
    if not is_apart(access, vector):
        return 0
    stride = access.strides[vector]
    return 2 * abs(stride) if is_near(stride, lanes) else lanes


def _work(
    nests: Nests, reduces: Sequence[ReduceOp], heaviest: ReduceOp, vector: RangeOp, target: Target
) -> TileWork:
    axes, loops = nests.axes, set(closed_ranges(heaviest))
    inner = [op for op in nests.work if vector in axes.open[op]]
    steps = [op for op in inner if axes.open[op] & loops]
    after = [op for op in inner if not axes.open[op] & loops]
    epilogue = sum(cycles_of(op, target) for op in after if is_arithmetic(op))
    # What is not together in memory is accessed lane by lane.
    apart = [a for a in nests.accesses if a.op in after and is_apart(a, vector)]
    epilogue += lanes_along(nests, vector, target) * len(apart)
    body = sum(cycles_of(op, target) for op in steps)
    trips = math.prod(nests.extent(r) for r in loops if r is not vector)
    return TileWork(len(reduces), epilogue, body, trips)


def _reduction_tile(
    nests: Nests, reduce: ReduceOp, work: TileWork, vector: RangeOp, target: Target
) -> Tile:
    """The tile of the results of a reduction."""
    axes = nests.axes
    lanes = lanes_along(nests, vector, target)
    rows = [
        r
        for r in axes.ranges.values()
        if r in axes.open[reduce]
        and r is not vector
        and r in axes.ends
        and is_expandable(axes, r)
        # A copy of a buffer for each row would gain nothing.
        and not axes.shared_buffers(r)
    ]
    reads = _reads(nests, reduce)
    packed = [
        packed_bytes(nests, a.op, vector, lanes)
        for a in reads
        if isinstance(a.op, LoadOp)
        and is_apart(a, vector)
        and is_packable(nests, a.op, vector, lanes, target)
    ]
    most = min([MOST_VECTORS, *(target.copied // each for each in packed)])
    if packed:
        most = min(most, -(-nests.extent(vector) // lanes) - 1)
    return _best_tile(nests, reads, rows, vector, lanes, target, most, work)


def _reads(nests: Nests, reduce: ReduceOp) -> Sequence[Access]:
    """What the steps of a reduction load."""
    loops = set(closed_ranges(reduce))
    opened = nests.axes.open
    return [a for a in nests.accesses if isinstance(a.op, LoadOp) and loops & opened[a.op]]


def _unrolled(nests: Nests, reduce: ReduceOp, vector: RangeOp, step: int) -> Iterator[OptAttr]:
    """Write out a reduction that is short, as those of a pool or of a depthwise convolution are,
    of steps of so many cycles; or its inner loops, if it is too long for that."""
    loops = [r for r in closed_ranges(reduce) if r is not vector]
    if math.prod(map(nests.extent, loops)) > SHORT:
        return
    steps, written = 1, list[RangeOp]()
    for range in reversed(loops):
        steps *= nests.extent(range)
        if steps > MAX_STEPS or steps * step > MAX_UNROLLED:
            break
        written.append(range)
    for range in reversed(written):
        yield opt(OptOp.SPLIT, range.axis.data, nests.extent(range), AxisType.UNROLL.value)


def _elementwise_tile(nests: Nests, vector: RangeOp, lanes: int) -> Tile:
    inner = [op for op in nests.work if vector in nests.axes.open[op]]
    for op in inner:
        if op in nests.stride_of and (row := transposed_row(nests, op, vector)) is not None:
            height = _width(nests.extent(row), lanes, 1)
            return Tile(row, height if height * len(inner) <= MAX_TRANSPOSED_OPS else 1, 1)
    return Tile(None, 1, max(1, min(4, OPS_PER_TILE // max(len(inner), 1))))


def _width(extent: int, lanes: int, vectors: int) -> int:
    """How many iterations of a range a tile has: `vectors` vectors or fewer."""
    if extent <= lanes * vectors:
        return extent
    for count in range(vectors, 0, -1):
        if extent % (lanes * count) == 0 and 2 * count >= vectors:
            return lanes * count
    for count in range(vectors, 0, -1):
        padded = -(-extent // (lanes * count)) * lanes * count
        if padded <= MAX_WASTE * extent:
            return lanes * count
    return lanes


def _parts(
    nests: Nests, range: RangeOp, size: int, kind: AxisType, *how: str, overlap: bool
) -> Iterator[OptAttr]:
    """The OptOps that split parts of a size off a range; if need be the last begins in the one
    before, where they may `overlap`, or else the range is padded."""
    axis, extent = range.axis.data, nests.extent(range)
    if overlap and may_overlap(nests.axes, range, size):
        yield opt(OptOp.SPLIT, axis, size, kind.value, "overlap")
        return
    if extent % size:
        yield opt(OptOp.PADTO, axis, size, *how)
    yield opt(OptOp.SPLIT, axis, size, kind.value)


def _best_tile(
    nests: Nests,
    reads: Sequence[Access],
    rows: Sequence[RangeOp],
    vector: RangeOp,
    lanes: int,
    target: Target,
    most: int,
    work: TileWork,
) -> Tile:
    """The range and the height of the rows of a tile, and how many vectors a row has.

    A step of the reduction takes one multiply-accumulate for each register of the tile, and loads
    for the tile of each operand: the fewer loads for each, the better, and the fewer iterations
    that padding adds.
    """
    best, least = Tile(None, 1, 1), math.inf
    registers = target.vector_registers
    width = nests.extent(vector)
    reused = [r for r in rows if any(not a.strides.get(r, 0) for a in reads)]
    along = sum(1 for a in reads if a.strides.get(vector, 0) != 0)
    for row, vectors in product((None, *reused), range(1, most + 1)):
        if lanes * (vectors - 1) >= width:
            continue
        used = -(-_width(width, lanes, vectors) // lanes)
        if used != vectors:
            continue
        across = _padding(width, min(lanes * vectors, width), MASK_COST)
        for height in range(1, min(MOST_ROWS, nests.extent(row) if row is not None else 1) + 1):
            results = height * vectors
            # Accumulators, a row of each operand, and one for what all lanes have.
            if results * work.reductions + vectors * along + 1 >= registers:
                break
            if (
                results * max(work.epilogue / OPS_PER_REGISTER, work.body / OPS_PER_STEP)
                > registers
            ):
                break
            loads = sum(_loads(a, vector, row, height, vectors, target) for a in reads)
            extent = nests.extent(row) if row is not None else 1
            down = _padding(extent, height, 1 + ROW_MASK_STEPS / work.steps)
            # Enough sums have to be on their way at once for the latency of an addition.
            latency = max(1.0, target.mulaccs_in_flight / (results * work.reductions))
            streams = height * STREAM_COST if any(_is_stream(a, vector, row) for a in reads) else 0
            cost = down * across * latency * (1 + loads / results + streams)
            cost += CODE_COST * results * (work.body + work.epilogue)
            if cost < least - 1e-9:
                best, least = Tile(row, height, vectors), cost
    return best


def _is_stream(access: Access, vector: RangeOp, row: RangeOp | None) -> bool:
    """Whether a tile uses what it loads once only: a row of it is a stream from memory then."""
    return row is not None and 0 not in (access.strides.get(vector, 0), access.strides.get(row, 0))


def _padding(extent: int, size: int, mask_cost: float) -> float:
    """How much more work parts of a size make of a range; masks take time too."""
    return -(-extent // size) * size / extent * (mask_cost if extent % size else 1.0)


def _loads(
    access: Access,
    vector: RangeOp,
    row: RangeOp | None,
    height: int,
    vectors: int,
    target: Target,
) -> float:
    """What the loads take for one step of a reduction."""
    along = access.strides.get(vector, 0)
    count = 1.0 if along == 0 else float(vectors)
    if row is not None and (stride := access.strides.get(row, 0)) != 0:
        line = target.cache_line
        apart = line if stride is None else min(abs(stride) * access.itemsize, line)
        count *= height * (1 + APART * apart / line)
        is_one_set = stride is not None and stride * access.itemsize % target.l1_way == 0
        if is_one_set and height > target.l1_ways:
            count *= 2
    return count * (SPLAT_COST if along == 0 else LOAD_COST)


def split_off(axes: Axes, which: OptAttr) -> RangeOp | None:
    """Apply an OptOp; the range of the tile that a SPLIT has made, if it has."""
    before = set(axes.ranges.values())
    if not try_opt(axes, which):
        return None
    axis, _, *words = (a.data for a in which.arguments)
    kind = words[0] if words else None
    if kind not in set(EXPANDED):
        return None
    made = [r for r in axes.ranges.values() if r not in before and r.axis_type.data == kind]
    return made[0] if made else axes[int(axis)]


def nest_parts(axes: Axes, parts: Sequence[RangeOp]) -> None:
    """Have the parts of a tile nest in this order: vectors lie along the last."""
    tile = [part for part in parts if part in axes.ends]
    if len(tile) > 1:
        nest = [r for r in reversed(closed_ranges(axes.ends[tile[-1]])) if r in tile]
        if nest != tile:
            try_opt(axes, opt(OptOp.ORDER, *(part.axis.data for part in tile)))
