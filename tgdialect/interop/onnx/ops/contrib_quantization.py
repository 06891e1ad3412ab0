"""Quantised operators of com.microsoft, and products with weights of few bits."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from onnx import TensorProto

from tgdialect.frontend import dtypes
from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import carried, element_type
from tgdialect.interop.onnx.ops import quantization
from tgdialect.interop.onnx.ops.convolution import (
    average_pool,
    to_channels_first,
    to_channels_last,
)
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.ops.normalization import flattened
from tgdialect.interop.onnx.ops.quantization import (
    dequantized,
    dynamically_quantized,
    integer_product,
    quantized,
    requantized,
    scalar,
    stored,
)
from tgdialect.interop.onnx.ops.recurrent import lstm
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor


def nhwc(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of images, which have channels last if `channels_last` says so, or always."""

    def rule(x: Tensor, *rest: Any, channels_last: int = 1, **attributes: Any) -> Tensor:
        if not channels_last:
            return function(x, *rest, **attributes)
        return to_channels_last(function(to_channels_first(x), *rest, **attributes))

    return rule


def _if_asked(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same, with channels first by default."""
    rule = nhwc(function)
    return lambda *operands, channels_last=0, **attributes: rule(
        *operands, channels_last=channels_last, **attributes
    )


# -- weights of few bits


def _unpacked(x: Tensor, bits: int) -> Tensor:
    """The unsigned integers of some bits that bytes hold, the lowest first, along the last axis."""
    if bits == 8:
        return x
    parts = [(x >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return Tensor.stack(*parts, dim=-1).flatten(-2)


def _zero_points(zero_points: Tensor | None, bits: int, shape: Sequence[int]) -> Tensor | float:
    """The zero points of blocks: packed in rows of bytes, or floats; by default in the middle."""
    if zero_points is None:
        return float(1 << (bits - 1))
    if zero_points.dtype.is_float:
        return zero_points.reshape(tuple(shape)).cast(dtypes.float32)
    rows = zero_points.reshape(shape[0], -1)
    found = _unpacked(rows, bits).shrink_to((shape[0], shape[1]))
    return found.reshape(tuple(shape)).cast(dtypes.float32)


def _matmul_nbits(
    a: Tensor,
    b: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    g_idx: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    K: int,
    N: int,
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Tensor:
    """The product with weights of few bits, (N, blocks, bytes of a block)."""
    if bits not in (2, 4, 8) or weight_prepacked:
        raise Refused(
            f"weights of {bits} bits, prepacked {weight_prepacked}: 2, 4 or 8, not packed"
        )
    blocks = -(-K // block_size)
    weights = _unpacked(b.reshape(N, blocks, -1), bits).cast(dtypes.float32)
    scales = scales.reshape(N, blocks, 1).cast(dtypes.float32)
    zero = _zero_points(zero_points, bits, (N, blocks, 1))
    if g_idx is None:
        weights = ((weights - zero) * scales).reshape(N, blocks * block_size).shrink_to((N, K))
    else:
        # Columns name their blocks.
        blocks_of = g_idx.cast(dtypes.int64)
        column = scales.reshape(N, blocks)[:, blocks_of]
        zeros = zero.reshape(N, blocks)[:, blocks_of] if isinstance(zero, Tensor) else zero
        weights = (weights.reshape(N, -1).shrink_to((N, K)) - zeros) * column
    result = a.cast(dtypes.float32).matmul(weights.transpose(0, 1))
    return (result if bias is None else result + bias.cast(dtypes.float32)).cast(a.dtype)


_NF4 = (
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
)
"""The numbers of NF4: quantiles of a normal distribution (Dettmers et al. 2023, appendix E)."""

_FP4_MAGNITUDES = (0.0, 0.005208333333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25)
"""The magnitudes of bitsandbytes' FP4, by their three bits."""
_FP4 = (*_FP4_MAGNITUDES, *(-m for m in _FP4_MAGNITUDES))
"""The numbers of bitsandbytes' FP4, by their bits: the fourth one is the sign."""


def _matmul_bnb4(
    a: Tensor,
    b: Tensor,
    absmax: Tensor,
    *,
    K: int,
    N: int,
    block_size: int,
    quant_type: int,
    transB: int = 1,
    training_mode: int = 0,
) -> Tensor:
    bytes_ = b.flatten()
    codes = Tensor.stack(bytes_ >> 4, bytes_ & 15, dim=-1).flatten()
    table = Tensor((_FP4, _NF4)[quant_type], dtype=dtypes.float32)
    scale = absmax.cast(dtypes.float32).repeat_interleave(block_size, 0).shrink_to((N * K,))
    weights = table[codes.cast(dtypes.int32)].shrink_to((N * K,)) * scale
    weights = weights.reshape(N, K).transpose(0, 1) if transB else weights.reshape(K, N)
    return a.matmul(weights.cast(a.dtype))


def _gather_block_quantized(
    _: NodeCall,
    data: Value,
    indices: Value,
    scales: Value,
    zero_points: Value = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> Tensor:
    packed, scale = stored(data), stored(scales)
    gather_axis = axis_of(packed, gather_axis)
    is_packed = element_type(carried(data)) == TensorProto.UINT8
    zero = None if zero_points is None else stored(zero_points)
    default = 1 << (bits - 1) if is_packed else 0
    if is_packed:
        packed = _unpacked(packed, bits)
        if zero is not None:
            zero = _unpacked(zero, bits).shrink_to(tuple(scale.shape))
    centre = (
        quantization.along(zero, packed, quantize_axis, block_size) if zero is not None else None
    )
    wide = quantization.along(scale, packed, quantize_axis, block_size)
    numbers = quantization.centred(packed, centre) - (0 if zero is not None else default)
    found = (numbers.cast(dtypes.float32) * wide.cast(dtypes.float32)).cast(scale.dtype)
    return found[(slice(None),) * gather_axis + (as_tensor(indices),)]


# -- quantised operators


def to_float(
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """The product of integers, scaled, and a bias."""
    total = integer_product(a, b, a_zero_point, b_zero_point).cast(dtypes.float32)
    result = total * (scalar(a_scale) * scalar(b_scale))
    return result if bias is None else result + bias


def _dynamic_product(
    a: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    integers, scale, zero = dynamically_quantized(a)
    return to_float(integers, b, scale, b_scale, zero, b_zero_point, bias)


def _quantized_gemm(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    c: Tensor | None = None,
    y_scale: Tensor | None = None,
    y_zero_point: Tensor | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    a, b = a.transpose(0, 1) if transA else a, b.transpose(0, 1) if transB else b
    total = integer_product(a, b, a_zero_point, b_zero_point)
    total = total if c is None else total + c
    factor = scalar(a_scale) * scalar(b_scale) * alpha
    if y_scale is None or y_zero_point is None:
        return total.cast(dtypes.float32) * factor
    return requantized(total, factor / scalar(y_scale), y_zero_point)


def _integers(x: Tensor, scale: Tensor, zero_point: Tensor | None, kind: int) -> Tensor:
    """Numbers as integers of an element type."""
    zero = 0 if zero_point is None else scalar(zero_point)
    return quantized(x / scalar(scale), zero, kind)


def _numbers(x: Tensor, scale: Tensor, zero_point: Tensor | None) -> Tensor:
    return dequantized(x, scalar(scale), None if zero_point is None else scalar(zero_point))


def _quantized_sum(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor | None,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor | None,
    c_scale: Tensor,
    c_zero_point: Tensor | None = None,
) -> Tensor:
    total = _numbers(a, a_scale, a_zero_point) + _numbers(b, b_scale, b_zero_point)
    return _integers(total, c_scale, c_zero_point, element_type(a))


def _quantized_multiple(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor | None,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor | None,
    c_scale: Tensor,
    c_zero_point: Tensor | None = None,
) -> Tensor:
    x = quantization.centred(a, None if a_zero_point is None else scalar(a_zero_point))
    y = quantization.centred(b, None if b_zero_point is None else scalar(b_zero_point))
    factor = scalar(a_scale) * scalar(b_scale) / scalar(c_scale)
    zero = 0 if c_zero_point is None else scalar(c_zero_point)
    return quantized((x * y).cast(dtypes.float32) * factor, zero, element_type(a))


def _quantized_function(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of numbers, with integers as operand and result."""

    def rule(
        x: Tensor,
        x_scale: Tensor,
        x_zero_point: Tensor | None,
        y_scale: Tensor,
        y_zero_point: Tensor | None = None,
        **attributes: Any,
    ) -> Tensor:
        result = function(_numbers(x, x_scale, x_zero_point), **attributes)
        return _integers(result, y_scale, y_zero_point, element_type(x))

    return rule


def softmax(x: Tensor, *, axis: int = -1, opset: int = 13) -> Tensor:
    """Softmax of an opset: along an axis, or along all from it on before opset 13."""
    return x.softmax(axis) if opset >= 13 else flattened(Tensor.softmax)(x, axis=axis)


def _reduced_mean(x: Tensor, *, axes: Sequence[int] = (), keepdims: int = 1) -> Tensor:
    return x.mean(tuple(axes) or None, keepdim=bool(keepdims))


def _quantized_global_average(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    axes = tuple(range(2, x.ndim))
    total = quantization.centred(x, scalar(x_zero_point)).sum(axes, keepdim=True)
    count = math.prod(x.shape[2:])
    divisor = SymInt.as_tensor(count) if isinstance(count, SymInt) else float(count)
    factor = scalar(x_scale) / (scalar(y_scale) * divisor)
    return requantized(total, factor, y_zero_point)


def _quantized_concat(
    y_scale: Tensor, y_zero_point: Tensor, *operands: Tensor, axis: int
) -> Tensor:
    triples = zip(operands[::3], operands[1::3], operands[2::3], strict=True)
    kind = element_type(y_zero_point)
    parts = [_integers(_numbers(*triple), y_scale, y_zero_point, kind) for triple in triples]
    return Tensor.cat(*parts, dim=axis)


def _quantized_where(
    condition: Tensor,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    y: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    z_scale: Tensor,
    z_zero_point: Tensor,
) -> Tensor:
    kind = element_type(z_zero_point)
    a, b = _numbers(x, x_scale, x_zero_point), _numbers(y, y_scale, y_zero_point)
    return condition.where(*(_integers(t, z_scale, z_zero_point, kind) for t in (a, b)))


def _dynamic_lstm(call: NodeCall, *values: Value, **attributes: Any) -> tuple[Tensor, ...]:
    """LSTM by products of integers: inputs are quantised together, states in each step. Weights are
    (directions, rows, gates), and have scales and zero points as the last operands."""
    x, *others = values[:8]
    w, r, w_scale, w_zero_point, r_scale, r_zero_point = map(as_tensor, (*others[:2], *values[8:]))

    def product(
        weights: Tensor, scale: Tensor, zero: Tensor, axes: tuple[int, ...] | None
    ) -> Callable[[Tensor], Tensor]:
        def function(a: Tensor) -> Tensor:
            integers, a_scale, a_zero = dynamically_quantized(a, axes)
            each, b_zero = (t.reshape(weights.shape[0], 1, -1) for t in (scale, zero))
            total = integer_product(integers, weights, a_zero, b_zero)
            return total.cast(dtypes.float32) * (a_scale * each)

        return function

    products = (
        product(w, w_scale, w_zero_point, None),
        product(r, r_scale, r_zero_point, (1, 2)),
    )
    weights = w.transpose(-1, -2), r.transpose(-1, -2)
    return lstm(call, x, *weights, *others[2:], products=products, **attributes)


def _integer_multiple(
    a: Tensor, a_zero_point: Tensor | None, b: Tensor, b_zero_point: Tensor | None = None
) -> Tensor:
    return quantization.centred(a, a_zero_point) * quantization.centred(b, b_zero_point)


RULES: Rules = {
    "DequantizeLinear": {1: quantization.RULES["DequantizeLinear"][10]},
    "DynamicQuantizeLSTM": {1: raw(_dynamic_lstm)},
    "DynamicQuantizeMatMul": {1: _dynamic_product},
    "GatherBlockQuantized": {1: raw(_gather_block_quantized)},
    "MatMulBnb4": {1: _matmul_bnb4},
    "MatMulInteger16": {1: integer_product},
    "MatMulIntegerToFloat": {1: to_float},
    "MatMulNBits": {1: _matmul_nbits},
    "MulInteger": {1: _integer_multiple},
    "QGemm": {1: _quantized_gemm},
    "QLinearAdd": {1: _quantized_sum},
    "QLinearAveragePool": {1: _if_asked(_quantized_function(average_pool))},
    "QLinearConcat": {1: _quantized_concat},
    "QLinearConv": {1: _if_asked(quantization.quantized_convolution)},
    "QLinearGlobalAveragePool": {1: _if_asked(_quantized_global_average)},
    "QLinearLeakyRelu": {1: _quantized_function(lambda x, alpha=0.01: x.leaky_relu(alpha))},
    "QLinearMul": {1: _quantized_multiple},
    "QLinearReduceMean": {1: _quantized_function(_reduced_mean)},
    "QLinearSigmoid": {1: _quantized_function(Tensor.sigmoid)},
    "QLinearSoftmax": {1: _quantized_function(softmax)},
    "QLinearWhere": {1: _quantized_where},
    "QuantizeLinear": {1: quantization.RULES["QuantizeLinear"][10]},
}
