"""One op for each slot: PARAMs or BUFFERs of the same slot and type are the same memory."""

from __future__ import annotations

from xdsl.ir import Attribute, Block, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg


def make_storage_unique(block: Block) -> None:
    """Replace each PARAM and BUFFER by the first one of its slot."""
    first: dict[tuple[str, int, Attribute], SSAValue] = {}
    for op in ops_of(block):
        if isinstance(op, tg.ParamOp | tg.BufferOp):
            known = first.setdefault((op.name, op.slot.data, op.result.type), op.result)
            if known is not op.result:
                op.result.replace_all_uses_with(known)
                block.erase_op(op)
