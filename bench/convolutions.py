"""Rows of convolutions: single ones, their gradients, and a level of a U-Net; the ops of which
convolutional networks are made, in the words of each tool."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bench.workload import Array, Program, Workload, f32_bytes, with_weights


def conv(x: Array, w: Array, padding: int, groups: int = 1, stride: int = 1) -> Array:
    """By a product for each position of the kernel."""
    batch, channels, height, width = x.shape
    out, per_group, kh, kw = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    oh, ow = ((n + 2 * padding - k) // stride + 1 for n, k in ((height, kh), (width, kw)))
    x = x.reshape(batch, groups, channels // groups, *x.shape[2:])
    w = w.reshape(groups, out // groups, per_group, kh, kw)
    result = np.zeros((batch, groups, out // groups, oh, ow), x.dtype)
    for i in range(kh):
        for j in range(kw):
            window = x[:, :, :, i : i + stride * oh : stride, j : j + stride * ow : stride]
            result += np.einsum("bgchw,goc->bgohw", window, w[..., i, j], optimize=True)
    return result.reshape(batch, out, oh, ow)


def _conv2d(
    name: str, x: tuple[int, ...], w: tuple[int, ...], groups: int = 1, stride: int = 1
) -> Workload:
    padding = w[-1] // 2
    size = [(n - 1) // stride + 1 for n in x[2:]]
    flops = 2 * x[0] * math.prod(size) * math.prod(w)
    more = {"stride": stride, "padding": padding, "groups": groups}
    return Workload(
        name,
        (x, w),
        lambda a, b: a.conv2d(b, **more),
        lambda torch, a, b: torch.nn.functional.conv2d(a, b, **more),
        lambda a, b: conv(a, b, padding, groups, stride),
        lambda jax, jnp, a, b: jax.lax.conv_general_dilated(
            a, b, (stride, stride), [(padding, padding)] * 2, feature_group_count=groups
        ),
        flops,
        f32_bytes(x, w, (x[0], w[0], *size)),
    )


class NetOps(NamedTuple):
    """What a convolutional network is made of, in the words of one tool."""

    conv: Program
    """Of an image, weights and a stride, padded by half of the kernel."""
    norm: Program
    """Batch normalization in inference: a factor and a summand for each channel."""
    relu: Program
    max_pool: Program
    """Of windows of 3x3, every second one, padded by 1."""


def _max_pool(x: Array) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return windows[:, :, ::2, ::2].max((-1, -2))


def torch_net(torch: Any) -> NetOps:
    f = torch.nn.functional

    def norm(x: Any, scale: Any, shift: Any) -> Any:
        zeros, ones = torch.zeros(x.shape[1]), torch.ones(x.shape[1])
        return f.batch_norm(x, zeros, ones, scale.flatten(), shift.flatten(), eps=0.0)

    return NetOps(
        lambda x, w, stride: f.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2),
        norm,
        lambda x: f.relu(x, inplace=True),
        lambda x: f.max_pool2d(x, 3, 2, 1),
    )


def jax_net(jax: Any, jnp: Any) -> NetOps:
    def conv(x: Any, w: Any, stride: int) -> Any:
        padding = [(w.shape[-1] // 2,) * 2] * 2
        return jax.lax.conv_general_dilated(x, w, (stride, stride), padding)

    def max_pool(x: Any) -> Any:
        size, steps, padding = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, size, steps, padding)

    return NetOps(conv, lambda x, scale, shift: x * scale + shift, jax.nn.relu, max_pool)


NUMPY_NET = NetOps(
    lambda x, w, stride: conv(x, w, w.shape[-1] // 2, stride=stride),
    lambda x, scale, shift: x * scale + shift,
    lambda x: np.maximum(x, 0),
    _max_pool,
)
TENSOR_NET = NetOps(
    lambda x, w, stride: x.conv2d(w, stride=stride, padding=w.shape[-1] // 2),
    lambda x, scale, shift: x * scale + shift,
    lambda x: x.relu(),
    lambda x: x.max_pool2d(3, 2, padding=1),
)


def _taps(x: Array, w: Array, stride: int, size: tuple[int, int]) -> Iterator[tuple[Any, Array]]:
    """For each position of the kernel, the cells of a padded image at it, and the weights."""
    (oh, ow), (kh, kw) = size, w.shape[2:]
    for i, j in itertools.product(range(kh), range(kw)):
        where = (..., slice(i, i + stride * oh, stride), slice(j, j + stride * ow, stride))
        yield where, w[..., i, j]


def conv_gradients(x: Array, w: Array, g: Array, padding: int, stride: int) -> tuple[Array, Array]:
    """The gradients of a convolution's input and weights, by a product for each position of the
    kernel; `g` is that of its result."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    dx, dw = np.zeros_like(x), []
    for where, tap in _taps(x, w, stride, g.shape[2:]):
        dx[where] += np.einsum("bohw,oi->bihw", g, tap, optimize=True)
        dw.append(np.einsum("bohw,bihw->oi", g, x[where], optimize=True))
    inside = slice(padding, x.shape[2] - padding), slice(padding, x.shape[3] - padding)
    return dx[(..., *inside)], np.stack(dw, -1).reshape(w.shape)


