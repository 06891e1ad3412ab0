"""The domain com.microsoft: fused and quantised operators that ONNX Runtime's tools write.

Attributes have no defaults from a schema here, since the package onnx does not know the domain.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops import (
    contrib_attention,
    contrib_normalization,
    contrib_quantization,
    creation,
    indexing,
    movement,
    resizing,
)
from tgdialect.interop.onnx.ops.contrib_quantization import nhwc, softmax
from tgdialect.interop.onnx.ops.convolution import (
    causal_convolution,
    convolution,
    max_pool,
    to_channels_first,
    to_channels_last,
)
from tgdialect.interop.onnx.ops.elementwise import swish
from tgdialect.interop.onnx.ops.products import gemm, operand, scaled
from tgdialect.interop.onnx.rules import NodeCall, OperatorRule, Rules, known, raw
from tgdialect.interop.onnx.values import Refused, Value, dims
from tgdialect.ops.numpy_dtypes import Array

# -- activations

_ACTIVATIONS: Mapping[str, Callable[..., Tensor]] = {
    "": lambda x: x,
    "Clip": lambda x, low, high: x.clamp(low, high),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: x.hardsigmoid(alpha, beta),
    "LeakyRelu": lambda x, alpha=0.01: x.leaky_relu(alpha),
    "Relu": Tensor.relu,
    "Sigmoid": Tensor.sigmoid,
    "Tanh": Tensor.tanh,
}
"""The activations of fused operators, with their parameters."""


def _activated(x: Tensor, name: str, parameters: Sequence[float] = ()) -> Tensor:
    if (function := _ACTIVATIONS.get(name)) is None:
        raise Refused(f"activation {name!r}: it is one of {', '.join(_ACTIVATIONS)}")
    return function(x, *parameters).cast(x.dtype)


def _fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    return (x if bias is None else x + bias).gelu("tanh")


def _bias_split_gelu(x: Tensor, bias: Tensor) -> Tensor:
    left, right = (x + bias).chunk(2, -1)
    return left * right.gelu("none")


# -- products and convolutions


def _fused_conv(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    z: Tensor | None = None,
    *,
    activation: str = "",
    activation_params: Sequence[float] = (),
    **window: Any,
) -> Tensor:
    result = convolution(x, w, b, **window)
    return _activated(result if z is None else result + z, activation, activation_params)


def _nhwc_conv(x: Tensor, w: Tensor, *rest: Any, **attributes: Any) -> Tensor:
    rest = (*rest[:1], *(None if z is None else to_channels_first(z) for z in rest[1:]))
    return to_channels_last(
        _fused_conv(to_channels_first(x), to_channels_first(w), *rest, **attributes)
    )


def _fused_matmul(
    a: Tensor,
    b: Tensor,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    def arranged(x: Tensor, is_transposed: int, batch_is_inside: int) -> Tensor:
        # With transBatch the first of the last two axes comes before the batch.
        x = x.movedim(0, -2) if batch_is_inside else x
        return x.transpose(-1, -2) if is_transposed and x.ndim > 1 else x

    product = arranged(a, transA, transBatchA).dot(arranged(b, transB, transBatchB))
    return scaled(product, alpha)


def _fused_gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    **attributes: Any,
) -> Tensor:
    given = activation_alpha, activation_beta, activation_gamma
    return _activated(gemm(a, b, c, **attributes), activation, [g for g in given if g is not None])


# -- others


def _crop_and_resize(
    x: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    crop_size: Array,
    *,
    mode: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Regions (y1, x1, y2, x2), in parts of an image, at a size."""
    found = x[batch_indices.cast(dtypes.int64)]
    inside: Tensor | None = None
    for axis, count in enumerate(int(size) for size in crop_size):
        extent = x.shape[2 + axis]
        last = operand(extent - 1)
        start, stop = rois[:, axis].reshape(-1, 1), rois[:, 2 + axis].reshape(-1, 1)
        if count == 1:
            places = (start + stop) * last * 0.5
        else:
            steps = Tensor.arange(count).cast(dtypes.float32)
            places = start * last + steps * ((stop - start) * last / (count - 1))
        is_in = (places >= 0) & (places <= last)
        shape = (-1, 1, count, 1) if axis == 0 else (-1, 1, 1, count)
        both = is_in.reshape(shape)
        inside = both if inside is None else inside & both
        places = is_in.where(places, 0)
        dim = 2 + axis

        def cells(at: Tensor, dim: int = dim, shape: Any = shape, of: Tensor = found) -> Tensor:
            wide = [*of.shape]
            wide[dim] = at.shape[1]
            return of.gather(dim, at.cast(dtypes.int64).reshape(shape).expand(*wide))

        if mode == "bilinear":
            low = places.floor()
            part = (places - low).reshape(shape)
            below, above = cells(low), cells(places.ceil())
            found = below + (above - below) * part
        else:
            found = cells((places + 0.5).floor())
    assert inside is not None
    return inside.where(found, extrapolation_value)


