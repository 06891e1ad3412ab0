"""Canonicalisation of COPY."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tgdialect.ops.memory import CopyOp
from tgdialect.ops.properties import device_argument, place


class CopyOfCopy(RewritePattern):
    """copy(copy(x, A), B) is copy(x, B), unless x is on B or a copy is forced."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CopyOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if not isinstance(inner, CopyOp) or op.forced is not None or inner.forced is not None:
            return
        device = device_argument(op)
        if device is not None and device != place(inner.source).device:
            new = CopyOp(inner.source, device)
            new.location = op.location
            rewriter.replace(op, new)


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {"tg.copy": (CopyOfCopy(),)}
