"""PyTorch's symbolic sizes, which are expressions of SymPy, as ours."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false
# PyTorch's types are partial.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import add, mul
from typing import Any

import sympy
import torch

from tgdialect.frontend.graph import Node
from tgdialect.frontend.lowered import DEFAULT_BOUNDS
from tgdialect.frontend.symbolic import Dim, SymInt, Variable, larger, smaller
from tgdialect.frontend.tracing import size_parameter
from tgdialect.interop.torch.rules import Refusal

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda *sizes: reduce(add, sizes),
    "Mul": lambda *sizes: reduce(mul, sizes),
    "Pow": lambda a, b: a**b,
    "FloorDiv": lambda a, b: a // b,
    "CleanDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
    "Max": lambda *sizes: reduce(larger, sizes),
    "Min": lambda *sizes: reduce(smaller, sizes),
}
"""Functions of sizes by the names of SymPy's classes, PyTorch's own among them."""


_BITS = 48
"""The bits of the greatest product of all sizes of a part, which leaves 15 for the static extents:
index arithmetic has 63. Larger: calls of greater sizes are within the bounds; smaller: more
programs of several sizes fit."""


def greatest_size(count: int) -> int:
    """The bound of each of so many sizes, where PyTorch knows none."""
    return min(DEFAULT_BOUNDS[1], 2 ** (_BITS // max(count, 1)))


def expression_of(size: int | torch.SymInt) -> Any:
    """A size as an expression of SymPy."""
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def symbols_of(values: Iterable[Any]) -> set[Any]:
    """The symbols in sizes, and in the shapes of tensors."""
    found: set[Any] = set()
    for value in values:
        extents = value.shape if isinstance(value, torch.Tensor) else (value,)
        for extent in extents:
            if isinstance(extent, torch.SymInt):
                found |= extent.node.expr.free_symbols
    return found


def is_data_dependent(size: Any) -> bool:
    """Whether a size depends on the elements of a tensor."""
    if not isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
        return False
    return any(size.node.shape_env.is_unbacked_symint(s) for s in size.node.expr.free_symbols)


class Symbols:
    """The symbols of a graph as variables without values."""

    def __init__(self, names: Mapping[str, str] = {}, most: int = DEFAULT_BOUNDS[1]) -> None:
        """`names` are other names for symbols, and `most` is their greatest value if PyTorch knows
        none."""
        self._names = names
        self._most = most
        self._variables: dict[Any, SymInt] = {}
        self._nodes: list[Node] = []
        """The nodes of the variables, which are needed as long as these are used."""

    def of(self, size: int | torch.SymInt) -> Dim:
        """A size of PyTorch. Raises Refusal for one that ours cannot express."""
        if not isinstance(size, torch.SymInt):
            return size
        try:
            return self._dim(size.node.expr, size.node.shape_env)
        except (TypeError, ValueError) as error:
            raise Refusal(f"the size {size} is not expressible: {error}") from None

    def _dim(self, expression: Any, shape_env: Any) -> Dim:
        if isinstance(expression, sympy.Integer):
            return int(expression)
        if isinstance(expression, sympy.Symbol):
            if expression not in self._variables:
                atom, node = size_parameter(self._variable(expression, shape_env))
                self._variables[expression] = SymInt.of(atom)
                self._nodes.append(node)
            return self._variables[expression]
        function = _FUNCTIONS.get(type(expression).__name__)
        if function is None:
            raise Refusal(f"no size is a {type(expression).__name__}, as {expression}")
        return function(*(self._dim(argument, shape_env) for argument in expression.args))

    def _variable(self, symbol: Any, shape_env: Any) -> Variable:
        """A symbol with its bounds."""
        low, high = DEFAULT_BOUNDS[0], self._most
        known = shape_env.var_to_range.get(symbol)
        if known is not None:
            low = max(0, int(known.lower)) if known.lower.is_Integer else 0
            high = max(low, int(known.upper)) if known.upper.is_Integer else high
            high = min(high, DEFAULT_BOUNDS[1])
        return Variable(self._names.get(symbol.name, symbol.name), low, high)
