"""`@tg.function`: a Python function on tensors as one FUNCTION, compiled once per signature.

The specification's five steps: extract the inputs and deduplicate them by identity, run the
function lazily, put parameters in place of the inputs, wrap what it gives in a TUPLE, and return
GETTUPLEs. Tensors that the function uses without being given them (of a closure, or of the object
whose method it is) are inputs as well; those that it assigns to are outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Region

from tgdialect.frontend.graph import (
    INDEX_TYPE,
    Node,
    Shape,
    apply,
    made,
    serials,
    size_node,
    sorted_nodes,
)
from tgdialect.frontend.neural import Neural
from tgdialect.frontend.realization import (
    add_parameters,
    compound_sizes,
    emit,
    function_of,
    realize,
)
from tgdialect.frontend.symbolic import Atom, SymInt, atoms_of, substituted
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.tracing import is_tracing, parameter, size_parameter, tracing
from tgdialect.frontend.views import owner, view_of
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.movement import ShrinkOp
from tgdialect.runtime.compiler import compile
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.launcher import Holders
from tgdialect.runtime.program import Array

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class _Slot:
    """Where an argument or a result is a tensor."""

    index: int


@dataclass(frozen=True, eq=False)
class _Same:
    """Where a result is a tensor that there was before the call: an argument by its number."""

    tensor: Tensor | int


_ONE = _Slot(0)
_NO_SIZES: Mapping[Atom, Atom] = {}


@dataclass(frozen=True)
class _Traced:
    """A function for one signature."""

    implicit: Sequence[Tensor]
    """The tensors that are inputs without being arguments; they come after the sizes."""
    implicit_types: Sequence[Attribute]
    captured: frozenset[int]
    """The ids of the tensors that it uses or changes without being given them."""
    sizes: Sequence[Atom]
    """What stands for the variables in arguments and their shapes; they come after the tensors."""
    changed: Sequence[Tensor | int]
    """What it assigns to, arguments by their number; their values come after the results."""
    views: Sequence[Tensor]
    """Views of what it assigns to, through which it does."""
    structure: Any
    """What it returns, with slots for tensors."""
    first_change: int
    """How many results come before the values of what is changed."""
    kinds: Sequence[tuple[Attribute, Shape | None]]
    """Types and symbolic shapes of the results, then of what is assigned."""
    argument_sizes: Sequence[SymInt]
    """Extents of arguments that are more than a variable; they are arguments themselves."""
    result_sizes: Sequence[SymInt]
    """Such extents of results, which only the executable takes."""
    prototype: TgOp
    """The FUNCTION."""
    elements: Sequence[TgOp]
    """The GETTUPLEs of it."""
    executable: Executable
    is_plain: bool
    """Whether there is nothing to a call but numbers in and one tensor out."""

    def is_current(self) -> bool:
        """Whether the tensors that it captures have the types that they had."""
        pairs = zip(self.implicit, self.implicit_types, strict=True)
        return all(tensor.node.type == type_ for tensor, type_ in pairs)

    def fits(self, inputs: Sequence[Tensor]) -> bool:
        """Whether it holds for these arguments: none of them is a tensor that it captures."""
        if not self.captured:
            return True
        return self.captured.isdisjoint(map(id, inputs)) and self.is_current()


_HOLDERS = Holders("node", "data", "owner", "serial", serials, ("type", "is_tracked"))


def _unknown(*_: object) -> None:
    """What calls the functions that are not plain, and signatures that are not known."""


@dataclass(slots=True)
class _Signature:
    """A signature of tensors alone."""

    traced: _Traced
    types: Sequence[Attribute]
    training: bool
    launch: Callable[..., Any] | None = None
    """Made when the signature comes up again."""

    def launcher(self) -> Callable[..., Any]:
        """What takes tensors of this signature to the result, and others to None."""
        if self.launch is None:
            example = Tensor.of_node(Node(None, (), self.traced.kinds[0][0]))
            inputs = [(type_, False) for type_ in self.types]
            found = self.traced.executable.holding_launcher(_HOLDERS, inputs, example)
            self.launch = found or _unknown
        return self.launch


class Function(Generic[P, R]):
    """A traced function: what `@tg.function` makes."""

    def __init__(self, function: Callable[P, R], *, freeze: bool = False) -> None:
        self._function = function
        self._freeze = freeze
        self._traced: dict[Any, _Traced] = {}
        self._quick: dict[Any, _Signature] = {}
        self._last: tuple[bool, Callable[..., Any]] = False, _unknown
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., R]:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        # Most calls are like the one before.
        training, launch = self._last
        if not kwargs and training is Neural.training and not is_tracing():
            result: Any = launch(*args)
            if result is not None:
                return result
        inputs: list[Tensor] = []
        nodes: list[Node] = []
        quick: list[Any] = [Neural.training]
        # Nearly every call passes nothing but tensors, of types that were passed before.
        for argument in args:
            if type(argument) is not Tensor:
                break
            node = argument.node
            if node.extents is not None:
                break
            inputs.append(argument)
            nodes.append(node)
            quick += id(node.type), node.is_tracked
        else:
            key = tuple(quick)
            if not kwargs and len({*nodes}) == len(nodes):
                known = self._quick.get(key)
                if known is None:
                    traced = self._traced_for(args, kwargs, inputs)
                    types = [node.type for node in nodes]  # Which live on, as do their ids.
                    known = _Signature(traced, types, Neural.training)
                    if not traced.fits(inputs):
                        return self._called(traced, inputs, nodes)
                    self._quick[key] = known
                elif known.traced.is_plain:
                    self._last = known.training, known.launcher()
                if known.traced.fits(inputs):
                    return self._called(known.traced, inputs, nodes)
                self._quick.pop(key)
        found = _Inputs()
        found.signature((args, kwargs))
        traced = self._traced_for(args, kwargs, found.tensors)
        sizes = dict(zip(traced.sizes, found.atoms, strict=True))
        return self._called(traced, found.tensors, [t.node for t in found.tensors], sizes)

    def _traced_for(self, args: Any, kwargs: Any, inputs: Sequence[Tensor]) -> _Traced:
        """The traced function for the signature of these arguments."""
        found = _Inputs()
        signature = found.signature((args, kwargs))
        kinds = [
            (t.node.type, t.node.is_tracked, substituted(t.node.extents, found.atoms))
            for t in inputs
        ]
        key = Neural.training, signature, tuple(kinds), tuple(found.atoms.values())
        # An argument that the function captures as well is one tensor of two names.
        captured: dict[int, Tensor] = {}
        while True:
            wanted = key, tuple((slot, id(t)) for slot, t in captured.items())
            traced = self._traced.get(wanted)
            if traced is None or not traced.is_current():
                traced = self._trace(args, kwargs, inputs, list(found.atoms), captured)
                self._traced[wanted] = traced
            more = {s: t for s, t in enumerate(inputs) if id(t) in traced.captured}
            if more.keys() <= captured.keys():
                return traced
            captured = {**captured, **more}

    def _called(
        self,
        traced: _Traced,
        inputs: Sequence[Tensor],
        nodes: list[Node],
        sizes: Mapping[Atom, Atom] = _NO_SIZES,
    ) -> R:
        """The result for values of the inputs and the variables."""
        for atom in sizes.values():
            nodes.append(size_node(SymInt.of(atom)))
        for tensor in traced.implicit:
            nodes.append(tensor.node)
        if is_tracing():
            results = _apply(traced, nodes, sizes, traced.elements)
        else:
            for node in nodes:
                if node.data is None:
                    realize(nodes)
                    break
            results = _run(traced, nodes, sizes)
        for changed in traced.changed:
            tensor = inputs[changed] if isinstance(changed, int) else changed
            tensor.adopt(results.pop(traced.first_change))
        for view in traced.views:
            view.refresh()
        if traced.structure == _ONE:
            return cast(R, Tensor.of_node(results[0]))
        return cast(R, _filled(traced.structure, results, inputs, sizes))

    def _trace(
        self,
        args: Any,
        kwargs: Any,
        inputs: Sequence[Tensor],
        atoms: Sequence[Atom],
        captured: Mapping[int, Tensor],
    ) -> _Traced:
        """Trace the function. The arguments in `captured`, by their numbers, are passed as the
        tensors that they are, since it captures them too."""
        size_params = [size_parameter(atom.variable) for atom in atoms]
        sizes = dict(zip(atoms, (atom for atom, _ in size_params), strict=True))
        params = [parameter(t.node, sizes) for t in inputs]
        stand_ins = {
            id(t): t if slot in captured else Tensor.of_node(params[slot])
            for slot, t in enumerate(inputs)
        }
        slots = {
            id(stand_in): slot
            for slot, stand_in in enumerate(stand_ins.values())
            if slot not in captured
        }

        def stand_in(value: Any) -> Any:
            if isinstance(value, SymInt):
                return value.substituted(sizes)
            if isinstance(value, np.ndarray):
                return cast(Array, value).copy()  # The signature has its numbers of now.
            return stand_ins[id(value)] if isinstance(value, Tensor) else value

        start = next(serials)
        with tracing() as trace:
            new_args, new_kwargs = _mapped((args, kwargs), stand_in)
            result = cast(Callable[..., Any], self._function)(*new_args, **new_kwargs)
            outputs: list[Node] = []
            before = {id(t): node for t, node in trace.changed()}

            def same(tensor: Tensor) -> Tensor | int | None:
                """The argument, or the captured tensor, that a result is."""
                known = before.get(id(tensor), tensor.node)
                return slots.get(id(tensor), tensor) if known.serial < start else None

            structure = _structure(result, outputs, same)
            del result
            changed = cast("list[tuple[Tensor, Node]]", trace.changed())
            views = [
                t
                for t, _ in changed
                if id(t) not in slots and (view := view_of(t.node)) and id(owner(view)) in before
            ]
            skipped = {id(t) for t in views}
            changed = [(t, node) for t, node in changed if id(t) not in skipped]
            assigned = {node for _, node in changed}
            roots = [*outputs, *(t.node for t, _ in changed)]
        order = sorted_nodes(roots, since=start)
        params += [node for _, node in size_params]
        given = set(params)
        implicit = [n for n in order if n not in given and (n.serial < start or n.data is not None)]
        leaves = [*params, *implicit]
        constants = [n for n in implicit if n not in assigned and n.size is None]
        module = ModuleOp(
            [function_of("main", order, leaves, roots, constants if self._freeze else ())]
        )
        prototype = _function_op(order, leaves, roots)
        argument_sizes = compound_sizes(leaves)
        used = [_owner(node) for node in implicit]
        return _Traced(
            implicit=used,
            implicit_types=[node.type for node in implicit],
            captured=frozenset(id(t) for t in (*used, *(t for t, _ in changed))) - slots.keys(),
            sizes=list(sizes.values()),
            changed=[slots.get(id(t), t) for t, _ in changed],
            views=views,
            structure=structure,
            first_change=len(outputs),
            kinds=[(n.type, n.extents) for n in roots],
            argument_sizes=argument_sizes,
            result_sizes=compound_sizes([*leaves, *roots])[len(argument_sizes) :],
            prototype=prototype,
            elements=[GetTupleOp(prototype, i) for i in range(len(roots))],
            executable=cast(Executable, compile(module)),
            is_plain=structure == _ONE
            and not (implicit or sizes or argument_sizes or changed)
            and not any(t.node.is_tracked for t in inputs),
        )


@overload
def function(fxn: Callable[P, R], *, freeze: bool = False) -> Function[P, R]: ...


@overload
def function(*, freeze: bool = False) -> Callable[[Callable[P, R]], Function[P, R]]: ...


def function(fxn: Callable[..., Any] | None = None, *, freeze: bool = False) -> Any:
    """Compile a function on tensors, once for each signature.

    The tensors among its arguments, in lists, tuples and dicts too, are its inputs; other arguments
    are part of the signature. It may assign to tensors, which takes effect with each call. Called
    within another such function it becomes a FUNCTION in that one's body.

    With `freeze`, the tensors that it uses without being given them, and does not assign to, are
    taken to be constant: weights are put in the order in which its kernels load them once, and not
    in every call. Assigning to such a tensor is noticed, and has that done again; writing to the
    NumPy array that it shares its memory with is not.
    """
    if fxn is None:
        return functools.partial(Function, freeze=freeze)
    return Function(fxn, freeze=freeze)


def _run(traced: _Traced, nodes: Sequence[Node], sizes: Mapping[Atom, Atom]) -> list[Node]:
    """Execute a function on values that are known."""
    arrays = _arrays(traced, nodes, sizes)
    results = [
        Node(None, (), t, a, False, substituted(e, sizes))
        for (t, e), a in zip(traced.kinds, arrays, strict=True)
    ]
    for node in nodes:
        if node.is_tracked:
            # Who asks for a gradient goes through the FUNCTION. What is assigned has no history.
            last = traced.first_change
            results[:last] = _apply(traced, nodes, sizes, traced.elements[:last])
            for result, array in zip(results, arrays[:last], strict=False):
                result.settle(array)
            break
    return results


def _arrays(traced: _Traced, nodes: Sequence[Node], sizes: Mapping[Atom, Atom]) -> Sequence[Array]:
    """The results of a function's executable."""
    data = [node.data for node in nodes]
    compound = (*traced.argument_sizes, *traced.result_sizes)
    data += [np.array(size.substituted(sizes).value) for size in compound]
    found = traced.executable(*data)
    return (found,) if isinstance(found, np.ndarray) else found


