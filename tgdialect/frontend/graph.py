"""The lazy graph of tensor programs: what is to be computed, before there is IR for it.

A node is an op of the dialect on other nodes. Making one takes microseconds, since the op itself
(its properties, and the result type that its rule derives) is made once for all nodes that are
alike: the *prototype*. `emission.py` turns a graph into a module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.frontend.dtypes import attribute_of, of_attribute
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import DType, round_to
from tgdialect.ops.marker import DetachOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.source import ConstOp

Array = np.ndarray[Any, np.dtype[Any]]

serials = count()
"""The serials of nodes to come."""


class Node:
    """A value of a tensor program: an op on other nodes, or data.

    `data` is what the value is, once that is known; a node without prototype is data from the
    beginning. A node whose value is known forgets what it was made of, unless somebody may ask for
    its gradient (`is_tracked`). `owner` is the tensor that was first made of it; `serial` counts
    nodes as they are made.
    """

    __slots__ = (
        *("__weakref__", "data", "is_tracked", "operands", "owner", "prototype", "serial"),
        "type",
    )

    def __init__(
        self,
        prototype: TgOp | None,
        operands: tuple[Node, ...],
        type: Attribute,
        data: Array | None = None,
        is_tracked: bool = False,
    ) -> None:
        self.prototype = prototype
        self.operands = operands
        self.type = type
        self.data = data
        self.is_tracked = is_tracked
        self.owner: Callable[[], object] | None = None
        self.serial = next(serials)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes."""
        return self.tensor_type.get_shape()

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return of_attribute(self.tensor_type.element_type)

    @property
    def tensor_type(self) -> TensorType[Attribute]:
        """The type of what is no tuple."""
        return cast("TensorType[Attribute]", self.type)

    def settle(self, data: Array) -> None:
        """Note what the value is."""
        self.data = data
        if not self.is_tracked:
            self.prototype, self.operands = None, ()


def leaf(data: Array, dtype: DType) -> Node:
    """A node that is data, of C order."""
    return Node(None, (), tensor_type(attribute_of(dtype), data.shape), data)


# -- making nodes --------------------------------------------------------------------------------

_by_call: dict[tuple[Any, ...], tuple[TgOp, tuple[int, ...]]] = {}
"""The prototypes by the call that made them, and the order of their operands in it."""
_by_content: dict[tuple[Any, ...], TgOp] = {}


def apply(op: Callable[..., TgOp], *arguments: Any) -> Node:
    """The op of a class on arguments as its builder takes them, with nodes for values.

    Raises VerifyException if the op's rule is broken.
    """
    nodes: list[Node] = []
    key = (op, *(_key(argument, nodes) for argument in arguments))
    known = _by_call.get(key)
    if known is None:
        known = _by_call[key] = _prototype(op, arguments, nodes)
    prototype, order = known
    return made(prototype, tuple([nodes[i] for i in order]))


def constant(value: float, dtype: DType) -> Node:
    """A scalar, which a float dtype rounds."""
    key = ConstOp, repr(value), dtype
    known = _by_call.get(key)
    if known is None:
        rounded = round_to(dtype, value) if dtype.is_float else value
        known = _by_call[key] = interned(ConstOp(rounded, attribute_of(dtype))), ()
    return made(known[0], ())


def made(prototype: TgOp, operands: tuple[Node, ...]) -> Node:
    """A node of a prototype on operands of the types that it was made for."""
    is_tracked = not isinstance(prototype, DetachOp) and any(o.is_tracked for o in operands)
    return Node(prototype, operands, prototype.results[0].type, None, is_tracked)


def interned(op: TgOp) -> TgOp:
    """The prototype of an op that uses no values of others, or of one like it."""
    if op.regions:
        return op
    key = type(op), frozenset(op.properties.items()), tuple(o.type for o in op.operands)
    return _by_content.setdefault(key, op)


def prototype_of(op: Operation) -> TgOp:
    """The prototype of an op of the IR."""
    assert isinstance(op, TgOp)
    key = type(op), frozenset(op.properties.items()), tuple(o.type for o in op.operands)
    known = None if op.regions else _by_content.get(key)
    if known is not None:
        return known
    arguments = Block(arg_types=[o.type for o in op.operands]).args
    copy = op.clone(dict(zip(op.operands, arguments, strict=True)))
    for index, argument in enumerate(arguments):
        copy.operands[index] = argument  # An operand may occur twice.
    return interned(copy)


def _prototype(
    op: Callable[..., TgOp], arguments: Sequence[Any], nodes: Sequence[Node]
) -> tuple[TgOp, tuple[int, ...]]:
    block = Block(arg_types=[node.type for node in nodes])
    placeholders = iter(block.args)
    made = op(*(_with_placeholders(argument, placeholders) for argument in arguments))
    made.verify(verify_nested_ops=False)
    positions: dict[SSAValue, int] = {a: i for i, a in enumerate(block.args)}
    return interned(made), tuple(positions[operand] for operand in made.operands)


def _key(argument: Any, nodes: list[Node]) -> Any:
    """An argument as part of a key, its nodes replaced by their types and noted."""
    if isinstance(argument, Node):
        nodes.append(argument)
        return argument.type
    if isinstance(argument, list | tuple):
        return tuple([_key(item, nodes) for item in argument])  # pyright: ignore[reportUnknownVariableType]
    return argument


def _with_placeholders(argument: Any, placeholders: Iterable[SSAValue]) -> Any:
    if isinstance(argument, Node):
        return next(iter(placeholders))
    if isinstance(argument, list | tuple):
        return [_with_placeholders(item, placeholders) for item in argument]  # pyright: ignore[reportUnknownVariableType]
    return argument


# -- walks ---------------------------------------------------------------------------------------


def sorted_nodes(
    roots: Iterable[Node], *, through_data: bool = False, since: int = 0
) -> list[Node]:
    """The nodes that make these, operands first.

    What is data is a leaf, unless `through_data`, and so is what was made before a serial.
    """
    order: list[Node] = []
    seen: set[Node] = set()
    stack = [(root, False) for root in roots]
    stack.reverse()
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            if node.serial >= since and (through_data or node.data is None):
                stack.extend([(o, False) for o in reversed(node.operands) if o not in seen])
    return order
