"""What a block does, as something that can be compared: blocks that are alike are equal."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, SSAValue


def structure(block: Block) -> Hashable:
    """The ops of a block without regions, up to the names of values and where they come from."""
    numbers: dict[SSAValue, int] = {}
    rows: list[Hashable] = []
    for op in block.ops:
        operands = tuple(numbers.get(operand, -1) for operand in op.operands)
        properties = frozenset(op.properties.items())
        rows.append((op.name, operands, properties, *(result.type for result in op.results)))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(rows)
