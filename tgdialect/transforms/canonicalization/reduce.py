"""Canonicalisation of REDUCE. A reduction makes invalid cells valid, which no pattern may lose."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tgdialect.analysis.validity import Validity
from tgdialect.analysis.zeros import may_be_negative_zero
from tgdialect.ops import tg
from tgdialect.ops.properties import dtype_of, integers, tensor
from tgdialect.transforms.simplify.matching import repeated


class ReduceOfNothing(RewritePattern):
    """A reduction over no range and axes of size 1 is its source, if that is valid.

    A sum is never -0: of a source that may be, it is `source + 0.0`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.ReduceOp, rewriter: PatternRewriter) -> None:
        shape = tensor(op.source).get_shape()
        if op.ranges or any(shape[axis] != 1 for axis in integers(op, "axes")):
            return
        if op.source.type != op.result.type or not Validity()[op.source]:
            return
        if op.kind.data is not tg.ReduceKind.ADD or not may_be_negative_zero(op.source):
            rewriter.replace(op, (), (op.source,))
            return
        new: list[Operation] = []

        def put(each: Operation) -> SSAValue:
            each.location = op.location
            new.append(each)
            return each.results[0]

        zero = put(tg.ConstOp(0, tensor(op.source).element_type))
        if (zeros := repeated(zero, op.source.type, put)) is not None:
            put(tg.AddOp(op.source, zeros))
            rewriter.replace(op, new)


class ReduceOfUnitAxis(RewritePattern):
    """Axes of size 1 need not be reduced where others, or ranges, are."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.ReduceOp, rewriter: PatternRewriter) -> None:
        shape, axes = tensor(op.source).get_shape(), integers(op, "axes")
        kept = [axis for axis in axes if shape[axis] != 1]
        if len(kept) < len(axes) and (kept or op.ranges):
            _replace(op, rewriter, kept, op)


class ReduceOfReduce(RewritePattern):
    """Two reductions of one kind are one if the order is free and nothing is rounded between."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.ReduceOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if not isinstance(inner, tg.ReduceOp) or inner.kind != op.kind or op.ranges or inner.ranges:
            return
        dtype = dtype_of(op.source)
        exact = not dtype.is_float or op.kind.data is tg.ReduceKind.MAX
        ordered = op.ordered is not None or inner.ordered is not None
        if exact or (not ordered and dtype.bits >= 32):
            _replace(op, rewriter, sorted({*integers(inner, "axes"), *integers(op, "axes")}), inner)


def _replace(
    op: tg.ReduceOp, rewriter: PatternRewriter, axes: list[int], source: tg.ReduceOp
) -> None:
    """Reduce what `source` reduces, over `axes` and the ranges of `op`."""
    ordered = op.ordered is not None or source.ordered is not None
    new = tg.ReduceOp(op.kind.data, source.source, axes, op.ranges, ordered=ordered)
    new.location = op.location
    if new.result.type == op.result.type:
        rewriter.replace(op, new)


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    "tg.reduce": (ReduceOfNothing(), ReduceOfUnitAxis(), ReduceOfReduce())
}
