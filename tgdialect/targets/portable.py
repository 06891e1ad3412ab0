"""Portable C: what any processor does, without knowing which one it is."""

from __future__ import annotations

from dataclasses import replace

from tgdialect.targets.cpu import CPU

PORTABLE = replace(CPU, name="c", axis_types=CPU.axis_types - {"thread"})
"""A processor that a C compiler knows: scalars, one thread, caches of usual sizes."""
