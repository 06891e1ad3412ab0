"""The workload table: products, reductions, convolutions and networks; then `programs.py`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.programs import PROGRAMS
from bench.workload import Array, Program, Workload, f32_bytes, unary, with_weights


def gemm(m: int, n: int, k: int) -> Workload:
    def product(a: Any, b: Any) -> Any:
        return a @ b

    shapes = ((m, k), (k, n))
    name = f"gemm {m}x{n}x{k}"
    return Workload(
        name,
        shapes,
        product,
        lambda torch, a, b: a @ b,
        product,
        lambda jax, jnp, a, b: a @ b,
        2 * m * n * k,
        f32_bytes(*shapes, (m, n)),
    )


def _linear(m: int, n: int, k: int) -> Workload:
    def layer(a: Any, w: Any) -> Any:
        return a @ w.T

    shapes = ((m, k), (n, k))
    return Workload(
        f"linear {m}x{n}x{k}",
        shapes,
        layer,
        lambda torch, a, w: torch.nn.functional.linear(a, w),
        layer,
        lambda jax, jnp, a, w: a @ w.T,
        2 * m * n * k,
        f32_bytes(*shapes, (m, n)),
        has_weights=True,
    )


def _gemv(n: int) -> Workload:
    w = gemm(n, 1, n)
    return Workload(
        f"gemv {n}", ((n, n), (n,)), w.tensor, w.torch, w.numpy, w.jax, w.flops, w.bytes, "read"
    )


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _layernorm(x: Array, eps: float = 1e-5) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)


def _attention(q: Array, k: Array, v: Array) -> Array:
    return _softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v


def _conv(x: Array, w: Array, padding: int, groups: int = 1, stride: int = 1) -> Array:
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


def _conv2d(name: str, x: tuple[int, ...], w: tuple[int, ...], groups: int = 1) -> Workload:
    padding = w[-1] // 2
    flops = 2 * x[0] * x[2] * x[3] * math.prod(w)
    return Workload(
        name,
        (x, w),
        lambda a, b: a.conv2d(b, padding=padding, groups=groups),
        lambda torch, a, b: torch.nn.functional.conv2d(a, b, padding=padding, groups=groups),
        lambda a, b: _conv(a, b, padding, groups),
        lambda jax, jnp, a, b: jax.lax.conv_general_dilated(
            a, b, (1, 1), [(padding, padding)] * 2, feature_group_count=groups
        ),
        flops,
        f32_bytes(x, w, (x[0], w[0], x[2], x[3])),
    )


def _mlp(a: Any, *weights: Any, relu: Program) -> Any:
    for w in weights[:-1]:
        a = relu(a @ w)
    return a @ weights[-1]


def _block(x: Any, wqkv: Any, wo: Any, w1: Any, w2: Any, ops: Ops) -> Any:
    """A transformer block, normalization first, with 8 heads."""
    tokens, width = x.shape
    heads = 8
    qkv = ops.layernorm(x) @ wqkv
    q, k, v = (
        ops.transposed(qkv[:, i * width : (i + 1) * width].reshape(tokens, heads, width // heads))
        for i in range(3)
    )
    x = x + ops.transposed(ops.attention(q, k, v)).reshape(tokens, width) @ wo
    return x + ops.gelu(ops.layernorm(x) @ w1) @ w2


class Ops(NamedTuple):
    """What a block is made of, in the words of one tool."""

    layernorm: Program
    gelu: Program
    attention: Program
    transposed: Program
    """The first two axes exchanged."""


_NUMPY = Ops(_layernorm, _gelu, _attention, lambda x: x.transpose(1, 0, 2))
_TENSOR = Ops(
    lambda x: x.layernorm(),
    lambda x: x.gelu(),
    lambda q, k, v: q.scaled_dot_product_attention(k, v),
    lambda x: x.permute(1, 0, 2),
)


def _torch(torch: Any) -> Ops:
    f = torch.nn.functional
    return Ops(
        lambda x: f.layer_norm(x, x.shape[-1:]),
        lambda x: f.gelu(x, approximate="tanh"),
        f.scaled_dot_product_attention,
        lambda x: x.permute(1, 0, 2),
    )


def _jax(jax: Any) -> Ops:
    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        return jax.nn.softmax(scores, axis=-1) @ v

    return Ops(
        lambda x: jax.nn.standardize(x, axis=-1, epsilon=1e-5),
        lambda x: jax.nn.gelu(x, approximate=True),
        attention,
        lambda x: x.transpose(1, 0, 2),
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


_STAGES = (64, 128, 256, 512)


def _resnet(x: Any, *weights: Any, ops: NetOps) -> Any:
    """ResNet-18 (He et al., 2016): two blocks of two convolutions in each of four stages."""
    given = iter(weights)

    def conv(x: Any, stride: int = 1) -> Any:
        return ops.norm(ops.conv(x, next(given), stride), next(given), next(given))

    x = ops.max_pool(ops.relu(conv(x, 2)))
    for stage, block in itertools.product(range(4), range(2)):
        stride = 2 if stage > 0 and block == 0 else 1
        shortcut = x if stride == 1 else conv(x, stride)
        x = ops.relu(conv(ops.relu(conv(x, stride))) + shortcut)
    return x.mean((2, 3)) @ next(given) + next(given)


def _resnet_shapes() -> Iterator[tuple[int, ...]]:
    def conv(out: int, channels: int, size: int) -> Iterator[tuple[int, ...]]:
        yield from ((out, channels, size, size), (1, out, 1, 1), (1, out, 1, 1))

    yield (1, 3, 224, 224)
    yield from conv(64, 3, 7)
    channels = 64
    for out in _STAGES:
        if out != channels:
            yield from conv(out, channels, 1)
        for first in (channels, out, out, out):
            yield from conv(out, first, 3)
        channels = out
    yield from ((512, 1000), (1000,))


def _resnet_inputs(normal: list[Array]) -> list[Array]:
    """Weights of He's variance; factors near 1 and summands near 0."""
    image, *rest = normal
    for i, w in enumerate(rest):
        if w.shape[0] == 1:
            rest[i] = (0.1 * w + (rest[i - 1].shape[0] > 1)).astype(np.float32)
        else:
            rest[i] = (w * math.sqrt(2 / math.prod(w.shape[1:]))).astype(np.float32)
    return [image, *rest]


