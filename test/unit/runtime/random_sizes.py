"""Random programs whose extents are computed from the sizes of their inputs, and what they compute
by NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Array = np.ndarray
Sizes = tuple[int, int]


class Extent(NamedTuple):
    """An index value of a program: its name, or a number, and its value for sizes n and m."""

    name: str
    value: Callable[[Sizes], int]


class Program(NamedTuple):
    text: str
    compute: Callable[[Array, Array], list[Array]]
    """The results for `%x`, of shape (n, m), and `%y`, of shape (m,)."""


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.n = Extent("%n", lambda sizes: sizes[0])
        self.m = Extent("%m", lambda sizes: sizes[1])

    def put(self, text: str) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def op(self, name: str, a: Extent, b: Extent, value: Callable[[int, int], int]) -> Extent:
        found = self.put(f"tg.{name} {a.name}, {b.name} : tensor<index>")
        return Extent(found, lambda sizes: value(a.value(sizes), b.value(sizes)))

    def number(self, number: int) -> Extent:
        return Extent(self.put(f"tg.const {number} : tensor<index>"), lambda _: number)

    def any_size(self, depth: int) -> Extent:
        """A size of up to so many operations; none is negative."""
        choose = self.random.random
        if depth == 0 or choose() < 0.2:
            return self.random.choice([self.n, self.m])
        a, number = self.any_size(depth - 1), self.number(self.random.randint(1, 4))
        match self.random.randrange(5):
            case 0:
                return self.op("idiv", a, number, lambda x, y: x // y)
            case 1:
                return self.op("mod", a, number, lambda x, y: x % y)
            case 2:
                return self.op("max", a, self.any_size(depth - 1), max)
            case 3:
                return self.op("add", a, number, lambda x, y: x + y)
            case _:
                return self.op("add", a, self.any_size(depth - 1), lambda x, y: x + y)


def program(seed: int) -> Program:
    """A program of two inputs and one to three results, each of one axis or two."""
    writer = _Writer(seed)
    rng = writer.random
    results: list[str] = []
    types: list[str] = []
    steps: list[Callable[[Array, Array], Array]] = []
    for _ in range(rng.randint(1, 3)):
        is_x = rng.random() < 0.5
        value, extents = ("%x", [writer.n, writer.m]) if is_x else ("%y", [writer.m])
        compute = _first if is_x else _second
        for _ in range(rng.randint(1, 3)):
            axis = rng.randrange(len(extents))
            value, extents, compute = _step(writer, value, extents, axis, compute)
        results.append(value)
        types.append(_type(extents))
        steps.append(compute)
    lines = "\n".join(writer.lines)
    listed = ", ".join(types)
    text = f"""func.func @main(%n: tensor<index> {{tg.min = 0 : index, tg.max = 9 : index}},
    %x: tensor<?x?xf32> {{tg.dims = array<i64: 0, 3>}},
    %y: tensor<?xf32> {{tg.dims = array<i64: 3>}},
    %m: tensor<index> {{tg.min = 0 : index, tg.max = 9 : index}}) -> ({listed}) {{
{lines}
  return {", ".join(results)} : {listed}
}}"""
    return Program(text, lambda x, y: [step(x, y) for step in steps])


def _first(x: Array, y: Array) -> Array:
    return x


def _second(x: Array, y: Array) -> Array:
    return y


def _type(extents: Sequence[Extent]) -> str:
    return f"tensor<{'?x' * len(extents)}f32>"


def _step(
    writer: _Writer,
    value: str,
    extents: Sequence[Extent],
    axis: int,
    compute: Callable[[Array, Array], Array],
) -> tuple[str, list[Extent], Callable[[Array, Array], Array]]:
    """A PAD to an axis of a greater size, or a SHRINK to one that is not greater."""
    old = extents[axis]
    size = writer.any_size(2)
    is_pad = writer.random.random() < 0.5
    if is_pad:
        new = writer.op("max", old, size, max)
    else:
        divisor = writer.number(writer.random.randint(1, 3))
        new = writer.op("idiv", old, divisor, lambda x, y: x // y)
    shape = [*extents]
    shape[axis] = new
    names = ", ".join(extent.name for extent in shape)
    zeros = ", ".join("0" for _ in shape)
    op, fill = ("pad", " fill 0.5 : f32") if is_pad else ("shrink", "")
    type = _type(shape)
    found = writer.put(f"tg.{op} {value} at [{zeros}] to [{names}]{fill} : {type} -> {type}")
    found = writer.put(f"tg.neg {found} : {type}")

    def computed(x: Array, y: Array) -> Array:
        given, extent = compute(x, y), new.value((x.shape[0], x.shape[1]))
        if not is_pad:
            return -np.take(given, range(extent), axis)
        padding = [(0, 0)] * given.ndim
        padding[axis] = 0, extent - given.shape[axis]
        return -np.pad(given, padding, constant_values=0.5)

    return found, shape, computed
