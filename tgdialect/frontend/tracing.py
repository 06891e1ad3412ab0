"""Running a function on tensors whose values are not known, and noting what it changes."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import get_ident
from typing import TYPE_CHECKING

from tgdialect.frontend.graph import INDEX_TYPE, Node, register_size
from tgdialect.frontend.symbolic import Atom, SymInt, Variable, substituted
from tgdialect.ops.source import ParamOp

if TYPE_CHECKING:
    from tgdialect.frontend.tensor import Tensor


@dataclass(eq=False)
class Trace:
    """What happens on a thread while it traces a function."""

    changed: dict[Tensor, Node] = field(default_factory=dict["Tensor", Node])
    """The tensors that were given another value, and what they were before."""
    thread: int = field(default_factory=get_ident)


_traces: list[Trace] = []
_numbers = count()
_ANY_PARAMETER = ParamOp(0, INDEX_TYPE)
"""What the prototype of all parameters is: where they are among the others is their function's."""


def parameter(like: Node, atoms: Mapping[Atom, Atom]) -> Node:
    """A value that is not known, with parameters for the variables in its shape."""
    extents = substituted(like.extents, atoms)
    return Node(_ANY_PARAMETER, (), like.type, None, like.is_tracked, extents)


def size_parameter(variable: Variable) -> tuple[Atom, Node]:
    """A size that is not known."""
    atom = Atom(variable, None, next(_numbers))
    node = Node(_ANY_PARAMETER, (), INDEX_TYPE)
    register_size(SymInt.of(atom), node)
    return atom, node


def is_parameter(node: Node) -> bool:
    """Whether a node is the parameter of a function that is being traced."""
    return isinstance(node.prototype, ParamOp)


def is_tracing() -> bool:
    """Whether this thread is tracing a function."""
    return bool(_traces) and _innermost() is not None


def _innermost() -> Trace | None:
    """The last of this thread's traces that have not ended."""
    here = get_ident()
    return next((trace for trace in reversed(_traces) if trace.thread == here), None)


@contextmanager
def tracing() -> Generator[Trace]:
    """A context in which changes of tensors are noted, and undone at its end."""
    trace = Trace()
    _traces.append(trace)
    try:
        yield trace
    finally:
        _traces.remove(trace)
        for tensor, node in trace.changed.items():
            tensor.node = node


def note_change(tensor: Tensor) -> None:
    """A tensor is about to be given another value."""
    if _traces and (trace := _innermost()) is not None:
        trace.changed.setdefault(tensor, tensor.node)
