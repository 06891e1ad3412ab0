"""`@tg.function`: a Python function on tensors as one FUNCTION, compiled once per signature.

The specification's five steps: extract the inputs and deduplicate them by identity, run the
function lazily, replace the inputs by parameters, wrap the results in a TUPLE, and return
GETTUPLEs. Tensors that the function captures (from a closure, or from the object whose method it
is) are inputs as well; tensors that it assigns to are outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast, overload

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block

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
from tgdialect.frontend.lowered import Argument, Interface, Lowered
from tgdialect.frontend.neural import Neural
from tgdialect.frontend.ownership import lose, overwritten
from tgdialect.frontend.realization import (
    body_of,
    compound_sizes,
    device_of,
    function_of,
    named_devices,
    realize,
)
from tgdialect.frontend.spec import Sizes, Spec, spec_of
from tgdialect.frontend.structures import Inputs, Slot, filled, mapped, structure_of
from tgdialect.frontend.symbolic import Atom, SymInt, substituted
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.tracing import is_tracing, parameter, size_parameter, tracing
from tgdialect.frontend.views import owner, view_of
from tgdialect.kernels.writer import link
from tgdialect.ops.arguments import ANY_RESULT
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import FunctionOp, GetTupleOp
from tgdialect.ops.movement import ShrinkOp
from tgdialect.ops.source import parameters
from tgdialect.runtime.compiler import compile
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.launcher import Holders
from tgdialect.runtime.program import Array

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E")

Donated = str | int | Sequence[str | int]
"""Names or positions of arguments."""

_NO_SIZES: Mapping[Atom, Atom] = {}
_NO_TENSORS: Mapping[int, Tensor] = {}


@dataclass(frozen=True)
class _Graph:
    """What a function computes, as nodes. One that names several devices, as it copies from one to
    another, is no program: its nodes are made anew in each call, and computed device by device."""

    order: Sequence[Node]
    leaves: Sequence[Node]
    roots: Sequence[Node]

    def applied(self, nodes: Sequence[Node], sizes: Mapping[Atom, Atom]) -> list[Node]:
        """The roots with other leaves, and other variables in shapes."""
        values = dict(zip(self.leaves, nodes, strict=True))
        for node in self.order:
            if node not in values:
                assert node.prototype is not None
                operands = tuple(values[operand] for operand in node.operands)
                values[node] = made(node.prototype, operands, substituted(node.extents, sizes))
        return [values[root] for root in self.roots]


@dataclass(frozen=True)
class _Traced(Generic[E]):
    """A traced function for one signature.

    Its inputs are, in order: the tensors among the arguments, the sizes in their shapes, the
    captured tensors, and compound extents.
    """

    implicit: Sequence[Tensor]
    """The captured tensors that are inputs."""
    implicit_types: Sequence[Attribute]
    captured: frozenset[int]
    """The ids of the captured tensors, whether it reads or assigns to them."""
    sizes: Sequence[Atom]
    """The parameters for the variables in arguments and their shapes."""
    changed: Sequence[Tensor | int]
    """The tensors that it assigns to; an argument is its number. Their new values are further
    results."""
    structure: Any
    """The return value, with slots for tensors."""
    first_change: int
    """The number of results before the new values of `changed`."""
    kinds: Sequence[tuple[Attribute, Shape | None]]
    """Types and symbolic shapes of the results, then of the new values of `changed`."""
    argument_sizes: Sequence[SymInt]
    """Compound extents of arguments: polynomials other than a single variable."""
    result_sizes: Sequence[SymInt]
    """Compound extents of results, which only the executable takes as inputs."""
    prototype: TgOp
    """The FUNCTION."""
    elements: Sequence[TgOp]
    """The GETTUPLEs of it."""
    executable: E | None
    """The executable of its module, or the module itself."""
    graph: _Graph | None
    """What is computed instead, if it names several devices."""
    donated: Mapping[int, str]
    """The argument tensors that are gone after a call, and the names of their arguments."""
    is_plain: bool
    """Whether a call takes nothing but the argument tensors and returns one tensor."""

    def is_current(self) -> bool:
        """Whether the captured tensors still have the types that they had during the trace."""
        pairs = zip(self.implicit, self.implicit_types, strict=True)
        return all(tensor.node.type == type_ for tensor, type_ in pairs)

    def fits(self, inputs: Sequence[Tensor]) -> bool:
        """Whether this trace is valid for these arguments: none of them is a captured tensor."""
        if not self.captured:
            return True
        return self.captured.isdisjoint(map(id, inputs)) and self.is_current()


_HOLDERS = Holders("node", "data", "owner", "serial", serials, ("type", "is_tracked"))


def _unknown(*_: object) -> None:
    """The launcher of functions that are not plain: it refuses every call, by returning None."""


@dataclass(slots=True)
class _Signature:
    """A signature of tensors alone."""

    traced: _Traced[Executable]
    types: Sequence[Attribute]
    training: bool
    launch: Callable[..., Any] | None = None
    """The launcher, made on the second call with this signature."""

    def launcher(self) -> Callable[..., Any]:
        """A callable from tensors of this signature to the result; it returns None for others."""
        if self.launch is None:
            example = Tensor.of_node(Node(None, (), self.traced.kinds[0][0]))
            inputs = [(type_, False) for type_ in self.types]
            assert self.traced.executable is not None
            found = self.traced.executable.holding_launcher(_HOLDERS, inputs, example)
            self.launch = found or _unknown
        return self.launch


class SignatureError(RuntimeError):
    """A traced function is called with more signatures than it may have."""


class Function(Generic[P, R]):
    """The result of `@tg.function`: traces and compiles a function once per signature.

    A call tries three ways, the fastest first: the launcher of the last call; a look-up by the
    types of the arguments, if all are tensors of static shape; the signature of arbitrary
    arguments.
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        freeze: bool | Literal["release"] = False,
        donate: Donated = (),
        max_signatures: int | None = None,
    ) -> None:
        self._function = function
        self._donate = _names_of(function, donate)
        self._freeze = freeze
        self._max_signatures = max_signatures
        self._signatures: set[Any] = set()
        self._traced: dict[Any, _Traced[Executable]] = {}
        self._quick: dict[Any, _Signature] = {}
        self._last: tuple[bool, Callable[..., Any]] = False, _unknown
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., R]:
        return self if instance is None else _Method(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        # Most calls have the same signature as the one before.
        training, launch = self._last
        if not kwargs and training is Neural.training and not is_tracing():
            result: Any = launch(*args)
            if result is not None:
                return result
        inputs: list[Tensor] = []
        nodes: list[Node] = []
        quick: list[Any] = [Neural.training]
        # Most of the others pass tensors only: look up the ids of their types.
        for argument in args:
            if type(argument) is not Tensor or argument.node.extents is not None:
                break
            inputs.append(argument)
            nodes.append(argument.node)  # And nothing else refers to it (`ownership.py`).
            quick += id(argument.node.type), argument.node.is_tracked
        else:
            key = tuple(quick)
            if not kwargs and len({*nodes}) == len(nodes):
                known = self._quick.get(key)
                if known is None:
                    traced = self._traced_for(args, kwargs, inputs)
                    # Kept alive, so that the ids stay theirs.
                    types = [n.type for n in nodes]
                    known = _Signature(traced, types, Neural.training)
                    if not traced.fits(inputs):
                        return self._called(traced, inputs, nodes)
                    self._quick[key] = known
                elif known.traced.is_plain:
                    self._last = known.training, known.launcher()
                if known.traced.fits(inputs):
                    return self._called(known.traced, inputs, nodes)
                self._quick.pop(key)
        # Any other arguments.
        found = Inputs()
        found.signature((args, kwargs))
        traced = self._traced_for(args, kwargs, found.tensors)
        sizes = dict(zip(traced.sizes, found.atoms, strict=True))
        nodes = [t.node for t in found.tensors]
        return self._called(traced, found.tensors, nodes, sizes)

    def _traced_for(self, args: Any, kwargs: Any, inputs: Sequence[Tensor]) -> _Traced[Executable]:
        """The traced function for the signature of these arguments."""
        found = Inputs()
        signature = found.signature((args, kwargs))
        kinds = [
            (t.node.type, t.node.is_tracked, substituted(t.node.extents, found.atoms))
            for t in inputs
        ]
        key = Neural.training, signature, tuple(kinds), tuple(found.atoms.values())
        if self._max_signatures is not None:
            self._count_signature((*key[:2], *((kind, extents) for kind, _, extents in kinds)))
        # If an argument turns out to be captured, too, trace again with the argument passed as it
        # is: both names must then mean the same tensor.
        captured: dict[int, Tensor] = {}
        while True:
            wanted = key, tuple((slot, id(t)) for slot, t in captured.items())
            traced = self._traced.get(wanted)
            if traced is None or not traced.is_current():
                atoms = list(found.atoms)
                traced = self._trace(args, kwargs, inputs, atoms, _compiled, captured=captured)
                self._traced[wanted] = traced
            more = {s: t for s, t in enumerate(inputs) if id(t) in traced.captured}
            if more.keys() <= captured.keys():
                return traced
            captured = {**captured, **more}

    def _count_signature(self, signature: Any) -> None:
        if signature not in self._signatures:
            if len(self._signatures) == self._max_signatures:
                raise SignatureError(
                    f"{self._name} has {self._max_signatures} signatures, and is called with "
                    f"another one: {', '.join(str(kind) for kind, _ in signature[2:])}"
                )
            self._signatures.add(signature)

    def _called(
        self,
        traced: _Traced[Executable],
        inputs: Sequence[Tensor],
        nodes: list[Node],
        sizes: Mapping[Atom, Atom] = _NO_SIZES,
    ) -> R:
        """Call a traced function with the values of its inputs and sizes."""
        # Add the inputs that are not arguments.
        for atom in sizes.values():
            nodes.append(size_node(SymInt.of(atom)))
        for tensor in traced.implicit:
            nodes.append(tensor.node)
        # Within another traced function the call is a FUNCTION; else it is executed.
        if traced.graph is not None:
            results = traced.graph.applied(nodes, sizes)
            if not is_tracing():
                realize(results)
        elif is_tracing():
            results = _apply(traced, nodes, sizes, traced.elements)
        else:
            if any(n.data is None for n in nodes):
                realize(nodes)
            results = _run(traced, nodes, sizes, self._name)
            if self._freeze == "release":
                _release(traced, nodes, self._name)
        # Assign the new values, then build the return value.
        for changed in traced.changed:
            tensor = inputs[changed] if isinstance(changed, int) else changed
            tensor.adopt(results.pop(traced.first_change))
        for slot, name in traced.donated.items() if not is_tracing() else ():
            inputs[slot].expire(
                f"this tensor was donated to {self._name} as {name}: its memory is used for results"
            )
        if isinstance(traced.structure, Slot):
            return cast(R, Tensor.of_node(results[0]))
        tensors = [Tensor.of_node(node) for node in results]
        return cast(R, filled(traced.structure, tensors, sizes, inputs))

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The program of the function for these arguments, independent of the elements of tensors.

        A tensor, an array or a `spec` stands for any tensor of its shape and dtype. Other arguments
        are part of the program, as they are in a call.

        Raises TypeError for arguments that the function does not take.
        """
        return self.lowered(args, kwargs)

    def lowered(self, args: Any, kwargs: Any, entry: str = "main") -> Lowered:
        """As `lower`; `entry` names the function in the program."""
        # Collect the specs among the arguments: equal names of extents are one size.
        try:
            given = signature(self._function).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None
        specs: list[Spec] = []
        names: list[str] = []

        def found(value: Any) -> Any:
            if (spec := spec_of(value)) is None:
                return value
            specs.append(spec)
            return spec

        # Replace each by a tensor without a value.
        arguments = mapped(given.arguments, found)
        sizes = Sizes(specs)
        for name, argument in arguments.items():

            def stand_in(value: Any, name: str = name) -> Any:
                if isinstance(value, Spec):
                    names.append(name)
                    return sizes.tensor(value)
                return sizes.size(value) if isinstance(value, SymInt) else value

            given.arguments[name] = mapped(argument, stand_in)
        # Trace, and describe how the program is called.
        inputs = Inputs()
        inputs.signature((given.args, given.kwargs))
        traced = self._trace(
            given.args,
            given.kwargs,
            inputs.tensors,
            list(inputs.atoms),
            _untouched,
            entry=entry,
            is_program=True,
        )
        assert traced.executable is not None
        if not traced.kinds:
            raise TypeError(f"{self._name} returns no tensor, and assigns to none")
        _name_parameters(traced.executable, [*names, *(s.variable.name for s in traced.sizes)])
        atoms = dict(zip(inputs.atoms, traced.sizes, strict=True))
        interface = Interface(
            arguments=[
                Argument(name, t.node.tensor_type, substituted(t.node.extents, atoms))
                for name, t in zip(names, inputs.tensors, strict=True)
            ],
            sizes=traced.sizes,
            captured=traced.implicit,
            compound_sizes=[*traced.argument_sizes, *traced.result_sizes],
            structure=traced.structure,
            results=traced.kinds,
            changed=traced.changed,
        )
        return Lowered(traced.executable, entry, interface)

    @property
    def _name(self) -> str:
        return getattr(self._function, "__name__", type(self._function).__name__)

    def _trace(
        self,
        args: Any,
        kwargs: Any,
        inputs: Sequence[Tensor],
        atoms: Sequence[Atom],
        compiled: Callable[[ModuleOp, str | None], E],
        *,
        captured: Mapping[int, Tensor] = _NO_TENSORS,
        entry: str = "main",
        is_program: bool = False,
    ) -> _Traced[E]:
        """Trace the function.

        The arguments in `captured`, by their numbers, are passed as they are, since the function
        captures them, too. If it returns a tensor that existed before the call, the call returns
        that tensor itself; a program (`is_program`) returns a new array instead.
        """
        # Parameters for sizes and tensors, and tensors that have them as values.
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
        donated = self._donated(args, kwargs, {id(t): slot for slot, t in enumerate(inputs)})
        for slot in captured.keys() & donated.keys():
            raise ValueError(f"{self._name} captures the tensor that is donated as {donated[slot]}")

        def stand_in(value: Any) -> Any:
            if isinstance(value, SymInt):
                return value.substituted(sizes)
            if isinstance(value, np.ndarray):
                return cast(Array, value).copy()  # The signature has its present contents.
            return stand_ins[id(value)] if isinstance(value, Tensor) else value

        # Run the function. All nodes that it makes have serials from `start` on.
        start = next(serials)
        with tracing() as trace:
            new_args, new_kwargs = mapped((args, kwargs), stand_in)
            result = cast(Callable[..., Any], self._function)(*new_args, **new_kwargs)
            outputs: list[Node] = []
            before = {id(t): node for t, node in trace.changed()}

            def same(tensor: Tensor) -> Tensor | int | None:
                """The number of the argument, or the captured tensor, that a result is identical
                to; None if it is new."""
                if is_program:
                    return None
                known = before.get(id(tensor), tensor.node)
                if known.serial >= start or slots.get(id(tensor)) in donated:
                    return None
                return slots.get(id(tensor), tensor)

            # Results, and the new values of tensors. Views among those follow their tensors.
            structure = structure_of(result, outputs, same)
            del result
            changed = cast("list[tuple[Tensor, Node]]", trace.changed())
            changed = [
                (t, node)
                for t, node in changed
                if slots.get(id(t)) not in donated
                and (
                    id(t) in slots or not (view := view_of(t.node)) or id(owner(view)) not in before
                )
            ]
            assigned = {node for _, node in changed}
            roots = [*outputs, *(t.node for t, _ in changed)]
        # Leaves that are not parameters are captured.
        order = sorted_nodes(roots, since=start)
        params += [node for _, node in size_params]
        given = set(params)
        implicit = [n for n in order if n not in given and (n.serial < start or n.data is not None)]
        leaves = [*params, *implicit]
        constants = [n for n in implicit if n not in assigned and n.size is None]
        # Old values of what it assigns to are not needed after a call, nor are donated arguments.
        unneeded = {params[slot]: ANY_RESULT for slot in donated}
        for number, (t, node) in enumerate(changed, len(outputs)):
            unneeded[params[slots[id(t)]] if id(t) in slots else node] = number
        # The program, and the FUNCTION by which other traces call it.
        is_apart = not is_program and len(named_devices([*leaves, *order])) > 1
        frozen = constants if self._freeze else ()
        module = ModuleOp([function_of(entry, order, leaves, roots, frozen, unneeded)])
        link(module)
        prototype = _function_op(order, leaves, roots)
        argument_sizes = compound_sizes(leaves)
        used = [_owner(node) for node in implicit]
        return _Traced(
            implicit=used,
            implicit_types=[node.type for node in implicit],
            captured=frozenset(id(t) for t in (*used, *(t for t, _ in changed))) - slots.keys(),
            sizes=list(sizes.values()),
            changed=[slots.get(id(t), t) for t, _ in changed],
            structure=structure,
            first_change=len(outputs),
            kinds=[(n.type, n.extents) for n in roots],
            argument_sizes=argument_sizes,
            result_sizes=compound_sizes([*leaves, *roots])[len(argument_sizes) :],
            prototype=prototype,
            elements=[GetTupleOp(prototype, i) for i in range(len(roots))],
            executable=None if is_apart else compiled(module, device_of([*leaves, *order])),
            graph=_Graph(order, leaves, roots) if is_apart else None,
            donated=donated,
            is_plain=isinstance(structure, Slot)
            and not is_apart
            and not (implicit or sizes or argument_sizes or changed or donated)
            and not any(t.node.is_tracked for t in inputs),
        )

    def _donated(self, args: Any, kwargs: Any, slots: Mapping[int, int]) -> Mapping[int, str]:
        """The tensors in donated arguments, by their slots, and the names of the arguments."""
        found: dict[int, str] = {}
        if not self._donate:
            return found
        given = signature(self._function).bind(*args, **kwargs).arguments
        for name in self._donate & given.keys():

            def note(value: Any, name: str = name) -> Any:
                if isinstance(value, Tensor):
                    found[slots[id(value)]] = name
                return value

            mapped(given[name], note)
        return found


class _Method(functools.partial[R]):
    """A traced function that is bound to an object as its method."""

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """As `Function.lower`, of the arguments after the object."""
        return cast("Function[..., R]", self.func).lower(*self.args, *args, **kwargs)


def _compiled(module: ModuleOp, device: str | None) -> Executable:
    return cast(Executable, compile(module, target=device))


def _untouched(module: ModuleOp, device: str | None) -> ModuleOp:
    return module


def _name_parameters(module: ModuleOp, names: Sequence[str]) -> None:
    """Name the first parameters of the only function of a module."""
    (entry,) = (op for op in module.ops if isinstance(op, FuncOp))
    for param in parameters(entry.body.block):
        if param.slot.data < len(names):
            param.result.name_hint = names[param.slot.data]


def _names_of(function: Callable[..., Any], arguments: Donated) -> frozenset[str]:
    """Arguments of a function, given by names or positions, by their names. Raises ValueError for
    one that it does not have."""
    if isinstance(arguments, str | int):
        arguments = [arguments]
    names = list(signature(function).parameters) if arguments else []
    found: set[str] = set()
    for argument in arguments:
        try:
            found.add(names[names.index(argument) if isinstance(argument, str) else argument])
        except (ValueError, IndexError):
            there_are = ", ".join(names) or "none"
            raise ValueError(f"donate={argument!r}: the arguments are {there_are}") from None
    return frozenset(found)


@overload
def function(
    fxn: Callable[P, R],
    *,
    freeze: bool | Literal["release"] = False,
    donate: Donated = (),
    max_signatures: int | None = None,
) -> Function[P, R]: ...


@overload
def function(
    *,
    freeze: bool | Literal["release"] = False,
    donate: Donated = (),
    max_signatures: int | None = None,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...


def function(
    fxn: Callable[..., Any] | None = None,
    *,
    freeze: bool | Literal["release"] = False,
    donate: Donated = (),
    max_signatures: int | None = None,
) -> Any:
    """Compile a function on tensors, once for each signature.

    The tensors among its arguments, also in lists, tuples and dicts, are its inputs; other
    arguments are part of the signature. It may assign to tensors, which takes effect with each
    call: in place, if nobody else can see the memory of the tensor, and else in new memory. Called
    within another such function it becomes a FUNCTION in that function's body.

    `donate` has the names or positions of arguments whose tensors are not needed after a call:
    their memory is used for results, and using such a tensor afterwards is a RuntimeError. If
    somebody else sees the memory it is left alone. A call within another such function donates
    nothing.

    With `freeze`, captured tensors that it does not assign to are constant: weights are packed, in
    the order in which kernels load them, in the first call only. Assigning to such a tensor is
    detected, and packs it again; writing to a NumPy array that it shares memory with is not. With
    `freeze="release"` the packed weights take the place of the tensors, on the host: those that
    only packing reads have no value after the first call. To use one is a RuntimeError, and so is a
    call with another signature, or after assigning to some of the constants and not to all.

    With `max_signatures`, a call raises SignatureError instead of compiling for more signatures, as
    1 in a program that should not be compiled again when a shape differs.
    """
    if fxn is None:
        return functools.partial(
            Function, freeze=freeze, donate=donate, max_signatures=max_signatures
        )
    return Function(fxn, freeze=freeze, donate=donate, max_signatures=max_signatures)


def traceable(fxn: Callable[..., Any]) -> Function[..., Any]:
    """A callable as a `Function`, unless it is one already."""
    return cast("Function[..., Any]", fxn) if isinstance(fxn, Function) else Function(fxn)


def _run(
    traced: _Traced[Executable], nodes: Sequence[Node], sizes: Mapping[Atom, Atom], name: str
) -> list[Node]:
    """Execute a function on nodes with data. Results have data, some in the memory of the nodes."""
    arrays, lost = _arrays(traced, nodes, sizes)
    for node in lost:
        lose(
            node, f"{name} has overwritten this value in memory: .clone() before the call keeps it"
        )
    results = [
        Node(None, (), t, a, False, substituted(e, sizes))
        for (t, e), a in zip(traced.kinds, arrays, strict=True)
    ]
    for node in nodes:
        if node.is_tracked:
            # Gradients go through the FUNCTION, so results keep how they were made. The new values
            # of assigned tensors have no history.
            last = traced.first_change
            results[:last] = _apply(traced, nodes, sizes, traced.elements[:last])
            for result, array in zip(results, arrays[:last], strict=False):
                result.settle(array)
            break
    return results


def _release(traced: _Traced[Executable], nodes: Sequence[Node], name: str) -> None:
    """Let go of the constants that an executable has derived all it needs from."""
    reason = f"{name} has released this tensor after packing it; assign a value to it"
    assert traced.executable is not None
    for number, released in traced.executable.release(reason).items():
        nodes[number].data = cast(Array, released)


def _arrays(
    traced: _Traced[Executable], nodes: Sequence[Node], sizes: Mapping[Atom, Atom]
) -> tuple[Sequence[Array], Sequence[Node]]:
    """The results of a function's executable, and the nodes whose memory has some of them."""
    data: list[Any] = [node.data for node in nodes]
    compound = (*traced.argument_sizes, *traced.result_sizes)
    data += [np.array(size.substituted(sizes).value) for size in compound]
    assert traced.executable is not None
    lost = overwritten(traced.executable, nodes, data) if traced.executable.overwritten else ()
    found: Array | tuple[Array, ...] = traced.executable.resident(*data)
    return found if isinstance(found, tuple) else (found,), lost


def _apply(
    traced: _Traced[Any],
    nodes: Sequence[Node],
    sizes: Mapping[Atom, Atom],
    elements: Sequence[TgOp],
) -> list[Node]:
    """Results as GETTUPLEs of the FUNCTION."""
    more = [size_node(size.substituted(sizes)) for size in traced.argument_sizes]
    call = made(traced.prototype, (*nodes, *more))
    results: list[Node] = []
    for element, (_, extents) in zip(elements, traced.kinds, strict=False):
        result = made(element, (call,), substituted(extents, sizes))
        if compound_sizes([result]):  # The FUNCTION's type does not relate them to its arguments.
            result = apply(ShrinkOp, result, [0] * len(result.shape), result.shape)
        results.append(result)
    return results


def _function_op(
    order: Sequence[Node], leaves: Sequence[Node], roots: Sequence[Node]
) -> FunctionOp:
    """The FUNCTION of a graph, on arguments of the types of its leaves."""
    types = [leaf.type for leaf in leaves] + [INDEX_TYPE] * len(compound_sizes(leaves))
    return FunctionOp(Block(arg_types=types).args, body_of(order, leaves, roots))


def _owner(node: Node) -> Tensor:
    """The tensor that owns a node. Later calls read that tensor's value of then."""
    tensor = None if node.owner is None else node.owner()
    if isinstance(tensor, Tensor) and tensor.node is node:
        return tensor
    return Tensor.of_node(node)
