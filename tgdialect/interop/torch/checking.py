"""`options={"check": True}`: the results of each part are compared with PyTorch's, and the first op
whose value differs is named."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyTorch's types are partial.

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_map_only as map_only

from tgdialect.actions.check import CheckedExecutable, CheckError
from tgdialect.actions.compare import TOLERANCES
from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.complex_values import Complex, as_real
from tgdialect.interop.torch.part import Part
from tgdialect.interop.torch.reporting import location_of
from tgdialect.interop.torch.translation import Translator, bound, name_of

aten = torch.ops.aten


NOISE = 8.0
"""The ratio of two rounding errors to the same f64 value from which on one is no rounding error.
Larger: small errors are missed where PyTorch has large ones; smaller: sums in another order are
reported."""


class WrongResult(RuntimeError):
    """A compiled part computes other values than PyTorch."""


class Checked:
    """A part that is compared with PyTorch in each call."""

    def __init__(
        self, part: Part, module: GraphModule, name: str, folder: Path, only_warns: bool
    ) -> None:
        self._part = part
        self._module = module
        self._name = name
        self._folder = folder
        self._only_warns = only_warns

    def __call__(self, inputs: list[Any]) -> list[Any]:
        given = [_copied(value) for value in inputs]
        values = _Values(self._module, [_copied(value) for value in inputs])
        kernel = ""
        try:
            found = self._part(inputs)
        except CheckError as error:
            kernel = str(error)
            for value, before in zip(inputs, given, strict=True):
                if isinstance(value, torch.Tensor):
                    value.detach().copy_(before)
            with cast(CheckedExecutable, self._part.executable).unchecked():
                found = self._part(inputs)
        pairs = list(zip(values.returned, found, strict=True))
        written = [n for n in self._module.graph.nodes if n.target is aten.copy_.default]
        places = self._module.graph.find_nodes(op="placeholder")
        pairs += [(node, inputs[places.index(node.args[0])]) for node in written]
        for node, value in pairs:
            if isinstance(node, Node) and (error := difference(value, values[node])):
                if is_noise(self._module, given, node, value, values[node]):
                    continue
                self._report(node, error, values, given, kernel)
                break
        else:
            if kernel:
                self._say(f"{self._name}: {kernel}")
        return found

    def _report(
        self, node: Node, error: str, values: _Values, inputs: Sequence[Any], kernel: str
    ) -> None:
        file = self._folder / f"{self._name}.mlir"
        self._folder.mkdir(parents=True, exist_ok=True)
        file.write_text(self._part.text)
        message = f"{node.name} of {self._name} differs from PyTorch's: {error}"
        first = first_wrong_op(self._module, values) or first_wrong_prefix(
            self._module, values, inputs
        )
        if first is not None:
            wrong, how = first
            where = location_of(wrong)
            message += f"\n  the first op that differs: {wrong.name}, {name_of(wrong)}: {how}"
            message += f"\n  {where}" if where else ""
        message += f"\n  the program: {file}"
        message += f"\n  {kernel}" if kernel else ""
        self._say(message)

    def _say(self, message: str) -> None:
        if not self._only_warns:
            raise WrongResult(message)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


class _Values(Interpreter):
    """The values of all nodes of a graph as PyTorch computes them."""

    def __init__(self, module: GraphModule, inputs: Sequence[Any]) -> None:
        super().__init__(module, garbage_collect_values=False)
        (output,) = module.graph.find_nodes(op="output")
        returned = output.args[0]
        self.returned: list[Any] = (
            list(returned) if isinstance(returned, list | tuple) else [returned]
        )
        with torch.no_grad():
            self.run(*inputs)

    def __getitem__(self, node: Node) -> Any:
        return self.env[node]


class _WideValues(_Values):
    """The same in f64 and complex128, whatever dtypes the graph asks for."""

    def run_node(self, n: Node) -> Any:
        return map_only(torch.Tensor, _wide, super().run_node(n))

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = map_only(torch.dtype, _wide_dtype, (args, kwargs))
        return super().call_function(target, args, kwargs)


def _wide_dtype(dtype: torch.dtype) -> torch.dtype:
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else dtype


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(_wide_dtype(tensor.dtype))


def is_noise(
    module: GraphModule, inputs: Sequence[Any], node: Node, found: Any, wanted: Any
) -> bool:
    """Whether a value is about as near to that in f64 as PyTorch's is: both are what rounding has
    left, as in a gradient that is 0."""
    if not isinstance(wanted, torch.Tensor) or found.shape != wanted.shape:
        return False
    if not (wanted.is_floating_point() or wanted.is_complex()):
        return False
    try:
        exact = _WideValues(module, [_copied(value) for value in inputs])[node]
    except Exception:  # An op that has no f64.
        return False
    ours, its = (float((_wide(value) - exact).abs().max()) for value in (found, wanted))
    return ours <= NOISE * its


def first_wrong_op(module: GraphModule, values: _Values) -> tuple[Node, str] | None:
    """The first op whose translation, alone, gives another value than PyTorch's for PyTorch's
    operands; None if there is none. Also says how it differs."""
    ours: Callable[[Node], Any] = lambda node: _ours(values[node])  # noqa: E731
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not aten.copy_.default:
            value = Translator().value(node, ours)
            if error := _difference_of(value, values[node]):
                return node, error
    return None


def first_wrong_prefix(
    module: GraphModule, values: _Values, inputs: Sequence[Any]
) -> tuple[Node, str] | None:
    """The first op whose value is wrong in a program that ends with it, found by bisection."""
    nodes = [
        node
        for node in module.graph.nodes
        if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    nodes = [node for node in nodes if node.target is not aten.copy_.default]

    def error_of(node: Node) -> str:
        (value,) = Part(ending_with(module, node))([_copied(each) for each in inputs])
        return difference(value, values[node])

    low, high = 0, len(nodes) - 1
    if high < 0 or not (last := error_of(nodes[high])):
        return None
    found = nodes[high], f"in the program, though not alone: {last}"
    while low < high:
        middle = (low + high) // 2
        if error := error_of(nodes[middle]):
            high, found = middle, (nodes[middle], f"in the program, though not alone: {error}")
        else:
            low = middle + 1
    return found


def ending_with(module: GraphModule, last: Node) -> GraphModule:
    """A graph with the value of one of its nodes as its only result."""
    graph = torch.fx.Graph()
    copies: dict[Node, Node] = {}
    for node in module.graph.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
        if node is last:
            break
    graph.output((copies[last],))
    graph.eliminate_dead_code()
    return GraphModule(module, graph)


def difference(found: Any, wanted: Any) -> str:
    """How a value differs from PyTorch's; empty if it does not.

    Floats may differ by `TOLERANCES` of the value and of the greatest one of the tensor: the least
    room with which no model of test/unit/interop/torch is reported.
    """
    if not isinstance(wanted, torch.Tensor):
        return "" if found == wanted else f"{found} and not {wanted}"
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return (
            f"{found.dtype} of shape {tuple(found.shape)} and not {wanted.dtype} of shape "
            f"{tuple(wanted.shape)}"
        )
    if not wanted.numel():
        return ""
    if not (wanted.is_floating_point() or wanted.is_complex()):
        count = int((found != wanted).sum())
        return f"{count} of {wanted.numel()} elements" if count else ""
    if wanted.is_complex():
        return difference(as_real(found), as_real(wanted))
    a, b = found.double(), wanted.double()
    magnitude = b.abs().nan_to_num(0, 0, 0)
    tolerance = TOLERANCES[str(wanted.dtype).removeprefix("torch.")] * (magnitude + magnitude.max())
    is_same = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= tolerance)
    if bool(is_same.all()):
        return ""
    place = tuple(int(i) for i in (~is_same).nonzero()[0])
    return (
        f"{int((~is_same).sum())} of {wanted.numel()} elements, at {list(place)} "
        f"{a[place].item():.9g} and not {b[place].item():.9g}"
    )


def _difference_of(value: Any, wanted: Any) -> str:
    """`difference` of a value of ours, or of several."""
    if isinstance(wanted, list | tuple):
        errors = (_difference_of(a, b) for a, b in zip(value, wanted, strict=True))
        return next(filter(None, errors), "")
    if isinstance(value, Complex):
        return _difference_of(value.pairs(), as_real(wanted))
    if not isinstance(value, Tensor):
        return "" if value is None else difference(value, wanted)
    array = value.numpy()
    if array.dtype.name == "bfloat16":
        return difference(torch.from_numpy(array.view(np.int16)).view(torch.bfloat16), wanted)
    return difference(torch.from_numpy(array), wanted)


def _ours(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return bound(Tensor(array_of(as_real(value.detach().resolve_neg()).contiguous())), value)
    if isinstance(value, list | tuple):
        return [_ours(each) for each in value]
    if isinstance(value, GraphModule):
        return Translator().function(value)
    return value


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value
