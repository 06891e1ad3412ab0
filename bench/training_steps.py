"""Rows of training: a loss, its gradients, and the weights after a step of gradient descent.

NumPy has no gradients: those of each network are written out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.convolutions import conv, conv_gradients
from bench.recurrent import Sizes, fan_in, lstm_states, torch_lstm
from bench.words import NUMPY, InTorch, told
from bench.workload import Array, Program, Workload

RATE = 4.0
"""The rate of learning: so high that a wrong gradient is seen in the weights after a step."""


def trained(name: str, given: int, loss: Program, *args: Any, **more: Any) -> Workload:
    """A row of a step: `loss` is of words, `given` inputs, and then weights. NumPy's
    `gradients` are of the same inputs: a tuple of the loss and of a gradient for each weight."""
    gradients, torch_loss = more.pop("gradients"), more.pop("torch_loss", loss)
    shapes, flops = args

    def step(o: Any, *x: Any) -> tuple[Any, ...]:
        chosen, weights = torch_loss if isinstance(o, InTorch) else loss, x[given:]
        value, changes = o.value_and_gradients(lambda *w: chosen(o, *x[:given], *w), weights)
        return value, *(w - RATE * g for w, g in zip(weights, changes, strict=True))

    def in_numpy(_: Any, *x: Array) -> tuple[Any, ...]:
        value, *changes = gradients(*x)
        return value, *(w - RATE * g for w, g in zip(x[given:], changes, strict=True))

    more = {"in_numpy": in_numpy, "has_many": True} | more
    return told(name, shapes, step, flops, shapes[given:], **more)


# -- perceptrons -----------------------------------------------------------------------------------


def _mlp_loss(o: Any, x: Any, classes: Any, *weights: Any) -> Any:
    *pairs, (w, b) = zip(weights[::2], weights[1::2], strict=True)
    for weight, bias in pairs:
        x = o.relu(o.linear(x, weight, bias))
    return o.cross_entropy(o.linear(x, w, b), classes)


def _entropy_gradient(logits: Array, classes: Array) -> tuple[Array, Array]:
    """The cross-entropy of logits, and its gradient."""
    hot = np.eye(logits.shape[1], dtype=logits.dtype)[classes]
    return NUMPY.cross_entropy(logits, classes), (NUMPY.softmax(logits) - hot) / len(classes)


def _mlp_gradients(x: Array, classes: Array, *weights: Array) -> tuple[Array, ...]:
    layers = [x]
    for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        layers.append(np.maximum(layers[-1] @ w.T + b, 0))
    value, g = _entropy_gradient(layers[-1] @ weights[-2].T + weights[-1], classes)
    changes: list[Array] = []
    for y, w in zip(reversed(layers), weights[-2::-2], strict=True):
        changes = [g.T @ y, g.sum(0), *changes]
        g = (g @ w) * (y > 0)
    return value, *changes


def _classified(arrays: list[Array], count: int) -> list[Array]:
    """Weights of the size that they have in a network, and classes as the second input."""
    x, classes, *weights = arrays
    numbers = (np.abs(classes) * 997).astype(np.int64) % count
    return [x, numbers, *(fan_in([x, w])[1] if w.ndim > 1 else w / 10 for w in weights)]


def mlp_step(name: str, batch: int, widths: Sequence[int]) -> Workload:
    """Of perceptrons, of inputs, layers between, and classes."""
    pairs = list(zip(widths[1:], widths, strict=False))
    shapes = [(batch, widths[0]), (batch,), *(each for n, m in pairs for each in ((n, m), (n,)))]
    flops = 6 * batch * sum(n * m for n, m in pairs)
    return trained(
        *(name, 2, _mlp_loss, shapes, flops),
        gradients=_mlp_gradients,
        prepared=lambda arrays: _classified(arrays, widths[-1]),
    )


# -- convolutions ----------------------------------------------------------------------------------


def _convnet_loss(o: Any, x: Any, classes: Any, *weights: Any) -> Any:
    *kernels, w, b = weights
    for kernel, bias in zip(kernels[::2], kernels[1::2], strict=True):
        x = o.max_pool(o.relu(o.conv2d(x, kernel, 1, 1) + bias.reshape((-1, 1, 1))), 2, 2)
    return o.cross_entropy(o.linear(x.reshape((x.shape[0], -1)), w, b), classes)


def _torch_convnet_loss(o: InTorch, x: Any, classes: Any, *weights: Any) -> Any:
    *kernels, w, b = weights
    for kernel, bias in zip(kernels[::2], kernels[1::2], strict=True):
        x = o.max_pool(o.relu(o.f.conv2d(x, kernel, bias, padding=1)), 2, 2)
    return o.cross_entropy(o.linear(x.flatten(1), w, b), classes)


def _halved(x: Array) -> Array:
    """The four cells of windows of 2x2, in axes 3 and 5."""
    return x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2)


def _convnet_gradients(x: Array, classes: Array, *weights: Array) -> tuple[Array, ...]:
    *kernels, w, b = weights
    layers: list[tuple[Array, Array]] = []
    for kernel, bias in zip(kernels[::2], kernels[1::2], strict=True):
        above = np.maximum(conv(x, kernel, 1) + bias.reshape(-1, 1, 1), 0)
        layers.append((x, above))
        x = _halved(above).max((3, 5))
    flat = x.reshape(len(x), -1)
    value, g = _entropy_gradient(flat @ w.T + b, classes)
    changes = [g.T @ flat, g.sum(0)]
    g = (g @ w).reshape(x.shape)
    for (below, above), kernel in zip(reversed(layers), kernels[-2::-2], strict=True):
        cells = _halved(above)
        most = cells.max((3, 5), keepdims=True)
        chosen = (cells == most) & (most > 0)  # No two are equal, but zeros of relu.
        spread = (chosen * g[:, :, :, None, :, None]).reshape(above.shape)
        g, dw = conv_gradients(below, kernel, spread, 1, 1)
        changes = [dw, spread.sum((0, 2, 3)), *changes]
    return value, *changes


def convnet_step(
    name: str, image: tuple[int, int, int, int], channels: Sequence[int], classes: int
) -> Workload:
    """Convolutions of 3x3, each followed by a maximum of 2x2, and a layer on top."""
    batch, first, height, width = image
    shapes: list[tuple[int, ...]] = [image, (batch,)]
    flops = 0
    for out in channels:
        shapes += (out, first, 3, 3), (out,)
        flops += 6 * batch * height * width * 9 * first * out
        first, height, width = out, height // 2, width // 2
    features = first * height * width
    shapes += (classes, features), (classes,)

    def prepared(arrays: list[Array]) -> list[Array]:
        x, numbers, *weights = _classified(arrays, classes)
        return [x, numbers, *(w / 3 if w.ndim == 4 else w for w in weights)]

    return trained(
        *(name, 2, _convnet_loss, shapes, flops + 6 * batch * features * classes),
        gradients=_convnet_gradients,
        torch_loss=_torch_convnet_loss,
        prepared=prepared,
    )


# -- recurrent layers ------------------------------------------------------------------------------


def _lstm_loss(o: Any, x: Any, target: Any, *weights: Any, states: Program = lstm_states) -> Any:
    *layer, top = weights
    difference = states(o, x, *layer)[-1] @ top - target
    return o.mean(difference * difference, (0, 1))


def _torch_lstm_loss(o: InTorch, *x: Any) -> Any:
    return _lstm_loss(o, *x, states=torch_lstm)


def _lstm_gradients(
    x: Array, target: Array, weight: Array, recurrent: Array, top: Array
) -> tuple[Array, ...]:
    """Backpropagation through time."""
    zeros = np.zeros((x.shape[1], recurrent.shape[1]), x.dtype)
    last, cell = zeros, zeros
    steps: list[tuple[Array, ...]] = []
    for given in x:
        i, f, g, out = np.split(given @ weight.T + last @ recurrent.T, 4, 1)
        i, f, g, out = (*map(NUMPY.sigmoid, (i, f)), np.tanh(g), NUMPY.sigmoid(out))
        new = f * cell + i * g
        steps.append((given, last, cell, i, f, g, out, np.tanh(new)))
        last, cell = out * np.tanh(new), new
    difference = last @ top - target
    dy = 2 * difference / difference.size
    dtop, dlast, dcell = last.T @ dy, dy @ top.T, zeros
    dweight, drecurrent = np.zeros_like(weight), np.zeros_like(recurrent)
    for given, before, cell, i, f, g, out, squashed in reversed(steps):
        dcell = dcell + dlast * out * (1 - squashed**2)
        gates = (
            *(dcell * g * i * (1 - i), dcell * cell * f * (1 - f)),
            *(dcell * i * (1 - g**2), dlast * squashed * out * (1 - out)),
        )
        change = np.concatenate(gates, 1)
        dweight += change.T @ given
        drecurrent += change.T @ before
        dlast, dcell = change @ recurrent, dcell * f
    return (difference**2).mean(), dweight, drecurrent, dtop


def lstm_step(name: str, sizes: Sizes, outputs: int) -> Workload:
    """Of an LSTM and a layer on top of its last state, by the mean of squares."""
    x, *layer = sizes.shapes(4)
    shapes = [x, (sizes.batch, outputs), *layer, (sizes.hidden, outputs)]
    return trained(
        *(name, 2, _lstm_loss, shapes, 3 * sizes.flops(4)),
        gradients=_lstm_gradients,
        torch_loss=_torch_lstm_loss,
        prepared=lambda arrays: [
            *arrays[:2],
            *fan_in([arrays[0], *arrays[2:4]])[1:],
            (arrays[4] / math.sqrt(sizes.hidden)).astype(np.float32),
        ],
    )


TRAINING_STEPS: Sequence[Workload] = (
    convnet_step("convnet step 32x1x28x28", (32, 1, 28, 28), (16, 32), 10),
    lstm_step("lstm step of 30 16x128", Sizes(30, 16, 64, 128), 16),
)
