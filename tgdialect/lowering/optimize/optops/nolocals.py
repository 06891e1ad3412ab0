"""NOLOCALS: no workgroups."""

from __future__ import annotations

from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops.axis_types import WORK_ITEMS


def nolocals(axes: Axes) -> None:
    """Use no workgroup: LOCAL ranges are not allowed after this.

    before -> after: nothing but the record; a CPU has no workgroups anyway.
    """
    if any(r.axis_type.data in WORK_ITEMS for r in axes.ranges.values()):
        raise IllegalOptError("there are LOCAL ranges already")
