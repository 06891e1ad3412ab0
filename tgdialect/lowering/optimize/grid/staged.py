"""Blocks in LOCAL memory: tiles of products, and squares of transposes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from tgdialect.analysis.launches import GridShape
from tgdialect.analysis.ranges import closed_ranges, is_expanded
from tgdialect.lowering.optimize.grid.nests import NOTHING, GridNest
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.ops import tg


def tiles(
    nest: GridNest, row: tg.RangeOp, column: tg.RangeOp, reductions: Sequence[tg.ReduceOp]
) -> Iterator[GridShape]:
    """Register tiles of a product: a workgroup has a square of work items, which copy blocks of
    steps to LOCAL memory if that is legal."""
    groups, side = {range.axis.data for range in nest.loops}, math.isqrt(nest.items)
    block = part(max(map(nest.nests.extent, closed_ranges(reductions[0]))), side)
    buffers = 2 if nest.target.copies_asynchronously else 1
    for height, width in itertools.product((2 * nest.width, nest.width, 1), (nest.width, 1)):
        held = {row.axis.data: height, column.axis.data: width}
        held = {axis: size for axis, size in held.items() if size > 1}
        for across in nest.fills([column], side, held):
            for items in nest.fills([row], side, held):
                if len(reductions) == 1 and block > 1 and items and across:
                    yield GridShape(groups, {**across, **items}, held, block, buffers)
            rest = nest.items // math.prod(across.values())
            for items in nest.fills([row], rest, held):
                yield GridShape(groups, {**across, **items}, held)


def squares(nest: GridNest) -> Iterator[GridShape]:
    """Squares of a kernel that stores rows and loads columns, if it is one: loads and stores are of
    whole cache lines."""
    stores, side = [access.strides for access in nest.nests.stores], nest.line
    column = next((r for r in nest.loops if all(s.get(r) == 1 for s in stores)), None)
    for access in nest.nests.loads:
        row = next((r for r in nest.loops if access.strides.get(r) == 1), None)
        if row is None or column is None or access.strides.get(column, 0) in (0, 1):
            continue
        extents = [tg.known_index(range.bound) or 1 for range in (row, column)]
        if nest.items >= side and not any(extent % side for extent in extents):
            high = part(side, nest.items // side)
            items, held = (
                {column.axis.data: side, row.axis.data: high},
                {row.axis.data: side // high},
            )
            yield GridShape({r.axis.data for r in nest.loops}, items, held, block=1)


def apply_staged(nest: GridNest, launch: GridShape, reductions: Sequence[tg.ReduceOp]) -> bool:
    """Before each block of steps, or for each square, the work items of a workgroup copy what all
    of them load to LOCAL memory. Returns whether that was legal; register tiles remain if not."""
    axes, items = nest.axes, launch.items.values()
    params = dict.fromkeys(tg.memory_of(a.op.operands[0]).owner for a in nest.nests.loads)
    slots = [param.slot.data for param in params if isinstance(param, tg.ParamOp)]
    held, more = (launch.registers, NOTHING) if reductions else (NOTHING, launch.registers)
    for axis in reversed(launch.items):
        nest.whole(axis, held.get(axis, 1) * launch.items[axis])
        if axis in held:
            nest.split(axes[axis], held[axis], tg.AxisType.UPCAST)
    order = [r.axis.data for r in nest.loops if r.axis.data in launch.items]
    inside = nest.split_blocks(order, [launch.items[n] * more.get(n, 1) for n in order])
    if inside is None:
        nest.apply(GridShape(launch.groups, launch.items))
        return True
    before, outer = {*axes.ranges}, [r.axis.data for r in nest.loops if r.axis.data not in inside]
    wanted = dict(zip(inside, (launch.items[n] for n in order), strict=True))
    if not reductions:
        if not outer or [s for s in slots if not nest.stage(s, outer[-1], items)]:
            return False
        for axis, count in reversed(wanted.items()):
            nest.split(axes[axis], count, tg.AxisType.LOCAL)
        return True
    # The loop over blocks of steps goes around the loops over work items. It makes three nests of
    # them: of zeros, of sums, and of results.
    over = max(closed_ranges(reductions[0]), key=nest.nests.extent).axis.data
    is_split = attempt(axes, tg.OptOp.SPLIT, over, launch.block, tg.AxisType.REDUCE)
    if not is_split or not attempt(axes, tg.OptOp.ORDER, over, *inside):
        return False
    for axis, range in list(axes.ranges.items()):
        is_new = axis not in before and range in axes.ends and not is_expanded(range)
        if axis in inside or is_new:
            nest.split(range, axes.extent(range), tg.AxisType.LOCAL)
    for slot in slots:
        nest.stage(slot, over, items)
    if launch.buffers > 1:
        attempt(axes, tg.OptOp.PIPELINE, over, launch.buffers)
    return True
