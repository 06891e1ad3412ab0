"""A schedule from a model of the machine: vectors, register tiles, loop order, threads.

For each loop nest of a kernel it chooses the range that vectors lie along, then the tile of results
that is kept in registers, so that what is loaded is used as often as possible; what is left is put
in an order in which caches help, and shared among threads if it is long enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from xdsl.ir import Operation

from tgdialect.analysis.machine import Machine
from tgdialect.analysis.memory_order import memory_of
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.expand.tile import EXPANDED
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.nests import Access, Nests, cycles, cycles_of, is_arithmetic
from tgdialect.lowering.optimize.opts import apply_opt, check_split, opt
from tgdialect.ops.attributes import AxisType, OptAttr, OptOp
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import dtype_of, known_index
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ParamOp

TOGETHER, GATHER, SCATTER = 0.005, 1.5, 2.0
"""What a vector access to neighbouring cells saves of an op, and what one to cells apart costs more
than as many scalar ones: a tile uses again what it loads, but it stores each result."""

ACROSS = 0.97
"""What vectors along a reduction save, of what others do: only they do not use a row of a tile for
one of the other operand's as well."""

MAX_WASTE = 1.1
"""How many times as many iterations padding may make of a range."""

OPS_PER_TILE = 64
"""Beyond this many elementwise ops on vectors, a longer loop body gains nothing."""

MAX_TRANSPOSED_OPS = 400
"""How many ops on vectors may be done to a square that is transposed in registers."""

OPS_PER_STEP = 16
"""How many ops a step of a reduction may have for its tile to be as large as it can be."""

OPS_PER_REGISTER = 40
"""How many ops a result of a reduction may go through for its tile to be as large as it can be:
all of them are written out for each register."""

LOAD_COST = 0.5
"""What a load takes of a multiply-accumulate, next to which it is done."""

APART = 0.1
"""What more it takes where rows are in cache lines of their own."""

ROWS = 8
"""How many rows of a tile use what is loaded for one of them, as an order of magnitude."""

LINE_COST = 4
"""How many times as long it takes to load what is apart along a tile: whole lines for parts."""

CODE_COST = 1.5e-4
"""What an op costs for being there: a tile twice as large compiles for twice as long."""

STREAM_COST = 0.025
"""What each row costs that is loaded for one use: a core follows few streams at once."""

MASK_COST = 1.06
"""What a loop over padded parts takes more."""

THREAD_CYCLES = 30_000
"""How long work takes, on one core, that is worth a parallel region."""

MAX_IMBALANCE = 1.03
"""How much longer threads may take because their chunks cannot be divided evenly."""

CACHE_LINE = 64
PAGE = 4096
MANY_PAGES = 512
"""How many pages a tile may be spread over before it is copied together, and their bytes."""

MIN_REUSE, MIN_APART = 4, 2
"""How often a loop has to use such a tile for the copy to be worth while, and one whose lanes are
apart."""


def schedule(axes: Axes, machine: Machine) -> None:
    """Apply OptOps to a kernel. One that turns out to be illegal is left out."""
    nests = Nests(axes)
    if any(not nests.extent(range) for range in axes.ranges.values()):
        return
    long_enough = machine.threads > 1 and cycles(nests, machine) >= THREAD_CYCLES
    vectors = list(_vector_ranges(nests, machine)) if machine.vector_bits else []
    tiles = [_tile(nests, range, machine) for range in vectors]
    for opts in tiles:
        parts = [part for each in opts if (part := _part_of(axes, each)) is not None]
        _have_last(axes, parts)
    _order(Nests(axes))
    if long_enough:
        _thread(Nests(axes), machine)
    _pack(Nests(axes), machine)


def _try(axes: Axes, which: OptAttr) -> bool:
    try:
        apply_opt(axes, which)
    except IllegalOptError:
        return False
    return True


def _part_of(axes: Axes, which: OptAttr) -> RangeOp | None:
    """Apply an OptOp; the range of the tile that a SPLIT has made, if it has."""
    before = set(axes.ranges.values())
    if not _try(axes, which):
        return None
    kind = which.arguments.data[-1].data
    if kind not in set(EXPANDED):
        return None
    (axis, *_) = (a.data for a in which.arguments)
    made = [r for r in axes.ranges.values() if r not in before and r.axis_type.data == kind]
    return made[0] if made else axes[int(axis)]


