"""AxisTypes: how the iterations of a RANGE run on each kind of target, as one table.

Source: the specification, "Kernel Optimizations".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tgdialect.ops.attributes import AxisType


class RunAs(Enum):
    """What the iterations of a range become."""

    LOOP = "iterations of a loop"
    REGISTERS = "elements of values in registers"
    THREADS = "chunks of work that threads take"
    WORK_ITEMS = "work items of one workgroup"
    WORKGROUPS = "workgroups of a grid"


@dataclass(frozen=True)
class AxisMeaning:
    """What an axis type says of the iterations of a range."""

    loops: RunAs
    """What they become where threads run loop nests: on a CPU."""
    grid: RunAs
    """What they become where a grid of workgroups runs loop nests: on a GPU."""
    is_parallel: bool = False
    """Whether they are in no order, each with registers of its own."""
    is_of_workgroup: bool = False
    """Whether they share LOCAL memory and wait for one another at a BARRIER."""


AXIS_TYPES: Mapping[AxisType, AxisMeaning] = {
    AxisType.GLOBAL: AxisMeaning(RunAs.LOOP, RunAs.WORKGROUPS, True),
    AxisType.THREAD: AxisMeaning(RunAs.THREADS, RunAs.WORKGROUPS, True),
    AxisType.LOCAL: AxisMeaning(RunAs.WORK_ITEMS, RunAs.WORK_ITEMS, True, True),
    AxisType.WARP: AxisMeaning(RunAs.WORK_ITEMS, RunAs.WORK_ITEMS, True, True),
    AxisType.LOOP: AxisMeaning(RunAs.LOOP, RunAs.LOOP),
    AxisType.REDUCE: AxisMeaning(RunAs.LOOP, RunAs.LOOP),
    AxisType.UNROLL: AxisMeaning(RunAs.REGISTERS, RunAs.REGISTERS),
    AxisType.UPCAST: AxisMeaning(RunAs.REGISTERS, RunAs.REGISTERS),
    AxisType.GROUP_REDUCE: AxisMeaning(RunAs.REGISTERS, RunAs.WORK_ITEMS, True, True),
}
"""The axis types; those that `tg-expand` makes shape of in the order of their axes."""

EXPANDED = tuple(t for t, row in AXIS_TYPES.items() if row.loops is RunAs.REGISTERS)
"""The axis types whose ranges `tg-expand` makes shape of, in the order of their axes."""

PARALLEL = frozenset(t for t, row in AXIS_TYPES.items() if row.is_parallel)
"""The axis types whose iterations have registers of their own."""

WORKGROUP = frozenset(t for t, row in AXIS_TYPES.items() if row.is_of_workgroup)
"""The axis types whose iterations run together, share LOCAL memory and wait at a BARRIER."""

WORK_ITEMS = frozenset(t for t, row in AXIS_TYPES.items() if row.loops is RunAs.WORK_ITEMS)
"""The axis types that stand for work items where threads run loop nests."""

REDUCTIONS = frozenset((AxisType.REDUCE, AxisType.GROUP_REDUCE))
"""The axis types of a reduction's ranges: UNROLL is split from them."""
