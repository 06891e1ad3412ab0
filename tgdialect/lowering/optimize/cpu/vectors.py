"""The range that vectors lie along: the one that saves most scalar ops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Operation

from tgdialect.analysis.affine.lanes import is_near
from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import closed_ranges, is_loop, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.nests import Nests, StridedAccess, is_arithmetic
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops import tg
from tgdialect.ops.axis_types import REDUCTIONS
from tgdialect.targets.costs import cycles_of

# Weights of the model, as multiples of a scalar op, and so no fields of `Target`. They come from
# timing kernels on one CPU (docs/notes/heuristic.md).

TOGETHER, GATHER, SCATTER = 0.005, 1.5, 2.0
"""The saving of a vector access to neighbouring cells, and the extra cost of one lane-by-lane load
and store. A tile uses a load several times, but stores each result."""

SCATTERED = 0.01
"""The extra cost of a load of a few neighbours from another page in each step, as that of the first
factor of `a.T @ b`: with vectors along the other factor's columns that load is the vector. Larger:
vectors are chosen by it more often; it has to outweigh SCATTER, which counts once for a whole
reduction. Of (1600, 1024) and (1600, 128) a product took a third of the time."""

INTERLEAVE = 0.1
"""The extra cost of a store by columns of a tile, which is transposed in registers."""

ACROSS = 0.93
"""The saving of vectors along a reduction, relative to others: their tiles do not share a row of
one operand among the columns of the other."""

HORIZONTAL = 8
"""The scalar ops that a horizontal reduction of one vector takes."""

ALIKE = 0.997
"""Ranges within this fraction of the best saving count as equally good, so that the register tile
decides. The saving does not know tiles: along the 56 columns of an image they are 8 rows of one
vector, with a load for each multiply-accumulate, and along its 64 channels 4 rows of two. It is
wide enough to give up one factor's neighbours in memory (TOGETHER), and not for loads that are
SCATTERED."""

ROWS, REDUCED_ROWS = 8, 4
"""The rows of a tile that are assumed to share a load: of tiles with vectors along results, and
along a reduction. Larger: loads count for less beside stores. Orders of magnitude."""

MASKED = 0.5
"""The saving of vectors along a loop of dynamic extent, as a fraction of that along others: the
last vector has a mask. Larger: vectors have masks where those along another loop have none;
smaller: vectors lie along other loops, if need be across strides."""

MIN_REUSE = 4
"""The fewest uses of a packed tile for packing to pay. Smaller: more loads and stores of copies;
larger: more loads with a large stride."""


def cycles(nests: Nests) -> float:
    """How long a kernel takes on one core, as an order of magnitude."""
    ops = 0.0
    for op in nests.work:
        lanes = nests.target.lanes(tg.dtype_of(op.operands[0]).itemsize)
        ops += nests.trips(op) * cycles_of(op, nests.target) / lanes
    moved = 0
    for access in nests.accesses:
        if tg.place(access.op.operands[0]).addrspace is tg.AddrSpace.GLOBAL:
            # The bytes of the distinct cells.
            ranges = [r for r, stride in access.strides.items() if stride != 0]
            moved += math.prod(map(nests.extent, ranges)) * access.itemsize
    return max(ops / nests.target.vector_ports, moved / nests.target.bytes_per_cycle)


Gains = Mapping[tg.RangeOp, float]
"""How many scalar ops vectors along each range save; 0 or less if they must not lie there."""


def vector_gains(nests: Nests) -> Gains:
    """The gain of each range that a nest of a kernel closes."""
    parts = [(access.op, _scattered(nests, access)) for access in nests.loads]
    scattered = {op: nests.trips(op) * SCATTERED * part for op, part in parts if part}
    return {range: _gain(nests, range, scattered) for range in nests.closers_of}


def vector_ranges(nests: Nests, gains: Gains) -> Iterator[tg.RangeOp]:
    """The ranges that vectors lie along. An op is inside of at most one of them.

    Per nest, from the inside out: take one of its ranges, or the best choices of the nests inside
    that the range does not enclose, whichever saves more.
    """
    best: dict[Operation, tuple[float, list[tg.RangeOp]]] = {}
    axes = nests.axes
    number = {closer: i for i, closer in enumerate(nests.closers)}
    inside: dict[Operation, list[tg.EndOp | tg.ReduceOp]] = {}
    for closer in nests.closers:
        found = (other for r in closed_ranges(closer) for other in nests.closers_in.get(r, ()))
        inside[closer] = sorted({*found} - {closer}, key=number.__getitem__)
        options = [(0.0, None), *((gains[r], r) for r in closed_ranges(closer))]
        choices: list[tuple[float, list[tg.RangeOp]]] = []
        for gain, range in options:
            if range is not None and gain <= 0:
                continue
            rest = [o for o in inside[closer] if range is None or range not in axes.open[o]]
            # The choice for an outer nest already covers the nests inside of it.
            covered = {o for p in rest for o in inside.get(p, ())}
            chosen = [best[o] for o in rest if o in best and o not in covered]
            total = gain + sum(value for value, _ in chosen)
            ranges = [r for _, found in chosen for r in found]
            choices.append((total, [*ranges, *([range] if range is not None else [])]))
        best[closer] = max(choices, key=lambda choice: choice[0])
    enclosed = {other for others in inside.values() for other in others}
    for root in nests.closers:
        if root not in enclosed:
            yield from best[root][1]


def alike(nests: Nests, vector: tg.RangeOp, gains: Gains) -> Sequence[tg.RangeOp]:
    """The ranges of a nest along which vectors save about as much as along one of them: it, and
    others."""
    if vector not in nests.axes.ends:
        return [vector]
    others = [r for r in closed_ranges(nests.axes.nest(vector)) if r is not vector]
    return [vector, *(r for r in others if gains[r] >= ALIKE * gains[vector])]


def _gain(nests: Nests, range: tg.RangeOp, scattered: Mapping[Operation, float]) -> float:
    """The gain of a range. LOADs of other loops that are `scattered` have this extra cost for each
    of its iterations."""
    axes = nests.axes
    if not is_expandable(axes, range):
        return 0.0
    lanes = lanes_along(nests, range)
    extent = nests.extent(range)
    is_dynamic = tg.known_index(range.bound) is None
    if is_dynamic and any(a.strides.get(range, 0) not in (0, 1) for a in nests.accesses):
        return 0.0  # Lanes that are masked are loaded one by one.
    # Each lane has a copy of the buffers in the loop.
    copied = sum(map(_bytes, axes.shared_buffers(range))) if range in axes.ends else 0
    if copied * lanes > nests.target.l1:
        return 0.0
    # The part of the iterations that vectors save; the last vector may have idle lanes.
    part = (1 - -(-extent // lanes) / extent) * (1 if range in axes.ends else ACROSS)
    weights = nests.weights if range in axes.ends else ()
    is_reduced = any(isinstance(c, tg.ReduceOp) for c in nests.closers_in.get(range, ()))
    # Add what each op saves: arithmetic all of it, an access of neighbours or of one cell more; one
    # of lanes apart costs.
    saved = 0.0
    if range in axes.ends:
        saved -= extent * sum(v for op, v in scattered.items() if range not in axes.open[op])
    for op in nests.work_around.get(range, ()):
        if (access := nests.stride_of.get(op)) is None:
            saved += nests.trips(op) * part
        elif access.get(range, 0) in (0, 1, -1) or (op in weights and extent >= lanes):
            saved += nests.trips(op) * part * TOGETHER
        elif not isinstance(op, tg.LoadOp):
            is_column = not is_reduced and transposed_row(nests, op, range) is not None
            saved -= nests.trips(op) * (INTERLEAVE if is_column else SCATTER)
        elif is_reduced or transposed_row(nests, op, range) is None:
            # The rows of a reduction's tile are those that reuse loads, so nothing is transposed.
            saved -= GATHER * _lanes_apart(nests, op, range, lanes)
    # A REDUCE along vectors adds up its lanes after the loop.
    if range not in axes.ends:
        for reduce in nests.closers_of[range]:
            saved -= math.prod(nests.extent(r) for r in axes.open[reduce]) * HORIZONTAL
    return saved * MASKED if is_dynamic else saved


def _bytes(buffer: tg.BufferOp) -> int:
    type = tg.tensor(buffer.result)
    return math.prod(type.get_shape()) * tg.dtype_of(buffer.result).itemsize


def _scattered(nests: Nests, load: StridedAccess) -> float:
    """The part of the steps of a reduction in which a LOAD of tiles' rows reads another page than
    the step before, if these are more pages than the TLB holds; 0 for other LOADs."""
    ends, part = nests.axes.ends, 0.0
    if any(stride == 1 and range in ends for range, stride in load.strides.items()):
        for range in load.strides:
            steps, pages = nests.extent(range), nests.pages(load, range)
            if range not in ends and pages > nests.target.tlb_pages:
                part = max(part, min(pages, steps) / steps)
    return part


def _lanes_apart(nests: Nests, load: tg.LoadOp, vector: tg.RangeOp, lanes: int) -> float:
    """How many lanes are loaded one by one, for a LOAD with a stride along the vector: each once if
    the tile is packed, else once per group of rows that share the load. Lanes with a small stride
    are shuffled out of vectors."""
    trips = nests.trips(load)
    if is_packable(nests, load, vector, lanes):
        return trips
    rows = ROWS if vector in nests.axes.ends else REDUCED_ROWS
    each = max(1.0, _uses(nests, load, vector) / rows)
    if is_near(stride := nests.stride_of[load][vector], min(lanes, nests.extent(vector))):
        each *= abs(stride) / lanes
    return trips * each


def _uses(nests: Nests, load: tg.LoadOp, vector: tg.RangeOp) -> int:
    """How often the loops of a nest, and the loops around it, use each element of a LOAD."""
    nest = nests.axes.nest(vector)
    loops = {*closed_ranges(nest), *nests.axes.open[nest]}
    strides = nests.stride_of[load]
    return math.prod(nests.extent(r) for r in loops if strides.get(r, 0) == 0)


def is_packable(nests: Nests, load: tg.LoadOp, vector: tg.RangeOp, lanes: int) -> bool:
    """Whether the strided cells of a LOAD can be packed, and packing pays."""
    # The copy is made in a loop over tiles: there has to be more than one.
    return (
        vector in nests.axes.ends
        and nests.extent(vector) >= 2 * lanes
        and is_stageable(nests, load)
        and packed_bytes(nests, load, vector, lanes) <= nests.target.copied
        and _uses(nests, load, vector) >= MIN_REUSE
    )


def is_stageable(nests: Nests, load: tg.LoadOp) -> bool:
    """Whether STAGE is legal for a LOAD: its parameter is read-only, its index not computed by a
    loop."""
    axes, memory = nests.axes, tg.memory_of(load.buffer)
    is_read_only = isinstance(memory.owner, tg.ParamOp) and memory not in axes.written
    return is_read_only and not axes.is_bound_to(load.buffer, axes.open[load])


def packed_bytes(nests: Nests, load: tg.LoadOp, vector: tg.RangeOp, width: int) -> int:
    """The bytes that a LOAD loads for one tile of a nest, which is `width` elements wide."""
    nest = nests.axes.ends[vector]
    loops = {*closed_ranges(nest), *nests.axes.open[nest]}
    inner = (r for r, stride in nests.stride_of[load].items() if stride != 0 and r not in loops)
    size = tg.dtype_of(load.operands[0]).itemsize
    return width * size * math.prod(nests.extent(r) for r in inner)


def loop_outside(nests: Nests, access: StridedAccess, end: tg.EndOp) -> tg.RangeOp | None:
    """The loop outside of loops around a nest that use what the nest loads again and again, as the
    blocks of steps of an attention use the rows, if L1 has room for that; else None."""
    axes = nests.axes
    used = {r for r, stride in access.strides.items() if stride != 0}
    idle = [r for r in axes.open[end] - used if r in axes.ends and is_loop(r)]
    around = set(axes.open[end]).intersection(*(axes.open[axes.ends[r]] for r in idle))
    for each in idle:
        nest = loops_of(axes.ends[each])
        around |= {*nest[: nest.index(each)]}
    bytes = math.prod(nests.extent(r) for r in used - axes.open[end]) * access.itemsize
    if not idle or not around & used or bytes > nests.target.l1:
        return None

    def depth(range: tg.RangeOp) -> tuple[int, int]:
        nest = axes.ends[range]
        return len(axes.open[nest]), loops_of(nest).index(range)

    return max(filter(is_loop, around & used & axes.ends.keys()), key=depth, default=None)


def is_apart(access: StridedAccess, vector: tg.RangeOp) -> bool:
    """Whether the lanes of a vector are neither neighbours in memory nor all one cell."""
    if access.is_constant and vector.axis_type.data not in REDUCTIONS:
        return False  # Constants are packed once.
    return access.strides.get(vector, 0) not in (0, 1, -1)


def transposed_row(nests: Nests, access: Operation, vector: tg.RangeOp) -> tg.RangeOp | None:
    """The range along which an access has stride 1, if it has another stride along `vector`, and
    both ranges can be in one tile, which is then transposed in registers."""
    axes = nests.axes
    if vector not in axes.ends:
        return None
    strides = nests.stride_of[access]
    if strides.get(vector, 0) in (None, 0, 1, -1):
        return None
    for range, stride in strides.items():
        if stride == 1 and axes.ends.get(range) is axes.ends[vector]:
            return range if is_expandable(axes, range) else None
    return None


def is_expandable(axes: Axes, range: tg.RangeOp) -> bool:
    """Whether a part of a range may become vectors or registers."""
    kind = tg.AxisType.UPCAST if range in axes.ends else tg.AxisType.GROUP_REDUCE
    extent = tg.known_index(range.bound)
    if extent is None:
        # Neighbours along a batch are as far apart as an image is large, and often there is one.
        inside = axes.accesses.get(range, ())
        if any(strides(op.operands[0], axes.around).get(range, 0) is None for op in inside):
            return False
    return (extent is None or extent >= 2) and may_split(axes, range, kind)


def lanes_along(nests: Nests, range: tg.RangeOp) -> int:
    """The elements of a vector of the widest dtype in the loop of a range."""
    ops = nests.work_in.get(range, ())
    dtypes = [tg.dtype_of(op.results[0] if is_arithmetic(op) else op.operands[0]) for op in ops]
    sizes = [max(dtype.itemsize, 4 if dtype.is_float else 1) for dtype in dtypes]
    return nests.target.lanes(max(sizes, default=4))


def is_tiled(end: tg.EndOp) -> bool:
    return any(r.axis_type.data is tg.AxisType.UPCAST for r in closed_ranges(end))


def vector_of(end: tg.EndOp) -> tg.RangeOp:
    """The part that the vectors of a tiled nest lie along."""
    return next(r for r in closed_ranges(end) if r.axis_type.data is tg.AxisType.UPCAST)
