"""One trace of a Python function on tensors: its graph, its program, and how that is run.

The specification's five steps: extract the inputs and deduplicate them by identity, run the
function lazily, replace the inputs by parameters, wrap the results in a TUPLE, and return
GETTUPLEs. Tensors that the function captures (from a closure, or from the object whose method it
is) are inputs as well; tensors that it assigns to are outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, Generic, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block

from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.graph import Node, Shape, apply, made, serials, size_node
from tgdialect.frontend.realization import (
    body_of,
    compiled,
    device_of,
    function_of,
    lose,
    module_of,
    named_devices,
    overwritten,
    realize,
)
from tgdialect.frontend.symbolic import Atom, SymInt, substituted
from tgdialect.frontend.tracing import (
    Graph,
    Inputs,
    Same,
    Slot,
    is_tracing,
    mapped,
    parameter,
    size_parameter,
    tracing,
)
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.launcher import Holders
from tgdialect.runtime.speed import at_full_speed

E = TypeVar("E")
Compiler = Callable[[ModuleOp, str | None], E]
"""A function that makes an executable of a module and the name of a device."""

_NO_TENSORS: Mapping[int, TensorBase] = {}
_HOLDERS = Holders("node", "data", "owner", "serial", serials, ("type", "is_tracked"))


def refuse_call(*_: object) -> None:
    """The launcher of functions that are not plain: it refuses every call, by returning None."""


@dataclass(frozen=True)
class Traced(Generic[E]):
    """A traced function for one signature.

    Its inputs are, in order: the tensors among the arguments, the sizes in their shapes, and the
    captured tensors.
    """

    implicit: Sequence[TensorBase]
    """The captured tensors that are inputs."""
    implicit_types: list[Attribute]
    captured: frozenset[int]
    """The ids of the captured tensors, whether it reads or assigns to them."""
    sizes: Sequence[Atom]
    """The parameters for the variables in arguments and their shapes."""
    changed: Sequence[TensorBase | int]
    """The tensors that it assigns to; an argument is its number. Their new values are further
    results."""
    structure: Any
    """The return value, with slots for tensors."""
    first_change: int
    """The number of results before the new values of `changed`."""
    kinds: Sequence[tuple[Attribute, Shape | None]]
    """Types and symbolic shapes of the results, then of the new values of `changed`."""
    prototype: tg.TgOp
    """The FUNCTION."""
    elements: Sequence[tg.TgOp]
    """The GETTUPLEs of it."""
    executable: E | None
    """The executable of its module, or the module itself."""
    graph: Graph | None
    """The nodes to compute instead of the executable, if the function names several devices."""
    donated: Mapping[int, str]
    """The argument tensors that are gone after a call, and the names of their arguments."""
    is_plain: bool
    """Whether a call takes the argument tensors and the captured ones, all of static shape and
    without gradients, and does nothing but return one tensor."""

    def is_current(self) -> bool:
        """Whether the captured tensors still have the types that they had during the trace."""
        return [tensor.node.type for tensor in self.implicit] == self.implicit_types

    def fits(self, inputs: Sequence[TensorBase]) -> bool:
        """Whether this trace is valid for these arguments: none of them is a captured tensor."""
        if not self.captured:
            return True
        return self.captured.isdisjoint(map(id, inputs)) and self.is_current()

    def launcher(
        self: Traced[Executable], types: Sequence[Attribute], kind: type[TensorBase]
    ) -> Callable[..., Any]:
        """A callable from tensors of these types, and then the captured ones, to the result of a
        plain function; it returns None for others."""
        example = kind.of_node(Node(None, (), self.kinds[0][0]))
        inputs = [(type_, False) for type_ in (*types, *self.implicit_types)]
        assert self.executable is not None
        return self.executable.holding_launcher(_HOLDERS, inputs, example) or refuse_call

    def called(
        self: Traced[Executable], nodes: list[Node], sizes: Mapping[Atom, Atom], name: str
    ) -> list[Node]:
        """The results for the nodes of argument tensors, to which the other inputs are added.
        Within another traced function they are those of a FUNCTION; else it is executed. `name` is
        what errors call it."""
        nodes += (size_node(SymInt.of(atom)) for atom in sizes.values())
        nodes += (tensor.node for tensor in self.implicit)
        if self.graph is not None:
            results = self.graph.applied(nodes, sizes)
            if not is_tracing():
                realize(results)
            return results
        if is_tracing():
            return self.applied(nodes, sizes)
        realize(nodes)
        return self._run(nodes, sizes, name)

    def _run(
        self: Traced[Executable], nodes: Sequence[Node], sizes: Mapping[Atom, Atom], name: str
    ) -> list[Node]:
        """Execute the function on nodes with data. Results have data, some in the memory of the
        nodes."""
        data: list[Any] = [node.data for node in nodes]
        assert self.executable is not None
        lost = overwritten(self.executable, nodes, data) if self.executable.overwritten else ()
        found: Array | tuple[Array, ...] = self.executable.resident(*data)
        arrays = found if isinstance(found, tuple) else (found,)
        reason = f"{name} has overwritten this value in memory: .clone() before the call keeps it"
        for node in lost:
            lose(node, reason)
        results = [
            Node(None, (), t, a, False, substituted(e, sizes))
            for (t, e), a in zip(self.kinds, arrays, strict=True)
        ]
        if any(node.is_tracked for node in nodes):
            # Gradients go through the FUNCTION, so results keep how they were made. The new values
            # of assigned tensors have no history.
            last = self.first_change
            results[:last] = self.applied(nodes, sizes, last)
            for result, array in zip(results, arrays[:last], strict=False):
                result.settle(array)
        return results

    def applied(
        self, nodes: Sequence[Node], sizes: Mapping[Atom, Atom], count: int | None = None
    ) -> list[Node]:
        """The results as GETTUPLEs of the FUNCTION on nodes; the first `count` of them, or all."""
        call = made(self.prototype, tuple(nodes))
        results: list[Node] = []
        for element, (_, extents) in zip(self.elements[:count], self.kinds, strict=False):
            result = made(element, (call,), substituted(extents, sizes))
            if any(isinstance(e, SymInt) and e.atom is None for e in result.extents or ()):
                # The FUNCTION's type does not relate them to its arguments.
                result = apply(tg.ShrinkOp, result, [0] * len(result.shape), result.shape)
            results.append(result)
        return results

    def release(self: Traced[Executable], nodes: Sequence[Node], name: str) -> None:
        """Let go of the constants that the executable has derived all it needs from."""
        reason = f"{name} has released this tensor after packing it; assign a value to it"
        assert self.executable is not None
        for number, released in self.executable.release(reason).items():
            nodes[number].data = cast(Array, released)


def name_of(function: Callable[..., Any]) -> str:
    """A function's name in errors."""
    return getattr(function, "__name__", type(function).__name__)


