"""Which work items of a workgroup are the warps of a GROUP_REDUCE, so that shuffles reach them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from tgdialect.analysis.ranges import Ranges, closed_ranges
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index
from tgdialect.targets import Target

_ITEMS = frozenset((tg.AxisType.LOCAL, tg.AxisType.WARP, tg.AxisType.GROUP_REDUCE))
"""The types of loops that become axes of a workgroup."""


@dataclass(frozen=True)
class Warps:
    """The warps that the work items of a GROUP_REDUCE are in."""

    threads: int
    """The work items of a warp; fewer than the target's where a workgroup has no more."""
    width: int
    """How many neighbouring parts are those of one warp, or of a part of one: a power of two."""


class WorkItemAxes:
    """The axes of a workgroup, which `tg-linearize` makes of the loops over work items: those at
    one depth are one axis, and the innermost varies fastest."""

    def __init__(
        self, ops: Sequence[Operation], around: Mapping[Operation, Ranges], target: Target
    ) -> None:
        """`around` has the ranges that each op is in."""
        self._target = target
        self._around = around
        levels: dict[int, set[int | None]] = defaultdict(set)
        for op in ops:
            if isinstance(op, tg.EndOp | tg.ReduceOp):
                depth = sum(map(_is_item, around[op]))
                for range in _items(_outermost_first(op)):
                    levels[depth].add(known_index(range.bound))
                    depth += 1
        self._extents = [levels[depth] for depth in sorted(levels)]
        """The extents of the loops at each depth, the outermost first."""

    def warps(self, op: tg.ReduceOp, groups: Sequence[tg.RangeOp]) -> Warps | None:
        """The warps of the work items that share a REDUCE; None if they cannot exchange values by
        shuffles.

        All work items of the workgroup have to take part: the loops around the REDUCE and those
        that it closes are as many as a workgroup has axes, and none is shorter than its axis.
        """
        if not self._target.shuffles:
            return None
        depth = sum(map(_is_item, self._around[op])) + len(groups)
        if depth != len(self._extents) or any(len(extents) > 1 for extents in self._extents):
            return None
        sizes = [extent for (extent,) in self._extents]
        if any(size is None for size in sizes):
            return None
        count = math.prod(size or 1 for size in sizes)
        threads = min(self._target.warp, count)
        if threads & (threads - 1) or count % threads:
            return None
        parts = math.prod(size or 1 for size in sizes[len(sizes) - len(groups) :])
        width = min(parts & -parts, threads)
        return Warps(threads, width) if width > 1 else None


def _is_item(range: tg.RangeOp) -> bool:
    return range.axis_type.data in _ITEMS


def _items(ranges: Iterable[tg.RangeOp]) -> list[tg.RangeOp]:
    return [range for range in ranges if _is_item(range)]


def _outermost_first(op: tg.EndOp | tg.ReduceOp) -> Iterable[tg.RangeOp]:
    """The ranges that an op closes; an END lists the innermost first."""
    ranges = closed_ranges(op)
    return reversed(ranges) if isinstance(op, tg.EndOp) else ranges