def _have_last(axes: Axes, parts: Sequence[RangeOp]) -> None:
    """Have the parts of a tile nest in this order: vectors lie along the last."""
    tile = [part for part in parts if part in axes.ends]
    if len(tile) > 1:
        nest = [r for r in reversed(closed_ranges(axes.ends[tile[-1]])) if r in tile]
        if nest != tile:
            _try(axes, opt(OptOp.ORDER, *(part.axis.data for part in tile)))


# -- vectors -------------------------------------------------------------------------------------


def _vector_ranges(nests: Nests, machine: Machine) -> Iterator[RangeOp]:
    """The ranges that vectors lie along: for each op one at most."""
    best: dict[Operation, tuple[float, list[RangeOp]]] = {}
    axes = nests.axes
    inside: dict[Operation, list[EndOp | ReduceOp]] = {}
    for closer in nests.closers:
        inside[closer] = [
            other
            for other in nests.closers
            if other is not closer and axes.open[other] & set(closed_ranges(closer))
        ]
        options = [(0.0, None), *((_gain(nests, r, machine), r) for r in closed_ranges(closer))]
        choices: list[tuple[float, list[RangeOp]]] = []
        for gain, range in options:
            if range is not None and gain <= 0:
                continue
            rest = [o for o in inside[closer] if range is None or range not in axes.open[o]]
            # Of nests within one another the outer ones count for theirs.
            outer = [o for o in rest if not any(o in inside.get(p, ()) for p in rest)]
            chosen = [best[o] for o in outer if o in best]
            total = gain + sum(value for value, _ in chosen)
            ranges = [r for _, found in chosen for r in found]
            choices.append((total, [*ranges, *([range] if range is not None else [])]))
        best[closer] = max(choices, key=lambda choice: choice[0])
    roots = [c for c in nests.closers if not any(c in others for others in inside.values())]
    for root in roots:
        yield from best[root][1]


