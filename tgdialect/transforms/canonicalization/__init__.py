"""The canonicalisation patterns of the dialect, one file per family of ops.

A pattern replaces a result by a value of the same type and the same cells, invalid ones included;
memory stays the same memory. The dialect registers them, so that every tool's `canonicalize` knows
them as soon as the dialect is loaded.

The families: `elementwise.py`, `movement.py`, `reduce.py`, `marker.py`, `memory.py`, `call.py`.
"""

from __future__ import annotations

from xdsl.pattern_rewriter import RewritePattern

from tgdialect.transforms.canonicalization import (
    call,
    elementwise,
    marker,
    memory,
    movement,
    reduce,
)

_FAMILIES = (elementwise, movement, reduce, marker, memory, call)

CANONICALIZATIONS: dict[str, tuple[RewritePattern, ...]] = {
    name: patterns for family in _FAMILIES for name, patterns in family.PATTERNS.items()
}
"""The patterns of every op that has some."""
