"""A stack of transformer blocks, as MLIR text and as a tinygrad program.

Each block: layer normalization, attention with several heads, and an MLP with GELU, both residual
(Vaswani et al. 2017, with the normalization first).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LOG2_E = math.log2(math.e)
EPSILON = 1e-5


@dataclass(frozen=True)
class Config:
    """Sizes of a stack."""

    layers: int = 12
    tokens: int = 32
    width: int = 64
    heads: int = 4
    hidden: int = 256

    @property
    def weights(self) -> list[tuple[int, ...]]:
        """The shapes of the weights of one block, in the order in which it uses them."""
        w, h = self.width, self.hidden
        return [(w,), (w,), (w, 3 * w), (w, w), (w,), (w,), (w, h), (h,), (h, w), (w,)]


def inputs(config: Config) -> list[np.ndarray]:
    """The tokens, then the weights of each block."""
    rng = np.random.default_rng(0)
    shapes = [(config.tokens, config.width), *(config.weights * config.layers)]
    return [
        (rng.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32) for shape in shapes
    ]


# -- as MLIR text --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """A name in the text, and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}f32>"


@dataclass
class Text:
    """A function that grows line by line."""

    lines: list[str] = field(default_factory=list)

    def op(self, body: str, shape: tuple[int, ...], *operands: Value) -> Value:
        result = Value(f"%{len(self.lines)}", shape)
        types = ", ".join(v.type for v in operands)
        signature = (
            f"({types}) -> {result.type}" if len(operands) > 1 else f"{types} -> {result.type}"
        )
        if all(v.type == result.type for v in operands):
            signature = result.type
        self.lines.append(f"  {result.name} = tg.{body} : {signature}")
        return result

    def constant(self, number: float) -> Value:
        return self.op(f"const {number:.9e}", ())

    def binary(self, name: str, a: Value, b: "Value | float") -> Value:
        b = self.constant(b) if isinstance(b, float) else b
        shape = np.broadcast_shapes(a.shape, b.shape)
        return self.op(f"{name} {a.name}, {b.name}", shape, a, b)

    def unary(self, name: str, a: Value) -> Value:
        return self.op(f"{name} {a.name}", a.shape, a)

    def reshape(self, a: Value, *shape: int) -> Value:
        return self.op(f"reshape {a.name} {list(shape)}", shape, a)

    def permute(self, a: Value, *order: int) -> Value:
        return self.op(f"permute {a.name} {list(order)}", tuple(a.shape[i] for i in order), a)

    def shrink(self, a: Value, axis: int, begin: int, end: int) -> Value:
        offsets = [begin if i == axis else 0 for i in range(len(a.shape))]
        shape = tuple(end - begin if i == axis else n for i, n in enumerate(a.shape))
        return self.op(f"shrink {a.name} at {offsets} to {list(shape)}", shape, a)

    def reduce(self, kind: str, a: Value, axis: int) -> Value:
        axis %= len(a.shape)
        shape = tuple(1 if i == axis else n for i, n in enumerate(a.shape))
        return self.op(f"reduce {kind} {a.name} [{axis}]", shape, a)

    def matmul(self, a: Value, b: Value) -> Value:
        *lead, m, k = a.shape
        n = b.shape[-1]
        left, right = self.reshape(a, *lead, m, k, 1), self.reshape(b, *b.shape[:-2], 1, k, n)
        total = self.reduce("add", self.binary("mul", left, right), -2)
        return self.reshape(total, *lead, m, n)

    def layernorm(self, x: Value, weight: Value, bias: Value) -> Value:
        share = 1 / x.shape[-1]
        mean = self.binary("mul", self.reduce("add", x, -1), share)
        centered = self.binary("sub", x, mean)
        square = self.binary("mul", centered, centered)
        variance = self.binary("mul", self.reduce("add", square, -1), share)
        deviation = self.unary("sqrt", self.binary("add", variance, EPSILON))
        scaled = self.binary("mul", self.binary("div", centered, deviation), weight)
        return self.binary("add", scaled, bias)

    def softmax(self, x: Value) -> Value:
        shifted = self.binary("sub", x, self.reduce("max", x, -1))
        e = self.unary("exp2", self.binary("mul", shifted, LOG2_E))
        return self.binary("div", e, self.reduce("add", e, -1))

    def gelu(self, x: Value) -> Value:
        """x sigmoid(1.702 x)."""
        e = self.unary("exp2", self.binary("mul", x, -1.702 * LOG2_E))
        return self.binary("div", x, self.binary("add", e, 1.0))

    def block(self, x: Value, weights: list[Value], config: Config) -> Value:
        g1, b1, qkv, out, g2, b2, up, up_bias, down, down_bias = weights
        t, w, h = config.tokens, config.width, config.heads
        projected = self.matmul(self.layernorm(x, g1, b1), qkv)
        q, k, v = (
            self.permute(
                self.reshape(self.shrink(projected, 1, i * w, (i + 1) * w), t, h, w // h), 1, 0, 2
            )
            for i in range(3)
        )
        scores = self.matmul(q, self.permute(k, 0, 2, 1))
        attended = self.matmul(self.softmax(self.binary("mul", scores, 1 / math.sqrt(w // h))), v)
        merged = self.reshape(self.permute(attended, 1, 0, 2), t, w)
        x = self.binary("add", x, self.matmul(merged, out))
        hidden = self.binary("add", self.matmul(self.layernorm(x, g2, b2), up), up_bias)
        updated = self.binary("add", self.matmul(self.gelu(hidden), down), down_bias)
        return self.binary("add", x, updated)


def mlir(config: Config) -> str:
    """The stack as a function of the tokens and all weights."""
    text = Text()
    shapes = [(config.tokens, config.width), *(config.weights * config.layers)]
    arguments = [Value(f"%arg{i}", shape) for i, shape in enumerate(shapes)]
    x, count = arguments[0], len(config.weights)
    for layer in range(config.layers):
        x = text.block(x, arguments[1 + layer * count : 1 + (layer + 1) * count], config)
    declared = ", ".join(f"{a.name}: {a.type}" for a in arguments)
    body = "\n".join(text.lines)
    return f"func.func @main({declared}) -> {x.type} {{\n{body}\n  return {x.name} : {x.type}\n}}\n"


# -- as a tinygrad program -----------------------------------------------------------------------


def tinygrad(arguments: list[Any], config: Config) -> Any:
    """The same on tinygrad's Tensors."""

    def layernorm(x: Any, weight: Any, bias: Any) -> Any:
        centered = x - x.mean(-1, keepdim=True)
        variance = (centered * centered).mean(-1, keepdim=True)
        return centered / (variance + EPSILON).sqrt() * weight + bias

    t, w, h = config.tokens, config.width, config.heads
    x, count = arguments[0], len(config.weights)
    for layer in range(config.layers):
        weights = arguments[1 + layer * count : 1 + (layer + 1) * count]
        g1, b1, qkv, out, g2, b2, up, up_bias, down, down_bias = weights
        projected = layernorm(x, g1, b1) @ qkv
        q, k, v = (
            projected[:, i * w : (i + 1) * w].reshape(t, h, w // h).permute(1, 0, 2)
            for i in range(3)
        )
        scores = (q @ k.permute(0, 2, 1)) * (1 / math.sqrt(w // h))
        x = x + (scores.softmax(-1) @ v).permute(1, 0, 2).reshape(t, w) @ out
        hidden = layernorm(x, g2, b2) @ up + up_bias
        x = x + (hidden * (hidden * 1.702).sigmoid()) @ down + down_bias
    return x
