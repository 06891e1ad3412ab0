"""Reductions against PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg

pytestmark = pytest.mark.parity

AXES: list[Any] = [None, 0, 1, -1, (0, 2), (1,)]


def with_axis(name: str, axis: Any, keepdim: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def ours(t: Any) -> Any:
        return getattr(t, name)(axis, keepdim=keepdim)

    def theirs(t: Any) -> Any:
        theirs_name = {"max": "amax", "min": "amin"}.get(name, name)
        every = tuple(range(t.ndim))
        return getattr(t, theirs_name)(every if axis is None else axis, keepdim=keepdim)

    return ours, theirs


@pytest.mark.sampled(8)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "var", "std", "logsumexp"])
def test_reduction(name: str, axis: Any, keepdim: bool):
    check(*with_axis(name, axis, keepdim), values(2, 3, 4), rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_prod(axis: int):
    x = values(3, 4, 5)
    check(lambda t: t.prod(axis), lambda t: t.prod(axis), x, rtol=1e-5)
    x[0, 1, 2] = x[2, 1, 2] = x[1, 0, 0] = 0
    check(lambda t: t.prod(axis), lambda t: t.prod(axis), x, rtol=1e-5)


def test_ties_share_the_gradient():
    x = np.array([[1, 3, 3, 3], [2, 2, 0, 1]], np.float32)
    check(lambda t: t.max(1), lambda t: t.amax(1), x)
    check(lambda t: t.min(1), lambda t: t.amin(1), x)


def test_nan_and_infinities():
    x = np.array([[np.nan, 1, 2], [np.inf, 0, -np.inf], [-np.inf, -np.inf, -np.inf]], np.float32)
    for name in ("sum", "mean", "max", "min", "logsumexp"):
        check(*with_axis(name, 1, False), x, gradient=False)
    for name in ("argmax", "argmin"):
        check(
            lambda t, n=name: getattr(t, n)(1),
            lambda t, n=name: getattr(t, n)(1),
            x,
            gradient=False,
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8", "int64", "bool"])
def test_integers(dtype: str):
    x = np.array([[3, 0, 2], [1, 5, 4]]).astype(dtype)
    for name in ("max", "min") if dtype != "bool" else ():
        check(*with_axis(name, 1, False), x, gradient=False)
    for name in ("sum", "prod"):
        ours = getattr(tg.Tensor(x), name)(1).numpy()
        np.testing.assert_array_equal(ours, getattr(np, name)(x, 1))
    np.testing.assert_array_equal(tg.Tensor(x).any(1).numpy(), x.any(1))
    np.testing.assert_array_equal(tg.Tensor(x).all(1).numpy(), x.all(1))
    np.testing.assert_allclose(tg.Tensor(x).mean(1).numpy(), x.mean(1), rtol=1e-6)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str, axis: int | None, keepdim: bool):
    for x in (values(3, 4), np.array([[1, 1, 0], [2, 5, 5]], np.float32)):
        check(
            lambda t: getattr(t, name)(axis, keepdim),
            lambda t: getattr(t, name)(axis, keepdim),
            x,
            gradient=False,
        )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_softmax(name: str, axis: int):
    reference = getattr(torch.nn.functional, name)
    check(lambda t: getattr(t, name)(axis), lambda t: reference(t, axis), values(3, 5), rtol=1e-5)
    wide = values(2, 5, low=-100, high=100)
    check(lambda t: getattr(t, name)(axis), lambda t: reference(t, axis), wide, rtol=2e-5)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
def test_running(name: str, axis: int):
    check(
        lambda t: getattr(t, name)(axis),
        lambda t: tuple(r) if isinstance(r := getattr(t, name)(axis), tuple) else r,
        values(3, 4, 5),
        rtol=1e-5,
        gradient=name not in ("cummax", "cummin"),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("shape", "axis"), [((1 << 17,), 0), ((3, 1 << 16), 1), ((1 << 17, 2), 0), ((8191,), 0)]
)
def test_running_of_long_rows(shape: tuple[int, ...], axis: int):
    """They are done in blocks where they are made of some: prime lengths are not."""
    x = values(*shape).astype(np.float64)
    check(lambda t: t.cumsum(axis), lambda t: t.cumsum(axis), x, rtol=1e-12, atol=1e-9)
    check(lambda t: (t * 1e-5 + 1).cumprod(axis), lambda t: (t * 1e-5 + 1).cumprod(axis), x)
    check(lambda t: t.cummax(axis), lambda t: tuple(t.cummax(axis)), x, gradient=False)
    whole = values(*shape, low=-50, high=50).astype(np.int32)
    check(lambda t: t.cumsum(axis), lambda t: t.cumsum(axis), whole)


def test_running_of_few():
    for shape in ((1,), (0,), (2, 1)):
        check(lambda t: t.cumsum(0), lambda t: t.cumsum(0), values(*shape))


def test_statistics():
    x = values(4, 5)
    check(lambda t: t.var(1, correction=0), lambda t: t.var(1, correction=0), x, rtol=1e-5)
    check(lambda t: t.std(1, correction=1.3), lambda t: t.std(1, correction=1.3), x, rtol=1e-5)
    check(lambda t: t.var_mean(0), lambda t: torch.var_mean(t, 0), x, rtol=1e-5)
    check(lambda t: t.std_mean(0), lambda t: torch.std_mean(t, 0), x, rtol=1e-5)
    check(lambda t: t.normalize(), torch.nn.functional.normalize, x, rtol=1e-5)
    check(
        lambda t: t.normalize(3.0, 0),
        lambda t: torch.nn.functional.normalize(t, 3.0, 0),
        x,
        rtol=1e-5,
    )


def test_of_nothing():
    check(lambda t: t.sum(), lambda t: t.sum(), values(0, 3))
    check(lambda t: t.sum(0), lambda t: t.sum(0), values(0, 3))
    check(lambda t: t.prod(0), lambda t: t.prod(0), values(0, 3))
    check(lambda t: t.mean(0), lambda t: t.mean(0), values(0, 3), gradient=False)
    for dtype in ("float32", "float16", "int8", "uint8", "bool"):
        x, kind = np.zeros((0, 3), dtype), np.iinfo if np.dtype(dtype).kind in "iu" else None
        least = kind(dtype).min if kind else -np.inf if x.dtype.kind == "f" else False
        greatest = kind(dtype).max if kind else np.inf if x.dtype.kind == "f" else True
        assert tg.Tensor(x).max(0).tolist() == x.max(0, initial=least).tolist() == [least] * 3
        assert tg.Tensor(x).min(0).tolist() == x.min(0, initial=greatest).tolist()
    for compute in (lambda t: t.argmax(0), lambda t: t.norm(math.inf)):
        with pytest.raises(ValueError, match="over no elements"):
            compute(tg.Tensor(values(0, 3)))


def test_of_a_scalar():
    for name in ("sum", "mean", "max", "min", "argmax"):
        check(lambda t, n=name: getattr(t, n)(), lambda t, n=name: getattr(t, n)(), values())


def test_close():
    x = tg.Tensor([1.0, 2.0, np.nan])
    assert not x.allclose(x).item()
    assert x.allclose(x, equal_nan=True).item()
    assert x.isclose(x + 1e-9).tolist() == [True, True, False]
