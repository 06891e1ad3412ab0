"""A schedule for a grid: which loops are workgroups, work items and registers.

* A product that the target has matrix instructions for is computed by warps.
* A kernel that goes over blocks of steps, as an attention, has the nests of a block shared.
* A kernel whose rows have loops of their own, such as a softmax, runs a workgroup for each row. Its
  work items share the loops inside.
* A reduction with too few results to fill the device is shared by the work items of a workgroup.
* Any other kernel has a work item for each result, or for each register tile of results.
"""

from __future__ import annotations

import math

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.grid.blocks import share_blocks
from tgdialect.lowering.optimize.grid.matrix import multiply_matrices
from tgdialect.lowering.optimize.grid.nests import FEW, VECTOR, GridNest
from tgdialect.lowering.optimize.grid.products import reusing_row, tile_product
from tgdialect.lowering.optimize.grid.rows import share_reductions, share_rows
from tgdialect.lowering.optimize.nests import merge_loops, split_loops
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index
from tgdialect.ops.views import memory_of
from tgdialect.targets import Target


def schedule_grid(axes: Axes, target: Target) -> None:
    """Apply OptOps to a kernel. An OptOp that turns out to be illegal is left out."""
    if multiply_matrices(axes, target) or share_blocks(axes, target):
        return
    split_loops(axes)
    merge_loops(axes)
    for effect in list(axes.kernel.sink.effects):
        end = effect.owner
        nest = GridNest(axes, target, end if isinstance(end, tg.EndOp) else None)
        if all(map(nest.nests.extent, axes.ranges.values())):
            _schedule(nest)
            nest.order()


def _schedule(nest: GridNest) -> None:
    loops, closers = nest.loops, nest.nests.closers
    if nest.end is None:
        share_rows(nest, closers, ())
        return
    if not loops:  # All of them are registers already.
        return
    inside = [c for c in closers if c is not nest.end and nest.axes.open[c] & {*loops}]
    # Work items cannot share iterations that have an order, as in loops of hand-written kernels.
    serial = {r for r in nest.axes.ends if r.axis_type.data is tg.AxisType.REDUCE}
    inner = [
        c for c in inside if isinstance(c, tg.ReduceOp) or not serial.issuperset(closed_ranges(c))
    ]
    rows = [r for r in loops if all(r in nest.axes.open[closer] for closer in inner)]
    reductions = [closer for closer in inner if isinstance(closer, tg.ReduceOp)]
    results = math.prod(nest.nests.extent(r) for r in loops)
    steps = max((nest.nests.trips(op) for op in reductions), default=0) // results
    if len(rows) < len(loops) or len(reductions) < len(inner):
        share_rows(nest, inner, rows)
    elif steps >= 2 * FEW and (results < nest.enough or _are_rows(nest, reductions)):
        share_reductions(nest, reductions)
    else:
        _share_results(nest, reductions, has_loops=bool(inside))


def _are_rows(nest: GridNest, reductions: list[tg.ReduceOp]) -> bool:
    """Whether the steps of reductions are of neighbouring cells and of no product, and can be
    shared by the work items of a warp. One work item for each row would access cells that are far
    from those of its neighbours."""
    if nest.warp == 1 or any(nest.is_contiguous(range) for range in nest.loops):
        return False
    steps = [range for op in reductions for range in closed_ranges(op)]
    return any(map(nest.is_contiguous, steps)) and reusing_row(nest, nest.loops[-1]) is None


def _share_results(nest: GridNest, reductions: list[tg.ReduceOp], *, has_loops: bool) -> None:
    """A work item for each result, or for a tile of them where none has loops of its own."""
    loops = nest.loops
    column = nest.column()
    if reductions:
        if (row := reusing_row(nest, column)) is not None:
            tile_product(nest, row, column, reductions)
            return
    elif not has_loops and transpose(nest):
        return
    others = [r for r in reversed(loops) if r is not column]
    has_vectors = not has_loops and nest.is_contiguous(column)
    left = nest.split_registers(column, VECTOR) if has_vectors else column
    nest.split_items([left, *others], nest.items)


# -- transposes ------------------------------------------------------------------------------------


SIDE, TALL = 32, 8
"""The side of a square, and the rows of it that are copied at a time. A row of 32 elements of f32
fills the 128 bytes of one transaction; each work item copies SIDE / TALL elements. The usual choice
of hand-written transposes."""


def transpose(nest: GridNest) -> bool:
    """Tile a kernel that stores rows and loads columns, if it is one and that is legal."""
    accesses = nest.nests.accesses
    stores = [a.strides for a in accesses if isinstance(a.op, tg.StoreOp)]
    column = next((r for r in nest.loops if all(s.get(r) == 1 for s in stores)), None)
    if column is None:
        return False
    for access in accesses:
        row = next((r for r in nest.loops if access.strides.get(r) == 1), None)
        apart = access.strides.get(column, 0)
        if isinstance(access.op, tg.LoadOp) and row is not None and apart not in (0, 1):
            param = memory_of(access.op.operands[0]).owner
            if isinstance(param, tg.ParamOp):
                return _tile(nest, param.slot.data, row, column)
    return False


def _tile(nest: GridNest, slot: int, row: tg.RangeOp, column: tg.RangeOp) -> bool:
    extents = [known_index(range.bound) or 1 for range in (row, column)]
    if any(extent % SIDE for extent in extents) or nest.items < SIDE * TALL:
        return False
    outer = [r.axis.data for r in nest.loops]
    if (inside := nest.split_blocks((row, column), (SIDE, SIDE))) is None:
        return False
    around = [axis for axis in outer if axis not in inside]
    if not around or not nest.stage(slot, nest.loops[-3].axis.data, SIDE * TALL):
        return False
    high, wide = (nest.axes[axis] for axis in inside)
    nest.split(wide, SIDE, tg.AxisType.LOCAL)
    nest.split(high, TALL, tg.AxisType.LOCAL)
    return True
