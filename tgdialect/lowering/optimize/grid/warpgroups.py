"""Products by instructions of several warps that read both factors from LOCAL memory (`wgmma`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.affine.strides import strides
from tgdialect.lowering.matrix_products import Product
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.grid.nests import part
from tgdialect.lowering.optimize.grid.staging import stage_blocks
from tgdialect.lowering.optimize.optops.apply import opt, try_opt
from tgdialect.lowering.optimize.optops.tc import PADDED, sides_of
from tgdialect.ops.attributes import AxisType, OptOp
from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of
from tgdialect.targets import Target
from tgdialect.targets.matrix import MatrixInstruction, matrix_instructions

GROUPS = 2
"""The groups of warps of a workgroup, one below the other along the rows: they share the block of B
in LOCAL memory. With one, a multiprocessor loads B twice as often; with more, the sums of a
workgroup do not fit into its registers. The usual choice of hand-written kernels; not measured."""

BUFFERS = 2, 4
"""The least and the most blocks of each factor in LOCAL memory: all but one are being copied while
one is multiplied. More hide more latency, and leave room for fewer steps in a block. Not
measured."""

WASTE = 8
"""Rows, columns and steps are padded to tiles if that adds at most one in so many. More padding
costs more than instructions of smaller tiles do."""


def multiply_in_local_memory(axes: Axes, target: Target, factors: Product, steps: int) -> bool:
    """Compute a product by an instruction that reads both factors from LOCAL memory, if there is
    one and all that it needs is legal. Whether it was."""
    known = matrix_instructions(target)
    if factors.gates or not any(instruction.reads_local for instruction in known):
        return False
    try:
        rows, columns = sides_of(axes, factors, axes[steps])
        extents = [axes.extent(range) for range in (rows, columns, axes[steps])]
    except IllegalOptError:
        return False
    majors = _majors(axes, factors, rows, columns, axes[steps])
    fitting = _fitting(target, known, dtype_of(factors.a).name, majors, extents)
    if fitting is None:
        return False
    trial = axes.trial()
    if not _multiply(trial, known.index(fitting), fitting, rows.axis.data, steps):
        return False
    axes.adopt(trial)
    return True


def _multiply(
    axes: Axes, index: int, instruction: MatrixInstruction, rows: int, steps: int
) -> bool:
    """Whether a product could be computed by an instruction on blocks in LOCAL memory."""
    if not try_opt(axes, opt(OptOp.TC, steps, index, PADDED, 1)):
        return False
    if axes.extent(axes[rows]) % GROUPS and axes.extent(axes[rows]) > 1:
        try_opt(axes, opt(OptOp.PADTO, rows, GROUPS))
    groups = part(axes.extent(axes[rows]), GROUPS)
    if groups > 1:
        try_opt(axes, opt(OptOp.SPLIT, rows, groups, AxisType.LOCAL.value))
    least, most = BUFFERS
    fit = axes.target.local // _bytes(instruction, groups)
    # As many buffers as steps would leave nothing to overlap with.
    buffers = min(fit, most, max(axes.extent(axes[steps]) - 1, least))
    return buffers >= least and stage_blocks(axes, steps, 1, buffers, "cores")


def _majors(
    axes: Axes, factors: Product, rows: RangeOp, columns: RangeOp, steps: RangeOp
) -> str | None:
    """Along which axis neighbours of A and of B lie, as the names of instructions say it; None
    where that is neither that of steps nor that of results."""
    found = ""
    for side, letter in ((rows, "m"), (columns, "n")):
        load = next(f for f in factors[:2] if side in axes.around(f)).owner
        if not isinstance(load, LoadOp) or load.gate is not None:
            return None
        along = strides(load.buffer, axes.around)
        if along.get(steps) == 1:
            found += "k"
        elif along.get(side) == 1:
            found += letter
        else:
            return None
    return found


def _fitting(
    target: Target,
    known: Sequence[MatrixInstruction],
    dtype: str,
    majors: str | None,
    extents: Sequence[int],
) -> MatrixInstruction | None:
    """The instruction of the most columns that has the device full of workgroups, or else that of
    the fewest; of those the one of the most steps whose blocks fit into LOCAL memory."""
    fitting = [
        instruction
        for instruction in known
        if instruction.reads_local
        and (instruction.factor, instruction.name.rpartition(".")[2]) == (dtype, majors)
        and not any(map(_is_wasteful, extents, instruction.fragments.dims))
        and math.ceil(extents[2] / instruction.fragments.dims[2]) >= BUFFERS[0]
        and BUFFERS[0] * _bytes(instruction, GROUPS) <= target.local
    ]

    def workgroups(instruction: MatrixInstruction) -> int:
        height, width, _ = instruction.fragments.dims
        return math.ceil(extents[0] / (GROUPS * height)) * math.ceil(extents[1] / width)

    widths = [instruction.fragments.dims[1] for instruction in fitting]
    full = [
        width for i, width in zip(fitting, widths, strict=True) if workgroups(i) >= target.units
    ]
    wanted = max(full) if full else min(widths, default=0)
    return next((i for i, width in zip(fitting, widths, strict=True) if width == wanted), None)


def _is_wasteful(extent: int, tile: int) -> bool:
    return -extent % tile * WASTE > extent


def _bytes(instruction: MatrixInstruction, groups: int) -> int:
    """The LOCAL memory that one block of both factors takes."""
    height, width, steps = instruction.fragments.dims
    return (groups * height + width) * steps * DTYPES[TYPES[instruction.factor]].itemsize
