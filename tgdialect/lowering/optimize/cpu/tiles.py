"""Register tiles: the results that one iteration of a nest keeps in registers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from tgdialect.analysis.affine.lanes import is_near
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.vectors import (
    Gains,
    alike,
    is_apart,
    is_expandable,
    is_packable,
    lanes_along,
    loop_outside,
    packed_bytes,
    transposed_row,
)
from tgdialect.lowering.optimize.nests import Nests, StridedAccess, is_arithmetic
from tgdialect.lowering.optimize.optops.apply import attempt, opt, try_opt
from tgdialect.lowering.optimize.optops.split import may_overlap
from tgdialect.ops import tg
from tgdialect.targets.costs import cycles_of

# Weights and bounds of the model. They are ratios, and so no fields of `Target`; like its fitted
# defaults they come from timing kernels on one CPU (docs/notes/heuristic.md).

OPS_PER_TILE = 64
"""The most elementwise ops on vectors of a loop body. Larger: longer compilation for the same
speed; smaller: the loop's own instructions count."""

MAX_TRANSPOSED_OPS = 400
"""The most ops on vectors for a tile that is transposed in registers: compile time against stores
of single elements."""


def cheapest_tile(nests: Nests, vector: tg.RangeOp, gains: Gains) -> tg.RangeOp:
    """Of the ranges of a nest along which vectors save about as much as along `vector`, the one
    whose register tile costs least."""
    ranges = alike(nests, vector, gains)
    if len(ranges) == 1 or vector not in nests.reductions_along:
        return vector

    def cost(range: tg.RangeOp) -> float:
        reduces = nests.reductions_along.get(range)
        return ReductionTiles(nests, reduces, range).cheapest().cost if reduces else math.inf

    return min(ranges, key=cost)


def write_out_reductions(axes: Axes) -> None:
    """Unroll the reductions of a kernel without other loops that have few steps in all."""
    steps = 1
    for range in list(axes.ranges.values()):
        extent = tg.known_index(range.bound)
        if extent is None or (steps := steps * extent) > MAX_STEPS:
            return
        if range.axis_type.data is tg.AxisType.REDUCE and extent > 1:
            attempt(axes, tg.OptOp.SPLIT, range.axis.data, extent, tg.AxisType.UNROLL)


def tile_opts(nests: Nests, vector: tg.RangeOp) -> Sequence[tg.OptAttr]:
    """The OptOps that keep a tile of results in registers, with vectors along a range."""
    axes = nests.axes
    lanes = lanes_along(nests, vector)
    opts: list[tg.OptAttr] = []
    if reduces := nests.reductions_along.get(vector):
        tile = ReductionTiles(nests, reduces, vector).cheapest()
        for range in reversed(tile.written):
            extent = nests.extent(range)
            opts.append(opt(tg.OptOp.SPLIT, range.axis.data, extent, tg.AxisType.UNROLL.value))
    else:
        tile = _elementwise_tile(nests, vector, lanes)
    kind = tg.AxisType.UPCAST if vector in axes.ends else tg.AxisType.GROUP_REDUCE
    width = tile_width(nests.extent(vector), lanes, tile.vectors)
    if tile.row is not None and tile.height > 1:
        opts += _parts(nests, tile.row, tile.height, tg.AxisType.UPCAST, "clamp")
    if tile.column is not None:
        opts += _parts(nests, tile.column, tile.columns, tg.AxisType.UPCAST, "clamp")
    return [*opts, *_parts(nests, vector, width, kind)]


