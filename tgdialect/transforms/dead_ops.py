"""Erase the ops that nothing needs."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg

_COMPUTED = (tg.ElementwiseOp, tg.MovementOp, tg.LoadOp, tg.BufferOp, tg.ConstOp, tg.VConstOp)
"""Ops that do nothing but compute their result."""


def erase_dead_ops(block: Block, needed: Collection[Operation]) -> None:
    """Erase all ops of a block but those that are needed (`analysis.ranges.needed_ops`)."""
    kept = set(map(id, needed))
    for op in reversed(ops_of(block)):
        if id(op) not in kept:
            Rewriter.erase_op(op)


def erase_unused(block: Block) -> None:
    """Erase the ops without side effects whose results have no uses, in a block in order."""
    for op in reversed(ops_of(block)):
        if isinstance(op, _COMPUTED) and op.results[0].first_use is None:
            Rewriter.erase_op(op)
