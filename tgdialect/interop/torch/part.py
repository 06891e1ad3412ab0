"""A part of a graph as a compiled program, which is called with PyTorch's tensors."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnnecessaryIsInstance=false, reportPrivateUsage=false
# PyTorch's types are partial.

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp

from tgdialect.frontend.base import named
from tgdialect.frontend.symbolic import Atom, SymInt, value_of
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.traced import Traced, trace
from tgdialect.frontend.tracing import Inputs, Slot
from tgdialect.interop.torch.complex_values import as_real
from tgdialect.interop.torch.dtypes import ours
from tgdialect.interop.torch.layouts import MemoryLayout, layout_of
from tgdialect.interop.torch.reporting import LOG
from tgdialect.interop.torch.rules import Refusal
from tgdialect.interop.torch.sizes import greatest_size, symbols_of
from tgdialect.interop.torch.translation import Translator, bound, unbound
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.source import parameters
from tgdialect.runtime import compiler
from tgdialect.runtime.dlpack import host_array
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.memory import POOL, POOLED_BYTES, address

aten = torch.ops.aten

MOST_SIZES = 64
"""The most values of the sizes of calls for which a part keeps what they decide. Larger: more
memory, a few kB each; smaller: calls whose sizes vary decide again, in tens of microseconds."""

Value = Any
"""An input or a result of a graph: a tensor or a size."""


@dataclass(frozen=True)
class _Input:
    """A tensor among the inputs that the program reads.

    Attributes:
        place: its place among the inputs.
        layout: how it lies in memory.
        strides: the strides that it has then, if its shape is static.
        is_negated: whether PyTorch negates or conjugates what it reads in memory.
    """

    place: int
    layout: MemoryLayout
    strides: tuple[int, ...] | None
    is_negated: bool

    @staticmethod
    def of(place: int, layout: MemoryLayout, like: torch.Tensor) -> _Input:
        """The input that PyTorch has traced as `like`."""
        real = as_real(like)
        is_static = all(isinstance(extent, int) for extent in real.shape)
        strides = layout.strides(real.shape) if is_static else None
        return _Input(place, layout, strides, like.is_neg() or like.is_conj())

    def is_in_place(self, like: torch.Tensor) -> bool:
        """Whether tensors that are traced as `like` lie in memory as the array does."""
        return not self.is_negated and (not self.layout.is_plain or like.is_contiguous())

    def lies_so(self, value: torch.Tensor) -> bool:
        """Whether a tensor's memory is the array that the program takes."""
        if self.is_negated:
            return False
        if self.layout.is_plain:
            return value.is_contiguous()
        return as_real(value).stride() == self.strides

    def laid_out(self, value: torch.Tensor) -> torch.Tensor:
        """A tensor as the array, a copy if its memory is not."""
        return self.layout.array(as_real(value.detach().resolve_neg()))


