"""ATen ops of networks: normalisation, softmax, attention."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import torch

from tgdialect.frontend.loops import scan
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.ops.gradients import gradients
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype, in_result_dtype

aten = torch.ops.aten


def _wide(x: Tensor) -> Tensor:
    """Narrow floats as f32, in which PyTorch computes statistics."""
    return x.cast("float32") if x.dtype.bits < 32 else x


def _layer_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    axes = list(range(-len(shape), 0))
    wide = _wide(x)
    mean = wide.mean(axes, keepdim=True)
    centered = wide - mean
    rstd = ((centered * centered).mean(axes, keepdim=True) + eps).rsqrt()
    result = centered * rstd
    result = result if weight is None else result * weight
    return result if bias is None else result + bias, mean, rstd


def _group_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch: int,
    channels: int,
    cells: int,
    groups: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    grouped = _wide(x).reshape((batch, groups, channels // groups * cells))
    mean = grouped.mean(-1, keepdim=True)
    centered = grouped - mean
    rstd = ((centered * centered).mean(-1, keepdim=True) + eps).rsqrt()
    result = (centered * rstd).reshape(x.shape)
    per_channel = (1, channels, *[1] * (x.ndim - 2))
    result = result if weight is None else result * weight.reshape(per_channel)
    result = result if bias is None else result + bias.reshape(per_channel)
    return result, mean.squeeze(-1), rstd.squeeze(-1)


def _batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor | None, ...]:
    """The result; the mean and 1 / deviation, empty in inference; the new running statistics."""
    wide = _wide(x)
    axes = [axis for axis in range(x.ndim) if axis != 1]
    shape = (1, x.shape[1], *[1] * (x.ndim - 2))
    if training:
        mean = wide.mean(axes, keepdim=True)
        centered = wide - mean
        variance = (centered * centered).mean(axes, keepdim=True)
        rstd = (variance + eps).rsqrt()
        count: Any = math.prod(x.shape[axis] for axis in axes)
        saved = mean.reshape((-1,)), rstd.reshape((-1,))
        if running_mean is not None and running_var is not None:
            unbiased = variance.reshape((-1,)) * count / (count - 1)
            running_mean = running_mean * (1 - momentum) + saved[0] * momentum
            running_var = running_var * (1 - momentum) + unbiased * momentum
    else:
        assert running_mean is not None
        assert running_var is not None
        centered = wide - running_mean.reshape(shape)
        rstd = (running_var.reshape(shape) + eps).rsqrt()
        saved = Tensor.zeros((0,), dtype=wide.dtype), Tensor.zeros((0,), dtype=wide.dtype)
    scale = rstd if weight is None else rstd * weight.reshape(shape)
    result = centered * scale
    result = result if bias is None else result + bias.reshape(shape)
    return result, *saved, running_mean, running_var


def _scores(
    query: Tensor,
    key: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    factor: float,
) -> Tensor:
    """The operand of attention's softmax, in f32 at least. Raises Refusal for dropout."""
    if dropout_p:
        raise Refusal("attention with dropout draws random numbers, which PyTorch does")
    scores = query.matmul(key.transpose(-2, -1), dtype=_wide(query).dtype) * factor
    if is_causal:
        rows, columns = scores.shape[-2:]
        mask = Tensor.arange(columns) <= Tensor.arange(rows).reshape((rows, 1))
        scores = mask.where(scores, -math.inf)
    return scores if attn_mask is None else scores + attn_mask


def _factor(query: Tensor, scale: float | None) -> float:
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The result, and the logarithm of the sum of exponentials, for the gradient."""
    scores = _scores(query, key, dropout_p, is_causal, attn_mask, _factor(query, scale))
    result = scores.softmax(-1).cast(query.dtype).matmul(value)
    if attn_mask is not None:  # Rows that are masked as a whole are 0.
        result = (scores.max(-1, keepdim=True) == -math.inf).where(0, result)
    return result, scores.logsumexp(-1)


def _attention_gradients(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    result: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Dao et al., "FlashAttention" (2022), appendix B.2."""
    factor = _factor(query, scale)
    scores = _scores(query, key, dropout_p, is_causal, attn_mask, factor)
    weights = (scores - logsumexp.unsqueeze(-1)).exp()
    if attn_mask is not None:  # In a row that is masked as a whole the difference is NaN.
        weights = (scores == -math.inf).where(0, weights)
    gradient = gradient.cast(weights.dtype)
    mean = (gradient * result).sum(-1, keepdim=True)
    of_scores = weights * (gradient.matmul(value.transpose(-2, -1)) - mean) * factor
    return (
        of_scores.matmul(key),
        of_scores.transpose(-2, -1).matmul(query),
        weights.transpose(-2, -1).matmul(gradient),
    )


LSTM_MODE = 2
"""oneDNN's number of an LSTM, the only recurrent layer that PyTorch gives it in graphs."""


