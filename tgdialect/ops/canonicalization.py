"""The link from an op to its canonicalisation patterns, which are in `transforms/canonicalization`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

PATTERNS: dict[str, tuple[RewritePattern, ...]] = {}
"""Patterns by op name. `transforms/canonicalization` fills it when the dialect is loaded."""


@dataclass(frozen=True)
class HasTgCanonicalization(HasCanonicalizationPatternsTrait):
    """An op whose patterns are registered in `PATTERNS`."""

    def verify(self, op: Operation) -> None:
        return

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        return PATTERNS.get(op.name, ())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return ()
