"""The requirements of a program on its arguments, checked at each CALL.

The accesses of a program are proven in range from the bounds of its index PARAMs and the extents of
its memory: a CALL has to satisfy both.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.affine import Polynomial, composed
from tgdialect.ops.properties import show_dim

Form = Polynomial[Hashable]
"""A scalar as a polynomial of values that are not computed, and of quotients and the like: the name
of the op, and the forms of its operands. Equal forms are equal scalars, of one program or two."""


class Requirement(NamedTuple):
    """The requirement on one argument: the bounds of a scalar, or the dynamic extents of memory."""

    slot: int
    bounds: tg.Interval | None
    extents: Sequence[tuple[int, SSAValue]]
    """Axis, and its extent, which is computed from the scalar PARAMs."""
    scalars: Mapping[SSAValue, int]
    """The slots of the scalar PARAMs."""


def requirements(body: Block) -> Sequence[Requirement]:
    """The requirements of the PARAMs of a program."""
    intervals = MinMax()
    params = [op for op in ops_of(body) if isinstance(op, tg.ParamOp)]
    scalars: dict[SSAValue, int] = {
        op.result: op.slot.data for op in params if not tg.is_memory(op.result)
    }
    found: list[Requirement] = []
    for op in params:
        axes = [a for a, e in enumerate(tg.tensor(op.result).get_shape()) if e == DYNAMIC_INDEX]
        extents = list(zip(axes, op.dims, strict=True))
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
        shape, own = tg.shape_of(argument), dict[SSAValue, Form]()
        passed = {param: _form(op.arguments[i], own, intervals) for param, i in scalars.items()}
        for axis, extent in extents:
            if _form(extent, passed, intervals) != _form(shape[axis], own, intervals):
                raise PassFailedException(
                    f"axis {axis} of argument {slot} of @{name} is not known to have the extent "
                    f"that the program asks for: it is {show_dim(shape[axis])}"
                )


def _form(dim: tg.Dim, known: dict[SSAValue, Form], intervals: MinMax) -> Form:
    """The form of a scalar, with those of `known` values, to which it adds the ones that it needs.
    A value that has only one possible value is a number."""
    if isinstance(dim, int):
        return Form(constant=dim)
    if not isinstance(dim, SSAValue):
        return Form({(dim,): 1})
    if (found := known.get(dim)) is not None:
        return found
    op, expanded = dim.owner, tg.polynomial(dim, known)
    form = partial(_form, known=known, intervals=intervals)
    if (interval := intervals[dim]).is_constant:
        found = Form(constant=int(interval.lo))
    elif expanded.atom != (dim,):
        found = composed(expanded, form)
    elif isinstance(op, tg.ElementwiseOp):
        key: Hashable = (op.name, dim.type, *map(form, op.operands))
        found = Form({(key,): 1})
    known[dim] = Form({(dim,): 1}) if found is None else found
    return known[dim]
