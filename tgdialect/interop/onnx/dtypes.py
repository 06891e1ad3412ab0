"""Dtypes of ONNX, and casts between them.

Some element types have no dtype of tensors: the small integers and floats of quantised weights.
Their values are a `Narrow`, a tensor of a wider dtype that holds each of them exactly. Operators
that move elements take them as they are; arithmetic on them is refused, as in ONNX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.values import Narrow, Ratio, Refused, Value, as_tensor
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

DTYPES: Mapping[int, tg.DType] = {
    TensorProto.FLOAT: dtypes.float32,
    TensorProto.DOUBLE: dtypes.float64,
    TensorProto.FLOAT16: dtypes.float16,
    TensorProto.BFLOAT16: dtypes.bfloat16,
    TensorProto.FLOAT8E4M3FN: dtypes.fp8e4m3,
    TensorProto.FLOAT8E5M2: dtypes.fp8e5m2,
    TensorProto.BOOL: dtypes.bool_,
    TensorProto.INT8: dtypes.int8,
    TensorProto.INT16: dtypes.int16,
    TensorProto.INT32: dtypes.int32,
    TensorProto.INT64: dtypes.int64,
    TensorProto.UINT8: dtypes.uint8,
    TensorProto.UINT16: dtypes.uint16,
    TensorProto.UINT32: dtypes.uint32,
    TensorProto.UINT64: dtypes.uint64,
}
"""The dtypes of tensors, by the element types of ONNX."""

NARROW: Mapping[int, tg.DType] = {
    TensorProto.INT4: dtypes.int8,
    TensorProto.INT2: dtypes.int8,
    TensorProto.UINT4: dtypes.uint8,
    TensorProto.UINT2: dtypes.uint8,
    TensorProto.FLOAT8E4M3FNUZ: dtypes.float32,
    TensorProto.FLOAT8E5M2FNUZ: dtypes.float32,
    TensorProto.FLOAT8E8M0: dtypes.float32,
    TensorProto.FLOAT4E2M1: dtypes.float32,
}
"""The dtypes that hold the values of the other element types."""

# fmt: off
MOVES = frozenset((
    "CenterCropPad", "Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather",
    "GatherElements", "GatherND", "Identity", "Pad", "Reshape", "ReverseSequence", "Scatter",
    "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze", "TensorScatter",
    "Tile", "Transpose", "Trilu", "Unsqueeze", "Where",
))
# fmt: on
"""The operators whose results have elements of their operands, so that those may be narrow."""


@dataclass(frozen=True)
class _Float:
    """A float format: the bits of its significand, the exponent of the least normal number, and the
    greatest number. Beyond that are infinities or NaN, or neither: then all casts saturate."""

    precision: int
    min_exponent: int
    greatest: float
    beyond: float | None = float("nan")
    has_negative_zero: bool = True


_SMALL_FLOATS: Mapping[int, _Float] = {
    TensorProto.FLOAT8E4M3FN: _Float(4, -6, 448),
    TensorProto.FLOAT8E5M2: _Float(3, -14, 57344, float("inf")),
    TensorProto.FLOAT8E4M3FNUZ: _Float(4, -7, 240, has_negative_zero=False),
    TensorProto.FLOAT8E5M2FNUZ: _Float(3, -15, 57344, has_negative_zero=False),
    TensorProto.FLOAT4E2M1: _Float(2, 0, 6, None),
}

_SMALL_INTEGERS: Mapping[int, int] = {
    TensorProto.INT4: 4,
    TensorProto.UINT4: 4,
    TensorProto.INT2: 2,
    TensorProto.UINT2: 2,
}
"""The bits of small integers."""

_SCALES = TensorProto.FLOAT8E8M0
"""The powers of two of microscaling formats, from 2**-127 to 2**127."""

_ELEMENT_TYPES = {dtype: number for number, dtype in DTYPES.items()}

_EXPONENT_BITS = 0x7FF << 52
"""The exponent of a float of 64 bits."""


def name_of(element_type: int) -> str:
    """ONNX's name of an element type."""
    known = element_type in TensorProto.DataType.values()
    return TensorProto.DataType.Name(element_type) if known else str(element_type)


def dtype_of(element_type: int) -> tg.DType:
    """The dtype of an element type. Raises Refused."""
    if (dtype := DTYPES.get(element_type)) is not None:
        return dtype
    raise Refused(f"elements of type {name_of(element_type)} are not supported")


def stored_as(element_type: int) -> tg.DType:
    """The dtype that holds values of an element type, narrow ones included. Raises Refused."""
    return NARROW.get(element_type) or dtype_of(element_type)


def numpy_of(element_type: int) -> np.dtype[np.generic]:
    """The dtype of arrays of an element type."""
    return np.dtype(helper.tensor_dtype_to_np_dtype(element_type))


def element_type(value: Tensor | Array | Narrow) -> int:
    """The element type of a value; i64 for sizes."""
    if isinstance(value, Narrow):
        return value.element_type
    if isinstance(value, Tensor):
        return _ELEMENT_TYPES[value.dtype]
    if value.dtype == object:
        ratio = next((e for e in value.flat if isinstance(e, Ratio)), None)
        if ratio is None:
            return TensorProto.INT64
        return helper.np_dtype_to_tensor_dtype(np.dtype(ratio.dtype))
    return helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype))


