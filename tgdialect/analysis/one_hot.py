"""Sums with a one-hot mask: one term is left, which `tg-simplify` loads without a loop.

`sum over k of x[k] * (k == idx)` is `x[idx]`. So fusion counts such a sum as one load, and never
stores its mask, which would be a large tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg


def constant_values(block: Block) -> set[Operation]:
    """The ops of a function that depend on no memory."""
    found: set[Operation] = set()
    for op in ops_of(block):
        owners = (operand.owner for operand in op.operands)
        if op.results and not tg.is_storage(op.results[0]) and all(o in found for o in owners):
            found.add(op)
    return found


def may_be_one_hot(op: tg.ReduceOp) -> bool:
    """Whether comparisons mask a sum."""
    is_sum = op.kind.data is tg.ReduceKind.ADD
    return is_sum and any(True for _ in paths_to_comparisons(op))


def scatters(op: tg.ReduceOp, constants: set[Operation]) -> bool:
    """Whether a sum adds each of its updates to one cell along another axis, or a maximum or a
    product is of such. It is not seen through views between the sum and the comparison.

    One side of the comparison depends on the axis of the cells and on no memory. The other side
    depends on the summed axis.
    """
    rank, axes = len(tg.tensor(op.source).shape), tg.integers(op, "axes")

    def own_axes(value: SSAValue) -> list[int]:
        shape = tg.tensor(value).get_shape()
        return [i + rank - len(shape) for i, extent in enumerate(shape) if extent != 1]

    for path in paths_to_comparisons(op):
        if any(isinstance(step, tg.MovementOp) for step in path):
            continue
        left, right = path[-1].operands
        for one, other in ((left, right), (right, left)):
            is_number = one.owner in constants and other.owner not in constants
            has_cells = len(cells := own_axes(one)) == 1 and cells != [*axes]
            if is_number and has_cells and axes[0] in own_axes(other):
                return True
    return False


def paths_to_comparisons(op: tg.ReduceOp) -> Iterator[list[Operation]]:
    """For each comparison that may mask a reduction, one path of ops from its operand to it."""
    if len(tg.integers(op, "axes")) != 1:
        return
    is_sum = op.kind.data is tg.ReduceKind.ADD
    users: dict[Operation, Operation] = {}
    stack: list[tuple[SSAValue, Operation]] = [(op.source, op)]
    while stack:
        value, user = stack.pop()
        owner = value.owner
        if not isinstance(owner, tg.TgOp) or owner in users or tg.is_storage(value):
            continue
        users[owner] = user
        match owner:
            case tg.CmpEqOp() | tg.CmpNeOp():
                path: list[Operation] = [owner]
                while (user := users[path[-1]]) is not op:
                    path.append(user)
                yield path[::-1]
            case tg.StackOp() | tg.IndexOp() | tg.BitcastOp():
                pass
            case tg.MulOp() if not is_sum:
                pass
            case tg.MulOp() | tg.AndOp():
                stack += [(operand, owner) for operand in owner.operands]
            case tg.WhereOp() | tg.MovementOp():
                stack.append((owner.operands[0], owner))
            case tg.CastOp() if is_sum and tg.dtype_of(owner.source).is_bool:
                stack.append((owner.source, owner))
            case _:
                pass
