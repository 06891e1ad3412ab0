"""The domain com.microsoft: fused and quantised operators that ONNX Runtime's tools write.

Attributes have no defaults from a schema here, since the package onnx does not know the domain.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onnx import TensorProto

from tgdialect.frontend import dtypes
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.symbolic import SymInt, larger
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import carried, element_type
from tgdialect.interop.onnx.ops import quantization
from tgdialect.interop.onnx.ops.convolution import average_pool, convolution, max_pool
from tgdialect.interop.onnx.ops.products import (
    attended,
    by_heads,
    gemm,
    joined,
    rotated,
    scaled,
    within,
)
from tgdialect.interop.onnx.ops.quantization import (
    dequantized,
    dynamically_quantized,
    integer_product,
    quantized,
    requantized,
    scalar,
    stored,
)
from tgdialect.interop.onnx.rules import Call, Rules, known, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor, dims
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


@rounded_once
def _quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    return x * (x * alpha).sigmoid()


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


def _channels_first(x: Tensor) -> Tensor:
    return x.permute(0, x.ndim - 1, *range(1, x.ndim - 1))


def _channels_last(x: Tensor) -> Tensor:
    return x.permute(0, *range(2, x.ndim), 1)


def _nhwc(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of images, which have channels last if `channels_last` says so, or always."""

    def rule(x: Tensor, *rest: Any, channels_last: int = 1, **attributes: Any) -> Tensor:
        if not channels_last:
            return function(x, *rest, **attributes)
        return _channels_last(function(_channels_first(x), *rest, **attributes))

    return rule