def carried(value: Value) -> Tensor | Narrow:
    """A value that a program computes: a tensor, or a narrow one."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        kind = element_type(value)
        if (wide := NARROW.get(kind)) is not None:
            return Narrow(as_tensor(value.astype(dtypes.numpy_of(wide))), kind)
    return value if isinstance(value, Narrow) else as_tensor(value)


def widened(values: Sequence[Value]) -> tuple[list[Value], int | None]:
    """Values whose narrow elements are in the dtypes that hold them, and their element type: None
    if no value is narrow."""
    found: list[Value] = []
    narrow: int | None = None
    for value in values:
        each = value
        if isinstance(value, np.ndarray) and value.dtype.kind == "V":
            each = carried(value)
        if isinstance(each, Narrow):
            narrow, each = each.element_type, each.tensor
        found.append(each)
    return found, narrow


def narrowed(value: Value, element_type: int) -> Value:
    """A tensor, or those of a sequence, as one of a narrow element type."""
    if isinstance(value, list):
        return [narrowed(each, element_type) for each in value]
    return None if value is None else as_element_type(as_tensor(value), element_type)


def as_element_type(tensor: Tensor, element_type: int) -> Tensor | Narrow:
    """A tensor, which holds values of an element type exactly, as one of that type."""
    if element_type in NARROW:
        return Narrow(tensor.cast(NARROW[element_type]), element_type)
    return tensor.cast(dtype_of(element_type))


def cast(value: Value, to: int, *, saturate: int = 1, round_mode: str = "up", **_: object) -> Value:
    """A value cast to an element type, by the rules of the operator Cast. Raises Refused.

    Integers wrap. Floats to integers are rounded to zero; out of range, they saturate at 32 bits at
    least, and wrap then. Floats of 8 bits saturate, or are NaN or infinite with `saturate=0`.
    """
    found = carried(value)
    x = found.tensor if isinstance(found, Narrow) else found
    if to == element_type(found):
        return found
    if to in _SMALL_INTEGERS:
        return as_element_type(_wrapped(x, to), to)
    if to in _SMALL_FLOATS:
        return as_element_type(_rounded(x, _SMALL_FLOATS[to], bool(saturate)), to)
    if to == _SCALES:
        return as_element_type(_power(x, bool(saturate), round_mode), to)
    dtype = dtype_of(to)
    return x.ne(0) if dtype.is_bool else x.cast(dtype)


def _wrapped(x: Tensor, to: int) -> Tensor:
    bits = _SMALL_INTEGERS[to]
    low = x.cast(dtypes.int32) & ((1 << bits) - 1)
    sign = 1 << (bits - 1)
    return (low ^ sign) - sign if NARROW[to].low < 0 else low


def _floor_power(x: Tensor) -> Tensor:
    """The power of two at or below the magnitude of a float of 64 bits; infinite for NaN."""
    return (x.bitcast(dtypes.int64) & _EXPONENT_BITS).bitcast(dtypes.float64)


def _rounded(x: Tensor, to: _Float, saturate: bool) -> Tensor:
    """The nearest numbers of a format, halves to even, as floats of 64 bits."""
    wide = x.cast(dtypes.float64)
    finite = (wide.abs() < 2.0**64).where(wide, 0)
    step = _floor_power(finite).maximum(2.0**to.min_exponent) * 2.0 ** (1 - to.precision)
    found = (finite / step).round() * step
    above = (wide.abs() >= 2.0**64) | (found.abs() > to.greatest)
    greatest = to.greatest if saturate or to.beyond is None else to.beyond
    beyond = (wide < 0).where(Tensor.full((), -greatest, dtype=wide.dtype), greatest)
    found = above.where(beyond, found)
    if not to.has_negative_zero:
        found = found.eq(0).where(0, found)
    return wide.isnan().where(-0.0 if to.beyond is None else float("nan"), found)


def _power(x: Tensor, saturate: bool, round_mode: str) -> Tensor:
    """The powers of two that numbers are rounded to, as floats of 64 bits."""
    wide = x.cast(dtypes.float64)
    given = wide.clamp(2.0**-127, 2.0**127)
    power = _floor_power(given)
    match round_mode:
        case "up":
            is_up = given > power
        case "nearest":
            is_up = given >= power * 1.5
        case "down":
            is_up = given > 2.0**127
        case _:
            raise Refused(f"round_mode is {round_mode!r}, not 'up', 'down' or 'nearest'")
    found = is_up.where(power * 2, power).minimum(2.0**127)
    if not saturate:
        found = ((wide < 2.0**-127) | (wide > 2.0**127)).where(float("nan"), found)
    return wide.isnan().where(float("nan"), found)


def bitcast(value: Value, to: int) -> Value:
    """The bits of a value as another element type of the same width. Raises Refused."""
    found = carried(value)
    width = numpy_bits(element_type(found))
    if numpy_bits(to) != width:
        raise Refused(f"{name_of(to)} does not have the {width} bits of the operand's elements")
    if isinstance(found, Narrow) and {to, found.element_type} <= _SMALL_INTEGERS.keys():
        return as_element_type(_wrapped(found.tensor, to), to)
    if isinstance(found, Narrow) or to in NARROW:
        raise Refused(f"bits of elements as {name_of(to)} are not supported")
    return found.bitcast(dtype_of(to))


def numpy_bits(element_type: int) -> int:
    """The bits of an element."""
    if (bits := _SMALL_INTEGERS.get(element_type)) is not None:
        return bits
    return 4 if element_type == TensorProto.FLOAT4E2M1 else 8 * numpy_of(element_type).itemsize


def to_stored(array: Array, element_type: int) -> Array:
    """An argument, whose values may be of a narrow element type, as the dtype that holds them."""
    if element_type not in NARROW:
        return array
    return array.astype(dtypes.numpy_of(NARROW[element_type]))