def conv_transpose(x: Array, w: Array, padding: int, stride: int, output_padding: int = 0) -> Array:
    """The gradient of a convolution's input."""
    size = [(n - 1) * stride - 2 * padding + w.shape[-1] + output_padding for n in x.shape[2:]]
    blank = np.zeros((x.shape[0], w.shape[1], *size), x.dtype)
    return conv_gradients(blank, w, x, padding, stride)[0]


def _conv_step(x: Array, w: Array, c: _Convolution) -> tuple[Array, Array]:
    """The gradients of half the sum of squares of a convolution's result, in one group."""
    if not c.transposed:
        y = conv(x, w, c.padding, stride=c.stride)
        return conv_gradients(x, w, y, c.padding, c.stride)
    # A transposed convolution and its gradient are those of a convolution, exchanged.
    y = conv_transpose(x, w, c.padding, c.stride, c.output_padding)
    _, dw = conv_gradients(y, w, x, c.padding, c.stride)
    return conv(y, w, c.padding, stride=c.stride), dw


@dataclass(frozen=True)
class _Convolution:
    """The settings of a convolution."""

    padding: int
    stride: int
    groups: int = 1
    transposed: bool = False
    output_padding: int = 0

    def ours(self, a: Any, b: Any) -> Any:
        more = {"stride": self.stride, "padding": self.padding, "groups": self.groups}
        if self.transposed:
            return a.conv_transpose2d(b, output_padding=self.output_padding, **more)
        return a.conv2d(b, **more)

    def torch(self, torch: Any, a: Any, b: Any) -> Any:
        sizes = [self.stride] * 2, [self.padding] * 2, [1, 1], self.transposed
        more = *sizes, [self.output_padding] * 2, self.groups
        y = torch.ops.aten.convolution(a, b, None, *more)
        dx, dw, _ = torch.ops.aten.convolution_backward(y, a, b, None, *more, [True, True, False])
        return torch.cat([dx.flatten(), dw.flatten()])

    def jax(self, jax: Any, jnp: Any, a: Any, b: Any) -> Any:
        convolve, pads = jax.lax.conv_general_dilated, (self.padding, self.padding)
        if not self.transposed:
            steps = self.stride, self.stride
            return convolve(a, b, steps, [pads] * 2, feature_group_count=self.groups)
        # As a convolution of the image with zeros between its cells.
        around = b.shape[-1] - 1 - self.padding
        flipped = jnp.flip(b, (2, 3)).transpose(1, 0, 2, 3)
        apart = [(around, around + self.output_padding)] * 2
        return convolve(a, flipped, (1, 1), apart, lhs_dilation=(self.stride, self.stride))

    def numpy(self, x: Array, w: Array) -> Array:
        inputs, weights = np.split(x, self.groups, 1), np.split(w, self.groups)
        parts = [_conv_step(*pair, self) for pair in zip(inputs, weights, strict=True)]
        dx, dw = zip(*parts, strict=True)
        return np.concatenate([np.concatenate(dx, 1).ravel(), np.concatenate(dw).ravel()])


