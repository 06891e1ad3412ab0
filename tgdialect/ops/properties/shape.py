"""The shape column: rules from the shapes of an op's operands to the shape of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import DataAttr, NumberAttr
from tgdialect.ops.dtypes import dtype_row
from tgdialect.ops.properties.axis import sharding
from tgdialect.ops.properties.dtype import argument as dtype_argument
from tgdialect.ops.properties.symbolic import (
    NAME_THE_EXTENT,
    Dim,
    Shape,
    UnknownDim,
    excess,
    known_dim,
    same_dim,
    same_shape,
    same_size,
    show_dim,
    show_shape,
)
from tgdialect.ops.properties.values import dtype_of, integers, mixed, tensor

ShapeRule = Callable[[Operation, Sequence[Shape]], Shape]


def broadcast_shapes(shapes: Sequence[Shape], same: Callable[[Dim, Dim], bool] = same_dim) -> Shape:
    """Broadcast shapes, aligned from the right. The extents of an axis must be equal, as `same`
    says, or 1."""
    rank = max(len(s) for s in shapes)
    result: list[Dim] = []
    for axis in range(rank):
        extent: Dim = 1
        for shape in shapes:
            position = axis - rank + len(shape)
            dim = shape[position] if position >= 0 else 1
            if dim == 1 or dim == extent:
                continue
            if extent == 1:
                extent = dim
            elif not same(dim, extent):
                message = f"axis {axis}: {show_dim(extent)} and {show_dim(dim)} do not broadcast"
                if isinstance(dim, UnknownDim) or isinstance(extent, UnknownDim):
                    message += f"; {NAME_THE_EXTENT}"
                raise VerifyException(message)
        result.append(extent)
    return tuple(result)


def scalar(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return ()


def _operand(number: int) -> ShapeRule:
    return lambda op, shapes: shapes[number]


source, third = map(_operand, (0, 2))


def written(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """The shape that the result type states, with the op's index operands in place of `?`."""
    static = tensor(op.results[0]).get_shape()
    if (wanted := static.count(DYNAMIC_INDEX)) != len(op.operands):
        raise VerifyException(f"{wanted} dynamic dimensions but {len(op.operands)} index values")
    dynamic = iter(op.operands)
    return tuple(next(dynamic) if d == DYNAMIC_INDEX else d for d in static)