def _elementwise_tile(nests: Nests, vector: tg.RangeOp, lanes: int) -> Tile:
    """The register tile of a nest without reductions: squares if it transposes, else some
    vectors."""
    inner = nests.work_in.get(vector, ())
    for op in inner:
        if op in nests.stride_of and (row := transposed_row(nests, op, vector)) is not None:
            height = tile_width(nests.extent(row), lanes, 1)
            return Tile(row, height if height * len(inner) <= MAX_TRANSPOSED_OPS else 1, 1)
    # The remainder of floats alone takes the registers of several vectors, since f32 is f64 in it.
    ops = sum(OPS_PER_TILE if isinstance(op, tg.FmodOp) else 1 for op in inner)
    return Tile(None, 1, max(1, min(4, OPS_PER_TILE // max(ops, 1))))


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


# -- reductions: loads, masks, latencies and code size ---------------------------------------------

# Weights and bounds of the model. They are ratios, and so no fields of `Target`; like its fitted
# defaults they come from timing kernels on one CPU (docs/notes/heuristic.md).

MAX_WASTE = 1.1
"""The most that padding may multiply the iterations of a range by: wider tiles against idle
lanes."""

OPS_PER_STEP = 16
"""With more ops than this per step of a reduction the tile gets smaller: intermediate values need
registers, too."""

OPS_PER_REGISTER = 40
"""With more ops than this in the epilogue of a reduction the tile gets smaller: the epilogue is
written out for each register."""

MOST_ROWS, MOST_VECTORS = 16, 8
"""The tallest and the widest tile that is tried, where the registers have room for it. Larger:
longer compilation, and no faster code; smaller: more loads for each multiply-accumulate."""

DYNAMIC_ROWS = 4
"""The most rows along a range whose extent is one dynamic size; twice as many along one that is a
product, as all columns of all rows of an image. Larger: fewer loads; but if there are fewer rows
than a tile has, all are masked."""

PACKED_AT_ONCE = 2
"""The most vectors of a tile that is all of its nest, with a packed operand. Fewer: with one vector
each element of the other operand is loaded for one multiply-accumulate; more: nests are not divided
into tiles, which may have more rows. 14 by 2 vectors took 0.92 of the time of 3 by 4."""

SHORT, MAX_STEPS, MAX_UNROLLED = 64, 9, 600
"""The most steps of a reduction that is unrolled, the most of them that are written out, and the
most cycles of these. Larger: more code to compile; smaller: more overhead of loops."""

FEW_STEPS = 4
"""The most steps of a long reduction that are written out: the branch at the end of a loop of so
few is often not predicted. Larger: more code; smaller: more mispredictions. A convolution of 64
channels by 3x3 takes 0.85 of the time with the columns of its windows written out, and no less with
their rows as well; it has a third more ops."""

LOAD_COST = 0.75
"""The time of a vector load, in multiply-accumulates. Larger: squarer tiles, with fewer loads."""

SPLAT_COST = 0.25
"""The time of a load that broadcasts one element to all lanes, in the same unit: less, as a
multiply-accumulate may do it itself. Larger: wider tiles."""

APART = 0.1
"""Extra load cost when each row lies in its own cache line, as a fraction. Larger: fewer rows in
such a tile."""

ONE_SET = 1.1
"""The factor of the cost of loads if the rows of a tile evict one another from one set of L1.
Larger: fewer rows, whose vectors are loaded more often; with 1, rows that are farther apart than
necessary are chosen as well: 1.04 times the time. From timing products with rows of 4096 bytes: 14
rows by 2 vectors take 0.91 of the time of 6 by 4 in a ResNet-50, and are alike for other numbers of
rows."""

SCATTERED_STORE = 4.0
"""The time of a STORE of one lane, in multiply-accumulates; that of one lane of all rows of a tile
that is transposed takes as long. It decides between rows that load alike; larger: also for taller
tiles of short reductions. From timing: the gradient of the input of a convolution, with 576 steps
for each result, takes 0.87 of the time with rows that are neighbours in memory."""

CODE_COST = 1.5e-4
"""The cost of an op's code, in multiply-accumulates. Larger: smaller tiles, which compile faster: a
tile twice as large takes twice as long."""

STREAM_COST = 0.025
"""The cost of each row that is loaded and used once, in multiply-accumulates: a core prefetches few
streams at a time. Larger: fewer rows."""

MASK_COST = 1.06
"""The factor by which masked vectors slow down a step. Larger: narrower tiles without masks."""

ROW_MASK_STEPS = 8
"""The time of the masks of padded rows, in steps of the reduction: a tile computes them once.
Larger: fewer padded rows in short reductions."""


class Tile(NamedTuple):
    """A register tile: `height` iterations of the range `row`, each of `vectors` vectors."""

    row: tg.RangeOp | None
    height: int
    vectors: int
    cost: float = 0.0
    """The time of a multiply-accumulate of its results, in those that wait for nothing."""
    written: Sequence[tg.RangeOp] = ()
    """The loops of its reduction that are written out, the innermost first."""
    column: tg.RangeOp | None = None
    """Where vectors lie along the reduction, another range whose iterations share loads."""
    columns: int = 1
    """How many iterations of it the tile has."""


class _Rows(NamedTuple):
    """The loads of an operand by the rows of a tile, in the steps that are written out."""

    loaded: float
    """Elements, or vectors of them, for each step."""
    held: int = 0
    """How many of them stay in registers from one step to a later one that uses them again."""


class ReductionTiles:
    """The register tiles of the results of reductions, with vectors along a range of the nest.

    A step of the reduction takes one multiply-accumulate per register of the tile, and loads a row
    or a column of each operand.
    """

    def __init__(self, nests: Nests, reduces: Sequence[tg.ReduceOp], vector: tg.RangeOp) -> None:
        axes, opened, target = nests.axes, nests.axes.open, nests.target
        self._nests, self._vector, self._target = nests, vector, target
        self._lanes = lanes_along(nests, vector)
        self._accumulators = len(reduces)
        """How many a register of results has."""
        self._reduce = reduce = max(reduces, key=nests.trips)
        """The one that runs most often."""
        loops = {*closed_ranges(reduce)}
        self._reads = [a for a in nests.loads if loops & opened[a.op]]
        """The LOADs in its loops."""
        self._splats = [a.strides for a in self._reads if not a.strides.get(vector, 0)]
        """The strides of those whose elements are broadcast to all lanes."""
        around = [r for r in axes.ranges.values() if r in opened[reduce] and r in axes.ends]
        rows = [r for r in around if r is not vector and is_expandable(axes, r)]
        # Each row of one with a buffer would need a copy of that, which gains nothing.
        self._rows = [r for r in rows if not axes.shared_buffers(r)]
        self._steps = math.prod(nests.extent(r) for r in loops if r is not vector)
        inner = nests.work_in.get(vector, ())
        self._body = sum(cycles_of(op, target) for op in inner if opened[op] & loops)
        """The cycles of one step for a register, without loads of single lanes."""
        self._step = self._body + sum(map(self._single_loads, self._reads))
        """The same with these loads."""
        # Cells that are not neighbours in memory are accessed lane by lane, unless rows transpose
        # them.
        after = [op for op in inner if not opened[op] & loops and is_arithmetic(op)]
        found = (a for a in nests.accesses_along([vector]) if is_apart(a, vector))
        apart = [a.op for a in found if not opened[a.op] & loops]
        stores = [op for op in apart if not isinstance(op, tg.LoadOp)]
        self._epilogue = sum(cycles_of(op, target) for op in after)
        self._epilogue += self._lanes * (len(apart) - len(stores))
        """The cycles for a register after the reduction, without STOREs in columns."""
        self._columns = [transposed_row(nests, op, vector) for op in stores]
        """For each STORE of results whose lanes are apart in memory: the range along which its
        cells are neighbours, so that a tile of that range is transposed in registers; or None."""

    def cheapest(self) -> Tile:
        """The tile of least cost for each multiply-accumulate of its results."""
        best = Tile(None, 1, 1, math.inf)
        for shape in self._shapes():
            tile = self._tile(*shape)
            if tile.cost < best.cost - 1e-9:
                best = tile
        if self._vector in self._nests.axes.ends:
            return best
        return min((best, *self._squares()), key=lambda tile: tile.cost)

    # -- the tiles

    def _shapes(self) -> Iterator[tuple[tg.RangeOp | None, int, int]]:
        """The rows, how many of them, and the vectors of each tile for which there are enough
        registers."""
        registers, width = self._target.vector_registers, self._nests.extent(self._vector)
        for row, vectors in product((None, *self._useful_rows), range(1, self._most_vectors + 1)):
            if -(-tile_width(width, self._lanes, vectors) // self._lanes) != vectors:
                continue
            for height in range(1, self._most_rows(row) + 1):
                results = height * vectors
                epilogue = self._epilogue + self._stores(row, height)
                code = max(epilogue / OPS_PER_REGISTER, self._body / OPS_PER_STEP)
                if self._registers(row, height, vectors) >= registers or results * code > registers:
                    break
                yield row, height, vectors

    @cached_property
    def _useful_rows(self) -> Sequence[tg.RangeOp]:
        """The ranges whose iterations share loads, or stores."""
        shared = {r for r in self._rows if any(not a.strides.get(r, 0) for a in self._reads)}
        return [r for r in self._rows if r in shared or r in self._columns]

    @property
    def _most_vectors(self) -> int:
        """The most vectors of a tile whose packed operands fit into the caches."""
        nests, vector, lanes, target = self._nests, self._vector, self._lanes, self._target
        apart = [(a, a.op) for a in self._reads if is_apart(a, vector)]
        loads = [(a, op) for a, op in apart if isinstance(op, tg.LoadOp)]
        packed = [(a, op) for a, op in loads if is_packable(nests, op, vector, lanes)]
        bytes = [packed_bytes(nests, op, vector, lanes) for _, op in packed]
        most = min([MOST_VECTORS, *(target.copied // each for each in bytes)])
        if packed:
            # A copy is made in the loop over tiles, of which there has to be more than one, or for
            # all of the nest outside of loops around it.
            nest = nests.axes.ends.get(vector)
            outside = [nest is not None and loop_outside(nests, a, nest) for a, _ in packed]
            fewest = 1 if all(outside) else 2
            tiles = -(-nests.extent(vector) // lanes)
            most = min(most, max(tiles - 1, min(tiles // fewest, PACKED_AT_ONCE)))
        return most

    def _extent(self, row: tg.RangeOp | None) -> int:
        return 1 if row is None else self._nests.extent(row)

    def _most_rows(self, row: tg.RangeOp | None) -> int:
        """The most rows of a tile along a range."""
        if row is not None and tg.known_index(row.bound) is None:
            is_product = any(len(term) > 1 for term in tg.polynomial(row.bound).terms)
            return DYNAMIC_ROWS * (2 if is_product else 1)
        return min(MOST_ROWS, self._extent(row))

    def _stores(self, row: tg.RangeOp | None, height: int) -> float:
        """The STOREs for each vector of results: one for each lane, or for that of all rows."""
        return sum(self._lanes / (height if r is row else 1) for r in self._columns)

    def _registers(self, row: tg.RangeOp | None, height: int, vectors: int) -> int:
        """The registers of a tile: accumulators, a row of each operand, and broadcast elements."""
        along, broadcast = len(self._reads) - len(self._splats), 1
        if self._target.load_store:
            apart = sum(1 for s in self._splats if row is not None and s.get(row, 0) != 0)
            broadcast = len(self._splats) + (height - 1) * apart
        return height * vectors * self._accumulators + vectors * along + broadcast

    def _squares(self) -> Iterator[Tile]:
        """Tiles of two ranges, with one vector along the reduction for each result: each of two
        factors depends on one of them, so that a load is used for all iterations of the other. They
        divide their ranges."""
        reads, extent, registers = self._reads, self._extent, self._target.vector_registers
        used = {a.op: {r for r in self._rows if a.strides.get(r, 0)} for a in reads}
        if len(reads) != 2 or any(a.strides.get(self._vector, 0) != 1 for a in reads):
            return
        first, second = used.values()
        if extent(self._vector) < self._lanes or self._accumulators > 1:
            return
        for row, column in product(first - second, second - first):
            sizes = range(2, MOST_ROWS + 1)
            down, across = ([n for n in sizes if extent(r) % n == 0] for r in (row, column))
            for height, width in product(down, across):
                results, loads = height * width, height + width
                is_heavy = results * self._epilogue > OPS_PER_REGISTER * registers
                # The results, one factor, and a vector of the other or all of them.
                held = results + (loads if self._target.load_store else min(height, width) + 1)
                if held >= registers or is_heavy:
                    continue
                cost = self._latency(results) * (1 + LOAD_COST * (1 + APART) * loads / results)
                cost += CODE_COST * results * (self._body + self._epilogue)
                yield Tile(row, height, 1, cost, (), column, width)

    # -- their costs

    def _tile(self, row: tg.RangeOp | None, height: int, vectors: int) -> Tile:
        """A tile with its cost: the loads per multiply-accumulate, times the iterations that
        padding adds, times the latency that too few accumulators leave exposed."""
        reads, vector, results = self._reads, self._vector, height * vectors
        written = self._written_out(results * self._step)
        each = [self._loads_of_rows(a, row, height, written) for a in reads]
        counts = [vectors if access.strides.get(vector, 0) else 1 for access in reads]
        held = sum(rows.held * count for rows, count in zip(each, counts, strict=True))
        used = self._registers(row, height, vectors)
        if held and used + held >= self._target.vector_registers:
            # Steps load again the elements that they share. In a long reduction accumulators would
            # not stay in registers either: it is not written out.
            each = [_Rows(height)] * len(reads)
            if math.prod(map(self._extent, written)) < self._steps:
                written = ()
        pairs = zip(reads, each, strict=True)
        loads = sum(self._load_time(a, row, rows.loaded, vectors) for a, rows in pairs)
        width, stores = self._extent(vector), self._stores(row, height)
        across = _padding(width, min(self._lanes * vectors, width), MASK_COST)
        down = _padding(self._extent(row), height, 1 + ROW_MASK_STEPS / self._steps)
        streams = height * STREAM_COST if any(self._is_stream(a, row) for a in reads) else 0
        cost = down * across * self._latency(results) * (1 + loads / results + streams)
        cost += SCATTERED_STORE * stores / self._steps
        cost += CODE_COST * results * (self._body + (self._epilogue + stores))
        return Tile(row, height, vectors, cost, written)

    def _latency(self, results: int) -> float:
        """The factor of the time where too few accumulators wait for the addition before."""
        return max(1.0, self._target.mulaccs_in_flight / (results * self._accumulators))

    def _single_loads(self, access: StridedAccess) -> int:
        """The loads for the lanes of a vector, if they are not neighbours in memory; else 0."""
        if not is_apart(access, self._vector):
            return 0
        stride = access.strides[self._vector]
        return 2 * abs(stride) if is_near(stride, self._lanes) else self._lanes

    def _written_out(self, step: int) -> Sequence[tg.RangeOp]:
        """The loops of the reduction to write out, the innermost first: those of a short one, as
        that of a pool or of a depthwise convolution, or else as many of its inner loops as
        `MAX_STEPS` allows, and of a long one as `FEW_STEPS` does. `step` is the cycles of one
        step."""
        loops = [r for r in closed_ranges(self._reduce) if r is not self._vector]
        most = MAX_STEPS if math.prod(map(self._extent, loops)) <= SHORT else FEW_STEPS
        steps, written = 1, list[tg.RangeOp]()
        for range in reversed(loops):
            steps *= self._extent(range)
            if steps > most or steps * step > MAX_UNROLLED:
                break
            written.append(range)
        return written

    def _loads_of_rows(
        self,
        access: StridedAccess,
        row: tg.RangeOp | None,
        height: int,
        written: Sequence[tg.RangeOp],
    ) -> _Rows:
        """The loads of an operand by the rows of a tile, if some loops of its reduction are written
        out. Windows of neighbouring rows overlap: a row uses again the elements that an earlier
        step has loaded for the row after it. So do those of the steps of loops inside, which are
        written out in between."""
        rows, inside = _Rows(height), 1
        if row is None or not (apart := access.strides.get(row, 0)):
            return rows
        for loop in written:
            steps = self._extent(loop)
            if step := access.strides.get(loop, 0):
                used = [{i * apart + k * step for i in range(height)} for k in range(steps)]
                loaded = len(set[int]().union(*used)) / steps
                again = max((len(now & after) for now, after in combinations(used, 2)), default=0)
                if loaded < rows.loaded:
                    rows = _Rows(loaded, again * inside)
                inside *= steps
        return rows

    def _load_time(
        self, access: StridedAccess, row: tg.RangeOp | None, height: float, vectors: int
    ) -> float:
        """The time of one access in a step of a reduction, in multiply-accumulates."""
        along, target = access.strides.get(self._vector, 0), self._target
        count = 1.0 if along == 0 else float(vectors)
        if row is not None and (stride := access.strides.get(row, 0)) != 0:
            line = target.cache_line
            count *= height * (1 + APART * access.apart(row, line) / line)
            is_one_set = stride is not None and stride * access.itemsize % target.l1_way == 0
            if is_one_set and height > target.l1_ways:
                count *= ONE_SET
        return count * (SPLAT_COST if along == 0 else LOAD_COST)

    def _is_stream(self, access: StridedAccess, row: tg.RangeOp | None) -> bool:
        """Whether a tile uses each element of a load once: then each row is a stream from
        memory."""
        strides = access.strides
        return row is not None and 0 not in (strides.get(self._vector, 0), strides.get(row, 0))


def tile_width(extent: int, lanes: int, vectors: int) -> int:
    """The iterations of a range that a tile has: at most `vectors` vectors, as many as divide the
    range or pad it by at most `MAX_WASTE`."""
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


def _padding(extent: int, size: int, mask_cost: float) -> float:
    """The factor by which parts of a size multiply the work on a range: padding, and its masks."""
    return -(-extent // size) * size / extent * (mask_cost if extent % size else 1.0)
