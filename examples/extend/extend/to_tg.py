"""`ext-to-tg`: what `ext.hypot` is in `tg`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from extend.hypot import HypotOp
from tgdialect.ops import tg


class ExtToTgPass(ModulePass):
    """Rewrite the ops of ext into those of tg."""

    name = "ext-to-tg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for hypot in list(op.walk()):
            if isinstance(hypot, HypotOp):
                Rewriter.replace_op(hypot, [], [lowered(tg.OpBuilder.before(hypot), hypot)])


def lowered(b: tg.OpBuilder, hypot: HypotOp) -> SSAValue:
    """large * sqrt(1 + (small / large)²): the larger one is not squared."""
    a, c = (_absolute(b, operand) for operand in (hypot.lhs, hypot.rhs))
    large = b.put(tg.MaxOp(a, c))
    small = b.put(tg.NegOp(b.put(tg.MaxOp(b.put(tg.NegOp(a)), b.put(tg.NegOp(c))))))
    one = b.put(tg.ConstOp(1, tg.tensor(hypot.lhs).element_type))
    # Neither 0 / 0 nor the quotient of infinities is computed.
    ratio = b.put(tg.DivOp(small, large))
    ratio = b.put(tg.WhereOp(b.put(tg.CmpEqOp(small, large)), one, ratio))
    root = b.put(tg.SqrtOp(b.put(tg.MulAccOp(ratio, ratio, one))))
    return b.put(tg.MulOp(large, root))


def _absolute(b: tg.OpBuilder, value: SSAValue) -> SSAValue:
    return b.put(tg.MaxOp(value, b.put(tg.NegOp(value))))
