"""Canonicalisation of GETTUPLE."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tgdialect.ops import tg


class GetTupleOfTuple(RewritePattern):
    """gettuple(tuple(..., v, ...), i) is v."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.GetTupleOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.source.owner, tg.TupleOp):
            rewriter.replace(op, (), (op.source.owner.values[op.index.data],))


class GetTupleOfArgument(RewritePattern):
    """gettuple(function(..., a, ...), i) is a where the body returns its parameter as it is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.GetTupleOp, rewriter: PatternRewriter) -> None:
        function = op.source.owner
        if not isinstance(function, tg.FunctionOp):
            return
        last = function.body.block.last_op
        if not isinstance(last, tg.TupleOp):
            return
        param = last.values[op.index.data].owner
        if not isinstance(param, tg.ParamOp):
            return
        argument = function.arguments[param.slot.data]
        if argument.type == op.result.type:
            rewriter.replace(op, (), (argument,))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    "tg.gettuple": (GetTupleOfTuple(), GetTupleOfArgument())
}
