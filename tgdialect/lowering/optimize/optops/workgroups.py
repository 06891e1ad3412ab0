"""How many work items the workgroups of a kernel have on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import known_index
from tgdialect.ops.reduce import ReduceOp


def check_workgroup(axes: Axes, range: RangeOp, parts: Sequence[tuple[AxisType, int]]) -> None:
    """Raise IllegalOptError if the target's workgroups have no room for a kernel in which these
    parts, the outermost first, are in the place of a range.

    Loops over work items at the same depth of different nests are one axis of the workgroup, as
    long as the longest of them (`linearize/grid.py`).
    """
    if not axes.target.is_grid:
        return
    levels: list[int] = []
    for op in axes.ops:
        if not isinstance(op, EndOp | ReduceOp):
            continue
        depth = sum(len(_items(each, range, parts)) for each in axes.open[op])
        own = closed_ranges(op)[::-1] if isinstance(op, EndOp) else closed_ranges(op)
        for extent in (extent for each in own for extent in _items(each, range, parts)):
            levels += [1] * (depth + 1 - len(levels))
            levels[depth] = max(levels[depth], extent)
            depth += 1
    if (size := math.prod(levels)) > axes.target.workgroup:
        raise IllegalOptError(
            f"a workgroup would have {size} work items, and the target {axes.target.name} allows "
            f"{axes.target.workgroup}"
        )


def _items(each: RangeOp, split: RangeOp, parts: Sequence[tuple[AxisType, int]]) -> Sequence[int]:
    """The extents of the loops over work items that a range is, or will be."""
    known = [(each.axis_type.data, known_index(each.bound) or 1)]
    return [extent for kind, extent in (parts if each is split else known) if kind in WORKGROUP]