def exchanged(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """The shape of the result of a collective: axes that are split or joined are static, and the
    dynamic ones are those of the operand."""
    static = tensor(op.results[0]).get_shape()
    return tuple(
        old if new == DYNAMIC_INDEX else new for new, old in zip(static, shapes[0], strict=True)
    )


def broadcast(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return broadcast_shapes(shapes)


def permuted(op: Operation, shapes: Sequence[Shape]) -> Shape:
    order, shape = integers(op, "order"), shapes[0]
    if sorted(order) != list(range(len(shape))):
        raise VerifyException(f"order {list(order)} is not a permutation of {len(shape)} axes")
    return tuple(shape[axis] for axis in order)


def flipped(op: Operation, shapes: Sequence[Shape]) -> Shape:
    if (flags := len(integers(op, "flags"))) != len(shapes[0]):
        raise VerifyException(f"{flags} flags for a tensor of {len(shapes[0])} axes")
    return shapes[0]


def _nonnegative(shape: Shape) -> Shape:
    for axis, dim in enumerate(shape):
        if (message := negative_extent(axis, dim)) is not None:
            raise VerifyException(message)
    return shape


def negative_extent(axis: int, dim: Dim) -> str | None:
    """The error message for an extent that is known to be negative; None for other extents."""
    if (known := known_dim(dim)) is None or known >= 0:
        return None
    return f"axis {axis} of the new shape is negative: {known}"


def _new_shape(op: Operation) -> Shape:
    """The shape that a RESHAPE or EXPAND states."""
    return mixed(op, "shape", op.operands[1:])


def reshaped(op: Operation, shapes: Sequence[Shape]) -> Shape:
    old, new = shapes[0], _nonnegative(_new_shape(op))
    if not same_size(old, new):
        raise VerifyException(
            f"reshape from {show_shape(old)} to {show_shape(new)} changes the number of elements"
        )
    return new


def expanded(op: Operation, shapes: Sequence[Shape]) -> Shape:
    old, new = shapes[0], _nonnegative(_new_shape(op))
    _same_rank("expand", old, new)
    for axis, (a, b) in enumerate(zip(old, new, strict=True)):
        if a != 1 and not same_dim(a, b):
            raise VerifyException(f"axis {axis}: {show_dim(a)} does not expand to {show_dim(b)}")
    return new


def _same_rank(name: str, old: Shape, new: Shape) -> None:
    if len(old) != len(new):
        raise VerifyException(f"{name} from {len(old)} to {len(new)} axes; the rank is kept")


def window(op: Operation) -> tuple[Shape, Shape]:
    """The offsets and the new shape of a PAD or SHRINK."""
    offsets, new = _window(op)
    return offsets, _nonnegative(new)


def _window(op: Operation) -> tuple[Shape, Shape]:
    """The same without a check."""
    n_dynamic = integers(op, "offsets").count(DYNAMIC_INDEX)
    dynamic = op.operands[1:]
    offsets = mixed(op, "offsets", dynamic[:n_dynamic])
    return offsets, mixed(op, "shape", dynamic[n_dynamic:])


def padded(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """PAD: the source is a window of the result, `0 <= offset` and `offset + old <= new`."""
    offsets, new = window(op)
    _check_window("pad", offsets, new, inner=shapes[0], outer=new)
    return new


def shrunk(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """SHRINK: the result is a window of the source, `0 <= offset` and `offset + new <= old`."""
    offsets, new = window(op)
    _check_window("shrink", offsets, new, inner=new, outer=shapes[0])
    return new


def _check_window(name: str, offsets: Shape, new: Shape, inner: Shape, outer: Shape) -> None:
    """Raise VerifyException for a window that is known to be out of bounds. A window that depends
    on the arguments of a call is checked by the call."""
    old = outer if new is inner else inner
    _same_rank(name, old, new)
    if len(offsets) != len(old):
        raise VerifyException(f"{len(offsets)} offsets for a tensor of {len(old)} axes")
    for axis, bounds in enumerate(zip(offsets, inner, outer, strict=True)):
        if (message := window_misfit(axis, *bounds)) is not None:
            raise VerifyException(message)


def window_misfit(axis: int, offset: Dim, inner: Dim, outer: Dim) -> str | None:
    """The error message for a window on one axis that is known to be out of bounds; otherwise None.

    Extents and the offset must be at least 0, and the end of the window at most `outer`.
    """
    for extent in (inner, outer):
        if (message := negative_extent(axis, extent)) is not None:
            return message
    if (start := known_dim(offset)) is not None and start < 0:
        return f"axis {axis}: offset {start} is negative"
    if (over := excess((offset, inner), outer)) is None or over <= 0:
        return None
    return (
        f"axis {axis}: offset {show_dim(offset)} plus extent {show_dim(inner)} "
        f"exceeds {show_dim(outer)}"
    )


STATED: Mapping[ShapeRule, Callable[[Operation], Shape]] = {
    reshaped: _new_shape,
    expanded: _new_shape,
    padded: lambda op: _window(op)[1],
    shrunk: lambda op: _window(op)[1],
}
"""How to read the shape of a result that an op states, whatever the shapes of its operands. Only
the op's verifier and its constructor need the rule, which checks that the shapes fit."""


def indexed(op: Operation, shapes: Sequence[Shape]) -> Shape:
    source, indices = shapes[0], shapes[1:]
    if len(indices) > len(source):
        raise VerifyException(f"{len(indices)} indices into a tensor of {len(source)} axes")
    for position, shape in enumerate(indices):
        if len(shape) > 1:
            raise VerifyException(f"index {position} has shape {show_shape(shape)}; () or (k,)")
    return tuple(d for shape in indices for d in shape) + source[len(indices) :]


def stacked(op: Operation, shapes: Sequence[Shape]) -> Shape:
    if not shapes:
        raise VerifyException("stack needs at least one operand")
    for shape in shapes[1:]:
        if not same_shape(shape, shapes[0]):
            raise VerifyException(
                f"operands have different shapes: {show_shape(shapes[0])} and {show_shape(shape)}"
            )
    return (len(shapes), *shapes[0])


def bitcast(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """BITCAST: the last axis is scaled so that the number of bytes stays the same."""
    old = dtype_of(op.operands[0]).itemsize
    new = dtype_row(dtype_argument(op)).itemsize
    shape = shapes[0]
    if old == new:
        return shape
    if not shape:
        raise VerifyException(f"bitcast from {old} to {new} bytes needs an axis to scale")
    last = shape[-1]
    if not isinstance(last, int):
        raise VerifyException("bitcast to another size needs a static last axis")
    if last * old % new:
        raise VerifyException(f"bitcast of {last} x {old} bytes is no multiple of {new} bytes")
    return (*shape[:-1], last * old // new)


def reduced(op: Operation, shapes: Sequence[Shape]) -> Shape:
    axes, shape = integers(op, "axes"), shapes[0]
    for axis in axes:
        if not 0 <= axis < len(shape):
            raise VerifyException(f"axis {axis} is out of range for {len(shape)} axes")
    if len(set(axes)) != len(axes):
        raise VerifyException(f"axes {list(axes)} are not unique")
    return tuple(1 if axis in axes else d for axis, d in enumerate(shape))


def replicated(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """REPLICATED: removes the sharding axis, which has one entry per device."""
    axis = cast(NumberAttr, op.properties["axis"]).data
    (devices, sharded), shape = sharding(op), shapes[0]
    if axis != sharded:
        raise VerifyException(
            f"axis {axis} is not the sharding axis ({'null' if sharded is None else sharded})"
        )
    if shape[axis] != len(devices):
        raise VerifyException(
            f"the sharding axis has {show_dim(shape[axis])} entries for {len(devices)} devices"
        )
    return (*shape[:axis], *shape[axis + 1 :])


def value_count(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return (len(integers(op, "values")),)


def byte_count(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return (len(cast(DataAttr, op.properties["data"]).data),)
