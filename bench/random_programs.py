"""Random programs: the rows of `python -m bench --random N`, whose shapes nobody has tuned.

A row is made of a seed and a number, both in its name, so that each process builds it by itself
(`named`). Rows go through all families, in an order of the seed's, before one comes again. Sizes
are drawn log-uniformly, and drawn again until the work of a call is that of 0.02 to 20 ms or so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bench.convolutions import conv_training
from bench.recurrent import Sizes, fan_in, gru, lstm
from bench.training_steps import convnet_step, mlp_step
from bench.words import told
from bench.workload import Array, Workload, f32_bytes

T = TypeVar("T")

SECONDS = 2e-5, 2e-2
"""The least and the most time of a call at the rates below, which are those of two cores of a
server: they decide what is drawn, and not what is measured."""

FLOPS_PER_SECOND, BYTES_PER_SECOND = 1e11, 2e10
"""Rates for `SECONDS`."""

MOST_BYTES = 1 << 27
"""Of inputs and results: four tools and a reference in float64 are in memory at once."""


class Draw:
    """Random choices of a row."""

    def __init__(self, seed: int, index: int) -> None:
        self._random = np.random.default_rng([seed, index])

    def size(self, least: int, most: int) -> int:
        """Log-uniform. Half of the sizes are rounded to a multiple of 8, or to a power of two, as
        those of users mostly are."""
        n = round(math.exp(self._random.uniform(math.log(least), math.log(most))))
        kind = self._random.integers(4)
        if kind == 0:
            n = 1 << round(math.log2(n))
        elif kind == 1:
            n = round(n / 8) * 8
        return min(max(n, least), most)

    def sizes(self, *ranges: tuple[int, int]) -> list[int]:
        return [self.size(*each) for each in ranges]

    def shape(self, axes: int, least: int = 1 << 12, most: int = 1 << 24) -> tuple[int, ...]:
        """Of some axes, and of so many elements in all."""
        while True:
            shape = tuple(self.size(2, 1 << 14) for _ in range(axes - 1))
            wanted = self.size(least, most)
            if (last := round(wanted / math.prod(shape))) > 0:
                return (*shape, last)

    def one(self, *options: T) -> T:
        return options[int(self._random.integers(len(options)))]

    def is_true(self) -> bool:
        return self.one(True, False)


def _x(*sizes: int) -> str:
    return "x".join(map(str, sizes))


def _row(
    name: str,
    shapes: Sequence[Sequence[int]],
    text: Any,
    out: Sequence[int],
    *,
    flops: float = 0,
    **more: Any,
) -> Workload:
    """A row of one result; without `flops` it is bound by memory."""
    bound = "flops" if flops else "copy"
    shapes, out = [tuple(shape) for shape in shapes], tuple(out)
    return told(name, shapes, text, int(flops), [out], **{"bound": bound} | more)


ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sigmoid")

# -- products --------------------------------------------------------------------------------------


def gemm(d: Draw) -> Workload:
    m, n, k = d.sizes(*((48, 3000),) * 3)
    return _product(d, m, n, k)


def tall(d: Draw) -> Workload:
    m, n, k = d.sizes((5000, 200_000), (4, 256), (8, 256))
    return _product(d, m, n, k)


def long_sums(d: Draw) -> Workload:
    m, n, k = d.sizes((4, 200), (4, 200), (5000, 100_000))
    return _product(d, m, n, k)


def small_batch(d: Draw) -> Workload:
    m, n, k = d.sizes((2, 32), (256, 8192), (256, 8192))
    return _product(d, m, n, k)


def _product(d: Draw, m: int, n: int, k: int) -> Workload:
    """Operands may be transposed, as those of gradients are."""
    left, right = d.one((False, False), (False, True), (True, False))
    name = f"gemm {_x(m, n, k)}{' a.T' * left}{' b.T' * right}"
    shapes = ((k, m) if left else (m, k)), ((n, k) if right else (k, n))

    def text(o: Any, a: Any, b: Any) -> Any:
        return (a.T if left else a) @ (b.T if right else b)

    return _row(name, shapes, text, (m, n), flops=2 * m * n * k)


def batched(d: Draw) -> Workload:
    b, m, n, k = d.sizes((2, 96), (16, 600), (16, 600), (16, 600))
    return _row(
        f"bmm {_x(b, m, n, k)}",
        ((b, m, k), (b, k, n)),
        lambda o, x, y: x @ y,
        (b, m, n),
        flops=2 * b * m * n * k,
    )


def linear(d: Draw) -> Workload:
    rows, width, out = d.sizes((1, 4000), (32, 4096), (32, 4096))
    act, frozen = d.one(*ACTIVATIONS), d.is_true()
    return _row(
        f"linear {act} {_x(rows, width, out)}{', args' * (not frozen)}",
        ((rows, width), (out, width), (out,)),
        lambda o, x, w, b: getattr(o, act)(o.linear(x, w, b)),
        (rows, out),
        flops=2 * rows * width * out,
        prepared=fan_in,
        has_weights=frozen,
    )


def gemv(d: Draw) -> Workload:
    m, k = d.sizes((64, 20_000), (64, 20_000))
    turned = d.is_true()
    shapes = ((k, m) if turned else (m, k)), (k,)
    return _row(
        f"gemv {_x(m, k)}{' a.T' * turned}",
        shapes,
        lambda o, a, x: (a.T if turned else a) @ x,
        (m,),
        bound="read",
    )


def einsum(d: Draw) -> Workload:
    formula = d.one(
        *("bhqd,bhkd->bhqk", "bi,ij,bj->b", "ijk,kl->ijl", "bchw,oc->bohw", "bqhd,bkhd->bhqk"),
        *("ij,ij->i", "ij,kj->ikj", "nij,nj->ni", "bhqk,bkhd->bqhd"),
    )
    terms, out = formula.split("->")
    size = {letter: d.size(4, 300) for letter in sorted(set(terms) - {","})}
    shapes = [[size[letter] for letter in term] for term in terms.split(",")]
    flops = 2 * math.prod(size.values())
    if formula == "bi,ij,bj->b":
        flops = 2 * size["b"] * size["i"] * size["j"]
    name = f"einsum {formula} {_x(*size.values())}"
    return _row(
        name,
        shapes,
        lambda o, *x: o.einsum(formula, *x),
        [size[letter] for letter in out],
        flops=flops,
    )


def distances(d: Draw) -> Workload:
    """Squares of distances between points, as one writes them without a product."""
    m, n, k = d.sizes((16, 3000), (16, 3000), (2, 64))
    return _row(
        f"distances {_x(m, n, k)}",
        ((m, k), (n, k)),
        lambda o, x, y: o.sum((x[:, None] - y[None]) ** 2, (2,)),
        (m, n),
        flops=3 * m * n * k,
    )


# -- rows and reductions ---------------------------------------------------------------------------


def softmax(d: Draw) -> Workload:
    shape, word = d.shape(d.one(2, 2, 3)), d.one("softmax", "softmax", "log_softmax")
    return _row(f"{word} {_x(*shape)}", [shape], lambda o, x: getattr(o, word)(x), shape)


def layer_norm(d: Draw) -> Workload:
    rows, width = d.sizes((1, 50_000), (16, 8192))
    shapes = (rows, width), (width,), (width,)
    return _row(
        f"layer norm {_x(rows, width)}",
        shapes,
        lambda o, x, w, b: o.layer_norm(x, w, b),
        (rows, width),
    )


def rms_norm(d: Draw) -> Workload:
    rows, width = d.sizes((1, 50_000), (16, 8192))
    return _row(
        f"rms norm {_x(rows, width)}",
        ((rows, width), (width,)),
        lambda o, x, w: o.rms_norm(x, w),
        (rows, width),
    )


def _image(d: Draw, most_channels: int = 512) -> tuple[int, int, int, int]:
    batch, channels = d.size(1, 32), 8 * d.size(1, most_channels // 8)
    return batch, channels, *((d.size(4, 224),) * 2 if d.is_true() else d.sizes(*((4, 224),) * 2))


def batch_norm(d: Draw) -> Workload:
    x = _image(d)
    return _row(
        *(f"batch norm relu {_x(*x)}", (x, *((x[1],),) * 4)),
        *(lambda o, x, *s: o.relu(o.batch_norm(x, *s)), x),
        prepared=lambda a: [a[0], a[1], np.abs(a[2]) + np.float32(0.5), *a[3:]],
    )


def group_norm(d: Draw) -> Workload:
    x, groups = _image(d), d.one(1, 4, 8)
    act = d.one("silu", "relu")
    return _row(
        f"group norm {act} {_x(*x)} by {groups}",
        (x, (x[1],), (x[1],)),
        lambda o, x, w, b: getattr(o, act)(o.group_norm(x, groups, w, b)),
        x,
    )


def reduction(d: Draw) -> Workload:
    rank, word = d.one(1, 2, 2, 3, 3), d.one("sum", "mean", "max", "var", "norm")
    shape = d.shape(rank, most=MOST_BYTES // 4)
    axes = d.one(*{1: [(0,)], 2: [(0,), (1,), (0, 1)], 3: [(0,), (1,), (2,), (0, 2), (1, 2)]}[rank])
    out = [n for axis, n in enumerate(shape) if axis not in axes]
    kept = [1 if axis in axes else n for axis, n in enumerate(shape)]

    def text(o: Any, x: Any) -> Any:
        if word == "var":
            centred = x - o.mean(x, axes).reshape(tuple(kept))
            return o.mean(centred * centred, axes)
        if word == "norm":
            return o.sqrt(o.sum(x * x, axes))
        return getattr(o, word)(x, axes)

    return _row(
        f"{word} {_x(*shape)} over {','.join(map(str, axes))}", [shape], text, out, bound="read"
    )


def cumsum(d: Draw) -> Workload:
    shape = d.shape(d.one(1, 2, 2))
    axis = d.one(*range(len(shape)))
    return _row(f"cumsum {_x(*shape)} along {axis}", [shape], lambda o, x: o.cumsum(x, axis), shape)


def cross_entropy(d: Draw) -> Workload:
    rows, classes = d.sizes((8, 20_000), (10, 50_000))
    return _row(
        *(f"cross entropy {_x(rows, classes)}", ((rows, classes), (rows,))),
        *(lambda o, x, i: o.cross_entropy(x, i), ()),
        bound="read",
        prepared=lambda a: [a[0], _indices(a[1], classes)],
    )


def _indices(normal: Array, count: int) -> Array:
    return (np.abs(normal) * 99_991).astype(np.int64) % count


# -- elementwise -----------------------------------------------------------------------------------


def activation(d: Draw) -> Workload:
    shape, act = d.shape(d.one(1, 2, 3)), d.one(*ACTIVATIONS)
    return _row(f"{act} {_x(*shape)}", [shape], lambda o, x: getattr(o, act)(x), shape)


def chain(d: Draw) -> Workload:
    """Some steps on an array, with others that are broadcast to it."""
    shape = d.shape(d.one(2, 2, 3))
    steps = [d.one("add", "mul", "max", "tanh", "exp", "sigmoid", "relu", "square", "clip")]
    while len(steps) < 6 and d.one(True, True, False):
        steps.append(d.one("add", "sub", "mul", "max", "tanh", "abs", "relu", "scale", "clip"))
    shapes: list[Sequence[int]] = [shape]
    for _ in set(steps) & {"add", "sub", "mul", "max"}:
        axis = d.one(*range(len(shape)))
        part = [1 if i == axis else n for i, n in enumerate(shape)]
        shapes.append(d.one(shape, shape[-1:], part))

    def text(o: Any, x: Any, *others: Any) -> Any:
        left = list(others)
        for step in steps:
            if step in ("add", "sub", "mul", "max"):
                y = left.pop(0) if left else others[0]
                x = {
                    "add": lambda x=x, y=y: x + y,
                    "sub": lambda x=x, y=y: x - y,
                    "mul": lambda x=x, y=y: x * y,
                    "max": lambda x=x, y=y: o.maximum(x, y),
                }[step]()
            elif step == "square":
                x = x * x
            elif step == "scale":
                x = x * 0.5 + 1.5
            elif step == "clip":
                x = o.clip(x, -1.0, 1.0)
            else:
                x = getattr(o, step)(x)
        return x

    name = f"chain {' '.join(steps)} of {' '.join(_x(*each) for each in shapes)}"
    return _row(name, shapes, text, shape)


def where(d: Draw) -> Workload:
    shape = d.shape(d.one(1, 2))
    return _row(
        f"where {_x(*shape)}",
        (shape, shape),
        lambda o, x, y: o.where(x > 0, x * 2 - y, o.clip(y, -0.5, 0.5)),
        shape,
    )


def rotary(d: Draw) -> Workload:
    """Rotary positions of (heads, rows, features)."""
    heads, rows, width = d.size(1, 64), d.size(16, 4096), d.one(32, 64, 128)
    half = width // 2

    def text(o: Any, x: Any, cos: Any, sin: Any) -> Any:
        turned = o.cat([x[:, :, half:] * -1.0, x[:, :, :half]], 2)
        return x * cos + turned * sin

    shapes = (heads, rows, width), (rows, width), (rows, width)
    return _row(f"rotary {_x(heads, rows, width)}", shapes, text, shapes[0])


def stencil(d: Draw) -> Workload:
    rows, columns = d.sizes((16, 6000), (16, 6000))

    def text(o: Any, x: Any) -> Any:
        around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        return x[1:-1, 1:-1] + 0.1 * (around - 4 * x[1:-1, 1:-1])

    return _row(f"stencil {_x(rows, columns)}", [(rows, columns)], text, (rows - 2, columns - 2))


# -- copies ----------------------------------------------------------------------------------------


def permute(d: Draw) -> Workload:
    shape = d.shape(d.one(2, 3, 4))
    orders = {2: [(1, 0)], 3: [(1, 0, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)]}
    orders[4] = [(0, 2, 1, 3), (0, 2, 3, 1), (0, 3, 1, 2), (3, 1, 2, 0)]
    axes = d.one(*orders[len(shape)])
    name = f"permute {_x(*shape)} to {','.join(map(str, axes))}"
    return _row(name, [shape], lambda o, x: o.permuted(x, axes), [shape[i] for i in axes])


def embedding(d: Draw) -> Workload:
    rows, width, count = d.sizes((100, 100_000), (8, 1024), (100, 100_000))
    return _row(
        *(f"embedding {_x(rows, width)} at {count}", ((rows, width), (count,))),
        *(lambda o, x, i: x[i], (count, width)),
        bytes=2 * f32_bytes((count, width)),
        prepared=lambda a: [a[0], _indices(a[1], rows)],
    )


def concat(d: Draw) -> Workload:
    rows, first, second = d.sizes((16, 4000), (16, 4000), (16, 4000))
    axis = d.one(0, 1)
    shapes = [(rows, n) if axis else (n, rows) for n in (first, second)]
    out = (rows, first + second) if axis else (first + second, rows)
    return _row(
        f"concat {' '.join(_x(*s) for s in shapes)} along {axis}",
        shapes,
        lambda o, x, y: o.cat([x, y], axis),
        out,
    )


# -- images ----------------------------------------------------------------------------------------


def conv2d(d: Draw) -> Workload:
    """Of few and of many channels, in one group mostly."""
    groups, kernel, stride = d.one(1, 1, 1, 2, 4), d.one(1, 3, 3, 5, 7), d.one(1, 1, 2)
    channels = groups * d.size(1, 256 // groups)
    return _conv(d, channels, groups * d.size(2, 256 // groups), groups, kernel, stride)


def depthwise(d: Draw) -> Workload:
    channels = 8 * d.size(1, 96)
    return _conv(d, channels, channels, channels, d.one(3, 3, 5, 7), d.one(1, 1, 2))


def _conv(d: Draw, inputs: int, out: int, groups: int, kernel: int, stride: int) -> Workload:
    batch, height, width = d.sizes((1, 16), (7, 256), (7, 256))
    if d.is_true():
        width = height
    oh, ow = ((n - 1) // stride + 1 for n in (height, width))
    act = d.one("", "relu", "silu")
    sizes = f"{inputs}->{out} by {groups} {_x(batch, height, width)}"
    name = " ".join(["conv", f"{kernel}x{kernel}/{stride}", *act.split(), sizes])

    def text(o: Any, x: Any, w: Any) -> Any:
        y = o.conv2d(x, w, stride, kernel // 2, groups)
        return getattr(o, act)(y) if act else y

    return _row(
        *(name, ((batch, inputs, height, width), (out, inputs // groups, kernel, kernel))),
        *(text, (batch, out, oh, ow)),
        flops=2 * batch * out * oh * ow * inputs // groups * kernel**2,
        has_weights=d.is_true(),
    )


def conv_transpose(d: Draw) -> Workload:
    batch, inputs, out, n = d.sizes((1, 8), (4, 256), (3, 128), (4, 64))
    kernel, stride, padding = d.one((2, 2, 0), (4, 2, 1), (3, 1, 1), (3, 2, 1), (5, 2, 2))
    size = (n - 1) * stride - 2 * padding + kernel
    return _row(
        f"conv transpose {kernel}x{kernel}/{stride} {inputs}->{out} {_x(batch, n, n)}",
        ((batch, inputs, n, n), (inputs, out, kernel, kernel)),
        lambda o, x, w: o.conv_transpose2d(x, w, stride, padding),
        (batch, out, size, size),
        flops=2 * batch * inputs * out * n * n * kernel**2,
    )


def pooling(d: Draw) -> Workload:
    x, word, size = _image(d), d.one("max_pool", "avg_pool"), d.one(2, 2, 3)
    out = ((n - size) // 2 + 1 for n in x[2:])
    return _row(
        f"{word} {size} {_x(*x)}", [x], lambda o, x: getattr(o, word)(x, size, 2), (*x[:2], *out)
    )


# -- networks --------------------------------------------------------------------------------------


def attention(d: Draw) -> Workload:
    heads, rows = d.sizes((1, 48), (16, 2048))
    width, causal = d.one(32, 64, 64, 80, 128), d.is_true()
    others = rows if causal else d.size(16, 2048)
    return _row(
        f"attention {'causal ' * causal}{_x(heads, rows, others, width)}",
        ((heads, rows, width), (heads, others, width), (heads, others, width)),
        lambda o, q, k, v: o.attention(q, k, v, is_causal=causal),
        (heads, rows, width),
        flops=4 * heads * rows * others * width // (2 if causal else 1),
    )


def mlp(d: Draw) -> Workload:
    batch, depth, act, frozen = d.size(1, 2000), d.one(2, 3, 4), d.one(*ACTIVATIONS), d.is_true()
    widths = [d.size(8, 2048) for _ in range(depth + 1)]
    pairs = list(zip(widths[1:], widths, strict=False))

    def text(o: Any, x: Any, *weights: Any) -> Any:
        *layers, (w, b) = zip(weights[::2], weights[1::2], strict=True)
        for weight, bias in layers:
            x = getattr(o, act)(o.linear(x, weight, bias))
        return o.linear(x, w, b)

    return _row(
        f"mlp {act} {batch} of {'-'.join(map(str, widths))}{', args' * (not frozen)}",
        ((batch, widths[0]), *(shape for n, m in pairs for shape in ((n, m), (n,)))),
        *(text, (batch, widths[-1])),
        flops=2 * batch * sum(n * m for n, m in pairs),
        prepared=fan_in,
        has_weights=frozen,
    )


def residual(d: Draw) -> Workload:
    """The second half of a block of a transformer."""
    rows, width, frozen = d.size(1, 1000), d.size(64, 1024), d.is_true()
    hidden = 4 * width

    def text(o: Any, x: Any, g: Any, s: Any, up: Any, a: Any, down: Any, b: Any) -> Any:
        return x + o.linear(o.gelu(o.linear(o.layer_norm(x, g, s), up, a)), down, b)

    return _row(
        f"residual {_x(rows, width)}{', args' * (not frozen)}",
        ((rows, width), (width,), (width,), (hidden, width), (hidden,), (width, hidden), (width,)),
        *(text, (rows, width)),
        flops=4 * rows * width * hidden,
        prepared=fan_in,
        has_weights=frozen,
    )


def mlp_training(d: Draw) -> Workload:
    batch, depth = d.size(8, 512), d.one(2, 3)
    widths = [*(d.size(16, 1024) for _ in range(depth)), d.size(2, 100)]
    return mlp_step(f"mlp step {batch} of {'-'.join(map(str, widths))}", batch, widths)


def convnet_training(d: Draw) -> Workload:
    batch, image = d.size(1, 64), (d.one(1, 3), *(4 * d.size(2, 12),) * 2)
    channels = d.size(4, 48), d.size(4, 64)
    name = f"convnet step {_x(batch, *image)} {'-'.join(map(str, channels))}"
    return convnet_step(name, (batch, *image), channels, 10)


def conv_gradients(d: Draw) -> Workload:
    batch, inputs, out, n, kernel = d.sizes((1, 8), (2, 128), (2, 128), (8, 80), (1, 5))
    kernel, stride = kernel | 1, d.one(1, 1, 2)
    name = f"conv step {kernel}x{kernel}/{stride} {inputs}->{out} {_x(batch, n, n)}"
    shapes = (batch, inputs, n, n), (out, inputs, kernel, kernel)
    return conv_training(name, *shapes, padding=kernel // 2, stride=stride)


def recurrent(d: Draw) -> Workload:
    cell, sizes = d.one(lstm, gru), Sizes(*d.sizes((4, 120), (1, 32), (8, 256), (16, 384)))
    return cell(f"{cell.__name__} {_x(*sizes)}", sizes)


FAMILIES: Sequence[Callable[[Draw], Workload]] = (
    *(gemm, tall, long_sums, small_batch, batched, linear, gemv, einsum, distances),
    *(softmax, layer_norm, rms_norm, batch_norm, group_norm, reduction, cumsum, cross_entropy),
    *(activation, chain, where, rotary, stencil, permute, embedding, concat),
    *(conv2d, depthwise, conv_transpose, pooling, attention, mlp, residual),
    *(mlp_training, convnet_training, conv_gradients, recurrent),
)


def expected_seconds(row: Workload) -> float:
    """The time of a call, as far as it decides what is drawn."""
    return max(row.flops / FLOPS_PER_SECOND, row.bytes / BYTES_PER_SECOND)


def random_program(seed: int, index: int) -> Workload:
    """A row of a seed's."""
    turn, place = divmod(index, len(FAMILIES))
    order = np.random.default_rng([seed, turn, 0]).permutation(len(FAMILIES))
    draw, family = Draw(seed, index), FAMILIES[order[place]]
    while True:
        row = family(draw)
        if SECONDS[0] <= expected_seconds(row) <= SECONDS[1] and row.bytes <= MOST_BYTES:
            return replace(row, name=f"random {seed}/{index} {row.name}")


def is_random(name: str) -> bool:
    return name.startswith("random ")


def named(name: str) -> Workload:
    """The row of a name."""
    seed, index = name.split()[1].split("/")
    return random_program(int(seed), int(index))