@at_full_speed()
def trace(
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    inputs: Inputs[Any],
    compiled: Compiler[E],
    *,
    arguments_captured: Mapping[int, TensorBase] = _NO_TENSORS,
    donate: Set[str] = frozenset(),
    freeze: bool = False,
    entry: str = "main",
    is_program: bool = False,
) -> Traced[E]:
    """Trace a function on the tensors among its arguments.

    The arguments in `arguments_captured`, by their numbers, are passed as they are, since the
    function captures them, too. If it returns a tensor that existed before the call, the call
    returns that tensor itself; a program (`is_program`) returns a new array instead.
    """
    # Parameters for sizes and tensors, and tensors that have them as values.
    size_params = [size_parameter(atom.variable) for atom in inputs.atoms]
    sizes = dict(zip(inputs.atoms, (atom for atom, _ in size_params), strict=True))
    params = [parameter(t.node, sizes) for t in inputs.tensors]
    stand_ins = {
        id(t): t if slot in arguments_captured else inputs.kind.of_node(params[slot])
        for slot, t in enumerate(inputs.tensors)
    }
    slots = {
        id(s): slot for slot, s in enumerate(stand_ins.values()) if slot not in arguments_captured
    }
    donated = _donated(function, donate, args, kwargs, inputs)
    for slot in arguments_captured.keys() & donated.keys():
        name = name_of(function)
        raise ValueError(f"{name} captures the tensor that is donated as {donated[slot]}")

    def stand_in(value: Any) -> Any:
        if isinstance(value, SymInt):
            return value.substituted(sizes)
        if isinstance(value, np.ndarray):
            return cast(Array, value).copy()  # The signature has its present contents.
        return stand_ins[id(value)] if isinstance(value, TensorBase) else value

    with tracing() as capture:
        new_args, new_kwargs = mapped((args, kwargs), stand_in)
        result = function(*new_args, **new_kwargs)

        def place(value: Any) -> Any:
            """The place of a result: that of the tensor itself if it existed before the call."""
            if not isinstance(value, TensorBase):
                return value
            number = slots.get(id(value))
            is_new = is_program or capture.former(value).serial >= capture.start
            if not is_new and number not in donated:
                return Same(value if number is None else number)
            outputs.append(value.node)
            return Slot(len(outputs) - 1)

        # Results, and the new values of tensors.
        outputs: list[Node] = []
        structure = mapped(result, place)
        del result
        changed = [c for c in capture.assigned(slots) if slots.get(id(c[0])) not in donated]
        roots = [*outputs, *(t.node for t, _ in changed)]
    params += [node for _, node in size_params]
    graph = capture.graph(params, roots)
    order, leaves, implicit = graph.order, graph.leaves, graph.captured
    # Old values of what it assigns to are not needed after a call, nor are donated arguments.
    unneeded = {params[slot]: tg.ANY_RESULT for slot in donated}
    for number, (t, node) in enumerate(changed, len(outputs)):
        unneeded[params[slots[id(t)]] if id(t) in slots else node] = number
    # The program, and the FUNCTION by which other traces call it.
    _check_size(function, order)
    is_apart = not is_program and len(named_devices([*leaves, *order])) > 1
    assigned = {node for _, node in changed}
    frozen = [n for n in implicit if freeze and n not in assigned and n.size is None]
    module = module_of(function_of(entry, order, leaves, roots, frozen, unneeded))
    types = [leaf.type for leaf in leaves]
    prototype = tg.FunctionOp(Block(arg_types=types).args, body_of(order, leaves, roots))
    used = [_owner(node, inputs.kind) for node in implicit]
    return Traced(
        implicit=used,
        implicit_types=[node.type for node in implicit],
        captured=frozenset(id(t) for t in (*used, *(t for t, _ in changed))) - slots.keys(),
        sizes=list(sizes.values()),
        changed=[slots.get(id(t), t) for t, _ in changed],
        structure=structure,
        first_change=len(outputs),
        kinds=[(n.type, n.extents) for n in roots],
        prototype=prototype,
        elements=[tg.GetTupleOp(prototype, i) for i in range(len(roots))],
        executable=None if is_apart else compiled(module, device_of([*leaves, *order])),
        graph=graph if is_apart else None,
        donated=donated,
        is_plain=isinstance(structure, Slot)
        and not is_apart
        and not (sizes or changed or donated)
        and not any(n.is_tracked for n in (*implicit, *(t.node for t in inputs.tensors)))
        and not any(n.extents is not None or n.size is not None for n in implicit),
    )


