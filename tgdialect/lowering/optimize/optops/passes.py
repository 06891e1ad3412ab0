"""Each OptOp as a pass, with the space of its legal applications.

So BEAM and xDSL's own tools search what `tg-optimize` applies. A pass applies its OptOp to every
kernel, or to the one that it names, and fails with the reason where that is not legal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product, starmap
from typing import Any, Self, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import closed_ranges, is_loop
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import (
    apply_opts,
    begin_schedule,
    checked_opt,
    scheduled,
)
from tgdialect.lowering.optimize.optops.merge import mergeable
from tgdialect.lowering.optimize.optops.split import SPLIT_FROM
from tgdialect.lowering.packing import pass_packed
from tgdialect.ops import tg
from tgdialect.targets.matrix import matrix_instructions

FACTORS = (2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 128, 256)
"""The sizes of parts that a search tries. More: longer searches; fewer: better sizes may be
missed."""


@dataclass(frozen=True)
class OptOpPass(LoweringPass, ABC):
    """One OptOp."""

    level_before = level_after = "kernels"

    kernel: str | None = field(default=None, kw_only=True)
    """The kernel that the OptOp is for; all of the module's if it is not said."""

    @property
    def attribute(self) -> tg.OptAttr:
        """The record of the OptOp on the kernel: what the fields say, of flags the names."""
        arguments: list[int | str] = []
        for name in (each.name for each in fields(self) if each.name != "kernel"):
            value: Any = getattr(self, name)
            values = cast("Sequence[int | str]", value if type(value) is tuple else (value,))
            arguments += (name if each is True else each for each in values if each is not False)
        return checked_opt(tg.OptOp(self.name.removeprefix("tg-")), *arguments)

    @classmethod
    @abstractmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        """Applications to a kernel, legal or not."""

    def lower(self, module: ModuleOp) -> None:
        kernels = [op for op in module.ops if isinstance(op, tg.KernelOp)]
        kernels = [k for k in kernels if self.kernel in (None, k.sym_name.data)]
        if self.kernel is not None and not kernels:
            raise PassFailedException(f"there is no kernel @{self.kernel}")
        for kernel in kernels:
            axes = Axes(kernel)
            begin_schedule(axes)
            apply_opts(axes, [self.attribute])
            pass_packed({kernel: axes.prepacked})

    @classmethod
    def schedule_space(cls, ctx: Context, module_op: ModuleOp) -> tuple[Self, ...]:
        """The applications that are legal, each to one kernel of the module."""
        return tuple(
            replace(candidate, kernel=kernel.sym_name.data)
            for kernel in module_op.ops
            if isinstance(kernel, tg.KernelOp)
            for candidate in cls.candidates(Axes(kernel))
            if scheduled(kernel, [candidate.attribute]) is not None
        )


@dataclass(frozen=True)
class TcPass(OptOpPass):
    """TC: compute a REDUCE of products by matrix instructions; the first OptOp of a kernel.

    `tc 2, -1, 0, 1`, with an instruction of 16x8x16:

        %r = tg.reduce add %p [] over %2 : tensor<f32> -> tensor<f32>
        ->
        %r = tg.reduce add %p [] over %2, %6    // wmma <16x8x16, ...> on [4, 5, 6]
          : tensor<f32> -> tensor<f32>

    The loops of rows, columns and steps have 16, 8 and 16 times fewer iterations, and WARP, UPCAST
    and UNROLL ranges 3 to 6 are the lanes of a warp and the elements that each of them holds.
    """

    name = "tg-tc"

    axis: int
    """The id of the range of the REDUCE."""
    index: int = -1
    """Which instruction of the target; -1 for the first that fits and does not round factors."""
    level: int = 0
    """0: products of loads in whole tiles; 1: also of computed values; 2: ranges are padded."""
    mode: int = 1
    """1, or 2 to split the ranges and use no matrix instruction."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        instructions = len(matrix_instructions(axes.target))
        reduced = [axis for axis, each in axes.ranges.items() if each not in axes.ends]
        yield from starmap(cls, product(reduced, range(instructions), (0, 1, 2)))


@dataclass(frozen=True)
class SplitPass(OptOpPass):
    """SPLIT a range of n into n/k and k; the new part, the inner one, gets the target's type.

    `split 0, 4, upcast`:

        %i = tg.range 0 loop to %c64 : tensor<index>
        ->
        %o = tg.range 0 loop to %c16 : tensor<index>
        %u = tg.range 1 upcast to %c4 : tensor<index>    // %i is 4 * %o + %u
    """

    name = "tg-split"

    axis: int
    """The id of the range; the old part keeps it."""
    factor: int
    """How many iterations the new part has."""
    target: str
    """The axis type of the new part: upcast, unroll, thread, local, ..."""
    top: bool = False
    """The new part is the outer one."""
    overlap: bool = False
    """The factor need not divide the range: the last part begins in the one before."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        for axis, range in axes.ranges.items():
            if not (extent := tg.known_index(range.bound)):
                continue  # There is no factor of an extent that is dynamic or 0.
            for factor in sorted({each for each in FACTORS if each <= extent} | {extent}):
                overlap = extent % factor != 0
                for target, top in product(SPLIT_FROM, (False,) if overlap else (False, True)):
                    yield cls(axis, factor, target.value, top, overlap)


