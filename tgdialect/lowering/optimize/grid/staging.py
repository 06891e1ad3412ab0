"""Blocks of the steps of a product that matrix instructions compute, through LOCAL memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.views import memory_of
from tgdialect.ops.walk import computed_from


def stage_blocks(axes: Axes, steps: int, block: int, buffers: int, order: str) -> bool:
    """Before each block of so many steps, have the warps of a workgroup copy what all of them load
    to LOCAL memory, in the `order` of STAGE. Whether both factors are copied: an OptOp that is not
    legal is left out."""
    extent = axes.extent(axes[steps])
    if extent // block < buffers:
        return False
    (reduction,) = (op for op in axes.ops if isinstance(op, tg.ReduceOp) and op.wmma is not None)
    memories = [
        memory_of(op.buffer).owner
        for op in computed_from(reduction.source)
        if isinstance(op, tg.LoadOp)
    ]
    end = next(end for end in axes.ends.values() if {*closed_ranges(end)} <= axes.open[reduction])
    loops = loops_of(end)
    tiles = [r for r in closed_ranges(end) if r.axis_type.data is tg.AxisType.UPCAST]
    items = [r for r in loops if r.axis_type.data in WORK_ITEMS]
    inside, shape = [r.axis.data for r in items], [axes.extent(r) for r in items]
    outer = [r.axis.data for r in loops if r not in items]
    if block > 1 and not attempt(axes, tg.OptOp.SPLIT, steps, block, tg.AxisType.UNROLL):
        return False
    if [*outer, *inside] != [r.axis.data for r in loops] and not attempt(
        axes, tg.OptOp.ORDER, *outer, *inside
    ):
        return False
    if not attempt(axes, tg.OptOp.ORDER, steps, *inside):
        return False
    _loop_over_results(axes, tiles)
    # All tiles before the first SPLIT, which rewrites the clamps that STAGE reads in indices.
    slots = [param.slot.data for param in dict.fromkeys(memories) if isinstance(param, tg.ParamOp)]
    copies = [_stage(axes, slot, steps, order) for slot in slots]
    with axes.simplified_once():
        for copy in (loop for loops in copies for loop in loops):
            if axes.extent(axes[copy]) % math.prod(shape):
                attempt(axes, tg.OptOp.PADTO, copy, math.prod(shape))
            for extent in reversed(shape):
                attempt(axes, tg.OptOp.SPLIT, copy, extent, tg.AxisType.LOCAL)
    if axes.target.copies_asynchronously:
        attempt(axes, tg.OptOp.PIPELINE, steps, buffers)
    return all(copies) and len(copies) == 2


def _loop_over_results(axes: Axes, tiles: Sequence[tg.RangeOp]) -> None:
    """Make loops of the ranges of results, but of those along which a lane stores neighbours. The
    results stay in registers, since the compiler of the output unrolls loops that index those; the
    kernel has one STORE where it had one for each run of results."""
    for range in tiles:
        along = [strides(store.buffer, axes.around).get(range) for store in axes.stores(range)]
        if 1 not in along:
            extent = axes.extent(range)
            attempt(axes, tg.OptOp.SPLIT, range.axis.data, extent, tg.AxisType.LOOP, "top")


def _stage(axes: Axes, slot: int, steps: int, order: str) -> list[int]:
    """Copy the tile of a parameter. Returns the loops of the copy; none where it is not legal."""
    made = made_by(axes, tg.OptOp.STAGE, slot, steps, "local", order)
    return [number for number in made or () if not is_expanded(axes[number])]
