"""Executables: a program compiled for this machine, to be called with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.interpreter.dtypes import numpy_dtype
from tgdialect.lowering.pipeline import AfterStage, run_stages, stages
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.verify import verify_level
from tgdialect.ops.arguments import (
    argument_attributes,
    dims_attribute,
    integer_attribute,
)
from tgdialect.ops.codegen import CustomFunctionOp, CustomOp, InsOp
from tgdialect.ops.properties import dtype_of, is_memory, tensor
from tgdialect.ops.source import BinaryDataOp
from tgdialect.runtime.jit import LoadedCode, load

Array = np.ndarray[Any, np.dtype[Any]]

UNTRUSTED = (CustomOp, CustomFunctionOp, InsOp, BinaryDataOp)
"""Ops that carry code or bytes of their own; nothing executes them unasked."""

_ALIGNMENT = 64


def refuse_untrusted(module: ModuleOp) -> None:
    """Raise for a program that carries code of its own (docs/semantics.md, "untrusted IR")."""
    for op in module.walk():
        if isinstance(op, UNTRUSTED):
            raise VerifyException(f"{op.name} is not executed unless allow_custom says so")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a compiled function.

    `shape` has `DYNAMIC_INDEX` for a dynamic extent, and `dims` the positions of the parameters
    that those extents are, in order. `role` is input, scalar, buffer, output or workspace.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    dims: tuple[int, ...] = ()
    low: int = -(2**63)
    high: int = 2**63 - 1
    by_reference: bool = False

    def __str__(self) -> str:
        extents = "x".join("?" if d == DYNAMIC_INDEX else str(d) for d in self.shape)
        return f"{self.name}: {extents + ' ' if extents else ''}{self.dtype}"


def _signature(function: FuncOp, by_reference: set[int]) -> list[Parameter]:
    """The parameters of a function at level `planned`."""
    parameters: list[Parameter] = []
    for position, argument in enumerate(function.args):
        attributes = argument_attributes(argument)
        type = tensor(argument)
        roles = ("tg.output", "tg.workspace", "tg.buffer")
        role = next((r.removeprefix("tg.") for r in roles if r in attributes), None)
        low = integer_attribute(attributes, "tg.min")
        high = integer_attribute(attributes, "tg.max")
        parameters.append(
            Parameter(
                name=argument.name_hint or f"arg{position}",
                role=role or ("input" if is_memory(argument) else "scalar"),
                shape=type.get_shape(),
                dtype=numpy_dtype(dtype_of(argument)),
                dims=dims_attribute(attributes) or (),
                low=-(2**63) if low is None else low,
                high=2**63 - 1 if high is None else high,
                by_reference=position in by_reference,
            )
        )
    return parameters


class Executable:
    """A compiled function: call it with NumPy arrays, get NumPy arrays.

    Inputs are in the order of the function's arguments. An argument that was memory in the program
    is passed by reference, so that the program's STOREs show in the caller's array; every other
    array is converted to the right layout if need be, and left alone. BUFFERs of the program are
    zero at first and live as long as the executable, in `buffers`.
    """

    def __init__(self, code: LoadedCode, symbol: str, parameters: Sequence[Parameter]) -> None:
        self._code = code
        self.parameters = tuple(parameters)
        self.inputs = [p for p in parameters if p.role in ("input", "scalar")]
        self.outputs = [p for p in parameters if p.role == "output"]
        self.buffers = {
            p.name: np.zeros(p.shape, p.dtype) for p in parameters if p.role == "buffer"
        }
        self._workspaces: list[Array] = []
        types = [ctypes.c_int64 if p.role == "scalar" else ctypes.c_void_p for p in parameters]
        prototype = ctypes.CFUNCTYPE(None, *types)
        self._function: Callable[..., None] = prototype(code.address(symbol))

    def __call__(
        self, *arrays: Any, out: Array | Sequence[Array] | None = None
    ) -> Array | tuple[Array, ...]:
        """Run the program; `out` gives the memory for its results, one array or one for each.

        Raises ValueError and TypeError for arguments that do not fit the signature.
        """
        if len(arrays) != len(self.inputs):
            names = ", ".join(p.name for p in self.inputs)
            raise ValueError(f"expected {len(self.inputs)} inputs ({names}), got {len(arrays)}")
        given = iter(arrays)
        values: list[Any] = [None] * len(self.parameters)
        for position, parameter in enumerate(self.parameters):
            if parameter.role == "scalar":
                values[position] = _check_scalar(parameter, next(given))
            elif parameter.role == "input":
                values[position] = _as_input(parameter, next(given))
        for position, parameter in enumerate(self.parameters):
            if parameter.role == "input":
                _check_shape(parameter, values[position].shape, self._shape(parameter, values))
        results = self._outputs(values, out)
        targets = iter(results)
        workspace: Array | None = None
        for position, parameter in enumerate(self.parameters):
            if parameter.role == "output":
                values[position] = next(targets)
            elif parameter.role == "buffer":
                values[position] = self.buffers[parameter.name]
            elif parameter.role == "workspace":
                workspace = self._take_workspace(self._shape(parameter, values))
                values[position] = workspace
        self._function(*(v if isinstance(v, int) else v.ctypes.data for v in values))
        if workspace is not None:
            self._workspaces.append(workspace)
        return self._returned(results, out)

    def _shape(self, parameter: Parameter, values: Sequence[Any]) -> tuple[int, ...]:
        dynamic = iter(parameter.dims)
        return tuple(values[next(dynamic)] if d == DYNAMIC_INDEX else d for d in parameter.shape)

    def _outputs(self, values: Sequence[Any], out: Array | Sequence[Array] | None) -> list[Array]:
        """The memory that results are computed in: the caller's where that is safe."""
        shapes = [self._shape(p, values) for p in self.outputs]
        if out is None:
            return [np.empty(s, p.dtype) for p, s in zip(self.outputs, shapes, strict=True)]
        given = [out] if isinstance(out, np.ndarray) else list(out)
        if len(given) != len(self.outputs):
            raise ValueError(f"out has {len(given)} arrays for {len(self.outputs)} results")
        result: list[Array] = []
        for parameter, shape, array in zip(self.outputs, shapes, given, strict=True):
            _check_shape(parameter, array.shape, shape)
            if array.dtype != parameter.dtype:
                raise TypeError(f"out for {parameter}: got {array.dtype}")
            if not array.flags.writeable:
                raise ValueError(f"out for {parameter} is read-only")
            inputs = [cast(Array, v) for v in values if isinstance(v, np.ndarray)]
            direct = array.flags.c_contiguous and not any(
                np.may_share_memory(array, other) for other in (*inputs, *result)
            )
            result.append(array if direct else np.empty(shape, parameter.dtype))
        return result

    def _returned(
        self, results: list[Array], out: Array | Sequence[Array] | None
    ) -> Array | tuple[Array, ...]:
        if out is not None:
            given = [out] if isinstance(out, np.ndarray) else list(out)
            for array, result in zip(given, results, strict=True):
                if array is not result:
                    array[...] = result
            results = given
        return results[0] if len(results) == 1 else tuple(results)

    def _take_workspace(self, shape: tuple[int, ...]) -> Array:
        """Scratch memory from an earlier call, or new; calls on several threads each have one."""
        try:
            return self._workspaces.pop()
        except IndexError:
            memory = np.empty(shape[0] + _ALIGNMENT, np.uint8)
            start = -memory.ctypes.data % _ALIGNMENT
            return memory[start : start + shape[0]]


