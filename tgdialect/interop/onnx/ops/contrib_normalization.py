"""Normalizations of com.microsoft, with sums before them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from typing import Any

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops.convolution import to_channels_first, to_channels_last
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import Rules


def _normalized(
    x: Tensor, gamma: Tensor, beta: Tensor | None, epsilon: float, is_simple: bool, axis: int = -1
) -> tuple[Tensor, Tensor, Tensor]:
    """x normalized from an axis on, its mean, and 1 / deviation; without the mean if simple."""
    axes = tuple(range(axis_of(x, axis), x.ndim))
    wide = x.cast(dtypes.float32) if x.dtype.bits < 32 else x
    mean = wide.mean(axes, keepdim=True)
    centred = wide if is_simple else wide - mean
    inverse = ((centred * centred).mean(axes, keepdim=True) + epsilon).sqrt().reciprocal()
    found = centred * inverse * gamma.cast(wide.dtype)
    found = found if beta is None else found + beta.cast(wide.dtype)
    return found.cast(x.dtype), mean, inverse


def _total(x: Tensor, skip: Tensor, bias: Tensor | None) -> Tensor:
    """The sum that is normalized."""
    return x + skip if bias is None else x + skip + bias


def _skip_layer_norm(
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:
    total = _total(x, skip, bias)
    return *_normalized(total, gamma, beta, epsilon, False), total


def _skip_simplified(
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:
    total = _total(x, skip, bias)
    return *_normalized(total, gamma, None, epsilon, True), total


def _simplified(
    x: Tensor, gamma: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> tuple[Tensor, ...]:
    found, _, inverse = _normalized(x, gamma, None, epsilon, True, axis)
    return found, inverse


def _embed(
    input_ids: Tensor,
    segment_ids: Tensor | None,
    words: Tensor,
    positions: Tensor,
    segments: Tensor | None,
    gamma: Tensor,
    beta: Tensor,
    mask: Tensor | None = None,
    position_ids: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 1,
) -> tuple[Tensor, ...]:
    places = Tensor.arange(input_ids.shape[1]) if position_ids is None else position_ids
    total = words[input_ids] + positions[places]
    if segments is not None and segment_ids is not None:
        total = total + segments[segment_ids]
    batch = (input_ids.shape[0],)
    count = Tensor.zeros(*batch, dtype=dtypes.int32)
    if mask is not None:
        count = mask.eq(1).cast(dtypes.int32).sum(1, dtype=dtypes.int32)
    return _normalized(total, gamma, beta, epsilon, False)[0], count, total


def _group_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    groups: int,
    activation: int = 0,
    channels_last: int = 1,
    epsilon: float = 1e-5,
) -> Tensor:
    given, x = x, to_channels_first(x) if channels_last else x
    wide = x.cast(dtypes.float32)
    shape = (x.shape[0], groups, x.shape[1] // groups * math.prod(x.shape[2:]))
    found = wide.reshape(shape).layernorm(-1, epsilon).reshape(x.shape)
    ones = [1] * (x.ndim - 2)
    found = found * gamma.cast(dtypes.float32).reshape(1, -1, *ones)
    found = found + beta.cast(dtypes.float32).reshape(1, -1, *ones)
    found = (found.silu() if activation else found).cast(given.dtype)
    return to_channels_last(found) if channels_last else found


def _skip_group_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    skip: Tensor,
    bias: Tensor | None = None,
    **attributes: Any,
) -> tuple[Tensor, Tensor]:
    skip = skip.reshape(skip.shape[0], 1, 1, -1) if skip.ndim == 2 else skip
    total = _total(x, skip, bias)
    return _group_norm(total, gamma, beta, **attributes), total


DEFAULT_DOMAIN: Rules = {
    "SimplifiedLayerNormalization": {1: _simplified},
}
"""Operators that ONNX Runtime's tools write to the default domain, though ONNX has none such."""

RULES: Rules = {
    "EmbedLayerNormalization": {1: _embed},
    "GroupNorm": {1: _group_norm},
    "SimplifiedLayerNormalization": {1: _simplified},
    "SkipGroupNorm": {1: _skip_group_norm},
    "SkipLayerNormalization": {1: _skip_layer_norm},
    "SkipSimplifiedLayerNormalization": {1: _skip_simplified},
}
