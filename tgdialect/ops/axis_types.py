"""AxisTypes: how the iterations of a RANGE run on each kind of target, as one table.

Source: the specification, "Kernel Optimizations".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tgdialect.ops.attributes import AxisType


class RunAs(Enum):
    """The form that the iterations of a range take in code."""

    LOOP = "iterations of a loop"
    REGISTERS = "elements of values in registers"
    THREADS = "chunks of work that threads take"
    WORK_ITEMS = "work items of one workgroup"
    WORKGROUPS = "workgroups of a grid"


@dataclass(frozen=True)
class AxisMeaning:
    """The meaning of an axis type for the iterations of a range."""

    loops: RunAs
    """The iterations on a target whose loop nests are loops of threads, as a CPU."""
    grid: RunAs
    """The iterations on a target whose loop nests are a grid of workgroups, as a GPU."""
    is_parallel: bool = False
    """Whether the iterations may run in any order, each with registers of its own."""
    is_of_workgroup: bool = False
    """Whether the iterations share LOCAL memory and wait for one another at a BARRIER."""


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
"""The axis types. Those in registers are in the order of the axes that `tg-expand` makes."""

EXPANDED = tuple(t for t, row in AXIS_TYPES.items() if row.loops is RunAs.REGISTERS)
"""The axis types whose ranges `tg-expand` turns into axes of values, in the order of these axes, on
targets that run loops; nothing reads the column `grid` yet."""

PARALLEL = frozenset(t for t, row in AXIS_TYPES.items() if row.is_parallel)
"""The axis types whose iterations have registers of their own."""

WORKGROUP = frozenset(t for t, row in AXIS_TYPES.items() if row.is_of_workgroup)
"""The axis types whose iterations run together, share LOCAL memory and wait at a BARRIER."""

WORK_ITEMS = frozenset(t for t, row in AXIS_TYPES.items() if row.loops is RunAs.WORK_ITEMS)
"""The axis types that stand for work items on targets that run loops; nothing reads the column
`grid` yet."""

REDUCTIONS = frozenset((AxisType.REDUCE, AxisType.GROUP_REDUCE))
"""The axis types of a reduction's ranges: UNROLL is split from them."""