def _gain(nests: Nests, range: RangeOp, machine: Machine) -> float:
    """How many scalar ops vectors along a range save; not positive where they may not."""
    axes = nests.axes
    if not _is_expandable(axes, range):
        return 0.0
    lanes = _lanes(nests, range, machine)
    extent = nests.extent(range)
    # The last vector may have idle lanes.
    part = (1 - -(-extent // lanes) / extent) * (1 if range in axes.ends else ACROSS)
    saved = 0.0
    for op in nests.work:
        if range not in nests.around(op):
            continue
        if (access := nests.stride_of.get(op)) is None:
            saved += nests.trips(op) * part
        elif access.get(range, 0) in (0, 1, -1):
            saved += nests.trips(op) * part * TOGETHER
        elif not isinstance(op, LoadOp):
            saved -= nests.trips(op) * SCATTER
        elif _transposed(nests, op, range) is None:
            saved -= GATHER * _lanes_apart(nests, op, range, lanes, machine)
    return saved


def _lanes_apart(
    nests: Nests, load: LoadOp, vector: RangeOp, lanes: int, machine: Machine
) -> float:
    """How many lanes are loaded one by one, where they are apart along a vector: all that there are
    once if they are packed, or else for each row of a tile that uses them."""
    trips = nests.trips(load)
    if _is_packable(nests, load, vector, lanes, machine):
        return trips
    return trips * max(1.0, _uses(nests, load, vector) / ROWS)


def _uses(nests: Nests, load: LoadOp, vector: RangeOp) -> int:
    """How often the loops of a nest use what a LOAD loads."""
    loops = closed_ranges(nests.axes.nest(vector))
    strides = nests.stride_of[load]
    return math.prod(nests.extent(r) for r in loops if strides.get(r, 0) == 0)


def _is_packable(nests: Nests, load: LoadOp, vector: RangeOp, lanes: int, machine: Machine) -> bool:
    """Whether what a LOAD loads for one vector, of cells apart, can be copied together first."""
    # A copy is made in each iteration of a loop: the vectors of one tile must not be all.
    return (
        vector in nests.axes.ends
        and nests.extent(vector) >= 2 * lanes
        and _is_stageable(nests, load)
        and _packed_bytes(nests, load, vector, lanes) <= machine.l2
        and _uses(nests, load, vector) >= MIN_REUSE
    )


def _is_stageable(nests: Nests, load: LoadOp) -> bool:
    memory = memory_of(load.buffer).owner
    return isinstance(memory, ParamOp) and all(
        isinstance(a.op, LoadOp)
        for a in nests.accesses
        if memory_of(a.op.operands[0]).owner is memory
    )


def _packed_bytes(nests: Nests, load: LoadOp, vector: RangeOp, width: int) -> int:
    """What a LOAD loads for one tile of a nest whose vectors have so many elements in all."""
    loops = closed_ranges(nests.axes.ends[vector])
    inner = (r for r, stride in nests.stride_of[load].items() if stride != 0 and r not in loops)
    size = dtype_of(load.operands[0]).itemsize
    return width * size * math.prod(nests.extent(r) for r in inner)


def _transposed(nests: Nests, load: LoadOp, vector: RangeOp) -> RangeOp | None:
    """The range along which a LOAD is of neighbouring cells, where along `vector` it is not but
    both can be in one tile, which is then loaded row by row and put together column by column."""
    axes = nests.axes
    if vector not in axes.ends:
        return None
    strides = nests.stride_of[load]
    if strides.get(vector, 0) in (None, 0, 1, -1):
        return None
    for range, stride in strides.items():
        if stride == 1 and axes.ends.get(range) is axes.ends[vector]:
            return range if _is_expandable(axes, range) else None
    return None


def _is_expandable(axes: Axes, range: RangeOp) -> bool:
    kind = AxisType.UPCAST if range in axes.ends else AxisType.GROUP_REDUCE
    extent = known_index(range.bound)
    if extent is None or extent < 2:
        return False
    try:
        check_split(axes, range, kind, top=False)
    except IllegalOptError:
        return False
    return True


def _lanes(nests: Nests, range: RangeOp, machine: Machine) -> int:
    """The elements of a vector: of the widest dtype in the loop of a range."""
    sizes = [
        max(dtype_of(value).itemsize, 4 if dtype_of(value).is_float else 1)
        for op in nests.work
        if range in nests.axes.open[op]
        for value in (op.results[0] if is_arithmetic(op) else op.operands[0],)
    ]
    return machine.lanes(max(sizes, default=4))


# -- tiles ---------------------------------------------------------------------------------------


def _tile(nests: Nests, vector: RangeOp, machine: Machine) -> Sequence[OptAttr]:
    """The OptOps that keep a tile of results in registers, with vectors along a range."""
    axes = nests.axes
    lanes = _lanes(nests, vector, machine)
    inner = [op for op in nests.work if vector in axes.open[op]]
    reduces = [
        op
        for op in axes.ops
        if isinstance(op, ReduceOp) and (vector in axes.open[op] or vector in closed_ranges(op))
    ]
    is_group = vector not in axes.ends
    opts: list[OptAttr] = []
    if reduces:
        heaviest = max(reduces, key=nests.trips)
        after = [op for op in inner if not axes.open[op] & set(closed_ranges(heaviest))]
        epilogue = sum(cycles_of(op) for op in after if is_arithmetic(op))
        # What is not together in memory is accessed lane by lane.
        epilogue += lanes * sum(
            nests.stride_of[op].get(vector, 0) not in (0, 1, -1)
            for op in after
            if op in nests.stride_of
        )
        rows = [
            r
            for r in axes.ranges.values()
            if r in axes.open[heaviest]
            and r is not vector
            and r in axes.ends
            and _is_expandable(axes, r)
            # A copy of a buffer for each row would gain nothing.
            and not axes.shared_buffers(r)
        ]
        reads = [
            access
            for access in nests.accesses
            if isinstance(access.op, LoadOp) and set(closed_ranges(heaviest)) & axes.open[access.op]
        ]
        steps = [op for op in inner if axes.open[op] & set(closed_ranges(heaviest))]
        body = sum(cycles_of(op) for op in steps)
        packed = [
            _packed_bytes(nests, load, vector, lanes)
            for access in reads
            if isinstance(load := access.op, LoadOp)
            and _is_apart(access, vector)
            and _is_packable(nests, load, vector, lanes, machine)
        ]
        most = min([8, *(machine.l2 // each for each in packed)])
        if packed:
            most = min(most, -(-nests.extent(vector) // lanes) - 1)
        shape = Work(len(reduces), epilogue, body)
        row, height, vectors = _best_tile(
            nests, reads, rows, vector, lanes, machine.vector_registers, most, shape
        )
    else:
        vectors = max(1, min(4, OPS_PER_TILE // max(len(inner), 1)))
        loads = [op for op in inner if isinstance(op, LoadOp)]
        row = next((r for op in loads if (r := _transposed(nests, op, vector))), None)
        height = 1 if row is None else _width(nests.extent(row), lanes, 1)
        if row is not None:
            vectors = 1
            height = height if height * len(inner) <= MAX_TRANSPOSED_OPS else 1
    kind = AxisType.GROUP_REDUCE if is_group else AxisType.UPCAST
    if row is not None and height > 1:
        opts += _parts(nests, row, height, AxisType.UPCAST)
    opts += _parts(nests, vector, _width(nests.extent(vector), lanes, vectors), kind)
    return opts


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


def _parts(nests: Nests, range: RangeOp, size: int, kind: AxisType) -> Iterator[OptAttr]:
    """The OptOps that split parts of a size off a range, which is padded if need be."""
    axis, extent = range.axis.data, nests.extent(range)
    if extent % size:
        yield opt(OptOp.PADTO, axis, size)
    yield opt(OptOp.SPLIT, axis, size, kind.value)


class Work(NamedTuple):
    """What is done for each register of a tile."""

    reductions: int
    epilogue: int
    """Cycles of what is done to the result of the reduction."""
    body: int
    """Cycles of one of its steps."""


def _best_tile(
    nests: Nests,
    reads: Sequence[Access],
    rows: Sequence[RangeOp],
    vector: RangeOp,
    lanes: int,
    registers: int,
    most: int,
    work: Work,
) -> tuple[RangeOp | None, int, int]:
    """The range and the height of the rows of a tile, and how many vectors a row has.

    A step of the reduction takes one multiply-accumulate for each register of the tile, and loads
    for the tile of each operand: the fewer loads for each, the better, and the fewer iterations
    that padding adds.
    """
    best: tuple[float, RangeOp | None, int, int] = (math.inf, None, 1, 1)
    width = nests.extent(vector)
    reused = [r for r in rows if any(not a.strides.get(r, 0) for a in reads)]
    along = sum(1 for a in reads if a.strides.get(vector, 0) != 0)
    for row, vectors in product((None, *reused), range(1, most + 1)):
        if lanes * (vectors - 1) >= width:
            continue
        used = -(-_width(width, lanes, vectors) // lanes)
        if used != vectors:
            continue
        across = _padding(width, min(lanes * vectors, width))
        for height in range(1, min(16, nests.extent(row) if row is not None else 1) + 1):
            results = height * vectors
            # Accumulators, a row of each operand, and one for what all lanes have.
            if results * work.reductions + vectors * along + 1 >= registers:
                break
            if (
                results * max(work.epilogue / OPS_PER_REGISTER, work.body / OPS_PER_STEP)
                > registers
            ):
                break
            loads = sum(_loads(a, vector, row, height, vectors) for a in reads)
            extent = nests.extent(row) if row is not None else 1
            down = _padding(extent, height)
            # Enough sums have to be on their way at once for the latency of an addition.
            latency = max(1.0, 8 / (results * work.reductions))
            streams = height * STREAM_COST if any(_is_stream(a, vector, row) for a in reads) else 0
            cost = down * across * latency * (1 + LOAD_COST * loads / results + streams)
            cost += CODE_COST * results * (work.body + work.epilogue)
            if cost < best[0] - 1e-9:
                best = (cost, row, height, vectors)
    return best[1:]


def _is_stream(access: Access, vector: RangeOp, row: RangeOp | None) -> bool:
    """Whether a tile uses what it loads once only: a row of it is a stream from memory then."""
    return row is not None and 0 not in (access.strides.get(vector, 0), access.strides.get(row, 0))


def _padding(extent: int, size: int) -> float:
    """How much more work parts of a size make of a range; masks take time too."""
    return -(-extent // size) * size / extent * (MASK_COST if extent % size else 1.0)


def _loads(
    access: Access, vector: RangeOp, row: RangeOp | None, height: int, vectors: int
) -> float:
    """Loads for one step of a reduction."""
    along = access.strides.get(vector, 0)
    count = 1.0 if along == 0 else float(vectors)
    if row is not None and (stride := access.strides.get(row, 0)) != 0:
        apart = CACHE_LINE if stride is None else min(abs(stride) * access.itemsize, CACHE_LINE)
        count *= height * (1 + APART * apart / CACHE_LINE)
    # One element for all lanes is loaded by the multiply-accumulate itself.
    return count * (0.5 if along == 0 else 1.0)


# -- order and threads ---------------------------------------------------------------------------


def _order(nests: Nests) -> None:
    """Have those loops of a tiled nest inside whose iterations use most of what is in the cache
    again, or else of what is next to what was loaded before."""
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
            order = sorted(loops, key=lambda r: -_loaded_anew(nests, r, vector))
        elif not reduces and any(_is_apart(a, vector) for a in nests.accesses):
            order = sorted(loops, key=lambda r: -_step(nests, r))
        else:
            continue
        if order != loops:
            _try(axes, opt(OptOp.ORDER, *(r.axis.data for r in order)))


def _pack(nests: Nests, machine: Machine) -> None:
    """Put together what loops load again in every iteration, where that is in many pages, or not
    in the order of the vectors."""
    axes = nests.axes
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, EndOp) or not _is_tiled(end):
            continue
        ranges = list(reversed(closed_ranges(end)))
        loops = [r for r in ranges if r.axis_type.data not in EXPANDED]
        vector = _vector(end)
        for access in nests.accesses:
            if not isinstance(load := access.op, LoadOp) or not _is_stageable(nests, load):
                continue
            used = [r for r in loops if access.strides.get(r, 0) != 0]
            around = loops.index(used[-1]) if used else 0
            uses = math.prod(nests.extent(r) for r in loops[around + 1 :])
            inside = {r: s for r, s in access.strides.items() if r not in loops and s != 0}
            rows = [r for r, s in inside.items() if s is None or s * access.itemsize >= PAGE]
            size = math.prod(nests.extent(r) for r in inside) * access.itemsize
            pages = math.prod(nests.extent(r) for r in rows)
            is_apart = _is_apart(access, vector)
            least = MIN_APART if is_apart else MIN_REUSE
            if uses >= least and size <= machine.l2 and (is_apart or pages >= MANY_PAGES):
                memory = memory_of(load.buffer).owner
                assert isinstance(memory, ParamOp)
                before = set(axes.ranges.values())
                which = opt(OptOp.STAGE, memory.slot.data, loops[around].axis.data, "local")
                if _try(axes, which) and is_apart:
                    _transpose(axes, [r for r in axes.ranges.values() if r not in before], machine)


def _transpose(axes: Axes, copy: Sequence[RangeOp], machine: Machine) -> None:
    """Have a loop that copies columns load them whole, and exchange rows and columns in squares."""
    if len(copy) < 2:
        return
    *_, along, vector = copy
    lanes = machine.lanes(min(dtype_of(load.buffer).itemsize for load in axes.reads(vector)))
    if along.axis_type.data is AxisType.LOOP and axes.extent(along) % lanes == 0:
        part = _part_of(axes, opt(OptOp.SPLIT, along.axis.data, lanes, AxisType.UPCAST.value))
        if part is not None:
            _have_last(axes, [part, vector])


def _is_tiled(end: EndOp) -> bool:
    return any(r.axis_type.data is AxisType.UPCAST for r in closed_ranges(end))


def _is_apart(access: Access, vector: RangeOp) -> bool:
    """Whether the lanes of a vector are not neighbours in memory, nor all one cell."""
    return access.strides.get(vector, 0) not in (0, 1, -1)


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
            is_apart = _is_apart(access, vector)
            total += cells * access.itemsize * (LINE_COST if is_apart else 1)
    return total


def _step(nests: Nests, range: RangeOp) -> int:
    """How far each iteration of a loop goes in what it loads."""
    steps = (a.strides.get(range, 0) for a in nests.accesses if isinstance(a.op, LoadOp))
    return sum(abs(step or 0) for step in steps)


def _thread(nests: Nests, machine: Machine) -> None:
    """Share the iterations of a loop among the threads: the outermost that can be divided well."""
    axes = nests.axes
    candidates: list[tuple[float, int, OptAttr]] = []
    for effect in axes.kernel.sink.effects:
        if not isinstance(end := effect.owner, EndOp):
            continue
        for depth, range in enumerate(reversed(closed_ranges(end))):
            extent = known_index(range.bound)
            if range.axis_type.data is not AxisType.GLOBAL or extent is None or extent < 2:
                continue
            chunks = _chunks(extent, machine.threads)
            which = opt(OptOp.SPLIT, range.axis.data, chunks, AxisType.THREAD.value, "top")
            candidates.append((_imbalance(chunks, machine.threads), depth, which))
    candidates.sort(key=lambda c: (max(c[0], MAX_IMBALANCE), c[1]))
    for _, _, which in candidates:
        if _try(axes, which):
            return


def _chunks(extent: int, threads: int) -> int:
    """Into how many equal chunks iterations are divided: few, if threads get as many of them."""
    for count in range(2 * threads, min(extent, 64 * threads) + 1):
        if extent % count == 0 and _imbalance(count, threads) <= MAX_IMBALANCE:
            return count
    return extent


def _imbalance(chunks: int, threads: int) -> float:
    """How many times as long the thread with most chunks takes as all would on average."""
    return -(-chunks // threads) * threads / chunks
