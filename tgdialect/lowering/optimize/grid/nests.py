"""The loops that one END closes, what their candidates cost, and how they become work items."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from tgdialect.analysis.cycles import ERROR
from tgdialect.analysis.launches import GridShape, launch_cycles, launched
from tgdialect.analysis.ranges import closed_ranges, extents_by_depth, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.nests import Nests, part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.targets import Target

_PARALLEL = (tg.AxisType.GLOBAL, tg.AxisType.LOCAL, tg.AxisType.WARP, tg.AxisType.LOOP)
"""The loops whose iterations work items may share, in the order in which they nest, from the
outside in; registers are innermost."""

NOTHING: Mapping[int, int] = MappingProxyType({})
"""No loops."""

Candidate = TypeVar("Candidate")


def cheapest(found: Iterable[tuple[float, int, Candidate]]) -> Sequence[Candidate]:
    """Candidates in the order in which to try them, from their prices and their work items. Of
    those that cost the same (`ERROR`) the one with most work items, in powers of two, is first."""
    possible = [each for each in found if each[0] < math.inf]
    least = (1 + ERROR) * min((price for price, *_ in possible), default=0)
    order = sorted(possible, key=lambda each: (max(each[0], least), -each[1].bit_length()))
    return [candidate for *_, candidate in order]


def parts(extent: int, most: int) -> Iterator[int]:
    """Divisors of an extent: the greatest up to a number, that up to its half, and so on, up to
    1."""
    while most > 1:
        yield (most := part(extent, most))
        most //= 2
    yield 1


class GridNest:
    """The loops that an END closes, and those inside; without an END, all loops of the kernel."""

    def __init__(self, axes: Axes, target: Target, end: tg.EndOp | None) -> None:
        self.axes, self.target, self.end = axes, target, end
        self.items = target.workgroup_items
        """The most work items of a workgroup."""
        self.nests = Nests(axes, target)
        """The nests before anything is split."""
        sizes = [access.itemsize for access in self.nests.accesses]
        self.width = target.lanes(max([4, *sizes]))
        """The elements of a row that one access moves."""
        self._shared: set[int] = set()
        """The axes of the loops over parts of a row, of which each work item has some."""

    @property
    def loops(self) -> Sequence[tg.RangeOp]:
        """The loops that the END closes, outermost first."""
        return [] if self.end is None else loops_of(self.end)

    def is_contiguous(self, range: tg.RangeOp) -> bool:
        """Whether most accesses that depend on a loop are of neighbouring cells."""
        strides = (access.strides.get(range, 0) for access in self.nests.accesses)
        found = [stride for stride in strides if stride != 0]
        return 2 * sum(stride == 1 for stride in found) > len(found)

    def column(self) -> tg.RangeOp:
        """The loop whose iterations neighbouring work items compute: one over neighbouring cells;
        else of the loops that are long enough for their accesses to be of whole cache lines, that
        over the nearest cells, as a loop over blocks of rows; else the longest loop."""

        def distance(range: tg.RangeOp) -> float:
            found = [access.strides.get(range, 0) for access in self.nests.accesses]
            return max((math.inf if s is None else abs(s) for s in found), default=math.inf)

        inner = [r for r in reversed(self.loops) if r.axis_type.data in _PARALLEL]
        if (found := next(filter(self.is_contiguous, inner), None)) is not None:
            return found
        long = [r for r in inner if self.nests.extent(r) >= self.line]
        if long:
            return min(long, key=distance)
        return max(inner or reversed(self.loops), key=self.nests.extent)

    @property
    def line(self) -> int:
        """The elements of 4 bytes in a cache line."""
        return self.target.cache_line // 4

    # -- candidates

    def price(
        self, launch: GridShape, closers: Iterable[tg.EndOp | tg.ReduceOp]
    ) -> tuple[float, int]:
        """The cycles of the nests that some ops close, and the work items at a time."""
        nests = [self.nests.models[op] for op in closers if op in self.nests.models]
        found = launched(nests, launch, self.target)
        return launch_cycles(found, self.target).total, found.at_once(self.target)

    def count(self, extent: int | None, most: int) -> int:
        """How many work items share the iterations of a loop: as many as divide them, if that is
        most of them and whole warps; else so many that as few as possible are idle."""
        if extent is None:
            return 1 << (most.bit_length() - 1)
        most = min(extent, most)
        found, power = part(extent, most), 1 << (most - 1).bit_length()
        warp = min(self.target.warp, power)
        if 2 * found >= most and found % warp == 0:
            return found
        each = -(-extent // -(-extent // most))
        return -(-each // warp) * warp

    def fills(
        self, ranges: Sequence[tg.RangeOp], most: int, held: Mapping[int, int] = NOTHING
    ) -> Sequence[Mapping[int, int]]:
        """Work items along loops, at most so many in all: those that divide the loops, and powers
        of two, which pad them. Those of the first loop are next to each other."""
        choices = list[dict[int, int]]()
        for pads in (False, True):
            found = dict[int, int]()
            for range in ranges:
                extent, left = tg.known_index(range.bound), most // math.prod(found.values())
                chunks = left if extent is None else -(-extent // held.get(range.axis.data, 1))
                power = 1 << (min(chunks, left).bit_length() - 1)
                count = power if pads or extent is None else part(chunks, left)
                if count > 1 and range.axis_type.data in _PARALLEL:
                    found[range.axis.data] = count
            choices += [] if found in choices else [found]
        return choices

    def share(
        self, ranges: Sequence[tg.RangeOp], most: int, items: dict[int, int], held: dict[int, int]
    ) -> None:
        """Divide the iterations of loops that are closed together among work items, each of which
        takes those of one access at once."""
        range = next((r for r in ranges if self.is_contiguous(r)), None)
        width = 1 if range is None else self.width
        range = range or max(ranges, key=self.nests.extent)
        axis, extent = range.axis.data, tg.known_index(range.bound)
        if extent is None or extent < 2 * width:
            width = 1
        if width > 1:
            held[axis] = width
        if (count := self.count(extent and -(-extent // width), most)) > 1:
            items[axis] = count

    # -- parts of loops

    def apply(self, launch: GridShape) -> None:
        """Split registers and work items off loops: fewer where a workgroup or its LOCAL memory has
        no room for as many."""
        for axis in {**launch.registers, **launch.items}:
            kinds = tg.AxisType.UNROLL, tg.AxisType.GROUP_REDUCE
            if self.axes[axis] in self.axes.ends:
                kinds = tg.AxisType.UPCAST, tg.AxisType.LOCAL
            for sizes, kind in zip((launch.registers, launch.items), kinds, strict=True):
                size = self.whole(axis, sizes.get(axis, 1))
                while size > 1 and not self.split(self.axes[axis], size, kind):
                    size = part(tg.known_index(self.axes[axis].bound) or 1, size // 2)
            if axis in launch.items and axis not in launch.groups:
                self._shared.add(axis)

    def whole(self, axis: int, size: int) -> int:
        """Pad a loop to whole parts of so many iterations. Returns how many a part has: fewer where
        that is not legal."""
        extent = tg.known_index(self.axes[axis].bound)
        is_whole = size == 1 or (extent is not None and extent % size == 0)
        if is_whole or attempt(self.axes, tg.OptOp.PADTO, axis, size):
            return size
        return part(extent or 1, size)

    def split(self, range: tg.RangeOp, factor: int, kind: tg.AxisType) -> bool:
        """Split the inner part of a loop off. Whether that was legal, and left workgroups that the
        target has."""
        old, extent = range.axis_type.data, tg.known_index(range.bound) or 1
        parts = [(kind, factor)] if extent == factor else [(old, extent // factor), (kind, factor)]
        if kind in WORKGROUP and _workgroup(self.axes, range, parts) > self.axes.target.workgroup:
            return False
        return attempt(self.axes, tg.OptOp.SPLIT, range.axis.data, factor, kind.value)

    def split_blocks(self, loops: Sequence[int], sides: Sequence[int]) -> list[int] | None:
        """Split the innermost loops of a workgroup off, which are all loops inside its block.
        Returns their axes; None where that is not legal."""
        axes, inside = self.axes, list[int]()
        for number, side in zip(loops, sides, strict=True):
            made = made_by(axes, tg.OptOp.SPLIT, number, side, axes[number].axis_type.data)
            if made is None:
                return None
            inside += made or [number]
        outer = [r.axis.data for r in self.loops if r.axis.data not in inside]
        return inside if attempt(axes, tg.OptOp.ORDER, *outer, *inside) else None

    def stage(self, slot: int, axis: int, shape: Collection[int]) -> bool:
        """Have a workgroup of some shape copy what a loop loads of a parameter to LOCAL memory, by
        as many loops over work items: with more, a BARRIER would be for some of them. Whether that
        was legal."""
        if (made := made_by(self.axes, tg.OptOp.STAGE, slot, axis, "local", "pad")) is None:
            return False
        copy = [r for r in map(self.axes.__getitem__, reversed(made)) if not is_expanded(r)]
        copy[1:] = sorted(copy[1:], key=self.nests.extent, reverse=True)
        # Not padded: work items of the padding would store the cells of others.
        items, *_ = self.fills(copy[: len(shape)], math.prod(shape))
        self.apply(GridShape(frozenset(), items))
        return True

    def order(self) -> None:
        """Nest workgroups around work items, and these around registers. The work items that store
        neighbours are innermost. A loop over parts of a row is inside of work items, since what is
        computed for the whole row would else be computed for each part."""
        if self.end is None:
            return
        loops = list(reversed(closed_ranges(self.end)))
        stores = Nests(self.axes, self.target).stores

        def key(range: tg.RangeOp) -> tuple[int, int]:
            if is_expanded(range):
                return len(_PARALLEL), 0
            kind = range.axis_type.data
            if kind in (tg.AxisType.LOCAL, tg.AxisType.WARP):
                strides = [abs(access.strides.get(range) or 0) for access in stores]
                return 1, -max(strides, default=0)
            is_outer = kind is tg.AxisType.GLOBAL and range.axis.data not in self._shared
            return (0 if is_outer else 2), 0

        if (wanted := sorted(loops, key=key)) != loops:
            attempt(self.axes, tg.OptOp.ORDER, *(r.axis.data for r in wanted))


def _workgroup(axes: Axes, split: tg.RangeOp, parts: Sequence[tuple[tg.AxisType, int]]) -> int:
    """How many work items a workgroup has with these parts, the outermost first, in the place of a
    range.

    Loops over work items at the same depth of different nests are one axis of the workgroup, as
    long as the longest of them (`lowering/linearize/grid.py`).
    """

    def items(each: tg.RangeOp) -> Sequence[int]:
        known = [(each.axis_type.data, tg.known_index(each.bound) or 1)]
        return [n for kind, n in (parts if each is split else known) if kind in WORKGROUP]

    levels = extents_by_depth(axes.ops, axes.open, items)
    return math.prod(max((n or 1 for n in level), default=1) for level in levels)