@dataclass(frozen=True)
class PadToPass(OptOpPass):
    """PADTO: pad a range to the next multiple; iterations past the end are masked.

    `padto 0, 16`:

        %i = tg.range 0 loop to %c100 : tensor<index>
        ->
        %i = tg.range 0 loop to %c112 : tensor<index>    // STOREs are gated by %i < 100
    """

    name = "tg-padto"

    axis: int
    """The id of the range."""
    multiple: int
    """The number that its extent becomes a multiple of."""
    clamp: bool = False
    """LOADs past the end are of the last iteration, also those that a vector could gate."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        yield from starmap(cls, product(axes.ranges, FACTORS, (False, True)))


@dataclass(frozen=True)
class SwapPass(OptOpPass):
    """SWAP two ranges that are closed together.

    `swap 0, 1`:

        %e = tg.end %s over %1, %0 : !tg.void
        ->
        %e = tg.end %s over %0, %1 : !tg.void
    """

    name = "tg-swap"

    first: int
    """The id of one range."""
    second: int
    """The id of the other."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        yield from (cls(*pair) for pair in product(axes.ranges, repeat=2) if pair[0] < pair[1])


@dataclass(frozen=True)
class OrderPass(OptOpPass):
    """ORDER: nest ranges that are closed together like this, the outermost first.

    `order 2, 0, 1`:

        %e = tg.end %s over %2, %1, %0 : !tg.void
        ->
        %e = tg.end %s over %1, %0, %2 : !tg.void    // innermost first: 2 is the outermost

    The first may be the loop of a REDUCE that is in the others, which then adds to partial results
    in memory.
    """

    name = "tg-order"

    axes: tuple[int, ...]
    """The ids of the ranges, outermost first."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        """Each range of a nest as its innermost loop, and the loop of each REDUCE around some of
        its loops."""
        reduced = [r for r in axes.ranges.values() if r not in axes.ends]
        for end in dict.fromkeys(axes.ends.values()):
            nest = [r.axis.data for r in reversed(closed_ranges(end))]
            for last in nest:
                if len(nest) > 1:
                    yield cls((*(axis for axis in nest if axis != last), last))
            loops = [a for a in nest if is_loop(axes[a])]
            for range, first in product(reduced, loops):
                yield cls((range.axis.data, *loops[loops.index(first) :]))


@dataclass(frozen=True)
class MergePass(OptOpPass):
    """MERGE two ranges that nest directly, and go through memory as one would: a SPLIT undone.

    `merge 0, 1`:

        %c = tg.index %x[%0, %1]
          : (tensor<4x8xf32>, tensor<index>, tensor<index>) -> tensor<f32>
        ->
        %y = tg.reshape %x [32] : tensor<4x8xf32> -> tensor<32xf32>
        %c = tg.index %y[%0] : (tensor<32xf32>, tensor<index>) -> tensor<f32>

    Range 0 has the iterations of both.
    """

    name = "tg-merge"

    first: int
    """The id of the outer range, which remains."""
    second: int
    """The id of the inner one."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        yield from starmap(cls, mergeable(axes))


@dataclass(frozen=True)
class NoLocalsPass(OptOpPass):
    """NOLOCALS: no workgroups; LOCAL ranges are not allowed from then on."""

    name = "tg-nolocals"

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        yield cls()


@dataclass(frozen=True)
class StagePass(OptOpPass):
    """STAGE: copy what a loop loads of a parameter into a buffer of its own, first.

    `stage 2, 1, local`: inside the loop of range 1, each cell of parameter 2 that the loop reads is
    loaded once and stored to a LOCAL buffer, which all other LOADs read.
    """

    name = "tg-stage"

    slot: int
    """The slot of the parameter."""
    axis: int
    """The id of the range in whose loop the copy is made."""
    space: str = tg.AddrSpace.LOCAL.value
    """local or reg; or global, where a kernel of its own copies for all iterations first."""
    pad: bool = False
    """Whether rows of the copy are one cell longer than the tile's."""
    cores: bool = False
    """Whether the copy is in the order of core matrices, 8 rows of 16 bytes."""
    swizzle: bool = False
    """Whether it is in that of blocks of 8 rows of up to 128 bytes, whose runs are swizzled."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        slots = {op.slot.data for op in axes.params}
        pads = (True, False) if axes.target.is_grid else (False,)
        for axis, slot, pad in product(axes.ranges, sorted(slots), pads):
            yield cls(slot, axis, pad=pad)


@dataclass(frozen=True)
class SoftwarePipelinePass(OptOpPass):
    """PIPELINE: start the copies that STAGEs have made in a loop some iterations early.

    `pipeline 0, 2`: the loop of range 0 copies the tiles of its next iteration to one of two LOCAL
    buffers, and reads those of this iteration from the other. The first tiles are copied before it.
    """

    name = "tg-pipeline"

    axis: int
    """The id of the range whose loop has the copies."""
    buffers: int = 2
    """How many buffers there are, one more than the tiles that are copied early."""

    @classmethod
    def candidates(cls, axes: Axes) -> Iterator[Self]:
        closed = (axis for axis, range in axes.ranges.items() if range in axes.ends)
        yield from starmap(cls, product(closed, (2, 3, 4)))
