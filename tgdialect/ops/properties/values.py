"""The inputs of rules: the types of values and the properties of ops, as Python values."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.unchecked import array_values, dense, tensor_of
from tgdialect.ops.attributes import NumberAttr, PlaceAttr, is_tensor
from tgdialect.ops.dtypes import DType, dtype_row
from tgdialect.ops.properties.symbolic import Dim, Shape, show_shape

_NOWHERE = PlaceAttr.of()
_SHAPE = "tg_shape"
"""Where a type keeps its shape, as no field of xDSL's."""


def tensor(value: SSAValue) -> builtin.TensorType[Attribute]:
    """The tensor type of an operand. Raises VerifyException for other types."""
    type: Any = value.type
    if type.__class__ is builtin.TensorType:  # Hot: as `is_tensor`.
        return type
    raise VerifyException(f"expected a tensor, got {type}")


def static_shape(type: builtin.TensorType[Any]) -> tuple[int, ...]:
    """The shape of a tensor type, with DYNAMIC_INDEX for dynamic extents. It is kept in the type,
    which does not change: `get_shape` makes it anew from one attribute for each extent."""
    kept: dict[str, Any] = vars(type)
    if (known := kept.get(_SHAPE)) is None:
        known = kept[_SHAPE] = type.get_shape()
    return known


def place_of(type: builtin.TensorType[Any]) -> PlaceAttr:
    """The place of a tensor type. Without an encoding, all parts of the place are null."""
    encoding = type.encoding
    if encoding.__class__ is builtin.NoneAttr:
        return _NOWHERE
    if isinstance(encoding, PlaceAttr):
        return encoding
    raise VerifyException(f"the encoding of {type} is not a #tg.place")


def scan_extent(op: Operation) -> int | SSAValue:
    """The number of steps of a SCAN: an integer, or the argument that it is."""
    slot, steps = integer(op, "steps_at"), integer(op, "steps")
    if slot is None and steps is not None:
        return steps
    if slot is None or not 0 <= slot < len(op.operands):
        raise VerifyException("a SCAN has either `steps` or `steps_at`, the number of an argument")
    return op.operands[slot]


def place(value: SSAValue) -> PlaceAttr:
    """The place of a value's tensor type."""
    return place_of(tensor(value))


def is_memory(value: SSAValue) -> bool:
    """Whether a value is memory: a tensor with an address space, so it can be loaded and stored."""
    type = value.type
    return is_tensor(type) and place_of(type).has_addrspace


def static_bytes(value: SSAValue) -> int:
    """The size of memory in bytes; 0 for scalars and memory of dynamic size."""
    if not is_memory(value) or not tensor(value).has_static_shape():
        return 0
    return math.prod(tensor(value).get_shape()) * dtype_of(value).itemsize


def dtype_of(value: SSAValue) -> DType:
    """The row of the dtype table for a tensor's elements."""
    type: Any = value.type
    if type.__class__ is not builtin.TensorType:
        tensor(value)  # Raises.
    return dtype_row(type.element_type)


@lru_cache(maxsize=1024)
def tensor_type(
    dtype: Attribute, shape: tuple[int, ...] = (), place: PlaceAttr | None = None
) -> builtin.TensorType[Attribute]:
    """The tensor type, cached. It has no encoding if all parts of the place are null.

    Raises VerifyException unless the sharding axis exists and splits into equal shards.
    """
    if place is None or place == _NOWHERE:
        return _shaped(dtype, shape)
    axis, devices = place.axis, place.device
    if axis is not None and isinstance(devices, tuple):
        if axis >= len(shape):
            raise VerifyException(
                f"the sharding axis {axis} is not an axis of shape {show_shape(shape)}"
            )
        if shape[axis] == builtin.DYNAMIC_INDEX or shape[axis] % len(devices):
            raise VerifyException(
                f"axis {axis} of shape {show_shape(shape)} does not split into "
                f"{len(devices)} equal shards"
            )
    return _shaped(dtype, shape, place)


def _shaped(
    dtype: Attribute, shape: tuple[int, ...], *place: PlaceAttr
) -> builtin.TensorType[Attribute]:
    type = tensor_of(dtype, shape, *place)
    vars(type)[_SHAPE] = shape
    return type


def number(value: Attribute) -> int | float:
    """The Python number of an integer or float attribute; a bool is 0 or 1."""
    of: Any = value  # Hot: `isinstance` with an attribute's class, an abstract one, is slow.
    if of.__class__ is builtin.IntegerAttr:
        data, type = of.value.data, of.type
        is_bool = type.__class__ is builtin.IntegerType and type.width.data == 1
        return data & 1 if is_bool else data
    if of.__class__ is builtin.FloatAttr:
        return of.value.data
    raise VerifyException(f"{value} is not a number")


def type_of_number(value: Attribute) -> Attribute:
    """The type of an integer or float attribute."""
    of: Any = value
    if of.__class__ in (builtin.IntegerAttr, builtin.FloatAttr):
        return of.type
    raise VerifyException(f"{value} is not a number")


def integer(op: Operation, name: str) -> int | None:
    """The value of an integer property; None if it is absent."""
    value = op.properties.get(name)
    return value.data if isinstance(value, NumberAttr) else None


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """The values of a property that is a dense array of integers."""
    return array_values(op.properties[name])


def index_array(values: Sequence[int]) -> builtin.DenseArrayBase[builtin.I64]:
    """Indices that are known to be representable, as a dense array. xDSL's `from_list` checks each,
    which takes milliseconds where there are thousands."""
    return dense(builtin.i64, tuple(values))


@lru_cache(maxsize=1024)
def static_indices(values: tuple[int, ...]) -> builtin.DenseArrayBase[builtin.I64]:
    """A list of indices, cached. Raises VerifyException for one that has more than 64 bits."""
    try:
        return dense(builtin.i64, values)
    except struct.error:
        return builtin.DenseArrayBase.from_list(builtin.i64, values)  # Raises.


def mixed(op: Operation, name: str, dynamic: Sequence[SSAValue]) -> Shape:
    """A list of integers in a property, with `dynamic` values in place of its dynamic entries."""
    static = integers(op, name)
    if (wanted := static.count(builtin.DYNAMIC_INDEX)) != len(dynamic):
        raise VerifyException(f"{name} has {wanted} dynamic entries but {len(dynamic)} values")
    values = iter(dynamic)
    entries: list[Dim] = [next(values) if v == builtin.DYNAMIC_INDEX else v for v in static]
    return tuple(entries)
