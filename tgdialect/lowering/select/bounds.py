"""Which indices are proven to be in range: the rest get a gate.

The proof may use that the access is gated already: where the gate is false nothing is accessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.select.scalars import Index, Scalars
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.elementwise import (
    AndOp,
    CmpEqOp,
    CmpGeOp,
    CmpGtOp,
    CmpLeOp,
    CmpLtOp,
    CmpNeOp,
    MulOp,
    NotOp,
)
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.intervals import Interval
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of, number, tensor

Check = tuple[Index, Index]
"""An index, and the extent of the axis that it is an index of."""

_LESS: dict[type[Operation], tuple[bool, bool]] = {
    CmpLtOp: (False, False),
    CmpGtOp: (True, False),
    CmpGeOp: (False, True),
    CmpLeOp: (True, True),
}
"""Comparisons as CMPLT: whether the operands are swapped, and whether the result is negated."""


class Bounds:
    """Proofs about the index values of one kernel."""

    def __init__(self, scalars: Scalars) -> None:
        self._scalars = scalars
        self._intervals: dict[SSAValue | None, MinMax] = {None: MinMax()}
        """What is known of values wherever a gate is true."""

    def gate(self, checks: Sequence[Check], gate: SSAValue | None) -> SSAValue | None:
        """The gate of an access: `gate`, and every check that it does not imply."""
        conditions = [] if gate is None else [gate]
        intervals = self._under(gate)
        for index, extent in dict.fromkeys(checks):
            conditions += self._unproven(index, extent, intervals)
        return self._scalars.all_of(conditions)

    def is_positive(self, extent: Index) -> bool:
        """Whether an extent is proven to be 1 or more."""
        return (extent if isinstance(extent, int) else self._intervals[None][extent].lo) >= 1

    def _under(self, gate: SSAValue | None) -> MinMax:
        if (known := self._intervals.get(gate)) is None:
            assert gate is not None
            assumed = implied_intervals(gate, self._intervals[None])
            known = self._intervals[gate] = MinMax(assumed)
        return known

    def _unproven(self, index: Index, extent: Index, intervals: MinMax) -> Sequence[SSAValue]:
        if isinstance(index, SSAValue):
            if _is_range_to(index, extent):
                return ()
        elif isinstance(extent, int) and 0 <= index < extent:
            return ()
        of_index, of_extent = (
            Interval(i, i) if isinstance(i, int) else intervals[i] for i in (index, extent)
        )
        result: list[SSAValue] = []
        if of_index.lo < 0:
            result.append(self._scalars.compare("cmpge", index, 0))
        if of_index.hi >= of_extent.lo:
            result.append(self._scalars.compare("cmplt", index, extent))
        return result


def _is_range_to(index: SSAValue, extent: Index) -> bool:
    """Whether an index is a RANGE whose bound is the extent."""
    owner = index.owner
    return isinstance(owner, RangeOp) and owner.bound is extent


def implied_intervals(gate: SSAValue, intervals: MinMax) -> dict[SSAValue, Interval]:
    """What the integers that a gate compares must be for it to be true."""
    result: dict[SSAValue, Interval] = {}

    def less(a: SSAValue, b: SSAValue, margin: int) -> None:
        """a + margin <= b."""
        x, y = (result.get(v) or intervals[v] for v in (a, b))
        if x.lo + margin <= y.hi:  # else the gate is never true, and anything holds
            result[a] = Interval(x.lo, min(x.hi, y.hi - margin))
            result[b] = Interval(max(y.lo, x.lo + margin), y.hi)

    stack = [(gate, True)]
    while stack:
        value, holds = stack.pop()
        match value.owner:
            case AndOp() | MulOp() as op if holds and tensor(op.result).element_type == BOOL:
                stack += [(operand, True) for operand in op.operands]
            case NotOp() as op:
                stack.append((op.source, not holds))
            case CmpNeOp() | CmpEqOp() as op if tensor(op.lhs).element_type == BOOL:
                differs = holds == isinstance(op, CmpNeOp)
                if (constant := constant_attribute(op.rhs)) is not None:
                    stack.append((op.lhs, differs != bool(number(constant))))
            case CmpLtOp() | CmpGtOp() | CmpGeOp() | CmpLeOp() as op if dtype_of(op.lhs).is_integer:
                swapped, negated = _LESS[type(op)]
                a, b = (op.rhs, op.lhs) if swapped else (op.lhs, op.rhs)
                if holds != negated:
                    less(a, b, 1)
                else:
                    less(b, a, 0)
            case _:
                pass
    return result
