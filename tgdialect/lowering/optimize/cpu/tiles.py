"""Register tiles: the results that one iteration of a nest keeps in registers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.reduction_tiles import (
    MAX_STEPS,
    ReductionTiles,
    Tile,
    tile_width,
)
from tgdialect.lowering.optimize.cpu.vectors import (
    Gains,
    alike,
    lanes_along,
    transposed_row,
)
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import attempt, opt, try_opt
from tgdialect.lowering.optimize.optops.split import may_overlap
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.properties import known_index

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
        extent = known_index(range.bound)
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
    axis, extent = range.axis.data, nests.extent(range)
    if may_overlap(nests.axes, range, size):
        yield opt(tg.OptOp.SPLIT, axis, size, kind.value, "overlap")
        return
    if extent % size:
        yield opt(tg.OptOp.PADTO, axis, size, *where)
    yield opt(tg.OptOp.SPLIT, axis, size, kind.value)


def split_off(axes: Axes, which: tg.OptAttr) -> tg.RangeOp | None:
    """Apply an OptOp. Returns the expanded range that a SPLIT has made; None for other OptOps."""
    before = {*axes.ranges}
    axis, _, *words = (a.data for a in which.arguments)
    if not try_opt(axes, which) or not {*words[:1]} & {*EXPANDED}:
        return None
    new = axes.ranges.keys() - before or {int(axis)}
    return next(axes[n] for n in axes.ranges if n in new and axes[n].axis_type.data == words[0])


def nest_parts(axes: Axes, parts: Sequence[tg.RangeOp]) -> None:
    """Nest the ranges of a tile in this order: vectors lie along the last."""
    tile = [part for part in parts if part in axes.ends]
    if len(tile) > 1:
        nest = [r for r in reversed(closed_ranges(axes.ends[tile[-1]])) if r in tile]
        if nest != tile:
            attempt(axes, tg.OptOp.ORDER, *(part.axis.data for part in tile))
