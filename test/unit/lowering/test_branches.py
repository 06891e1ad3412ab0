"""Arms that are skipped where no lane selects them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.lowering.linearize import branches

Array = np.ndarray[Any, Any]
TARGETS = ["cpu", "c"]


def angles(rng: np.random.Generator, size: int, dtype: str) -> Array:
    """Small angles, with a few large ones of any magnitude, infinities and NaN among them."""
    x = rng.uniform(-300, 300, size)
    largest = 38 if dtype == "f32" else 308
    for _ in range(rng.integers(4)):
        start = rng.integers(size)
        stop = min(start + rng.integers(1, 40), size)
        x[start:stop] = 10.0 ** rng.uniform(2, largest, stop - start)
    special = rng.integers(0, size, 3)
    x[special] = rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0], 3)
    return x.astype(np.float32 if dtype == "f32" else np.float64)


def sine(x: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.sin(x.astype(np.float64))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("seed", range(4))
def test_sines(dtype: str, seed: int, target: str) -> None:
    rng = np.random.default_rng(seed)
    for size in (1, 5, 64, 1000, int(rng.integers(65, 5000))):
        x = angles(rng, size, dtype)
        found = tg.compile(lambda t: t.sin(), tg.spec(x.shape, dtype), target=target)(x)
        rtol = 3e-7 if dtype == "f32" else 2e-15
        np.testing.assert_allclose(found, sine(x), rtol=rtol, atol=0)


def random_choices(rng: np.random.Generator, depth: int) -> Any:
    """A function of selections, some of them in alternatives of others, for NumPy and tensors."""
    factors = rng.uniform(-1, 1, (int(rng.integers(1, 9)), 2))
    limits = rng.uniform(-4, 4, 2)
    inner = [random_choices(rng, depth - 1) if depth else None for _ in range(2)]
    shares = bool(rng.integers(2))

    def long(x: Any, which: int) -> Any:
        total = x
        for factor in factors[:, which]:
            total = total * float(factor) + x
        return total if inner[which] is None else inner[which](total * 0.1)

    def apply(x: Any) -> Any:
        where = np.where if isinstance(x, np.ndarray) else lambda c, a, b: c.where(a, b)
        one, other = long(x, 0), long(x, 1)
        first = where(x < float(limits[0]), one, other)
        if not shares:
            return first
        # The same condition, and an alternative that is needed elsewhere, too.
        second = where(x < float(limits[0]), one * one, other - 1)
        return first * 0.5 + where(x < float(limits[1]), second, other)

    return apply


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(12))
def test_random_selections(seed: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("LONG", 12), ("OTHER", 4)):
        monkeypatch.setattr(branches, name, int(np.random.default_rng(seed).integers(1, most)))
    monkeypatch.setenv("TG_CACHE_DIR", "")
    rng = np.random.default_rng(seed)
    function = random_choices(rng, 2)
    x = rng.uniform(-5, 5, int(rng.integers(1, 700)))
    x = np.sort(x) if seed % 2 else x  # Sorted, so that some vectors select one alternative alone.
    exe = tg.compile(function, tg.spec(x.shape, "f64"), target=target)
    np.testing.assert_allclose(exe(x), function(x), rtol=1e-9, atol=1e-12)
