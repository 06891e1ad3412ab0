"""The requirements of a program on its arguments, checked at each CALL.

The accesses of a program are proven in range from the bounds of its index PARAMs and the extents of
its memory: a CALL has to satisfy both.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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
"""A scalar as a polynomial. Its atoms are values that are not computed, and numbers of quotients
and the like (`_Forms`)."""


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
    numbers: dict[Hashable, int] = {}
    given = _Forms(intervals, numbers)
    scalars = wanted[0].scalars.items() if wanted else ()
    passed = {param: given[op.arguments[slot]] for param, slot in scalars}
    asked = _Forms(intervals, numbers, passed)
    for slot, bounds, extents, _ in wanted:
        argument = op.arguments[slot]
        if bounds is not None:
            interval = intervals[argument]
            if not interval.within(bounds.lo, bounds.hi):
                raise PassFailedException(
                    f"argument {slot} of @{name} is in {interval}, but has to be in {bounds}"
                )
        shape = tg.shape_of(argument) if extents else ()
        for axis, extent in extents:
            if asked[extent] != given.of(shape[axis]):
                raise PassFailedException(
                    f"axis {axis} of argument {slot} of @{name} is not known to have the extent "
                    f"that the program asks for: it is {show_dim(shape[axis])}"
                )


class _Forms(tg.Computed[Form]):
    """The forms of scalars: equal forms are equal scalars, of one program or of two whose forms
    share their numbers. A value that has only one possible value is a number."""

    def __init__(
        self,
        intervals: MinMax,
        numbers: dict[Hashable, int],
        known: Mapping[SSAValue, Form] = {},
    ) -> None:
        """`numbers` has those of ops that are no sums or products, by their names, types and the
        forms of their operands; `known` the forms of the PARAMs of a program."""
        super().__init__(known)
        self._intervals, self._numbers = intervals, numbers

    def of(self, dim: tg.Dim) -> Form:
        """The form of an extent."""
        if isinstance(dim, SSAValue):
            return self[dim]
        return Form(constant=dim) if isinstance(dim, int) else Form({(dim,): 1})

    def _sources(self, value: SSAValue) -> Sequence[SSAValue]:
        return value.owner.operands if isinstance(value.owner, tg.ElementwiseOp) else ()

    def _compute(self, value: SSAValue) -> Form:
        if (interval := self._intervals[value]).is_constant:
            return Form(constant=int(interval.lo))
        atom: Hashable = value
        if isinstance(op := value.owner, tg.ElementwiseOp):
            expanded = tg.polynomial(value, op.operands)
            if expanded.atom == (value,):
                key: Hashable = (op.name, value.type, *map(self.of, op.operands))
                atom = self._numbers.setdefault(key, len(self._numbers))
            elif (found := composed(expanded, self.of)) is not None:
                return found
        return Form({(atom,): 1})