def _max_pool(x: Array) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return windows[:, :, ::2, ::2].max((-1, -2))


def _torch_net(torch: Any) -> NetOps:
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


def _jax_net(jax: Any, jnp: Any) -> NetOps:
    def conv(x: Any, w: Any, stride: int) -> Any:
        padding = [(w.shape[-1] // 2,) * 2] * 2
        return jax.lax.conv_general_dilated(x, w, (stride, stride), padding)

    def max_pool(x: Any) -> Any:
        size, steps, padding = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, size, steps, padding)

    return NetOps(conv, lambda x, scale, shift: x * scale + shift, jax.nn.relu, max_pool)


_NUMPY_NET = NetOps(
    lambda x, w, stride: _conv(x, w, w.shape[-1] // 2, stride=stride),
    lambda x, scale, shift: x * scale + shift,
    lambda x: np.maximum(x, 0),
    _max_pool,
)
_TENSOR_NET = NetOps(
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


def _conv_step(x: Array, w: Array, padding: int, stride: int, transposed: bool) -> Array:
    """The gradients of half the sum of squares of a convolution's result, as one line."""
    pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    height, width = x.shape[2:]
    if transposed:
        kernel = w.shape[2:]
        size = tuple((n - 1) * stride + k for n, k in zip((height, width), kernel, strict=True))
        y = np.zeros((x.shape[0], w.shape[1], *size), x.dtype)
        for where, tap in _taps(y, w, stride, (height, width)):
            y[where] += np.einsum("bihw,io->bohw", x, tap, optimize=True)
        y = np.pad(y[:, :, padding : size[0] - padding, padding : size[1] - padding], pads)
        dx, dw = np.zeros_like(x), []
        for where, tap in _taps(y, w, stride, (height, width)):
            dx += np.einsum("bohw,io->bihw", y[where], tap, optimize=True)
            dw.append(np.einsum("bihw,bohw->io", x, y[where], optimize=True))
    else:
        y = _conv(x, w, padding, stride=stride)
        x = np.pad(x, pads)
        dx, dw = np.zeros_like(x), []
        for where, tap in _taps(x, w, stride, y.shape[2:]):
            dx[where] += np.einsum("bohw,oi->bihw", y, tap, optimize=True)
            dw.append(np.einsum("bohw,bihw->oi", y, x[where], optimize=True))
        dx = dx[:, :, padding : padding + height, padding : padding + width]
    return np.concatenate([dx.ravel(), np.stack(dw, -1).ravel()])


def _conv_training(
    name: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    padding: int,
    stride: int,
    *,
    transposed: bool = False,
) -> Workload:
    """A convolution, and the gradients of half the sum of squares of its result with respect to its
    input and weight."""
    kernel = w[-1]
    positions = [
        n if transposed else (n + 2 * padding - kernel) // stride + 1 for n in (x[2], x[3])
    ]

    def ours(a: Any, b: Any) -> Any:
        convolve = a.conv_transpose2d if transposed else a.conv2d
        y = convolve(b, stride=stride, padding=padding)
        dx, dw = (y * y * 0.5).sum().gradient(a, b)
        # Fused into `cat`, a product would lose its register tile.
        return dx.contiguous().flatten().cat(dw.contiguous().flatten())

    def torchs(torch: Any, a: Any, b: Any) -> Any:
        f = torch.nn.functional
        y = (f.conv_transpose2d if transposed else f.conv2d)(a, b, stride=stride, padding=padding)
        pairs = [stride] * 2, [padding] * 2, [1, 1], transposed, [0, 0], 1, [True, True, False]
        dx, dw, _ = torch.ops.aten.convolution_backward(y, a, b, None, *pairs)
        return torch.cat([dx.flatten(), dw.flatten()])

    def jaxs(jax: Any, jnp: Any, a: Any, b: Any) -> Any:
        def loss(a: Any, b: Any) -> Any:
            if transposed:
                # As a convolution of the image with zeros between its cells.
                around = [(kernel - 1 - padding,) * 2] * 2
                flipped = jnp.flip(b, (2, 3)).transpose(1, 0, 2, 3)
                y = jax.lax.conv_general_dilated(
                    a, flipped, (1, 1), around, lhs_dilation=(stride, stride)
                )
            else:
                y = jax.lax.conv_general_dilated(a, b, (stride, stride), [(padding, padding)] * 2)
            return (y * y).sum() * 0.5

        return jnp.concatenate([each.ravel() for each in jax.grad(loss, (0, 1))(a, b)])

    return Workload(
        name,
        (x, w),
        ours,
        torchs,
        lambda a, b: _conv_step(a, b, padding, stride, transposed),
        jaxs,
        3 * 2 * x[0] * math.prod(positions) * math.prod(w),
        f32_bytes(x, w, x, w),
    )


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


_BIG = 1 << 25
_ROWS = 1 << 15
_HEADS = (8, 1024, 64)
_WIDTH, _TOKENS = 512, 256
_RESNET = tuple(_resnet_shapes())
_MLP = ((256, 784), (784, 512), (512, 512), (512, 10))

WORKLOADS: Sequence[Workload] = (
    *(gemm(n, n, n) for n in (1024, 2048)),
    gemm(777, 333, 555),
    *(gemm(n, n, n) for n in (100, 64, 128, 256)),
    gemm(8, 1024, 1024),
    _linear(8, 1024, 1024),
    _gemv(4096),
    Workload(
        "axpy 2^25",
        ((_BIG,), (_BIG,)),
        lambda x, y: x * 2.5 + y,
        lambda torch, x, y: torch.add(y, x, alpha=2.5),
        lambda x, y: x * 2.5 + y,
        lambda jax, jnp, x, y: x * 2.5 + y,
        2 * _BIG,
        3 * 4 * _BIG,
        "copy",
    ),
    unary(
        *("sum 2^25", (_BIG,), 1, lambda x: x.sum(), lambda torch, x: x.sum()),
        *(np.sum, lambda jax, jnp, x: x.sum()),
        out=(1,),
    ),
    unary(
        *("softmax 4096x4096", (4096, 4096), 5),
        lambda x: x.softmax(-1),
        lambda torch, x: x.softmax(-1),
        *(_softmax, lambda jax, jnp, x: jax.nn.softmax(x, axis=-1)),
    ),
    unary(
        *("layernorm 4096x1024", (4096, 1024), 7),
        lambda x: x.layernorm(),
        lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        *(_layernorm, lambda jax, jnp, x: jax.nn.standardize(x, axis=-1, epsilon=1e-5)),
    ),
    unary(
        *("gelu 2^22", (1 << 22,), 10, lambda x: x.gelu()),
        lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"),
        *(_gelu, lambda jax, jnp, x: jax.nn.gelu(x, approximate=True)),
    ),
    Workload(
        "attention 8x1024x64",
        (_HEADS, _HEADS, _HEADS),
        lambda q, k, v: q.scaled_dot_product_attention(k, v),
        lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v),
        _attention,
        lambda jax, jnp, q, k, v: _jax(jax).attention(q, k, v),
        4 * 8 * 1024 * 1024 * 64,
        4 * f32_bytes(_HEADS),
    ),
    _conv2d("conv 3x3 64->64 56x56", (1, 64, 56, 56), (64, 64, 3, 3)),
    _conv2d("conv 1x1 256->64 56x56", (1, 256, 56, 56), (64, 256, 1, 1)),
    _conv2d("depthwise 3x3 128 56x56", (1, 128, 56, 56), (128, 1, 3, 3), 128),
    unary(
        *("cumsum 4096x1024", (4096, 1024), 1, lambda x: x.cumsum(1)),
        *(lambda torch, x: x.cumsum(1), lambda x: x.cumsum(1)),
        lambda jax, jnp, x: jnp.cumsum(x, axis=1),
    ),
    Workload(
        "gather 32768x256",
        ((_ROWS, 256), (_ROWS,)),
        lambda x, i: x[i],
        lambda torch, x, i: x[i],
        lambda x, i: x[i],
        lambda jax, jnp, x, i: x[i],
        0,
        2 * f32_bytes((_ROWS, 256)),
        "copy",
        lambda arrays: [arrays[0], arrays[1].argsort().astype(np.int32)],
    ),
    *(
        unary(
            *(f"sort {name}", shape, 1, lambda x: x.sort()[0]),
            *(lambda torch, x: x.sort()[0], np.sort, lambda jax, jnp, x: jnp.sort(x)),
        )
        for name, shape in (("10^6", (10**6,)), ("1024x1024", (1024, 1024)))
    ),
    *(
        unary(
            *(f"topk {k} of {name}", shape, 1, lambda x, k=k: x.topk(k)[0]),
            lambda torch, x, k=k: x.topk(k)[0],
            lambda x, k=k: -np.sort(-x)[..., :k],
            lambda jax, jnp, x, k=k: jax.lax.top_k(x, k)[0],
            out=(*shape[:-1], k),
        )
        for k, name, shape in ((100, "10^6", (10**6,)), (10, "1024x1024", (1024, 1024)))
    ),
    unary(
        *("transpose 4096x4096", (4096, 4096), 0),
        *(lambda x: x.T.contiguous(), lambda torch, x: x.T.contiguous()),
        *(lambda x: np.ascontiguousarray(x.T), lambda jax, jnp, x: x.T + 0),
    ),
    Workload(
        "mlp 256x784-512-512-10",
        _MLP,
        lambda a, *w: _mlp(a, *w, relu=lambda x: x.relu()),
        lambda torch, a, *w: _mlp(a, *w, relu=torch.relu),
        lambda a, *w: _mlp(a, *w, relu=lambda x: np.maximum(x, 0)),
        lambda jax, jnp, a, *w: _mlp(a, *w, relu=jax.nn.relu),
        2 * 256 * (784 * 512 + 512 * 512 + 512 * 10),
        f32_bytes(*_MLP, (256, 10)),
        prepared=with_weights,
        has_weights=True,
    ),
    Workload(
        f"transformer block {_TOKENS}x{_WIDTH}",
        (
            *((_TOKENS, _WIDTH), (_WIDTH, 3 * _WIDTH), (_WIDTH, _WIDTH)),
            *((_WIDTH, 4 * _WIDTH), (4 * _WIDTH, _WIDTH)),
        ),
        lambda *x: _block(*x, ops=_TENSOR),
        lambda torch, *x: _block(*x, ops=_torch(torch)),
        lambda *x: _block(*x, ops=_NUMPY),
        lambda jax, jnp, *x: _block(*x, ops=_jax(jax)),
        2 * _TOKENS * 12 * _WIDTH * _WIDTH + 4 * _TOKENS * _TOKENS * _WIDTH,
        f32_bytes((12 * _WIDTH, _WIDTH), (2 * _TOKENS, _WIDTH)),
        prepared=with_weights,
        has_weights=True,
    ),
    _conv_training("conv 3x3/2 step 64->128", (1, 64, 56, 56), (128, 64, 3, 3), 1, 2),
    _conv_training("conv 3x3 step 64->64", (1, 64, 56, 56), (64, 64, 3, 3), 1, 1),
    _conv_training(
        *("transposed 4x4/2 step 64->32", (1, 64, 28, 28), (64, 32, 4, 4), 1, 2), transposed=True
    ),
    Workload(
        "u-net level 32x56x56",
        ((1, 32, 56, 56), *_UNET),
        lambda x, *w: _unet(
            *(x, *w),
            ops=_TENSOR_NET,
            up=lambda x, w: x.conv_transpose2d(w, stride=2),
            joined=lambda a, b: a.cat(b, dim=1),
        ),
        lambda torch, x, *w: _unet(
            *(x, *w),
            ops=_torch_net(torch),
            up=lambda x, w: torch.nn.functional.conv_transpose2d(x, w, stride=2),
            joined=lambda a, b: torch.cat([a, b], 1),
        ),
        lambda x, *w: _unet(
            *(x, *w), ops=_NUMPY_NET, up=_up, joined=lambda a, b: np.concatenate([a, b], 1)
        ),
        lambda jax, jnp, x, *w: _unet(
            *(x, *w),
            ops=_jax_net(jax, jnp),
            up=lambda x, w: _jax_up(jax, x, w),
            joined=lambda a, b: jnp.concatenate([a, b], 1),
        ),
        2 * 28 * 28 * (math.prod(_UNET[0]) + math.prod(_UNET[1]) + math.prod(_UNET[2]))
        + 2 * 56 * 56 * math.prod(_UNET[3]),
        f32_bytes((1, 32, 56, 56), *_UNET, (1, 32, 56, 56)),
        prepared=with_weights,
    ),
    Workload(
        "resnet-18 224x224",
        _RESNET,
        lambda *x: _resnet(*x, ops=_TENSOR_NET),
        lambda torch, *x: _resnet(*x, ops=_torch_net(torch)),
        lambda *x: _resnet(*x, ops=_NUMPY_NET),
        lambda jax, jnp, *x: _resnet(*x, ops=_jax_net(jax, jnp)),
        3_628_146_688,
        f32_bytes(*_RESNET),
        prepared=_resnet_inputs,
    ),
    *PROGRAMS,
)
