"""The pass that moves views from the values of STOREs to their destinations."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

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
            if isinstance(store, tg.StoreOp) and store.gate is None:
                while (view := _moved_to_buffer(store)) is not None:
                    buffer, source = view
                    old = store.value.owner
                    store.operands = (OpBuilder.before(store).put(buffer), source)
                    if isinstance(old, TgOp) and not old.results[0].uses:
                        block.erase_op(old)


def _moved_to_buffer(store: tg.StoreOp) -> tuple[TgOp, SSAValue] | None:
    """The inverse movement of the destination, and the value before the movement."""
    match store.value.owner:
        case tg.ReshapeOp() as op:
            return tg.ReshapeOp(store.buffer, shape_of(op.source)), op.source
        case tg.FlipOp() as op if not is_memory(op.source):
            return tg.FlipOp(store.buffer, [bool(f) for f in integers(op, "flags")]), op.source
        case tg.PermuteOp() as op if not is_memory(op.source):
            order = integers(op, "order")
            inverse = [order.index(axis) for axis in range(len(order))]
            return tg.PermuteOp(store.buffer, inverse), op.source
        case _:
            return None
