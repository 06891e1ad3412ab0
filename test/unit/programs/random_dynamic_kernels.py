"""Random chains of products, windows, reductions and movements, which are the same program for
symbolic sizes and for numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

import tgdialect as tg

Array = np.ndarray[Any, Any]
Step = Callable[[tg.Tensor, Sequence[tg.Tensor]], tg.Tensor]

CHANNELS = (1, 3, 8, 16, 20)
"""Fewer than a vector has lanes, a vector, two, and one that is no multiple."""


class RandomChain:
    """A program on an image (batch, channels, height, width), or on rows (batch, length, channels):
    which of their extents are symbolic, its steps and its weights."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.arrays: list[Array] = []
        """The weights."""
        self.steps: list[Step] = []
        self.names: list[str] = []
        self.channels = random.choice(CHANNELS)
        self.is_image = random.random() < 0.6
        self.symbols: tuple[str, ...] = random.choice(
            (("h", "w"), ("b", "h", "w"), ("w",), ("h",), ("b",), ("h", "h"))
            if self.is_image
            else (("b", "n"), ("n",), ("b",), ("n",))
        )
        shape: list[Any] = [random.choice((1, 2)), self.channels, random.choice((1, 5, 16)), 9]
        if not self.is_image:
            shape = [shape[0], shape[2], self.channels]
        for name, axis in zip(self.symbols, self._axes(), strict=True):
            shape[axis] = name
        self.shape = tuple(shape)
        """The shape of the input, with names."""
        for _ in range(random.choice((1, 2, 3, 4))):
            self._add(random.choice(self._image_steps if self.is_image else self._row_steps))
        self._add(random.choice(self._last_steps))

    def _axes(self) -> Sequence[int]:
        if not self.is_image:
            return [0 if name == "b" else 1 for name in self.symbols]
        if self.symbols == ("h", "h"):
            return 2, 3
        return [["b", "c", "h", "w"].index(name) for name in self.symbols]

    def sized(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(sizes.get(extent, extent) for extent in self.shape)

    def input(self, sizes: dict[str, int]) -> Array:
        """An input with few different values, so that there are equal maxima, and with an infinity
        or a NaN now and then: what is masked must not come into sums."""
        rng = np.random.default_rng(sum(sizes.values()))
        found = np.round(rng.standard_normal(self.sized(sizes)) * 4).astype(np.float32) / 4
        if self.has_infinities and found.size > 3:
            found.flat[rng.integers(found.size)] = np.inf
            found.flat[rng.integers(found.size)] = np.nan
        return found

    @property
    def has_infinities(self) -> bool:
        return Random(str(self.names)).random() < 0.25

    def __call__(self, x: tg.Tensor, *weights: tg.Tensor) -> tg.Tensor:
        for step in self.steps:
            x = step(x, weights)
        return x

    def _add(self, make: Callable[[], tuple[str, Step]]) -> None:
        name, step = make()
        self.names.append(name)
        self.steps.append(step)

    def _weight(self, *shape: int) -> int:
        rng = np.random.default_rng(len(self.arrays))
        self.arrays.append((rng.standard_normal(shape) / 4).astype(np.float32))
        return len(self.arrays) - 1

    # -- steps

    @property
    def _image_steps(self) -> Sequence[Callable[[], tuple[str, Step]]]:
        return (
            *[self._convolution] * 4,
            self._transposed,
            *[self._pool] * 2,
            self._upsampled,
            *self._any_steps,
        )

    @property
    def _row_steps(self) -> Sequence[Callable[[], tuple[str, Step]]]:
        return *[self._product] * 3, self._attention, *self._any_steps

    @property
    def _any_steps(self) -> Sequence[Callable[[], tuple[str, Step]]]:
        return self._softmax, self._normalized, self._padded, self._elementwise, self._prefixes

    @property
    def _last_steps(self) -> Sequence[Callable[[], tuple[str, Step]]]:
        return self._reduction, self._elementwise, self._flat_product, self._softmax

    def _convolution(self) -> tuple[str, Step]:
        random, channels = self.random, self.channels
        groups = random.choice([g for g in (1, 1, 1, 2, channels) if channels % g == 0])
        out = channels if groups == channels else groups * random.choice((1, 4, 8))
        kernel = random.choice((1, 3, 3, 5))
        dilation = random.choice((1, 1, 2))
        stride = random.choice((1, 1, 2))
        padding = (kernel - 1) * dilation // 2 + random.choice((0, 0, 1))
        weight = self._weight(out, channels // groups, kernel, kernel)
        bias = self._weight(out) if random.random() < 0.5 else None
        is_relu = random.random() < 0.5
        self.channels = out

        def step(x: tg.Tensor, weights: Sequence[tg.Tensor]) -> tg.Tensor:
            b = None if bias is None else weights[bias]
            y = x.conv2d(weights[weight], b, groups, stride, dilation, padding)
            return y.relu() if is_relu else y

        return f"conv {out} {kernel} s{stride} d{dilation} p{padding} g{groups}", step

    def _transposed(self) -> tuple[str, Step]:
        kernel, stride = self.random.choice((2, 3)), self.random.choice((1, 2))
        out = self.random.choice((3, 8))
        weight = self._weight(self.channels, out, kernel, kernel)
        self.channels = out

        def step(x: tg.Tensor, weights: Sequence[tg.Tensor]) -> tg.Tensor:
            return x.conv_transpose2d(weights[weight], stride=stride)

        return f"transposed {out} {kernel} s{stride}", step

    def _pool(self) -> tuple[str, Step]:
        kernel, stride = self.random.choice((2, 3)), self.random.choice((1, 2))
        is_max = self.random.random() < 0.5

        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            if is_max:
                return x.max_pool2d((kernel, kernel), stride, padding=1)
            return x.avg_pool2d((kernel, kernel), stride, padding=1)

        return f"pool {'max' if is_max else 'mean'} {kernel} s{stride}", step

    def _upsampled(self) -> tuple[str, Step]:
        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            return x.repeat_interleave(2, 2).repeat_interleave(2, 3)

        return "upsampled", step

    def _product(self) -> tuple[str, Step]:
        out = self.random.choice((1, 8, 24))
        weight = self._weight(self.channels, out)
        self.channels = out
        return f"product {out}", lambda x, weights: (x @ weights[weight]).relu()

    def _attention(self) -> tuple[str, Step]:
        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            return (x @ x.transpose(-1, -2) * 0.25).softmax(-1) @ x

        return "attention", step

    def _softmax(self) -> tuple[str, Step]:
        axis = self.random.choice((1, -1, -2))
        return f"softmax {axis}", lambda x, _: x.softmax(axis)

    def _normalized(self) -> tuple[str, Step]:
        axis = self.random.choice((1, -1, -2))

        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            centred = x - x.mean(axis, keepdim=True)
            return centred * ((centred * centred).mean(axis, keepdim=True) + 1).rsqrt()

        return f"normalized {axis}", step

    def _padded(self) -> tuple[str, Step]:
        value = self.random.choice((0.0, 1.5))
        before, after = self.random.choice(((0, 1), (2, 0), (1, 3)))
        axis = self.random.choice((-1, -2)) if self.is_image else -2

        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            widths = [(0, 0)] * x.ndim
            widths[axis] = before, after
            return x.pad(tuple(widths), value=value)

        return f"padded {axis} {before} {after} {value}", step

    def _elementwise(self) -> tuple[str, Step]:
        which = self.random.choice(("flip", "sigmoid", "square", "where"))

        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            match which:
                case "flip":
                    return x + x.flip(-2)
                case "sigmoid":
                    return x.sigmoid() * x
                case "square":
                    return x * x * 0.5 + 1
                case _:
                    return (x > 0).where(x, x * 0.1)

        return which, step

    def _prefixes(self) -> tuple[str, Step]:
        axis = self.random.choice((1, -1, -2))
        return f"prefixes {axis}", lambda x, _: x.cumsum(axis) * 0.1

    def _flat_product(self) -> tuple[str, Step]:
        """All columns of all rows are rows of one product."""
        weight = self._weight(self.channels, 8)

        def step(x: tg.Tensor, weights: Sequence[tg.Tensor]) -> tg.Tensor:
            rows = x.permute(0, 2, 3, 1) if self.is_image else x
            return rows.reshape(-1, weights[weight].shape[0]) @ weights[weight]

        return "flat product", step

    def _reduction(self) -> tuple[str, Step]:
        which = self.random.choice(("sum", "mean", "max", "argmax"))
        axis = self.random.choice((0, 1, -1, -2))

        def step(x: tg.Tensor, _: Sequence[tg.Tensor]) -> tg.Tensor:
            return getattr(x, which)(axis)

        return f"{which} {axis}", step