def _check_scalar(parameter: Parameter, value: Any) -> int:
    if isinstance(value, np.ndarray) and cast(Array, value).shape == ():
        value = cast(Array, value).item()
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{parameter.name} is an integer, got {value!r}")
    number = int(cast(int, value))
    if not parameter.low <= number <= parameter.high:
        raise ValueError(
            f"{parameter.name} is {number}, outside [{parameter.low}, {parameter.high}]"
        )
    return number


def _as_input(parameter: Parameter, value: Any) -> Array:
    # NumPy's own arrays go straight: DLPack has no bf16 and fp8 of ml_dtypes.
    foreign = hasattr(value, "__dlpack__") and not isinstance(cast(object, value), np.ndarray)
    array: Array = np.from_dlpack(value) if foreign else np.asarray(value)
    if array.dtype != parameter.dtype:
        raise TypeError(f"{parameter.name} is {parameter.dtype}, got {array.dtype}")
    if not parameter.by_reference:
        return np.ascontiguousarray(array).reshape(array.shape)
    if not (array.flags.c_contiguous and array.flags.writeable):
        raise ValueError(
            f"{parameter.name} is written by the program: it must be contiguous and writable"
        )
    return array


def _check_shape(parameter: Parameter, given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if given != wanted:
        raise ValueError(f"{parameter.name} has shape {wanted}, got {given}")


def compile_module(
    module: ModuleOp,
    *,
    entry: str = "main",
    opt: str = "none",
    allow_custom: bool = False,
    after: AfterStage | None = None,
) -> Executable:
    """Compile the function `entry` of a module at the tensor level for this CPU.

    The module is left as it is. `opt` is a mode of `tg-optimize`; `after` sees the module after
    each stage. Raises VerifyException or PassFailedException for programs that cannot be compiled.
    """
    if not allow_custom:
        refuse_untrusted(module)
    verify_level(module, "tensor")
    module = module.clone()
    by_reference = {
        position
        for position, argument in enumerate(entry_function(module, entry).args)
        if is_memory(argument)
    }
    ctx = Context()
    cpu = CpuTarget.host()
    passes = stages(mode=opt, features=tuple(cpu.features.split(",")))
    render = next(i for i, p in enumerate(passes) if isinstance(p, RenderPass))
    run_stages(ctx, module, passes[:render], after)
    parameters = _signature(entry_function(module, entry), by_reference)
    run_stages(ctx, module, passes[render:], after)
    code = load(cpu.object_code(llvm_ir(module)))
    return Executable(code, entry, parameters)


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name; the error lists those that there are."""
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp) and not op.is_declaration
    }
    if name not in functions:
        there_are = ", ".join(functions) or "none"
        raise PassFailedException(f"there is no function @{name}; there are: {there_are}")
    return functions[name]
