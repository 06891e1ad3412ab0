"""SWAP and ORDER: the order in which ranges nest."""

from __future__ import annotations

from collections.abc import Sequence

from tgdialect.analysis.ranges import closed_ranges, is_expanded
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.accumulate import accumulate_outside
from tgdialect.ops import tg


def swap(axes: Axes, first: int, second: int) -> None:
    """Exchange two ranges in the nest that both are in.

    before -> after:
        swap 0, 1:  end %s over %1, %0 -> end %s over %0, %1
    """
    a, b = axes[first], axes[second]
    nest = closed_ranges(axes.nest(a))
    order = list(reversed(nest)) if a in axes.ends else nest
    if b not in order:
        raise IllegalOptError(f"ranges {first} and {second} are not closed together")
    i, j = order.index(a), order.index(b)
    order[i], order[j] = order[j], order[i]
    _reorder(axes, [r for r in order if r in (a, b) or r.axis_type.data is not tg.AxisType.THREAD])


def order(axes: Axes, *numbers: int) -> None:
    """Nest ranges that are closed together in this order, the outermost first.

    before -> after:
        order 2, 0, 1:  end %s over %2, %1, %0 -> end %s over %1, %0, %2
    The first may be the loop of a REDUCE that is in the others (`accumulate_outside`).
    """
    wanted = [axes[number] for number in numbers]
    if wanted[0] not in axes.ends and any(range in axes.ends for range in wanted):
        accumulate_outside(axes, wanted[0], wanted[1:])
        return
    nest = closed_ranges(axes.nest(wanted[0]))
    for range in wanted:
        if range not in nest:
            raise IllegalOptError(f"range {range.axis.data} is not closed with {numbers[0]}")
    if len(set(wanted)) < len(wanted):
        raise IllegalOptError("a range is named twice")
    _reorder(axes, wanted)


def _reorder(axes: Axes, ranges: Sequence[tg.RangeOp]) -> None:
    for range in ranges:
        if range.axis_type.data is tg.AxisType.THREAD:
            raise IllegalOptError(f"range {range.axis.data} is of threads, outside of all others")
        if range in axes.ends and range.axis_type.data is tg.AxisType.REDUCE:
            raise IllegalOptError(f"the iterations of range {range.axis.data} have an order")
        for other in ranges:
            if axes.depends(other.bound, range):
                raise IllegalOptError(
                    f"the extent of range {other.axis.data} depends on range {range.axis.data}"
                )
    kinds = [range.axis_type.data for range in ranges if not is_expanded(range)]
    if tg.AxisType.WARP in kinds[:-1]:
        raise IllegalOptError("the lanes of a warp are the innermost loop")
    for op in axes.ops:
        if (
            isinstance(op, tg.ReduceOp)
            and op.ordered is not None
            and {*closed_ranges(op)} & {*ranges}
        ):
            raise IllegalOptError("the REDUCE over them is ordered")
    axes.reorder(ranges)
