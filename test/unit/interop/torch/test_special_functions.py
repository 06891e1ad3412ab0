"""Special functions of ATen against mpmath, and orthogonal polynomials against PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

torch = pytest.importorskip("torch")

from compiled_models import compiled  # noqa: E402

from tgdialect import Tensor  # noqa: E402
from tgdialect.interop.torch.table import TABLE  # noqa: E402

pytestmark = pytest.mark.parity

aten = torch.ops.aten
ULP = 2.0**-52


@pytest.fixture(autouse=True)
def more_digits() -> Iterator[None]:
    """References have more digits than an f64."""
    with mp.workdps(40):
        yield


def computed(overload: Any, *args: Any) -> Any:
    """A line of the table in f64."""
    given = [Tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    return TABLE[overload].translate(*given).numpy()


def errors(found: Any, expected: list[Any], scales: list[Any]) -> Any:
    """Errors in ulps, relative to scales."""
    return np.array(
        [
            float(abs(mpf(float(a)) - b) / abs(s)) / ULP
            for a, b, s in zip(found, expected, scales, strict=True)
        ]
    )


NEAR = np.r_[np.linspace(-29.7, 29.3, 40), 1e-9, 0.3, 3.999, 4.0, 20.0]
POSITIVE = np.abs(NEAR)


def of_order(function: Callable[..., Any], order: int, scaled: int = 0) -> Callable[[Any], Any]:
    return lambda x: function(order, x) * (mp.exp(scaled * abs(x)) if scaled else 1)


BESSEL = [
    *(("special_bessel_j", order, of_order(mp.besselj, order), NEAR, True) for order in (0, 1)),
    *(("special_bessel_y", order, of_order(mp.bessely, order), POSITIVE, True) for order in (0, 1)),
    *(("special_modified_bessel_i", o, of_order(mp.besseli, o), NEAR, False) for o in (0, 1)),
    *(("special_modified_bessel_k", o, of_order(mp.besselk, o), POSITIVE, False) for o in (0, 1)),
]


@pytest.mark.parametrize(("name", "order", "reference", "points", "oscillates"), BESSEL)
def test_bessel_functions(
    name: str, order: int, reference: Callable[[Any], Any], points: Any, oscillates: bool
) -> None:
    found = computed(getattr(aten, f"{name}{order}").default, points)
    expected = [reference(mpf(float(x))) for x in points]
    # Near a zero the error is relative to the amplitude.
    scales = [
        max(abs(b), 0.8 / math.sqrt(abs(x) + 1)) if oscillates else b
        for b, x in zip(expected, points, strict=True)
    ]
    assert errors(found, expected, scales).max() < 8


@pytest.mark.parametrize(
    ("name", "reference", "points"),
    [
        ("special_i0e", of_order(mp.besseli, 0, -1), np.r_[NEAR, 700.0, 1e5]),
        ("special_i1e", of_order(mp.besseli, 1, -1), np.r_[NEAR, 700.0, 1e5]),
        ("special_scaled_modified_bessel_k0", of_order(mp.besselk, 0, 1), np.r_[POSITIVE, 1e3]),
        ("special_scaled_modified_bessel_k1", of_order(mp.besselk, 1, 1), np.r_[POSITIVE, 1e3]),
        ("special_erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), np.r_[NEAR[5:], 1e5]),
        ("special_spherical_bessel_j0", lambda x: mp.sin(x) / x, NEAR),
    ],
)
def test_scaled_functions(name: str, reference: Callable[[Any], Any], points: Any) -> None:
    found = computed(getattr(aten, name).default, points)
    expected = [reference(mpf(float(x))) for x in points]
    assert errors(found, expected, expected).max() < 8


def test_airy_function() -> None:
    points = np.r_[np.linspace(-8, 20, 40), -3.0, 2.0]
    found = computed(aten.special_airy_ai.default, points)
    expected = [mp.airyai(mpf(float(x))) for x in points]
    scales = [max(abs(b), 0.2 if x < 0 else 0) for b, x in zip(expected, points, strict=True)]
    # The phase for negative arguments is 2/3 |x|^(3/2), which an ulp of x changes by as many.
    assert errors(found, expected, scales).max() < 64


def test_quantiles_of_the_normal_distribution() -> None:
    points = np.r_[0.1, 0.5001, 0.9, 0.975, 10.0 ** -np.arange(1.5, 300, 20)]
    found = computed(aten.special_ndtri.default, points)
    probabilities = [mp.ncdf(mpf(float(y))) for y in found]
    # The probability changes by the density times the error.
    slopes = [mp.npdf(mpf(float(y))) * abs(y) for y in found]
    scales = np.array([float(s) for s in slopes])
    assert (scales > 0).all()
    assert errors([float(p) for p in points], probabilities, slopes).max() < 8


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_polygamma(order: int) -> None:
    points = np.r_[np.linspace(-7.3, 9.1, 30), 1e-5, 100.0]
    found = computed(aten.polygamma.default, order, points)
    expected = [mp.polygamma(order, mpf(float(x))) for x in points]
    assert errors(found, expected, expected).max() < 64


def test_zeta() -> None:
    s = np.r_[np.linspace(1.1, 60, 20), 2.0, 3.0, 4.0, 5.0]
    q = np.r_[np.linspace(0.01, 300, 20), -0.5, -3.7, -12.2, -1e-9]
    found = computed(aten.special_zeta.default, s, q)

    def reference(s: Any, q: Any) -> Any:
        """By Euler's and Maclaurin's formula after so many terms that it has 20 digits."""
        count = 3000
        terms = [x ** -int(s) if x < 0 else x**-s for x in (q + k for k in range(count))]
        w = q + count
        return mp.fsum(terms) + w**-s * (w / (s - 1) + mpf(0.5) + s / w / 12)

    expected = [reference(mpf(float(a)), mpf(float(b))) for a, b in zip(s, q, strict=True)]
    assert (
        errors(found, expected, expected).max() < 64
    )  # (q + k)^-s has s times the error of q + k.


def lower_gamma(a: float, x: float) -> Any:
    """The regularised lower incomplete gamma function, by its series."""
    first = mp.exp(mpf(a) * mp.log(mpf(x)) - mpf(x) - mp.loggamma(mpf(a) + 1))
    total = term = mpf(1)
    k = 0
    while term > total * mpf(10) ** -60:
        k += 1
        term = term * mpf(x) / (mpf(a) + k)
        total += term
    return first * total


def test_incomplete_gamma_functions() -> None:
    a = np.array([1e-3, 0.3, 0.7, 2.5, 2.5, 9.9, 10.5, 40, 40, 250, 250, 3e4, 2e5])
    x = np.array([0.2, 1.05, 3.0, 0.4, 8.0, 9.0, 10.0, 30, 55, 230, 320, 3.01e4, 2.004e5])
    with mp.workdps(70):
        lower = [lower_gamma(float(b), float(y)) for b, y in zip(a, x, strict=True)]
        upper = [1 - p for p in lower]
    assert errors(computed(aten.igamma.default, a, x), lower, lower).max() < 64
    assert errors(computed(aten.igammac.default, a, x), upper, upper).max() < 64


EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, -5.0, math.inf, math.nan], dtype=torch.float64)


@pytest.mark.parametrize(
    "name",
    [
        *("i0", "special_i1", "special_i1e", "special_modified_bessel_k0", "special_bessel_j1"),
        *("special_scaled_modified_bessel_k1", "special_bessel_y0", "special_airy_ai"),
        *("special_erfcx", "special_ndtri", "special_spherical_bessel_j0"),
    ],
)
def test_edges_are_those_of_pytorch(name: str) -> None:
    op = getattr(aten, name).default
    found = torch.from_numpy(computed(op, EDGES.numpy()))
    torch.testing.assert_close(found, op(EDGES), rtol=2e-6, atol=2e-6, equal_nan=True)


def test_edges_of_functions_of_two_arguments() -> None:
    values = [0.0, 1.0, -1.0, 2.5, math.inf]
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    for op in (aten.igamma.default, aten.igammac.default, aten.special_zeta.default):
        found, expected = computed(op, a, b), op(torch.from_numpy(a), torch.from_numpy(b)).numpy()
        if op is aten.special_zeta.default:  # PyTorch's infinite ones are those of its loops.
            is_finite = np.isfinite(a) & np.isfinite(b)
            found, expected = found[is_finite], expected[is_finite]
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    [
        *(f"special_{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"),
        *("special_hermite_polynomial_h", "special_hermite_polynomial_he"),
        *("special_laguerre_polynomial_l", "special_legendre_polynomial_p"),
    ],
)
def test_orthogonal_polynomials(name: str) -> None:
    op = getattr(aten, name).default
    x = torch.cat([torch.linspace(-2, 2, 41), torch.tensor([1.0, -1.0, 1.0, -1.0])]).double()
    n = torch.cat([torch.arange(41) % 23 - 2, torch.tensor([40, 41, 0, 600])]).double()
    found = compiled(lambda x, n: op(x, n))(x, n)
    torch.testing.assert_close(found, op(x, n), rtol=1e-12, atol=1e-12, equal_nan=True)
    assert not found[n < 0].any()


def test_integers_and_bits() -> None:
    a = torch.tensor([12, -18, 0, 7, 2**62, 0])
    b = torch.tensor([18, 27, 5, 0, 6, 0])

    def of_integers(a: Any, b: Any) -> Any:
        return torch.gcd(a, b), torch.lcm(a[:5] % 1000, b[:5])

    for found, expected in zip(compiled(of_integers)(a, b), of_integers(a, b), strict=True):
        assert torch.equal(found, expected)
    for dtype in (torch.float32, torch.float64):
        tiny = torch.finfo(dtype).smallest_normal
        x = torch.tensor([0.0, 1, -3.7, 1e-30, 0.5, tiny, tiny / 8], dtype=dtype)
        for found, expected in zip(compiled(torch.frexp)(x), torch.frexp(x), strict=True):
            assert found.dtype == expected.dtype
            assert torch.equal(found, expected)


def test_numbers_in_the_place_of_tensors() -> None:
    """Numbers have all digits."""
    x = torch.linspace(0.1, 3, 7).double()

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            aten.special_zeta.other_scalar(x + 1, 0.1),
            aten.special_zeta.self_scalar(2.1, x),
            aten.special_legendre_polynomial_p.x_scalar(0.1, x * 3),
            aten.special_hermite_polynomial_h.n_scalar(x, 3),
            torch.histogram(x, 5, range=(0.1, 2.7)).bin_edges,
        )

    found = compiled(function)(x)
    torch.testing.assert_close(found, function(x), rtol=1e-13, atol=1e-13)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [torch.gcd, torch.igamma, torch.special.zeta, torch.complex])
def test_any_size(function: Callable[..., Any]) -> None:
    call = compiled(function, dynamic=True)
    for n in (3, 5):
        a, b = torch.arange(1, n + 1), torch.arange(n, 2 * n) + 2
        given = (a, b) if function is torch.gcd else (a.double() + 0.5, b.double())
        torch.testing.assert_close(call(*given), function(*given))


def test_hypot_does_not_overflow() -> None:
    a = torch.tensor([3.0, 1e300, math.inf, 0.0, math.nan, 5e-324]).double()
    b = torch.tensor([4.0, 1e300, math.nan, 0.0, 1.0, 0.0]).double()
    torch.testing.assert_close(compiled(torch.hypot)(a, b), torch.hypot(a, b), equal_nan=True)
