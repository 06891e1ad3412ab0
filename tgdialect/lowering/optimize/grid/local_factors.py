"""Products by instructions that read both factors from LOCAL memory (`wgmma`, `ldmatrix`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.matrix_products import Product
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.grid.nests import is_wasteful
from tgdialect.lowering.optimize.grid.staging import stage_blocks
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt
from tgdialect.lowering.optimize.optops.tc import PADDED, sides_of
from tgdialect.ops import tg
from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.ops.properties import dtype_of
from tgdialect.targets import Target
from tgdialect.targets.local_factors import WARP, WARPGROUP
from tgdialect.targets.matrix import MatrixInstruction, matrix_instructions

GROUPS = {WARPGROUP: (2, 1), WARP: (2, 2)}
"""The groups of threads of one instruction that a workgroup has along the rows and along the
columns, by the threads of an instruction: groups next to each other share the block of a factor in
LOCAL memory. Fewer: a multiprocessor loads a factor more often; more: the sums of a workgroup do
not fit into its registers. The usual choice of hand-written kernels; not measured."""

BUFFERS = 2, 4
"""The least and the most blocks of each factor in LOCAL memory: all but one are being copied while
one is multiplied. More hide more latency, and leave room for fewer steps in a block. Not
measured."""


def multiply_in_local_memory(axes: Axes, target: Target, factors: Product, steps: int) -> bool:
    """Compute a product by an instruction that reads both factors from LOCAL memory, if there is
    one and all that it needs is legal. Whether it was."""
    known = matrix_instructions(target)
    if factors.gates or not any(instruction.reads_local for instruction in known):
        return False
    try:
        sides = sides_of(axes, factors, axes[steps])
        extents = [axes.extent(range) for range in (*sides, axes[steps])]
        batches = [axes.extent(r) for r in closed_ranges(axes.ends[sides[0]]) if r not in sides]
    except IllegalOptError:
        return False
    majors = _majors(axes, factors, *sides, axes[steps])
    dtype = dtype_of(factors.a).name
    fitting = _fitting(target, known, dtype, majors, extents, math.prod(batches))
    if fitting is None:
        return False
    trial = axes.trial()
    numbers = [range.axis.data for range in sides]
    if not _multiply(trial, known.index(fitting), fitting, numbers, steps):
        return False
    axes.adopt(trial)
    return True


def _multiply(
    axes: Axes, index: int, instruction: MatrixInstruction, sides: Sequence[int], steps: int
) -> bool:
    """Whether a product could be computed by an instruction on blocks in LOCAL memory."""
    if not attempt(axes, tg.OptOp.TC, steps, index, PADDED, 1):
        return False
    parts: list[int] = []
    for axis, most in zip(sides, GROUPS[instruction.fragments.threads], strict=True):
        if axes.extent(axes[axis]) % most and axes.extent(axes[axis]) > 1:
            attempt(axes, tg.OptOp.PADTO, axis, most)
        parts.append(part(axes.extent(axes[axis]), most))
        if parts[-1] > 1:
            attempt(axes, tg.OptOp.SPLIT, axis, parts[-1], tg.AxisType.LOCAL)
    least, most = BUFFERS
    fit = axes.target.local // _bytes(instruction, parts)
    # As many buffers as steps would leave nothing to overlap with.
    buffers = min(fit, most, max(axes.extent(axes[steps]) - 1, least))
    order = "swizzle" if instruction.is_asynchronous else "cores"
    return buffers >= least and stage_blocks(axes, steps, 1, buffers, order)


def _majors(
    axes: Axes, factors: Product, rows: tg.RangeOp, columns: tg.RangeOp, steps: tg.RangeOp
) -> str | None:
    """Along which axis neighbours of A and of B lie, as the names of instructions say it; None
    where that is neither that of steps nor that of results."""
    found = ""
    for side, letter in ((rows, "m"), (columns, "n")):
        load = next(f for f in factors[:2] if side in axes.around(f)).owner
        if not isinstance(load, tg.LoadOp) or load.gate is not None:
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
    batches: int,
) -> MatrixInstruction | None:
    """The best of known instructions for a product. Prefer more threads, then more results per
    thread while every compute unit still has a workgroup, then more steps whose blocks fit into
    LOCAL memory."""
    fitting = [
        instruction
        for instruction in known
        if instruction.reads_local
        and (instruction.factor, instruction.name.rpartition(".")[2]) == (dtype, majors)
        and not any(map(is_wasteful, extents, instruction.fragments.dims))
        and math.ceil(extents[2] / instruction.fragments.dims[2]) >= BUFFERS[0]
        and BUFFERS[0] * _bytes(instruction, GROUPS[instruction.fragments.threads]) <= target.local
    ]
    threads = max((each.fragments.threads for each in fitting), default=0)
    fitting = [each for each in fitting if each.fragments.threads == threads]

    def results(instruction: MatrixInstruction) -> int:
        return math.prod(instruction.fragments.dims[:2])

    def workgroups(instruction: MatrixInstruction) -> int:
        tiles = zip(extents, instruction.fragments.dims, GROUPS[threads], strict=False)
        return batches * math.prod(math.ceil(e / (tile * groups)) for e, tile, groups in tiles)

    full = [results(each) for each in fitting if workgroups(each) >= target.units]
    wanted = max(full) if full else min(map(results, fitting), default=0)
    return next((each for each in fitting if results(each) == wanted), None)


def _bytes(instruction: MatrixInstruction, groups: Sequence[int]) -> int:
    """The LOCAL memory that one block of both factors takes."""
    height, width, steps = instruction.fragments.dims
    sides = height * groups[0] + width * groups[1]
    return sides * steps * DTYPES[TYPES[instruction.factor]].itemsize
