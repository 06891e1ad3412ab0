"""How an operator of ONNX is written down: `Rules`, a row of the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

    from tgdialect.frontend.symbolic import Dim
    from tgdialect.frontend.tensor import Tensor
    from tgdialect.interop.onnx.values import Value
    from tgdialect.ops.numpy_dtypes import Array


@dataclass(frozen=True)
class OperatorRule:
    """How the results of an operator are made: `function(*operands, **attributes)` returns a value,
    or a tuple of one for each result.

    Operands are tensors; those in `known` are arrays of NumPy with their elements, of which some
    may be symbolic sizes; an operand that is left out is None, or is not passed at the end.
    Attributes have the operator's defaults. With `raw` the function gets a `NodeCall`, and
    operands as they are.
    """

    function: Callable[..., Any]
    known: tuple[int, ...] = ()
    raw: bool = False


Rules = Mapping[str, Mapping[int, Callable[..., Any] | OperatorRule]]
"""By the name of an operator, and the opset since which it holds: its rule."""


def known(function: Callable[..., Any], *positions: int) -> OperatorRule:
    """A rule whose operands at these positions have to be known."""
    return OperatorRule(function, positions)


def raw(function: Callable[..., Any]) -> OperatorRule:
    """A rule that gets a `NodeCall` first, and operands as they are."""
    return OperatorRule(function, raw=True)


class NodeCall(ABC):
    """A node that is imported: what a raw rule may ask of the importer."""

    node: NodeProto
    opset: int
    """The version of the operator's domain."""

    @abstractmethod
    def known(self, value: Value, name: str) -> Array:
        """The elements of a value, of an operand of this name. Raises Undecided."""

    @abstractmethod
    def count(self, value: Tensor, most: Dim, name: str) -> Any:
        """A number that the program computes, up to `most`, as a size: 0, or a symbolic size.
        Raises Undecided."""

    @abstractmethod
    def sign(self, a: Dim, b: Dim) -> int:
        """The sign of a - b. Raises Undecided if it depends on variables."""

    @abstractmethod
    def graph(self, graph: GraphProto, operands: Sequence[Value]) -> list[Value]:
        """The results of a graph of an attribute, which sees the values around the node."""

    @property
    @abstractmethod
    def is_for_all(self) -> bool:
        """Whether the program is for all calls, so that no question has an answer."""

    @abstractmethod
    def step(self) -> AbstractContextManager[None]:
        """A context for the step of a loop, in which questions about values that differ between
        steps raise DependsOnStep."""

    @abstractmethod
    def attempt(self, function: Callable[[], Any]) -> Any:
        """The result of a function; None if it refuses nodes, raises Refused, ValueError or
        TypeError, or a question depends on a step. Within a step all of these are raised."""

    @property
    @abstractmethod
    def is_in_step(self) -> bool:
        """Whether the node is in a step of a loop."""
