"""Products of matrices, Einsum, attention."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tgdialect.frontend import dtypes
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.symbolic import Dim, SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.rules import Rules
from tgdialect.interop.onnx.values import Refused


def scaled(x: Tensor, factor: float) -> Tensor:
    """x times a factor, in the dtype of x."""
    return x if factor == 1 else (x * factor).cast(x.dtype)


def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """alpha * a @ b + beta * c, of matrices."""
    a, b = a.transpose(0, 1) if transA else a, b.transpose(0, 1) if transB else b
    product = scaled(a.dot(b), alpha)
    return product if c is None or beta == 0 else product + scaled(c, beta)


# -- attention


def by_heads(x: Tensor, heads: int | None, name: str = "num_heads") -> Tensor:
    """(batch, places, heads * size) as (batch, heads, places, size)."""
    if x.ndim == 4:
        return x
    if not heads or x.ndim != 3 or (not isinstance(x.shape[2], SymInt) and x.shape[2] % heads):
        raise Refused(f"{x.shape} has three axes, and {name} {heads} divides the last one")
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    """(batch, heads, places, size) as (batch, places, heads * size)."""
    batch, heads, places, size = x.shape
    return x.transpose(1, 2).reshape(batch, places, heads * size)


@dataclass
class Scores:
    """The stages of attention, each (batch, heads, queries, keys): products of queries and keys,
    these after the soft cap, these after masks, and weights."""

    products: Tensor
    capped: Tensor
    masked: Tensor
    weights: Tensor


def attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Sequence[Tensor] = (),
    scale: float | None = None,
    softcap: float = 0.0,
    precision: dtypes.DType | None = None,
    sink: Tensor | None = None,
) -> tuple[Tensor, Scores]:
    """Attention of (batch, heads, places, size); heads of keys may be fewer, each for several of
    queries.

    Args:
        masks: conditions that hold where a key takes part, or numbers that are added to scores. A
            query without any key has zeros.
        scale: by default 1 / sqrt(size).
        precision: the dtype of the softmax, f32 at least by default.
        sink: (heads,) scores of a further key, whose value is 0.
    """
    if (times := _ratio(q.shape[1], k.shape[1])) != 1:
        k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    wide = dtypes.float32 if q.dtype.bits < 32 else q.dtype
    if not scale:
        if isinstance(size := q.shape[-1], SymInt):
            raise Refused(f"heads of symbolic size {size}: give a scale")
        scale = 1 / math.sqrt(size)
    products = q.matmul(k.transpose(-1, -2), dtype=wide) * scale
    capped = (products / softcap).tanh() * softcap if softcap else products
    masked = capped
    for given in masks:
        mask = _fitted(given, masked)
        masked = mask.where(masked, -math.inf) if mask.dtype.is_bool else masked + mask.cast(wide)
    scores = masked.cast(precision or wide)
    if sink is not None:
        extra = sink.cast(scores.dtype).reshape(1, -1, 1, 1)
        scores = scores.cat(extra.expand(*scores.shape[:-1], 1), dim=-1)
    weights = scores.softmax(-1)
    if masks:
        weights = scores.max(-1, keepdim=True).eq(-math.inf).where(0, weights)
    if sink is not None:
        weights = weights.shrink_to((*masked.shape,))
    result = weights.cast(v.dtype).matmul(v)
    return result, Scores(products, capped, masked, weights)


def operand(size: int) -> Tensor | int:
    """A size as an operand of arithmetic on tensors."""
    return SymInt.as_tensor(size) if isinstance(size, SymInt) else size


def _fitted(mask: Tensor, scores: Tensor) -> Tensor:
    """A mask whose last axes have the extents of scores. Models name the number of all keys apart
    from those of old and new ones, of which it is the sum."""
    shape: list[Dim | None] = [None] * mask.ndim
    for axis in (-1, -2)[: mask.ndim]:
        if isinstance(mask.shape[axis], SymInt) and mask.shape[axis] != scores.shape[axis]:
            shape[axis] = scores.shape[axis]
    return mask if shape == [None] * mask.ndim else mask.shrink_to(tuple(shape))


def _ratio(queries: int, keys: int) -> int:
    if queries == keys:
        return 1
    if isinstance(queries, SymInt) or isinstance(keys, SymInt) or queries % keys:
        raise Refused(f"{queries} heads of queries, {keys} of keys: the former are a multiple")
    return queries // keys


def within(
    queries: int, keys: int, offset: int | Tensor, left: int = -1, right: int = -1
) -> list[Tensor]:
    """The condition that a key is at most so many places before a query, and after it; -1 is any
    number. Queries begin at an offset, which may be one for each batch: (batch, 1, 1, 1)."""
    start = offset if isinstance(offset, Tensor) else operand(offset)
    rows = Tensor.arange(queries).reshape(-1, 1) + start
    columns = Tensor.arange(keys)
    found = [] if left < 0 else [columns >= rows - left]
    return found if right < 0 else [*found, columns <= rows + right]


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None,
    *,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    scale: float | None = None,
    is_causal: int = 0,
    softcap: float = 0.0,
    softmax_precision: int = 0,
    qk_matmul_output_mode: int = 0,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[Tensor, ...]:
    is_flat, dtype = q.ndim == 3, q.dtype
    q = by_heads(q, q_num_heads, "q_num_heads")
    k, v = (by_heads(t, kv_num_heads, "kv_num_heads") for t in (k, v))
    offset: int | Tensor = 0
    if past_key is not None and past_value is not None:
        offset = past_key.shape[2]
        k, v = past_key.cat(k, dim=2), past_value.cat(v, dim=2)
    queries, keys = q.shape[2], k.shape[2]
    masks: list[Tensor] = []
    if attn_mask is not None:
        # Keys behind the mask take no part.
        more = keys - attn_mask.shape[-1]
        fill = 0 if attn_mask.dtype.is_bool else -math.inf
        masks.append(attn_mask.pad([0, more], value=fill))
    if nonpad_kv_seqlen is not None:
        counts = nonpad_kv_seqlen.reshape(-1, 1, 1, 1)
        masks.append(Tensor.arange(keys) < counts)
        offset = counts - operand(queries)
    masks += within(queries, keys, offset, left_window_size, right_window_size)
    masks += within(queries, keys, offset, right=0) if is_causal else []
    precision = dtype_of(softmax_precision) if softmax_precision else None
    y, scores = attended(q, k, v, masks, scale, softcap, precision)
    modes = scores.products, scores.capped, scores.masked, scores.weights
    shown = modes[qk_matmul_output_mode].cast(dtype)
    return joined(y) if is_flat else y, k, v, shown


@rounded_once
def rotated(
    x: Tensor, cos: Tensor, sin: Tensor, *, interleaved: bool = False, size: int = 0
) -> Tensor:
    """The first `size` elements of the last axis (all, if 0) as pairs that are turned by angles, of
    which there are cosines and sines for each pair. The members of a pair are half of that apart,
    or next to one another if `interleaved`."""
    size = size or x.shape[-1]
    turned, rest = x[..., :size], x[..., size:]
    if interleaved:
        pairs = turned.reshape(*x.shape[:-1], size // 2, 2)
        a, b = pairs[..., 0], pairs[..., 1]
    else:
        a, b = turned[..., : size // 2], turned[..., size // 2 :]
    c, d = a * cos - b * sin, a * sin + b * cos
    if interleaved:
        found = Tensor.stack(c, d, dim=-1).reshape(*x.shape[:-1], size)
    else:
        found = c.cat(d, dim=-1)
    return found if rest.shape[-1] == 0 else found.cat(rest, dim=-1)


def _rotary(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    heads = by_heads(x, num_heads)
    if position_ids is not None:
        cos, sin = cos[position_ids], sin[position_ids]
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    size = rotary_embedding_dim
    found = rotated(heads, cos, sin, interleaved=bool(interleaved), size=size)
    return joined(found) if x.ndim == 3 else found


RULES: Rules = {
    "Attention": {23: _attention},
    "Einsum": {12: lambda *xs, equation: Tensor.einsum(equation, *xs)},
    "Gemm": {7: gemm},
    "MatMul": {1: Tensor.dot},
    "RotaryEmbedding": {23: _rotary},
}