def _apply(
    traced: _Traced, nodes: Sequence[Node], sizes: Mapping[Atom, Atom], elements: Sequence[TgOp]
) -> list[Node]:
    """Results as GETTUPLEs of the FUNCTION."""
    more = [size_node(size.substituted(sizes)) for size in traced.argument_sizes]
    call = made(traced.prototype, (*nodes, *more))
    results: list[Node] = []
    for element, (_, extents) in zip(elements, traced.kinds, strict=False):
        result = made(element, (call,), substituted(extents, sizes))
        if compound_sizes([result]):  # Of which the FUNCTION's type does not say what they are.
            result = apply(ShrinkOp, result, [0] * len(result.shape), result.shape)
        results.append(result)
    return results


def _function_op(
    order: Sequence[Node], leaves: Sequence[Node], roots: Sequence[Node]
) -> FunctionOp:
    """The FUNCTION of a graph, on arguments of the types of its leaves."""
    body = Block()
    sizes = compound_sizes(leaves)
    values, _ = add_parameters(body, leaves, sizes)
    emit(body, order, values)
    body.add_op(TupleOp([values[root] for root in roots]))
    types = [leaf.type for leaf in leaves] + [INDEX_TYPE] * len(sizes)
    return FunctionOp(Block(arg_types=types).args, Region(body))


