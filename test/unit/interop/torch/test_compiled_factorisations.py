"""Factorisations of matrices and solutions of equations are those of eager mode and of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from compiled_models import assert_same, compiled, flat  # noqa: E402
from torch import linalg  # noqa: E402

from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity

SQUARE = ((5, 5), (2, 3, 4, 4), (1, 1), (0, 0), (2, 0, 0), (0, 3, 3))
ANY = (*SQUARE, (2, 5, 3), (3, 5), (4, 1), (1, 4), (2, 0, 3), (3, 0))


def matrices(shapes: Any, dtype: Any) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(54)
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def definite(a: torch.Tensor) -> torch.Tensor:
    return a @ a.mT + torch.eye(a.shape[-1], dtype=a.dtype)


def with_equal_values(a: torch.Tensor) -> torch.Tensor:
    """Symmetric, with eigenvalues of both signs and of equal magnitude."""
    return a.mT @ torch.diag_embed(a.diagonal(0, -2, -1).sign()) @ a


CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "lu_factor_ex": (linalg.lu_factor_ex, ANY),
    "lu": (linalg.lu, ANY),
    "lu_solve": (
        lambda a: [
            linalg.lu_solve(*linalg.lu_factor(a), b, left=left, adjoint=adjoint)
            for left, b in ((True, a[..., :1]), (False, a[..., :1, :]))
            for adjoint in (False, True)
        ],
        SQUARE,
    ),
    "solve": (lambda a: (linalg.solve(a, a.sum(-1)), linalg.solve(a, a + 1, left=False)), SQUARE),
    "solve_of_one_side": (lambda a: linalg.solve(a, a[:, :2].reshape(-1, 2)[:4]), ((3, 4, 4),)),
    "inv": (linalg.inv, SQUARE),
    "det": (lambda a: (linalg.det(a), linalg.det(a.mT), *linalg.slogdet(a)), SQUARE),
    "triangular": (
        lambda a: [
            linalg.solve_triangular(definite(a), b, upper=upper, left=left, unitriangular=unit)
            for left, b in ((True, a[..., :2]), (False, a[..., :2, :]))
            for upper in (False, True)
            for unit in (False, True)
        ],
        SQUARE,
    ),
    "triangular_solve": (
        lambda a: torch.triangular_solve(a[..., :2], definite(a), upper=False, transpose=True),
        ((5, 5), (2, 3, 3)),
    ),
    "cholesky": (
        lambda a: (linalg.cholesky(definite(a)), linalg.cholesky_ex(definite(a), upper=True)),
        SQUARE,
    ),
    "cholesky_solve": (
        lambda a: (
            torch.cholesky_solve(a[..., :2], definite(a)),
            torch.cholesky_inverse(definite(a), upper=True),
        ),
        ((5, 5), (2, 3, 3), (1, 1)),
    ),
    "qr": (
        lambda a: [linalg.qr(a, mode=mode) for mode in ("reduced", "complete", "r")],
        ANY,
    ),
    "geqrf": (
        lambda a: (torch.geqrf(a), linalg.householder_product(a.tril(-1), a[..., 0, :1].tanh())),
        ((5, 3), (2, 4, 4), (1, 1)),
    ),
    "ormqr": (
        lambda a: [
            torch.ormqr(a.tril(-1) / 4, a[..., 0, :].tanh(), a, left, transpose)
            for left in (False, True)
            for transpose in (False, True)
        ],
        ((5, 5), (2, 4, 4)),
    ),
    "ldl": (linalg.ldl_factor_ex, ((7, 5, 5), *SQUARE)),
    "ldl_solve": (
        lambda a: linalg.ldl_solve(*linalg.ldl_factor(a), a[..., :2]),
        ((7, 5, 5), (2, 3, 3), (1, 1)),
    ),
    "svdvals": (lambda a: (linalg.svdvals(a), linalg.svdvals(a.abs() + 1)), ANY),
    "eigvalsh": (
        lambda a: (linalg.eigvalsh(a), linalg.eigvalsh(with_equal_values(a), UPLO="U")),
        SQUARE,
    ),
    "pinv": (
        lambda a: (linalg.pinv(a), linalg.pinv(a[..., :1] * a[..., :1, :], rtol=1e-3)),
        ((5, 5), (2, 5, 3), (3, 5), (1, 1), (0, 3)),
    ),
    "pinv_of_symmetric_ones": (lambda a: linalg.pinv(a, hermitian=True), SQUARE[:3]),
    "norms": (
        lambda a: (
            [linalg.matrix_norm(a, ord=p) for p in ("nuc", 2, -2)]
            + [linalg.cond(a), linalg.matrix_rank(a)]
        ),
        ((5, 5), (2, 5, 3), (1, 1)),
    ),
    "matrix_exp": (
        lambda a: (torch.matrix_exp(a), torch.matrix_exp(a / 8)),
        SQUARE,
    ),
    "matrix_power": (lambda a: [linalg.matrix_power(a, n) for n in (-2, 0, 3)], SQUARE),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_eager_mode(name: str, dtype: Any):
    function, shapes = CASES[name]
    given = matrices(shapes, dtype)

    def call(*given: torch.Tensor) -> Any:
        return [function(a) for a in given]

    with torch.no_grad():
        found = compiled(call, dynamic=False)(*given)
        tolerance = 1e-3 if dtype is torch.float32 else 1e-9
        # Without strides: PyTorch traces others for some matrices without cells or of one column.
        for a, b in zip(flat(found), flat(call(*given)), strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
    assert not report().fallbacks, report()


# -- larger matrices, by NumPy ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [64, 200])
def test_large_factorisations_are_those_of_numpy(n: int):
    (a,) = matrices([(n, n)], torch.float64)

    def call(a: torch.Tensor) -> Any:
        b = definite(a)
        return linalg.inv(a), linalg.slogdet(a), linalg.lu(a), linalg.qr(a), linalg.cholesky(b)

    inverse, (sign, log), (p, low, up), (q, r), factor = compiled(call, dynamic=False)(a)
    x = a.numpy()
    np.testing.assert_allclose(inverse, np.linalg.inv(x), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose((sign, log), np.linalg.slogdet(x), rtol=1e-10)
    np.testing.assert_allclose(p @ low @ up, x, atol=1e-11)
    np.testing.assert_allclose(factor, np.linalg.cholesky(definite(a).numpy()), atol=1e-10)
    expected = np.linalg.qr(x)
    np.testing.assert_allclose(q, expected[0], atol=1e-10)
    np.testing.assert_allclose(r, expected[1], atol=1e-10)
    assert low.abs().max() == 1  # Of partial pivoting.
    assert not report().fallbacks, report()


def test_singular_values_of_a_large_matrix_are_those_of_numpy():
    (a,) = matrices([(80, 64)], torch.float64)
    with torch.no_grad():
        found, inverse = compiled(lambda a: (linalg.svdvals(a), linalg.pinv(a)), dynamic=False)(a)
    np.testing.assert_allclose(found, np.linalg.svd(a.numpy())[1], rtol=1e-12)
    np.testing.assert_allclose(inverse, np.linalg.pinv(a.numpy()), atol=1e-12)
    assert not report().fallbacks, report()


def test_columns_whose_squares_overflow():
    (a,) = matrices([(4, 3)], torch.float32)
    found = compiled(lambda a: linalg.qr(a * 1e30)[1], dynamic=False)(a)
    assert_same(found, linalg.qr(a * 1e30)[1])


def test_exponentials_of_numbers_that_are_not_finite():
    given = torch.tensor([[[1e5, 0], [0, 1]], [[torch.nan, 0], [0, 1]], [[1, 2], [3, -400]]])
    assert_same(compiled(torch.matrix_exp, dynamic=False)(given), torch.matrix_exp(given))


# -- errors ----------------------------------------------------------------------------------------

ONES, NAN = torch.ones(3, 3), torch.full((2, 3, 3), torch.nan)
FAILING: dict[str, tuple[Callable[..., Any], torch.Tensor]] = {
    "inv": (linalg.inv, ONES),
    "inv_ex": (lambda a: linalg.inv_ex(a, check_errors=True), ONES),
    "solve": (lambda a: linalg.solve(a, a), torch.stack([torch.eye(3), ONES])),
    "cholesky": (linalg.cholesky, torch.stack([torch.eye(3), -ONES])),
    "torch.cholesky": (torch.cholesky, ONES),
    "cholesky_inverse": (torch.cholesky_inverse, torch.diag(torch.tensor([1.0, 0.0]))),
    "lu_factor": (linalg.lu_factor, ONES),
    "svdvals": (linalg.svdvals, NAN),
    "pinv": (linalg.pinv, NAN),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_are_those_of_eager_mode(name: str):
    function, given = FAILING[name]
    with torch.no_grad():
        with pytest.raises(RuntimeError) as expected:
            function(given)
        with pytest.raises(type(expected.value)) as found:
            compiled(function, dynamic=False)(given)
    assert str(found.value) == str(expected.value)
    assert not report().fallbacks, report()


def test_an_error_is_raised_where_there_are_gradients():
    with pytest.raises(linalg.LinAlgError, match="not positive-definite"):
        compiled(torch.cholesky, dynamic=False)((-ONES).requires_grad_())


def test_vectors_are_of_eager_mode():
    (a,) = matrices([(4, 3)], torch.float32)
    assert_same(compiled(linalg.svd, dynamic=False)(a), linalg.svd(a))
    (fallback,) = report().fallbacks
    assert "up to their signs" in fallback.reason


def test_complex_matrices_are_of_eager_mode():
    (a,) = matrices([(3, 3)], torch.complex64)
    function = lambda a: (linalg.inv(a), linalg.det(a), linalg.svdvals(a))  # noqa: E731
    assert_same(compiled(function, dynamic=False)(a), function(a))
    assert {f.op for f in report().fallbacks} == {
        *("aten.linalg_inv_ex.default", "aten._linalg_det.default", "aten._linalg_svd.default")
    }


# -- gradients and sizes ---------------------------------------------------------------------------

SCALARS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "solve": lambda a: linalg.solve(definite(a), a).sin().sum(),
    "cholesky": lambda a: linalg.cholesky(definite(a)).sin().sum(),
    "inv": lambda a: linalg.inv(a).sin().sum(),
    "det": lambda a: linalg.det(a).sum() + linalg.slogdet(a)[1].sum(),
    "det_of_columns": lambda a: linalg.det(a.mT).sum() + linalg.slogdet(a.mT)[1].sum(),
    "qr": lambda a: linalg.qr(a)[0].sin().sum(),
    "triangular": lambda a: linalg.solve_triangular(definite(a), a, upper=True).sin().sum(),
    "matrix_exp": lambda a: torch.matrix_exp(a).sin().sum(),
    "lu": lambda a: linalg.lu(a)[1].sin().sum() + linalg.lu(a)[2].cos().sum(),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SCALARS)
def test_gradients_are_those_of_eager_mode(name: str):
    (given,) = matrices([(2, 4, 4)], torch.float64)
    function = SCALARS[name]
    grads: list[Any] = []
    for call in (compiled(function, dynamic=False), function):
        a = given.clone().requires_grad_()
        call(a).backward()
        grads.append(a.grad)
    torch.testing.assert_close(*grads, rtol=1e-7, atol=1e-9)
    assert not report().fallbacks, report()
    assert [graph.kind for graph in report().graphs] == ["forward", "backward"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axes", [(0,), (1, 2)], ids=["batch", "rows"])
@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "ldl", "matrix_exp"])
def test_sizes_are_symbolic(name: str, axes: tuple[int, ...]):
    function, _ = CASES[name]
    call = compiled(function, dynamic=True)
    for size in (6, 7, 5):
        shape = [size if axis in axes else 4 for axis in range(3)]
        (a,) = matrices([shape], torch.float64)
        assert_same(call(a), function(a))
    assert len(report().graphs) == 1
    assert not report().fallbacks, report()
