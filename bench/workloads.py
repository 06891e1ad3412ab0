"""The workload table: products, reductions, convolutions and networks; then `programs.py`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.convolutions import (
    CONVOLUTIONS,
    NUMPY_NET,
    TENSOR_NET,
    TRAINED_CONVOLUTIONS,
    NetOps,
    jax_net,
    torch_net,
)
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


def _attention(q: Array, k: Array, v: Array, *mask: Array, is_causal: bool = False) -> Array:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return _softmax(sum(mask, scores)) @ v


def _attentions() -> Iterator[Workload]:
    """Attentions of few and many rows, causal, and with masks that are added to the scores."""
    for heads, rows, kind in (
        *((8, n, "") for n in (64, 256, 1024, 4096)),
        (12, 777, ""),
        *((8, n, "causal") for n in (256, 1024, 4096)),
        (12, 777, "causal"),
        (8, 1024, "masked"),
        (12, 777, "masked"),
    ):
        yield _attention_of((heads, rows, 64), kind)


def _attention_of(shape: tuple[int, int, int], kind: str) -> Workload:
    heads, rows, width = shape
    is_causal, masks = kind == "causal", ((rows, rows),) if kind == "masked" else ()

    def in_torch(torch: Any, q: Any, k: Any, v: Any, *mask: Any) -> Any:
        # With a batch: only for four axes is there a fused kernel.
        run = torch.nn.functional.scaled_dot_product_attention
        return run(q[None], k[None], v[None], *mask, is_causal=is_causal)[0]

    def in_jax(jax: Any, jnp: Any, q: Any, k: Any, v: Any, *mask: Any) -> Any:
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(width)
        if is_causal:
            scores = jnp.where(jnp.tri(rows, dtype=bool), scores, -jnp.inf)
        return jax.nn.softmax(sum(mask, scores), axis=-1) @ v

    return Workload(
        " ".join(["attention", *kind.split(), "x".join(map(str, shape))]),
        (shape, shape, shape, *masks),
        lambda *x: x[0].scaled_dot_product_attention(*x[1:], is_causal=is_causal),
        in_torch,
        lambda *x: _attention(*x, is_causal=is_causal),
        in_jax,
        4 * heads * rows * rows * width // (2 if is_causal else 1),
        4 * f32_bytes(shape) + f32_bytes(*masks),
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

    def attention(q: Any, k: Any, v: Any) -> Any:
        # With a batch: only for four axes is there a fused kernel.
        return f.scaled_dot_product_attention(q[None], k[None], v[None])[0]

    return Ops(
        lambda x: f.layer_norm(x, x.shape[-1:]),
        lambda x: f.gelu(x, approximate="tanh"),
        attention,
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


_BIG = 1 << 25
_ROWS = 1 << 15
_WIDTH, _TOKENS = 512, 256
_RESNET = tuple(_resnet_shapes())
_MLP = ((256, 784), (784, 512), (512, 512), (512, 10))

_WORKLOADS: Sequence[Workload] = (
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
    *_attentions(),
    *CONVOLUTIONS,
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
    Workload(
        *("argsort 10^6", ((10**6,),), lambda x: x.argsort(), lambda torch, x: x.argsort()),
        *(np.argsort, lambda jax, jnp, x: jnp.argsort(x), 10**6, 2 * f32_bytes((10**6,)), "copy"),
        lambda arrays: [arrays[0].argsort().astype(np.float32)],  # No two are equal.
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
    *TRAINED_CONVOLUTIONS,
    Workload(
        "resnet-18 224x224",
        _RESNET,
        lambda *x: _resnet(*x, ops=TENSOR_NET),
        lambda torch, *x: _resnet(*x, ops=torch_net(torch)),
        lambda *x: _resnet(*x, ops=NUMPY_NET),
        lambda jax, jnp, *x: _resnet(*x, ops=jax_net(jax, jnp)),
        3_628_146_688,
        f32_bytes(*_RESNET),
        prepared=_resnet_inputs,
    ),
    *PROGRAMS,
)

WORKLOADS = tuple(row for workload in _WORKLOADS for row in workload.rows())
"""The rows of the table."""
