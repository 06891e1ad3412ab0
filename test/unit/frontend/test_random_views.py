"""Random writes through views of tensors, in traced functions and outside, against NumPy's views.

A failure names the seed; CONTRIBUTING.md says how to try many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg

SHAPES = ((6, 2), (12,), (3, 4), (2, 3, 4), (5, 7), (4, 4))
Step = Callable[[Any], Any]


def key(random: Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Slices, some with steps, and numbers."""
    chosen: list[Any] = []
    for extent in shape:
        kind = random.randrange(6)
        first = random.randrange(extent)
        last = random.randint(first + 1, extent)
        if kind == 0 and len(shape) > 1:
            chosen.append(first)
        elif kind == 1:
            chosen.append(slice(first, last, random.randint(1, 3)))
        elif kind == 2:
            chosen.append(slice(None, None, -random.randint(1, 2)))
        elif kind == 3:
            chosen.append(slice(first, last))
        else:
            chosen.append(slice(None))
    return tuple(chosen)


def shapes_of(cells: int) -> list[tuple[int, ...]]:
    pairs = [(n, cells // n) for n in range(1, cells + 1) if cells % n == 0]
    return [(cells,), *pairs]


def view(random: Random, shape: tuple[int, ...]) -> tuple[Step, tuple[int, ...]]:
    """A view of an array that NumPy does not copy: reshaped, then cut and permuted."""
    steps: list[Step] = []
    if random.randrange(2):
        new = random.choice(shapes_of(math.prod(shape)))
        steps.append(lambda x: x.reshape(new))
        shape = new
    for _ in range(random.randrange(3)):
        if random.randrange(3) == 0 and len(shape) > 1:
            order = list(range(len(shape)))
            random.shuffle(order)
            steps.append(lambda x, order=tuple(order): _permuted(x, order))
            shape = tuple(shape[axis] for axis in order)
        elif shape:
            at = key(random, shape)
            if cut := np.zeros(shape)[at].shape:
                steps.append(lambda x, at=at: x[at])
                shape = cut

    def show(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return show, shape


def _permuted(x: Any, order: tuple[int, ...]) -> Any:
    return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(*order)


def leaf(random: Random, shapes: list[tuple[int, ...]], shape: tuple[int, ...]) -> Step:
    """A value that goes with a shape: a view of one of the arrays, a row, a sum or a number."""
    for _ in range(12):
        number = random.randrange(len(shapes))
        show, found = view(random, shapes[number])
        if found == shape:
            return lambda arrays: show(arrays[number])
        if math.prod(found) == math.prod(shape):
            return lambda arrays: show(arrays[number]).reshape(shape)
    number = random.randrange(len(shapes))
    return random.choice((lambda _: 3, lambda arrays: arrays[number].sum()))


def statement(random: Random, shapes: list[tuple[int, ...]]) -> Step:
    number = random.randrange(len(shapes))
    show, shape = view(random, shapes[number])
    at = key(random, shape) if shape and random.randrange(2) else (...,)
    written = np.zeros(shape)[at].shape
    a, b = leaf(random, shapes, written), leaf(random, shapes, written)
    kind = random.randrange(5)

    def run(arrays: Any) -> None:
        target = show(arrays[number])
        if kind == 0:
            target[at] = a(arrays) * 2 + 0
        elif kind == 1:
            target[at] += a(arrays)
        elif kind == 2:
            target[at] = target[at] * 3 - a(arrays)
        elif kind == 3:
            target[at] = a(arrays) + b(arrays)
        else:
            target[at] = -2

    return run


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_IN_PLACE", 20), ids=str)
def test_views(seeds: range):
    for seed in seeds:
        random = Random(seed)
        shapes = [random.choice(SHAPES) for _ in range(random.randint(1, 3))]
        statements = [statement(random, shapes) for _ in range(random.randint(1, 4))]
        rng = np.random.default_rng(seed)
        arrays = [rng.integers(-9, 9, shape).astype(np.int32) for shape in shapes]
        tensors = [tg.Tensor(array.copy()) for array in arrays]

        @tg.function
        def step(statements: Any = statements, tensors: Any = tensors) -> None:
            for each in statements:
                each(tensors)

        for call in range(3):
            for each in statements:
                each(arrays)
            if call == 2:
                for each in statements:
                    each(tensors)
            else:
                step()
            for tensor, array in zip(tensors, arrays, strict=True):
                np.testing.assert_array_equal(tensor.numpy(), array, f"seed {seed}, call {call}")


def test_every_other_element_of_a_reshaped_tensor():
    x = tg.Tensor(np.zeros((6, 2), np.float32))

    @tg.function
    def step() -> None:
        flat = x.reshape(-1)
        flat[::2] = -2

    step()
    np.testing.assert_array_equal(x.numpy(), np.tile(np.array([-2, 0], np.float32), (6, 1)))
