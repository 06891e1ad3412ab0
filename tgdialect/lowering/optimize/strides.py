"""How far apart in memory the iterations of each range access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from tgdialect.lowering.optimize.axes import Axes
from tgdialect.ops.elementwise import CmpLtOp, WhereOp
from tgdialect.ops.movement import IndexOp, MovementOp, ReshapeOp
from tgdialect.ops.ordering import AfterOp, RangeOp
from tgdialect.ops.properties import (
    Polynomial,
    UnknownDim,
    known_index,
    plus,
    polynomial,
    shape_of,
    times,
)

Strides = Mapping[RangeOp, int | None]
"""Elements between neighbouring iterations of each range; None where that differs."""


def strides(axes: Axes, location: SSAValue) -> Strides:
    """The strides of a location of a kernel; ranges that are not there have 0."""
    position = _position(location)
    depends = axes.around(location)
    if position is None:
        return dict.fromkeys(depends, None)
    result: dict[RangeOp, int | None] = {}
    for monomial, coefficient in position.items():
        for atom in monomial:
            owner = atom.owner if isinstance(atom, SSAValue) else None
            if isinstance(owner, RangeOp) and len(monomial) == 1:
                if owner not in result:
                    result[owner] = coefficient
                continue
            if isinstance(atom, SSAValue):
                result.update(dict.fromkeys(axes.around(atom), None))
    return result


def _position(location: SSAValue) -> Polynomial | None:
    """The row-major position of a location in its buffer."""
    while isinstance(owner := location.owner, AfterOp):
        location = owner.buffer
    if not isinstance(owner, IndexOp) or len(owner.indices) < len(shape_of(owner.source)):
        return None
    return _flat(owner.indices, owner.source)


def _flat(indices: Sequence[SSAValue], source: SSAValue) -> Polynomial | None:
    memory = source
    while isinstance(owner := memory.owner, AfterOp | ReshapeOp):
        memory = owner.operands[0]
    if isinstance(owner, MovementOp):
        return None
    total: Polynomial | None = {}
    for index, extent in zip(indices, shape_of(source), strict=True):
        assert not isinstance(extent, UnknownDim)
        size = polynomial(extent)
        scaled = None if total is None else times(total, size)
        total = None if scaled is None else plus(scaled, polynomial(unclamped(index)))
    return total


def unclamped(index: SSAValue) -> SSAValue:
    """An index without the bound that PADTO has put on it: i of `where(i < n, i, n - 1)`."""
    op = index.owner
    if not isinstance(op, WhereOp) or known_index(op.operands[2]) is None:
        return index
    test, value, _ = op.operands
    is_bound = isinstance(test.owner, CmpLtOp) and test.owner.operands[0] is value
    return value if is_bound else index
