"""EXP2 as this processor computes it, in whole vectors and parts of them, over all exponents."""

import numpy as np
import pytest

import tgdialect as tg

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("size", [1, 3, 16, 17, 65, 300_001])
@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, np.uint32), (np.float64, np.uint64)])
def test_exp2(dtype, bits, size):
    """Within 2 ulp of f32 and 3 ulp of f64, over random bits and over the exponents that matter."""
    rng = np.random.default_rng(size)
    info = np.finfo(dtype)
    x = rng.integers(0, np.iinfo(bits).max, size, bits, endpoint=True).view(dtype)
    near = np.arange(size) % 2 == 0
    low, high = info.minexp - info.nmant - 3, info.maxexp + 2
    x[near] = rng.uniform(low, high, int(near.sum())).astype(dtype)
    if size > len(SPECIAL):
        x[: len(SPECIAL)] = SPECIAL
    got = tg.function(lambda a: a.exp2())(tg.Tensor(x)).numpy()
    with np.errstate(all="ignore"):
        exact = np.exp2(x.astype(np.longdouble))
        expected = exact.astype(dtype)
        finite = np.isfinite(expected) & np.isfinite(got)
        ulps = np.abs(got[finite] - exact[finite]) / np.spacing(expected[finite])
    assert np.array_equal(got[~finite], expected[~finite], equal_nan=True)
    assert not finite.any() or ulps.max() <= (2 if dtype is np.float32 else 3)


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
