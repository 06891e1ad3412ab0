"""The pass that moves views from the values of STOREs to their destinations."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from tgdialect.diagnostics import begins
from tgdialect.lowering.rangeify.function_pass import FunctionPass
from tgdialect.ops import tg


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
            while isinstance(store, tg.StoreOp) and store.gate is None:
                is_of_memory = any(map(tg.is_memory, tg.operands_of(old := store.value)[:1]))
                if is_of_memory and not isinstance(old.owner, tg.ReshapeOp):
                    break
                if (back := moved_back(store.buffer, old)) is None or not begins("move", store):
                    break
                store.operands = (tg.OpBuilder.before(store).put(back[0]), back[1])
                if isinstance(old.owner, tg.TgOp) and not old.uses:
                    block.erase_op(old.owner)


def moved_back(view: SSAValue, value: SSAValue) -> tuple[tg.TgOp, SSAValue] | None:
    """The view to store to, and the value before a RESHAPE, PERMUTE or FLIP, where its result was
    to be stored to `view`; None for other values."""
    match value.owner:
        case tg.ReshapeOp() as op:
            return tg.ReshapeOp(view, tg.shape_of(op.source)), op.source
        case tg.FlipOp() as op:
            return tg.FlipOp(view, [bool(flag) for flag in tg.integers(op, "flags")]), op.source
        case tg.PermuteOp() as op:
            order = tg.integers(op, "order")
            inverse = [order.index(axis) for axis in range(len(order))]
            return tg.PermuteOp(view, inverse), op.source
        case _:
            return None
