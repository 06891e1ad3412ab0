"""Erase the ops of a graph that its SINK does not need."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Block, Operation

from tgdialect.ops.creation import erase
from tgdialect.ops.walk import ops_of


def erase_dead_ops(block: Block, needed: Collection[Operation]) -> None:
    """Erase all ops of a block but those that are needed (`analysis.ranges.needed_ops`)."""
    kept = set(map(id, needed))
    for op in reversed(ops_of(block)):
        if id(op) not in kept:
            erase(op)
