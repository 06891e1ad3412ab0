"""The signature of an entry, and checks of a run's inputs against it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError, VerifyException

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.interpreter.values import check_size
from tgdialect.ops import tg
from tgdialect.ops.arrays import NUMPY_DTYPES
from tgdialect.ops.expressions import (
    Expression,
    SizeSource,
    evaluate,
    is_expression,
    multiple_of,
    parsed,
    size_sources,
)
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.source import extent_position, parameters


@dataclass(frozen=True)
class EntryArgument:
    """One argument of an entry: its name in error messages, its type and its attributes."""

    label: str
    type: TensorType[Attribute]
    attributes: Mapping[str, Attribute]
    extents: Sequence[int | None]
    """For each dynamic dimension, the position of the index argument that gives it."""
    multiples: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """For each axis whose extent is a multiple of an index argument, its position and the
    factor."""

    @property
    def is_output(self) -> bool:
        return "tg.output" in self.attributes

    @property
    def result(self) -> int | None:
        """For an input that the program overwrites by a result, the number of the result."""
        return tg.integer_attribute(self.attributes, "tg.result")

    @property
    def is_allocated(self) -> bool:
        """Whether the interpreter allocates it: an output, the workspace, or what was a BUFFER or a
        BINARY."""
        return not tg.ALLOCATED.isdisjoint(self.attributes)

    @property
    def axes(self) -> Sequence[int | None]:
        """For each axis, the position of the index argument that gives its extent; None for a
        static one, or if nothing does."""
        dims = iter(self.extents)
        return [next(dims) if d == DYNAMIC_INDEX else None for d in self.type.get_shape()]

    @property
    def formula(self) -> str | None:
        """For an index argument that is computed from others, the expression."""
        return tg.computed_attribute(self.attributes)

    @property
    def buffer(self) -> int | None:
        """For an argument that was a BUFFER, the slot; otherwise None."""
        return tg.integer_attribute(self.attributes, "tg.buffer")


def signature(entry: Operation) -> list[EntryArgument]:
    """The arguments of an entry: those of a `func.func`, then the PARAMs of the body."""
    block = body_of(entry)
    # Those of a function.
    result = [_argument(argument) for argument in block.args]
    try:
        params = parameters(block)
    except VerifyException as e:
        raise InterpretationError(str(e)) from e
    # The PARAMs. An extent that is a PARAM itself is given by that PARAM's position.
    first = len(result)
    positions: dict[SSAValue, int] = {
        op.result: first + op.slot.data for op in ops_of(block) if isinstance(op, tg.ParamOp)
    }
    for param in params:
        dims = [positions.get(dim) for dim in param.dims]
        multiples: dict[int, tuple[int, int]] = {}
        for axis, dim in enumerate(tg.shape_of(param.result)):
            formulas: dict[int, Expression] = {}
            _ = extent_position(dim, positions, formulas)
            for formula in formulas.values():
                if (multiple := multiple_of(formula)) is not None:
                    multiples[axis] = multiple
        bounds = {"tg.min": param.min, "tg.max": param.max}
        attributes: dict[str, Attribute] = {
            name: IntegerAttr(bound.data, 64) for name, bound in bounds.items() if bound is not None
        }
        if (formula := param.attributes.get("tg.computed")) is not None:
            attributes["tg.computed"] = formula
        name = param.slot.data if param.symbol is None else param.symbol.data
        type = tg.tensor(param.result)
        result.append(EntryArgument(f"parameter {name}", type, attributes, dims, multiples))
    return result


def body_of(entry: Operation) -> Block:
    """The only block of what can be called."""
    match entry:
        case func.FuncOp() if (count := len(entry.body.blocks)) != 1:
            raise InterpretationError(f"@{entry.sym_name.data} has {count} blocks, not one")
        case func.FuncOp() | tg.KernelOp():
            return entry.body.block
        case tg.ProgramOp():
            return entry.linear.body.block
        case _:
            raise InterpretationError(f"{entry.name} is not something that runs")


def _argument(argument: BlockArgument) -> EntryArgument:
    type, attributes = argument.type, tg.argument_attributes(argument)
    if not isinstance(type, TensorType):
        raise InterpretationError(f"argument {argument.index} is {type}, not a tensor")
    type = cast(TensorType[Attribute], type)
    extents = tg.dims_attribute(attributes) or [None] * type.get_shape().count(DYNAMIC_INDEX)
    return EntryArgument(f"argument {argument.index}", type, attributes, extents)


def bind(
    params: Sequence[EntryArgument], inputs: Sequence[Any], buffers: dict[int, Array]
) -> list[Array]:
    """The arrays of all arguments: checked inputs, and allocated arrays.

    Inputs may leave out all index arguments that are extents of others. Raises InterpretationError
    if an input does not have the dtype and shape of its argument, or if
    an index is out of its bounds or differs from the extent that it stands for.
    """
    wanted = [i for i, p in enumerate(params) if not p.is_allocated]
    formulas = {i: parsed(p.formula) for i, p in enumerate(params) if p.formula is not None}
    sources = size_sources(((i, params[i].axes) for i in wanted), formulas)
    for i in wanted:
        for axis, (position, factor) in params[i].multiples.items():
            sources.setdefault(position, SizeSource(i, axis, factor))
    sources = {i: source for i, source in sources.items() if i in wanted}
    passed = [i for i in wanted if i not in sources]
    if len(inputs) not in (len(wanted), len(passed)):
        also = f", or {len(passed)} without sizes" if sources else ""
        raise InterpretationError(f"{len(wanted)} inputs are wanted{also}, {len(inputs)} given")
    arrays: list[Array | None] = [None] * len(params)
    for i, value in zip(wanted if len(inputs) == len(wanted) else passed, inputs, strict=True):
        arrays[i] = _checked(params[i], value)
    for i, source in sources.items():
        if arrays[i] is None and (array := arrays[source.array]) is not None:
            arrays[i] = _checked(params[i], source.size(array.shape))
    for i, param in enumerate(params):
        if param.formula is not None:
            arrays[i] = _computed(param, arrays[:i])
    for param, array in zip(params, arrays, strict=True):
        if array is not None:
            _check_extents(param, array, params, arrays)
    return [
        _allocated(p, arrays, buffers) if array is None else array
        for p, array in zip(params, arrays, strict=True)
    ]


def _computed(param: EntryArgument, before: Sequence[Array | None]) -> Array:
    """The value of an index argument that is computed from those before it."""
    numbers = [None if a is None or a.shape or a.dtype != np.int64 else int(a) for a in before]
    expression = parsed(param.formula or "")
    is_known = is_expression(expression, lambda i: i < len(numbers) and numbers[i] is not None)
    if not is_known:
        raise InterpretationError(f"{param.label}: {param.formula!r} is no expression in others")
    return _checked(param, evaluate(expression, numbers))


def _checked(param: EntryArgument, value: Any) -> Array:
    """Check an input and return it as an array. A Python number becomes a scalar array."""
    # Convert a Python number, which the dtype must represent.
    dtype, shape = _dtype(param), param.type.get_shape()
    if isinstance(value, bool | int | float):
        try:
            scalar = np.asarray(value, dtype)
        except (OverflowError, ValueError) as e:
            raise InterpretationError(f"{param.label}: {value} is not a {dtype}") from e
        if dtype.kind in "iu" and int(scalar) != value:
            raise InterpretationError(f"{param.label}: {value} is not a {dtype}")
        value = scalar
    # Check the dtype, the shape, and the bounds of an index.
    array = np.asarray(value)
    if array.dtype != dtype:
        raise InterpretationError(f"{param.label} is {dtype}, the input {array.dtype}")
    same_rank = len(array.shape) == len(shape)
    if not same_rank or any(
        s not in (d, DYNAMIC_INDEX) for s, d in zip(shape, array.shape, strict=True)
    ):
        wanted = "x".join("?" if d == DYNAMIC_INDEX else str(d) for d in shape) or "()"
        got = "x".join(str(d) for d in array.shape) or "()"
        raise InterpretationError(f"{param.label} has shape {wanted}, the input {got}")
    if not shape:
        low, high = (tg.integer_attribute(param.attributes, name) for name in ("tg.min", "tg.max"))
        check_bounds(param.label, array, low, high)
    return array


def check_bounds(label: str, value: Array, low: int | None, high: int | None) -> None:
    """Raise InterpretationError if an argument is outside of the bounds that it has."""
    for limit, word, is_wrong in ((low, "less", np.less), (high, "greater", np.greater)):
        if limit is not None and bool(is_wrong(value, limit).any()):
            raise InterpretationError(f"{label} is {value.flat[0]}, {word} than {limit}")


def _dtype(param: EntryArgument) -> np.dtype[Any]:
    """The NumPy dtype of an argument. Raises InterpretationError for other dialects' types."""
    if (dtype := tg.DTYPES.get(param.type.element_type)) is None:
        raise InterpretationError(f"{param.type} is not a tensor of a tg dtype")
    return NUMPY_DTYPES[dtype.name]


