"""A part of a graph as a compiled program, which is called with PyTorch's tensors.

A program reads and writes contiguous arrays. A tensor whose axes lie in memory in another order is
an array with its axes in that order, and one that repeats its cells is an array of these cells: so
neither is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch.fx import Graph, GraphModule, Node

from tgdialect.frontend.symbolic import Atom, SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.traced import Traced, trace
from tgdialect.frontend.tracing import Inputs, Slot
from tgdialect.interop.torch.dtypes import ours
from tgdialect.interop.torch.rules import Refusal
from tgdialect.interop.torch.sizes import expression_of
from tgdialect.interop.torch.translation import Translator
from tgdialect.runtime import compiler
from tgdialect.runtime.dlpack import host_array

Run = Callable[[list[Any]], list[Any]]
"""A part: takes the list of its inputs, which it may empty, and returns its results."""


# -- layouts -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """How the axes of a tensor lie in memory: `order` has them from the outermost on, and those in
    `repeated` have one cell that stands for all."""

    order: tuple[int, ...]
    repeated: tuple[int, ...] = ()

    @property
    def inverse(self) -> tuple[int, ...]:
        return tuple(self.order.index(axis) for axis in range(len(self.order)))

    @property
    def is_plain(self) -> bool:
        """Whether it is that of a contiguous tensor."""
        return not self.repeated and self.order == tuple(range(len(self.order)))


def layout_of(value: torch.Tensor) -> Layout:
    """The layout of a tensor that PyTorch has traced; that of a contiguous one if it has gaps, or
    if it depends on sizes whether it has."""
    plain = Layout(tuple(range(value.ndim)))
    shape = [expression_of(extent) for extent in value.shape]
    strides = [expression_of(stride) for stride in value.stride()]
    repeated = tuple(a for a in range(value.ndim) if strides[a] == 0 and shape[a] != 1)
    if any(extent == 0 for extent in shape):
        return plain
    hints = [_hint(stride) for stride in value.stride()]
    # Axes of one cell lie anywhere: they stay where they are relative to the others.
    order = sorted(range(value.ndim), key=lambda axis: -hints[axis])
    extents = {axis: 1 if axis in repeated else shape[axis] for axis in order}
    expected: Any = 1
    for axis in reversed(order):
        if extents[axis] == 1:
            continue
        if strides[axis] != expected and (strides[axis] - expected).simplify() != 0:
            return plain
        expected *= extents[axis]
    found = Layout(tuple(order), repeated)
    if not repeated and _is_contiguous(shape, strides):
        return plain
    return found


def _is_contiguous(shape: Sequence[Any], strides: Sequence[Any]) -> bool:
    expected: Any = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _hint(size: int | torch.SymInt) -> int:
    return int(size.node.hint or 0) if isinstance(size, torch.SymInt) else size


# -- compiling -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Result:
    """A result of the program: its dtype, its extents in memory, and how it is viewed."""

    dtype: torch.dtype
    layout: Layout
    shape: tuple[Any, ...]


class Part:
    """A compiled part of a graph.

    Call it with the list of its inputs: tensors and sizes. It returns the list of its results.
    """

    def __init__(self, module: GraphModule) -> None:
        """Compile a graph of ATen ops. Raises Refusal where it cannot be, and CompilationError."""
        self._module = module
        graph = module.graph
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        self._inputs = [node.meta["val"] for node in placeholders]
        (returned,) = (node.args[0] for node in graph.nodes if node.op == "output")
        is_one = isinstance(returned, Node)
        self._returns_one = is_one
        self._returned: list[Any] = [returned] if is_one else list(cast("Sequence[Any]", returned))
        # Results that are views of inputs, which PyTorch makes, and those of the program.
        self._views = {r: view for r in self._returned if (view := _as_view(r)) is not None}
        wanted = dict.fromkeys(
            r for r in self._returned if isinstance(r, Node) and r not in self._views
        )
        self._results = list(wanted)
        self._sizes_returned = [r for r in self._results if not _is_tensor(r)]
        self._tensors_returned = [r for r in self._results if _is_tensor(r)]
        self._placeholders = placeholders
        self._layouts = [
            layout_of(v) if isinstance(v, torch.Tensor) else None for v in self._inputs
        ]
        self._result_layouts = [layout_of(r.meta["val"]) for r in self._tensors_returned]
        if self._results:
            self._compile(graph)

    def _compile(self, graph: Graph) -> None:
        translator = Translator()
        # The program's arguments: the tensors as they lie in memory, and sizes.
        used = [bool(node.users) for node in self._placeholders]
        arguments: list[Any] = []
        for value, layout, is_used in zip(self._inputs, self._layouts, used, strict=True):
            if isinstance(value, torch.Tensor) and is_used:
                assert layout is not None
                shape = [
                    1 if axis in layout.repeated else value.shape[axis] for axis in layout.order
                ]
                arguments.append(translator.tensor(shape, ours(value.dtype)))
            else:
                arguments.append(translator.stand_in(value) if is_used else None)
        # The shapes of those that repeat cells, also in terms of the program's sizes.
        shapes = [
            tuple(map(translator.stand_in, value.shape)) if layout and layout.repeated else ()
            for value, layout in zip(self._inputs, self._layouts, strict=True)
        ]

        def program(given: Sequence[Any], shapes: Sequence[Any]) -> Any:
            values = [
                _viewed(value, cast(Layout, layout), shape) if isinstance(value, Tensor) else value
                for value, layout, shape in zip(given, self._layouts, shapes, strict=True)
            ]
            found = translator.outputs(_returning(graph, self._results), values)
            tensors = [
                _laid_out(value, layout)
                for value, layout in zip(
                    [v for v, r in zip(found, self._results, strict=True) if _is_tensor(r)],
                    self._result_layouts,
                    strict=True,
                )
            ]
            sizes = [v for v, r in zip(found, self._results, strict=True) if not _is_tensor(r)]
            return tensors, sizes

        given = (tuple(arguments), tuple(shapes))
        inputs = Inputs(Tensor, (given, {}))
        traced: Traced[Any] = trace(
            program, given, {}, inputs, lambda module, _: module, is_program=True
        )
        self._traced = traced
        self._positions = [i for i, a in enumerate(arguments) if isinstance(a, Tensor)]
        self._atoms = dict(zip(inputs.atoms, traced.sizes, strict=True))
        self.source = str(traced.executable)
        self._structure = traced.structure
        if traced.kinds:
            self.executable = cast(Any, compiler.compile(traced.executable, is_verified=True))
        else:
            self.executable = None
        self._symbols = self._sources_of_sizes()

    def _sources_of_sizes(self) -> list[tuple[Atom, Callable[[Sequence[Any]], int]]]:
        """How each variable of the program is read off the inputs."""
        found: list[tuple[Atom, Callable[[Sequence[Any]], int]]] = []
        for atom in self._traced.sizes:
            found.append((atom, self._source_of(atom.variable.name)))
        return found

    def _source_of(self, name: str) -> Callable[[Sequence[Any]], int]:
        for i, value in enumerate(self._inputs):
            if isinstance(value, torch.SymInt) and str(value.node.expr) == name:
                return lambda inputs, i=i: inputs[i]
        for i, value in enumerate(self._inputs):
            if isinstance(value, torch.Tensor):
                for axis, extent in enumerate(value.shape):
                    if isinstance(extent, torch.SymInt) and str(extent.node.expr) == name:
                        return lambda inputs, i=i, axis=axis: inputs[i].shape[axis]
        # An extent such as 2 * n + 1 says what n is.
        for i, value in enumerate(self._inputs):
            extents = list(value.shape) if isinstance(value, torch.Tensor) else [value]
            for axis, extent in enumerate(extents):
                if not isinstance(extent, torch.SymInt):
                    continue
                expression = extent.node.expr
                symbols = expression.free_symbols
                if [str(s) for s in symbols] != [name]:
                    continue
                (symbol,) = symbols
                slope, rest = expression.coeff(symbol, 1), expression.coeff(symbol, 0)
                if not (slope.is_Integer and rest.is_Integer and slope != 0):
                    continue
                if expression != slope * symbol + rest:
                    continue
                a, b = int(slope), int(rest)
                if isinstance(value, torch.Tensor):
                    return lambda inputs, i=i, axis=axis, a=a, b=b: (inputs[i].shape[axis] - b) // a
                return lambda inputs, i=i, a=a, b=b: (inputs[i] - b) // a
        raise Refusal(f"no input of this part says how large {name} is")

    # -- calls -----------------------------------------------------------------------------------

    def __call__(self, inputs: list[Any]) -> list[Any]:
        values: dict[Any, Any] = {}
        for result, view in self._views.items():
            values[result] = view(dict(zip(self._placeholders, inputs, strict=True)))
        if self._results:
            values.update(self._computed(inputs))
        return [values[r] if isinstance(r, Node) else r for r in self._returned]

    def _computed(self, inputs: Sequence[Any]) -> dict[Any, Any]:
        traced = self._traced
        sizes = {atom: Atom(atom.variable, int(source(inputs))) for atom, source in self._symbols}
        values: dict[Any, Any] = {}
        found_tensors, found_sizes = self._structure
        if self.executable is not None:
            arrays: list[Any] = []
            for i in self._positions:
                arrays.append(_array(inputs[i], cast(Layout, self._layouts[i])))
            given = [
                *arrays,
                *(sizes[atom].value for atom in traced.sizes),
                *(t.node.data for t in traced.implicit),
                *(
                    size.substituted(sizes).value
                    for size in (*traced.argument_sizes, *traced.result_sizes)
                ),
            ]
            results = self.executable(*given)
            if not isinstance(results, tuple):
                results = (results,)
            for node, slot, layout in zip(
                self._tensors_returned, found_tensors, self._result_layouts, strict=True
            ):
                assert isinstance(slot, Slot)
                values[node] = _tensor(results[slot.index], node.meta["val"], layout, sizes)
        for node, size in zip(self._sizes_returned, found_sizes, strict=True):
            values[node] = size.substituted(sizes).value if isinstance(size, SymInt) else size
        return values


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _returning(graph: Graph, results: Sequence[Node]) -> Graph:
    """The graph with other results."""
    return _Returning(graph, results)  # type: ignore[return-value]


class _Returning:
    """A graph with other results, which is not copied. Nodes that these do not need are left
    out."""

    def __init__(self, graph: Graph, results: Sequence[Node]) -> None:
        needed: set[Node] = set(results)
        for node in reversed(graph.nodes):
            if node in needed:
                needed.update(node.all_input_nodes)
        self.nodes = [n for n in graph.nodes if n.op == "placeholder" or n in needed]
        self.nodes.append(_Output(results))


class _Output:
    op = "output"

    def __init__(self, results: Sequence[Node]) -> None:
        self.args = (list(results),)


def _as_view(result: Any) -> Callable[[dict[Node, Any]], Any] | None:
    """How PyTorch makes a result from an input by views alone; None if it does not."""
    if not isinstance(result, Node):
        return None
    chain: list[Node] = []
    node = result
    while node.op != "placeholder":
        if node.op != "call_function" or not _is_view(node):
            return None
        chain.append(node)
        node = cast(Node, node.args[0])
    if any(isinstance(a, Node) for n in chain for a in _leaves(n.args[1:])):
        return None
    if not chain:
        return lambda values: values[node]

    def view(values: dict[Node, Any]) -> Any:
        value = values[node]
        for each in reversed(chain):
            value = each.target(value, *each.args[1:], **each.kwargs)
        return value

    return view


def _leaves(values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return [leaf for value in values for leaf in _leaves(value)]
    return [values]


def _is_view(node: Node) -> bool:
    """Whether an op's only result is a view of its first argument, whatever its strides are."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or len(target._schema.returns) != 1:
        return False
    info = target._schema.returns[0].alias_info
    return info is not None and not info.is_write and isinstance(node.args[0], Node)


