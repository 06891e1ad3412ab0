"""How many work items the workgroups of a kernel have on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.ops.properties import known_index


def workgroup(axes: Axes, split: tg.RangeOp, parts: Sequence[tuple[tg.AxisType, int]]) -> int:
    """How many work items a workgroup has with these parts, the outermost first, in the place of a
    range.

    Loops over work items at the same depth of different nests are one axis of the workgroup, as
    long as the longest of them (`lowering/linearize/grid.py`).
    """
    levels: list[int] = []
    for op in axes.ops:
        if not isinstance(op, tg.EndOp | tg.ReduceOp):
            continue
        depth = sum(len(_items(each, split, parts)) for each in axes.open[op])
        own = closed_ranges(op)[::-1] if isinstance(op, tg.EndOp) else closed_ranges(op)
        for extent in (extent for each in own for extent in _items(each, split, parts)):
            levels += [1] * (depth + 1 - len(levels))
            levels[depth] = max(levels[depth], extent)
            depth += 1
    return math.prod(levels)


def _items(
    each: tg.RangeOp, split: tg.RangeOp, parts: Sequence[tuple[tg.AxisType, int]]
) -> Sequence[int]:
    """The extents of the loops over work items that a range is, or will be."""
    known = [(each.axis_type.data, known_index(each.bound) or 1)]
    return [extent for kind, extent in (parts if each is split else known) if kind in WORKGROUP]
