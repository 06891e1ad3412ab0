"""Functions whose terms cancel near their zeros: f64 within 2 ulp, f32 within 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import ulp_table
from exact_functions import BINARY, UNARY
from mpmath import mp
from random_seeds import batches

import tgdialect as tg
from tgdialect.frontend import dtypes

MOST = {"f64": 2, "f32": 1}
"""Where MULACC is rounded once."""
both_dtypes = pytest.mark.parametrize("name", MOST)
random = pytest.mark.parametrize("seeds", batches("TG_RANDOM_ZEROS", 20), ids=str)
Numbers = np.ndarray[Any, np.dtype[np.floating[Any]]]


def zeros_of_logaddexp(first: Numbers) -> Numbers:
    """The numbers nearest to log(1 - e^first)."""
    with mp.workprec(200):
        return np.array([float(mp.log(-mp.expm1(float(a)))) for a in first], first.dtype)


def neighbours(x: Numbers, count: int) -> Numbers:
    """x, and the numbers next to it on both sides."""
    found = [x]
    for side in (0, -np.inf):
        near = x
        for _ in range(count):
            near = np.nextafter(near, x.dtype.type(side))
            found.append(near)
    return np.concatenate(found)


def check(name: str, dtype: str, *values: Numbers) -> None:
    row = UNARY[name] if name in UNARY else BINARY[name]
    found = ulp_table.errors(row, dtypes.to_dtype(dtype), values)
    at = int(np.argmax(found))
    assert found[at] <= MOST[dtype], [float(v[at]) for v in values]


@random
@both_dtypes
@pytest.mark.parametrize("least", [-1, -30, -990], ids=["large", "small", "tiny"])
def test_logaddexp_on_its_curve_of_zeros(name: str, least: int, seeds: range):
    for seed in seeds:
        kind, rng = dtypes.numpy_of(dtypes.to_dtype(name)), np.random.default_rng(seed)
        least = max(least, dtypes.to_dtype(name).min_exponent)
        first = (-(2.0 ** rng.uniform(least, math.log2(math.log(2)), 40))).astype(kind)
        second = zeros_of_logaddexp(first)
        check("logaddexp", name, np.tile(first, 7), neighbours(second, 3))
        check("logaddexp", name, second, first)


@random
@both_dtypes
def test_logaddexp_at_every_distance_of_its_zeros(name: str, seeds: range):
    for seed in seeds:
        kind, rng = dtypes.numpy_of(dtypes.to_dtype(name)), np.random.default_rng(seed)
        first = (-(2.0 ** rng.uniform(-20, -0.6, 200))).astype(kind)
        distances = 2.0 ** -rng.uniform(1, 60, 200) * rng.choice([-1, 1], 200)
        check("logaddexp", name, first, (zeros_of_logaddexp(first) * (1 + distances)).astype(kind))


@both_dtypes
def test_lgamma_around_its_zeros(name: str):
    kind = dtypes.numpy_of(dtypes.to_dtype(name))
    zeros = np.array([float(z) for z in ulp_table.lgamma_zeros()], kind)
    values = neighbours(zeros, 4)
    check("lgamma", name, values[values != np.round(values)])


@random
@both_dtypes
def test_lgamma_of_negative_numbers(name: str, seeds: range):
    for seed in seeds:
        kind, rng = dtypes.numpy_of(dtypes.to_dtype(name)), np.random.default_rng(seed)
        poles = rng.integers(-62, 0, 200)
        near = poles + 2.0 ** -rng.uniform(1, 40, 200) * rng.choice([-1, 1], 200)
        values = np.concatenate([near, rng.uniform(-64, 0, 200), rng.uniform(-4, -1, 200)]).astype(
            kind
        )
        check("lgamma", name, values[values != np.round(values)])


def gradients(function: Callable[..., tg.Tensor], *values: Numbers) -> list[Numbers]:
    tensors = [tg.Tensor(v) for v in values]
    return [g.numpy() for g in function(*tensors).sum().gradient(*tensors)]


def test_gradients_at_zeros():
    first = -np.linspace(0.05, 0.69, 20)
    second = zeros_of_logaddexp(first)
    found = gradients(tg.Tensor.logaddexp, first, second)
    np.testing.assert_allclose(found, [np.exp(first), np.exp(second)], rtol=1e-14)
    zeros = np.array([float(z) for z in ulp_table.lgamma_zeros(5)])
    expected = [float(mp.digamma(z)) for z in zeros]
    np.testing.assert_allclose(gradients(tg.Tensor.lgamma, zeros)[0], expected, rtol=1e-12)


@both_dtypes
def test_special_values(name: str):
    kind, inf = dtypes.numpy_of(dtypes.to_dtype(name)), math.inf
    pairs = [
        (inf, inf),
        (-inf, -inf),
        (inf, -inf),
        (inf, math.nan),
        (math.nan, 1),
        (-inf, math.nan),
    ]
    pairs += [(-inf, -3), (0, -inf), (-0.0, -inf), (1, inf), (math.nan, inf), (0, 0)]
    a, b = np.array(pairs, kind).T
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(tg.Tensor(a).logaddexp(b).numpy(), np.logaddexp(a, b))
        np.testing.assert_array_equal(tg.Tensor(b).logaddexp(a).numpy(), np.logaddexp(b, a))
    poles = np.array([0, -0.0, -1, -2, -7, -20, -41, -60, -61, inf, -inf, -1e30], kind)
    np.testing.assert_array_equal(tg.Tensor(poles).lgamma().numpy(), np.full(12, inf, kind))
