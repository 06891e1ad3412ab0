"""Comparing methods of Tensor with PyTorch's: values, dtypes and gradients."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tgdialect as tg


class _Absent:
    """Stands for PyTorch, and for all that is in it, where it is not installed: a test that calls
    something of it is skipped."""

    class Tensor:
        """The class of no object."""

    def __getattr__(self, name: str) -> _Absent:
        return self

    def __call__(self, *args: object, **kwargs: object) -> Any:
        pytest.skip("compares with PyTorch, which is not installed", allow_module_level=True)


try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = _Absent()


EDGES = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        -2.5,
        3.0,
        1e-06,
        -1e-06,
        20.0,
        -20.0,
        100.0,
        -100.0,
        np.inf,
        -np.inf,
        np.nan,
        1e-30,
        3.4e38,
    ],
    np.float32,
)
"""Where functions of floats go wrong."""


def values(*shape: int, seed: int = 0, low: float = -2, high: float = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.uniform(low, high, shape).astype(np.float32)


def check(
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    *arrays: np.ndarray,
    gradient: bool = True,
    rtol: float = 2e-6,
    atol: float = 2e-6,
    same_dtype: bool = True,
) -> None:
    """Both functions give the same on the same arrays, and so do the gradients of a weighted sum
    of their float results with respect to the float arrays."""
    mine = [tg.Tensor(a, requires_grad=gradient and a.dtype.kind == "f") for a in arrays]
    other = [torch.tensor(a, requires_grad=gradient and a.dtype.kind == "f") for a in arrays]
    results, expected = listed(ours(*mine)), listed(theirs(*other))
    assert len(results) == len(expected)
    for ours_, theirs_ in zip(results, expected, strict=True):
        assert ours_.shape == tuple(theirs_.shape)
        wanted = theirs_.detach().numpy()
        got = ours_.numpy()
        if same_dtype:
            assert got.dtype == wanted.dtype or {got.dtype.name, wanted.dtype.name} == {
                "int32",
                "int64",
            }
        np.testing.assert_allclose(
            got.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol
        )
    if gradient:
        compare_gradients(mine, other, results, expected, rtol, atol)


def compare_gradients(
    mine: Sequence[Any],
    other: Sequence[Any],
    results: Sequence[Any],
    expected: Sequence[Any],
    rtol: float,
    atol: float,
) -> None:
    pairs = [(r, e) for r, e in zip(results, expected, strict=True) if e.requires_grad]
    if not pairs:
        return
    weights = [values(*r.shape, seed=7) for r, _ in pairs]
    total = None
    for (r, e), w in zip(pairs, weights, strict=True):
        part = (r * tg.Tensor(w)).sum(), (e * torch.tensor(w)).sum()
        total = part if total is None else (total[0] + part[0], total[1] + part[1])
    assert total is not None
    total[0].backward()
    total[1].backward()
    for t, u in zip(mine, other, strict=True):
        if u.grad is not None:
            assert t.grad is not None
            np.testing.assert_allclose(
                t.grad.numpy(), u.grad.numpy(), rtol=20 * rtol, atol=20 * atol, err_msg="gradient"
            )


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]
