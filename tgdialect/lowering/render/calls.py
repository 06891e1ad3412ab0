"""What a program takes for granted of its arguments, checked where it is called.

Accesses of a program are proven in range from the bounds of its index PARAMs and the extents of its
memory, so that a CALL has to keep both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.ops.call import CallOp
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import (
    is_memory,
    same_dim,
    shape_of,
    show_dim,
    tensor,
)
from tgdialect.ops.source import ParamOp


class Requirement(NamedTuple):
    """One PARAM: the bounds of a scalar, or which PARAMs the dynamic extents of memory are."""

    slot: int
    bounds: Interval | None
    extents: Sequence[tuple[int, int | None]]
    """Axis, and the slot of the index PARAM that gives its extent."""


def requirements(body: Block) -> Sequence[Requirement]:
    """What the PARAMs of a program ask of its arguments."""
    intervals = MinMax()
    return [_requirement(op, intervals) for op in body.ops if isinstance(op, ParamOp)]


def _requirement(op: ParamOp, intervals: MinMax) -> Requirement:
    if not is_memory(op.result):
        return Requirement(op.slot.data, intervals[op.result], ())
    axes = [a for a, e in enumerate(tensor(op.result).get_shape()) if e == DYNAMIC_INDEX]
    slots = [_slot(dim) for dim in op.dims]
    return Requirement(op.slot.data, None, list(zip(axes, slots, strict=True)))


def _slot(dim: SSAValue) -> int | None:
    return dim.owner.slot.data if isinstance(dim.owner, ParamOp) else None


def check_call(op: CallOp, wanted: Sequence[Requirement], intervals: MinMax) -> None:
    """Raise PassFailedException where an argument may not be what the program relies on."""
    name = op.callee.string_value()
    for slot, bounds, extents in wanted:
        argument = op.arguments[slot]
        if bounds is not None:
            given = intervals[argument]
            if not given.within(bounds.lo, bounds.hi):
                raise PassFailedException(
                    f"argument {slot} of @{name} is in {given}, but has to be in {bounds}"
                )
        shape = shape_of(argument) if extents else ()
        for axis, source in extents:
            extent = None if source is None else op.arguments[source]
            if extent is None or not same_dim(shape[axis], extent):
                raise PassFailedException(
                    f"axis {axis} of argument {slot} of @{name} is not known to have the extent "
                    f"that argument {source} says: it is {show_dim(shape[axis])}"
                )
