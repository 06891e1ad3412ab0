"""Kernels that are split where conditions on an index change compute what one kernel does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tgdialect as tg

Array = np.ndarray[Any, Any]


def arrays(shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def along(axis: int, extents: Sequence[int], *others: int) -> list[tuple[int, ...]]:
    return [(*others[:axis], n, *others[axis:]) for n in extents]


CATS = [
    (0, along(0, [300, 700], 100)),
    (1, along(1, [300, 701], 100)),
    (1, along(1, [10, 1000, 30], 100)),
    (1, along(1, [30, 40], 8, 50)),
    (0, along(0, range(1000, 17000, 1000))),
    (1, along(1, range(30, 78, 3), 200)),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("axis", "shapes"), CATS)
def test_concatenations_have_a_kernel_for_each_part(axis: int, shapes: Sequence[tuple[int, ...]]):
    given = arrays(shapes)
    exe = tg.compile(lambda *x: x[0].cat(*x[1:], dim=axis), *map(tg.Tensor, given))
    np.testing.assert_array_equal(exe(*given), np.concatenate(given, axis))
    assert len(exe.kernels) == len(shapes)


@pytest.mark.parametrize("parts", [2, 16])
def test_small_concatenations_are_one_kernel(parts: int):
    given = arrays([(n,) for n in range(3, 3 + parts)])
    exe = tg.compile(lambda *x: x[0].cat(*x[1:]), *map(tg.Tensor, given))
    np.testing.assert_array_equal(exe(*given), np.concatenate(given))
    assert len(exe.kernels) == 1


PROGRAMS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (lambda x, y: x.cat(y).relu() * 2, lambda x, y: np.maximum(np.concatenate([x, y]), 0) * 2),
    (lambda x, y: x.cat(y).flip(0), lambda x, y: np.concatenate([x, y])[::-1]),
    (lambda x, y: x.cat(y).T, lambda x, y: np.concatenate([x, y]).T),
    (lambda x, y: x.cat(y).sum(1), lambda x, y: np.concatenate([x, y]).sum(1)),
    (lambda x, y: x.cat(y).sum(0), lambda x, y: np.concatenate([x, y]).sum(0)),
    (lambda x, y: x.cat(y)[290:310:3] + 1, lambda x, y: np.concatenate([x, y])[290:310:3] + 1),
    (lambda x, y: x.roll(7, 0), lambda x, y: np.roll(x, 7, 0)),
    (lambda x, y: x.pad(((1, 1), (2, 3))), lambda x, y: np.pad(x, ((1, 1), (2, 3)))),
    (
        lambda x, y: (tg.Tensor.arange(200) < 60).where(x, x.exp()),
        lambda x, y: np.where(np.arange(200) < 60, x, np.exp(x)),
    ),
    (
        lambda x, y: (tg.Tensor.arange(200).cast("i64") * 3 >= 100).where(x, -x),
        lambda x, y: np.where(np.arange(200) * 3 >= 100, x, -x),
    ),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("ours", "reference"), PROGRAMS)
def test_programs(ours: Callable[..., Any], reference: Callable[..., Any]):
    given = arrays([(300, 200), (500, 200)])
    found = tg.compile(ours, *map(tg.Tensor, given))(*given)
    np.testing.assert_allclose(found, reference(*given), rtol=1e-5, atol=1e-4)


def test_a_function_that_is_called_twice():
    x, y = arrays([(300, 100), (200, 100)])
    part = tg.function(lambda a, b: a.cat(b).relu())
    whole = tg.function(lambda a, b: part(a, b) + part(a * 2, b * 3))
    expected = np.maximum(np.concatenate([x, y]), 0) + np.maximum(np.concatenate([x * 2, y * 3]), 0)
    np.testing.assert_allclose(whole(tg.Tensor(x), tg.Tensor(y)).numpy(), expected, rtol=1e-6)


def test_steps_of_a_loop():
    x, y = arrays([(300, 100), (200, 100)])

    def step(state: tg.Tensor, _: None) -> tuple[tg.Tensor, None]:
        return state[200:].cat(state[:200] * 0.5), None

    def program(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
        return tg.scan(step, a.cat(b), None, length=4)[0]

    state = np.concatenate([x, y])
    for _ in range(4):
        state = np.concatenate([state[200:], state[:200] * np.float32(0.5)])
    found = tg.function(program)(tg.Tensor(x), tg.Tensor(y)).numpy()
    np.testing.assert_allclose(found, state, rtol=1e-6)