def _unfolded(x: Tensor, *, size: int, dim: int = -1, step: int = 1) -> Tensor:
    return x.unfold(dim, size, step)


def _expand_dims(x: Tensor, axis: Array) -> Tensor:
    (at,) = dims(axis)
    return x.unsqueeze(int(at))


def _function(rules: Rules, op: str, opset: int) -> Callable[..., Any]:
    """The function of an operator of the default domain."""
    rule = rules[op][opset]
    return rule.function if isinstance(rule, OperatorRule) else rule


def _range(start: Array, limit: Array, delta: Array | None = None) -> Tensor:
    step = np.ones((), start.dtype) if delta is None else delta
    return _function(creation.RULES, "Range", 11)(start, limit, step)


def _unique(call: NodeCall, x: Value) -> tuple[Value, ...]:
    values, _, inverse, counts = _function(indexing.RULES, "Unique", 11)(call, x, sorted=0)
    return values, inverse, counts


def _grid_sample(
    x: Tensor,
    grid: Tensor,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: int = 0,
) -> Tensor:
    function = _function(resizing.RULES, "GridSample", 16)
    return function(x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


def _distances(a: Tensor, b: Tensor, *, metric: str = "sqeuclidean") -> Tensor:
    if metric == "euclidean":
        return a.cdist(b)
    if metric != "sqeuclidean":
        raise Refused(f"metric {metric!r}: it is euclidean or sqeuclidean")
    difference = a.unsqueeze(-2) - b.unsqueeze(-3)
    return (difference * difference).sum(-1)


def _bias_softmax(x: Tensor, bias: Tensor, *, axis: int = 1, is_inner_broadcast: int = 1) -> Tensor:
    if not is_inner_broadcast:
        # The bias has the leading axes, and repeats for those between.
        more = x.ndim - bias.ndim
        bias = bias.reshape(bias.shape[0], *[1] * more, *bias.shape[1:])
    return softmax(x + bias, axis=axis, opset=1)


def _swiglu(
    gate: Tensor,
    up: Tensor,
    *,
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    limit: float = 0.0,
    round_activation: int = 0,
) -> Tensor:
    if limit:
        gate, up = gate.minimum(limit), up.clamp(-limit, limit)
    return gate * (gate * activation_alpha).sigmoid() * (up + activation_beta)


DEFAULT_DOMAIN = contrib_normalization.DEFAULT_DOMAIN

RULES: Rules = {
    **contrib_attention.RULES,
    **contrib_normalization.RULES,
    **contrib_quantization.RULES,
    "BiasAdd": {1: lambda x, bias, skip: x + bias + skip},
    "BiasGelu": {1: lambda a, b: (a + b).gelu("none")},
    "BiasSoftmax": {1: _bias_softmax},
    "BiasSplitGelu": {1: _bias_split_gelu},
    "CausalConvWithState": {1: causal_convolution},
    "CDist": {1: _distances},
    "CropAndResize": {1: known(_crop_and_resize, 3)},
    "ExpandDims": {1: known(_expand_dims, 1)},
    "FastGelu": {1: _fast_gelu},
    "FusedConv": {1: _fused_conv},
    "FusedGemm": {1: _fused_gemm},
    "FusedMatMul": {1: _fused_matmul},
    "Gelu": {1: lambda x: x.gelu("none")},
    "GatherND": {1: indexing.RULES["GatherND"][11]},
    "GemmFastGelu": {1: lambda x, w, bias=None: _fast_gelu(x.matmul(w), bias)},
    "GridSample": {1: _grid_sample},
    "Inverse": {1: Tensor.inverse},
    "NhwcConv": {1: _nhwc_conv},
    "NhwcFusedConv": {1: _nhwc_conv},
    "NhwcMaxPool": {1: nhwc(max_pool)},
    "Pad": {1: movement.RULES["Pad"][11]},
    "QuickGelu": {1: lambda x, alpha=1.702: swish(x, alpha=alpha)},
    "Range": {1: known(_range, 0, 1, 2)},
    "SwiGLU": {1: _swiglu},
    "TransposeMatMul": {1: _fused_matmul},
    "Trilu": {1: movement.RULES["Trilu"][14]},
    "UnfoldTensor": {1: _unfolded},
    "Unique": {1: raw(_unique)},
}
