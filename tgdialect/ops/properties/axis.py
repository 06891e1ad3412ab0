"""The axis column: rules from an op to the sharding axis of its result."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.dtypes import dtype_row
from tgdialect.ops.properties.device import argument as device_argument
from tgdialect.ops.properties.dtype import argument as dtype_argument
from tgdialect.ops.properties.symbolic import show_dim, show_shape
from tgdialect.ops.properties.values import dtype_of, integers, place, tensor

AxisRule = Callable[[Operation], int | None]


def source(op: Operation) -> int | None:
    return place(op.operands[0]).axis


def written(op: Operation) -> int | None:
    return place(op.results[0]).axis


def sharding(op: Operation) -> tuple[tuple[str, ...], int | None]:
    """The devices of the source, and its sharding axis."""
    where = place(op.operands[0])
    return (where.device if isinstance(where.device, tuple) else ()), where.axis


def inherited(op: Operation) -> int | None:
    """The operands' sharding axis, for elementwise ops. Axes are aligned from the right, as in a
    broadcast. Operands sharded on different axes are an error."""
    axes = [place(operand).axis for operand in op.operands]
    if axes.count(None) == len(axes):
        return None
    result: int | None = None
    rank = max(len(tensor(o).shape) for o in op.operands)
    for operand, axis in zip(op.operands, axes, strict=True):
        if axis is None:
            continue
        axis += rank - len(tensor(operand).shape)
        if result is not None and axis != result:
            raise VerifyException(f"operands are sharded on different axes: {result} and {axis}")
        result = axis
    return result


def permuted(op: Operation) -> int | None:
    axis = source(op)
    return None if axis is None else integers(op, "order").index(axis)


def uncut(op: Operation) -> int | None:
    """EXPAND, PAD and SHRINK keep the axis and may not change its extent."""
    axis = source(op)
    if axis is not None:
        old, new = tensor(op.operands[0]).get_shape()[axis], integers(op, "shape")[axis]
        if old != new:
            raise VerifyException(
                f"the sharding axis {axis} may not change from {show_dim(old)} to {show_dim(new)}"
            )
    return axis


def unflipped(op: Operation) -> int | None:
    axis = source(op)
    if axis is not None and integers(op, "flags")[axis]:
        raise VerifyException(f"the sharding axis {axis} may not be flipped")
    return axis


def reshaped(op: Operation) -> int | None:
    """RESHAPE: the new axis with the same shard boundaries: the same number of elements come before
    it, and its extent splits into equal shards. Without elements, any axis that splits will do.
    Raises VerifyException if there is none."""
    devices, axis = sharding(op)
    if axis is None:
        return None
    old, new = tensor(op.operands[0]).get_shape(), integers(op, "shape")
    # Both shapes have as many elements, so where what follows is alike, what comes before is.
    by_rest = DYNAMIC_INDEX in old[:axis]
    if by_rest and (DYNAMIC_INDEX in old[axis:] or 0 in old[axis:]):
        raise VerifyException(f"a dynamic axis comes before the sharding axis {axis}")
    wanted = old[axis:] if by_rest else old[:axis]
    for candidate, extent in enumerate(new):
        splits = extent % len(devices) == 0 and (extent > 0 or old[axis] == 0)
        found = new[candidate:] if by_rest else new[:candidate]
        if splits and DYNAMIC_INDEX not in found and math.prod(found) == math.prod(wanted):
            return candidate
    if 0 in new and DYNAMIC_INDEX not in new:
        return next(i for i, extent in enumerate(new) if extent % len(devices) == 0)
    raise VerifyException(
        f"reshape from {show_shape(old)} to {show_shape(new)} moves the shard boundaries "
        f"of axis {axis}"
    )


def indexed(op: Operation) -> int | None:
    """INDEX: the axes that are not indexed come after one axis for each `(k,)` index.

    What all devices have may be read at sharded indices, but it is not a location then: a store
    would write another part of it on each device.
    """
    axis, indices = source(op), op.operands[1:]
    result: int | None = None
    before = 0
    for position, index in enumerate(indices):
        if place(index).axis is not None:
            if axis is not None or result is not None:
                raise VerifyException(f"index {position} may not be sharded: another operand is")
            if place(op.operands[0]).addrspace is not None:
                raise VerifyException(f"index {position} of memory may not be sharded")
            result = before
        before += len(tensor(index).shape)
    if axis is None:
        return result
    if axis < len(indices):
        raise VerifyException(f"the sharding axis {axis} may not be indexed")
    return axis - len(indices) + before


def stacked(op: Operation) -> int | None:
    axis = inherited(op)
    return None if axis is None else axis + 1


def bitcast(op: Operation) -> int | None:
    """BITCAST keeps the sharding axis. If that is the last axis, each shard must be a whole number
    of new elements."""
    devices, axis = sharding(op)
    shape = tensor(op.operands[0]).get_shape()
    if axis is None or axis != len(shape) - 1:
        return axis
    old, new = dtype_of(op.operands[0]).itemsize, dtype_row(dtype_argument(op)).itemsize
    if shape[axis] * old // len(devices) % new:
        raise VerifyException(f"bitcast of the sharding axis {axis} moves the shard boundaries")
    return axis


def reduced(op: Operation) -> int | None:
    axis = source(op)
    return None if axis in integers(op, "axes") else axis


def copied(op: Operation) -> int | None:
    return 0 if isinstance(device_argument(op), tuple) else None


def loaded(op: Operation) -> int | None:
    here = inherited(op)
    return here if device_argument(op) is None else copied(op)


def unsharded(op: Operation) -> None:
    """WMMA: no sharding axis. The lanes of one warp hold its operands, so they may not be
    sharded."""
    for operand in op.operands:
        if place(operand).axis is not None:
            raise VerifyException(f"an operand of {op.name} may not be sharded: {operand.type}")
