"""Quantised operators. Sums of products are exact, in i32; numbers are scaled in f32, as in ONNX
Runtime, and rounded half to even."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnx import TensorProto

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import (
    as_element_type,
    carried,
    cast,
    element_type,
    name_of,
    stored_as,
)
from tgdialect.interop.onnx.ops.convolution import convolution
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Narrow, Refused, Value

LIMITS: Mapping[int, tuple[int, int]] = {
    TensorProto.INT2: (-2, 1),
    TensorProto.UINT2: (0, 3),
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
    TensorProto.INT8: (-128, 127),
    TensorProto.UINT8: (0, 255),
    TensorProto.INT16: (-32768, 32767),
    TensorProto.UINT16: (0, 65535),
}
"""The least and the greatest number of the integers that numbers are quantised to."""


def stored(value: Value) -> Tensor:
    """A value as a tensor, which holds elements of narrow types as wider ones."""
    found = carried(value)
    return found.tensor if isinstance(found, Narrow) else found


def along(parameter: Tensor, x: Tensor, axis: int, block_size: int = 0) -> Tensor:
    """Scales or zero points in a shape that broadcasts to x: one of all elements, one for each
    place of an axis, or one for each block of places."""
    if block_size:
        axis = axis_of(x, axis)
        each = parameter.repeat_interleave(block_size, axis)
        return each.shrink_to(tuple(x.shape[: axis + 1]) + (None,) * (x.ndim - axis - 1))
    if parameter.ndim == 0 or (parameter.ndim == 1 and parameter.shape[0] == 1):
        return parameter.reshape(())
    if parameter.ndim != 1:
        return parameter
    at = axis_of(x, axis)
    return parameter.reshape([-1 if i == at else 1 for i in range(x.ndim)])


def quantized(x: Tensor, zero_point: Tensor | int, kind: int) -> Tensor:
    """Numbers, which are scaled, as integers of an element type, in the dtype that holds it."""
    low, high = LIMITS[kind]
    zero = zero_point.cast(dtypes.int32) if isinstance(zero_point, Tensor) else zero_point
    # Bounded before it is an integer, so that zero points are added exactly.
    offset = zero.cast(x.dtype) if isinstance(zero, Tensor) else zero
    bounded = x.round().maximum(low - offset).minimum(high - offset)
    return (bounded.cast(dtypes.int32) + zero).cast(stored_as(kind))


def dequantized(x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    """Integers as numbers in f32. The operands broadcast."""
    return centred(x, zero_point).cast(dtypes.float32) * scale.cast(dtypes.float32)


def centred(x: Tensor, zero_point: Tensor | None = None) -> Tensor:
    """Integers less their zero point, in i32, where products of them are exact."""
    wide = x.cast(dtypes.int32)
    return wide if zero_point is None else wide - zero_point.cast(dtypes.int32)


def scalar(parameter: Tensor) -> Tensor:
    """A scale or a zero point of a whole tensor, which may be a vector of one."""
    return parameter.reshape(()) if parameter.ndim == 1 and parameter.shape[0] == 1 else parameter


# -- scaling


def _quantize(
    _: NodeCall,
    value: Value,
    y_scale: Value,
    y_zero_point: Value = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Value:
    kind = output_dtype or TensorProto.UINT8
    if y_zero_point is not None:
        kind = element_type(carried(y_zero_point))
    x, wide = stored(value), stored_as(precision) if precision else dtypes.float32
    scaled = x.cast(wide) / along(stored(y_scale), x, axis, block_size).cast(wide)
    if kind not in LIMITS:
        if not stored_as(kind).is_float:
            raise Refused(f"numbers are not quantised to {name_of(kind)}")
        return cast(scaled, kind, saturate=saturate)
    zero: Tensor | int = 0
    if y_zero_point is not None:
        zero = along(stored(y_zero_point), x, axis, block_size)
    return as_element_type(quantized(scaled.cast(dtypes.float32), zero, kind), kind)


def _dequantize(
    _: NodeCall,
    value: Value,
    x_scale: Value,
    x_zero_point: Value = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    x, scale = stored(value), along(stored(x_scale), stored(value), axis, block_size)
    if x.dtype.is_float:
        result = x.cast(dtypes.float32) * scale.cast(dtypes.float32)
    else:
        zero = None
        if x_zero_point is not None:
            zero = along(stored(x_zero_point), x, axis, block_size)
        result = dequantized(x, scale, zero)
    return cast(result, output_dtype or element_type(carried(x_scale)))


def dynamically_quantized(
    x: Tensor, axes: tuple[int, ...] | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """x as integers of 8 bits, their scale, and their zero point, for all elements or for those
    along some axes, which then stay as axes of one place. 0 is exact."""
    keep = axes is not None
    low, high = x.min(axes, keep).minimum(0), x.max(axes, keep).maximum(0)
    scale = high.eq(low).where(1, (high - low) / 255)
    zero = (-low / scale).clamp(0, 255).round().cast(dtypes.uint8)
    return quantized(x / scale, zero, TensorProto.UINT8), scale, zero


# -- products


def integer_product(
    a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    """The product of matrices of integers; zero points may be one for each row, and each column."""
    if a_zero is not None:
        a_zero = scalar(a_zero)
        a_zero = a_zero.unsqueeze(-1) if a_zero.ndim == 1 and a.ndim > 1 else a_zero
    return centred(a, a_zero).dot(centred(b, None if b_zero is None else scalar(b_zero)))


def _integer_convolution(
    x: Tensor,
    w: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    **window: Any,
) -> Tensor:
    # Padding has zeros where the zero point is.
    x_zero = None if x_zero_point is None else scalar(x_zero_point)
    w_zero = None if w_zero_point is None else along(w_zero_point, w, 0)
    return convolution(centred(x, x_zero), centred(w, w_zero), **window)


def quantized_convolution(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    b: Tensor | None = None,
    **window: Any,
) -> Tensor:
    """QLinearConv."""
    total = _integer_convolution(x, w, x_zero_point, w_zero_point, **window)
    if b is not None:
        total = total + along(b, total, 1)
    factor = along(scalar(x_scale) * scalar(w_scale) / scalar(y_scale), total, 1)
    return requantized(total, factor, y_zero_point)


def requantized(total: Tensor, factor: Tensor, zero_point: Tensor) -> Tensor:
    """Sums in i32, scaled, as integers of the dtype of their zero point."""
    scaled = total.cast(dtypes.float32) * factor.cast(dtypes.float32)
    return quantized(scaled, scalar(zero_point), element_type(zero_point))


def _quantized_product(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    rows, columns, result = (scalar(s).cast(dtypes.float32) for s in (a_scale, b_scale, y_scale))
    rows = rows.unsqueeze(-1) if rows.ndim == 1 and a.ndim > 1 else rows
    total = integer_product(a, b, a_zero_point, b_zero_point)
    return requantized(total, rows * columns / result, y_zero_point)


RULES: Rules = {
    "ConvInteger": {10: _integer_convolution},
    "DequantizeLinear": {10: raw(_dequantize)},
    "DynamicQuantizeLinear": {11: lambda x: dynamically_quantized(x)},
    "MatMulInteger": {10: integer_product},
    "QLinearConv": {10: quantized_convolution},
    "QLinearMatMul": {10: _quantized_product},
    "QuantizeLinear": {10: raw(_quantize)},
}
