"""Products by matrix instructions: tiles of several of them for each warp, and several warps."""

from __future__ import annotations

import math

from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.matrix_products import product_of
from tgdialect.lowering.optimize.axes import Axes, computed_from
from tgdialect.lowering.optimize.grid.nests import part
from tgdialect.lowering.optimize.grid.products import BUFFERS
from tgdialect.lowering.optimize.optops.apply import opt, try_opt
from tgdialect.lowering.optimize.optops.tc import CASTS, PADDED
from tgdialect.ops.attributes import AxisType, OptOp
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.properties import known_index
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ParamOp
from tgdialect.ops.views import memory_of
from tgdialect.targets import Target

TILES = 4
"""A warp has up to TILES x TILES results of instructions in registers: each fragment that it loads
is used TILES times. With an instruction of 16x8 results they take 64 of 255 registers; with more,
the fragments of the next step would spill. Not measured."""

WARPS = 2
"""A workgroup has up to WARPS x WARPS warps, which share what they load in the L1 cache. Not
measured."""

STEPS = 2
"""The steps of the instruction in a block: 64 bytes of each row of A in all formats. With more,
tiles take more LOCAL memory; with fewer, there are more BARRIERs. Not measured."""

LEAST = 16
"""Loops shorter than this are not padded, neither to tiles of an instruction nor, as loops over
tiles, to the tiles of a workgroup: most of what is added would be wasted."""


def multiply_matrices(axes: Axes, target: Target) -> bool:
    """Compute the product of a kernel that has one by matrix instructions. Whether that was
    legal."""
    reductions = [op for op in axes.ops if isinstance(op, ReduceOp) and op.ranges]
    if not target.matrix or len(reductions) != 1:
        return False
    ranges = closed_ranges(reductions[0])
    steps = max(ranges, key=lambda range: known_index(range.bound) or 0).axis.data
    if (factors := product_of(reductions[0].source)) is None:
        return False
    # Loops that one factor depends on make tiles, and loops of a batch do not.
    tiled = {axes[steps], *(axes.around(factors.a) ^ axes.around(factors.b))}
    before = {axis: known_index(range.bound) for axis, range in axes.ranges.items()}
    extents = [known_index(range.bound) for range in tiled]
    is_long = all(extent is None or extent == 1 or extent >= LEAST for extent in extents)
    level = PADDED if is_long else CASTS
    if not try_opt(axes, opt(OptOp.TC, steps, -1, level, 1)):
        return False
    sides = [
        axis
        for axis, range in axes.ranges.items()
        if range in axes.ends and before.get(axis) not in (None, known_index(range.bound))
    ]
    for axis in sides:
        extent = axes.extent(axes[axis])
        if extent % (TILES * WARPS) and extent >= LEAST:
            try_opt(axes, opt(OptOp.PADTO, axis, TILES * WARPS))
    for kind, most in ((AxisType.UPCAST, TILES), (AxisType.LOCAL, WARPS)):
        for axis in sides:
            width = part(axes.extent(axes[axis]), most)
            if 1 < width < axes.extent(axes[axis]):
                try_opt(axes, opt(OptOp.SPLIT, axis, width, kind.value))
    _stage_blocks(axes, steps)
    return True


def _stage_blocks(axes: Axes, steps: int) -> None:
    """Before each block of steps, have the warps of a workgroup copy what all of them load to LOCAL
    memory. Nothing is changed where that is not legal."""
    extent = axes.extent(axes[steps])
    block = part(extent, STEPS)
    if extent // block < BUFFERS:
        return
    (reduction,) = (op for op in axes.ops if isinstance(op, ReduceOp) and op.wmma is not None)
    memories = [
        memory_of(op.buffer).owner
        for op in computed_from(reduction.source)
        if isinstance(op, LoadOp)
    ]
    loops = next(
        loops_of(end) for end in axes.ends.values() if {*closed_ranges(end)} <= axes.open[reduction]
    )
    items = [r for r in loops if r.axis_type.data in WORK_ITEMS]
    inside, shape = [r.axis.data for r in items], [axes.extent(r) for r in items]
    outer = [r.axis.data for r in loops if r not in items]
    if block > 1 and not try_opt(axes, opt(OptOp.SPLIT, steps, block, AxisType.UNROLL.value)):
        return
    if [*outer, *inside] != [r.axis.data for r in loops] and not try_opt(
        axes, opt(OptOp.ORDER, *outer, *inside)
    ):
        return
    if not try_opt(axes, opt(OptOp.ORDER, steps, *inside)):
        return
    # All tiles before the first SPLIT, which rewrites the clamps that STAGE reads in indices.
    slots = [param.slot.data for param in dict.fromkeys(memories) if isinstance(param, ParamOp)]
    copies = [copy for slot in slots for copy in _stage(axes, slot, steps)]
    for copy in copies:
        if axes.extent(axes[copy]) % math.prod(shape):
            try_opt(axes, opt(OptOp.PADTO, copy, math.prod(shape)))
        for extent in reversed(shape):
            try_opt(axes, opt(OptOp.SPLIT, copy, extent, AxisType.LOCAL.value))
    if axes.target.copies_asynchronously:
        try_opt(axes, opt(OptOp.PIPELINE, steps, BUFFERS))


def _stage(axes: Axes, slot: int, steps: int) -> list[int]:
    """Copy the tile of a parameter. Returns the loops of the copy; none where it is not legal."""
    before = set(axes.ranges)
    if not try_opt(axes, opt(OptOp.STAGE, slot, steps, "local", "pad")):
        return []
    return [n for n, r in axes.ranges.items() if n not in before and not is_expanded(r)]
