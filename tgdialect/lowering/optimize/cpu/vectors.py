"""Which range vectors lie along: the one that saves most scalar ops, loads one by one counted."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.ir import Operation

from tgdialect.analysis.memory_order import memory_of
from tgdialect.analysis.ramps import is_near
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.nests import Access, Nests, is_arithmetic
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.axis_types import REDUCTIONS
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import dtype_of, known_index
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ParamOp
from tgdialect.targets import Target

# Weights of the model that the range with the greatest gain is chosen by. They are ratios to a
# scalar op, and so no fields of `Target`; they come from timing kernels on one CPU
# (docs/decisions.md, "Schedules").

TOGETHER, GATHER, SCATTER = 0.005, 1.5, 2.0
"""What a vector access to neighbouring cells saves of an op, and what one to cells apart costs more
than as many scalar ones: a tile uses again what it loads, but it stores each result."""

INTERLEAVE = 0.1
"""The same of a vector that is stored as a column of a tile."""

ACROSS = 0.93
"""What vectors along a reduction save, of what others do: only they do not use a row of a tile for
one of the other operand's as well."""

HORIZONTAL = 8
"""How many scalar ops it takes to bring together the lanes of a result that lie along a
reduction."""

ROWS, REDUCED_ROWS = 8, 4
"""How many rows of a tile use what is loaded for one of them, as an order of magnitude, and of one
whose vectors lie along a reduction."""

MIN_REUSE = 4
"""How often loops have to use a tile for a copy of it to be worth while: the copy's loads and
stores against loads from memory that is in another order."""


def vector_ranges(nests: Nests, target: Target) -> Iterator[RangeOp]:
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
        options = [(0.0, None), *((_gain(nests, r, target), r) for r in closed_ranges(closer))]
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


def _gain(nests: Nests, range: RangeOp, target: Target) -> float:
    """How many scalar ops vectors along a range save; not positive where they may not."""
    axes = nests.axes
    if not is_expandable(axes, range):
        return 0.0
    lanes = lanes_along(nests, range, target)
    extent = nests.extent(range)
    # The last vector may have idle lanes.
    part = (1 - -(-extent // lanes) / extent) * (1 if range in axes.ends else ACROSS)
    weights = nests.weights if range in axes.ends else ()
    is_reduced = any(isinstance(c, ReduceOp) and range in axes.open[c] for c in nests.closers)
    saved = 0.0
    for op in nests.work:
        if range not in nests.around(op):
            continue
        if (access := nests.stride_of.get(op)) is None:
            saved += nests.trips(op) * part
        elif access.get(range, 0) in (0, 1, -1) or (op in weights and extent >= lanes):
            saved += nests.trips(op) * part * TOGETHER
        elif not isinstance(op, LoadOp):
            is_column = not is_reduced and transposed_row(nests, op, range) is not None
            saved -= nests.trips(op) * (INTERLEAVE if is_column else SCATTER)
        elif transposed_row(nests, op, range) is None:
            saved -= GATHER * _lanes_apart(nests, op, range, lanes, target)
    if range not in axes.ends:
        for reduce in (op for op in nests.closers if range in closed_ranges(op)):
            saved -= math.prod(nests.extent(r) for r in axes.open[reduce]) * HORIZONTAL
    return saved


def _lanes_apart(nests: Nests, load: LoadOp, vector: RangeOp, lanes: int, target: Target) -> float:
    """How many lanes are loaded one by one, where they are apart along a vector: all that there are
    once if they are packed, or else for each row of a tile that uses them. Lanes that are near each
    other are picked out of vectors."""
    trips = nests.trips(load)
    if is_packable(nests, load, vector, lanes, target):
        return trips
    rows = ROWS if vector in nests.axes.ends else REDUCED_ROWS
    each = max(1.0, _uses(nests, load, vector) / rows)
    if is_near(stride := nests.stride_of[load][vector], min(lanes, nests.extent(vector))):
        each *= abs(stride) / lanes
    return trips * each


def _uses(nests: Nests, load: LoadOp, vector: RangeOp) -> int:
    """How often the loops of a nest, and those around it, use what a LOAD loads."""
    nest = nests.axes.nest(vector)
    loops = {*closed_ranges(nest), *nests.axes.open[nest]}
    strides = nests.stride_of[load]
    return math.prod(nests.extent(r) for r in loops if strides.get(r, 0) == 0)


def is_packable(nests: Nests, load: LoadOp, vector: RangeOp, lanes: int, target: Target) -> bool:
    """Whether what a LOAD loads for one vector, of cells apart, can be copied together first."""
    # A copy is made in each iteration of a loop: the vectors of one tile must not be all.
    return (
        vector in nests.axes.ends
        and nests.extent(vector) >= 2 * lanes
        and is_stageable(nests, load)
        and packed_bytes(nests, load, vector, lanes) <= target.copied
        and _uses(nests, load, vector) >= MIN_REUSE
    )


def is_stageable(nests: Nests, load: LoadOp) -> bool:
    """Whether STAGE can copy what a LOAD loads."""
    axes, memory = nests.axes, memory_of(load.buffer)
    is_read_only = isinstance(memory.owner, ParamOp) and memory not in nests.written
    return is_read_only and not axes.is_bound_to(load.buffer, axes.open[load])


def packed_bytes(nests: Nests, load: LoadOp, vector: RangeOp, width: int) -> int:
    """What a LOAD loads for one tile of a nest whose vectors have so many elements in all."""
    loops = closed_ranges(nests.axes.ends[vector])
    inner = (r for r, stride in nests.stride_of[load].items() if stride != 0 and r not in loops)
    size = dtype_of(load.operands[0]).itemsize
    return width * size * math.prod(nests.extent(r) for r in inner)


def is_apart(access: Access, vector: RangeOp) -> bool:
    """Whether the lanes of a vector are not neighbours in memory, nor all one cell."""
    if access.is_constant and vector.axis_type.data not in REDUCTIONS:
        return False  # They are put together once.
    return access.strides.get(vector, 0) not in (0, 1, -1)


def transposed_row(nests: Nests, access: Operation, vector: RangeOp) -> RangeOp | None:
    """The range along which an access is of neighbouring cells, where along `vector` it is not but
    both can be in one tile, which is then loaded row by row and put together column by column, or
    the other way round."""
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


def is_expandable(axes: Axes, range: RangeOp) -> bool:
    kind = AxisType.UPCAST if range in axes.ends else AxisType.GROUP_REDUCE
    extent = known_index(range.bound)
    return extent is not None and extent >= 2 and may_split(axes, range, kind)


def lanes_along(nests: Nests, range: RangeOp, target: Target) -> int:
    """The elements of a vector: of the widest dtype in the loop of a range."""
    sizes = [
        max(dtype_of(value).itemsize, 4 if dtype_of(value).is_float else 1)
        for op in nests.work
        if range in nests.axes.open[op]
        for value in (op.results[0] if is_arithmetic(op) else op.operands[0],)
    ]
    return target.lanes(max(sizes, default=4))