def conv_training(
    name: str, x: tuple[int, ...], w: tuple[int, ...], padding: int, stride: int, **more: Any
) -> Workload:
    """A convolution, and the gradients of half the sum of squares of its result with respect to its
    input and weight. `more` are fields of `_Convolution`."""
    c = _Convolution(padding, stride, **more)
    positions = [
        n if c.transposed else (n + 2 * c.padding - w[-1]) // c.stride + 1 for n in (x[2], x[3])
    ]

    def jaxs(jax: Any, jnp: Any, a: Any, b: Any) -> Any:
        gradients = jax.grad(lambda a, b: (c.jax(jax, jnp, a, b) ** 2).sum() * 0.5, (0, 1))
        return jnp.concatenate([each.ravel() for each in gradients(a, b)])

    return Workload(
        name,
        (x, w),
        lambda a, b: _joined_gradients(c.ours(a, b), a, b),
        c.torch,
        c.numpy,
        jaxs,
        3 * 2 * x[0] * math.prod(positions) * math.prod(w),
        f32_bytes(x, w, x, w),
    )


def _joined_gradients(y: Any, *inputs: Any) -> Any:
    """The gradients of half the sum of squares of a result, as one line. Fused into `cat`, a
    product would lose its register tile."""
    first, *rest = (y * y * 0.5).sum().gradient(*inputs)
    return first.contiguous().flatten().cat(*(each.contiguous().flatten() for each in rest))


_UNET = ((64, 32, 3, 3), (64, 64, 3, 3), (64, 32, 2, 2), (32, 64, 3, 3))
"""The convolutions of a level: two below, the one that goes up, and one of both halves."""


def _unet(x: Any, *weights: Any, ops: NetOps, up: Program, joined: Program) -> Any:
    """A level of a U-Net (Ronneberger et al., 2015): half the size, and up again beside what was
    there before."""
    first, second, upwards, last = weights
    below = ops.relu(ops.conv(ops.relu(ops.conv(ops.max_pool(x), first, 1)), second, 1))
    return ops.relu(ops.conv(joined(x, up(below, upwards)), last, 1))


def _up(x: Array, w: Array) -> Array:
    """A transposed convolution of 2x2 with stride 2."""
    batch, _, height, width = x.shape
    y = np.einsum("bihw,iokl->bohkwl", x, w, optimize=True)
    return y.reshape(batch, w.shape[1], 2 * height, 2 * width)


def _jax_up(jax: Any, x: Any, w: Any) -> Any:
    flipped = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return jax.lax.conv_general_dilated(x, flipped, (1, 1), [(1, 1)] * 2, lhs_dilation=(2, 2))


def _numpy_unet_step(x: Array, first: Array, second: Array, upwards: Array, last: Array) -> Array:
    """The gradients of half the sum of squares of `_unet`."""
    half = _max_pool(x)
    a = conv(half, first, 1)
    b = conv(np.maximum(a, 0), second, 1)
    joined = np.concatenate([x, _up(np.maximum(b, 0), upwards)], 1)
    y = np.maximum(conv(joined, last, 1), 0)
    both, dlast = conv_gradients(joined, last, y, 1, 1)
    dx, above = np.split(both, [x.shape[1]], 1)
    cells = above.reshape(*above.shape[:2], b.shape[2], 2, b.shape[3], 2)
    dupwards = np.einsum("bihw,bohkwl->iokl", np.maximum(b, 0), cells, optimize=True)
    db = np.einsum("bohkwl,iokl->bihw", cells, upwards, optimize=True) * (b > 0)
    da, dsecond = conv_gradients(np.maximum(a, 0), second, db, 1, 1)
    dhalf, dfirst = conv_gradients(half, first, da * (a > 0), 1, 1)
    return np.concatenate(
        [
            each.ravel()
            for each in (dx + _unpooled(x, half, dhalf), dfirst, dsecond, dupwards, dlast)
        ]
    )


