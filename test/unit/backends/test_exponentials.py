"""EXP2 and GATE as this processor computes them, in vectors and parts of them, over exponents."""

import itertools

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.interpreter.elementwise import ARITHMETIC

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("size", [1, 3, 16, 17, 65, 300_001])
@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, np.uint32), (np.float64, np.uint64)])
@pytest.mark.parametrize(("name", "exact_function"), [("exp2", np.exp2), ("exp", np.exp)])
def test_powers(name, exact_function, dtype, bits, size):
    """Within 1 ulp, over random bits and over the exponents that matter."""
    rng = np.random.default_rng(size)
    info = np.finfo(dtype)
    x = rng.integers(0, np.iinfo(bits).max, size, bits, endpoint=True).view(dtype)
    near = np.arange(size) % 2 == 0
    low, high = info.minexp - info.nmant - 3, info.maxexp + 2
    x[near] = rng.uniform(low, high, int(near.sum())).astype(dtype)
    if size > len(SPECIAL):
        x[: len(SPECIAL)] = SPECIAL
    got = tg.function(lambda a: getattr(a, name)())(tg.Tensor(x)).numpy()
    with np.errstate(all="ignore"):
        exact = exact_function(x.astype(np.longdouble))
        expected = exact.astype(dtype)
        finite = np.isfinite(expected) & np.isfinite(got)
        ulps = np.abs(got[finite] - exact[finite]) / np.spacing(expected[finite])
    assert np.array_equal(got[~finite], expected[~finite], equal_nan=True)
    assert not finite.any() or ulps.max() <= 1


@pytest.mark.parametrize("size", [1, 3, 16, 17, 65, 300_001])
@pytest.mark.parametrize("has_lost", [False, True])
def test_gate(size, has_lost):
    """Within 1.1 ulp of f32 for factors of all exponents, and 1 where the factor is 1."""
    rng = np.random.default_rng(size)
    t = (110 * rng.uniform(-1, 1, size) ** 3).astype(np.float32)
    x = np.ldexp(rng.uniform(1, 2, size), rng.integers(-40, 40, size)).astype(np.float32)
    lost = (np.spacing(t) * rng.uniform(-0.5, 0.5, size)).astype(np.float32) * has_lost
    program = f"""
func.func @main(%x: tensor<{size}xf32>, %t: tensor<{size}xf32>, %lost: tensor<{size}xf32>)
    -> (tensor<{size}xf32>, tensor<{size}xf32>) {{
  %one = tg.const 1.0 : tensor<f32>
  %0 = tg.gate %x, %t lost %lost : tensor<{size}xf32>
  %1 = tg.gate %one, %t : (tensor<f32>, tensor<{size}xf32>) -> tensor<{size}xf32>
  func.return %0, %1 : tensor<{size}xf32>, tensor<{size}xf32>
}}"""
    got = tg.compile(program)(x, t, lost)
    wide = t.astype(np.longdouble)
    exact = x / (1 + np.exp(-(wide + lost))), 1 / (1 + np.exp(-wide))
    for result, expected, limit in zip(got, exact, (1.1, 1), strict=True):
        unit = np.spacing(expected.astype(np.float32)).astype(np.longdouble)
        assert (np.abs(result - expected) / unit).max() <= limit


@pytest.mark.parametrize("size", [1, 40])
def test_gate_of_special_values(size):
    type = f"tensor<{size}xf32>"
    gate = tg.compile(f"""
func.func @main(%x: {type}, %t: {type}) -> {type} {{
  %0 = tg.gate %x, %t : {type}
  func.return %0 : {type}
}}""")
    factors = 1, -1, -0.0, 0.0, np.inf, -np.inf, np.nan
    arguments = 0, 5, -5, 80, -80, 1e30, -1e30, np.inf, -np.inf, np.nan
    for pair in itertools.product(factors, arguments):
        x, t = (np.full(size, number, np.float32) for number in pair)
        with np.errstate(all="ignore"):
            expected = ARITHMETIC["tg.gate"](x, t)
        got = gate(x, t)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        assert np.isnan(expected).all() or np.array_equal(np.signbit(got), np.signbit(expected))


def test_weights_that_would_be_subnormal():
    """In an attention EXP2 need not know them: they are 0, or their exact value."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 2, 96, 16)).astype(np.float32) for _ in range(3))
    q *= 60
    got = tg.Tensor(q).scaled_dot_product_attention(tg.Tensor(k), tg.Tensor(v)).numpy()
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / 4
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    assert ((weights > 0) & (weights < np.finfo(np.float32).tiny)).any()
    assert np.abs(got - expected).max() < 2e-4
