"""A kernel of the older vocabularies as a `tg.kernel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation

from tgdialect.diagnostics import errors_at
from tgdialect.legacy.ops import control
from tgdialect.legacy.ops.blocks import BlockEndOp, BlockForkOp, BlockOp, BlockStartOp
from tgdialect.legacy.upgrade.loops import accumulators_first
from tgdialect.legacy.upgrade.ordered import OrderedKernel
from tgdialect.legacy.upgrade.unordered import UnorderedKernel, loops_first
from tgdialect.ops import tg
from tgdialect.ops.base import TgOp
from tgdialect.ops.walk import postorder


def upgrade_kernel(name: str, ops: Sequence[Operation], *, reduces: bool) -> tg.KernelOp:
    """The `tg.kernel` of the ops of a kernel: in the order of execution if some of them end loops,
    or if they are in blocks, else those of a graph.

    With `reduces` loops that reduce become REDUCEs, as at level `kernels`, and there are no
    vectors; else it is at level `tiles`. Raises PassFailedException, located, for ops that belong
    to programs on tensors.
    """
    if _has_blocks(ops):
        ops = _in_order(ops)
    has_loops = any(isinstance(op, control.LoopBegin | tg.RangeOp) for op in ops)
    has_ends = any(isinstance(op, TgOp) and op.closed_blocks for op in ops)
    is_graph = has_loops and not has_ends
    ops = loops_first(ops) if is_graph else accumulators_first(ops)
    kernel = (UnorderedKernel if is_graph else OrderedKernel)(ops, reduces=reduces)
    for op in ops:
        with errors_at(op):
            kernel.rewrite(op)
    return kernel.kernel(name)


# -- kernels that are made of blocks -------------------------------------------------------------


def _has_blocks(ops: Sequence[Operation]) -> bool:
    """Whether a kernel is made of blocks."""
    return any(isinstance(op, BlockOp | BlockEndOp) for op in ops)


def _in_order(ops: Sequence[Operation]) -> list[Operation]:
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
