"""Attention of com.microsoft: forms of masks, caches and packed operands."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.symbolic import SymInt, larger
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops.contrib_quantization import to_float
from tgdialect.interop.onnx.ops.products import (
    attended,
    by_heads,
    joined,
    operand,
    rotated,
    within,
)
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor, dims

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
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
    rotary_embedding_dim: int = 0,
) -> tuple[Tensor, ...]:
    _refuse_given(do_rotary=do_rotary, past_present_share_buffer=past_present_share_buffer)
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
    """Raise Refused for an attribute that is given, and is not 0, which is "no" for all of them."""
    for name, value in attributes.items():
        if value is not None and value != 0:
            raise Refused(f"the attribute {name} = {value!r} is not supported")


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
    projected = to_float(x, weight, x_scale, weight_scale, x_zero_point, weight_zero_point, bias)
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


def _decoder_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    mask: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    beam_width: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    num_heads: int,
    scale: float | None = None,
    mask_filter_value: float = _FILTER,
    past_present_share_buffer: int = 0,
    output_qk: int = 0,
) -> tuple[Tensor, ...]:
    """Attention of new queries to a cache of a greater number of places, to which their keys are
    written from `past_sequence_length` on."""
    if cache_indirection is not None or not past_present_share_buffer:
        raise Refused("cache_indirection, and a cache that grows, are not supported")
    if key is None or value is None or past_key is None or past_value is None:
        raise Refused("packed operands, and attention without a cache, are not supported")
    assert past_sequence_length is not None
    operands = query, key, value
    if bias is not None:
        parts = bias.split([int(t.shape[-1]) for t in operands], 0)
        operands = tuple(t + part for t, part in zip(operands, parts, strict=True))
    q, k, v = (by_heads(t, num_heads) for t in operands)
    start, places = past_sequence_length.reshape(1, 1, 1, 1), past_key.shape[2]
    k, v = _written(past_key, k, start, places), _written(past_value, v, start, places)
    masks = within(q.shape[2], places, start, right=0)
    for each in (mask, attention_bias):
        if each is not None:
            longer = each.pad([0, places - each.shape[-1]])
            masks.append(
                _padding_mask(longer, places, q.shape[0], mask_filter_value)
                if each is mask
                else longer
            )
    y, scores = attended(q, k, v, masks, scale)
    return joined(y), k, v, scores.products


def _group_query_attention(
    call: NodeCall,
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
    k_quant_type: str = "NONE",
    v_quant_type: str = "NONE",
    **others_given: Any,
) -> tuple[Tensor, ...]:
    """Attention of few heads of keys with a cache, to which the new keys are written behind the
    valid ones of each batch, of which there are `seqlens_k + 1` afterwards.

    The cache grows to the total length if that is a size of the graph, which may be the cache's
    own, and by the new keys otherwise.
    """
    if any(other is not None for other in others):
        raise Refused("caches of integers, norms of queries and padded queries are not supported")
    _refuse_given(
        k_quant_type=None if k_quant_type == "NONE" else k_quant_type,
        v_quant_type=None if v_quant_type == "NONE" else v_quant_type,
        **others_given,
    )
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
    start = (counts - operand(new)).maximum(0)
    if do_rotary:
        cos, sin = as_tensor(cos_cache), as_tensor(sin_cache)
        if position_ids is None:
            places = start.reshape(-1, 1) + Tensor.arange(new)
        else:
            places = as_tensor(position_ids)
        cos, sin = cos[places].unsqueeze(1), sin[places].unsqueeze(1)
        size, is_interleaved = 2 * cos.shape[-1], bool(rotary_interleaved)
        q, k = (rotated(t, cos, sin, interleaved=is_interleaved, size=size) for t in (q, k))
    if past_key is not None and past_value is not None:
        pasts = as_tensor(past_key), as_tensor(past_value)
        before = pasts[0].shape[2]
        total: Any = before + new
        if not isinstance(total_sequence_length, Tensor):
            (number,) = dims(call.known(total_sequence_length, "total_sequence_length"))
            total = larger(before, cast(int, number))
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
    is_new = (at >= 0) & (at < operand(new.shape[2]))
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


RULES: Rules = {
    "Attention": {1: _attention},
    "DecoderMaskedMultiHeadAttention": {1: _decoder_attention},
    "GroupQueryAttention": {1: raw(_group_query_attention)},
    "MultiHeadAttention": {1: _multi_head_attention},
    "QAttention": {1: _quantized_attention},
    "RotaryEmbedding": {1: _rotary},
}
