"""A schedule for a grid: which loops are workgroups, work items and registers.

* A product that the target has matrix instructions for is computed by warps.
* A kernel that goes over blocks of steps, as an attention, has the nests of a block shared.
* A kernel whose rows have loops of their own, such as a softmax, has the work items of a workgroup
  share rows.
* Any other kernel has a work item for each result, or for several; work items that share the steps
  of a result; or blocks in LOCAL memory.

For each of the last two there are candidates, and the one of least cost is taken that is legal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from tgdialect.analysis.launches import GridShape
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.grid.blocks import share_blocks
from tgdialect.lowering.optimize.grid.matrix import multiply_matrices
from tgdialect.lowering.optimize.grid.nests import NOTHING, GridNest, cheapest, parts
from tgdialect.lowering.optimize.grid.staged import apply_staged, squares, tiles
from tgdialect.lowering.optimize.nests import merge_loops, part, split_loops
from tgdialect.ops import tg
from tgdialect.targets import Target

Closers = Sequence[tg.EndOp | tg.ReduceOp]


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
    if nest.end is not None and not loops:  # All of them are registers already.
        return
    inside = [c for c in closers if c is not nest.end and nest.axes.open[c] & {*loops}]
    if nest.end is None:
        inside = [*closers]
    # Work items cannot share iterations that have an order, as in loops of hand-written kernels.
    serial = {r for r in nest.axes.ends if r.axis_type.data is tg.AxisType.REDUCE}
    inner = [
        c for c in inside if isinstance(c, tg.ReduceOp) or not serial.issuperset(closed_ranges(c))
    ]
    rows = [r for r in loops if all(r in nest.axes.open[closer] for closer in inner)]
    reductions = [closer for closer in inner if isinstance(closer, tg.ReduceOp)]
    priced: Closers = inner if nest.end is None else [nest.end, *inside]
    if nest.end is None or len(rows) < len(loops) or len(reductions) < len(inner):
        candidates = _of_rows(nest, inner, rows)
    else:
        candidates = _of_results(nest, reductions, has_loops=bool(inside))
    for launch in cheapest((*nest.price(launch, priced), launch) for launch in candidates):
        if not launch.block:
            nest.apply(launch)
            return
        if apply_staged(nest, launch, reductions):
            return


# -- rows ------------------------------------------------------------------------------------------


def _of_rows(nest: GridNest, inner: Closers, rows: Sequence[tg.RangeOp]) -> Iterator[GridShape]:
    """Work items share the loops inside of rows, which `inner` closes. Products in the rows, as
    those of an attention, may compute several rows in registers."""
    own = [closer for closer in inner if nest.axes.open[closer] <= {*rows}]
    closers = own if nest.end is None else [nest.end, *own]
    shared = [[r for r in closed_ranges(closer) if r not in rows] for closer in closers]
    row = rows[-1] if rows else None
    has_products = any(isinstance(c, tg.ReduceOp) and c not in own for c in inner)
    heights = [1]
    if row is not None and has_products and not nest.nests.extent(row) % nest.width:
        heights = [nest.width, 1]
    groups = {range.axis.data for range in rows}
    for launch in _sharing(nest, groups, shared, row, heights, row):
        yield replace(launch, keeps=not has_products)


def _sharing(
    nest: GridNest,
    groups: Set[int],
    shared: Sequence[Sequence[tg.RangeOp]],
    tall: tg.RangeOp | None,
    heights: Sequence[int],
    row: tg.RangeOp | None,
    columns: Mapping[int, int] = NOTHING,
) -> Iterator[GridShape]:
    """Work items share loops that are closed together, next to those of some columns. They take
    `heights` iterations of a loop in registers, and iterations of rows that are short.

    Loops over results and loops of a REDUCE are divided alike, so that a work item reads of a row
    what it has written of it: such cells are in registers.
    """
    most, seen = nest.items // math.prod(columns.values()), list[Mapping[int, int]]()
    # The work items of a warp need no BARRIER; a part of a warp is for short rows.
    for count in dict.fromkeys([min(nest.target.warp, most), *parts(most, most)]):
        items, held = dict[int, int](), dict[int, int]()
        for ranges in filter(None, shared):
            nest.share(ranges, count, items, held)
        if items in seen:
            continue
        seen.append(items)
        left = most // max(items.values(), default=1)
        for height in heights:
            tile = held if tall is None or height == 1 else {tall.axis.data: height, **held}
            extent = 1 if row is None else nest.nests.extent(row) // (height if row is tall else 1)
            for rows in dict.fromkeys((part(extent, left), 1)):
                beside = {row.axis.data: rows} if row is not None and rows > 1 else {}
                if count * rows >= min(nest.target.warp, most) or len(seen) == 1:
                    yield GridShape(groups, {**columns, **items, **beside}, tile)


# -- results ---------------------------------------------------------------------------------------


def _of_results(
    nest: GridNest, reductions: Sequence[tg.ReduceOp], *, has_loops: bool
) -> Iterator[GridShape]:
    """A work item for each result or for several, work items that share the steps of a result, or
    blocks in LOCAL memory."""
    column, groups = nest.column(), {range.axis.data for range in nest.loops}
    others = [r for r in reversed(nest.loops) if r is not column]
    extent = tg.known_index(column.bound)
    has_vectors = not has_loops and nest.is_contiguous(column)
    if has_vectors and extent is not None and not extent % nest.width:
        held = {column.axis.data: nest.width}
        yield from (
            GridShape(groups, n, held) for n in nest.fills([column, *others], nest.items, held)
        )
    yield from (GridShape(groups, items) for items in nest.fills([column, *others], nest.items, {}))
    if not reductions:
        yield from () if has_loops else squares(nest)
        return
    row = reusing_row(nest, column)
    if row is not None:
        yield from tiles(nest, row, column, reductions)
    # Work items share steps. Those that load neighbours are neighbours. Each of them does all steps
    # of a reduction inside of another one's loops. A work item may compute several rows of a
    # product with few rows: what it loads for a column is used for each of them.
    within = {r for op in reductions for r in closed_ranges(op)}
    outer = (op for op in reductions if not nest.axes.open[op] & within)
    steps = [*dict.fromkeys(tuple(closed_ranges(op)) for op in outer)]
    heights = [1] if row is None else [part(nest.nests.extent(row), 2 * nest.width), 1]
    columns = [r for r in nest.loops if nest.is_contiguous(r)]
    for beside in nest.fills(columns[-1:], nest.line, {}) if columns else ():
        yield from _sharing(nest, groups, steps, row, heights, None, beside)
    longest = None if columns else max(nest.loops, key=nest.nests.extent)
    yield from _sharing(nest, groups, steps, row, heights, longest)


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
