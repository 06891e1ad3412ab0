"""The work items that OptOps may make."""

from __future__ import annotations

import math

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.ops.properties import known_index


def check_work_items(axes: Axes, range: tg.RangeOp, kind: tg.AxisType, extent: int) -> None:
    """Raise IllegalOptError if a range of this type and extent gave a nest more work items than the
    workgroups of a grid can have."""
    if kind not in WORKGROUP or not axes.target.is_grid:
        return
    for op in axes.ops:
        if not isinstance(op, tg.EndOp | tg.ReduceOp):
            continue
        nest = {*axes.open[op], *closed_ranges(op)}
        items = [r for r in nest if r.axis_type.data in WORKGROUP and r is not range]
        count = math.prod(known_index(r.bound) or 1 for r in items) * extent
        if range in nest and count > axes.target.workgroup:
            raise IllegalOptError(
                f"a workgroup would have {count} work items, and the target {axes.target.name} "
                f"allows {axes.target.workgroup}"
            )
