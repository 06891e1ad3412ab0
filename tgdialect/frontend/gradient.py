"""Gradients of lazy graphs, by the rules of `tg-gradient`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.frontend.graph import Node, made, prototype_of, sorted_nodes
from tgdialect.frontend.realization import emit
from tgdialect.transforms.gradient import gradients
from tgdialect.transforms.gradient.builder import Builder


def gradient_nodes(root: Node, seed: Node, targets: Sequence[Node]) -> list[Node | None]:
    """The gradients of a value with respect to others; None for one that it does not depend on.

    Args:
        root: the value.
        seed: the gradient of a scalar with respect to it, of its shape.
        targets: what to differentiate with respect to.
    """
    order = sorted_nodes([root], through_data=True)
    varying = set(targets)
    made_of_targets: set[Node] = set()
    for node in order:
        if any(operand in varying for operand in node.operands):
            varying.add(node)
            made_of_targets.add(node)
    if root not in varying:
        return [None] * len(targets)
    # What does not depend on the targets is an argument as it stands.
    outside = dict.fromkeys(
        o for node in order if node in varying for o in node.operands if o not in varying
    )
    sources = [*(t for t in dict.fromkeys(targets) if t not in made_of_targets), *outside, seed]
    block = Block(arg_types=[node.type for node in sources])
    values: dict[Node, SSAValue] = dict(zip(sources, block.args, strict=True))
    seed_value = block.args[-1]
    emit(block, [node for node in order if node in made_of_targets], values)
    nodes = {value: node for node, value in values.items()}
    nodes[seed_value] = seed
    found = gradients(
        Builder(block), {values[root]: seed_value}, [values[node] for node in targets]
    )
    return [None if value is None else _node_of(value, nodes) for value in found]


def _node_of(value: SSAValue, nodes: dict[SSAValue, Node]) -> Node:
    """The node of a value, with all that makes it."""
    stack = [value]
    while stack:
        inner = stack[-1]
        op = inner.owner
        if inner in nodes:
            stack.pop()
            continue
        assert isinstance(op, Operation)
        missing = [operand for operand in op.operands if operand not in nodes]
        if missing:
            stack.extend(missing)
        else:
            nodes[inner] = made(prototype_of(op), tuple(nodes[o] for o in op.operands))
    return nodes[value]