class Part:
    """A compiled part of a graph.

    Call it with the list of its inputs, tensors and sizes; it returns the list of its results. The
    tensors in `constants`, numbers of inputs, are expected to be the same in each call, so that
    what is derived from them is kept; if one is another tensor, or PyTorch has noted a write to it,
    it is derived anew.
    """

    def __init__(
        self, module: GraphModule, constants: Sequence[int] = (), *, check: bool = False
    ) -> None:
        """Compile a graph of ATen ops; with `check` a call raises CheckError for a wrong kernel.

        Raises Refusal where it cannot be compiled, and CompilationError.
        """
        self._check = check
        graph = module.graph
        self._placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        self._values = [node.meta["val"] for node in self._placeholders]
        (returned,) = (node.args[0] for node in graph.nodes if node.op == "output")
        self._returned: list[Any] = (
            list(cast("Sequence[Any]", returned))
            if isinstance(returned, list | tuple)
            else [returned]
        )
        # Writes to inputs: the new value goes there.
        writes = [node for node in graph.nodes if node.target is aten.copy_.default]
        self._writes: dict[Node, Node] = {
            cast(Node, node.args[0]): cast(Node, node.args[1]) for node in writes
        }
        self._written_as = {node: cast(Node, node.args[0]) for node in writes}
        # Results that are views of inputs, or with others of one value, come from PyTorch.
        chains = {r: self._chain(r) for r in self._returned if isinstance(r, Node)}
        roots = Counter(root for root, _ in chains.values())
        self._views = {
            result: chain
            for result, chain in chains.items()
            if chain[0].op == "placeholder" or (roots[chain[0]] > 1 and chain[1])
        }
        wanted = [r for r in chains if r not in self._views]
        wanted += [root for root, _ in self._views.values() if root.op != "placeholder"]
        wanted = list(dict.fromkeys((*wanted, *self._writes.values())))
        self._tensors = [node for node in wanted if _is_tensor(node)]
        self._sizes = [node for node in wanted if not _is_tensor(node)]
        self._layouts = [_layout_of_result(node.meta["val"]) for node in self._tensors]
        for target, source in self._writes.items():
            # The new value lies in memory as the input does.
            self._layouts[self._tensors.index(source)] = layout_of(as_real(target.meta["val"]))
        self._is_empty = not wanted
        self._constants = frozenset(constants)
        self._sources: Sequence[Callable[[Sequence[Value]], int]] = ()
        self._known: dict[tuple[int, ...], _Plan] = {}
        """By the sizes of a call."""
        self._last: tuple[Sequence[Any], Sequence[object]] = (), ()
        """The constants of the last call: addresses and versions, and objects for arguments."""
        self._module = module
        if wanted:
            self._compile(module, Translator(greatest_size(len(symbols_of(self._values)))))

    # -- compiling -------------------------------------------------------------------------------

    def _compile(self, module: GraphModule, translator: Translator) -> None:
        graph = module.graph
        is_used = [bool(node.users) for node in self._placeholders]
        layouts = [
            layout_of(as_real(v)) if used and isinstance(v, torch.Tensor) else None
            for used, v in zip(is_used, self._values, strict=True)
        ]
        # The program's arguments: tensors as they lie in memory, and sizes.
        arguments: list[Any] = []
        for value, layout, used in zip(self._values, layouts, is_used, strict=True):
            if layout is not None:
                real = as_real(value)
                arguments.append(translator.tensor(layout.extents(real.shape), ours(real.dtype)))
            else:
                arguments.append(translator.stand_in(value) if used else None)
        # The shapes of those that repeat cells, also in terms of the program's sizes.
        shapes = [
            tuple(map(translator.stand_in, as_real(value).shape))
            if layout and layout.repeated
            else ()
            for value, layout in zip(self._values, layouts, strict=True)
        ]

        def program(given: Sequence[Any], shapes: Sequence[Any]) -> Any:
            values = [
                value
                if layout is None
                else bound(layout.of_array(named(value, node.name), shape), node.meta["val"])
                for node, value, layout, shape in zip(
                    self._placeholders, given, layouts, shapes, strict=True
                )
            ]
            found = translator.values(graph, values, [*self._tensors, *self._sizes])
            tensors = [
                layout.laid_out(unbound(value))
                for value, layout in zip(found, self._layouts, strict=False)
            ]
            return tensors, found[len(tensors) :]

        given = (tuple(arguments), tuple(shapes))
        inputs = Inputs(Tensor, (given, {}))
        self._traced: Traced[ModuleOp] = trace(
            program, given, {}, inputs, lambda module, _: module, is_program=True
        )
        self._read = [
            _Input.of(place, layout, self._values[place])
            for place, layout in enumerate(layouts)
            if layout is not None
        ]
        self._sources = [self._source(atom.variable.name) for atom in self._traced.sizes]
        source = self._traced.executable
        assert source is not None
        self._mark(source)
        self.text = str(source)
        self.executable = (
            cast(Executable, compiler.compile(source, is_verified=True, check=self._check))
            if self._traced.kinds
            else None
        )
        self._constants_read = [read for read in self._read if read.place in self._constants]

    def _mark(self, source: ModuleOp) -> None:
        """Mark the arguments of a program that are constant, and those whose memory takes the new
        value of an input."""
        numbers = {node: number for number, node in enumerate(self._tensors)}
        (function,) = (op for op in source.ops if isinstance(op, FuncOp))
        for op in parameters(function.body.block):
            if (slot := op.slot.data) >= len(self._read):
                continue
            read = self._read[slot]
            place = read.place
            if (new := self._writes.get(self._placeholders[place])) is not None:
                # PyTorch writes, after the call, to arguments that the program takes as copies.
                if read.is_in_place(self._values[place]):
                    op.attributes["tg.donated"] = IntegerAttr(numbers[new], 64)
            elif place in self._constants:
                op.attributes["tg.constant"] = UnitAttr()

    def _source(self, name: str) -> Callable[[Sequence[Value]], int]:
        """How the value of a symbol is read off the inputs. Raises Refusal if it cannot be."""
        sizes: list[tuple[Any, Callable[[Sequence[Value]], int]]] = []
        for place, value in enumerate(self._values):
            if isinstance(value, torch.SymInt):
                sizes.append((value.node.expr, lambda inputs, place=place: inputs[place]))
            elif isinstance(value, torch.Tensor):
                for axis, extent in enumerate(value.shape):
                    if isinstance(extent, torch.SymInt):
                        sizes.append(
                            (
                                extent.node.expr,
                                lambda inputs, place=place, axis=axis: inputs[place].shape[axis],
                            )
                        )
        for expression, read in sizes:
            if str(expression) == name:
                return read
        # An extent such as 2 * n + 1 says what n is.
        for expression, read in sizes:
            if [str(symbol) for symbol in expression.free_symbols] != [name]:
                continue
            (symbol,) = expression.free_symbols
            slope, rest = expression.coeff(symbol, 1), expression.coeff(symbol, 0)
            is_linear = slope.is_Integer and rest.is_Integer and slope != 0
            if is_linear and expression == slope * symbol + rest:
                a, b = int(slope), int(rest)
                return lambda inputs, read=read, a=a, b=b: (read(inputs) - b) // a
        raise Refusal(f"no input of this part says how large {name} is")

    # -- results ---------------------------------------------------------------------------------

    def _chain(self, result: Node) -> tuple[Node, Sequence[Node]]:
        """The value that a result is a view of, and the ops that make the view; the result itself
        without ops if it is no view."""
        chain: list[Node] = []
        node = self._written_as.get(result, result)
        while _is_view(node):
            chain.append(node)
            node = cast(Node, node.args[0])
        if node in self._writes and chain:
            return result, ()  # It is a view of the old value.
        return node, chain[::-1]

    @cached_property
    def _launch(self) -> Callable[..., object] | None:
        """The program on addresses; None if calls have to be checked."""
        if not isinstance(self.executable, HostExecutable):
            return None
        return self.executable.at_addresses()

    @cached_property
    def _captured(self) -> Sequence[int]:
        """The addresses of the tensors of the graph itself."""
        return [address(cast(Array, tensor.node.data)) for tensor in self._traced.implicit]

    @cached_property
    def _made(self) -> Sequence[int]:
        """The results that are in no argument, by number."""
        assert self.executable is not None
        in_arguments = {number for number, _ in self.executable.overwritten}
        return [i for i in range(len(self._tensors)) if i not in in_arguments]

    @cached_property
    def _assigned(self) -> Sequence[tuple[int, int]]:
        """The results, by number, that have to be copied to inputs, and the places of these."""
        assert self.executable is not None
        done = {number for number, _ in self.executable.overwritten}
        both = (
            (self._tensors.index(new), self._placeholders.index(target))
            for target, new in self._writes.items()
        )
        return [(number, place) for number, place in both if number not in done]

    def __call__(self, inputs: Sequence[Value]) -> list[Value]:
        values: dict[Any, Value] = {}
        if not self._is_empty:
            sizes = tuple([source(inputs) for source in self._sources])
            if sizes and sizes not in self._known and not self._are_within_bounds(sizes):
                found = self._module(*inputs)
                return list(found) if isinstance(found, list | tuple) else [found]
            results = self._computed(inputs, sizes, values)
            for number, place in self._assigned if self._writes else ():
                inputs[place].copy_(results[number])
            values.update(zip(self._tensors, results, strict=True))
        if self._views:
            values.update(zip(self._placeholders, inputs, strict=True))
            for result, (root, chain) in self._views.items():
                value = values[root]
                for each in chain:
                    value = cast(Any, each.target)(value, *each.args[1:], **each.kwargs)
                values[result] = value
        return [values[r] if isinstance(r, Node) else r for r in self._returned]

    def _are_within_bounds(self, sizes: tuple[int, ...]) -> bool:
        """Whether the program takes these sizes; if not, says that PyTorch runs the call."""
        for atom, size in zip(self._traced.sizes, sizes, strict=True):
            variable = atom.variable
            if not variable.min <= size <= variable.max:
                LOG.warning(
                    "PyTorch runs a call: %s is %d, and the program takes %d to %d",
                    *(variable.name, size, variable.min, variable.max),
                )
                return False
        return True

    def _computed(
        self, inputs: Sequence[Value], sizes: tuple[int, ...], values: dict[Any, Value]
    ) -> list[torch.Tensor]:
        """The tensors that the program computes. Sizes that it returns go to `values`."""
        known = self._known.get(sizes)
        if known is None:
            known = self._known[sizes] = self._plan(sizes)
            for oldest in list(self._known)[:-MOST_SIZES]:
                self._known.pop(oldest, None)
        values.update(known.sizes)
        if self.executable is None:
            return []
        if self._launch is None:
            return self._called(inputs, sizes)
        results = [make() for make in known.allocators]
        kept: list[torch.Tensor] = []
        addresses = [result.data_ptr() for result in results]
        for read in self._read:
            value = inputs[read.place]
            if not read.lies_so(value):
                kept.append(value := read.laid_out(value))
            addresses.append(value.data_ptr())
        addresses += self._captured
        if self._constants:
            self._launch(*addresses, sizes=sizes, arguments=self._states(inputs))
        elif sizes:
            self._launch(*addresses, sizes=sizes)
        else:
            self._launch(*addresses)
        for number, argument in self.executable.overwritten:
            results.insert(number, inputs[self._read[argument].place])
        return results

    def _plan(self, sizes: tuple[int, ...]) -> _Plan:
        """The plan of calls of these sizes."""
        traced = self._traced
        atoms = {
            atom: Atom(atom.variable, size) for atom, size in zip(traced.sizes, sizes, strict=True)
        }
        _, numbers = cast("tuple[list[Slot], list[Any]]", traced.structure)
        found = {
            node: value_of(size.substituted(atoms) if isinstance(size, SymInt) else size)
            for node, size in zip(self._sizes, numbers, strict=True)
        }
        if not isinstance(self.executable, HostExecutable):
            return _Plan(found, ())
        extents = self.executable.shapes_of_results(sizes)
        outputs = zip(self._made, extents, self.executable.outputs, strict=True)
        return _Plan(
            found,
            [
                _allocator(self._tensors[i].meta["val"], self._layouts[i], shape, out.is_cleared)
                for i, shape, out in outputs
            ],
        )

    def _states(self, inputs: Sequence[Value]) -> Sequence[object]:
        """An object for each argument: new ones if a constant is another tensor than in the last
        call, or has been written to."""
        state: list[Any] = []
        for read in self._constants_read:
            value = inputs[read.place]
            state += value.data_ptr(), value._version
        if self._last[0] != state:
            count = len(self._read) + len(self._sources) + len(self._captured)
            self._last = state, [object() for _ in range(count)]
        return self._last[1]

    def _called(self, inputs: Sequence[Value], sizes: tuple[int, ...]) -> list[torch.Tensor]:
        """`_computed`, by an executable that takes arrays only."""
        assert self.executable is not None
        implicit = [tensor.node.data for tensor in self._traced.implicit]
        arrays = [host_array(read.laid_out(inputs[read.place])) for read in self._read]
        found = self.executable(*arrays, *sizes, *implicit)
        results = found if isinstance(found, tuple) else (found,)
        both = zip(results, self._tensors, self._layouts, strict=True)
        return [_tensor(array, node.meta["val"], layout) for array, node, layout in both]


