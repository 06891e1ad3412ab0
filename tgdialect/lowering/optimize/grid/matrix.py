"""Products by matrix instructions: tiles of several of them for each warp, and several warps."""

from __future__ import annotations

from collections.abc import Set

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.matrix_products import product_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.grid.local_factors import multiply_in_local_memory
from tgdialect.lowering.optimize.grid.products import BUFFERS
from tgdialect.lowering.optimize.grid.staging import stage_blocks
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.lowering.optimize.optops.tc import CASTS, PADDED
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index
from tgdialect.ops.walk import computed_from
from tgdialect.targets import Target
from tgdialect.targets.matrix import matrix_instructions

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
"""The shortest loop that is padded, to tiles of an instruction and, as a loop over tiles, to the
tiles of a workgroup. Smaller: most of the work is padding; larger: fewer products by the
instruction."""


def multiply_matrices(axes: Axes, target: Target) -> bool:
    """Compute the product of a kernel that has one by matrix instructions. Whether that was
    legal."""
    reductions = [op for op in axes.ops if isinstance(op, tg.ReduceOp) and op.ranges]
    if not target.matrix or len(reductions) != 1:
        return False
    ranges = closed_ranges(reductions[0])
    steps = max(ranges, key=lambda range: known_index(range.bound) or 0).axis.data
    if (factors := product_of(reductions[0].source)) is None:
        return False
    if multiply_in_local_memory(axes, target, factors, steps):
        return True
    # Loops that one factor depends on make tiles, and loops of a batch do not.
    tiled = {axes[steps], *(axes.around(factors.a) ^ axes.around(factors.b))}
    before = {axis: known_index(range.bound) for axis, range in axes.ranges.items()}
    extents = [known_index(range.bound) for range in tiled]
    is_long = all(extent is None or extent == 1 or extent >= LEAST for extent in extents)
    level = PADDED if is_long else CASTS
    has_runs = all(_has_runs(axes, factor, tiled) for factor in factors[:2])
    rounding = [i for i, each in enumerate(matrix_instructions(target)) if each.rounds]
    choices = [-1, *(rounding if axes.may_round else [])]
    if not any(attempt(axes, tg.OptOp.TC, steps, index, level, 1) for index in choices):
        return False
    sides = [
        axis
        for axis, range in axes.ranges.items()
        if range in axes.ends and before.get(axis) not in (None, known_index(range.bound))
    ]
    for axis in sides:
        extent = axes.extent(axes[axis])
        if extent % (TILES * WARPS) and extent >= LEAST:
            attempt(axes, tg.OptOp.PADTO, axis, TILES * WARPS)
    for kind, most in ((tg.AxisType.UPCAST, TILES), (tg.AxisType.LOCAL, WARPS)):
        for axis in sides:
            width = part(axes.extent(axes[axis]), most)
            if 1 < width < axes.extent(axes[axis]):
                attempt(axes, tg.OptOp.SPLIT, axis, width, kind.value)
    if has_runs:
        stage_blocks(axes, steps, part(axes.extent(axes[steps]), STEPS), BUFFERS, "pad")
    return True


def _has_runs(axes: Axes, factor: SSAValue, tiled: Set[tg.RangeOp]) -> bool:
    """Whether the loads of a factor are neighbours along a side of a tile, so that copies of tiles
    move whole runs. Cells that are copied one by one, as the weights of a convolution, take longer
    than the warps that share them save."""
    loads = [op for op in computed_from(factor) if isinstance(op, tg.LoadOp)]
    along = [strides(load.buffer, axes.around) for load in loads]
    return all(any(each.get(range) == 1 for range in tiled) for each in along)
