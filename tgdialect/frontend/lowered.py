"""Python functions that are compiled before they are called: `Function.lower` and `compile`; and
`spec`, the shape and dtype of an argument, for compiling before there is an array.

The program's parameters are the tensors among the arguments, the sizes in their shapes, and the
tensors that the function captures. A caller passes arrays for the first of these; each call adds
the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tgdialect.frontend import dtypes
from tgdialect.frontend.arrays import is_array
from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.graph import Node, Shape, static_extents
from tgdialect.frontend.realization import computed, lose, overwritten, realize
from tgdialect.frontend.symbolic import Atom, Dim, SymInt, Variable, substituted, value_of
from tgdialect.frontend.tensor import Tensor
from tgdialect.frontend.traced import Traced
from tgdialect.frontend.tracing import Slot, filled, mapped, size_parameter
from tgdialect.ops import tg
from tgdialect.ops.expressions import SizeSource
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime import compiler
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.distributed.array import ShardedArray
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.program import DEFAULT_OPT

if TYPE_CHECKING:
    from tgdialect.runtime.footprint import Footprint
    from tgdialect.runtime.inspection import Kernel
    from tgdialect.runtime.profile import Profile
    from tgdialect.runtime.staged import StagedModule


DEFAULT_BOUNDS = 1, 2**31 - 1
"""The default bounds of a named extent."""

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Spec:
    """The shape and dtype of an argument, and explicit bounds of its named extents.

    `tgdialect.spec` makes one.
    """

    shape: tuple[Dim | str, ...]
    dtype: tg.DType
    bounds: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds])

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.dtype.name])


def spec(shape: Sequence[Any], dtype: DTypeLike = "f32", **bounds: Bounds) -> Spec:
    """The shape and dtype of an argument of `tgdialect.compile` or of `Function.lower`.

    Args:
        shape: the extents. An extent is an integer, a name, a `Variable`, or arithmetic on sizes as
            in the shape of a tensor. Equal names, also in other specs, are one size; a program is
            compiled once for all of its values.
        dtype: as `Tensor` takes it.
        bounds: the least and the greatest value of an extent by its name, both included, as
            `n=(1, 1024)`. By default, an extent is between 1 and 2**31 - 1.

    Raises TypeError and ValueError for other values.
    """
    if isinstance(shape, str) or not isinstance(cast(object, shape), Sequence):
        raise TypeError(f"the shape of a spec is a sequence of extents, got {shape!r}")
    found: dict[str, Bounds] = {}
    extents = tuple(_extent(extent, found) for extent in shape)
    for name, given in bounds.items():
        if name not in extents:
            raise TypeError(f"{name} has bounds, but is no extent of the shape {tuple(shape)}")
        found[name] = _checked(name, given)
    return Spec(extents, dtypes.to_dtype(dtype), found)


def _extent(extent: Any, bounds: dict[str, Bounds]) -> Dim | str:
    """An extent as a number, a name, or arithmetic on sizes. Adds a Variable's bounds to
    `bounds`."""
    if isinstance(extent, Variable):
        bounds[extent.name] = extent.min, extent.max
        return extent.name
    if isinstance(extent, str):
        if not extent.isidentifier():
            raise ValueError(f"{extent!r} is not a name for an extent")
        return extent
    if isinstance(extent, SymInt):
        bounds |= {a.variable.name: (a.variable.min, a.variable.max) for a in extent.atoms}
        return extent if extent.atom is None else extent.atom.variable.name
    if isinstance(extent, bool) or not hasattr(extent, "__index__"):
        raise TypeError(f"an extent is an integer, a name or a Variable, got {extent!r}")
    if index(extent) < 0:
        raise ValueError(f"an extent is {extent}")
    return index(extent)


def _checked(name: str, bounds: object) -> Bounds:
    """Bounds of an extent. Raises TypeError unless they are a pair of integers, ValueError unless
    0 <= least <= greatest."""
    match bounds:
        case (int() as least, int() as greatest):
            variable = Variable(name, least, greatest)
            return variable.min, variable.max
        case _:
            raise TypeError(
                f"the bounds of {name} are its least and greatest value, got {bounds!r}"
            )


def spec_of(value: object) -> Spec | None:
    """The spec of a tensor, an array or a spec; None for other values."""
    if isinstance(value, Spec):
        return value
    if isinstance(value, Tensor):
        return spec(value.shape, value.dtype)
    return spec_of(Tensor(value)) if is_array(value) else None


class Sizes:
    """The named sizes of several specs: equal names are one variable."""

    def __init__(self, specs: Sequence[Spec]) -> None:
        """Raises ValueError where two specs disagree on the bounds of a name."""
        self._bounds: dict[str, Bounds] = {}
        for each in specs:
            for name, bounds in each.bounds.items():
                if (known := self._bounds.setdefault(name, bounds)) != bounds:
                    raise ValueError(f"{name} has the bounds {known} and {bounds}")
        self._atoms: dict[str, Atom] = {}

    def atom(self, name: str) -> Atom:
        """The variable of a name, without a value."""
        if name not in self._atoms:
            variable = Variable(name, *self._bounds.get(name, DEFAULT_BOUNDS))
            self._atoms[name], _ = size_parameter(variable)
        return self._atoms[name]

    def size(self, extent: Dim | str) -> Dim:
        """An extent of a spec as a size."""
        if isinstance(extent, str):
            return SymInt.of(self.atom(extent))
        if isinstance(extent, SymInt):
            return extent.substituted({a: self.atom(a.variable.name) for a in extent.atoms})
        return extent

    def tensor(self, like: Spec) -> Tensor:
        """A tensor of a spec, without a value."""
        extents = tuple(self.size(extent) for extent in like.shape)
        static = static_extents(extents)
        type = tg.tensor_type(dtypes.attribute_of(like.dtype), static)
        is_symbolic = static != extents
        return Tensor.of_node(Node(None, (), type, extents=extents if is_symbolic else None))


def check_specs(values: Sequence[Any]) -> None:
    """Raise TypeError unless each value is a spec, an array, a tensor, or a list, tuple or dict of
    them."""

    def check(value: Any) -> None:
        if spec_of(value) is None:
            raise TypeError(f"expected a spec, an array or a tensor, got {value!r}")

    mapped(values, check)


class Argument(NamedTuple):
    """A tensor among the arguments of a traced function: its name, and its extents in terms of the
    sizes of the program."""

    name: str
    shape: Shape


@dataclass(frozen=True)
class Interface:
    """The calling convention of a traced function's program."""

    arguments: Sequence[Argument]
    traced: Traced[ModuleOp]

    @cached_property
    def is_direct(self) -> bool:
        """Whether a call of the program takes just its arrays, off which it reads the sizes, and
        returns what the function returns."""
        traced = self.traced
        if traced.implicit or traced.changed:
            return False
        structure: Any = traced.structure
        if type(structure) is not tuple:
            return isinstance(structure, Slot)
        returned = cast("tuple[Any, ...]", structure)
        return len(returned) > 1 and all(isinstance(value, Slot) for value in returned)

    @cached_property
    def sources(self) -> Mapping[Atom, SizeSource]:
        """For each size, the argument and the axis that have it, or a multiple of it, as extent.

        Raises ValueError for a size that is no argument's extent.
        """
        found: dict[Atom, SizeSource] = {}
        for position, argument in enumerate(self.arguments):
            for axis, extent in enumerate(argument.shape):
                if (multiple := _multiple(extent)) is not None:
                    atom, factor = multiple
                    found.setdefault(atom, SizeSource(position, axis, factor))
        for size in self.traced.sizes:
            if size not in found:
                name = size.variable.name
                raise ValueError(f"{name} is the extent of no argument: a call cannot infer it")
        return found


