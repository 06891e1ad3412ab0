"""Layers: objects that hold tensors and are called with a tensor.

Weights have PyTorch's shapes and initial distributions. Learnable ones require gradients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.frontend import dtypes
from tgdialect.frontend.convolutions import same_padding
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.symbolic import larger
from tgdialect.frontend.tensor import Tensor

Size = int | Sequence[int]


def learnt(*shape: int, bound: float) -> Tensor:
    """A learnable tensor, uniform in [-bound, bound)."""
    if bound == 0:
        return Tensor.zeros(*shape).requires_grad_()
    return Tensor.uniform(*shape, low=-bound, high=bound).requires_grad_()


def _affine(shape: Size, is_wanted: bool) -> tuple[Tensor | None, Tensor | None]:
    """A learnable factor, ones at first, and summand, zeros at first; None if they are not
    wanted."""
    if not is_wanted:
        return None, None
    return Tensor.ones(shape).requires_grad_(), Tensor.zeros(shape).requires_grad_()


def _extents(size: Size, n: int) -> tuple[int, ...]:
    """The extents of n axes, if there is one number for all of them."""
    return (size,) * n if isinstance(size, int) else tuple(size)


class Linear:
    """x @ weight.T + bias."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        bound = 1 / math.sqrt(in_features)
        self.weight = learnt(out_features, in_features, bound=bound)
        self.bias = learnt(out_features, bound=bound) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        return x.linear(self.weight.transpose(), self.bias)


class Conv2d:
    """A convolution over as many axes as `kernel_size` has; over two if it is a number."""

    axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        self.kernel_size = _extents(kernel_size, self.axes)
        if isinstance(padding, str):
            padding = same_padding(padding, stride, dilation, self.kernel_size)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        fan_in = in_channels // groups * math.prod(self.kernel_size)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0
        shape = *self._weight_shape(in_channels, out_channels), *self.kernel_size
        self.weight = learnt(*shape, bound=bound)
        self.bias = learnt(out_channels, bound=bound) if bias else None

    def _weight_shape(self, in_channels: int, out_channels: int) -> tuple[int, int]:
        return out_channels, in_channels // self.groups

    def __call__(self, x: Tensor) -> Tensor:
        sizes = self.groups, self.stride, self.dilation, self.padding
        return x.conv2d(self.weight, self.bias, *sizes)


class Conv1d(Conv2d):
    """A convolution over one axis."""

    axes = 1


