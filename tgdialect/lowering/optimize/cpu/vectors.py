"""The range that vectors lie along: the one that saves most scalar ops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from operator import itemgetter

from xdsl.ir import Operation

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import closed_ranges, is_loop, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.nests import Nests, StridedAccess, is_arithmetic
from tgdialect.lowering.optimize.optops.split import may_split
from tgdialect.ops import tg
from tgdialect.ops.axis_types import REDUCTIONS
from tgdialect.ops.properties import static_bytes
from tgdialect.targets.costs import cycles_of

MASKED = 0.5
"""The saving of vectors along a loop of dynamic extent, as a fraction of that along others: the
last vector has a mask. Larger: vectors have masks where those along another loop have none;
smaller: vectors lie along other loops, if need be across strides."""


def cycles(nests: Nests) -> float:
    """How long a kernel takes on one core, as an order of magnitude."""
    ops = 0.0
    for op in nests.work:
        lanes = nests.target.lanes(tg.dtype_of(op.operands[0]).itemsize)
        ops += nests.trips(op) * cycles_of(op, nests.target) / lanes
    places = ((tg.place(access.op.operands[0]), access) for access in nests.accesses)
    moved = sum(nests.bytes(a) for place, a in places if place.addrspace is tg.AddrSpace.GLOBAL)
    return max(ops / nests.target.vector_ports, moved / nests.target.bytes_per_cycle)


Gains = Mapping[tg.RangeOp, float]
"""How many scalar ops vectors along each range save; 0 or less if they must not lie there."""


def vector_ranges(nests: Nests, gains: Gains) -> Iterator[tg.RangeOp]:
    """The ranges that vectors lie along. An op is inside of at most one of them.

    Per nest, from the inside out: take one of its ranges, or the best choices of the nests inside
    that the range does not enclose, whichever saves more.
    """
    axes, best = nests.axes, dict[Operation, tuple[float, list[tg.RangeOp]]]()
    inside: dict[Operation, list[tg.EndOp | tg.ReduceOp]] = {}
    for closer in nests.closers:
        found = {other for r in closed_ranges(closer) for other in nests.closers_in.get(r, ())}
        inside[closer] = [other for other in nests.closers if other in found - {closer}]
        choices: list[tuple[float, list[tg.RangeOp]]] = []
        for range in (None, *(r for r in closed_ranges(closer) if gains[r] > 0)):
            rest = [o for o in inside[closer] if range is None or range not in axes.open[o]]
            # The choice for an outer nest already covers the nests inside of it.
            covered = {o for p in rest for o in inside[p]}
            chosen = [best[o] for o in rest if o not in covered]
            own = [] if range is None else [range]
            total = sum((value for value, _ in chosen), sum(gains[r] for r in own))
            choices.append((total, [*(r for _, found in chosen for r in found), *own]))
        best[closer] = max(choices, key=itemgetter(0))
    enclosed = {other for others in inside.values() for other in others}
    for root in nests.closers:
        if root not in enclosed:
            yield from best[root][1]


def may_be_vectors(nests: Nests, range: tg.RangeOp) -> bool:
    """Whether vectors may lie along a range."""
    axes = nests.axes
    if not is_expandable(axes, range):
        return False
    is_dynamic = tg.known_index(range.bound) is None
    if is_dynamic and any(a.strides.get(range, 0) not in (0, 1) for a in nests.accesses):
        return False  # Lanes that are masked are loaded one by one.
    loads = [a.strides.get(range, 0) for a in nests.loads if range in axes.open[a.op]]
    if range not in axes.ends and loads and not any(stride in (1, -1) for stride in loads):
        return False  # Single lanes are loaded in each step.
    # Each lane has a copy of the buffers in the loop.
    buffers = axes.shared_buffers(range) if range in axes.ends else ()
    copied = sum(static_bytes(buffer.result) for buffer in buffers)
    return copied * lanes_along(nests, range) <= nests.target.l1


def is_packable(nests: Nests, access: StridedAccess, vector: tg.RangeOp, lanes: int) -> bool:
    """Whether the strided cells of an access can be packed, and are used again."""
    # The copy is made in a loop over tiles: there has to be more than one.
    if vector not in nests.axes.ends or nests.extent(vector) < 2 * lanes:
        return False
    end = nests.axes.ends[vector]
    idle = (r for r in _loops_to(nests, end) if access.strides.get(r, 0) == 0)
    is_used_again = math.prod(map(nests.extent, idle)) > 1
    is_small = packed_bytes(nests, access, end, lanes) <= nests.target.copied
    return is_used_again and is_small and slot_of(nests, access) is not None


def slot_of(nests: Nests, access: StridedAccess) -> int | None:
    """The slot of a parameter that STAGE may copy for a LOAD: one that is read-only, at an index
    that no loop computes; None for other accesses."""
    axes, location = nests.axes, access.op.operands[0]
    memory = tg.memory_of(location)
    is_read_only = isinstance(access.op, tg.LoadOp) and memory not in axes.written
    if not is_read_only or not isinstance(memory.owner, tg.ParamOp):
        return None
    return None if axes.is_bound_to(location, axes.open[access.op]) else memory.owner.slot.data


def packed_bytes(nests: Nests, access: StridedAccess, end: tg.EndOp, width: int) -> int:
    """The bytes that an access loads for one tile of a nest, which is `width` elements wide."""
    return width * nests.bytes(access, _loops_to(nests, end))


def _loops_to(nests: Nests, end: tg.EndOp) -> Set[tg.RangeOp]:
    """The loops of a nest and those around it."""
    return nests.closers[end] | nests.axes.open[end]


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
    is_large = nests.bytes(access, axes.open[end]) > nests.target.l1
    if is_large or not idle or not around & used:
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
