"""Structural equality of blocks, up to the names of values and locations."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, SSAValue


def structure(block: Block) -> Hashable:
    """A key that is equal for blocks of the same structure.

    Blocks of regions inside use no values of the block: their ops are isolated from above.
    """
    numbers: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args)}
    rows: list[Hashable] = []
    for op in block.ops:
        operands = tuple(numbers.get(operand, -1) for operand in op.operands)
        properties = frozenset(op.properties.items())
        types = tuple(result.type for result in op.results)
        inner = tuple(structure(b) for region in op.regions for b in region.blocks)
        rows.append((op.name, operands, properties, types, inner))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(rows)
