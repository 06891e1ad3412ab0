"""The ops of a block, and those of all regions of an op."""

from __future__ import annotations

from xdsl.ir import Block, Operation


def ops_of(block: Block) -> list[Operation]:
    """The ops of a block, in order, in an eighth of the time of `list(block.ops)`: xDSL's iterator
    calls Python code three times for each op, and its length, which `list` asks for, as often
    again."""
    found: list[Operation] = []
    op = block.first_op
    while op is not None:
        found.append(op)
        op = op._next_op  # pyright: ignore[reportPrivateUsage]
    return found


def nested_ops(root: Operation) -> list[Operation]:
    """An op, and all ops in its regions, in the order of the text. xDSL's `walk` has three
    generators for each level of nesting."""
    found: list[Operation] = []
    stack = [root]
    while stack:
        op = stack.pop()
        found.append(op)
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                stack += reversed(ops_of(block))
    return found