class _Plan(NamedTuple):
    """The results of calls of some sizes: those that are sizes, and how to allocate the tensors."""

    sizes: Mapping[Node, Any]
    allocators: Sequence[Callable[[], torch.Tensor]]


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _is_view(node: Node) -> bool:
    """Whether a node's only result is a view of its first argument; the others are constants."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, OpOverload):
        return False
    returns = target._schema.returns
    info = returns[0].alias_info if len(returns) == 1 else None
    return info is not None and not info.is_write and node.all_input_nodes == [node.args[0]]


def _layout_of_result(like: torch.Tensor) -> MemoryLayout:
    """The layout of a result. One of symbolic size repeats no cells."""
    found = layout_of(as_real(like))
    is_static = all(isinstance(extent, int) for extent in like.shape)
    return found if is_static else MemoryLayout(found.order)


_NUMPY: Mapping[torch.dtype, Any] = {torch.bfloat16: np.int16}
"""Dtypes of NumPy by those of PyTorch that NumPy lacks: their memory is that of another one."""


def _allocator(
    like: torch.Tensor, layout: MemoryLayout, extents: tuple[int, ...], is_cleared: bool
) -> Callable[[], torch.Tensor]:
    """A function that makes a tensor of a dtype and a layout, whose array in memory has these
    extents.

    A large one is in a block of the pool: PyTorch's are new pages in each call.
    """
    if like.is_complex():
        parts = _allocator(as_real(like), layout, extents, is_cleared)
        return lambda: torch.view_as_complex(parts())
    cells = math.prod(extents)
    shape = [extents[place] for place in layout.inverse]
    for axis in layout.repeated:
        shape[axis] = int(like.shape[axis])
    strides = layout.strides(shape)
    if is_cleared:
        return lambda: torch.zeros(cells, dtype=like.dtype).as_strided(shape, strides)
    if cells * like.dtype.itemsize < POOLED_BYTES:
        return partial(torch.empty_strided, shape, strides, dtype=like.dtype)
    dtype = np.dtype(_NUMPY.get(like.dtype) or str(like.dtype).removeprefix("torch."))

    def make() -> torch.Tensor:
        value = torch.from_numpy(POOL.empty((cells,), dtype))
        if value.dtype is not like.dtype:
            value = value.view(like.dtype)
        return value.as_strided(shape, strides)

    return make


def _tensor(array: Any, like: torch.Tensor, layout: MemoryLayout) -> torch.Tensor:
    """A result of the program as a tensor with PyTorch's layout."""
    if like.is_complex():
        return torch.view_as_complex(_tensor(array, as_real(like), layout))
    if (dtype := _NUMPY.get(like.dtype)) is not None:
        value = torch.from_numpy(array.view(dtype)).view(like.dtype)
    else:
        value = torch.from_numpy(array)
    return layout.of_array(value, like.shape)
