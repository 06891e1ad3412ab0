"""Gradients of programs on several devices: those of one device, split as the parameters are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import tgdialect as tg
from tgdialect import nn

Axes = Mapping[str, int | None]
SHAPES = {"x": (6, 12), "w": (12, 12), "b": (12,), "v": (12, 6)}


def products(x: tg.Tensor, w: tg.Tensor, b: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    return (((x @ w + b).relu() @ v) ** 2).mean()


def moved(x: tg.Tensor, w: tg.Tensor, b: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    """With values that are split anew, copied to each device, and brought to one."""
    devices = x.device
    assert isinstance(devices, tuple)
    hidden = (x @ w + b).shard(devices, 0).exp()
    rows = hidden.shard(devices, 1).sum(1)
    there = (hidden.shard(devices) @ v.shard(devices)).to(devices[0])
    return there.square().sum() + rows.to(devices[0]).sum()


def normalised(x: tg.Tensor, w: tg.Tensor, b: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    hidden = (x @ w + b).layernorm()
    return (hidden @ v).log_softmax(-1).square().mean() + hidden.softmax(0).max(0).sum()


def views(x: tg.Tensor, w: tg.Tensor, b: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    """Movements that do not cut the axis of rows."""
    rows = (x @ w + b).reshape(6, 2, 6).permute(0, 2, 1)
    wide = rows.pad(((0, 0), (1, 2), (0, 0))).shrink(((0, 6), (0, 5), (0, 2))).flip(1)
    return (wide.reshape(6, 10, 1).expand(6, 10, 3) ** 3).sum() + (v * v).sum()


@tg.function
def _layer(x: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
    return (x @ w).tanh()


def called(x: tg.Tensor, w: tg.Tensor, b: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    """With a function that is called, whose gradient is a FUNCTION with arguments of its own."""
    return ((_layer(x, w) + b) @ v).square().mean()


ROWS: Axes = {"x": 0, "w": None, "b": None, "v": None}
HIDDEN: Axes = {"x": None, "w": 1, "b": 0, "v": 0}
STEPS: Axes = {"x": 1, "w": 0, "b": None, "v": None}
CASES = [
    (products, ROWS),
    (products, HIDDEN),
    (products, STEPS),
    (moved, ROWS),
    (moved, HIDDEN),
    (normalised, ROWS),
    (normalised, STEPS),
    (views, ROWS),
    (views, STEPS),
    (called, ROWS),
    (called, STEPS),
]
COUNTED = [(*case, 2) for case in CASES] + [(products, HIDDEN, 3), (moved, ROWS, 3)]


@pytest.mark.sampled(15)
@pytest.mark.parametrize(
    ("loss", "axes", "count"), COUNTED, ids=lambda c: getattr(c, "__name__", None)
)
def test_gradients(loss: Callable[..., tg.Tensor], axes: Axes, count: int):
    devices = tuple(f"CPU:{i}" for i in range(count))
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}

    def gradients(axes: Axes, devices: tuple[str, ...]) -> list[tg.Tensor]:
        tensors = {n: tg.Tensor(a).shard(devices, axes[n]) for n, a in arrays.items()}
        parameters = [t.detach().requires_grad_() for t in tensors.values()]
        loss(*parameters).backward()
        found = [p.grad for p in parameters]
        for parameter, gradient in zip(parameters, found, strict=True):
            assert gradient is not None
            assert (gradient.device, gradient.axis) == (parameter.device, parameter.axis)
        return found  # pyright: ignore[reportReturnType]

    wanted = gradients(dict.fromkeys(SHAPES), ("CPU:0",))
    for name, a, b in zip(SHAPES, gradients(axes, devices), wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10, atol=1e-10, err_msg=name)


def test_gradient_of_an_embedding():
    """Of a table that each device has, at tokens that are split."""
    devices = ("CPU:0", "CPU:1", "CPU:2")
    table = nn.Embedding(11, 8)
    rng = np.random.default_rng(0)
    tokens, factors = rng.integers(0, 11, (6, 5)), rng.normal(size=(6, 5, 8)).astype(np.float32)
    rows = table.weight.numpy()
    table.weight.shard_(devices)
    table.weight.requires_grad_()
    found = table(tg.Tensor(tokens).shard(devices, 0))
    assert (found.axis, found.device) == (0, table.weight.device)
    np.testing.assert_array_equal(found.numpy(), rows[tokens])
    (found * tg.Tensor(factors).shard(devices, 0)).sum().backward()
    wanted = np.zeros_like(rows)
    np.add.at(wanted, tokens, factors)
    assert table.weight.grad is not None
    assert table.weight.grad.axis is None
    np.testing.assert_allclose(table.weight.grad.numpy(), wanted, rtol=1e-5, atol=1e-6)


MOVEMENTS: Mapping[str, Callable[[tg.Tensor], tg.Tensor]] = {
    "pad": lambda x: x.pad(((2, 2), (0, 0))),
    "flip": lambda x: x.flip(0),
    "shrink": lambda x: x[2:4],
    "indices": lambda x: x[[0, 1, 3, 2]],
    "cumsum": lambda x: x.cumsum(0),
    "cat": lambda x: x.cat(x, dim=0),
    "stack": lambda x: x.stack(x * x, dim=0),
    "roll": lambda x: x.roll(1, 0),
    "repeat": lambda x: x.reshape(1, 12).expand(3, 12).reshape(12, 3),
    "merge": lambda x: x.permute(1, 0).reshape(12),
    "windows": lambda x: x.unfold(0, 3, 1).reshape(6, 3),
    "convolution": lambda x: x.reshape(1, 1, 12).conv2d(x.ones(1, 1, 3), padding=1).reshape(12),
    "gather": lambda x: x.gather(0, tg.Tensor([[0, 3, 1], [1, 1, 2]])),
    "max": lambda x: x.max(0),
    "sort": lambda x: x.sort(0)[0],
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("start", ["anywhere", "on one", "on each"])
@pytest.mark.parametrize("name", MOVEMENTS)
def test_movements_of_what_meets_a_split_value(name: str, start: str):
    """A split value takes a part of a whole one on each device: the gradient is that of all parts,
    also where a movement cuts the axis."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4, 3))

    def gradient(*, is_split: bool) -> np.ndarray:
        count = 3 if name == "max" else 2
        devices = tuple(f"CPU:{i}" for i in range(count))
        x = tg.Tensor(rows).requires_grad_()
        place = {"anywhere": None, "on one": "CPU:1", "on each": devices}[start]
        y = MOVEMENTS[name](x.to(place) if place and is_split else x)
        factors = tg.Tensor(np.arange(1.0, y.numel() + 1).reshape(y.shape))
        if is_split:
            y = y.to(devices) if start == "on one" else y
            factors = factors.shard(devices, 0)
        (y * factors).sum().backward()
        assert x.grad is not None
        return x.grad.numpy()

    np.testing.assert_allclose(gradient(is_split=True), gradient(is_split=False), rtol=1e-12)


def test_what_has_no_gradient_is_an_error_of_the_method():
    """Its type is not one of the compiler's own."""
    x = tg.Tensor([1.0, 2.0]).requires_grad_()
    y = x.bitcast("int32").bitcast("float32").sum()
    with pytest.raises(ValueError, match=r"a BITCAST from .* has no gradient"):
        y.backward()
