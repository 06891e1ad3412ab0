"""`@tg.function`: a Python function on tensors as one FUNCTION, compiled once per signature.

The specification's five steps: extract the inputs and deduplicate them by identity, run the
function lazily, put parameters in place of the inputs, wrap what it gives in a TUPLE, and return
GETTUPLEs. Tensors that the function uses without being given them (of a closure, or of the object
whose method it is) are inputs as well; those that it assigns to are outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Region

from tgdialect.frontend.graph import Node, made, serials, sorted_nodes
from tgdialect.frontend.neural import Neural
from tgdialect.frontend.realization import emit, function_of, realize
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.tracing import is_tracing, parameter, tracing
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.source import ParamOp
from tgdialect.runtime.compiler import compile

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class _Slot:
    """Where an argument or a result is a tensor."""

    index: int


_ONE = _Slot(0)


@dataclass(frozen=True)
class _Traced:
    """A function for one signature."""

    implicit: Sequence[Tensor]
    """The tensors that are inputs without being arguments; they come after the arguments."""
    changed: Sequence[Tensor | int]
    """What it assigns to, arguments by their number; their values come after the results."""
    structure: Any
    """What it returns, with slots for tensors."""
    first_change: int
    """How many results come before the values of what is changed."""
    types: Sequence[Attribute]
    """Of the results, then of what is assigned."""
    prototype: TgOp
    """The FUNCTION."""
    elements: Sequence[TgOp]
    """The GETTUPLEs of it."""
    executable: Callable[..., Any]


class Function(Generic[P, R]):
    """A traced function: what `@tg.function` makes."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self._traced: dict[Any, _Traced] = {}
        self._quick: dict[Any, tuple[_Traced, Sequence[Attribute]]] = {}
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., R]:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        inputs: list[Tensor] = []
        nodes: list[Node] = []
        quick: list[Any] = [Neural.training]
        # Nearly every call passes nothing but tensors, of types that were passed before.
        for argument in args:
            if type(argument) is not Tensor:
                break
            node = argument.node
            inputs.append(argument)
            nodes.append(node)
            quick += id(node.type), node.is_tracked
        else:
            key = tuple(quick)
            if not kwargs and len({*nodes}) == len(nodes):
                known = self._quick.get(key)
                if known is None:
                    traced = self._traced_for(args, kwargs, inputs)
                    types = [node.type for node in nodes]
                    known = self._quick[key] = traced, types  # Which live on, as do their ids.
                return self._called(known[0], inputs, nodes)
        inputs = []
        _signature((args, kwargs), inputs, {})
        traced = self._traced_for(args, kwargs, inputs)
        return self._called(traced, inputs, [t.node for t in inputs])

    def _traced_for(self, args: Any, kwargs: Any, inputs: Sequence[Tensor]) -> _Traced:
        """The traced function for the signature of these arguments."""
        kinds = [(t.node.type, t.node.is_tracked) for t in inputs]
        key = Neural.training, _signature((args, kwargs), [], {}), tuple(kinds)
        if key not in self._traced:
            self._traced[key] = self._trace(args, kwargs, inputs)
        return self._traced[key]

    def _called(self, traced: _Traced, inputs: Sequence[Tensor], nodes: list[Node]) -> R:
        """The result for values of the inputs."""
        for tensor in traced.implicit:
            nodes.append(tensor.node)
        if is_tracing():
            results = _apply(traced, nodes)
        else:
            for node in nodes:
                if node.data is None:
                    realize(nodes)
                    break
            results = _run(traced, nodes)
        for changed in traced.changed:
            tensor = inputs[changed] if isinstance(changed, int) else changed
            tensor.become(results.pop(traced.first_change))
        if traced.structure == _ONE:
            return cast(R, Tensor.of_node(results[0]))
        return cast(R, _filled(traced.structure, results))

    def _trace(self, args: Any, kwargs: Any, inputs: Sequence[Tensor]) -> _Traced:
        params = [
            parameter(slot, t.node.tensor_type, t.node.is_tracked) for slot, t in enumerate(inputs)
        ]
        stand_ins = {id(t): Tensor.of_node(p) for t, p in zip(inputs, params, strict=True)}
        slots = {id(stand_in): slot for slot, stand_in in enumerate(stand_ins.values())}
        start = next(serials)
        with tracing() as trace:
            new_args, new_kwargs = _mapped(
                (args, kwargs), lambda v: stand_ins[id(v)] if isinstance(v, Tensor) else v
            )
            result = cast(Callable[..., Any], self._function)(*new_args, **new_kwargs)
        outputs: list[Tensor] = []
        structure = _structure(result, outputs)
        changed = [t for t, node in trace.changed.items() if t.node is not node]
        roots = [t.node for t in (*outputs, *changed)]
        for tensor, node in trace.changed.items():
            tensor.node = node
        order = sorted_nodes(roots, since=start)
        given = set(params)
        implicit = [n for n in order if n not in given and (n.serial < start or n.data is not None)]
        leaves = [*params, *implicit]
        module = ModuleOp([function_of("main", order, leaves, roots)])
        prototype = _function_op(order, leaves, roots)
        return _Traced(
            [_owner(node) for node in implicit],
            [slots.get(id(t), t) for t in changed],
            structure,
            len(outputs),
            [n.type for n in roots],
            prototype,
            [GetTupleOp(prototype, i) for i in range(len(roots))],
            compile(module),
        )


