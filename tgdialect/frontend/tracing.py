"""Running a function on tensors whose values are not known, and noting what it changes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tgdialect.frontend.graph import Node
from tgdialect.ops.source import ParamOp

if TYPE_CHECKING:
    from tgdialect.frontend.tensor import Tensor


@dataclass
class Trace:
    """What happens while a function is traced."""

    changed: dict[Tensor, Node] = field(default_factory=dict["Tensor", Node])
    """The tensors that were given another value, and what they were before."""


_traces: list[Trace] = []


def parameter(slot: int, type: TensorType[Attribute], is_tracked: bool) -> Node:
    """A value that is not known."""
    return Node(ParamOp(slot, type), (), type, None, is_tracked)


def is_parameter(node: Node) -> bool:
    """Whether a node is the parameter of a function that is being traced."""
    return isinstance(node.prototype, ParamOp)


def is_tracing() -> bool:
    """Whether a function is being traced."""
    return bool(_traces)


@contextmanager
def tracing() -> Generator[Trace]:
    """A context in which changes of tensors are noted, and undone at its end."""
    trace = Trace()
    _traces.append(trace)
    try:
        yield trace
    finally:
        _traces.pop()


def note_change(tensor: Tensor) -> None:
    """A tensor is about to be given another value."""
    if _traces:
        _traces[-1].changed.setdefault(tensor, tensor.node)
