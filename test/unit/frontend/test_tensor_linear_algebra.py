"""Products, convolutions and pooling against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg

pytestmark = pytest.mark.parity

F = torch.nn.functional

PAIRS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((1, 1), (1, 1)),
]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...]):
    check(lambda a, b: a @ b, lambda a, b: a @ b, values(*left), values(*right, seed=1), rtol=1e-5)


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("i,j->ij", (3,), (4,)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
    ("...ij,jk->...ik", (5, 2, 3), (3, 4)),
    ("i,i,i->i", (3,), (3,), (3,)),
    ("abc,cd,de->abe", (2, 3, 4), (4, 5), (5, 2)),
    ("ijk->kij", (2, 3, 4)),
]


@pytest.mark.parametrize("case", EINSUMS, ids=lambda c: c[0])
def test_einsum(case: tuple[str, *tuple[tuple[int, ...], ...]]):
    formula, *shapes = case
    arrays = [values(*s, seed=i) for i, s in enumerate(shapes)]
    check(
        lambda *t: tg.Tensor.einsum(formula, *t),
        lambda *t: torch.einsum(formula, *t),
        *arrays,
        rtol=1e-5,
    )


CONVOLUTIONS = [
    {},
    {"padding": 1},
    {"stride": 2},
    {"dilation": 2},
    {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2)},
    {"groups": 2},
    {"groups": 4, "padding": 1},
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_conv2d(options: dict[str, int]):
    groups = options.get("groups", 1)
    x, w, b = values(2, 4, 7, 8), values(8, 4 // groups, 3, 2, seed=1), values(8, seed=2)
    check(
        lambda t, u, v: t.conv2d(u, v, **options),
        lambda t, u, v: F.conv2d(t, u, v, **options),
        x,
        w,
        b,
        rtol=1e-5,
        atol=1e-5,
    )


def test_conv1d_and_3d():
    check(lambda t, u: t.conv2d(u), F.conv1d, values(2, 3, 9), values(4, 3, 3, seed=1), rtol=1e-5)
    check(
        lambda t, u: t.conv2d(u, padding=1),
        lambda t, u: F.conv3d(t, u, padding=1),
        values(1, 2, 4, 5, 3),
        values(3, 2, 3, 2, 2, seed=1),
        rtol=1e-5,
        atol=1e-5,
    )


TRANSPOSED = [
    {},
    {"stride": 2},
    {"padding": 1},
    {"stride": 2, "output_padding": 1, "padding": 1},
    {"groups": 2, "dilation": 2},
    {"stride": (2, 1), "padding": (0, 1)},
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", TRANSPOSED, ids=str)
def test_conv_transpose2d(options: dict[str, int]):
    groups = options.get("groups", 1)
    x, w, b = values(2, 4, 5, 6), values(4, 6 // groups, 3, 2, seed=1), values(6, seed=2)
    check(
        lambda t, u, v: t.conv_transpose2d(u, v, **options),
        lambda t, u, v: F.conv_transpose2d(t, u, v, **options),
        x,
        w,
        b,
        rtol=1e-5,
        atol=1e-5,
    )


POOLS = [
    {"kernel_size": 2},
    {"kernel_size": (3, 2), "stride": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 2, "stride": 2, "ceil_mode": True},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", POOLS, ids=str)
def test_pooling(options: dict[str, int]):
    x = values(2, 3, 7, 8)
    check(lambda t: t.max_pool2d(**options), lambda t: F.max_pool2d(t, **options), x)
    check(lambda t: t.avg_pool2d(**options), lambda t: F.avg_pool2d(t, **options), x)
    check(
        lambda t: t.avg_pool2d(**options, count_include_pad=False),
        lambda t: F.avg_pool2d(t, **options, count_include_pad=False),
        x,
    )
    check(
        lambda t: t.max_pool2d(**options, return_indices=True),
        lambda t: F.max_pool2d(t, **options, return_indices=True),
        x,
        gradient=False,
    )


def test_dilated_max_pool():
    check(
        lambda t: t.max_pool2d(2, 1, dilation=2),
        lambda t: F.max_pool2d(t, 2, 1, dilation=2),
        values(1, 2, 6, 6),
    )


def test_linear():
    x, w, b = values(5, 3), values(3, 4, seed=1), values(4, seed=2)
    check(lambda t, u, v: t.linear(u, v), lambda t, u, v: t @ u + v, x, w, b, rtol=1e-5)
    check(lambda t, u: t.linear(u), lambda t, u: t * u, x, values(3, seed=3))


def test_errors():
    with pytest.raises(RuntimeError, match="3 is not 4"):
        tg.Tensor(values(2, 3)) @ tg.Tensor(values(4, 2))
    with pytest.raises(RuntimeError, match="conv2d of"):
        tg.Tensor(values(1, 3, 5, 5)).conv2d(tg.Tensor(values(2, 4, 3, 3)))
    with pytest.raises(ValueError, match="does not fit"):
        tg.Tensor(values(1, 1, 2, 2)).conv2d(tg.Tensor(values(1, 1, 3, 3)))
    with pytest.raises(ValueError, match="j is 3 and 4"):
        tg.Tensor.einsum("ij,jk", tg.Tensor(values(2, 3)), tg.Tensor(values(4, 2)))


def test_half_accumulates_in_f32():
    x = np.full((1, 4096), 1, np.float16)
    assert tg.Tensor(x).sum().item() == 4096


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f8E5M2"])
def test_products_of_narrow_floats_are_rounded_once(dtype: str):
    """After the sum: a product of two such numbers is exact in f32."""
    x, w = (tg.Tensor(values(*shape)).cast(dtype).realize() for shape in ((7, 64), (64, 5)))
    exact = x.cast("f64").numpy() @ w.cast("f64").numpy()
    expected = tg.Tensor(exact.astype(np.float32)).cast(dtype).cast("f32").numpy()
    ulp = 2.0 ** -{"f16": 10, "bf16": 7, "f8E5M2": 2}[dtype]
    for found in (x @ w, tg.Tensor.einsum("ij,jk", x, w), x.T.T.linear(w)):
        assert found.dtype.name == dtype
        # Sums of f32 round to a neighbour where they are between two numbers.
        wrong = np.abs(found.cast("f32").numpy() - expected)
        assert wrong.max() <= ulp * np.abs(expected).max()
        assert (wrong > 0).mean() < 0.05


@pytest.mark.parametrize("shape", [(300, 520, 40), (200, 1024, 37), (130, 1001, 9)])
def test_the_first_factor_is_transposed(shape: tuple[int, int, int]):
    """Its rows are on pages of their own, and vectors lie along its columns."""
    k, m, n = shape
    a, b = values(k, m), values(k, n)
    found = (tg.Tensor(a).T @ tg.Tensor(b)).numpy()
    expected = a.T.astype(np.float64) @ b
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_linear_in_a_dtype():
    """All operands are cast, as in tinygrad, so that the result is of the dtype."""
    x = tg.Tensor([[200, 1], [2, 3]], dtype="uint8")
    w = tg.Tensor([[1.5, 2.0], [3.0, 4.0]])
    b = tg.Tensor([1, 2], dtype="int64")
    for dtype in ("bool", "int8", "int32", "float16"):
        given = [t.cast(dtype).numpy().astype(np.float64) for t in (x, w, b)]
        found = x.linear(w, b, dtype=dtype)
        assert found.dtype == tg.dtypes.to_dtype(dtype)
        if dtype in ("int32", "float16"):
            np.testing.assert_array_equal(found.numpy(), given[0] @ given[1] + given[2])
    assert x.linear(w[0], dtype="int8").dtype.name == "i8"
