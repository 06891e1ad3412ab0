"""Softmax, batch and layer normalization, dropout, and steps of optimizers."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.dtypes import numpy_of
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.ops.creation import uniform
from tgdialect.interop.onnx.ops.movement import axis_of, division_of
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor


def flattened(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function along all axes from `axis` on, as if they were one."""

    def rule(x: Tensor, *, axis: int = 1) -> Tensor:
        at = division_of(x, axis)
        if at == x.ndim - 1:
            return function(x, axis=at)
        rows = x.reshape((*x.shape[:at], -1)) if at < x.ndim else x.unsqueeze(-1)
        return function(rows, axis=-1).reshape(x.shape)

    return rule


def _hardmax(x: Tensor, *, axis: int = -1) -> Tensor:
    at = axis_of(x, axis)
    places = Tensor.arange(x.shape[at]).reshape([-1 if i == at else 1 for i in range(x.ndim)])
    return x.argmax(at, True).eq(places).cast(x.dtype)


def _along(statistic: Tensor, x: Tensor) -> Tensor:
    """A vector of a number for each channel, along the channels of x."""
    return statistic.reshape((statistic.shape[0], *(1,) * (x.ndim - 2)))


@rounded_once
def _normalized(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor:
    return (x - mean) * (scale * (variance + epsilon).rsqrt()) + bias


def _batch_normalization(
    call: NodeCall,
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float,
    momentum: float = 0.9,
    training_mode: int = 0,
    spatial: int = 1,
) -> Tensor | tuple[Tensor, ...]:
    """With statistics of the channels, or, not `spatial`, of each element of an example."""
    if len([o for o in call.node.output if o]) > 1 and call.opset < 14:
        raise Refused("training is not supported before opset 14: convert the model to it")
    given = as_tensor(x)
    place = _along if spatial else lambda statistic, _: statistic
    known = [s for s in (scale, bias, mean, variance) if isinstance(s, np.ndarray)]
    if len(known) == 4 and not training_mode:
        # One product and one sum, as constants are folded into weights.
        a, b, c, d = (array.astype(np.float64) for array in known)
        factor = a / np.sqrt(d + epsilon)
        wide = given.cast(dtypes.promote(given.dtype, dtypes.float32))
        pair = (constant(v.astype(numpy_of(wide.dtype))) for v in (factor, b - c * factor))
        product, total = (place(v, given) for v in pair)
        return (wide * product + total).cast(given.dtype)
    weight, shift, old_mean, old_variance = map(as_tensor, (scale, bias, mean, variance))

    def normalized(x: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        a, b, c, d = (place(s, x) for s in (weight, shift, mean, variance))
        return _normalized(x, a, b, c, d, epsilon).cast(given.dtype)

    if not training_mode:
        return normalized(given, old_mean, old_variance)
    axes = [i for i in range(given.ndim) if i != 1]
    # Statistics of f16 are computed in f32, and rounded once.
    wide = given.cast(dtypes.promote(given.dtype, dtypes.float32))
    now = wide.mean(axes), wide.var(axes, correction=0)
    updated = (
        (old.cast(wide.dtype) * momentum + new * (1 - momentum)).cast(old.dtype)
        for old, new in zip((old_mean, old_variance), now, strict=True)
    )
    return normalized(wide, *now), *updated


def _instance_normalization(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float) -> Tensor:
    found = x.layernorm(range(2, x.ndim), epsilon)  # type: ignore[arg-type]
    return found * _along(scale, x) + _along(bias, x)


def _group_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float, **_: int
) -> Tensor:
    """Scale and bias are of channels, before opset 21 of groups."""
    channels = x.shape[1]
    groups = x.reshape((x.shape[0], num_groups, channels // num_groups, *x.shape[2:]))
    found = groups.layernorm(range(2, groups.ndim), epsilon)  # type: ignore[arg-type]
    if scale.shape[0] != channels:
        return (found * _along(scale, found) + _along(bias, found)).reshape(x.shape)
    found = found.reshape(x.shape)
    return found * _along(scale, x) + _along(bias, x)


def _layer_normalization(
    call: NodeCall,
    x: Value,
    scale: Value,
    bias: Value = None,
    *,
    axis: int = -1,
    epsilon: float,
    stash_type: int = 1,
) -> tuple[Tensor, ...]:
    """Mean and deviation have the type `stash_type`; narrow floats are normalized in f32."""
    given = as_tensor(x)
    axes = range(axis_of(given, axis), given.ndim)
    found = given.layernorm(axes, epsilon) * as_tensor(scale)  # type: ignore[arg-type]
    found = found if bias is None else found + as_tensor(bias)
    if len(call.node.output) == 1:
        return (found,)
    stash = dtype_of(stash_type)
    wide = given.cast(dtypes.promote(given.dtype, dtypes.float32))
    deviation = (wide.var(tuple(axes), True, 0) + epsilon).rsqrt()
    return found, wide.mean(tuple(axes), True).cast(stash), deviation.cast(stash)


def _rms_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float, **_: int
) -> Tensor:
    axes = tuple(range(axis_of(x, axis), x.ndim))
    wide = x.cast(dtypes.promote(x.dtype, dtypes.float32))
    found = wide * ((wide * wide).mean(axes, True) + epsilon).rsqrt()
    return found.cast(x.dtype) * scale


@rounded_once
def _lp_normalized(x: Tensor, p: int, axis: int) -> Tensor:
    norm = x.abs().sum(axis, True) if p == 1 else (x * x).sum(axis, True).sqrt()
    return norm.eq(0).where(0, x / norm)


def _lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    if p not in (1, 2):
        raise Refused(f"p is {p}, not 1 or 2")
    return _lp_normalized(x, p, axis)


@rounded_once
def _local_response(x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
    """A window has `size` neighbouring channels."""
    before = (size - 1) // 2
    padding = [(before, size - 1 - before) if i == 1 else (0, 0) for i in range(x.ndim)]
    total = (x * x).pad(padding).unfold(1, size, 1).sum(-1)
    return x / (total * (alpha / size) + bias).pow(beta)


def _local_response_normalization(
    x: Tensor, *, size: int, alpha: float, beta: float, bias: float
) -> Tensor:
    return _local_response(x, size, alpha, beta, bias)


def _dropout(
    call: NodeCall,
    x: Value,
    ratio: Value = None,
    training_mode: Value = None,
    *,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The result, and what is kept. Nothing is dropped but in training."""
    given = as_tensor(x)
    is_training = training_mode is not None and call.known(training_mode, call.node.input[2])
    part = 0.5 if ratio is None else float(call.known(ratio, call.node.input[1]).item())
    if not is_training or part == 0:
        return given, Tensor.full(given.shape, True, dtypes.bool_)
    if part == 1:  # All is dropped, and there is nothing to scale.
        return given.zeros_like(), Tensor.full(given.shape, False, dtypes.bool_)
    keep = uniform(given.shape, seed) >= part
    return keep.where(given, 0) * (1 / (1 - part)), keep


def _adam(
    rate: Tensor, step: Tensor, *rest: Tensor, alpha: float, beta: float, **attributes: float
) -> tuple[Tensor, ...]:
    weights, gradients, means, squares = _by_kind(rest, 4)
    is_later = step > 0
    one = step.cast(rate.dtype)
    corrected = rate * (1 - beta**one).sqrt() / (1 - alpha**one)
    rate = is_later.where(corrected, rate)
    found: list[tuple[Tensor, ...]] = []
    for x, g, v, h in zip(weights, gradients, means, squares, strict=True):
        g = g + x * attributes["norm_coefficient"]
        v = v * alpha + g * (1 - alpha)
        h = h * beta + g * g * (1 - beta)
        x = x - rate * v / (h.sqrt() + attributes["epsilon"])
        found.append((x * (1 - attributes["norm_coefficient_post"]), v, h))
    return _by_result(found)


def _adagrad(
    rate: Tensor,
    step: Tensor,
    *rest: Tensor,
    decay_factor: float,
    epsilon: float,
    norm_coefficient: float,
) -> tuple[Tensor, ...]:
    rate = rate / (1 + step.cast(rate.dtype) * decay_factor)
    found: list[tuple[Tensor, ...]] = []
    for x, g, h in zip(*_by_kind(rest, 3), strict=True):
        g = g + x * norm_coefficient
        h = h + g * g
        found.append((x - rate * g / (h.sqrt() + epsilon), h))
    return _by_result(found)


def _momentum(
    rate: Tensor,
    step: Tensor,
    *rest: Tensor,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> tuple[Tensor, ...]:
    if mode not in ("standard", "nesterov"):
        raise Refused(f"mode is {mode!r}, not 'standard' or 'nesterov'")
    factor = (step > 0).where(beta, 1.0)
    found: list[tuple[Tensor, ...]] = []
    for x, g, v in zip(*_by_kind(rest, 3), strict=True):
        g = g + x * norm_coefficient
        v = v * alpha + g * factor
        found.append((x - rate * (g + v * alpha if mode == "nesterov" else v), v))
    return _by_result(found)


def _by_kind(operands: tuple[Tensor, ...], kinds: int) -> list[tuple[Tensor, ...]]:
    """Operands of a step: all weights, all gradients, and so on."""
    count = len(operands) // kinds
    return [operands[i * count : (i + 1) * count] for i in range(kinds)]


def _by_result(found: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    return tuple(each for kind in zip(*found, strict=True) for each in kind)


TRAINING: Rules = {
    "Adagrad": {1: _adagrad},
    "Adam": {1: _adam},
    "Momentum": {1: _momentum},
}
"""The steps of optimizers, of the domain ai.onnx.preview.training."""

RULES: Rules = {
    "BatchNormalization": {7: raw(_batch_normalization)},
    "Dropout": {
        7: lambda x, **_: (x, Tensor.full(x.shape, 1, x.dtype)),
        10: lambda x, **_: (x, Tensor.full(x.shape, True, dtypes.bool_)),
        12: raw(_dropout),
    },
    "GroupNormalization": {18: _group_normalization},
    "Hardmax": {1: flattened(_hardmax), 13: _hardmax},
    "InstanceNormalization": {6: _instance_normalization},
    "LRN": {1: _local_response_normalization},
    "LayerNormalization": {17: raw(_layer_normalization)},
    "LogSoftmax": {
        1: flattened(Tensor.log_softmax),
        13: lambda x, *, axis: x.log_softmax(axis),
    },
    "LpNormalization": {1: _lp_normalization},
    "RMSNormalization": {23: _rms_normalization},
    "Softmax": {1: flattened(Tensor.softmax), 13: lambda x, *, axis: x.softmax(axis)},
}