def _dynamic_axes(param: EntryArgument) -> list[int]:
    return [axis for axis, d in enumerate(param.type.get_shape()) if d == DYNAMIC_INDEX]


def _check_extents(
    param: EntryArgument,
    array: Array,
    params: Sequence[EntryArgument],
    arrays: Sequence[Array | None],
) -> None:
    """Raise InterpretationError if a dynamic extent of an array differs from the index argument
    that gives it."""
    for axis, position in zip(_dynamic_axes(param), param.extents, strict=True):
        index = None if position is None else arrays[position]
        if position is not None and index is not None and int(index) != array.shape[axis]:
            raise InterpretationError(
                f"{param.label}: axis {axis} is {array.shape[axis]}, "
                f"{params[position].label} says {int(index)}"
            )


def _allocated(
    param: EntryArgument, arrays: Sequence[Array | None], buffers: dict[int, Array]
) -> Array:
    """An allocated argument: the caller's array for a former BUFFER if there is one, else zeros."""
    dtype = _dtype(param)
    if param.buffer is not None and param.buffer in buffers:
        return _checked(param, buffers[param.buffer])
    shape = list(param.type.get_shape())
    if (data := tg.data_attribute(param.attributes)) is not None:
        if len(data) != math.prod(shape) * dtype.itemsize:
            raise InterpretationError(f"{param.label}: tg.data has {len(data)} bytes")
        # A write makes another version of memory.
        return tg.array_of(data).view(dtype).reshape(shape)
    for axis, position in zip(_dynamic_axes(param), param.extents, strict=True):
        index = None if position is None else arrays[position]
        if index is None:
            raise InterpretationError(f"{param.label}: nothing says how great axis {axis} is")
        shape[axis] = int(index)
    check_size(shape, dtype.itemsize)
    return np.zeros(shape, dtype)
