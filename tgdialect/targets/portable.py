"""Portable C: what any processor does, without knowing which one it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tgdialect.targets.cpu import CPU
from tgdialect.targets.target import Target

PORTABLE = replace(CPU, name="c", axis_types=CPU.axis_types - {"thread"})
"""A processor that a C compiler knows: scalars, one thread, caches of usual sizes."""


def portable(features: Collection[str] = ()) -> Target:
    """The target `c`, which has no features: the C compiler knows the processor."""
    if features:
        raise ValueError("c has no features: its compiler knows the processor")
    return PORTABLE
