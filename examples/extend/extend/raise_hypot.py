"""`ext-raise-hypot`: finds `ext.hypot` in programs that are written without it."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from extend.hypot import HypotOp
from tgdialect.ops import tg


class RaiseHypotPass(ModulePass):
    """Replace sqrt(a * a + b * b), which overflows early, by ext.hypot.

    Sums and products that nothing needs any more are left to `dce`.
    """

    name = "ext-raise-hypot"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for root in list(op.walk()):
            if not isinstance(root, tg.SqrtOp):
                continue
            if not isinstance(total := root.source.owner, tg.AddOp):
                continue
            a, b = _squared(total.lhs), _squared(total.rhs)
            if a is not None and b is not None:
                hypot = tg.OpBuilder.before(root).put(HypotOp(a, b))
                Rewriter.replace_op(root, [], [hypot])


def _squared(value: SSAValue) -> SSAValue | None:
    """x, of the value x * x."""
    op = value.owner
    return op.lhs if isinstance(op, tg.MulOp) and op.lhs is op.rhs else None
