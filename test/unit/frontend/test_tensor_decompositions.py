"""Decompositions of matrices, norms, medians and counts against NumPy and PyTorch, in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg
from tgdialect.frontend import traced

T = tg.Tensor


def matrix(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parity
@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 4, 3)])
def test_qr(shape: tuple[int, ...]):
    """Both modes, with gradients."""

    def theirs(t: Any, mode: str) -> Any:
        return tuple(torch.linalg.qr(t, mode=mode))

    tight = {"rtol": 1e-9, "atol": 1e-9}
    check(lambda t: t.qr("reduced"), lambda t: theirs(t, "reduced"), matrix(*shape), **tight)
    whole = shape[-2] <= shape[-1]  # PyTorch has no gradient of further columns of Q.
    check(T.qr, lambda t: theirs(t, "complete"), matrix(*shape), gradient=whole, **tight)


def test_qr_of_triangles_and_zeros():
    """Columns that are done already stay, and have gradients."""
    a = np.triu(matrix(3, 3))
    q, r = T(a).qr()
    np.testing.assert_array_equal(q.numpy(), np.eye(3))
    np.testing.assert_allclose(r.numpy(), a)
    x = T(a, requires_grad=True)
    weight = T(matrix(3, 3, seed=2))

    def total(t: T) -> T:
        return (t.qr()[1].square() * weight).sum()  # Whatever the signs of rows are.

    total(x).backward()
    assert x.grad is not None
    step = np.tril(matrix(3, 3, seed=1), -1)
    up, down = (total(T(a + h * step)).item() for h in (1e-6, -1e-6))
    np.testing.assert_allclose((x.grad.numpy() * step).sum(), (up - down) / 2e-6, rtol=1e-6)
    q, r = T(np.zeros((3, 2))).qr()
    np.testing.assert_array_equal(q.numpy(), np.eye(3))
    np.testing.assert_array_equal(r.numpy(), np.zeros((3, 2)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64], ids=["f32", "f64"]
)
@pytest.mark.parametrize(("shape", "is_full"), [((2, 4, 3), False), ((3, 5), True), ((1, 1), True)])
def test_svd(shape: tuple[int, ...], is_full: bool, dtype: Any):
    a = matrix(*shape).astype(dtype)
    u, s, v = (t.numpy() for t in T(a).svd(is_full))
    expected = np.linalg.svd(a, full_matrices=is_full)
    assert [t.shape for t in (u, s, v)] == [t.shape for t in expected]
    near = {"rtol": 0, "atol": 20 * np.finfo(dtype).eps}
    k = s.shape[-1]
    np.testing.assert_allclose(s, expected[1], rtol=20 * np.finfo(dtype).eps)
    np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ v[..., :k, :], a, **near)
    for t in (np.swapaxes(u, -1, -2) @ u, v @ np.swapaxes(v, -1, -2)):
        np.testing.assert_allclose(t, np.broadcast_to(np.eye(t.shape[-1]), t.shape), **near)


@pytest.mark.slow
def test_svd_of_less_than_full_rank():
    """U and V are orthogonal where singular values are 0."""
    a = matrix(5, 2) @ matrix(2, 4, seed=1)
    u, s, v = (t.numpy() for t in T(a).svd())
    np.testing.assert_allclose(s[2:], 0, atol=1e-14)
    np.testing.assert_allclose(u[:, :4] * s @ v, a, atol=1e-13)
    np.testing.assert_allclose(u.T @ u, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(v @ v.T, np.eye(4), atol=1e-13)


@pytest.mark.parity
def test_gradient_of_svd():
    """Of singular values, and of a product in which signs cancel."""

    def both(u: Any, s: Any, v: Any) -> Any:
        return s, u @ v

    check(
        lambda t: both(*t.svd(False)),
        lambda t: both(*torch.linalg.svd(t, full_matrices=False)),
        matrix(4, 3),
        rtol=1e-9,
        atol=1e-9,
    )


def test_newton_schulz():
    a = matrix(2, 3, 2)
    found = T(a).newton_schulz(15, (2.0, -1.5, 0.5)).numpy()
    u, _, v = np.linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(found, u @ v, atol=1e-6)
    with pytest.raises(ValueError, match="newton_schulz of a tensor with 1 axes"):
        T.ones(3).newton_schulz(1, (1.0,))
    with pytest.raises(TypeError, match="svd of i32"):
        T([[1, 2]]).svd()


@pytest.mark.parity
@pytest.mark.parametrize("p", ["fro", 0, 1, 2, 3.5, float("inf"), float("-inf")])
def test_norm(p: Any):
    check(lambda t: t.norm(p), lambda t: t.norm(p), values(3, 4), rtol=1e-5, atol=1e-5)
    check(
        lambda t: t.norm(p, dim=(0, 2), keepdim=True),
        lambda t: torch.linalg.vector_norm(t, 2 if p == "fro" else p, (0, 2), keepdim=True),
        values(2, 3, 2),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parity
@pytest.mark.slow
def test_nuclear_norm():
    check(
        lambda t: t.norm("nuc", (0, 2), keepdim=True),
        lambda t: t.norm("nuc", (0, 2), keepdim=True),
        matrix(3, 2, 4),
        rtol=1e-9,
        atol=1e-9,
    )
    with pytest.raises(ValueError, match="it takes two"):
        T.ones(3).norm("nuc")
    with pytest.raises(ValueError, match="p is a number, fro or nuc"):
        T.ones(3).norm("max")  # pyright: ignore[reportArgumentType]


@pytest.mark.parity
def test_median():
    x = values(3, 4, 5)
    for axis in (0, 1, -1):
        check(lambda t, a=axis: t.median(a), lambda t, a=axis: tuple(t.median(a)), x)
    check(lambda t: t.median(1, True), lambda t: tuple(t.median(1, True)), x)
    check(lambda t: t.median(), lambda t: t.median(), x)
    x[1, 2, 3] = np.nan
    check(lambda t: t.median(0)[0], lambda t: t.median(0)[0], x, gradient=False)
    assert np.isnan(T(x).median().item())
    with pytest.raises(ValueError, match="no elements"):
        T.ones(0).median()


def test_bincount():
    x = np.random.default_rng(0).integers(0, 9, 100)
    weights = matrix(100)
    np.testing.assert_array_equal(T(x).bincount().numpy(), np.bincount(x))
    np.testing.assert_array_equal(T(x).bincount(minlength=12).numpy(), np.bincount(x, None, 12))
    np.testing.assert_array_equal(T(x).bincount(size=4).numpy(), np.bincount(x)[:4])
    found = T(x).bincount(T(weights))
    np.testing.assert_allclose(found.numpy(), np.bincount(x, weights), rtol=1e-12)
    assert T(np.zeros(0, np.int32)).bincount(minlength=2).tolist() == [0, 0]
    w = T(weights, requires_grad=True)
    (T(x).bincount(w, size=9) * T(np.arange(9.0))).sum().backward()
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.numpy(), x)


def test_refused_counts():
    with pytest.raises(ValueError, match="bincount of -1"):
        T([1, -1]).bincount()
    with pytest.raises(TypeError, match="integers are needed"):
        T([1.0]).bincount()
    with pytest.raises(ValueError, match="weights"):
        T([1]).bincount(T([1.0, 2.0]))
    with pytest.raises(ValueError, match="it has one axis"):
        T([[1]]).bincount()


def test_steps_are_compiled_once(monkeypatch: pytest.MonkeyPatch):
    """A step of an iteration has one program for all steps, matrices and sizes of a batch."""
    names: list[str] = []
    original = traced.compiled

    def compiled(module: Any, device: str | None) -> Any:
        names.append(str(device))
        return original(module, device)

    monkeypatch.setattr(traced, "compiled", compiled)
    n = tg.Variable("n", 1, 9)
    for size in (2, 3):
        # Of three rows and columns, as no other test has them with a batch of this name.
        a = matrix(size, 3, 3, seed=size).astype("f")
        whole = tg.Tensor(np.concatenate([a, matrix(9 - size, 3, 3).astype("f")]))
        found = whole[: n.bind(size)].det()
        np.testing.assert_allclose(found.numpy(), np.linalg.det(a), rtol=1e-4)
    assert len(names) == 1


def test_steps_within_a_traced_function_are_its_own():
    """They are FUNCTIONs of its program, before and after the same steps are executed."""
    a = matrix(4, 3)
    det = tg.function(lambda x: x.qr("reduced")[1].prod(-1).sum())
    for _ in range(2):
        expected = tg.Tensor(a).qr("reduced")[1].prod(-1).sum().numpy()
        np.testing.assert_allclose(det(tg.Tensor(a)).numpy(), expected)
