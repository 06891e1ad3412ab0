"""Words of which programs are made, as each tool spells them: a program is written once, as
`lambda o, x, w: o.relu(x @ w)`, and `told` makes a row of it.

`InTensor` serves ours and tinygrad. Operators, slices, `reshape` of a tuple and `.T` are the same
in all of them. Where a tool has a function of its own for a word, as PyTorch has for norms, it is
used: that is the best form of the tool.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.convolutions import conv, conv_transpose
from bench.workload import Array, Program, Workload, f32_bytes

EPS = 1e-5
"""The number that norms add to variances, as PyTorch does by default."""

Axes = tuple[int, ...]
Loss = Callable[..., Any]


class _Methods:
    """Words that are methods of tensors, of ours and of PyTorch's."""

    exp, tanh, sigmoid, relu, sqrt, abs = (
        staticmethod(lambda x, name=name: getattr(x, name)())
        for name in ("exp", "tanh", "sigmoid", "relu", "sqrt", "abs")
    )

    def wide(self, x: Any) -> Any:
        """As f32, what it may be of bf16."""
        return x.float()

    def clip(self, x: Any, least: float, most: float) -> Any:
        return x.clip(least, most)

    def sum(self, x: Any, axes: Axes) -> Any:
        return x.sum(axes)

    def mean(self, x: Any, axes: Axes) -> Any:
        return x.mean(axes)

    def cumsum(self, x: Any, axis: int) -> Any:
        return x.cumsum(axis)

    def softmax(self, x: Any) -> Any:
        return x.softmax(-1)

    def log_softmax(self, x: Any) -> Any:
        return x.log_softmax(-1)

    def permuted(self, x: Any, axes: Axes) -> Any:
        """A copy with its axes in another order."""
        return x.permute(axes).contiguous()

    def swapped(self, x: Any, a: int = -1, b: int = -2) -> Any:
        """Two axes exchanged."""
        return x.transpose(a, b)