def iterated(function: Callable[..., E]) -> Callable[..., E]:
    """A function of tensors that a method calls again and again, with one tensor as result: it is
    traced once for each signature, and executed when it is called, or a FUNCTION within another
    traced function."""
    known: dict[Any, Traced[Executable]] = {}
    last: tuple[Traced[Executable] | None, Callable[..., Any]] = None, refuse_call

    @wraps(function)
    def call(*tensors: Any) -> E:
        nonlocal last
        if not is_tracing() and (result := last[1](*tensors)) is not None:
            return result
        kind = cast("type[TensorBase]", type(tensors[0]))
        inputs = Inputs(kind, tensors)
        key = inputs.signature, *(inputs.kind_of(tensor) for tensor in tensors)
        if (traced := known.get(key)) is None:
            traced = known[key] = trace(function, tensors, {}, inputs, compiled)
        sizes = dict(zip(traced.sizes, inputs.atoms, strict=True))
        nodes = [tensor.node for tensor in inputs.tensors]
        if traced is not last[0] and traced.is_plain and not traced.implicit:
            last = traced, traced.launcher([node.type for node in nodes], kind)
        (node,) = traced.called(nodes, sizes, name_of(function))
        return cast(E, kind.of_node(node))

    return call


def _donated(
    function: Callable[..., Any], donate: Set[str], args: Any, kwargs: Any, inputs: Inputs[Any]
) -> Mapping[int, str]:
    """The tensors in donated arguments, by their slots, and the names of the arguments."""
    given = signature(function).bind(*args, **kwargs).arguments if donate else {}
    return {
        inputs.slots[id(tensor)].index: name
        for name in donate & given.keys()
        for tensor in Inputs(inputs.kind, given[name]).tensors
    }


MAX_OPS = 1 << 15
"""The most ops of the traced functions that one traced function calls, those that they call among
them: each call is a FUNCTION with a copy of the body. Larger: functions that call the one before
twice, which have 2^n, take longer until they are refused (so many ops take 10 s to trace); smaller:
models are refused, of which one of 100 layers has some 10,000."""


def _check_size(function: Callable[..., Any], order: Sequence[Node]) -> None:
    """Raise RuntimeError if the FUNCTIONs that a function calls have too many ops."""
    prototypes = [p for node in order if (p := node.prototype) is not None and p.regions]
    size = sum(len(nested_ops(prototype)) for prototype in prototypes)
    if size > MAX_OPS:
        raise RuntimeError(
            f"the functions that {name_of(function)} calls, and those that they call, have {size} "
            f"operations in all, and may have {MAX_OPS}"
        )


def _owner(node: Node, kind: type[TensorBase]) -> TensorBase:
    """The tensor that owns a node. Later calls read that tensor's value of then."""
    tensor = None if node.owner is None else node.owner()
    if isinstance(tensor, kind) and tensor.node is node:
        return tensor
    return kind.of_node(node)
