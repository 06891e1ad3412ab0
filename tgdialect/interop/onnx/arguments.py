"""The arguments of a model: tensors, sequences and optionals, as the arrays of a program.

A program has a fixed number of arrays of fixed ranks. The rest of the types of arguments is their
structure: how many tensors a sequence has, whether an optional is there, the rank of an input
without a shape, and which extents are 0, which other sizes may not be. There is a program for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from onnx import TypeProto, ValueInfoProto

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend.lowered import Spec, spec
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import identifiers
from tgdialect.interop.onnx.dtypes import NARROW, as_element_type, numpy_of, stored_as, to_stored
from tgdialect.interop.onnx.model import Model
from tgdialect.interop.onnx.values import Refused, Value
from tgdialect.ops.numpy_dtypes import Array

_BITS = 36
"""The bits of the greatest product of all sizes of a model. That leaves 11 for channels and bytes:
a workspace has addresses for the greatest sizes, of 47 bits. Larger: fewer models have addresses
for it; smaller: more sizes have programs of their own."""

BOUNDS = (1 << 12, 1 << 16, 1 << 24)
"""The bounds of sizes: the least one that the sizes of a call have. The workspace of attention
grows with the square of a size, and cannot be addressed for greater bounds; a first larger one
would so be compiled in vain. Larger than the last: types of windows over an axis cannot be
addressed."""


@dataclass(frozen=True)
class TensorShape:
    """An array of a program: its element type, and its extents: names, or numbers."""

    element_type: int
    shape: tuple[int | str, ...]


Structure = TensorShape | tuple["Structure", ...] | None
"""The structure of an argument: an array, those of a sequence, or an optional that is not there."""


class ModelArguments:
    """The inputs of a model that are no constants, whose types programs have.

    `fixed` has numbers of inputs and of sizes by their names. Fixed inputs are in `known`, and no
    arguments. Raises CompilationError for those that do not fit.
    """

    def __init__(self, model: Model, fixed: Mapping[str, float] = {}) -> None:
        inputs = _inputs(model)
        self._constants = frozenset(each.name for each in model.graph.initializer)
        self._inputs = [i for i in inputs if i.name not in fixed]
        self._fixed = fixed
        self._names: dict[str, str] = {}
        self.known: dict[str, Array] = {}
        """The elements of fixed inputs."""
        self._is_static = any(i.type.WhichOneof("value") != "tensor_type" for i in self._inputs)
        reasons: list[Diagnostic] = []
        for each in inputs:
            if each.name in fixed:
                try:
                    self.known[each.name] = self._filled(each, fixed[each.name])
                except (Refused, ValueError, OverflowError) as error:
                    message = f"the fixed input {each.name!r}: {error}"
                    reasons.append(Diagnostic(message, file=model.file))
        if reasons:
            raise CompilationError(reasons)
        self.names = [each.name for each in self._inputs]
        """The names of the inputs."""
        self._specs: dict[tuple[Any, ...], Mapping[str, Spec]] = {}
        self._usual: tuple[Structure, ...] | None = None
        """The structure of all calls whose arguments are arrays with elements, if there is one."""
        if not self._is_static:
            with suppress(Refused):
                self._usual = self.structure(None)
        self.are_arrays = all(
            isinstance(each, TensorShape) and each.element_type not in NARROW
            for each in self._usual or (None,)
        )
        """Whether arguments that are arrays are those of a program."""
        names = {*self.known, *self._names, *self._names.values()}
        if self._usual is not None and (unknown := fixed.keys() - names):
            there = ", ".join(map(repr, (*(i.name for i in inputs), *self._names)))
            message = f"no input or size {sorted(unknown)[0]!r} to fix; there are: {there}"
            raise CompilationError(Diagnostic(message, file=model.file))

    def _filled(self, each: ValueInfoProto, number: float) -> Array:
        """A fixed input, all of whose elements are a number. Raises Refused."""
        dtype = numpy_of(each.type.tensor_type.elem_type)
        kind = self._tensor(each.type, each.name, None)
        shape = [extent for extent in kind.shape if isinstance(extent, int)]
        if len(shape) < len(kind.shape):
            raise Refused("it has symbolic sizes: fix them, too")
        found = np.full(shape, number, dtype)
        if (found != number).any():
            raise Refused(f"{number} is no {dtype}")
        return found

    @property
    def _shown(self) -> str:
        return ", ".join(map(repr, self.names)) or "none"

    def by_name(self, inputs: Any) -> dict[str, Any]:
        """The arguments of a call by the names of the inputs: those of a mapping, or of a sequence
        in their order. Raises ValueError for one that is no input, and TypeError for an array in
        place of a sequence."""
        if isinstance(inputs, Mapping):
            given = dict(cast(Mapping[str, Any], inputs))
            if unknown := [name for name in given if name not in self.names]:
                is_constant = unknown[0] in self._constants
                why = "is a constant of the model" if is_constant else "is no input of the model"
                raise ValueError(f"{unknown[0]!r} {why}; inputs: {self._shown}")
            return given
        if isinstance(inputs, np.ndarray):
            raise TypeError("the inputs are a sequence of arrays, or a mapping, and not one array")
        values = list(cast("Sequence[Any]", inputs))
        if len(values) > len(self.names):
            raise ValueError(
                f"{len(values)} inputs are given, the model has {len(self.names)}: {self._shown}"
            )
        return dict(zip(self.names, values, strict=False))

    def structure(self, given: Mapping[str, Any] | None) -> tuple[Structure, ...]:
        """The structure of the arguments of a call; without a call, that of the model, which has to
        have one for all calls: raises Refused. Raises ValueError for an argument that is missing,
        TypeError for one of another type."""
        if self._usual is not None and given is not None:
            arrays = (given.get(name) for name in self.names)
            if all(isinstance(array, np.ndarray) and array.size for array in arrays):
                return self._usual
        return tuple(self._structure(each, given) for each in self._inputs)

    def _structure(self, each: ValueInfoProto, given: Mapping[str, Any] | None) -> Structure:
        if given is None:
            return self._tensor(each.type, each.name, None)
        if each.name not in given and not each.type.HasField("optional_type"):
            raise ValueError(f"the input {each.name!r} is missing")
        return self._of(each.type, each.name, given.get(each.name), self._is_static)

    def _of(self, kind: TypeProto, name: str, value: Any, is_static: bool = False) -> Structure:
        """The structure of a value. Models with sequences have no symbolic sizes: each tensor of
        one may have others, also where its type gives them one name."""
        if kind.HasField("optional_type"):
            inner = kind.optional_type.elem_type
            return None if value is None else self._of(inner, name, value, is_static)
        if kind.HasField("sequence_type"):
            if not isinstance(value, list | tuple):
                raise TypeError(f"the input {name!r} is a sequence, not {type(value).__name__}")
            inner, values = kind.sequence_type.elem_type, cast(Sequence[Any], value)
            return tuple(self._of(inner, f"{name}_{i}", v, True) for i, v in enumerate(values))
        if is_static and kind.HasField("tensor_type"):
            return TensorShape(kind.tensor_type.elem_type, np.shape(value))
        return self._tensor(kind, name, np.shape(value))

    def _tensor(self, kind: TypeProto, name: str, present: tuple[int, ...] | None) -> TensorShape:
        """The structure of a tensor, whose shape in a call is `present`."""
        if not kind.HasField("tensor_type"):
            raise Refused(f"the number of tensors of the input {name!r} is not known")
        tensor = kind.tensor_type
        if not tensor.HasField("shape"):
            if present is None:
                raise Refused(f"the rank of the input {name!r} is not known")
            extents = [self._name(f"{name}_dim_{axis}") for axis in range(len(present))]
        else:
            extents = [
                dim.dim_value
                if dim.HasField("dim_value") and dim.dim_value > 0
                else self._extent(
                    dim.dim_param if dim.dim_param not in ("", "?") else f"{name}_dim_{axis}"
                )
                for axis, dim in enumerate(tensor.shape.dim)
            ]
        if present is not None and len(present) == len(extents):
            extents = [
                0 if isinstance(e, str) and now == 0 else e
                for e, now in zip(extents, present, strict=True)
            ]
        return TensorShape(tensor.elem_type, tuple(extents))

    def _extent(self, key: str) -> int | str:
        """A size of the model: its number if it is fixed, else an identifier. Raises Refused."""
        name = self._name(key)
        number = self._fixed.get(key, self._fixed.get(name))
        if number is None:
            return name
        if number != int(number) or number < 1:
            raise Refused(f"the size {key} is a positive integer, not {number}")
        return int(number)

    def _name(self, key: str) -> str:
        """An identifier for the name of an extent."""
        if key not in self._names:
            (*_, self._names[key]) = identifiers([*self._names.values(), key])
        return self._names[key]

    def specs(self, structures: tuple[Structure, ...], bound: int) -> Mapping[str, Spec]:
        """The arrays of a program by name, whose sizes are up to `bound`."""
        key = structures, bound
        if (found := self._specs.get(key)) is None:
            found = self._specs[key] = self._made_specs(structures, bound)
        return found

    def _made_specs(self, structures: Sequence[Structure], bound: int) -> dict[str, Spec]:
        leaves = {
            name + suffix: tensor
            for name, structure in zip(self.names, structures, strict=True)
            for suffix, tensor in _leaves(structure)
        }
        names = {e for tensor in leaves.values() for e in tensor.shape if isinstance(e, str)}
        most = min(1 << _BITS // max(len(names), 1), bound)
        return {
            name: spec(
                tensor.shape,
                stored_as(tensor.element_type),
                **{e: (1, most) for e in tensor.shape if isinstance(e, str)},
            )
            for name, tensor in leaves.items()
        }

    def values(
        self, structures: Sequence[Structure], tensors: Mapping[str, Tensor]
    ) -> dict[str, Value]:
        """The arguments as values of a graph, of the tensors of a program by name."""

        def value(name: str, structure: Structure) -> Value:
            if structure is None:
                return None
            if isinstance(structure, TensorShape):
                return as_element_type(tensors[name], structure.element_type)
            return [value(f"{name}_{i}", each) for i, each in enumerate(structure)]

        return {n: value(n, s) for n, s in zip(self.names, structures, strict=True)}

    def arrays(self, structures: Sequence[Structure], given: Mapping[str, Any]) -> dict[str, Array]:
        """The arguments of a call as arrays of a program. Raises TypeError for another dtype."""
        found: dict[str, Array] = {}

        def add(name: str, structure: Structure, value: Any) -> None:
            if structure is None:
                return
            if not isinstance(structure, TensorShape):
                for i, (each, inner) in enumerate(zip(structure, value, strict=True)):
                    add(f"{name}_{i}", each, inner)
                return
            array = np.asarray(value)
            if structure.element_type in NARROW:
                wanted = numpy_of(structure.element_type)
                if array.dtype != wanted:
                    raise TypeError(f"the input {name!r} is of {wanted}, not {array.dtype}")
                array = to_stored(array, structure.element_type)
            found[name] = array

        for name, structure in zip(self.names, structures, strict=True):
            add(name, structure, given.get(name))
        return found


def _inputs(model: Model) -> list[ValueInfoProto]:
    constants = {i.name for i in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in constants]


def refused_inputs(model: Model) -> list[Diagnostic]:
    """The inputs of a model that programs do not have, and why."""
    reasons: list[Diagnostic] = []
    for each in _inputs(model):
        try:
            _check(each.type)
        except Refused as error:
            reasons.append(Diagnostic(f"input {each.name!r}: {error}", file=model.file))
    return reasons


def _check(kind: TypeProto) -> None:
    """Raise Refused for a type that no program has."""
    match kind.WhichOneof("value"):
        case "tensor_type":
            stored_as(kind.tensor_type.elem_type)
        case "sequence_type":
            _check(kind.sequence_type.elem_type)
        case "optional_type":
            _check(kind.optional_type.elem_type)
        case other:
            raise Refused(f"an input that is a {other} is not supported")


def _leaves(structure: Structure, suffix: str = "") -> Iterator[tuple[str, TensorShape]]:
    """The arrays of an argument, and what its name ends with for each."""
    if isinstance(structure, TensorShape):
        yield suffix, structure
    elif structure is not None:
        for i, each in enumerate(structure):
            yield from _leaves(each, f"{suffix}_{i}")
