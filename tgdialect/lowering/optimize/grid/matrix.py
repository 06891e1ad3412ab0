"""Products by matrix instructions: tiles of several of them for each warp, and several warps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.launches import WarpShape, launch_cycles, multiplied
from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.grid.nests import cheapest, parts
from tgdialect.lowering.optimize.nests import part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.lowering.optimize.optops.tc import KernelProduct, Level, product_in
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.targets import Target
from tgdialect.targets.matrix import MatrixInstruction, matrix_instructions

TILES = 4
"""The most results of instructions that a warp has in registers along rows and along columns: each
fragment that it loads is used so often. With 4 x 4 of 16x8 results they take 64 of 255 registers;
with more, the fragments of the next step would spill. Not measured."""

BUFFERS = 4
"""The most blocks of each factor in LOCAL memory, if an instruction reads them there: all but one
are being copied while one is multiplied. More hide more latency, and leave room for fewer
workgroups. Not measured."""


class _Candidate(NamedTuple):
    """An instruction with its number in OptOp TC, and how warps use it."""

    number: int
    instruction: MatrixInstruction
    warps: WarpShape


class _MatrixProduct:
    """The product of a kernel, and how often it is computed."""

    def __init__(self, axes: Axes, target: Target, product: KernelProduct) -> None:
        self.axes, self.target = axes, target
        self.factors, self.ranges, self.extents, self.loads = product
        around = closed_ranges(axes.ends[self.ranges[0]])
        self.batches = math.prod(axes.extent(r) for r in around if r not in self.ranges)
        self.dtype = tg.dtype_of(self.factors.a)

    def candidates(self) -> Iterator[_Candidate]:
        """The warps that a workgroup may have of each instruction. At least one tile of it is no
        padding."""
        majors, has_runs, target = self._majors(), self._has_runs(), self.target
        # Those that read LOCAL memory first: factors need no registers.
        known = [*enumerate(matrix_instructions(target))]
        for index, each in sorted(known, key=lambda pair: not pair[1].reads_local):
            dims, threads = each.fragments.dims, each.fragments.threads
            *counts, steps = (-(-e // d) for e, d in zip(self.extents, dims, strict=True))
            has_whole = all(e >= d or e == 1 for e, d in zip(self.extents, dims, strict=True))
            rounds = each.rounds and not self.axes.may_round
            if each.factor != self.dtype.name or rounds or not has_whole:
                continue
            fits = not self.factors.gates and each.name.rpartition(".")[2] == majors
            # As many warps as compute at the same time, if there are results for all of them.
            most = min(target.workgroup_items // threads, target.schedulers, math.prod(counts))
            pairs = (
                (total, r, total // r) for total in parts(most, most) for r in parts(total, total)
            )
            fitting = [pair for pair in pairs if pair[1] <= counts[0] and pair[2] <= counts[1]]
            for groups in (pair[1:] for pair in fitting if pair[0] == fitting[0][0]):
                warps = WarpShape(dims, threads, groups)
                if each.reads_local:
                    # As many buffers as steps would leave nothing to overlap with.
                    fit = target.local // warps.held(self.dtype.itemsize)
                    most = min(fit, BUFFERS, max(steps - 1, 2))
                    for buffers in range(most if fits and steps > 1 else 1, 1, -1):
                        yield _Candidate(index, each, warps._replace(buffers=buffers))
                    continue
                rows, columns = (
                    part(-(-c // g), TILES) for c, g in zip(counts, groups, strict=True)
                )
                buffers = 2 if target.copies_asynchronously else 1
                # Half a cache line of each row of A.
                run = target.cache_line // (2 * dims[2] * self.dtype.itemsize)
                block = part(steps, max(run, 1)) if has_runs else 0
                block = block if block and steps // block >= buffers else 0
                warps = warps._replace(tiles=(rows, columns), block=block, buffers=buffers)
                yield _Candidate(index, each, warps)

    def is_quick(self, candidate: _Candidate) -> bool:
        """Whether an instruction is one of several warps, which multiply more in a cycle than those
        of one do, unless that is padding."""
        extents, target = self.extents, self.target
        padded = math.prod(
            -(-e // d) * d for e, d in zip(extents, candidate.warps.dims, strict=True)
        )
        most = math.prod(extents) * target.group_mulaccs / target.matrix_mulaccs
        return candidate.instruction.is_asynchronous and padded <= most

    def price(self, candidate: _Candidate) -> tuple[float, int]:
        """The cycles of the product, and the work items at a time."""
        facts = self.extents, self.batches, self.dtype.itemsize
        found = multiplied(candidate.warps, *facts, self.target)
        return launch_cycles(found, self.target).total, found.at_once(self.target)

    def apply(self, candidate: _Candidate) -> bool:
        """Whether the product could be computed so. An instruction that reads LOCAL memory needs
        all of the OptOps."""
        index, instruction, warps = candidate
        is_local, steps = instruction.reads_local, self.ranges[2].axis.data
        axes = self.axes.trial() if is_local else self.axes
        sides = [range.axis.data for range in self.ranges[:2]]
        if not attempt(axes, tg.OptOp.TC, steps, index, Level.PADDED, 1):
            return False
        for axis, *sizes in zip(sides, warps.tiles, warps.groups, strict=True):
            if axes.extent(axes[axis]) % math.prod(sizes):
                attempt(axes, tg.OptOp.PADTO, axis, math.prod(sizes))
        for sizes, kind in ((warps.tiles, tg.AxisType.UPCAST), (warps.groups, tg.AxisType.LOCAL)):
            for axis, size in zip(sides, sizes, strict=True):
                if size > 1:
                    attempt(axes, tg.OptOp.SPLIT, axis, size, kind.value)
        order = "swizzle" if instruction.is_asynchronous else "cores" if is_local else "pad"
        is_staged = warps.block > 0 and stage_blocks(axes, steps, warps, order)
        if is_local and is_staged:
            self.axes.adopt(axes)
        return is_staged or not is_local

    def _has_runs(self) -> bool:
        """Whether the loads of factors are neighbours along a side of a tile, so that copies of
        tiles move whole runs. Cells that are copied one by one, as the weights of a convolution,
        take longer than the warps that share them save."""
        a, b, _ = self.factors
        # Loops that one factor depends on make tiles, and loops of a batch do not.
        tiled = {self.ranges[2], *(self.axes.around(a) ^ self.axes.around(b))}
        ops = (op for factor in (a, b) for op in tg.computed_from(factor))
        along = [strides(op.buffer, self.axes.around) for op in ops if isinstance(op, tg.LoadOp)]
        return all(any(each.get(range) == 1 for range in tiled) for each in along)

    def _majors(self) -> str:
        """Along which axis neighbours of A and of B lie, as the names of instructions say it; empty
        where that is neither that of steps nor that of results."""
        found = ""
        for side, load, letter in zip(self.ranges, self.loads, "mn", strict=False):
            if load is None or load.gate is not None:
                return ""
            along = strides(load.buffer, self.axes.around)
            found += "k" if along.get(self.ranges[2]) == 1 else letter * (along.get(side) == 1)
        return found


def multiply_matrices(axes: Axes, target: Target) -> bool:
    """Compute the product of a kernel that has one by matrix instructions. Whether that was
    legal."""
    if not target.matrix or (found := product_in(axes)) is None:
        return False
    product = _MatrixProduct(axes, target, found)
    candidates = [*product.candidates()]
    for is_quick in (True, False):
        chosen = (c for c in candidates if product.is_quick(c) is is_quick)
        if any(map(product.apply, cheapest((*product.price(c), c) for c in chosen))):
            return True
    return False


# -- blocks of steps in LOCAL memory ---------------------------------------------------------------


def stage_blocks(axes: Axes, steps: int, warps: WarpShape, order: str) -> bool:
    """Before each block of steps, have the warps of a workgroup copy what all of them load
    to LOCAL memory, in the `order` of STAGE. Whether both factors are copied: an OptOp that is not
    legal is left out."""
    (reduction,) = (op for op in axes.ops if isinstance(op, tg.ReduceOp) and op.wmma is not None)
    loads = [op for op in tg.computed_from(reduction.source) if isinstance(op, tg.LoadOp)]
    memories = [tg.memory_of(load.buffer).owner for load in loads]
    end = next(end for end in axes.ends.values() if {*closed_ranges(end)} <= axes.open[reduction])
    loops = loops_of(end)
    tiles = [r for r in closed_ranges(end) if r.axis_type.data is tg.AxisType.UPCAST]
    items = [r for r in loops if r.axis_type.data in WORK_ITEMS]
    inside, shape = [r.axis.data for r in items], [axes.extent(r) for r in items]
    outer = [r.axis.data for r in loops if r not in items]
    block, kind = warps.block, tg.AxisType.UNROLL
    if block > 1 and not attempt(axes, tg.OptOp.SPLIT, steps, block, kind):
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
    if warps.buffers > 1:
        attempt(axes, tg.OptOp.PIPELINE, steps, warps.buffers)
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