def _lstm(
    x: Tensor,
    input_weight: Tensor,
    hidden_weight: Tensor,
    input_bias: Tensor,
    hidden_bias: Tensor,
    hidden: Tensor,
    cell: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    width: int,
    layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Tensor, ...]:
    """One layer in one direction, as a loop over the steps: outputs, the last states, and an empty
    workspace, which the gradients here do not use. Gates are in the order input, forget, cell,
    output, and biases are zeros if there are none."""
    if mode != LSTM_MODE or layers != 1 or batch_sizes or bidirectional or batch_first or train:
        raise Refusal("oneDNN's recurrent layers are LSTMs of one layer, in inference")
    inputs = x.matmul(input_weight.transpose(0, 1)) + input_bias + hidden_bias
    recurrent = hidden_weight.transpose(0, 1)

    def step(state: tuple[Tensor, Tensor], given: Tensor) -> Any:
        h, c = state
        gates = given + h.matmul(recurrent)
        i, f, g, o = (gates[..., k * width : (k + 1) * width] for k in range(4))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return (h, c), h

    shape = x.shape[1], width
    first = hidden.reshape(shape), cell.reshape(shape)
    (h, c), outputs = scan(step, first, inputs, reverse=reverse)
    return outputs, h.unsqueeze(0), c.unsqueeze(0), Tensor.zeros(0, dtype="uint8")


def _lstm_gradients(*given: Any) -> Sequence[Tensor | None]:
    """The gradients by the inputs, weights, biases and first states: those of the sum of the three
    results times what is given for them."""
    arguments: list[Any] = [*given[:7]]
    of_results: Sequence[Tensor | None] = given[10:13]
    reverse, mode, width, layers, has_biases, train, bidirectional, sizes, is_batch_first = (
        *given[13:22],
    )
    rest = [reverse, sizes, mode, width, layers, has_biases, bidirectional, is_batch_first, train]

    def weighed(*tensors: Tensor) -> Tensor:
        operands: list[Any] = [*tensors, *rest]
        both = zip(_lstm(*operands), of_results, strict=False)
        parts = [(result * factor).sum() for result, factor in both if factor is not None]
        return reduce(add, parts)

    return gradients(weighed, Tensor.ones(()), *arguments)


def _filtered(mode: str) -> Callable[..., Tensor]:
    """Images resized by a filter against aliasing."""

    def resize(x: Tensor, size: Any, align_corners: bool, *scales: float | None) -> Tensor:
        factors = [scale for scale in scales if scale is not None]
        if align_corners or len(factors) < len(size):
            return x.interpolate(tuple(size), mode, align_corners, antialias=True)
        # The size need not be what the factors give.
        found = x.interpolate(None, mode, scale_factor=factors, antialias=True)
        return found.shrink_to(None, None, *size)

    return resize


def _renormalised(weight: Tensor, indices: Tensor, most: float, order: float) -> Tensor:
    """Rows at positions, scaled down to the greatest norm that they may have."""
    norm = weight.cast("float32").abs().pow(order).sum(1, keepdim=True).pow(1 / order)
    is_used = Tensor.zeros((weight.shape[0],), dtype="bool")
    is_used[indices.flatten()] = True
    is_long = is_used.unsqueeze(1) & (norm > most)
    return is_long.where(weight * (most / (norm + _LEAST_NORM)), weight)


_LEAST_NORM = 1e-7
"""The number that PyTorch adds to a norm that it divides by."""


def _grid_sample(x: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    return x.grid_sample(
        grid,
        ("bilinear", "nearest", "bicubic")[mode],
        ("zeros", "border", "reflection")[padding],
        align_corners,
    )


NEURAL: Table = {
    **in_result_dtype(
        {
            aten._softmax.default: lambda x, dim, half_to_float: x.softmax(dim),
            aten._log_softmax.default: lambda x, dim, half_to_float: x.log_softmax(dim),
        }
    ),
    **in_own_dtype(
        {
            aten.native_layer_norm.default: _layer_norm,
            aten.native_group_norm.default: _group_norm,
            aten.native_batch_norm.default: lambda *given: _batch_norm(*given)[:3],
            aten._native_batch_norm_legit_functional.default: _batch_norm,
            aten._native_batch_norm_legit_no_training.default: lambda x, w, b, mean, var, m, eps: (
                _batch_norm(x, w, b, mean, var, False, m, eps)[:3]
            ),
            aten._native_batch_norm_legit.no_stats: lambda x, w, b, training, m, eps: _batch_norm(
                x, w, b, None, None, training, m, eps
            )[:3],
            aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
            aten.embedding_renorm.default: _renormalised,
            aten._upsample_bilinear2d_aa.default: _filtered("bilinear"),
            aten._upsample_bicubic2d_aa.default: _filtered("bicubic"),
            aten.grid_sampler_2d.default: _grid_sample,
            aten.grid_sampler_3d.default: _grid_sample,
            aten.mkldnn_rnn_layer.default: _lstm,
            aten.mkldnn_rnn_layer_backward.default: _lstm_gradients,
            aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_gradients,
        }
    ),
}