def _if_asked(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same, with channels first by default."""
    rule = _nhwc(function)
    return lambda *operands, channels_last=0, **attributes: rule(
        *operands, channels_last=channels_last, **attributes
    )


def _nhwc_conv(x: Tensor, w: Tensor, *rest: Any, **attributes: Any) -> Tensor:
    rest = (*rest[:1], *(None if z is None else _channels_first(z) for z in rest[1:]))
    return _channels_last(_fused_conv(_channels_first(x), _channels_first(w), *rest, **attributes))


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
    (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453)
    + (-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0)
    + (0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224)
    + (0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)
)
"""The numbers of NF4: quantiles of a normal distribution (Dettmers et al. 2023, appendix E)."""

_FP4_MAGNITUDES = (0.0, 0.005208333333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25)
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
    _: Call,
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
    gather_axis, quantize_axis = gather_axis % packed.ndim, quantize_axis % packed.ndim
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


# -- normalization


def _normalized(
    x: Tensor, gamma: Tensor, beta: Tensor | None, epsilon: float, is_simple: bool, axis: int = -1
) -> tuple[Tensor, Tensor, Tensor]:
    """x normalized from an axis on, its mean, and 1 / deviation; without the mean if simple."""
    axes = tuple(range(axis % x.ndim, x.ndim))
    wide = x.cast(dtypes.float32) if x.dtype.bits < 32 else x
    mean = wide.mean(axes, keepdim=True)
    centred = wide if is_simple else wide - mean
    inverse = ((centred * centred).mean(axes, keepdim=True) + epsilon).sqrt().reciprocal()
    found = centred * inverse * gamma.cast(wide.dtype)
    found = found if beta is None else found + beta.cast(wide.dtype)
    return found.cast(x.dtype), mean, inverse


def _skip_layer_norm(
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:
    total = x + skip
    total = total if bias is None else total + bias
    return *_normalized(total, gamma, beta, epsilon, False), total


def _skip_simplified(
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:
    total = x + skip
    total = total if bias is None else total + bias
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
    given, x = x, _channels_first(x) if channels_last else x
    wide = x.cast(dtypes.float32)
    shape = (x.shape[0], groups, x.shape[1] // groups * math.prod(x.shape[2:]))
    found = wide.reshape(shape).layernorm(-1, epsilon).reshape(x.shape)
    ones = [1] * (x.ndim - 2)
    found = found * gamma.cast(dtypes.float32).reshape(1, -1, *ones)
    found = found + beta.cast(dtypes.float32).reshape(1, -1, *ones)
    found = (found.silu() if activation else found).cast(given.dtype)
    return _channels_last(found) if channels_last else found


def _skip_group_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    skip: Tensor,
    bias: Tensor | None = None,
    **attributes: Any,
) -> tuple[Tensor, Tensor]:
    extra = skip.reshape(skip.shape[0], 1, 1, -1) if skip.ndim == 2 else skip
    total = x + extra
    total = total if bias is None else total + bias
    return _group_norm(total, gamma, beta, **attributes), total


# -- attention

_FILTER = -10000.0
"""The score that takes the place of masked ones by default."""


def _padding_mask(mask: Tensor, keys: int, batch: int, fill: float) -> Tensor:
    """Numbers that are added to scores, (batch, 1, queries or 1, keys), for a mask of one of ONNX
    Runtime's forms: lengths, ends and starts, or a number for each key, 0 for those left out."""
    if mask.ndim == 1:
        places = Tensor.arange(keys)
        if mask.shape[0] == batch:
            holds = places < mask.reshape(-1, 1)
        elif mask.shape[0] == 2 * batch or isinstance(mask.shape[0], SymInt):
            ends = mask.shrink_to((2 * batch,)).reshape(2, batch, 1)
            holds = (places < ends[0]) & (places >= ends[1])
        else:
            raise Refused(f"a mask of shape {mask.shape} for a batch of {batch} is not supported")
        holds = holds.unsqueeze(1)
    elif mask.ndim in (2, 3):
        holds = mask > 0
        holds = holds.unsqueeze(1) if mask.ndim == 2 else holds
    else:
        raise Refused(f"a mask with {mask.ndim} axes is not supported: it has one to three")
    return holds.unsqueeze(1).where(Tensor.zeros(1), fill)


def _self_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    past: tuple[Tensor, Tensor] | None,
    is_causal: bool,
    scale: float | None,
    fill: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attention of (batch, heads, places, size), with the present keys and values, and products."""
    offset = 0
    if past is not None:
        offset = past[0].shape[2]
        k, v = past[0].cat(k, dim=2), past[1].cat(v, dim=2)
    queries, keys = q.shape[2], k.shape[2]
    masks = [] if mask is None else [_padding_mask(mask, keys, q.shape[0], fill)]
    masks += [] if bias is None else [bias]
    # Cross attention may have fewer keys, which the last query sees all.
    masks += within(queries, keys, offset, right=0) if is_causal else []
    y, scores = attended(q, k, v, masks, scale)
    return joined(y), k, v, scores.products


def _qkv(
    projected: Tensor, heads: int, hidden: Sequence[int] | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values that lie in one matrix, by heads."""
    if hidden is None:
        parts = projected.chunk(3, -1)
    else:
        parts = projected.split([int(h) for h in hidden], -1)
    q, k, v = (by_heads(part, heads) for part in parts)
    return q, k, v


def _attention(
    x: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    *,
    num_heads: int,
    scale: float | None = None,
    unidirectional: int = 0,
    mask_filter_value: float = _FILTER,
    qkv_hidden_sizes: Sequence[int] | None = None,
    **others: Any,
) -> tuple[Tensor, ...]:
    _refuse_given(past_present_share_buffer=others.pop("past_present_share_buffer", 0))
    _refuse_given(do_rotary=others.pop("do_rotary", 0))
    projected = x.matmul(weights)
    projected = projected if bias is None else projected + bias
    return _projected_attention(
        projected, mask, past, attention_bias, num_heads, scale, unidirectional,
        mask_filter_value, qkv_hidden_sizes,
    )  # fmt: skip


def _projected_attention(
    projected: Tensor,
    mask: Tensor | None,
    past: Tensor | None,
    attention_bias: Tensor | None,
    heads: int,
    scale: float | None,
    unidirectional: int,
    fill: float,
    hidden: Sequence[int] | None,
) -> tuple[Tensor, ...]:
    q, k, v = _qkv(projected, heads, hidden)
    before = None if past is None else (past[0], past[1])
    y, k, v, _ = _self_attention(
        q, k, v, mask, attention_bias, before, bool(unidirectional), scale, fill
    )
    return (y, Tensor.stack(k, v)) if k.shape == v.shape else (y,)


def _refuse_given(**attributes: Any) -> None:
    for name, value in attributes.items():
        if value is not None and value != 0:
            raise Refused(f"{name} is not supported")


def _quantized_attention(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    x_scale: Tensor,
    weight_scale: Tensor,
    mask: Tensor | None = None,
    x_zero_point: Tensor | None = None,
    weight_zero_point: Tensor | None = None,
    past: Tensor | None = None,
    *,
    num_heads: int,
    scale: float | None = None,
    unidirectional: int = 0,
    mask_filter_value: float = _FILTER,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> tuple[Tensor, ...]:
    _refuse_given(do_rotary=do_rotary, past_present_share_buffer=past_present_share_buffer)
    projected = _to_float(x, weight, x_scale, weight_scale, x_zero_point, weight_zero_point, bias)
    return _projected_attention(
        projected, mask, past, None, num_heads, scale, unidirectional, mask_filter_value, None
    )


def _multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    *,
    num_heads: int,
    scale: float | None = None,
    unidirectional: int = 0,
    mask_filter_value: float = _FILTER,
) -> tuple[Tensor, ...]:
    if past_sequence_length is not None or cache_indirection is not None:
        raise Refused("past_sequence_length and cache_indirection are not supported")
    # Packed: (batch, places, heads, 3 or 2, size), with the bias of each part.
    biases: list[Tensor | None] = [None, None, None]
    if query.ndim == 5:
        q, k, v = (query[:, :, :, i].flatten(2) for i in range(3))
    elif key is not None and key.ndim == 5:
        q, k, v = query, *(key[:, :, :, i].flatten(2) for i in range(2))
    elif key is None or value is None:
        q, k, v = query.chunk(3, -1)
    else:
        q, k, v = query, key, value
    if bias is not None:
        hidden = q.shape[-1]
        biases = [bias[:hidden], bias[hidden : 2 * hidden], bias[2 * hidden :]]
    q, k, v = (
        by_heads(t if b is None or t.ndim == 4 else t + b, num_heads)
        for t, b in zip((q, k, v), biases, strict=True)
    )
    past = None if past_key is None or past_value is None else (past_key, past_value)
    is_causal = bool(unidirectional)
    return _self_attention(q, k, v, mask, attention_bias, past, is_causal, scale, mask_filter_value)


def _group_query_attention(
    call: Call,
    query: Value,
    key: Value,
    value: Value,
    past_key: Value,
    past_value: Value,
    seqlens_k: Value,
    total_sequence_length: Value,
    cos_cache: Value = None,
    sin_cache: Value = None,
    position_ids: Value = None,
    attention_bias: Value = None,
    head_sink: Value = None,
    *others: Value,
    num_heads: int,
    kv_num_heads: int,
    scale: float | None = None,
    softcap: float = 0.0,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    local_window_size: int = -1,
    smooth_softmax: int = -1,
    causal: int = 1,
    qk_output: int = 0,
    **ignored: Any,
) -> tuple[Tensor, ...]:
    """Attention of few heads of keys with a cache, to which the new keys are written behind the
    valid ones of each batch, of which there are `seqlens_k + 1` afterwards.

    The cache grows to the total length if that is a size of the graph, which may be the cache's
    own, and by the new keys otherwise.
    """
    if any(other is not None for other in others):
        raise Refused("caches of integers, norms of queries and padded queries are not supported")
    for name in ("kv_cache_bit_width", "sliding_window_cache"):
        _refuse_given(**{name: ignored.get(name)})
    q = as_tensor(query)
    if key is None or value is None:
        size = q.shape[-1] // (num_heads + 2 * kv_num_heads)
        q, k, v = q.split([num_heads * size, kv_num_heads * size, kv_num_heads * size], -1)
    else:
        k, v = as_tensor(key), as_tensor(value)
    q = by_heads(q, num_heads)
    k, v = (by_heads(t, kv_num_heads) for t in (k, v))
    new = k.shape[2]
    counts = as_tensor(seqlens_k).reshape(-1, 1, 1, 1).cast(dtypes.int32) + 1
    start = (counts - SymInt.as_tensor(new)).maximum(0)
    if do_rotary:
        cos, sin = as_tensor(cos_cache), as_tensor(sin_cache)
        if position_ids is None:
            places = start.reshape(-1, 1) + Tensor.arange(new)
        else:
            places = as_tensor(position_ids)
        cos, sin = cos[places].unsqueeze(1), sin[places].unsqueeze(1)
        options = {"interleaved": bool(rotary_interleaved), "size": 2 * cos.shape[-1]}
        q, k = (rotated(t, cos, sin, **options) for t in (q, k))
    if past_key is not None and past_value is not None:
        pasts = as_tensor(past_key), as_tensor(past_value)
        before = pasts[0].shape[2]
        total: Any = before + new
        if not isinstance(total_sequence_length, Tensor):
            (known_total,) = dims(call.known(total_sequence_length, "total_sequence_length"))
            total = larger(before, known_total)
        k, v = (_written(past, t, start, total) for past, t in zip(pasts, (k, v), strict=True))
    keys = k.shape[2]
    left = local_window_size - 1 if local_window_size > 0 else -1
    masks = within(q.shape[2], keys, start, left, 0 if causal else -1)
    masks += [] if causal else [Tensor.arange(keys) < counts]
    if attention_bias is not None:
        bias = as_tensor(attention_bias)
        masks.append(bias.pad([0, keys - bias.shape[-1]]))
    sink = None
    if head_sink is not None:
        sink = as_tensor(head_sink)
    elif smooth_softmax > 0:
        sink = Tensor.zeros(num_heads)
    y, scores = attended(q, k, v, masks, scale, softcap, sink=sink)
    shown = scores.weights if qk_output == 2 else scores.products
    return joined(y), k, v, shown.cast(q.dtype)


def _written(past: Tensor, new: Tensor, start: Tensor, total: int) -> Tensor:
    """A cache (batch, heads, places, size) of a greater number of places, with new ones written
    from a place on, which each batch has its own of."""
    places = Tensor.arange(total).reshape(1, 1, -1, 1)
    at = places - start
    is_new = (at >= 0) & (at < SymInt.as_tensor(new.shape[2]))
    index = is_new.where(at, 0).expand(past.shape[0], past.shape[1], total, past.shape[3])
    longer = past.pad([0, 0, 0, total - past.shape[2]])
    return is_new.where(new.gather(2, index), longer)


def _rotary(
    x: Tensor,
    position_ids: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    is_packed_batching: int = 0,
    scale: float = 1.0,
) -> Tensor:
    _refuse_given(is_packed_batching=is_packed_batching)
    size = rotary_embedding_dim or 2 * cos.shape[-1]
    heads = by_heads(x, num_heads or x.shape[-1] // size)
    if position_ids.ndim == 1:
        # The place of the first element.
        position_ids = (position_ids + Tensor.arange(heads.shape[2])).unsqueeze(0)
    cos, sin = cos[position_ids].unsqueeze(1), sin[position_ids].unsqueeze(1)
    found = rotated(heads, cos, sin, interleaved=bool(interleaved), size=size)
    return joined(found) if x.ndim == 3 else found


# -- quantised operators


def _to_float(
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
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
    return _to_float(integers, b, scale, b_scale, zero, b_zero_point, bias)


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


def _softmax(x: Tensor, *, axis: int = -1, opset: int = 13) -> Tensor:
    if opset >= 13:
        return x.softmax(axis)
    axis %= x.ndim
    rows = math.prod(x.shape[:axis])
    return x.reshape(rows, math.prod(x.shape[axis:])).softmax(-1).reshape(x.shape)


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


def _integer_multiple(
    a: Tensor, a_zero_point: Tensor | None, b: Tensor, b_zero_point: Tensor | None = None
) -> Tensor:
    return quantization.centred(a, a_zero_point) * quantization.centred(b, b_zero_point)


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
    for axis, count in enumerate(dims(crop_size)):
        extent = x.shape[2 + axis]
        last = SymInt.as_tensor(extent - 1).cast(dtypes.float32)
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


def _distances(a: Tensor, b: Tensor, *, metric: str = "sqeuclidean") -> Tensor:
    if metric == "euclidean":
        return a.cdist(b)
    if metric != "sqeuclidean":
        raise Refused(f"metric {metric!r}: it is euclidean or sqeuclidean")
    difference = a.unsqueeze(-2) - b.unsqueeze(-3)
    return (difference * difference).sum(-1)


def _bias_softmax(x: Tensor, bias: Tensor, *, axis: int = 1, is_inner_broadcast: int = 1) -> Tensor:
    axis %= x.ndim
    if not is_inner_broadcast:
        # The bias has the leading axes, and repeats for those between.
        more = x.ndim - bias.ndim
        bias = bias.reshape(bias.shape[0], *[1] * more, *bias.shape[1:])
    return _softmax(x + bias, axis=axis, opset=1)


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


DEFAULT_DOMAIN: Rules = {
    "SimplifiedLayerNormalization": {1: _simplified},
}
"""Operators that ONNX Runtime's tools write to the default domain, though ONNX has none such."""

RULES: Rules = {
    "Attention": {1: _attention},
    "BiasAdd": {1: lambda x, bias, skip: x + bias + skip},
    "BiasGelu": {1: lambda a, b: (a + b).gelu("none")},
    "BiasSoftmax": {1: _bias_softmax},
    "BiasSplitGelu": {1: _bias_split_gelu},
    "CDist": {1: _distances},
    "CropAndResize": {1: known(_crop_and_resize, 3)},
    "DequantizeLinear": {1: quantization.RULES["DequantizeLinear"][10]},
    "DynamicQuantizeMatMul": {1: _dynamic_product},
    "EmbedLayerNormalization": {1: _embed},
    "ExpandDims": {1: known(_expand_dims, 1)},
    "FastGelu": {1: _fast_gelu},
    "FusedConv": {1: _fused_conv},
    "FusedGemm": {1: _fused_gemm},
    "FusedMatMul": {1: _fused_matmul},
    "GatherBlockQuantized": {1: raw(_gather_block_quantized)},
    "Gelu": {1: lambda x: x.gelu("none")},
    "GemmFastGelu": {1: lambda x, w, bias=None: _fast_gelu(x.matmul(w), bias)},
    "GroupNorm": {1: _group_norm},
    "GroupQueryAttention": {1: raw(_group_query_attention)},
    "Inverse": {1: Tensor.inverse},
    "MatMulBnb4": {1: _matmul_bnb4},
    "MatMulInteger16": {1: integer_product},
    "MatMulIntegerToFloat": {1: _to_float},
    "MatMulNBits": {1: _matmul_nbits},
    "MulInteger": {1: _integer_multiple},
    "MultiHeadAttention": {1: _multi_head_attention},
    "NhwcConv": {1: _nhwc_conv},
    "NhwcFusedConv": {1: _nhwc_conv},
    "NhwcMaxPool": {1: _nhwc(max_pool)},
    "QAttention": {1: _quantized_attention},
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
    "QLinearSoftmax": {1: _quantized_function(_softmax)},
    "QLinearWhere": {1: _quantized_where},
    "QuantizeLinear": {1: quantization.RULES["QuantizeLinear"][10]},
    "QuickGelu": {1: _quick_gelu},
    "RotaryEmbedding": {1: _rotary},
    "SimplifiedLayerNormalization": {1: _simplified},
    "SkipGroupNorm": {1: _skip_group_norm},
    "SkipLayerNormalization": {1: _skip_layer_norm},
    "SkipSimplifiedLayerNormalization": {1: _skip_simplified},
    "SwiGLU": {1: _swiglu},
    "TransposeMatMul": {1: _fused_matmul},
    "UnfoldTensor": {1: _unfolded},
}