def _owner(node: Node) -> Tensor:
    """The tensor whose value a node is, so that a later call takes what it is then."""
    tensor = None if node.owner is None else node.owner()
    if isinstance(tensor, Tensor) and tensor.node is node:
        return tensor
    return Tensor.of_node(node)


# -- arguments and results -----------------------------------------------------------------------


class _Inputs:
    """The tensors in the arguments of a call, once each, and the variables, which are numbered."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.atoms: dict[Atom, Atom] = {}
        self._slots: dict[int, _Slot] = {}

    def signature(self, value: Any) -> Any:
        """A value as a key, with slots in place of its tensors."""
        if isinstance(value, Tensor):
            if id(value) not in self._slots:
                self._slots[id(value)] = _Slot(len(self.tensors))
                self.tensors.append(value)
                self._note(value.node.extents or ())
            return self._slots[id(value)]
        if isinstance(value, SymInt):
            self._note((value,))
            return value.substituted(self.atoms)
        if isinstance(value, list | tuple):
            items = cast("Sequence[Any]", value)
            return type(items), *[self.signature(item) for item in items]
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value)
            return dict, *[(k, self.signature(v)) for k, v in entries.items()]
        if isinstance(value, np.ndarray):
            array = cast(Array, value)
            return np.ndarray, array.shape, array.dtype, array.tobytes()
        if isinstance(value, float):
            return type(value), value.hex()  # The two zeros are equal, and NaN is not itself.
        try:
            hash(value)
        except TypeError:
            return _Identity(value)
        return type(value), value

    def _note(self, extents: Shape) -> None:
        for atom in atoms_of(extents):
            if atom not in self.atoms:
                self.atoms[atom] = Atom(atom.variable, None, len(self.atoms))


class _Identity:
    """An object that has no value to compare: it is the same if it is itself."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A value with a function applied to all that is in its lists, tuples and dicts."""
    if isinstance(value, list | tuple):
        items = [_mapped(item, function) for item in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else _tuple_like(value, items)
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        return {k: _mapped(v, function) for k, v in entries.items()}
    return function(value)


def _structure(
    value: Any, outputs: list[Node], same: Callable[[Tensor], Tensor | int | None]
) -> Any:
    """A result with slots in place of its new tensors, whose nodes are noted."""

    def slot(inner: Any) -> Any:
        if not isinstance(inner, Tensor):
            return inner
        if (known := same(inner)) is not None:
            return _Same(known)
        outputs.append(inner.node)
        return _Slot(len(outputs) - 1)

    return _mapped(value, slot)


def _filled(
    structure: Any,
    results: Sequence[Node],
    inputs: Sequence[Tensor],
    sizes: Mapping[Atom, Atom],
) -> Any:
    """A result with its tensors in the slots."""

    def fill(value: Any) -> Any:
        match value:
            case SymInt():
                return value.substituted(sizes)
            case _Slot():
                return Tensor.of_node(results[value.index])
            case _Same():
                same = value.tensor
                return inputs[same] if isinstance(same, int) else same
            case _:
                return value

    return _mapped(structure, fill)


def _tuple_like(old: Any, items: Sequence[Any]) -> Any:
    """A tuple, or a named tuple of the same kind."""
    return type(old)(*items) if hasattr(old, "_fields") else tuple(items)
