"""Products by matrix instructions: tiles of several of them for each warp, and several warps."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.matrix_products import Product, product_of
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.grid.nests import is_wasteful
from tgdialect.lowering.optimize.grid.products import BUFFERS
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.lowering.optimize.optops.tc import Level, sides_of
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.targets import Target
from tgdialect.targets.local_factors import WARP, WARPGROUP
from tgdialect.targets.matrix import MatrixInstruction, matrix_instructions

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
    steps = max(ranges, key=lambda range: tg.known_index(range.bound) or 0).axis.data
    if (factors := product_of(reductions[0].source)) is None:
        return False
    if multiply_in_local_memory(axes, target, factors, steps):
        return True
    # Loops that one factor depends on make tiles, and loops of a batch do not.
    tiled = {axes[steps], *(axes.around(factors.a) ^ axes.around(factors.b))}
    before = {axis: tg.known_index(range.bound) for axis, range in axes.ranges.items()}
    extents = [tg.known_index(range.bound) for range in tiled]
    is_long = all(extent is None or extent == 1 or extent >= LEAST for extent in extents)
    level = Level.PADDED if is_long else Level.CASTS
    has_runs = all(_has_runs(axes, factor, tiled) for factor in factors[:2])
    rounding = [i for i, each in enumerate(matrix_instructions(target)) if each.rounds]
    choices = [-1, *(rounding if axes.may_round else [])]
    if not any(attempt(axes, tg.OptOp.TC, steps, index, level, 1) for index in choices):
        return False
    loops = [(axis, tg.known_index(r.bound)) for axis, r in axes.ranges.items() if r in axes.ends]
    sides = [axis for axis, extent in loops if before.get(axis) not in (None, extent)]
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
    loads = [op for op in tg.computed_from(factor) if isinstance(op, tg.LoadOp)]
    along = [strides(load.buffer, axes.around) for load in loads]
    return all(any(each.get(range) == 1 for range in tiled) for each in along)


# -- instructions that read both factors from LOCAL memory (wgmma, ldmatrix) -----------------------


GROUPS = {WARPGROUP: (2, 1), WARP: (2, 2)}
"""The groups of threads of one instruction that a workgroup has along the rows and along the
columns, by the threads of an instruction: groups next to each other share the block of a factor in
LOCAL memory. Fewer: a multiprocessor loads a factor more often; more: the sums of a workgroup do
not fit into its registers. The usual choice of hand-written kernels; not measured."""

LEAST_BUFFERS, MOST_BUFFERS = 2, 4
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
    dtype = tg.dtype_of(factors.a).name
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
    if not attempt(axes, tg.OptOp.TC, steps, index, Level.PADDED, 1):
        return False
    parts: list[int] = []
    for axis, most in zip(sides, GROUPS[instruction.fragments.threads], strict=True):
        if axes.extent(axes[axis]) % most and axes.extent(axes[axis]) > 1:
            attempt(axes, tg.OptOp.PADTO, axis, most)
        parts.append(part(axes.extent(axes[axis]), most))
        if parts[-1] > 1:
            attempt(axes, tg.OptOp.SPLIT, axis, parts[-1], tg.AxisType.LOCAL)
    fit = axes.target.local // _bytes(instruction, parts)
    # As many buffers as steps would leave nothing to overlap with.
    buffers = min(fit, MOST_BUFFERS, max(axes.extent(axes[steps]) - 1, LEAST_BUFFERS))
    order = "swizzle" if instruction.is_asynchronous else "cores"
    return buffers >= LEAST_BUFFERS and stage_blocks(axes, steps, 1, buffers, order)


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
        and math.ceil(extents[2] / instruction.fragments.dims[2]) >= LEAST_BUFFERS
        and LEAST_BUFFERS * _bytes(instruction, GROUPS[instruction.fragments.threads])
        <= target.local
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
    return sides * steps * tg.DTYPES[tg.TYPES[instruction.factor]].itemsize


# -- blocks of steps in LOCAL memory ---------------------------------------------------------------


def stage_blocks(axes: Axes, steps: int, block: int, buffers: int, order: str) -> bool:
    """Before each block of so many steps, have the warps of a workgroup copy what all of them load
    to LOCAL memory, in the `order` of STAGE. Whether both factors are copied: an OptOp that is not
    legal is left out."""
    extent = axes.extent(axes[steps])
    if extent // block < buffers:
        return False
    (reduction,) = (op for op in axes.ops if isinstance(op, tg.ReduceOp) and op.wmma is not None)
    loads = [op for op in tg.computed_from(reduction.source) if isinstance(op, tg.LoadOp)]
    memories = [tg.memory_of(load.buffer).owner for load in loads]
    end = next(end for end in axes.ends.values() if {*closed_ranges(end)} <= axes.open[reduction])
    loops = loops_of(end)
    tiles = [r for r in closed_ranges(end) if r.axis_type.data is tg.AxisType.UPCAST]
    items = [r for r in loops if r.axis_type.data in WORK_ITEMS]
    inside, shape = [r.axis.data for r in items], [axes.extent(r) for r in items]
    outer = [r.axis.data for r in loops if r not in items]
    if block > 1 and not attempt(axes, tg.OptOp.SPLIT, steps, block, tg.AxisType.UNROLL):
        return False
    is_ordered = [*outer, *inside] == [r.axis.data for r in loops]
    if not is_ordered and not attempt(axes, tg.OptOp.ORDER, *outer, *inside):
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
