"""Packing: which operands of a tiled nest are copied into contiguous memory, and in which loop.

A copy is a nest as well, with a cost of its own (`analysis/cycles.py`). It pays if the nest that
loads from the copy saves more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from operator import itemgetter

from tgdialect.analysis.cycles import cycles
from tgdialect.analysis.features import Counter, Nest, Tiling
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.tiles import nest_parts, split_off
from tgdialect.lowering.optimize.cpu.vectors import slot_of
from tgdialect.lowering.optimize.expected import tiling_of
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import attempt, made_by, opt
from tgdialect.lowering.optimize.optops.tile_loads import is_of_parameter
from tgdialect.ops import tg
from tgdialect.targets import Target


def cycles_of(nest: Nest, tiling: Tiling, target: Target) -> float:
    """The cycles of a nest, with what moves between caches."""
    counter = Counter(nest, target)
    return cycles(counter.moved(counter.counted(tiling), tiling), target).total


# -- the copies of least cost ----------------------------------------------------------------------


def copies_of(
    nest: Nest, tiling: Tiling, numbers: Collection[int], target: Target
) -> tuple[float, Mapping[int, int]]:
    """The least cycles of a nest if accesses with `numbers` may be copied, and for each of them
    whose copy pays, the loop that makes it."""
    outer = {*nest.order} - tiling.sizes.keys() - nest.steps
    best, copying, chosen = cycles_of(nest, tiling, target), 0.0, dict[int, int]()
    for number in numbers:
        found: list[tuple[float, float, Nest, int | None]] = [(best, copying, nest, None)]
        for place in _places(nest, number, outer):
            if _bytes(nest, number, place) > target.copied:
                break
            made = _copied(nest, number, place)
            if (cost := copying + cycles_of(made, tiling, target)) < best:
                more = _copying(nest, tiling, number, place, target)
                found.append((cost + more, copying + more, made, nest.order[place - 1]))
        best, copying, nest, loop = min(found, key=itemgetter(0))
        if loop is not None:
            chosen[number] = loop
    return best, chosen


def in_order(loops: Sequence[int], extents: Mapping[int, int]) -> Mapping[int, int]:
    """The strides of cells that lie in the order of loops, outermost first."""
    found, step = dict[int, int](), 1
    for n in reversed(loops):
        found[n], step = step, step * extents[n]
    return found


def _places(nest: Nest, number: int, outer: Set[int]) -> Iterator[int]:
    """How many of the outermost loops a copy may be in: up to one that it depends on, the innermost
    first."""
    strides = nest.moved[number].strides
    for place in reversed(range(len(nest.order))):
        is_used = nest.order[place] in outer and strides.get(nest.order[place], 0) != 0
        if is_used and _inside(nest, number, place + 1):
            yield place + 1


def _inside(nest: Nest, number: int, place: int) -> Sequence[int]:
    """The loops of a copy, in the order of the nest."""
    strides = nest.moved[number].strides
    return [n for n in nest.order[place:] if strides.get(n, 0) != 0]


def _bytes(nest: Nest, number: int, place: int) -> int:
    cells = math.prod(nest.extents[n] for n in _inside(nest, number, place))
    return cells * nest.moved[number].itemsize


def _copied(nest: Nest, number: int, place: int) -> Nest:
    """A nest that loads from a copy."""
    moved, inside = list(nest.moved), _inside(nest, number, place)
    strides = in_order(inside, nest.extents)
    moved[number] = moved[number]._replace(strides=strides, is_packed=True)
    return replace(nest, moved=moved)


def _copying(nest: Nest, tiling: Tiling, number: int, place: int, target: Target) -> float:
    """The cycles of the copies of an access."""
    source, inside = nest.moved[number], _inside(nest, number, place)
    vector = inside[-1] if tiling.vector is None or tiling.vector not in inside else tiling.vector
    along = next((n for n in inside if source.strides[n] in (1, -1)), vector)
    lanes = target.lanes(source.itemsize)
    # Squares are transposed where vectors do not lie along neighbours.
    sizes = {n: min(nest.extents[n], lanes) for n in dict.fromkeys((along, vector))}
    order = [*nest.order[:place], *(n for n in inside if n not in sizes), *sizes]
    made = source._replace(
        strides=in_order(inside, nest.extents), is_store=True, is_packed=True, is_near=True
    )
    copy = Nest({n: nest.extents[n] for n in order}, order, frozenset(), [], [source, made])
    return cycles_of(copy, Tiling(vector, sizes), target)


def copyable(nests: Nests, closer: tg.EndOp | tg.ReduceOp, tiling: Tiling) -> Mapping[int, int]:
    """The numbers of the accesses of a nest that may be copied, those that vectors are loaded from,
    and the slots of their parameters. Constants are packed once."""
    found: dict[int, int] = {}
    for number, access in enumerate(nests.moving[closer]):
        is_vector = any(s != 0 and r.axis.data == tiling.vector for r, s in access.strides.items())
        if is_vector and not access.is_constant and (slot := slot_of(nests, access)) is not None:
            found[number] = slot
    return found


# -- packing ---------------------------------------------------------------------------------------


def pack_tiles(nests: Nests) -> None:
    """Pack the operands that loops load again and again, where that pays, and constants, which a
    kernel of their own packs once."""
    axes, target = nests.axes, nests.target
    _pack_constants(nests)
    for closer, nest in nests.models.items():
        tiling = tiling_of(nests, closer)
        slots = copyable(nests, closer, tiling)
        if tiling.vector is None or not slots:
            continue
        _, chosen = copies_of(nest, tiling, slots, target)
        for number, loop in chosen.items():
            made = made_by(axes, tg.OptOp.STAGE, slots[number], loop, "local")
            if made is not None and nest.moved[number].strides[tiling.vector] not in (1, -1):
                _transpose(axes, [axes[axis] for axis in made], target)


def _pack_constants(nests: Nests) -> None:
    """Have a kernel of its own pack the constants that vectors are loaded from, unless they are in
    packed order already: loops, then steps, then the tile."""
    constants = ((c, a) for c, each in nests.moving.items() for a in each if a.is_constant)
    for closer, access in constants:
        nest, tiling = nests.models[closer], tiling_of(nests, closer)
        strides = {r.axis.data: stride for r, stride in access.strides.items()}
        vector = tiling.vector
        if vector is None or strides.get(vector, 0) == 0 or access.op.parent is None:
            continue
        used = [n for n in nest.order if strides.get(n, 0) != 0]
        tile = [n for n in used if n in tiling.sizes and (n == vector or n not in nest.steps)]
        steps = [n for n in used if n in nest.steps and n not in tile]
        loops = [n for n in used if n not in (*tile, *steps)]
        if in_order([*loops, *steps, *tile], nest.extents) != {n: strides[n] for n in used}:
            (slot,) = (s for s in nests.axes.constants if is_of_parameter(access.op, s))
            attempt(nests.axes, tg.OptOp.STAGE, slot, (loops or [vector])[-1], "global")


def _transpose(axes: Axes, copy: Sequence[tg.RangeOp], target: Target) -> None:
    """Transpose in the loop that copies: load whole columns, and transpose squares in registers."""
    if len(copy) < 2:
        return
    *_, along, vector = copy
    lanes = target.lanes(min(tg.dtype_of(load.buffer).itemsize for load in axes.reads(vector)))
    width, axis = axes.extent(vector), vector.axis.data
    if width > lanes and width % lanes == 0:
        attempt(axes, tg.OptOp.SPLIT, axis, width // lanes, tg.AxisType.LOOP, "top")
        vector = axes[axis]
    if along.axis_type.data is tg.AxisType.LOOP:
        height = min(lanes, axes.extent(along))
        where = ("overlap",) if axes.extent(along) % height else ()
        which = opt(tg.OptOp.SPLIT, along.axis.data, height, tg.AxisType.UPCAST.value, *where)
        if (part := split_off(axes, which)) is not None:
            nest_parts(axes, [part, vector])
