"""The canonicalisation patterns of the dialect: `elementwise.py` has those of elementwise ops,
`rules.py` all others.

A pattern replaces a result by a value of the same type and the same cells, invalid ones included;
memory stays the same memory. The dialect registers them, so that every tool's `canonicalize` knows
them as soon as the dialect is loaded.
"""

from __future__ import annotations

from tgdialect.transforms.canonicalization import elementwise, rules

CANONICALIZATIONS = {**elementwise.PATTERNS, **rules.PATTERNS}
"""The patterns of every op that has some."""
