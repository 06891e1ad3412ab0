"""The programs of `examples/`, for any shape, with inputs and what NumPy says they compute.

The first five are the specification's "Common Ops as Compositions", line for line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from expression import Array, Expression, constant, function
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Block

from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import F32, I32, UI64

UI32 = IntegerType(32, Signedness.UNSIGNED)
LOG2_E = math.log2(math.e)
EPSILON = 1e-5


@dataclass(frozen=True)
class Program:
    """A module with a `@main`, inputs for it, and its output: float64 where it is a float."""

    module: ModuleOp
    inputs: tuple[Array, ...]
    expected: Array
    exact: bool = False


def _normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def _f64(*arrays: Array) -> list[Array]:
    return [a.astype(np.float64) for a in arrays]


# -- compositions of the specification -----------------------------------------------------------


def matmul(a: Expression, b: Expression) -> Expression:
    """C[..., M, N] = A[..., M, K] @ B[..., K, N], the leading axes equal."""
    *batch, m, k = a.shape
    n = b.shape[-1]
    return (a.reshape(*batch, m, k, 1) * b.reshape(*batch, 1, k, n)).sum(len(batch) + 1)


def windows(x: Expression) -> Expression:
    """The cumulative sum, by repeating and reshaping into sliding windows."""
    (n,) = x.shape
    x = x.pad((n - 1, 0))
    x = x.reshape(1, 2 * n - 1).expand(n + 1, 2 * n - 1)
    x = x.reshape((n + 1) * (2 * n - 1)).shrink_to(2 * n * n)
    x = x.reshape(n, 2 * n).shrink_to(n, n)
    return x.sum(-1)


def counting(block: Block, n: int, dtype: Attribute = I32) -> Expression:
    """[0, 1, ..., n - 1]: the cumulative sum of ones, less one."""
    return windows(constant(block, 1, dtype).reshape(1).expand(n)) - 1


def gemm(m: int, k: int, n: int) -> Program:
    rng = np.random.default_rng(1)
    a, b = _normal(rng, m, k), _normal(rng, k, n)
    module = function([((m, k), F32), ((k, n), F32)], matmul)
    return Program(module, (a, b), np.matmul(*_f64(a, b)))


def prefix_sum(n: int) -> Program:
    x = np.random.default_rng(2).uniform(0, 1, n).astype(np.float32)
    return Program(function([((n,), F32)], windows), (x,), np.cumsum(*_f64(x)))


def arange(n: int) -> Program:
    module = function([], lambda block: counting(block, n))
    return Program(module, (), np.arange(n, dtype=np.int32), exact=True)


def gather(k: int, d: int) -> Program:
    rng = np.random.default_rng(3)
    table, index = _normal(rng, k), rng.integers(0, k, d, dtype=np.int32)

    def body(t: Expression, idx: Expression) -> Expression:
        pos = counting(t.block, k).reshape(k, 1)
        mask = pos.equals(idx.reshape(1, d)).cast(t.dtype)
        return (t.reshape(k, 1) * mask).sum(0)

    module = function([((k,), F32), ((d,), I32)], body)
    return Program(module, (table, index), table[index], exact=True)


def scatter_add(k: int, d: int) -> Program:
    rng = np.random.default_rng(4)
    table, value = _normal(rng, k), _normal(rng, d)
    index = rng.integers(0, k, d, dtype=np.int32)

    def body(t: Expression, idx: Expression, val: Expression) -> Expression:
        pos = counting(t.block, k).reshape(k, 1)
        mask = pos.equals(idx.reshape(1, d)).cast(t.dtype)
        return t + (mask * val.reshape(1, d)).sum(1)

    expected = table.astype(np.float64)
    np.add.at(expected, index, value)
    module = function([((k,), F32), ((d,), I32), ((d,), F32)], body)
    return Program(module, (table, index, value), expected)


# -- networks ------------------------------------------------------------------------------------


def normalized_exponentials(x: Expression) -> Expression:
    """Softmax over the last axis."""
    e = ((x - x.reduce(ReduceKind.MAX, -1)) * LOG2_E).exp2()
    return e / e.reduce(ReduceKind.ADD, -1)


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e.sum(-1, keepdims=True)


def softmax(r: int, c: int) -> Program:
    x = _normal(np.random.default_rng(5), r, c) * np.float32(3)
    module = function([((r, c), F32)], normalized_exponentials)
    return Program(module, (x,), _softmax(*_f64(x)))


def matmul_softmax(m: int, k: int, n: int) -> Program:
    rng = np.random.default_rng(6)
    # Scores of about 1: softmax multiplies the relative error of a score by the score.
    a, b = _normal(rng, m, k) / np.float32(math.sqrt(max(k, 1))), _normal(rng, k, n)
    module = function(
        [((m, k), F32), ((k, n), F32)], lambda a, b: normalized_exponentials(matmul(a, b))
    )
    return Program(module, (a, b), _softmax(np.matmul(*_f64(a, b))))


def layernorm(r: int, c: int) -> Program:
    rng = np.random.default_rng(7)
    x, weight, bias = _normal(rng, r, c) + np.float32(2), _normal(rng, c), _normal(rng, c)

    def body(x: Expression, weight: Expression, bias: Expression) -> Expression:
        share = 1 / c if c else 0.0
        centered = x - x.reduce(ReduceKind.ADD, 1) * share
        variance = (centered * centered).reduce(ReduceKind.ADD, 1) * share
        return centered / (variance + EPSILON).sqrt() * weight + bias

    x64, weight64, bias64 = _f64(x, weight, bias)
    expected = x64
    if c:
        centered = x64 - x64.mean(1, keepdims=True)
        deviation = np.sqrt((centered**2).mean(1, keepdims=True) + EPSILON)
        expected = centered / deviation * weight64 + bias64
    module = function([((r, c), F32), ((c,), F32), ((c,), F32)], body)
    return Program(module, (x, weight, bias), expected)


def mlp(batch: int, sizes: Sequence[int]) -> Program:
    rng = np.random.default_rng(8)
    layers = list(pairwise(sizes))
    inputs = [_normal(rng, batch, sizes[0])]
    for i, o in layers:
        inputs += [_normal(rng, i, o) / np.float32(math.sqrt(max(i, 1))), _normal(rng, o)]

    def body(x: Expression, *parameters: Expression) -> Expression:
        for layer, (weight, bias) in enumerate(zip(parameters[::2], parameters[1::2], strict=True)):
            x = matmul(x if layer == 0 else x.maximum(0), weight) + bias
        return x

    y, *parameters = _f64(*inputs)
    for layer, (weight, bias) in enumerate(zip(parameters[::2], parameters[1::2], strict=True)):
        y = (y if layer == 0 else np.maximum(y, 0)) @ weight + bias
    module = function([(a.shape, F32) for a in inputs], body)
    return Program(module, tuple(inputs), y)


def attention(heads: int, s: int, d: int) -> Program:
    rng = np.random.default_rng(9)
    q, k, v = (_normal(rng, heads, s, d) for _ in range(3))

    def body(q: Expression, k: Expression, v: Expression) -> Expression:
        scores = matmul(q, k.permute(0, 2, 1)) * (1 / math.sqrt(d))
        return matmul(normalized_exponentials(scores), v)

    q64, k64, v64 = _f64(q, k, v)
    expected = _softmax(q64 @ k64.transpose(0, 2, 1) / math.sqrt(d)) @ v64
    return Program(function([((heads, s, d), F32)] * 3, body), (q, k, v), expected)


# -- random numbers ------------------------------------------------------------------------------


def threefry2x32(counter: Array, key: Array) -> Array:
    """Threefry 2x32 with 20 rounds (Salmon et al., SC 2011), on words packed in uint64."""
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1 = ((w).astype(np.uint32) for w in (counter & low, counter >> high))
    k0, k1 = ((w).astype(np.uint32) for w in (key & low, key >> high))
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(0x1BD11BDA))
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for r in rotations[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(r)) | (x1 >> np.uint32(32 - r))
            x1 = x1 ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0.astype(np.uint64) | (x1.astype(np.uint64) << high)


def threefry(n: int) -> Program:
    """2 n uniform floats in [0, 1): 23 random bits each under the exponent of 1, less 1."""
    key = np.array(0x0123456789ABCDEF, np.uint64)

    def body(key: Expression) -> Expression:
        bits = counting(key.block, n).cast(UI64).threefry(key).bitcast(UI32)
        return ((bits >> 9) | 0x3F800000).bitcast(F32) - 1

    words = threefry2x32(np.arange(n, dtype=np.uint64), key).view(np.uint32)
    expected = ((words >> np.uint32(9)) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)
    return Program(function([((), UI64)], body), (key,), expected, exact=True)
