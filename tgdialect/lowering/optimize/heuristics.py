"""The heuristics that find a schedule, one for each way in which targets run loop nests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tgdialect.lowering.optimize import cpu
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import begin_schedule
from tgdialect.targets import Target


def _schedule_on_grid(axes: Axes, target: Target) -> None:
    # Imported when it is used, as dialects are, for a short start-up time.
    from tgdialect.lowering.optimize import grid

    grid.schedule_grid(axes, target)


_HEURISTICS: Mapping[str, Callable[[Axes, Target], None]] = {
    "loops": cpu.schedule_loops,
    "grid": _schedule_on_grid,
}
"""By `Target.execution`."""


def schedule_kernel(axes: Axes, target: Target) -> None:
    """Apply OptOps that make a kernel fast on a target. One that turns out to be illegal is left
    out."""
    _HEURISTICS[target.execution](axes, target)


def schedule_prepacking(axes: Axes, target: Target) -> None:
    """Schedule the kernels that STAGEs of a kernel have made."""
    for kernel in axes.prepacked:
        packing = Axes(kernel)
        begin_schedule(packing)
        schedule_kernel(packing, target)
