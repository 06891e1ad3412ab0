"""From a lazy graph to numbers: one module for all that is wanted, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tgdialect.frontend.graph import Array, Node, sorted_nodes
from tgdialect.ops.source import ParamOp
from tgdialect.runtime.compiler import compile

Key = tuple[Any, ...]

_executables: dict[Key, Callable[..., Any]] = {}
"""What graphs were compiled to, by what they say."""


def realize(roots: Iterable[Node]) -> None:
    """Compute nodes, all in one program. Those that are data already stay as they are."""
    wanted = list(dict.fromkeys(node for node in roots if node.data is None))
    if not wanted:
        return
    order = sorted_nodes(wanted)
    if any(isinstance(node.prototype, ParamOp) for node in order):
        raise RuntimeError("a value is not known while its function is traced")
    leaves, key = _key(order, wanted)
    executable = _executables.get(key)
    if executable is None:
        module = ModuleOp([function_of("main", order, leaves, wanted)])
        executable = _executables[key] = compile(module)
    results = executable(*[node.data for node in leaves])
    if len(wanted) == 1:
        results = (results,)
    for node, data in zip(wanted, results, strict=True):
        node.settle(data)


def _key(order: Sequence[Node], wanted: Sequence[Node]) -> tuple[list[Node], Key]:
    """The leaves of a graph, and what it says, whatever is in them."""
    numbers: dict[Node, int] = {}
    leaves: list[Node] = []
    key: list[Any] = []
    for node in order:
        numbers[node] = len(numbers)
        if node.data is not None:
            leaves.append(node)
            key.append(node.type)
        else:
            key.append(node.prototype)
            key.append(tuple([numbers[operand] for operand in node.operands]))
    key.append(tuple([numbers[node] for node in wanted]))
    return leaves, tuple(key)


def function_of(
    name: str, order: Sequence[Node], leaves: Sequence[Node], results: Sequence[Node]
) -> FuncOp:
    """A function of the leaves of a graph that gives some of its nodes."""
    block = Block(arg_types=[node.type for node in leaves])
    values = emit(block, order, dict(zip(leaves, block.args, strict=True)))
    block.add_op(ReturnOp(*(values[node] for node in results)))
    types = [n.type for n in leaves], [n.type for n in results]
    return FuncOp(name, types, Region(block))


def emit(block: Block, order: Iterable[Node], values: dict[Node, SSAValue]) -> dict[Node, SSAValue]:
    """Add to a block the ops of nodes, operands first, but for those that are in `values`."""
    for node in order:
        if node in values:
            continue
        assert node.prototype is not None
        prototype = node.prototype
        op = prototype.__class__.create(
            operands=[values[operand] for operand in node.operands],
            result_types=[node.type],
            properties=prototype.properties,
            attributes=prototype.attributes,
            regions=[region.clone() for region in prototype.regions],
        )
        block.add_op(op)
        values[node] = op.results[0]
    return values


def as_array(node: Node) -> Array:
    """What a node is, computed if need be."""
    if node.data is None:
        realize([node])
    assert isinstance(node.data, np.ndarray)
    return node.data
