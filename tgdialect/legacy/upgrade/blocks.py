"""The order of the ops of a kernel that is made of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation

from tgdialect.legacy.ops.blocks import BlockEndOp, BlockForkOp, BlockOp, BlockStartOp
from tgdialect.ops import tg
from tgdialect.ops.walk import postorder


def has_blocks(ops: Sequence[Operation]) -> bool:
    """Whether a kernel is made of blocks."""
    return any(isinstance(op, BlockOp | BlockEndOp) for op in ops)


def in_order(ops: Sequence[Operation]) -> list[Operation]:
    """The ops of blocks in the order of execution, each once: definitions, then what a block comes
    after, then its members, each after its operands."""
    roots = [op for op in ops if isinstance(op, tg.SinkOp) or not (op.operands or _is_block(op))]
    roots.sort(key=lambda op: isinstance(op, tg.SinkOp))
    return [op for op in postorder(roots, _before) if not _is_block(op)]


def _is_block(op: Operation) -> bool:
    return isinstance(op, BlockOp | BlockStartOp | BlockForkOp)


def _before(op: Operation) -> Iterator[Operation]:
    """The ops that execute before an op: for a block, the blocks before its members."""
    operands = op.operands
    if isinstance(op, BlockOp):
        operands = *op.before, *op.members
    elif isinstance(op, BlockEndOp):
        operands = *op.before, op.begin
    for operand in operands:
        if not isinstance(operand.owner, Block):
            yield operand.owner
