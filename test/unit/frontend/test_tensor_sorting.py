"""Sorting against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg
from tgdialect.frontend import sorting

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_sort(dim: int, descending: bool):
    x = values(3, 7, 4)
    check(
        lambda t: t.sort(dim, descending),
        lambda t: tuple(torch.sort(t, dim=dim, descending=descending, stable=True)),
        x,
    )
    same = np.round(x)
    check(
        lambda t: t.sort(dim, descending),
        lambda t: tuple(torch.sort(t, dim=dim, descending=descending, stable=True)),
        same,
        gradient=False,
    )
    check(
        lambda t: t.argsort(dim, descending),
        lambda t: t.argsort(dim=dim, descending=descending, stable=True),
        same,
        gradient=False,
    )


def test_nan_and_infinities():
    x = np.array([1, np.nan, -np.inf, np.inf, 0.0, np.nan, -1], np.float32)
    for descending in (False, True):
        check(
            lambda t, d=descending: t.sort(0, d),
            lambda t, d=descending: tuple(torch.sort(t, dim=0, descending=d, stable=True)),
            x,
            gradient=False,
        )


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float64"])
def test_dtypes(dtype: str):
    x = np.array([3, 1, 2, 0, 1, 3]).astype(dtype)
    check(
        lambda t: t.sort(),
        lambda t: tuple(torch.sort(t, stable=True)),
        x,
        gradient=False,
    )


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_topk(dim: int, largest: bool):
    check(
        lambda t: t.topk(2, dim, largest),
        lambda t: tuple(t.topk(2, dim, largest)),
        values(4, 6),
    )
    with pytest.raises(ValueError, match="topk of 9"):
        tg.Tensor(values(4, 6)).topk(9)


def test_few():
    for shape in ((0,), (1,), (2, 0)):
        check(lambda t: t.sort(), lambda t: tuple(torch.sort(t)), values(*shape), gradient=False)
    assert tg.Tensor(3.0).sort()[0].item() == 3


DTYPES = ["float32", "float64", "bool", "uint8", "int32", "int64"]


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [*itertools.product([(9,)], DTYPES), ((2, 33), "float32"), ((3, 1, 70), "int64")],
)
@pytest.mark.parametrize("descending", [False, True])
def test_merging(
    shape: tuple[int, ...], dtype: str, descending: bool, monkeypatch: pytest.MonkeyPatch
):
    """What long axes are sorted by, on short ones: long ones take seconds to compile."""
    monkeypatch.setattr(sorting, "_ALL_PAIRS", 8)
    monkeypatch.setattr(sorting, "_BLOCK", 4)
    x = np.random.default_rng(0).integers(-4, 5, shape).astype(dtype)
    if dtype.startswith("float"):
        x[..., ::5], x[..., 3], x[..., 5], x[..., 7] = -0.0, np.nan, -np.inf, np.nan
    found, order = tg.Tensor(x).sort(-1, descending)
    expected, wanted = torch.tensor(x).sort(dim=-1, descending=descending, stable=True)
    np.testing.assert_array_equal(order.numpy(), wanted.numpy())
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
