"""The LOADs of a tile that STAGE may copy, to whichever memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops.axis_types import EXPANDED, WORK_ITEMS
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.source import ParamOp
from tgdialect.ops.views import memory_of


def is_of_parameter(op: LoadOp | StoreOp | AtomicAddOp, slot: int) -> bool:
    """Whether an op accesses the parameter of a slot."""
    param = memory_of(op.operands[0]).owner
    return isinstance(param, ParamOp) and param.slot.data == slot


def staged_loads(axes: Axes, slot: int, ops: Iterable[Operation]) -> Sequence[LoadOp]:
    """The LOADs of a parameter among some ops.

    Raises IllegalOptError where they load different cells, or the kernel writes the parameter.
    """
    loads = [op for op in ops if isinstance(op, LoadOp) and is_of_parameter(op, slot)]
    if any(isinstance(op, StoreOp | AtomicAddOp) and is_of_parameter(op, slot) for op in axes.ops):
        raise IllegalOptError(f"parameter {slot} is written in this kernel")
    if any(tuple(load.operands) != tuple(loads[0].operands) for load in loads):
        raise IllegalOptError(f"several tiles of parameter {slot} are loaded")
    return loads


def in_tile_order(axes: Axes, load: LoadOp, around: Sequence[RangeOp]) -> Sequence[RangeOp]:
    """The ranges of the tile that a LOAD loads, in the order of the axes of a copy: vectors lie
    along the last. Those are the ranges that the LOAD depends on, without the loops around the
    tile.

    Raises IllegalOptError where an extent is dynamic, and where the index of a cell is computed by
    a REDUCE or STORE in a loop of the tile.
    """
    ranges = [r for r in axes.ranges.values() if r in axes.open[load] and r not in around]

    def key(range: RangeOp) -> tuple[int, int]:
        kind = range.axis_type.data
        if kind not in EXPANDED:
            # Neighbouring work items load neighbours.
            return int(kind in WORK_ITEMS), 0
        nest = closed_ranges(axes.nest(range))
        return 2 + EXPANDED.index(kind), -nest.index(range) if range in axes.ends else 0

    if any(axes.depends(r.bound, other) for r in ranges for other in axes.ranges.values()):
        raise IllegalOptError("the extent of the tile changes")
    if axes.is_bound_to(load.buffer, set(ranges)):
        raise IllegalOptError("where a cell of the tile is depends on what its loops compute")
    for range in ranges:
        axes.extent(range)
    return sorted(ranges, key=key)