def _unpooled(x: Array, y: Array, g: Array) -> Array:
    """The gradient of `_max_pool`: to the largest cell of each window."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    dx = np.zeros_like(padded)
    for where, _ in _taps(padded, np.zeros((1, 1, 3, 3)), 2, y.shape[2:]):
        dx[where] += g * (padded[where] == y)
    return dx[..., 1:-1, 1:-1]


def _tensor_unet(x: Any, *w: Any) -> Any:
    return _unet(
        *(x, *w),
        ops=TENSOR_NET,
        up=lambda x, w: x.conv_transpose2d(w, stride=2),
        joined=lambda a, b: a.cat(b, dim=1),
    )


def _torch_unet(torch: Any, x: Any, *w: Any) -> Any:
    return _unet(
        *(x, *w),
        ops=torch_net(torch),
        up=lambda x, w: torch.nn.functional.conv_transpose2d(x, w, stride=2),
        joined=lambda a, b: torch.cat([a, b], 1),
    )


def _jax_unet(jax: Any, jnp: Any, x: Any, *w: Any) -> Any:
    return _unet(
        *(x, *w),
        ops=jax_net(jax, jnp),
        up=lambda x, w: _jax_up(jax, x, w),
        joined=lambda a, b: jnp.concatenate([a, b], 1),
    )


def _torch_unet_step(torch: Any, *inputs: Any) -> Any:
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in inputs]
        y = _torch_unet(torch, *leaves)
        gradients = torch.autograd.grad((y * y).sum() * 0.5, leaves)
    return torch.cat([each.flatten() for each in gradients])


def _jax_unet_step(jax: Any, jnp: Any, *inputs: Any) -> Any:
    def loss(*inputs: Any) -> Any:
        return (_jax_unet(jax, jnp, *inputs) ** 2).sum() * 0.5

    gradients = jax.grad(loss, tuple(range(len(inputs))))(*inputs)
    return jnp.concatenate([each.ravel() for each in gradients])


CONVOLUTIONS: Sequence[Workload] = (
    _conv2d("conv 3x3 64->64 56x56", (1, 64, 56, 56), (64, 64, 3, 3)),
    _conv2d("conv 1x1 256->64 56x56", (1, 256, 56, 56), (64, 256, 1, 1)),
    _conv2d("depthwise 3x3 128 56x56", (1, 128, 56, 56), (128, 1, 3, 3), 128),
    _conv2d("conv 3x3 3->32 224x224", (1, 3, 224, 224), (32, 3, 3, 3)),
    _conv2d("conv 3x3/2 3->32 224x224", (1, 3, 224, 224), (32, 3, 3, 3), stride=2),
)

_LEVEL = (1, 32, 56, 56)
_LEVEL_FLOPS = 2 * 28 * 28 * (
    math.prod(_UNET[0]) + math.prod(_UNET[1]) + math.prod(_UNET[2])
) + 2 * 56 * 56 * math.prod(_UNET[3])

TRAINED_CONVOLUTIONS: Sequence[Workload] = (
    conv_training(
        *("conv 3x3/2 step 64->128", (1, 64, 56, 56), (128, 64, 3, 3)),
        padding=1,
        stride=2,
    ),
    conv_training(
        *("conv 3x3/2 step 8x32->64", (8, 32, 28, 28), (64, 32, 3, 3)),
        padding=1,
        stride=2,
    ),
    conv_training(
        *("conv 3x3 step 64->64", (1, 64, 56, 56), (64, 64, 3, 3)),
        padding=1,
        stride=1,
    ),
    conv_training(
        *("depthwise 3x3 step 128 56x56", (1, 128, 56, 56), (128, 1, 3, 3)),
        padding=1,
        stride=1,
        groups=128,
    ),
    conv_training(
        *("transposed 4x4/2 step 64->32", (1, 64, 28, 28), (64, 32, 4, 4)),
        padding=1,
        stride=2,
        transposed=True,
    ),
    conv_training(
        *("transposed 3x3/2 step 64->32", (1, 64, 28, 28), (64, 32, 3, 3)),
        padding=1,
        stride=2,
        transposed=True,
        output_padding=1,
    ),
    Workload(
        "u-net level 32x56x56",
        (_LEVEL, *_UNET),
        _tensor_unet,
        _torch_unet,
        lambda x, *w: _unet(
            *(x, *w), ops=NUMPY_NET, up=_up, joined=lambda a, b: np.concatenate([a, b], 1)
        ),
        _jax_unet,
        _LEVEL_FLOPS,
        f32_bytes(_LEVEL, *_UNET, _LEVEL),
        prepared=with_weights,
    ),
    Workload(
        "u-net level step 32x56x56",
        (_LEVEL, *_UNET),
        lambda x, *w: _joined_gradients(_tensor_unet(x, *w), x, *w),
        _torch_unet_step,
        _numpy_unet_step,
        _jax_unet_step,
        3 * _LEVEL_FLOPS,
        f32_bytes(*(_LEVEL, *_UNET) * 2),
        prepared=with_weights,
    ),
)
