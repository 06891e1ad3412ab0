"""Sums that select: a one-hot mask leaves one term, which `tg-simplify` loads without a loop.

`sum over k of x[k] * (k == idx)` is `x[idx]`: the sum costs as much as a load, and the mask, which
would be a large tensor if it were stored, nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.demand import Demand, Demands, is_storage
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.elementwise import AndOp, CastOp, CmpEqOp, CmpNeOp, MulOp, WhereOp
from tgdialect.ops.movement import BitcastOp, IndexOp, MovementOp, StackOp
from tgdialect.ops.properties import dtype_of, integers, shape_of
from tgdialect.ops.reduce import ReduceOp


class _Step(NamedTuple):
    """A demand on the way from the reduction to the mask, and the ops passed so far."""

    demand: Demand
    path: tuple[Operation, ...]


def constant_values(block: Block) -> set[Operation]:
    """The ops of a function whose results are the same in every run: they read no memory."""
    found: set[Operation] = set()
    for op in block.ops:
        owners = (operand.owner for operand in op.operands)
        if op.results and not is_storage(op.results[0]) and all(o in found for o in owners):
            found.add(op)
    return found


def selecting_mask(
    demands: Demands, op: ReduceOp, constants: set[Operation]
) -> frozenset[Operation]:
    """The ops between a sum over an axis and the comparison of positions on it; none if there is
    no such comparison.

    One side of it counts the axis: it changes with it, and reads no memory. The other side is the
    same all along the axis.
    """
    if op.kind.data is not ReduceKind.ADD:
        return frozenset()
    index = demands.loops(shape_of(op.source))
    along = {d[0] for axis in integers(op, "axes") for d in index[axis].depends}
    if len(along) != 1:
        return frozenset()
    stack = [_Step(Demand(op, op.source, index), ())]
    while stack:
        demand, path = stack.pop()
        owner = demand.value.owner
        if not isinstance(owner, Operation) or is_storage(demand.value):
            continue
        path = (*path, owner)
        match owner:
            case StackOp() | IndexOp() | BitcastOp():
                continue
            case MovementOp() | MulOp() | AndOp():
                followed = list(demands.operands(demand))
            case CastOp() if dtype_of(owner.source).is_bool:
                followed = list(demands.operands(demand))
            case WhereOp():
                followed = list(demands.operands(demand))[:1]
            case CmpEqOp() | CmpNeOp():
                left, right = demands.operands(demand)
                if any(
                    _counts(one, along, constants) and not along & {d[0] for d in other.depends}
                    for one, other in ((left, right), (right, left))
                ):
                    return frozenset(path)
                continue
            case _:
                continue
        stack += [_Step(inner, path) for inner in followed]
    return frozenset()


def _counts(demand: Demand, along: Iterable[object], constants: set[Operation]) -> bool:
    """Whether a value changes along an axis, and with nothing else that is not known."""
    value: SSAValue = demand.value
    return value.owner in constants and bool(set(along) & {d[0] for d in demand.depends})