def _multiple(extent: Dim) -> tuple[Atom, int] | None:
    """The variable of which an extent is a multiple, and the factor; None for others."""
    if not isinstance(extent, SymInt) or extent.polynomial.constant or len(extent.atoms) != 1:
        return None
    factor = extent.polynomial.terms.get((extent.atoms[0],), 0)
    is_all = len(extent.polynomial.terms) == 1 and factor > 0
    return (extent.atoms[0], factor) if is_all else None


class Lowered:
    """A function, traced for arguments of some types but not compiled: the result of
    `Function.lower`. Printed, it is the traced program.
    """

    def __init__(self, source: ModuleOp, entry: str, interface: Interface) -> None:
        self._source = source
        self._entry = entry
        self._interface = interface

    def __str__(self) -> str:
        return self.as_text()

    @property
    def source(self) -> ModuleOp:
        """The traced program."""
        return self._source

    @property
    def entry(self) -> str:
        """The name of the program's function."""
        return self._entry

    @property
    def captured(self) -> Sequence[TensorBase]:
        """The tensors of the function itself, which are the last arguments of the program."""
        return self._interface.traced.implicit

    def as_text(self, stage: str | None = None) -> str:
        """The traced program as text, or the program after a stage."""
        return str(self._source if stage is None else self.module(stage))

    def module(self, stage: str) -> ModuleOp:
        """The program after a stage of the pipeline, as "rangeify".

        Raises ValueError if there is no such stage, and CompilationError if one refuses the
        program.
        """
        return self._build.module(stage)

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Name, OptOps, work, source and assembly of each kernel, in the order of the calls."""
        return self._build.kernels

    @cached_property
    def _build(self) -> StagedModule:
        return compiler.prepared(self._source, self._entry)

    def compile(
        self, *, target: str | None = None, opt: str = DEFAULT_OPT, check: bool = False
    ) -> Executable | CompiledFunction | compiler.Callback:
        """An executable, which takes an array for each tensor among the arguments, in their order.

        Args:
            target: as `tgdialect.compile` takes it.
            opt: as `tgdialect.compile` takes it.
            check: as `tgdialect.compile` takes it.

        Returns:
            An `Executable`; a `CompiledFunction`, which has its methods, where the function
            captures or assigns to tensors, or returns more than tensors.

        Raises:
            CompilationError: the program cannot be compiled.
            ValueError: the function assigns to an argument, or no argument has a size as an extent.
        """
        interface = self._interface
        for changed in interface.traced.changed:
            if isinstance(changed, int):
                name = interface.arguments[changed].name
                raise ValueError(
                    f"the function assigns to its argument {name}, which a caller would not see: "
                    "return the value, or assign to a tensor that the function captures"
                )
        _ = interface.sources  # Raises.
        program = compiler.compile(
            self._source, entry=self._entry, target=target, opt=opt, check=check
        )
        if interface.is_direct:
            return program
        if isinstance(program, Executable):
            return CompiledFunction(program, interface)
        return Binding(program, interface)


class Binding:
    """Calls a program with the arrays of a caller and the parameters that the caller does not
    pass."""

    def __init__(self, program: compiler.Callback, interface: Interface) -> None:
        self._program = program
        self._interface = interface

    def __call__(self, *arrays: Any, out: Array | Sequence[Array] | None = None) -> Any:
        """Run the function; `out` gives the memory for its arrays, one or a sequence.

        Raises ValueError and TypeError for arguments that do not fit the signature.
        """
        traced, sizes = self._interface.traced, self._sizes(arrays)
        given, memory = self._completed(arrays, sizes), self._memory(out, sizes)
        lost = self._overwritten(arrays, given) if out is None else ()
        found = self._program(*given, **memory)
        for node in lost:
            lose(node, "a compiled function has overwritten this value in memory")
        results = list(found) if isinstance(found, tuple) else [found]
        for tensor in reversed(traced.changed):
            assert isinstance(tensor, Tensor)
            type, extents = traced.kinds[len(results) - 1]
            node = Node(None, (), type, results.pop(), False, substituted(extents, sizes))
            if isinstance(node.device, str) and not isinstance(node.data, ShardedArray):
                node.data = DEVICES[node.device].array(node.data)
            tensor.adopt(node)
        returned = filled(traced.structure, results, sizes)
        return mapped(returned, lambda value: value.value if isinstance(value, SymInt) else value)

    def _overwritten(self, arrays: Sequence[Any], given: list[Any]) -> Sequence[Node]:
        """The values of captured tensors that a call overwrites in memory. In `given`, its
        arguments, what it must not overwrite is replaced by copies."""
        if not isinstance(program := self._program, Executable) or not program.overwritten:
            return ()
        for _, i in program.overwritten:
            if i < len(arrays) and isinstance(arrays[i], Tensor):
                given[i] = program.copied(given[i])
        traced = self._interface.traced
        nodes = [tensor.node for tensor in traced.implicit]
        return overwritten(program, nodes, given, len(arrays) + len(traced.sizes))

    def _completed(self, arrays: Sequence[Any], sizes: Mapping[Atom, Atom]) -> list[Any]:
        interface = self._interface
        nodes = [tensor.node for tensor in interface.traced.implicit]
        realize(nodes)
        return [
            *(computed(a.node) if isinstance(a, Tensor) else a for a in arrays),
            *(sizes[atom].value for atom in interface.traced.sizes),
            *(node.data for node in nodes),
        ]

    def _sizes(self, arrays: Sequence[Any]) -> Mapping[Atom, Atom]:
        """The values of the sizes, read from the shapes of the arrays."""
        interface = self._interface
        if len(arrays) != len(interface.arguments):
            names = ", ".join(argument.name for argument in interface.arguments)
            count = len(interface.arguments)
            raise ValueError(f"expected {count} inputs ({names}), got {len(arrays)}")
        values: dict[Atom, Atom] = {}
        for atom in interface.traced.sizes:
            source = interface.sources[atom]
            argument, shape = interface.arguments[source.array], np.shape(arrays[source.array])
            if len(shape) != len(argument.shape):
                raise ValueError(f"{argument.name} has shape {argument.shape}, got {shape}")
            values[atom] = Atom(atom.variable, source.size(shape))
        return values

    def _memory(
        self, out: Array | Sequence[Array] | None, sizes: Mapping[Atom, Atom]
    ) -> Mapping[str, Any]:
        """The `out` argument of the executable: the caller's memory for the function's results, and
        new memory for assigned values."""
        if out is None:
            return {}
        memory = list(out) if isinstance(out, list | tuple) else [cast(Array, out)]
        traced = self._interface.traced
        for type, extents in traced.kinds[traced.first_change :]:
            like = Node(None, (), type, extents=substituted(extents, sizes))
            shape = [value_of(extent) for extent in like.shape]
            memory.append(np.empty(shape, dtypes.numpy_of(like.dtype)))
        return {"out": memory}


class CompiledFunction(Binding):
    """An `Executable` of a Python function that captures or assigns to tensors, or does not just
    return tensors.

    Call it with NumPy arrays, one for each tensor among the arguments. It returns what the function
    returns, with arrays for tensors. Each call reads captured tensors, and assigns to tensors that
    the function assigns to.
    """

    def __init__(self, executable: Executable, interface: Interface) -> None:
        super().__init__(executable, interface)
        self.executable = executable

    def profile(
        self, *arrays: Any, out: Array | Sequence[Array] | None = None, seconds: float = 1.0
    ) -> Profile:
        """As `Executable.profile`. Tensors that the function assigns to do not change."""
        sizes = self._sizes(arrays)
        given, memory = self._completed(arrays, sizes), self._memory(out, sizes)
        return self.executable.profile(*given, seconds=seconds, **memory)

    def memory(self, **sizes: int) -> Footprint:
        """As `Executable.memory`. `sizes` are those in the shapes of the arguments, by name."""
        return self.executable.memory(**sizes)

    @property
    def kernels(self) -> Sequence[Kernel]:
        """As `Executable.kernels`."""
        return self.executable.kernels

    def module(self, stage: str) -> ModuleOp:
        """As `Executable.module`."""
        return self.executable.module(stage)