class InTensor(_Methods):
    """Ours, and tinygrad's."""

    def gelu(self, x: Any) -> Any:
        return x.gelu()

    def silu(self, x: Any) -> Any:
        return x.silu()

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return condition.where(x, y)

    def maximum(self, x: Any, y: Any) -> Any:
        return x.maximum(y)

    def max(self, x: Any, axes: Axes) -> Any:
        return x.max(axes)

    def cat(self, tensors: Sequence[Any], axis: int) -> Any:
        return tensors[0].cat(*tensors[1:], dim=axis)

    def stack(self, tensors: Sequence[Any], axis: int = 0) -> Any:
        return tensors[0].stack(*tensors[1:], dim=axis)

    def einsum(self, formula: str, *tensors: Any) -> Any:
        return tensors[0].einsum(formula, *tensors)

    def linear(self, x: Any, w: Any, b: Any) -> Any:
        return x.linear(w.T, b)

    def standardized(self, x: Any) -> Any:
        """Of mean 0 and variance 1 along the last axis."""
        return x.layernorm(eps=EPS)

    def layer_norm(self, x: Any, w: Any, b: Any) -> Any:
        return self.standardized(x) * w + b

    def rms_norm(self, x: Any, w: Any) -> Any:
        return x * ((x * x).mean(-1, keepdim=True) + EPS).sqrt().reciprocal() * w

    def group_norm(self, x: Any, groups: int, w: Any, b: Any) -> Any:
        grouped = self.standardized(x.reshape((x.shape[0], groups, -1))).reshape(x.shape)
        return grouped * w.reshape((-1, 1, 1)) + b.reshape((-1, 1, 1))

    def batch_norm(self, x: Any, mean: Any, var: Any, w: Any, b: Any) -> Any:
        """By running statistics."""
        return x.batchnorm(w, b, mean, (var + EPS).sqrt().reciprocal())

    def attention(self, q: Any, k: Any, v: Any, *mask: Any, is_causal: bool = False) -> Any:
        """Of (heads, rows, features)."""
        return q.scaled_dot_product_attention(k, v, *mask, is_causal=is_causal)

    def conv2d(self, x: Any, w: Any, stride: int, padding: int, groups: int = 1) -> Any:
        return x.conv2d(w, stride=stride, padding=padding, groups=groups)

    def conv_transpose2d(self, x: Any, w: Any, stride: int, padding: int) -> Any:
        return x.conv_transpose2d(w, stride=stride, padding=padding)

    def max_pool(self, x: Any, size: int, stride: int) -> Any:
        return x.max_pool2d(size, stride)

    def avg_pool(self, x: Any, size: int, stride: int) -> Any:
        return x.avg_pool2d(size, stride)

    def cross_entropy(self, logits: Any, classes: Any) -> Any:
        return logits.sparse_categorical_crossentropy(classes)

    def scan(self, step: Program, first: Any, inputs: Any) -> Any:
        """The outputs of the steps. tinygrad has no loop in a program."""
        if type(inputs).__module__.startswith("tinygrad"):
            return unrolled(self, step, first, inputs)
        from tgdialect import scan

        return scan(step, first, inputs)[1]

    def zeros(self, x: Any, *shape: int) -> Any:
        """Of the same kind as `x`."""
        return x.zeros(*shape)

    def value_and_gradients(self, loss: Loss, weights: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        value = loss(*weights)
        return value, value.gradient(*weights)


class InTorch(_Methods):
    """PyTorch's, which `torch.compile` goes through as well."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.f = torch, torch.nn.functional
        self.where, self.maximum, self.einsum = torch.where, torch.maximum, torch.einsum
        self.cat, self.stack = torch.cat, torch.stack
        self.linear, self.silu, self.cross_entropy = (
            self.f.linear,
            self.f.silu,
            self.f.cross_entropy,
        )
        self.max_pool, self.avg_pool = self.f.max_pool2d, self.f.avg_pool2d

    def gelu(self, x: Any) -> Any:
        return self.f.gelu(x, approximate="tanh")

    def max(self, x: Any, axes: Axes) -> Any:
        return x.amax(axes)

    def standardized(self, x: Any) -> Any:
        return self.layer_norm(x, None, None)

    def layer_norm(self, x: Any, w: Any, b: Any) -> Any:
        return self.f.layer_norm(x, x.shape[-1:], w, b, EPS)

    def rms_norm(self, x: Any, w: Any) -> Any:
        return self.f.rms_norm(x, x.shape[-1:], w, EPS)

    def group_norm(self, x: Any, groups: int, w: Any, b: Any) -> Any:
        return self.f.group_norm(x, groups, w, b, EPS)

    def batch_norm(self, x: Any, mean: Any, var: Any, w: Any, b: Any) -> Any:
        return self.f.batch_norm(x, mean, var, w, b, eps=EPS)

    def attention(self, q: Any, k: Any, v: Any, *mask: Any, is_causal: bool = False) -> Any:
        # With a batch: only for four axes is there a fused kernel.
        run = self.f.scaled_dot_product_attention
        return run(q[None], k[None], v[None], *mask, is_causal=is_causal)[0]

    def conv2d(self, x: Any, w: Any, stride: int, padding: int, groups: int = 1) -> Any:
        return self.f.conv2d(x, w, stride=stride, padding=padding, groups=groups)

    def conv_transpose2d(self, x: Any, w: Any, stride: int, padding: int) -> Any:
        return self.f.conv_transpose2d(x, w, stride=stride, padding=padding)

    def value_and_gradients(self, loss: Loss, weights: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        """A compiler goes through `torch.func`, so that it has one graph of both ways."""
        if self.torch.compiler.is_compiling():
            every = tuple(range(len(weights)))
            gradients, value = self.torch.func.grad_and_value(loss, every)(*weights)
            return value, gradients
        with self.torch.enable_grad():
            leaves = [each.detach().requires_grad_() for each in weights]
            value = loss(*leaves)
            return value.detach(), self.torch.autograd.grad(value, leaves)


class _Arrays(ABC):
    """Words that are functions of NumPy's and of JAX's."""

    np: Any

    def exp(self, x: Any) -> Any:
        return self.np.exp(x)

    def tanh(self, x: Any) -> Any:
        return self.np.tanh(x)

    def sqrt(self, x: Any) -> Any:
        return self.np.sqrt(x)

    def abs(self, x: Any) -> Any:
        return self.np.abs(x)

    def clip(self, x: Any, least: float, most: float) -> Any:
        return self.np.clip(x, least, most)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self.np.where(condition, x, y)

    def maximum(self, x: Any, y: Any) -> Any:
        return self.np.maximum(x, y)

    def sum(self, x: Any, axes: Axes) -> Any:
        return x.sum(axes)

    def mean(self, x: Any, axes: Axes) -> Any:
        return x.mean(axes)

    def max(self, x: Any, axes: Axes) -> Any:
        return x.max(axes)

    def cumsum(self, x: Any, axis: int) -> Any:
        return self.np.cumsum(x, axis)

    def cat(self, arrays: Sequence[Any], axis: int) -> Any:
        return self.np.concatenate(arrays, axis)

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        return self.np.stack(arrays, axis)

    def swapped(self, x: Any, a: int = -1, b: int = -2) -> Any:
        return x.swapaxes(a, b)

    def einsum(self, formula: str, *arrays: Any) -> Any:
        return self.np.einsum(formula, *arrays, optimize=True)

    def linear(self, x: Any, w: Any, b: Any) -> Any:
        return x @ w.T + b

    def rms_norm(self, x: Any, w: Any) -> Any:
        return x / self.np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * w

    def group_norm(self, x: Any, groups: int, w: Any, b: Any) -> Any:
        grouped = self.standardized(x.reshape((x.shape[0], groups, -1))).reshape(x.shape)
        return grouped * w.reshape((-1, 1, 1)) + b.reshape((-1, 1, 1))

    def layer_norm(self, x: Any, w: Any, b: Any) -> Any:
        return self.standardized(x) * w + b

    def batch_norm(self, x: Any, mean: Any, var: Any, w: Any, b: Any) -> Any:
        factor = w / self.np.sqrt(var + EPS)
        return x * factor.reshape((-1, 1, 1)) + (b - mean * factor).reshape((-1, 1, 1))

    @abstractmethod
    def standardized(self, x: Any) -> Any:
        """With a mean of 0 and a variance of 1 along the last axis."""

    @abstractmethod
    def softmax(self, x: Any) -> Any: ...

    def attention(self, q: Any, k: Any, v: Any, *mask: Any, is_causal: bool = False) -> Any:
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        if is_causal:
            scores = self.np.where(self.np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        return self.softmax(sum(mask, scores)) @ v

    def zeros(self, x: Any, *shape: int) -> Any:
        return self.np.zeros(shape, x.dtype)


class InJax(_Arrays):
    """JAX's."""

    def __init__(self, jax: Any, jnp: Any) -> None:
        self.jax, self.np = jax, jnp
        self.sigmoid, self.relu, self.silu = jax.nn.sigmoid, jax.nn.relu, jax.nn.silu

    def wide(self, x: Any) -> Any:
        return x.astype(np.float32)

    def gelu(self, x: Any) -> Any:
        return self.jax.nn.gelu(x, approximate=True)

    def softmax(self, x: Any) -> Any:
        return self.jax.nn.softmax(x, axis=-1)

    def log_softmax(self, x: Any) -> Any:
        return self.jax.nn.log_softmax(x, axis=-1)

    def standardized(self, x: Any) -> Any:
        return self.jax.nn.standardize(x, axis=-1, epsilon=EPS)

    def permuted(self, x: Any, axes: Axes) -> Any:
        return x.transpose(axes)

    def conv2d(self, x: Any, w: Any, stride: int, padding: int, groups: int = 1) -> Any:
        run, around = self.jax.lax.conv_general_dilated, [(padding, padding)] * 2
        return run(x, w, (stride, stride), around, feature_group_count=groups)

    def conv_transpose2d(self, x: Any, w: Any, stride: int, padding: int) -> Any:
        """A convolution of the image with zeros between its cells."""
        run, around = self.jax.lax.conv_general_dilated, [(w.shape[-1] - 1 - padding,) * 2] * 2
        flipped = self.np.flip(w, (2, 3)).transpose(1, 0, 2, 3)
        return run(x, flipped, (1, 1), around, lhs_dilation=(stride, stride))

    def max_pool(self, x: Any, size: int, stride: int) -> Any:
        return self._pooled(x, -np.inf, self.jax.lax.max, size, stride)

    def avg_pool(self, x: Any, size: int, stride: int) -> Any:
        return self._pooled(x, 0.0, self.jax.lax.add, size, stride) / size**2

    def _pooled(self, x: Any, first: float, operation: Any, size: int, stride: int) -> Any:
        window, steps = (1, 1, size, size), (1, 1, stride, stride)
        return self.jax.lax.reduce_window(x, first, operation, window, steps, "valid")

    def cross_entropy(self, logits: Any, classes: Any) -> Any:
        picked = self.np.take_along_axis(self.log_softmax(logits), classes[:, None], 1)
        return -picked.mean()

    def scan(self, step: Program, first: Any, inputs: Any) -> Any:
        return self.jax.lax.scan(step, first, inputs)[1]

    def value_and_gradients(self, loss: Loss, weights: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        return self.jax.value_and_grad(loss, tuple(range(len(weights))))(*weights)


class InNumpy(_Arrays):
    """NumPy's, of f32 or float64. It has no gradients: programs of these say how they are."""

    np = np

    def sigmoid(self, x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    def wide(self, x: Array) -> Array:
        return x

    def relu(self, x: Array) -> Array:
        return np.maximum(x, 0)

    def silu(self, x: Array) -> Array:
        return x * self.sigmoid(x)

    def gelu(self, x: Array) -> Array:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def softmax(self, x: Array) -> Array:
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def log_softmax(self, x: Array) -> Array:
        x = x - x.max(-1, keepdims=True)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    def standardized(self, x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)

    def permuted(self, x: Array, axes: Axes) -> Array:
        return np.ascontiguousarray(x.transpose(axes))

    def conv2d(self, x: Array, w: Array, stride: int, padding: int, groups: int = 1) -> Array:
        return conv(x, w, padding, groups, stride)

    def conv_transpose2d(self, x: Array, w: Array, stride: int, padding: int) -> Array:
        return conv_transpose(x, w, padding, stride)

    def max_pool(self, x: Array, size: int, stride: int) -> Array:
        return self._windows(x, size, stride).max((-1, -2))

    def avg_pool(self, x: Array, size: int, stride: int) -> Array:
        return self._windows(x, size, stride).mean((-1, -2))

    def _windows(self, x: Array, size: int, stride: int) -> Array:
        windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
        return windows[:, :, ::stride, ::stride]

    def cross_entropy(self, logits: Array, classes: Array) -> Array:
        return -np.take_along_axis(self.log_softmax(logits), classes[:, None], 1).mean()

    def scan(self, step: Program, first: Any, inputs: Array) -> Array:
        return unrolled(self, step, first, inputs)


NUMPY, TENSOR = InNumpy(), InTensor()


def unrolled(o: Any, step: Program, state: Any, inputs: Any) -> Any:
    """`scan` as a loop of Python's."""
    outputs: list[Any] = []
    for i in range(inputs.shape[0]):
        state, output = step(state, inputs[i])
        outputs.append(output)
    return o.stack(outputs)


def told(
    name: str,
    shapes: Sequence[tuple[int, ...]],
    text: Program,
    flops: int,
    out: Sequence[tuple[int, ...]],
    *,
    in_torch: Program | None = None,
    in_numpy: Program | None = None,
    **more: Any,
) -> Workload:
    """The row of a program in these words, which come first, with results of shapes `out`. PyTorch
    and NumPy may have a text of their own. `more` are fields of `Workload`."""
    more = {"bytes": f32_bytes(*shapes, *out)} | more
    return Workload(
        name,
        shapes,
        lambda *x: text(TENSOR, *x),
        lambda torch, *x: (in_torch or text)(InTorch(torch), *x),
        lambda *x: (in_numpy or text)(NUMPY, *x),
        lambda jax, jnp, *x: text(InJax(jax, jnp), *x),
        flops=flops,
        **more,
    )