def function(fxn: Callable[P, R]) -> Function[P, R]:
    """Compile a function on tensors, once for each signature.

    The tensors among its arguments, in lists, tuples and dicts too, are its inputs; other arguments
    are part of the signature. It may assign to tensors, which takes effect with each call. Called
    within another such function it becomes a FUNCTION in that one's body.
    """
    return Function(fxn)


def _run(traced: _Traced, nodes: Sequence[Node]) -> list[Node]:
    """Execute a function on values that are known."""
    data = traced.executable(*[node.data for node in nodes])
    arrays = (data,) if len(traced.types) == 1 else data
    results = [Node(None, (), t, a) for t, a in zip(traced.types, arrays, strict=True)]
    for node in nodes:
        if node.is_tracked:
            # Who asks for a gradient goes through the FUNCTION. What is assigned has no history.
            results[: traced.first_change] = _apply(traced, nodes)[: traced.first_change]
            for result, array in zip(results, arrays[: traced.first_change], strict=False):
                result.settle(array)
            break
    return results


def _apply(traced: _Traced, nodes: Sequence[Node]) -> list[Node]:
    """The results as GETTUPLEs of the FUNCTION."""
    call = made(traced.prototype, tuple(nodes))
    return [made(element, (call,)) for element in traced.elements]


def _function_op(
    order: Iterable[Node], leaves: Sequence[Node], roots: Sequence[Node]
) -> FunctionOp:
    """The FUNCTION of a graph, on arguments of the types of its leaves."""
    body = Block()
    params = [ParamOp(slot, leaf.tensor_type) for slot, leaf in enumerate(leaves)]
    body.add_ops(params)
    values = emit(body, order, {n: p.result for n, p in zip(leaves, params, strict=True)})
    body.add_op(TupleOp([values[root] for root in roots]))
    arguments = Block(arg_types=[leaf.type for leaf in leaves]).args
    return FunctionOp(arguments, Region(body))


def _owner(node: Node) -> Tensor:
    """The tensor whose value a node is, so that a later call takes what it is then."""
    tensor = None if node.owner is None else node.owner()
    if isinstance(tensor, Tensor) and tensor.node is node:
        return tensor
    return Tensor.of_node(node)


# -- arguments and results -----------------------------------------------------------------------


def _signature(value: Any, inputs: list[Tensor], seen: dict[int, int]) -> Any:
    """A value as a key, its tensors noted once each and replaced by where they are."""
    if isinstance(value, Tensor):
        if id(value) not in seen:
            seen[id(value)] = len(inputs)
            inputs.append(value)
        return _Slot(seen[id(value)])
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return type(items), *(_signature(item, inputs, seen) for item in items)
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        return dict, *((k, _signature(v, inputs, seen)) for k, v in entries.items())
    try:
        hash(value)
    except TypeError:
        return _Identity(value)
    return type(value), value


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


def _structure(value: Any, outputs: list[Tensor]) -> Any:
    """A result with slots in place of its tensors, which are noted."""

    def slot(inner: Any) -> Any:
        if not isinstance(inner, Tensor):
            return inner
        outputs.append(inner)
        return _Slot(len(outputs) - 1)

    return _mapped(value, slot)


def _filled(structure: Any, results: Sequence[Node]) -> Any:
    """A result with its tensors in the slots."""
    return _mapped(
        structure, lambda v: Tensor.of_node(results[v.index]) if isinstance(v, _Slot) else v
    )


def _tuple_like(old: Any, items: Sequence[Any]) -> Any:
    """A tuple, or a named tuple of the same kind."""
    return type(old)(*items) if hasattr(old, "_fields") else tuple(items)
