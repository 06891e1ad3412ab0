"""Products: register tiles, and blocks of steps that are staged in LOCAL memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges, is_expanded
from tgdialect.lowering.optimize.grid.nests import FEW, VECTOR, GridNest, is_wasteful
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.ops import tg

TILE, TALL, SIDE = 4, 8, 16
"""A work item computes TALL x TILE results of a product, or TILE x TILE where a multiprocessor
would not get two workgroups otherwise, and a workgroup has SIDE x SIDE of them. A step of
TALL x TILE loads 12 values of LOCAL memory for 32 results, and one of TILE x TILE 8 for 16. Not
measured."""

STEPS = 16
"""The steps of a block of a product. With more, tiles take more LOCAL memory, and fewer workgroups
share a multiprocessor; with fewer, there are more BARRIERs. Not measured."""


BUFFERS = 2
"""The LOCAL buffers of each operand, if the target copies asynchronously: one block of steps is
copied while another is used. More hide more latency, and take more LOCAL memory. Not measured."""


def reusing_row(nest: GridNest, column: tg.RangeOp) -> tg.RangeOp | None:
    """The longest loop that uses again what is loaded for a column, and whose own loads columns use
    again; None if there is none, as in a reduction of rows, or if the steps of results differ, as
    in a running sum."""
    steps = (range for range in nest.axes.ranges.values() if range not in nest.axes.ends)
    if any(nest.axes.depends(range.bound, loop) for range in steps for loop in nest.loops):
        return None
    loads = [access.strides for access in nest.nests.loads]

    def is_shared(by: tg.RangeOp, of: tg.RangeOp) -> bool:
        return any(along.get(by, 0) == 0 != along.get(of, 0) for along in loads)

    found = [r for r in nest.loops if is_shared(r, column) and is_shared(column, r)]
    return max(found, key=nest.nests.extent, default=None)


def tile_product(
    nest: GridNest, row: tg.RangeOp, column: tg.RangeOp, reductions: Sequence[tg.ReduceOp]
) -> None:
    """A register tile for each work item, and blocks of steps if that is legal."""
    tall = nest.nests.extent(row) * nest.nests.extent(column) // (TALL * TILE)
    height = TALL if tall >= 2 * nest.enough else TILE
    row, column = _in_whole_tiles(nest, row, height), _in_whole_tiles(nest, column, TILE)
    row = nest.split_registers(row, height)
    column = nest.split_registers(column, TILE)
    if not _stage_blocks(nest, row, column, reductions):
        items = nest.split_items([column], SIDE)
        nest.split_items([row], max(nest.items // max(items, SIDE), 1))


def _in_whole_tiles(nest: GridNest, range: tg.RangeOp, width: int) -> tg.RangeOp:
    """A loop over results as one over whole tiles of workgroups, if few are past the end. Tiles as
    large as a divisor of its extent would access fewer neighbours."""
    axis, extent, tile = range.axis.data, tg.known_index(range.bound), width * SIDE
    if extent is not None and extent % tile and not is_wasteful(extent, tile):
        attempt(nest.axes, tg.OptOp.PADTO, axis, tile)
    return nest.axes[axis]


def _stage_blocks(
    nest: GridNest, row: tg.RangeOp, column: tg.RangeOp, reductions: Sequence[tg.ReduceOp]
) -> bool:
    """Before each block of steps, the work items of a workgroup copy what all of them load to LOCAL
    memory. Returns whether that was legal."""
    axes = nest.axes
    steps = max(closed_ranges(reductions[0]), key=nest.nests.extent)
    extents = [tg.known_index(range.bound) for range in (row, column, steps)]
    most = SIDE, SIDE, STEPS
    *sides, block = (part(e or 1, size) for e, size in zip(extents, most, strict=True))
    if len(reductions) > 1 or math.prod(sides) < 2 * FEW or block < VECTOR:
        return False
    params = dict.fromkeys(tg.memory_of(a.op.operands[0]).owner for a in nest.nests.loads)
    # The loop over blocks of steps goes around the loops over work items.
    if (inside := nest.split_blocks((row, column), sides)) is None:
        return False
    before, over = set(axes.ranges), steps.axis.data
    is_split = attempt(axes, tg.OptOp.SPLIT, over, block, tg.AxisType.REDUCE)
    if not is_split or not attempt(axes, tg.OptOp.ORDER, over, *inside):
        return False
    # It makes three nests of them: of zeros, of sums, and of results.
    for axis, range in list(axes.ranges.items()):
        is_new = axis not in before and range in axes.ends and not is_expanded(range)
        if (is_new or axis in inside) and (extent := tg.known_index(range.bound)) is not None:
            nest.split(range, extent, tg.AxisType.LOCAL)
    for param in params:
        if isinstance(param, tg.ParamOp):
            nest.stage(param.slot.data, over, math.prod(sides))
    if axes.target.copies_asynchronously:
        attempt(axes, tg.OptOp.PIPELINE, over, BUFFERS)
    return True
