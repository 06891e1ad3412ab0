"""Remainders and whole quotients of floats against Python's `math.fmod` and fractions."""

from fractions import Fraction
from math import copysign, floor, fmod, trunc

import numpy as np
import pytest

from tgdialect import Tensor


def operands(dtype, count=3000):
    """Quotients from 2^-30 to the greatest, and whole ones."""
    generator = np.random.default_rng(3)
    info = np.finfo(dtype)
    y = generator.standard_normal(count) * 2.0 ** generator.integers(-20, 20, count)
    x = generator.standard_normal(count) * 2.0 ** generator.integers(-30, 60, count)
    huge = np.ldexp(generator.uniform(1, 2, count), generator.integers(0, info.maxexp, count))
    tiny = np.ldexp(generator.uniform(1, 2, count), generator.integers(info.minexp - 20, 0, count))
    whole = y.astype(dtype) * generator.integers(0, 1000, count)
    xs = np.concatenate([x, huge, -huge, whole, [1, 0.5, 6, 1, -1, 5.3, info.max, info.max]])
    ys = np.concatenate([y, tiny, y, y, [0.1, 0.1, 0.2, 1 / 3, 0.1, -2, 3, info.max / 1.5]])
    return xs.astype(dtype), ys.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainders_are_exact(dtype):
    x, y = operands(dtype)
    expected = np.array([fmod(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], dtype)
    found = Tensor(x).fmod(Tensor(y)).numpy()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    np.testing.assert_array_equal((Tensor(x) % Tensor(y)).numpy(), np.mod(x, y))


@pytest.mark.parametrize(("mode", "whole"), [("floor", floor), ("trunc", trunc)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_quotients(dtype, mode, whole):
    """Exact up to the greatest integer below which all are numbers; beyond, nearly the nearest."""
    x, y = operands(dtype)
    found = Tensor(x).div(Tensor(y), rounding_mode=mode).numpy().tolist()
    limit = 2 ** (np.finfo(dtype).nmant - 2)
    for a, b, quotient in zip(x.tolist(), y.tolist(), found, strict=True):
        exact = whole(Fraction(a) / Fraction(b))
        if abs(exact) < limit:
            assert quotient == exact, (a, b)
        elif abs(exact) < int(np.finfo(dtype).max):
            assert abs(Fraction(quotient) - exact) <= abs(exact) * 2 / limit, (a, b)
        if exact == 0:
            assert copysign(1, quotient) == copysign(1, a) * copysign(1, b), (a, b)


def test_a_constant_divisor():
    x = np.float32([7.5, -7.5, 1e20, -0.0])
    np.testing.assert_array_equal(Tensor(x).fmod(3.0).numpy(), np.fmod(x, np.float32(3)))
    assert (Tensor([1.0], dtype="float64") // 0.1).tolist() == [9]
    assert (Tensor([1.0], dtype="float64") % 0.1).tolist() == [0.09999999999999995]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_operands(dtype):
    """As C99's fmod, and as NumPy's mod and floor_divide."""
    values = np.array([0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny], dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(Tensor(x).fmod(Tensor(y)).numpy(), np.fmod(x, y))
        np.testing.assert_array_equal((Tensor(x) % Tensor(y)).numpy(), np.mod(x, y))
        np.testing.assert_array_equal((Tensor(x) // Tensor(y)).numpy(), np.floor_divide(x, y))


def test_gradients():
    """1, and minus the whole quotient; 1 and not 0 where the remainder is 0."""
    x, y = Tensor([7.0, -7.0, 6.0, 1e12]), Tensor([2.0, 2.0, 3.0, 2.0])
    for method, quotients in (("fmod", [3, -3, 2, 5e11]), ("mod", [3, -4, 2, 5e11])):
        dx, dy = getattr(x, method)(y).sum().gradient(x, y)
        assert dx.tolist() == [1, 1, 1, 1]
        np.testing.assert_allclose(dy.numpy(), [-q for q in quotients], rtol=1e-6)
