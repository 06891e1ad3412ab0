"""Wrong rewrites for tests, as a compiler has them."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.rewriter import InsertPoint

from tgdialect import registry
from tgdialect.ops import tg
from tgdialect.tools.instrumentation import flatten
from tgdialect.tools.pass_pipeline import build_pipeline, parse_pipeline

Transform = Callable[[ModuleOp], None]

TO_KERNELS = "tg-callify,tg-rangeify"
TO_TARGET = f"{TO_KERNELS},tg-optimize,tg-expand,tg-select"
TO_LINEAR = f"{TO_TARGET},tg-linearize"


class Reversed(RewritePattern):
    """Exchanges the operands of an op, on all dtypes but index."""

    def __init__(self, kind: type[tg.TgOp]) -> None:
        self.kind = kind

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, self.kind) or "seen" in op.attributes:
            return
        if tg.tensor(op.operands[0]).element_type != tg.INDEX:
            new = op.rebuild(tuple(reversed(op.operands)))
            new.attributes["seen"] = UnitAttr()
            rewriter.replace(op, new)


class LostSum(RewritePattern):
    """Takes (a + b) - b for a + b."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, tg.SubOp) or not isinstance(add := op.operands[0].owner, tg.AddOp):
            return
        if add.operands[1] is op.operands[1] and add.result.type == op.result.type:
            rewriter.replace(op, [], [add.result])


class LostSubtraction(RewritePattern):
    """Takes (a - b) + c for b, on integers of other dialects."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, arith.AddiOp) and isinstance(inner := op.lhs.owner, arith.SubiOp):
            rewriter.replace(op, [], [inner.rhs])


class ShortLoop(RewritePattern):
    """Lets loops end one iteration early."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, tg.RangeOp) or not isinstance(bound := op.bound.owner, tg.ConstOp):
            return
        if (count := int(tg.number(bound.value))) > 1 and "short" not in bound.attributes:
            new = tg.ConstOp(count - 1, tg.INDEX)
            new.attributes["short"] = UnitAttr()
            rewriter.insert(new, InsertPoint.before(op))
            op.operands = [new.result]
            rewriter.notify_op_modified(op)


def wrong(pattern: RewritePattern) -> Transform:
    """A pass that applies a pattern to a whole module."""
    return lambda module: (PatternRewriteWalker(pattern).rewrite_module(module), None)[1]


def lowered(module: ModuleOp, pipeline: str) -> ModuleOp:
    """A copy of a module after some passes."""
    copy = module.clone()
    passes = registry.universe().all_passes
    for step in flatten(build_pipeline(parse_pipeline(pipeline), passes, Context())):
        step.apply(Context(), copy)  # type: ignore[union-attr]
    return copy
