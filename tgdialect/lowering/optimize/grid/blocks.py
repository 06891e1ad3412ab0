"""Blocks: nests over LOCAL buffers inside of a loop over blocks of steps, as in an attention.

A workgroup executes them one after the other. All of them have the same square of work items, so
that a buffer whose cells each work item accesses alone, such as the results, is in registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation

from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.grid.nests import GridNest
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.ops import tg
from tgdialect.targets import Target


def share_blocks(axes: Axes, target: Target) -> bool:
    """Share the nests of blocks among work items, if a kernel has such. Whether it has."""
    over, nest = _loop_over_blocks(axes), GridNest(axes, target, None)
    side = math.isqrt(nest.items)
    if over is None or side < 2:
        return False
    end = axes.ends[over]
    around = {*axes.open[end], *closed_ranges(end)}
    ends = dict.fromkeys(axes.ends.values())
    nests = [[r.axis.data for r in loops_of(each) if r not in around] for each in ends]
    reduces = [op for op in axes.ops if isinstance(op, tg.ReduceOp) and axes.open[op] - around]
    reduced = [closed_ranges(op)[-1].axis.data for op in reduces]
    loads = [op for op in axes.reads(over) if isinstance(tg.memory_of(op.buffer).owner, tg.ParamOp)]
    params = [tg.memory_of(load.buffer).owner for load in loads if _is_reused(axes, load, over)]
    for param in dict.fromkeys(params):
        if isinstance(param, tg.ParamOp):
            made = made_by(axes, tg.OptOp.STAGE, param.slot.data, over.axis.data, "local", "pad")
            _share(nest, made or (), side)
    for loops in nests:
        _share(nest, loops, side)
    for axis in dict.fromkeys(reduced):
        if axes.extent(axes[axis]) % nest.width == 0:
            attempt(axes, tg.OptOp.SPLIT, axis, nest.width, tg.AxisType.UNROLL)
    for each in dict.fromkeys(axes.ends.values()):
        _order(axes, loops_of(each))
    return True


def _loop_over_blocks(axes: Axes) -> tg.RangeOp | None:
    """The one loop whose iterations have an order and which has several nests over LOCAL buffers
    inside; None where an extent is dynamic."""
    found = [r for r in axes.ends if r.axis_type.data is tg.AxisType.REDUCE]
    if len(found) != 1:
        return None
    (over,) = found
    inner = {end for end in axes.ends.values() if over in axes.open[end]}
    if len(inner) < 2:
        return None
    around = {*axes.open[axes.ends[over]], *closed_ranges(axes.ends[over])}
    others = [r for r in axes.ranges.values() if r not in around]
    if any(tg.known_index(r.bound) is None or is_expanded(r) for r in others):
        return None
    memories = [tg.memory_of(store.buffer) for store in axes.stores(over)]
    are_buffers = all(isinstance(memory.owner, tg.BufferOp) for memory in memories)
    is_local = all(tg.place(memory).addrspace is tg.AddrSpace.LOCAL for memory in memories)
    return over if are_buffers and is_local else None


def _is_reused(axes: Axes, load: tg.LoadOp, over: tg.RangeOp) -> bool:
    """Whether a LOAD in a block loads the same for several iterations of a loop in it."""
    around = {*axes.open[axes.ends[over]], *closed_ranges(axes.ends[over])}
    users = (store for store in axes.stores(over) if load in _of_nest(store))
    loops = {r for store in users for r in axes.open[store]}
    return over in axes.open[load] and bool(loops - around - axes.open[load])


def _of_nest(store: tg.StoreOp) -> set[Operation]:
    """The ops that a STORE's value is computed by, without those of other nests."""
    ops = tg.computed_from(store.value, until=(tg.EndOp,))
    return {op for op in ops if not isinstance(op, tg.EndOp)}


def _share(nest: GridNest, loops: Sequence[int], side: int) -> None:
    """Give the rows of a nest to one side of the square of work items, and its columns to the
    other, each with as many in registers as two accesses move; or rows alone to all."""
    for axis in dict.fromkeys((*loops[:1], *loops[-1:])):
        extent = nest.axes.extent(nest.axes[axis])
        count = part(extent, side)
        inner = part(extent // count, 2 * nest.width if len(loops) > 1 else side)
        kind = tg.AxisType.UPCAST if len(loops) > 1 else tg.AxisType.LOCAL
        if inner > 1:
            nest.split(nest.axes[axis], inner, kind)
        if count > 1 and not is_expanded(nest.axes[axis]):
            nest.split(nest.axes[axis], count, tg.AxisType.LOCAL)


def _order(axes: Axes, loops: Sequence[tg.RangeOp]) -> None:
    """Nest work items around other loops of a nest."""
    is_inner = [r.axis_type.data is not tg.AxisType.LOCAL for r in loops]
    first = is_inner.index(False) if False in is_inner else len(loops)
    rest = sorted(loops[first:], key=lambda r: r.axis_type.data is not tg.AxisType.LOCAL)
    if (wanted := [*loops[:first], *rest]) != [*loops]:
        attempt(axes, tg.OptOp.ORDER, *(r.axis.data for r in wanted))
