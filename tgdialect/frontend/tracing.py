"""Tracing: runs a function on tensors without values, and records its assignments to tensors."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import get_ident
from weakref import ref

from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.graph import INDEX_TYPE, Node, register_size
from tgdialect.frontend.symbolic import Atom, SymInt, Variable, substituted
from tgdialect.ops import tg


@dataclass(eq=False)
class Trace:
    """The assignments to tensors on a thread while it traces a function."""

    thread: int = field(default_factory=get_ident)
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

    def changed(self) -> list[tuple[TensorBase, Node]]:
        """The tensors that were assigned to, and their former nodes."""
        living = [(tensor(), node) for tensor, node in self.before.values()]
        return [(t, node) for t, node in living if t is not None and t.node is not node]


_traces: list[Trace] = []
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
    return bool(_traces) and _innermost() is not None


def _innermost() -> Trace | None:
    """The innermost active trace of this thread."""
    here = get_ident()
    return next((trace for trace in reversed(_traces) if trace.thread == here), None)


@contextmanager
def tracing() -> Generator[Trace]:
    """A context in which assignments to tensors are recorded. They are undone at its end, as is
    the setting of gradients: their values are known inside only."""
    trace = Trace()
    _traces.append(trace)
    try:
        yield trace
    finally:
        _traces.remove(trace)
        for tensor, node in trace.changed():
            tensor.node = node
        for tensor, gradient in trace.gradients.values():
            if (owner := tensor()) is not None:
                owner.grad = gradient


def note_gradient(tensor: TensorBase) -> None:
    """Tell this thread's trace, if any, that the `grad` of a tensor is about to be set."""
    if _traces and (trace := _innermost()) is not None:
        trace.gradients.setdefault(id(tensor), (ref(tensor), tensor.grad))


def note_change(tensor: TensorBase) -> None:
    """Tell this thread's trace, if any, that a tensor is about to be assigned to."""
    if _traces and (trace := _innermost()) is not None:
        trace.note_change(tensor)
