"""The pass that moves views from the values of STOREs to their destinations."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.lowering.rangeify.function_pass import FunctionPass
from tgdialect.ops import tg
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import integers, is_memory, shape_of


@dataclass(frozen=True)
class StoreBeforeMovementPass(FunctionPass):
    """Move RESHAPEs, PERMUTEs and FLIPs from the value of a STORE to its destination.

    rewrite: `store %b, (reshape %x)` -> `store (reshape %b), %x`

    The loops of the kernel are then those of `%x`, and work that they share is hoisted out of them.
    A PERMUTE or FLIP of memory stays, so that a copy writes its cells in order.
    """

    name = "tg-store-before-movement"

    def rewrite(self, block: Block) -> None:
        for store in block.ops:
            while (
                isinstance(store, tg.StoreOp)
                and store.gate is None
                and (view := moved_back(store.buffer, old := store.value.owner)) is not None
                and (isinstance(old, tg.ReshapeOp) or not is_memory(old.operands[0]))
            ):
                store.operands = (OpBuilder.before(store).put(view), old.operands[0])
                if not old.results[0].uses:
                    block.erase_op(old)


def moved_back(view: SSAValue, op: Operation | Block) -> TgOp | None:
    """The view to store the source of a RESHAPE, PERMUTE or FLIP to, where its result was to be
    stored to `view`; None for other ops."""
    match op:
        case tg.ReshapeOp():
            return tg.ReshapeOp(view, shape_of(op.source))
        case tg.FlipOp():
            return tg.FlipOp(view, [bool(flag) for flag in integers(op, "flags")])
        case tg.PermuteOp():
            order = integers(op, "order")
            return tg.PermuteOp(view, [order.index(axis) for axis in range(len(order))])
        case _:
            return None
