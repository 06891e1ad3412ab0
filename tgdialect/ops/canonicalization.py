"""The link from an op to its canonicalisation patterns (`transforms/canonicalization`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from xdsl.ir import Operation, OpTrait
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

Patterns = Mapping[str, tuple[RewritePattern, ...]]
"""Patterns by the name of the op they rewrite."""

_source: Callable[[], Patterns] | None = None


def register_patterns(source: Callable[[], Patterns]) -> None:
    """Set the function that returns all patterns. It is called on first use, since importing them
    is slow.

    Raises RuntimeError if there is one already.
    """
    global _source
    if _source is not None:
        raise RuntimeError("the canonicalization patterns are registered already")
    _source = source


@cache
def _patterns() -> Patterns:
    return {} if _source is None else _source()


@dataclass(frozen=True)
class HasTgCanonicalization(HasCanonicalizationPatternsTrait):
    """An op whose patterns are registered with `register_patterns`."""

    verify = OpTrait.verify  # Nothing, which `fast_xdsl.definitions` knows.

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        return _patterns().get(op.name, ())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return ()
