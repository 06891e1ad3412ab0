"""Rows: a workgroup for each row or for several short ones, or for each result of a long
reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.grid.nests import FEW, GridNest, part
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import known_index
from tgdialect.ops.reduce import ReduceOp


def share_rows(nest: GridNest, inner: Sequence[EndOp | ReduceOp], rows: Sequence[RangeOp]) -> None:
    """A workgroup for each row, or for as many short rows as it has work items for. Its work items
    share the loops inside, which `inner` closes."""
    own = [closer for closer in inner if nest.axes.open[closer] <= {*rows}]
    closers = own if nest.end is None else [nest.end, *own]
    parts = [[r for r in closed_ranges(closer) if r not in rows] for closer in closers]
    parts = [ranges for ranges in parts if ranges]
    longest = max((math.prod(map(nest.nests.extent, ranges)) for ranges in parts), default=1)
    if longest <= FEW and rows and nest.split_items(rows[-1:], nest.items) > 1:
        return
    shared = max((nest.share(ranges, nest.items) for ranges in parts), default=1)
    extent = (known_index(rows[-1].bound) or 1) if rows else 1
    count = part(extent, nest.items // shared)
    # Fewer rows where LOCAL memory does not hold as many.
    while count > 1 and not nest.split(rows[-1], count, AxisType.LOCAL):
        count = part(extent, count // 2)


def share_reductions(nest: GridNest, reductions: Sequence[ReduceOp]) -> None:
    """Work items share the steps of reductions. Those that load neighbours are neighbours."""
    items = nest.items
    columns = [r for r in nest.loops if nest.is_contiguous(r)]
    steps = dict.fromkeys(tuple(closed_ranges(op)) for op in reductions)
    if columns and not any(nest.is_contiguous(r) for ranges in steps for r in ranges):
        items //= nest.split_items(columns[-1:], FEW)
    for ranges in steps:
        nest.share(ranges, items)
