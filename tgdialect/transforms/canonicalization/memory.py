"""Canonicalisation of COPY."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tgdialect.ops import tg
from tgdialect.ops.properties import device_argument


class CopyOfCopy(RewritePattern):
    """copy(copy(x, A), B) is copy(x, B), and copy(copy(x, A), A) is copy(x, A), but for clones."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.CopyOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if not isinstance(inner, tg.CopyOp) or op.forced is not None:
            return
        device = device_argument(op)
        if op.result.type == inner.result.type:
            rewriter.replace(op, [], [inner.result])
        elif device is not None and inner.forced is None:
            new = tg.CopyOp(inner.source, device)
            new.location = op.location
            rewriter.replace(op, new)


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {"tg.copy": (CopyOfCopy(),)}
