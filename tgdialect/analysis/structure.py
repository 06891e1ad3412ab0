"""What a block does, as something that can be compared: blocks that are alike are equal."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, SSAValue


def structure(block: Block) -> Hashable:
    """The ops of a block, up to the names of values and where they come from.

    Bodies inside of it do not use its values: they are isolated from above.
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
