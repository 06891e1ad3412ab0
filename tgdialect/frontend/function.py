"""`@tg.function`: a Python function on tensors as one FUNCTION, compiled once per signature.

`traced.py` makes a trace of the function and runs it. This module finds the trace that fits the
arguments of a call.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import chain, repeat
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    SupportsIndex,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tgdialect.diagnostics import lasting_hint
from tgdialect.frontend.arrays import is_array
from tgdialect.frontend.base import TensorBase, is_elsewhere, traced_for
from tgdialect.frontend.graph import Node
from tgdialect.frontend.lowered import Argument, Interface, Lowered, Sizes, Spec, spec_of
from tgdialect.frontend.neural import Neural
from tgdialect.frontend.realization import compiled
from tgdialect.frontend.symbolic import Atom, SymInt, substituted
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.traced import Compiler, Traced, name_of, refuse_call, trace
from tgdialect.frontend.tracing import Inputs, Slot, filled, is_tracing, mapped
from tgdialect.ops.source import parameters
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.executable import Executable

Names = str | int | Collection[str | int]
"""Names or positions of arguments."""

E = TypeVar("E")
P = ParamSpec("P")
R = TypeVar("R")

MANY_SIGNATURES = 32
"""The number of traces of a function at which it warns. Each takes time and stays in memory. With a
smaller number a program would be warned that pads its inputs to some sizes on purpose; with a
greater one, a program that traces in each call learns of it late. An order of magnitude."""

_NO_SIZES: Mapping[Atom, Atom] = {}


@dataclass
class _Signature:
    """A signature of tensors alone. The types are kept alive, so that their ids stay theirs."""

    traced: Traced[Executable]
    types: Sequence[Attribute]

    @functools.cached_property
    def launcher(self) -> Callable[..., Any]:
        """`Traced.launcher` for this signature, made on the second call with it."""
        return self.traced.launcher(self.types, Tensor)


class _Last(NamedTuple):
    """The launcher of the last call, and the tensors that it takes after the arguments."""

    training: bool
    launch: Callable[..., Any]
    captured: Sequence[TensorBase]


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
        donate: Names = (),
        static: Names = (),
        max_signatures: int | None = None,
        check: bool = False,
    ) -> None:
        self._function = function
        self._name = name_of(function)
        """The function's name in errors."""
        self._arguments = CallArguments(function, static)
        self._donate = names_of(function, donate=donate)
        self._freeze = freeze
        self._max_signatures = max_signatures
        self._check = check
        self._signatures: set[Any] = set()
        self._traced: dict[Any, Traced[Executable]] = {}
        self._quick: dict[Any, _Signature] = {}
        self._last = _Last(False, refuse_call, ())
        functools.update_wrapper(self, function)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """For `pickle` and `copy`: by its name, as a function, where the name is of this one; else
        what it traces, as a function, method or object, and how."""
        name = getattr(self, "__qualname__", "")  # Objects that are called have none.
        found: object = sys.modules.get(self.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        options = {
            "freeze": self._freeze,
            "donate": self._donate,
            "static": self._arguments.static,
            "max_signatures": self._max_signatures,
            "check": self._check,
        }
        return _remade, (type(self), self._function, options)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., R]:
        return self if instance is None else _Method(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        # Most calls have the same signature as the one before.
        training, launch, captured = self._last
        if not kwargs and training is Neural.training and not is_tracing():
            result: Any = launch(*args, *captured)
            if result is not None:
                return result
        if kwargs:
            args, kwargs = self._arguments.by_position(args, kwargs)
        arrays: list[Tensor] = []
        are_tensors = all(type(argument) is Tensor for argument in args)
        if kwargs or self._arguments.static or not are_tensors:
            args, kwargs = self._arguments.with_tensors(args, kwargs, arrays)
        inputs: list[Tensor] = []
        nodes: list[Node] = []
        quick: list[Any] = [Neural.training]
        # Most of the others pass tensors only: look up the ids of their types.
        for argument in args:
            if type(argument) is not Tensor or argument.node.extents is not None:
                break
            inputs.append(argument)
            nodes.append(argument.node)  # And nothing else refers to it (`realization.py`).
            quick += id(argument.node.type), argument.node.is_tracked
        else:
            key = tuple(quick)
            if not kwargs and len({*nodes}) == len(nodes):
                known = self._quick.get(key)
                if known is None:
                    traced = self._traced_for(args, kwargs, Inputs(Tensor, (args, kwargs)))
                    if traced.fits(inputs):
                        self._quick[key] = _Signature(traced, [n.type for n in nodes])
                    return self._called(traced, inputs, nodes, _NO_SIZES, arrays)
                if known.traced.is_plain and self._freeze != "release":
                    self._last = _Last(Neural.training, known.launcher, known.traced.implicit)
                if known.traced.fits(inputs):
                    return self._called(known.traced, inputs, nodes, _NO_SIZES, arrays)
                self._quick.pop(key)
        # Any other arguments.
        found = Inputs(Tensor, (args, kwargs))
        traced = self._traced_for(args, kwargs, found)
        sizes = dict(zip(traced.sizes, found.atoms, strict=True))
        nodes = [t.node for t in found.tensors]
        return self._called(traced, found.tensors, nodes, sizes, arrays)

    def _traced_for(self, args: Any, kwargs: Any, inputs: Inputs[Tensor]) -> Traced[Executable]:
        """The traced function for the signature of these arguments."""
        kinds = [inputs.kind_of(tensor) for tensor in inputs.tensors]
        key = Neural.training, inputs.signature, tuple(kinds), tuple(inputs.atoms.values())
        if self._max_signatures is not None:
            self._count_signature((*key[:2], *((kind, extents) for kind, _, extents in kinds)))
        # If an argument turns out to be captured, too, trace again with the argument passed as it
        # is: both names must then mean the same tensor.
        captured: dict[int, Tensor] = {}
        while True:
            wanted = key, tuple((slot, id(t)) for slot, t in captured.items())
            traced = self._traced.get(wanted)
            if traced is None or not traced.is_current():
                compiler = functools.partial(compiled, check=self._check)
                traced = self._trace(args, kwargs, inputs, compiler, arguments_captured=captured)
                self._traced[wanted] = traced
                if len(self._traced) == MANY_SIGNATURES and self._max_signatures is None:
                    warnings.warn(
                        f"{self._name} has been traced for {MANY_SIGNATURES} signatures: other "
                        "numbers and other shapes are other programs. A tensor or an array instead "
                        "of a number, and symbolic sizes (docs/tensor.md), have one for all values",
                        RuntimeWarning,
                        stacklevel=4,
                    )
            more = {s: t for s, t in enumerate(inputs.tensors) if id(t) in traced.captured}
            if more.keys() <= captured.keys():
                return traced
            captured = {**captured, **more}

    def _trace(
        self, args: Any, kwargs: Any, inputs: Inputs[Tensor], compiled: Compiler[E], **options: Any
    ) -> Traced[E]:
        options |= {"donate": self._donate, "freeze": bool(self._freeze)}
        return trace(self._function, args, kwargs, inputs, compiled, **options)

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
        traced: Traced[Executable],
        inputs: Sequence[Tensor],
        nodes: list[Node],
        sizes: Mapping[Atom, Atom],
        arrays: Sequence[Tensor],
    ) -> R:
        """Call a traced function with the values of its inputs and sizes; `arrays` are the inputs
        that the caller does not have as tensors."""
        for changed in traced.changed if arrays else ():
            if isinstance(changed, int) and any(inputs[changed] is tensor for tensor in arrays):
                raise TypeError(
                    f"{self._name} assigns to an argument, and the call passes an array for it, "
                    "which would not change: pass a tensor, or return the value"
                )
        results = traced.called(nodes, sizes, self._name)
        if self._freeze == "release" and traced.graph is None and not is_tracing():
            traced.release(nodes, self._name)
        # Assign the new values, then build the return value.
        for changed in traced.changed:
            tensor = inputs[changed] if isinstance(changed, int) else cast(Tensor, changed)
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

        A tensor, an array or a `spec` stands for any tensor of its shape and dtype. Other
        arguments, and static ones, are part of the program, as they are in a call.

        Raises TypeError for arguments that the function does not take.
        """
        return self.lowered(args, kwargs)

    def lowered(
        self, args: Any, kwargs: Any, entry: str = "main", target: str | None = None
    ) -> Lowered:
        """As `lower`; `entry` names the function in the program, which is for a device or target:
        by default that of the first tensor on another device than the host, or the default one."""
        # Collect the specs among the arguments: equal names of extents are one size.
        try:
            given = signature(self._function).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None
        specs: list[Spec] = []
        names: list[str] = []
        places: list[str] = []

        def found(value: Any) -> Any:
            if (spec := spec_of(value)) is None:
                return value
            if isinstance(value, Tensor | DeviceArray) and is_elsewhere(value.device):
                places.append(value.device)
            specs.append(spec)
            return spec

        # Replace each by a tensor without a value.
        for name, value in given.arguments.items():
            given.arguments[name] = self._arguments.leaves(name, value, found)
        sizes = Sizes(specs)
        for name, argument in given.arguments.items():

            def stand_in(value: Any, name: str = name) -> Any:
                if isinstance(value, Spec):
                    names.append(name)
                    return sizes.tensor(value)
                return sizes.size(value) if isinstance(value, SymInt) else value

            given.arguments[name] = mapped(argument, stand_in)
        # Trace, and describe how the program is called.
        inputs = Inputs(Tensor, (given.args, given.kwargs))
        with traced_for(target or next(iter(places), None)):
            named: Any = {"entry": entry, "is_program": True}
            traced = self._trace(
                given.args, given.kwargs, inputs, lambda module, _: module, **named
            )
        assert traced.executable is not None
        if not traced.kinds:
            raise TypeError(f"{self._name} returns no tensor, and assigns to none")
        called = [*names, *(s.variable.name for s in traced.sizes)]
        names = _name_parameters(traced.executable, called)[: len(names)]
        atoms = dict(zip(inputs.atoms, traced.sizes, strict=True))
        described = [
            Argument(name, substituted(t.node.extents, atoms) or t.node.shape)
            for name, t in zip(names, inputs.tensors, strict=True)
        ]
        return Lowered(traced.executable, entry, Interface(described, traced))


def _remade(kind: type[Function[P, R]], function: Callable[P, R], options: Any) -> Function[P, R]:
    return kind(function, **options)


class _Method(functools.partial[R]):
    """A traced function that is bound to an object as its method."""

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """As `Function.lower`, of the arguments after the object."""
        return cast("Function[..., R]", self.func).lower(*self.args, *args, **kwargs)


def _name_parameters(module: ModuleOp, names: Sequence[str]) -> list[str]:
    """Name the first parameters of the only function of a module, unless it has named them by
    itself. Returns their names."""
    found = list(names)
    (entry,) = (op for op in module.ops if isinstance(op, FuncOp))
    for param in parameters(entry.body.block):
        if (slot := param.slot.data) >= len(names):
            continue
        if param.result.name_hint is None:
            param.result.name_hint = lasting_hint(names[slot])
        if param.symbol is not None:
            found[slot] = param.symbol.data
    return found


class Options(TypedDict, total=False):
    """The options of `function`."""

    freeze: bool | Literal["release"]
    donate: Names
    static: Names
    max_signatures: int | None
    check: bool


@overload
def function(fxn: Callable[P, R], **options: Unpack[Options]) -> Function[P, R]: ...


@overload
def function(**options: Unpack[Options]) -> Callable[[Callable[P, R]], Function[P, R]]: ...


def function(
    fxn: Callable[..., Any] | None = None,
    *,
    freeze: bool | Literal["release"] = False,
    donate: Names = (),
    static: Names = (),
    max_signatures: int | None = None,
    check: bool = False,
) -> Any:
    """Compile a function on tensors, once for each signature.

    The tensors among its arguments, also in lists, tuples and dicts, are its inputs. So are arrays
    of NumPy, PyTorch and other libraries, which the function gets as tensors: other elements are no
    other signature. Arguments of other kinds are part of the signature, and constants of the
    program: numbers of Python and scalars of NumPy, strings, and the arrays of arguments whose
    names or positions `static` has, which the function gets as they are. An argument is the same by
    name and by position. The function may assign to tensors, which takes effect with each call: in
    place, if nobody else can see the memory of the tensor, and else in new memory. Called within
    another such function it becomes a FUNCTION in that function's body.

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

    With `check`, the first call with each signature compares each kernel, and the program, with the
    interpreter, which takes seconds (docs/debugging.md, "Checking"). A wrong result raises
    `tgdialect.actions.check.CheckError`.
    """
    kind: Any = functools.partial(
        Function,
        freeze=freeze,
        donate=donate,
        static=static,
        max_signatures=max_signatures,
        check=check,
    )
    return kind if fxn is None else kind(fxn)


def traceable(fxn: Callable[..., Any]) -> Function[..., Any]:
    """A callable as a `Function`, unless it is one already."""
    return cast("Function[..., Any]", fxn) if isinstance(fxn, Function) else Function(fxn)


class CallArguments:
    """The arguments that a function takes; those in `static` are constants."""

    def __init__(self, function: Callable[..., Any], static: Names) -> None:
        self._function = function
        self.static = names_of(function, static=static)
        try:
            parameters = signature(function).parameters.values()
        except (TypeError, ValueError):  # A builtin.
            parameters = ()
        by_name = Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD
        # The last of them may be the name of all further arguments.
        self._positional = [p.name for p in parameters if p.kind not in by_name] or ["argument"]

    def by_position(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments with those given by name at their positions, so that equal calls have one
        signature. Those of `**kwargs` keep their order, which the function can see."""
        try:
            # A wrapper may ask for names that the wrapped function has.
            given = signature(self._function, follow_wrapped=False).bind(*args, **kwargs)
        except (TypeError, ValueError):  # The call says what is wrong, in Python's words.
            return args, kwargs
        return given.args, given.kwargs

    def with_tensors(self, args: Any, kwargs: Any, made: list[Tensor]) -> tuple[Any, Any]:
        """Arguments with tensors for their arrays; these tensors are added to `made`.

        Scalars of NumPy stay what they are in operators on tensors: numbers. Raises TypeError for
        an array that is not of numbers, and for a static tensor.
        """
        names = chain(self._positional, repeat(self._positional[-1]))
        converted = functools.partial(self._with_tensors, made)
        by_name = {name: converted(name, value) for name, value in kwargs.items()}
        return tuple(map(converted, names, args)), by_name

    def _with_tensors(self, made: list[Tensor], name: str, value: Any) -> Any:
        def tensor(value: Any) -> Any:
            if not is_array(value) or isinstance(value, (Tensor, np.generic)):
                return cast(object, value)
            try:
                made.append(Tensor(value))
            except (BufferError, RuntimeError, TypeError, ValueError) as error:
                raise TypeError(
                    f"the array {name} is no tensor: {error}; if it is a constant, name it in "
                    "tg.function(static=...)"
                ) from None
            return made[-1]

        return self.leaves(name, value, tensor)

    def leaves(self, name: str, value: Any, function: Callable[[Any], Any]) -> Any:
        """An argument with a function applied to all values in its lists, tuples and dicts, unless
        it is static. Raises TypeError for a static tensor."""

        def constant(value: Any) -> Any:
            if isinstance(value, Tensor):
                raise TypeError(f"{name} is static, and is given a tensor")
            return value

        return mapped(value, constant if name in self.static else function)


def names_of(function: Callable[..., Any], **option: Names) -> frozenset[str]:
    """The arguments of a function, which an option gives by names or positions, by their names.
    Raises ValueError for one that it does not have."""
    ((name, arguments),) = option.items()
    if isinstance(arguments, str | int):
        arguments = [arguments]
    names = list(signature(function).parameters) if arguments else []
    found: set[str] = set()
    for argument in arguments:
        try:
            found.add(names[names.index(argument) if isinstance(argument, str) else argument])
        except (ValueError, IndexError):
            there_are = ", ".join(names) or "none"
            raise ValueError(f"{name}={argument!r}: the arguments are {there_are}") from None
    return frozenset(found)
