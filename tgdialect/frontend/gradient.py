"""Gradients of lazy graphs, by the rules of `tg-gradient`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.diagnostics import SHAPES, kept_facts
from tgdialect.frontend.graph import (
    Node,
    argument_errors,
    extents_of_value,
    made,
    prototype_of,
    size_node,
    sorted_nodes,
)
from tgdialect.frontend.realization import compound_sizes, insert_nodes, insert_parameters
from tgdialect.frontend.symbolic import Factor, SymInt
from tgdialect.ops.walk import computed, operands_of
from tgdialect.transforms.gradient import gradients
from tgdialect.transforms.gradient.builder import Builder


@kept_facts(SHAPES)
def gradient_nodes(root: Node, seed: Node, targets: Sequence[Node]) -> list[Node | None]:
    """The gradients of a value with respect to others; None for one that it does not depend on.

    Args:
        root: the value.
        seed: the gradient of a scalar with respect to it, of its shape.
        targets: the values to differentiate with respect to.

    Raises ArgumentError for an op that has no gradient.
    """
    # Find the nodes between the targets and the root.
    order = sorted_nodes([root], through_data=True)
    varying = set(targets)
    made_of_targets: set[Node] = set()
    for node in order:
        if any(operand in varying for operand in node.operands):
            varying.add(node)
            made_of_targets.add(node)
    if root not in varying:
        return [None] * len(targets)
    # Nodes that do not depend on the targets become arguments of the block, except for sizes.
    outside = dict.fromkeys(
        o for node in order if node in varying for o in node.operands if o not in varying
    )
    sizes = [node for node in outside if node.size is not None]
    given = [t for t in dict.fromkeys(targets) if t not in made_of_targets]
    sources = dict.fromkeys([*given, *(n for n in outside if n.size is None), seed])
    sizes += [size_node(e) for n in sources for e in n.extents or () if isinstance(e, SymInt)]
    size_order = sorted_nodes(sizes)
    leaves = [node for node in size_order if node.size is not None and node.size.atom is not None]
    builder = Builder(Block())
    values, _ = insert_parameters(builder, [*leaves, *sources], compound_sizes(sources))
    insert_nodes(builder, size_order, values)
    factors = {v: n.size.factor for n, v in values.items() if n.size is not None and n.size.factor}
    seed_value = values[seed]
    insert_nodes(builder, [node for node in order if node in made_of_targets], values)
    nodes = {value: node for node, value in values.items()}
    wrt = [values[node] for node in targets]
    with argument_errors():
        found = gradients(builder, {values[root]: seed_value}, wrt)
    return [None if value is None else _node_of(value, nodes, factors) for value in found]


def _node_of(
    value: SSAValue, nodes: dict[SSAValue, Node], factors: Mapping[SSAValue, Factor]
) -> Node:
    """The node of a value. Makes nodes of the ops that it depends on."""

    def node(value: SSAValue) -> Node:
        op = value.owner
        assert isinstance(op, Operation)
        operands = tuple(nodes[o] for o in op.operands)
        return made(prototype_of(op), operands, extents_of_value(value, factors))

    return computed(value, nodes, operands_of, node)