class ConvTranspose2d(Conv2d):
    """The transpose of a convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias
        )
        self.output_padding = output_padding

    def _weight_shape(self, in_channels: int, out_channels: int) -> tuple[int, int]:
        return in_channels, out_channels // self.groups

    def __call__(self, x: Tensor) -> Tensor:
        sizes = self.groups, self.stride, self.dilation, self.padding, self.output_padding
        return x.conv_transpose2d(self.weight, self.bias, *sizes)


class ConvTranspose1d(ConvTranspose2d):
    """The transpose of a convolution over one axis."""

    axes = 1


@rounded_once
def _times_and_plus(
    x: Tensor, mean: Tensor, var: Tensor, eps: float, weight: Tensor | None, bias: Tensor | None
) -> Tensor:
    """x * factor + summand, as PyTorch normalises by statistics: one multiply-add for each element,
    and one factor and summand for each channel."""
    factor = (var + eps).sqrt().reciprocal()
    factor = factor if weight is None else factor * weight
    summand = -mean * factor if bias is None else bias - mean * factor
    shape = [1, x.shape[1], *[1] * (x.ndim - 2)]
    return x * factor.reshape(shape) + summand.reshape(shape)


@rounded_once
def _group_norm(
    x: Tensor, groups: int, eps: float, weight: Tensor | None, bias: Tensor | None
) -> Tensor:
    grouped = x.reshape((x.shape[0], groups, -1))
    result = grouped.layernorm(eps=eps).reshape(x.shape)
    if weight is None or bias is None:
        return result
    shape = (1, -1, *[1] * (x.ndim - 2))
    return result * weight.reshape(shape) + bias.reshape(shape)


@rounded_once
def _layer_norm(
    x: Tensor, axes: tuple[int, ...], eps: float, weight: Tensor | None, bias: Tensor | None
) -> Tensor:
    result = x.layernorm(axes, eps)
    return result if weight is None or bias is None else result * weight + bias


@rounded_once
def _rms_norm(x: Tensor, eps: float, weight: Tensor | None) -> Tensor:
    scale = ((x * x).mean(-1, keepdim=True) + eps).sqrt().reciprocal()
    return x * scale if weight is None else x * scale * weight


class BatchNorm:
    """Normalisation of each channel: by the batch's statistics in training, else by running
    ones."""

    def __init__(
        self,
        sz: int,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
        momentum: float = 0.1,
    ) -> None:
        self.eps, self.momentum = eps, momentum
        self.track_running_stats = track_running_stats
        self.weight, self.bias = _affine(sz, affine)
        self.num_batches_tracked = Tensor(0, "int64")
        if track_running_stats:
            self.running_mean, self.running_var = Tensor.zeros(sz), Tensor.ones(sz)

    def __call__(self, x: Tensor) -> Tensor:
        axes = [i for i in range(x.ndim) if i != 1]
        if self.track_running_stats and not Tensor.training:
            statistics = self.running_mean, self.running_var, self.eps
            return _times_and_plus(x, *statistics, self.weight, self.bias)
        # In at least 32 bits: squares of f16 overflow.
        wide = x.cast(dtypes.promote(x.dtype, dtypes.float32))
        mean = wide.mean(axes)
        shape = [1, x.shape[1], *[1] * (x.ndim - 2)]
        difference = wide - mean.reshape(shape)
        var = (difference * difference).mean(axes)
        if self.track_running_stats:
            count = math.prod(x.shape[i] for i in axes)
            unbiased = var.detach() * (count / larger(count - 1, 1))
            keep = 1 - self.momentum
            self.running_mean.assign(self.running_mean * keep + mean.detach() * self.momentum)
            self.running_var.assign(self.running_var * keep + unbiased * self.momentum)
            self.num_batches_tracked.assign(self.num_batches_tracked + 1)
        result = x.batchnorm(self.weight, self.bias, mean, (var + self.eps).sqrt().reciprocal())
        kinds = [t.dtype for t in (x, self.weight, self.bias) if t is not None]
        return result.cast(dtypes.promote(*kinds))


BatchNorm2d = BatchNorm3d = BatchNorm


class GroupNorm:
    """Normalisation of groups of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight, self.bias = _affine(num_channels, affine)

    def __call__(self, x: Tensor) -> Tensor:
        return _group_norm(x, self.num_groups, self.eps, self.weight, self.bias)


class InstanceNorm(GroupNorm):
    """Normalisation of each channel of each image."""

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__(num_features, num_features, eps, affine)


class LayerNorm:
    """Normalisation over the last axes."""

    def __init__(
        self, normalized_shape: Size, eps: float = 1e-5, elementwise_affine: bool = True
    ) -> None:
        shape = _extents(normalized_shape, 1)
        self.normalized_shape, self.eps = shape, eps
        self.weight, self.bias = _affine(shape, elementwise_affine)

    def __call__(self, x: Tensor) -> Tensor:
        n = len(self.normalized_shape)
        if x.shape[-n:] != self.normalized_shape:
            raise ValueError(f"last axes of {x.shape} are not {self.normalized_shape}")
        return _layer_norm(x, tuple(range(-n, 0)), self.eps, self.weight, self.bias)


class LayerNorm2d(LayerNorm):
    """Normalisation over the channels of each pixel."""

    def __call__(self, x: Tensor) -> Tensor:
        return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm:
    """x divided by its root mean square along the last axis (Zhang & Sennrich, 2019)."""

    def __init__(self, dim: int, eps: float = 1e-6, elementwise_affine: bool = True) -> None:
        self.eps = eps
        self.weight = Tensor.ones(dim).requires_grad_() if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        return _rms_norm(x, self.eps, self.weight)


class Embedding:
    """A look-up of rows of a table."""

    def __init__(self, vocab_size: int, embed_size: int) -> None:
        self.vocab_sz, self.embed_sz = vocab_size, embed_size
        self.weight = Tensor.glorot_uniform(vocab_size, embed_size).requires_grad_()

    def __call__(self, idx: Tensor) -> Tensor:
        if not idx.dtype.is_integer:
            raise TypeError(f"Expected integer dtype for index in embedding, got {idx.dtype.name}")
        return self.weight[idx]
