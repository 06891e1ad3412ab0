"""Tracing: runs a function on tensors without values, and captures what it reads and assigns to
beside its arguments."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import get_ident
from weakref import ref

from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.graph import INDEX_TYPE, Node, made, register_size, serials, sorted_nodes
from tgdialect.frontend.symbolic import Atom, SymInt, Variable, substituted
from tgdialect.frontend.views import owner, view_of
from tgdialect.ops import tg


@dataclass(frozen=True)
class Graph:
    """The nodes of a function on parameters."""

    order: Sequence[Node]
    """All nodes, operands first."""
    leaves: Sequence[Node]
    """The parameters, then the captured nodes: those that were made before, and constants."""
    roots: Sequence[Node]
    """The results."""
    captured: Sequence[Node]

    def applied(self, nodes: Sequence[Node], sizes: Mapping[Atom, Atom]) -> list[Node]:
        """The roots with other leaves, and other variables in shapes."""
        values = dict(zip(self.leaves, nodes, strict=True))
        for node in self.order:
            if node not in values:
                assert node.prototype is not None
                operands = tuple(values[operand] for operand in node.operands)
                values[node] = made(node.prototype, operands, substituted(node.extents, sizes))
        return [values[root] for root in self.roots]


@dataclass(eq=False)
class Capture:
    """The tensors that a function reads and assigns to beside its arguments, while it is traced.

    The function runs on tensors that have parameters as nodes. All other nodes that it makes have
    serials from `start` on, so nodes before that are read from outside. Assignments are undone
    after the trace: the new value of a tensor is a result of the program, its former node an
    input.
    """

    thread: int = field(default_factory=get_ident)
    start: int = field(default_factory=lambda: next(serials))
    before: dict[int, tuple[ref[TensorBase], Node]] = field(
        default_factory=dict[int, tuple[ref[TensorBase], Node]]
    )
    """The tensors that were assigned to, by their ids, and their former nodes. The references are
    weak: tensors that the function makes itself are gone when it has returned."""
    gradients: dict[int, tuple[ref[TensorBase], TensorBase | None]] = field(
        default_factory=dict[int, tuple[ref[TensorBase], TensorBase | None]]
    )
    """The tensors whose `grad` was set, and the former ones."""

    def note_change(self, tensor: TensorBase) -> None:
        """Record the node of a tensor before the first assignment to it."""
        known = self.before.get(id(tensor))
        if known is None or known[0]() is not tensor:
            self.before[id(tensor)] = ref(tensor), tensor.node

    def former(self, tensor: TensorBase) -> Node:
        """The node of a tensor before the function assigned to it."""
        known = self.before.get(id(tensor))
        return tensor.node if known is None or known[0]() is not tensor else known[1]

    def changed(self) -> list[tuple[TensorBase, Node]]:
        """The tensors that were assigned to, and their former nodes."""
        living = [(tensor(), node) for tensor, node in self.before.values()]
        return [(t, node) for t, node in living if t is not None and t.node is not node]

    def assigned(self, arguments: Collection[int] = ()) -> list[tuple[TensorBase, Node]]:
        """`changed` without the views that follow the tensors whose cells they show; `arguments`
        are the ids of tensors that stay."""
        changed = self.changed()
        ids = {id(tensor) for tensor, _ in changed}
        return [
            (tensor, node)
            for tensor, node in changed
            if id(tensor) in arguments
            or not (view := view_of(tensor.node))
            or id(owner(view)) not in ids
        ]

    def graph(self, given: Sequence[Node], roots: Sequence[Node]) -> Graph:
        """The graph of results. Leaves other than the given ones are captured."""
        order = sorted_nodes(roots, since=self.start)
        known = set(given)
        captured = [
            node
            for node in order
            if node not in known and (node.serial < self.start or node.data is not None)
        ]
        return Graph(order, [*given, *captured], roots, captured)


_captures: list[Capture] = []
_numbers = count()
_ANY_PARAMETER = tg.ParamOp(0, INDEX_TYPE)
"""The prototype of all parameters. Their slots are known only when the function is made."""


def parameter(like: Node, atoms: Mapping[Atom, Atom]) -> Node:
    """A parameter of the type of a node, with parameters for the variables in its shape."""
    extents = substituted(like.extents, atoms)
    return Node(_ANY_PARAMETER, (), like.type, None, like.is_tracked, extents)


def size_parameter(variable: Variable) -> tuple[Atom, Node]:
    """A parameter for a size."""
    atom = Atom(variable, None, next(_numbers))
    node = Node(_ANY_PARAMETER, (), INDEX_TYPE)
    register_size(SymInt.of(atom), node)
    return atom, node


def is_parameter(node: Node) -> bool:
    """Whether a node is the parameter of a function that is being traced."""
    return isinstance(node.prototype, tg.ParamOp)


def is_tracing() -> bool:
    """Whether this thread is tracing a function."""
    return bool(_captures) and _innermost() is not None


def _innermost() -> Capture | None:
    """The capture of this thread's innermost trace."""
    here = get_ident()
    return next((capture for capture in reversed(_captures) if capture.thread == here), None)


@contextmanager
def tracing() -> Generator[Capture]:
    """A context in which a function is traced. Assignments to tensors, and to their gradients, are
    undone at its end: these values are known inside only."""
    capture = Capture()
    _captures.append(capture)
    try:
        yield capture
    finally:
        _captures.remove(capture)
        for tensor, node in capture.changed():
            tensor.node = node
        for tensor, gradient in capture.gradients.values():
            if (living := tensor()) is not None:
                living.grad = gradient


def note_gradient(tensor: TensorBase) -> None:
    """Tell this thread's trace, if any, that the `grad` of a tensor is about to be set."""
    if _captures and (capture := _innermost()) is not None:
        capture.gradients.setdefault(id(tensor), (ref(tensor), tensor.grad))


def note_change(tensor: TensorBase) -> None:
    """Tell this thread's trace, if any, that a tensor is about to be assigned to."""
    if _captures and (capture := _innermost()) is not None:
        capture.note_change(tensor)
