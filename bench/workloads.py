"""The workload table: products, reductions, convolutions and networks; then `programs.py`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

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
from bench.recurrent import RECURRENT
from bench.training_steps import TRAINING_STEPS
from bench.words import told
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


def _gemv(name: str, m: int, k: int) -> Workload:
    return replace(gemm(m, 1, k), name=f"gemv {name}", shapes=((m, k), (k,)), bound="read")


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

    return told(
        " ".join(["attention", *kind.split(), "x".join(map(str, shape))]),
        (shape, shape, shape, *masks),
        lambda o, *x: o.attention(*x, is_causal=is_causal),
        4 * heads * rows * rows * width // (2 if is_causal else 1),
        (shape,),
    )


def _mlp(a: Any, *weights: Any, relu: Program) -> Any:
    for w in weights[:-1]:
        a = relu(a @ w)
    return a @ weights[-1]


def _block(o: Any, x: Any, wqkv: Any, wo: Any, w1: Any, w2: Any) -> Any:
    """A transformer block, normalization first, with 8 heads."""
    tokens, width = x.shape
    heads = 8
    qkv = o.standardized(x) @ wqkv
    q, k, v = (
        o.swapped(
            qkv[:, i * width : (i + 1) * width].reshape((tokens, heads, width // heads)), 0, 1
        )
        for i in range(3)
    )
    x = x + o.swapped(o.attention(q, k, v), 0, 1).reshape((tokens, width)) @ wo
    return x + o.gelu(o.standardized(x) @ w1) @ w2


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
_SQUARE = 4096, 4096
_ROWS = 1 << 15
_WIDTH, _TOKENS = 512, 256
_RESNET = tuple(_resnet_shapes())
_MLP = ((256, 784), (784, 512), (512, 512), (512, 10))

_WORKLOADS: Sequence[Workload] = (
    *(gemm(n, n, n) for n in (1024, 2048)),
    gemm(777, 333, 555),
    *(gemm(n, n, n) for n in (100, 64, 128, 256)),
    *(gemm(*sizes) for sizes in ((8, 1024, 1024), (4, 4096, 1024), (4, 1024, 4096))),
    *(_linear(*sizes) for sizes in ((8, 1024, 1024), (4, 4096, 1024), (4, 1024, 4096))),
    *(_gemv("4096", 4096, 4096), _gemv("3000x5000", 3000, 5000)),
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
    *(
        unary(
            *(f"sum {name}", (n,), 1, lambda x: x.sum(), lambda torch, x: x.sum()),
            *(np.sum, lambda jax, jnp, x: x.sum()),
            out=(1,),
        )
        for name, n in (("2^25", _BIG), ("3*10^7", 3 * 10**7))
    ),
    told(
        *("softmax 4096x4096", (_SQUARE,), lambda o, x: o.softmax(x)),
        *(5 * math.prod(_SQUARE), (_SQUARE,)),
        bound="copy",
    ),
    *(
        told(
            *(f"layernorm {rows}x{width}", ((rows, width),), lambda o, x: o.standardized(x)),
            *(7 * rows * width, ((rows, width),)),
            bound="copy",
        )
        for rows, width in ((4096, 1024), (9000, 768))
    ),
    told(
        *("gelu 2^22", ((1 << 22,),), lambda o, x: o.gelu(x), 10 << 22, ((1 << 22,),)),
        bound="copy",
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
    told(
        f"transformer block {_TOKENS}x{_WIDTH}",
        (
            *((_TOKENS, _WIDTH), (_WIDTH, 3 * _WIDTH), (_WIDTH, _WIDTH)),
            *((_WIDTH, 4 * _WIDTH), (4 * _WIDTH, _WIDTH)),
        ),
        _block,
        2 * _TOKENS * 12 * _WIDTH * _WIDTH + 4 * _TOKENS * _TOKENS * _WIDTH,
        ((_TOKENS, _WIDTH),),
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
    *RECURRENT,
    *TRAINING_STEPS,
    *PROGRAMS,
)

WORKLOADS = tuple(row for workload in _WORKLOADS for row in workload.rows())
"""The rows of the table."""
