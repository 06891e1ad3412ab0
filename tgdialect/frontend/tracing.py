"""Tracing: runs a function on tensors without values, and captures what it reads and assigns to
beside its arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from threading import get_ident
from typing import Any, Generic, TypeVar, cast
from weakref import ref

import numpy as np

from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.graph import (
    INDEX_TYPE,
    Node,
    Shape,
    made,
    register_size,
    serials,
    sorted_nodes,
)
from tgdialect.frontend.locations import located
from tgdialect.frontend.symbolic import Atom, SymInt, Variable, atoms_of, substituted
from tgdialect.frontend.views import owner, view_of
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array


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
                new = made(node.prototype, operands, substituted(node.extents, sizes))
                if node.origin is not None:
                    new.origin = node.origin.within(new.origin)
                values[node] = new
        return [values[root] for root in self.roots]


class Capture:
    """The tensors that a function reads and assigns to beside its arguments, while it is traced.

    The function runs on tensors that have parameters as nodes. All other nodes that it makes have
    serials from `start` on, so nodes before that are read from outside. Assignments are undone
    after the trace: the new value of a tensor is a result of the program, its former node an
    input.
    """

    def __init__(self) -> None:
        self.thread, self.start = get_ident(), next(serials)
        self.before: dict[int, tuple[ref[TensorBase], Node]] = {}
        """The tensors that were assigned to, by their ids, and their former nodes. The references
        are weak: tensors that the function makes itself are gone when it has returned."""
        self.gradients: dict[int, tuple[ref[TensorBase], TensorBase | None]] = {}
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

        def follows(tensor: TensorBase) -> bool:
            return bool(view := view_of(tensor.node)) and id(owner(view)) in ids

        return [c for c in changed if id(c[0]) in arguments or not follows(c[0])]

    def graph(self, given: Sequence[Node], roots: Sequence[Node]) -> Graph:
        """The graph of results. Leaves other than the given ones are captured."""
        order = sorted_nodes(roots, since=self.start)
        known = set(given)
        outside = (n for n in order if n.serial < self.start or n.data is not None)
        captured = [node for node in outside if node not in known]
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
    undone at its end: these values are known inside only. The source location of the call is not
    that of the function's ops, which other calls have as well."""
    capture = Capture()
    _captures.append(capture)
    try:
        with located(None):
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


# -- nested values -----------------------------------------------------------------------------
#
# Arguments and return values may be nested lists, tuples and dicts, whose tensors are replaced by
# slots.

T = TypeVar("T", bound=TensorBase)


@dataclass(frozen=True)
class Slot:
    """The place of a tensor in an argument or return value."""

    index: int


@dataclass(frozen=True, eq=False)
class Same:
    """The place of a returned tensor that existed before the call; an argument is its number."""

    tensor: TensorBase | int


class Inputs(Generic[T]):
    """The tensors of a class in the arguments of a call, once each, the numbered variables of
    sizes, and the arguments as a key."""

    def __init__(self, kind: type[T], value: Any) -> None:
        self.kind = kind
        self.tensors: list[T] = []
        self.atoms: dict[Atom, Atom] = {}
        self.slots: dict[int, Slot] = {}
        """By the ids of the tensors."""
        self.signature = self._key(value)

    def _key(self, value: Any) -> Any:
        """A value as a hashable key, with slots for its tensors."""
        if isinstance(value, self.kind):
            if id(value) not in self.slots:
                self.slots[id(value)] = Slot(len(self.tensors))
                self.tensors.append(value)
                self._note(value.node.extents or ())
            return self.slots[id(value)]
        if isinstance(value, SymInt):
            self._note((value,))
            return value.substituted(self.atoms)
        if isinstance(value, list | tuple):
            items = cast("Sequence[Any]", value)
            return type(items), *[self._key(item) for item in items]
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value)
            return dict, *[(k, self._key(v)) for k, v in entries.items()]
        if isinstance(value, np.ndarray):
            array = cast(Array, value)
            return np.ndarray, array.shape, array.dtype, array.tobytes()
        if isinstance(value, float):
            # As keys, 0.0 equals -0.0, and NaN differs from itself.
            return type(value), value.hex()
        try:
            hash(value)
        except TypeError:
            return _Identity(value)
        return type(value), value

    def kind_of(self, tensor: TensorBase) -> tuple[Any, ...]:
        """The part of a key that a tensor of the signature decides beside its place."""
        node = tensor.node
        return node.type, node.is_tracked, substituted(node.extents, self.atoms)

    def _note(self, extents: Shape) -> None:
        for atom in atoms_of(extents):
            if atom not in self.atoms:
                self.atoms[atom] = Atom(atom.variable, None, len(self.atoms))


class _Identity:
    """A key for an unhashable object, which is compared by identity."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A nested value with a function applied to all its leaves."""
    if isinstance(value, list | tuple):
        items = [mapped(item, function) for item in cast("Sequence[Any]", value)]
        if isinstance(value, list):
            return items
        kind: Any = type(cast(object, value))  # A named tuple takes its members one by one.
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        return {k: mapped(v, function) for k, v in entries.items()}
    return function(value)


def filled(
    structure: Any,
    results: Sequence[Any],
    sizes: Mapping[Atom, Atom],
    inputs: Sequence[TensorBase] = (),
) -> Any:
    """A return value with tensors for its slots, and sizes in other variables."""

    def fill(value: Any) -> Any:
        match value:
            case SymInt():
                return value.substituted(sizes)
            case Slot():
                return results[value.index]
            case Same():
                return inputs[value.tensor] if isinstance(value.tensor, int) else value.tensor
            case _:
                return value

    return mapped(structure, fill)
