"""The requirements of a program on its arguments, checked at each CALL.

The accesses of a program are proven in range from the bounds of its index PARAMs and the extents of
its memory: a CALL has to satisfy both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.properties import Atom, show_dim, substituted


class Requirement(NamedTuple):
    """The requirement on one argument: the bounds of a scalar, or the dynamic extents of memory."""

    slot: int
    bounds: tg.Interval | None
    extents: Sequence[tuple[int, tg.Polynomial]]
    """Axis, and its extent as a polynomial in the scalar PARAMs."""
    scalars: Mapping[Atom, int]
    """The slots of the scalar PARAMs."""


def requirements(body: Block) -> Sequence[Requirement]:
    """The requirements of the PARAMs of a program."""
    intervals = MinMax()
    params = [op for op in ops_of(body) if isinstance(op, tg.ParamOp)]
    scalars: dict[Atom, int] = {
        op.result: op.slot.data for op in params if not tg.is_memory(op.result)
    }
    found: list[Requirement] = []
    for op in params:
        axes = [a for a, e in enumerate(tg.tensor(op.result).get_shape()) if e == DYNAMIC_INDEX]
        extents = list(zip(axes, map(tg.polynomial, op.dims), strict=True))
        bounds = None if tg.is_memory(op.result) else intervals[op.result]
        found.append(Requirement(op.slot.data, bounds, extents, scalars))
    return found


def check_call(op: tg.CallOp, wanted: Sequence[Requirement], intervals: MinMax) -> None:
    """Raise PassFailedException for an argument that is not proven to meet its requirement."""
    name = op.callee.string_value()
    for slot, bounds, extents, scalars in wanted:
        argument = op.arguments[slot]
        if bounds is not None:
            given = intervals[argument]
            if not given.within(bounds.lo, bounds.hi):
                raise PassFailedException(
                    f"argument {slot} of @{name} is in {given}, but has to be in {bounds}"
                )
        if not extents:
            continue
        shape = tg.shape_of(argument)
        values: dict[Atom, tg.Dim] = {scalar: op.arguments[i] for scalar, i in scalars.items()}
        for axis, extent in extents:
            asked = substituted(extent, values)
            given = tg.polynomial(shape[axis])
            if asked is None or _settled(asked, intervals) != _settled(given, intervals):
                raise PassFailedException(
                    f"axis {axis} of argument {slot} of @{name} is not known to have the extent "
                    f"that the program asks for: it is {show_dim(shape[axis])}"
                )


def _settled(extent: tg.Polynomial, intervals: MinMax) -> tg.Polynomial | None:
    """An extent in which values that have only one possible value are numbers."""
    values: dict[Atom, tg.Dim] = {atom: atom for product in extent.terms for atom in product}
    for atom in values:
        if isinstance(atom, SSAValue) and (interval := intervals[atom]).is_constant:
            values[atom] = int(interval.lo)
    return substituted(extent, values)
