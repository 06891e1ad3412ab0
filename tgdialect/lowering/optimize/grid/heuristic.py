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
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.grid.blocks import share_blocks
from tgdialect.lowering.optimize.grid.matrix import multiply_matrices
from tgdialect.lowering.optimize.grid.nests import FEW, VECTOR, GridNest
from tgdialect.lowering.optimize.grid.products import TILE, reusing_row, tile_product
from tgdialect.lowering.optimize.nests import merge_loops, part, split_loops
from tgdialect.ops import tg
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


# -- rows ------------------------------------------------------------------------------------------

# Rows: a workgroup for each row or for several short ones, or for each result of a long reduction.


CELLS = 32
"""The most cells of a row for each work item of a warp, for one warp to compute the row without a
BARRIER, if there are enough rows. Larger: the registers of a row and those of its exponentials are
half of what a work item has; smaller: more BARRIERs. Not measured."""

ROWS = 8
"""The rows of a product that a work item computes where it shares the steps of few rows with
others. Fewer: the second factor is loaded more often; more: accumulators take the registers of many
warps. On an H100, 8 x 4096 x 4096 in bf16 took 160 us with one row each, which loads the second
factor eight times."""


def share_rows(
    nest: GridNest, inner: Sequence[tg.EndOp | tg.ReduceOp], rows: Sequence[tg.RangeOp]
) -> None:
    """A workgroup for each row, or for as many short rows as it has work items for. Its work items
    share the loops inside, which `inner` closes.

    Products in the rows, as those of an attention, decide how many work items share a row, and
    each work item computes TILE rows of them in registers.
    """
    own = [closer for closer in inner if nest.axes.open[closer] <= {*rows}]
    closers = own if nest.end is None else [nest.end, *own]
    parts = [[r for r in closed_ranges(closer) if r not in rows] for closer in closers]
    parts = [ranges for ranges in parts if ranges]
    extents = [nest.nests.extent(range) for range in rows]
    longest = max((math.prod(map(nest.nests.extent, ranges)) for ranges in parts), default=1)
    if longest <= FEW and rows and nest.split_items(rows[-1:], nest.items) > 1:
        return
    nested = {r for op in inner if _reuses(nest, op, rows) for r in nest.axes.open[op]}
    products = [ranges for ranges in parts if nested & {*ranges}]
    row = rows[-1].axis.data if rows else None
    if products:
        shared = max(nest.share(ranges, nest.items) for ranges in products)
        for ranges in parts:
            if ranges not in products:
                nest.share(ranges, shared, 1)
    else:
        items = _items(nest, longest, math.prod(extents))
        shared = max((nest.share_cells(ranges, items) for ranges in parts), default=1)
    if row is None:
        return
    if products and nest.nests.extent(rows[-1]) % TILE == 0:
        nest.split(nest.axes[row], TILE, tg.AxisType.UPCAST)
    extent = tg.known_index(nest.axes[row].bound) or 1
    count = part(extent, nest.items // shared)
    # Fewer rows where LOCAL memory does not hold as many.
    while count > 1 and not nest.split(nest.axes[row], count, tg.AxisType.LOCAL):
        count = part(extent, count // 2)


def _reuses(nest: GridNest, op: tg.EndOp | tg.ReduceOp, rows: Sequence[tg.RangeOp]) -> bool:
    """Whether the steps of a REDUCE in a loop inside a row load what other rows load, too."""
    if not isinstance(op, tg.ReduceOp) or not rows or nest.axes.open[op] <= {*rows}:
        return False
    found = [a for a in nest.nests.accesses_along(closed_ranges(op)) if isinstance(a.op, tg.LoadOp)]
    again = [a.op for a in found if a.strides.get(rows[-1], 0) == 0]
    return any(isinstance(tg.memory_of(load.operands[0]).owner, tg.ParamOp) for load in again)


def _items(nest: GridNest, longest: int, rows: int) -> int:
    """How many work items share a row: those of a warp if the row is short enough, and there are
    enough rows to fill the device."""
    is_short = longest <= CELLS * nest.warp and rows * nest.warp >= nest.enough
    return nest.warp if is_short and nest.warp > 1 else nest.items


def share_reductions(nest: GridNest, reductions: Sequence[tg.ReduceOp]) -> None:
    """Work items share the steps of reductions. Those that load neighbours are neighbours. Each of
    them does all steps of a reduction inside of another one's loops."""
    items = nest.items
    # A work item computes several rows of a product with few rows: what it loads for a column is
    # used for each of them.
    row = reusing_row(nest, nest.column()) if nest.loops else None
    if row is not None and (width := part(nest.nests.extent(row), ROWS)) > 1:
        nest.split(row, width, tg.AxisType.UPCAST)
    loops = {r for op in reductions for r in closed_ranges(op)}
    reductions = [op for op in reductions if not nest.axes.open[op] & loops]
    columns = [r for r in nest.loops if nest.is_contiguous(r)]
    steps = dict.fromkeys(tuple(closed_ranges(op)) for op in reductions)
    if columns and not any(nest.is_contiguous(r) for ranges in steps for r in ranges):
        items //= nest.split_items(columns[-1:], FEW)
    results = math.prod(map(nest.nests.extent, nest.loops))
    if not columns:
        longest = max((math.prod(map(nest.nests.extent, r)) for r in steps), default=1)
        items = _items(nest, longest, results)
    found = max((nest.share_cells(ranges, items) for ranges in steps), default=1)
    # Several short rows have a workgroup: a warp at least, and no more where processors would idle.
    if columns or nest.warp == 1 or not nest.loops:
        return
    most = min(nest.items // found, max(nest.warp // found, results * nest.items // nest.enough))
    if most > 1:
        nest.split_items([max(nest.loops, key=nest.nests.extent)], most)


# -- transposes ------------------------------------------------------------------------------------

# Transposes: squares that go through LOCAL memory, so that loads and stores are of rows.


SIDE, TALL = 32, 8
"""The side of a square, and the rows of it that are copied at a time. A row of 32 elements of f32
fills the 128 bytes of one transaction; each work item copies SIDE / TALL elements. The usual choice
of hand-written transposes."""


def transpose(nest: GridNest) -> bool:
    """Tile a kernel that stores rows and loads columns, if it is one and that is legal."""
    stores = [access.strides for access in nest.nests.stores]
    column = next((r for r in nest.loops if all(s.get(r) == 1 for s in stores)), None)
    if column is None:
        return False
    for access in nest.nests.loads:
        row = next((r for r in nest.loops if access.strides.get(r) == 1), None)
        apart = access.strides.get(column, 0)
        if row is not None and apart not in (0, 1):
            param = tg.memory_of(access.op.operands[0]).owner
            if isinstance(param, tg.ParamOp):
                return _tile(nest, param.slot.data, row, column)
    return False


def _tile(nest: GridNest, slot: int, row: tg.RangeOp, column: tg.RangeOp) -> bool:
    extents = [tg.known_index(range.bound) or 1 for range in (row, column)]
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
