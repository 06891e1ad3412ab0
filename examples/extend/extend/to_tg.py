"""`ext-to-tg`: what `ext.hypot` is in `tg`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from extend.hypot import HypotOp
from tgdialect.ops import elementwise as ew
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import tensor
from tgdialect.ops.source import ConstOp


class ExtToTgPass(ModulePass):
    """Rewrite the ops of ext into those of tg."""

    name = "ext-to-tg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for hypot in list(op.walk()):
            if isinstance(hypot, HypotOp):
                Rewriter.replace_op(hypot, [], [lowered(OpBuilder.before(hypot), hypot)])


def lowered(b: OpBuilder, hypot: HypotOp) -> SSAValue:
    """large * sqrt(1 + (small / large)²): the larger one is not squared."""
    a, c = (_absolute(b, operand) for operand in (hypot.lhs, hypot.rhs))
    large = b.put(ew.MaxOp(a, c))
    small = b.put(ew.NegOp(b.put(ew.MaxOp(b.put(ew.NegOp(a)), b.put(ew.NegOp(c))))))
    one = b.put(ConstOp(1, tensor(hypot.lhs).element_type))
    # Neither 0 / 0 nor the quotient of infinities is computed.
    ratio = b.put(ew.DivOp(small, large))
    ratio = b.put(ew.WhereOp(b.put(ew.CmpEqOp(small, large)), one, ratio))
    root = b.put(ew.SqrtOp(b.put(ew.MulAccOp(ratio, ratio, one))))
    return b.put(ew.MulOp(large, root))


def _absolute(b: OpBuilder, value: SSAValue) -> SSAValue:
    return b.put(ew.MaxOp(value, b.put(ew.NegOp(value))))
