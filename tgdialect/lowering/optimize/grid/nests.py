"""The loops that one END closes, and how they are split into work items and registers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tgdialect.analysis.ranges import closed_ranges, extents_by_depth, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.nests import Nests, part
from tgdialect.lowering.optimize.optops.apply import attempt, made_by
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.targets import Target

ITEMS = 256
"""The work items of a workgroup, if the target allows as many and there is work for them. With
fewer, a multiprocessor has too few warps to hide the latency of memory; with more, too few
workgroups share it. The usual choice of hand-written kernels; not measured."""

VECTOR = 4
"""The elements of a row that a work item loads, computes and stores at once: 16 bytes of f32, the
most that one access of a GPU moves. Fewer: more accesses; more: fewer work items."""

FEW = 32
"""The shortest row that is shared by work items; shorter ones are computed by one each. Smaller:
most work items of a warp wait; larger: too few work items. An order of magnitude."""

WASTE = 8
"""Loops of a product are padded to tiles if that adds at most one in so many. Smaller: more
padding, which costs more than smaller tiles do; larger: smaller tiles."""

_ORDER = {tg.AxisType.GLOBAL: 0, tg.AxisType.LOCAL: 1, tg.AxisType.WARP: 1, tg.AxisType.LOOP: 2}
"""The order in which loops nest, from the outside in; registers are innermost."""


class GridNest:
    """The loops that an END closes, and those inside; without an END, all loops of the kernel."""

    def __init__(self, axes: Axes, target: Target, end: tg.EndOp | None) -> None:
        self.axes, self.end = axes, end
        self.items = min(target.workgroup, ITEMS)
        """The work items of a workgroup."""
        self.enough = target.units * self.items
        """How many work items fill the device."""
        self._shared: set[int] = set()
        """The axes of the loops over parts of a row, of which each work item has some."""
        self.warp = target.warp if target.shuffles else 1
        """The work items that exchange values by shuffles."""
        self.nests = Nests(axes, target)
        """The nests before anything is split."""

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
        else of the loops that are long enough for a warp, that over the nearest cells, as a loop
        over blocks of rows; else the longest loop."""

        def distance(range: tg.RangeOp) -> float:
            found = [access.strides.get(range, 0) for access in self.nests.accesses]
            return max((math.inf if s is None else abs(s) for s in found), default=math.inf)

        inner = [r for r in reversed(self.loops) if r.axis_type.data in _ORDER]
        if (found := next(filter(self.is_contiguous, inner), None)) is not None:
            return found
        long = [r for r in inner if self.nests.extent(r) >= FEW]
        if long:
            return min(long, key=distance)
        return max(inner or reversed(self.loops), key=self.nests.extent)

    # -- parts of loops

    def split(self, range: tg.RangeOp, factor: int, kind: tg.AxisType) -> bool:
        """Split the inner part of a loop off. Whether that was legal, and left workgroups that the
        target has."""
        old, extent = range.axis_type.data, tg.known_index(range.bound) or 1
        parts = [(kind, factor)] if extent == factor else [(old, extent // factor), (kind, factor)]
        if kind in WORKGROUP and _workgroup(self.axes, range, parts) > self.axes.target.workgroup:
            return False
        return attempt(self.axes, tg.OptOp.SPLIT, range.axis.data, factor, kind.value)

    def split_registers(self, range: tg.RangeOp, width: int) -> tg.RangeOp:
        """Split a tile of registers off a loop that is long enough, and return the loop."""
        axis, extent = range.axis.data, tg.known_index(range.bound)
        if extent is None or extent < width * FEW or width == 1:
            return range
        if extent % width:
            attempt(self.axes, tg.OptOp.PADTO, axis, width * FEW)
        self.split(self.axes[axis], width, tg.AxisType.UPCAST)
        return self.axes[axis]

    def _pad_to_items(self, axis: int, most: int) -> int:
        """Pad a loop to a power of two up to `most` work items, which costs less than idle ones.
        Returns how many there may be; 0 where that is not legal."""
        whole = 1 << (most.bit_length() - 1)
        return whole if attempt(self.axes, tg.OptOp.PADTO, axis, whole) else 0

    def split_items(self, ranges: Iterable[tg.RangeOp], items: int) -> int:
        """Split work items off loops, at most so many in all. Returns how many there are."""
        found = 1
        for range in ranges:
            axis, extent = range.axis.data, tg.known_index(range.bound)
            if range.axis_type.data not in _ORDER:
                continue
            most = items // found
            width = 1 if extent is None else part(extent, most)
            if extent is None:
                width = self._pad_to_items(axis, most) or width
            elif 2 * width < min(extent, most) and extent > FEW:
                width = self._pad_to_items(axis, min(extent, most)) or width
            if width > 1 and self.split(self.axes[axis], width, tg.AxisType.LOCAL):
                found *= width
            if 2 * found > items:
                break
        return found

    def share(self, ranges: Sequence[tg.RangeOp], items: int, width: int = VECTOR) -> int:
        """Share the iterations of loops that are closed together among work items, each of which
        computes `width` results at once. Returns how many work items there are."""
        range = next((r for r in ranges if self.is_contiguous(r)), None)
        range = range or max(ranges, key=self.nests.extent)
        if range in self.axes.ends:
            return self.split_items([self.split_registers(range, width)], items)
        axis, extent = range.axis.data, tg.known_index(range.bound)
        most = items if extent is None else min(extent // VECTOR, items)
        count = 1 if extent is None else part(most, items, of=extent)
        if extent is None or (2 * count < most and extent > FEW):
            count = self._pad_to_items(axis, most) or count
        is_shared = count > 1 and self.split(self.axes[axis], count, tg.AxisType.GROUP_REDUCE)
        return count if is_shared else 1

    def share_cells(self, ranges: Sequence[tg.RangeOp], items: int) -> int:
        """Share the iterations of loops that are closed together among work items, each of which
        takes VECTOR neighbours at once. Returns how many work items there are.

        Loops over results and loops of a REDUCE are split alike, so that a work item reads of a row
        what it has written of it: such cells are in registers.
        """
        range = next((r for r in ranges if self.is_contiguous(r)), None)
        width = 1 if range is None else VECTOR
        range = range or max(ranges, key=self.nests.extent)
        axis, extent = range.axis.data, tg.known_index(range.bound)
        if extent is None or extent < 2 * width:
            width = 1
        is_reduced = range not in self.axes.ends
        registers = tg.AxisType.UNROLL if is_reduced else tg.AxisType.UPCAST
        shared = tg.AxisType.GROUP_REDUCE if is_reduced else tg.AxisType.LOCAL
        if extent is not None and width > 1:
            if extent % width:
                attempt(self.axes, tg.OptOp.PADTO, axis, width)
            self.split(self.axes[axis], width, registers)
        chunks = tg.known_index(self.axes[axis].bound)
        if chunks is None:
            count = self._pad_to_items(axis, items)
        else:
            count = self._work_items(chunks, min(chunks, items))
            if chunks % count and not attempt(self.axes, tg.OptOp.PADTO, axis, count):
                count = part(chunks, items)
        is_shared = count > 1 and self.split(self.axes[axis], count, shared)
        if is_shared:
            self._shared.add(axis)
        return count if is_shared else 1

    def _work_items(self, chunks: int, most: int) -> int:
        """How many work items share so many chunks of a loop: as many as divide them, if that is
        most of them and whole warps; else so many that as few as possible are idle."""
        found = part(chunks, most)
        power = 1 << (most - 1).bit_length()
        warp = min(self.warp, power)
        if 2 * found >= most and found % warp == 0:
            return found
        each = -(-chunks // -(-chunks // most))
        return -(-each // warp) * warp

    def split_blocks(self, ranges: Sequence[tg.RangeOp], sides: Sequence[int]) -> list[int] | None:
        """Split the innermost loops of a workgroup off, which are all loops inside its block.
        Returns their axes; None where that is not legal."""
        axes, inside = self.axes, list[int]()
        for number, side in zip([r.axis.data for r in ranges], sides, strict=True):
            made = made_by(axes, tg.OptOp.SPLIT, number, side, axes[number].axis_type.data)
            if made is None:
                return None
            inside += made or [number]
        outer = [r.axis.data for r in self.loops if r.axis.data not in inside]
        return inside if attempt(axes, tg.OptOp.ORDER, *outer, *inside) else None

    def stage(self, slot: int, axis: int, items: int) -> bool:
        """Have work items copy what a loop loads of a parameter to LOCAL memory. Whether that was
        legal."""
        if (made := made_by(self.axes, tg.OptOp.STAGE, slot, axis, "local", "pad")) is None:
            return False
        copy = map(self.axes.__getitem__, reversed(made))
        self.split_items([r for r in copy if not is_expanded(r)], items)
        return True

    def order(self) -> None:
        """Nest workgroups around work items, and these around registers. The work items that store
        neighbours are innermost. A loop over parts of a row is inside of work items, since what is
        computed for the whole row would else be computed for each part."""
        if self.end is None:
            return
        loops = list(reversed(closed_ranges(self.end)))
        stores = Nests(self.axes, self.nests.target).stores

        def key(range: tg.RangeOp) -> tuple[int, int]:
            if is_expanded(range):
                return len(_ORDER), 0
            kind = range.axis_type.data
            strides = [abs(a.strides.get(range) or 0) for a in stores]
            is_item = _ORDER.get(kind) == _ORDER[tg.AxisType.LOCAL]
            if kind is tg.AxisType.GLOBAL and range.axis.data in self._shared:
                return _ORDER[tg.AxisType.LOOP], 0
            return _ORDER.get(kind, 2), -max(strides, default=0) if is_item else 0

        if (wanted := sorted(loops, key=key)) != loops:
            attempt(self.axes, tg.OptOp.ORDER, *(r.axis.data for r in wanted))


def is_wasteful(extent: int, tile: int) -> bool:
    """Whether too much of a loop would be past the end if it were padded to whole tiles."""
    return -extent % tile * WASTE > extent


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
