"""The link from an op to its canonicalisation patterns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from xdsl.ir import Operation, OpTrait
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

Patterns = Mapping[str, tuple[RewritePattern, ...]]
"""Patterns by the name of the op they rewrite."""

_FILE = "tgdialect.transforms.canonicalization"
"""The file of the patterns, by its name, as `universe.py` has passes: ops depend on no rewrite, and
the file is imported when `canonicalize` runs, for a short start-up time."""


@cache
def _patterns() -> Patterns:
    return import_module(_FILE).CANONICALIZATIONS


@dataclass(frozen=True)
class HasTgCanonicalization(HasCanonicalizationPatternsTrait):
    """An op that may have patterns in `transforms/canonicalization`."""

    verify = OpTrait.verify  # Nothing, which `fast_xdsl.definitions` knows.

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        return _patterns().get(op.name, ())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return ()