def _viewed(value: Tensor, layout: Layout, shape: Sequence[Any]) -> Tensor:
    """An argument as it lies in memory, as the tensor that it stands for."""
    if layout.is_plain:
        return value
    value = value.permute(layout.inverse)
    return value.expand(tuple(shape)) if layout.repeated else value


def _laid_out(value: Tensor, layout: Layout) -> Tensor:
    """A result as it is to lie in memory."""
    if layout.is_plain:
        return value
    for axis in layout.repeated:
        value = value[(*[slice(None)] * axis, slice(0, 1))]
    return value.permute(layout.order)


def _array(value: torch.Tensor, layout: Layout) -> np.ndarray[Any, Any]:
    """A tensor as an array as the program takes it, in its memory if it lies there so."""
    value = value.detach()
    if value.is_neg():
        value = value.resolve_neg()
    if not layout.is_plain:
        for axis in layout.repeated:
            value = value.narrow(axis, 0, 1)
        value = value.permute(layout.order)
    return host_array(value if value.is_contiguous() else value.contiguous())


def _tensor(array: Any, like: torch.Tensor, layout: Layout, sizes: Any) -> torch.Tensor:
    """A result of the program as a tensor with PyTorch's layout."""
    if like.dtype is torch.bfloat16:
        value = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    else:
        value = torch.from_numpy(array)
    if layout.is_plain:
        return value
    value = value.permute(layout.inverse)
    if layout.repeated:
        shape = [-1 if a not in layout.repeated else 0 for a in range(value.ndim)]
        for axis in layout.repeated:
            shape[axis] = int(like.shape[axis])
        value = value.expand(shape)
    return value
