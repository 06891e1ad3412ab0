"""Canonicalisation of the markers."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern


class RepeatedMarker(RewritePattern):
    """contiguous(contiguous(x)) is contiguous(x); likewise the others."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        inner = op.operands[0]
        if isinstance(inner.owner, Operation) and inner.owner.name == op.name:
            rewriter.replace(op, (), (inner,))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = dict.fromkeys(
    ("tg.contiguous", "tg.contiguous_backward", "tg.detach"), (RepeatedMarker(),)
)
