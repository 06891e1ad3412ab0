"""Keyword arguments by the names of PyTorch and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg
from tgdialect.frontend.base import TensorBase
from tgdialect.frontend.keywords import SYNONYMS

T = tg.Tensor
SAME: dict[str, Callable[[Any], Any]] = {
    "dim": lambda t: t.sum(dim=0, keepdim=True),
    "dims": lambda t: t.permute(dims=(1, 0)),
    "unbiased": lambda t: t.var(dim=1, unbiased=False),
    "min and max": lambda t: t.clamp(min=-1, max=0.5),
    "other": lambda t: t.add(other=t),
    "exponent": lambda t: t.pow(exponent=3),
    "dtype": lambda t: t.mean(dim=0, dtype=type_of(t, "float64")),
    "dtype of a prefix sum": lambda t: t.cumsum(dim=0, dtype=type_of(t, "float64")),
    "sizes": lambda t: t.split(split_size=2, dim=1),
    "dimension": lambda t: t.unfold(dimension=1, size=2, step=1),
    "decimals": lambda t: t.round(decimals=1),
    "size": lambda t: t.expand(size=(2, 3, 4)) if isinstance(t, T) else t.expand(2, 3, 4),
    "shift of one": lambda t: t.roll((1,)),
}


def type_of(t: Any, name: str) -> Any:
    return name if isinstance(t, T) else getattr(torch, name)


@pytest.mark.parity
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", SAME)
def test_same_words(name: str):
    check(SAME[name], SAME[name], values(3, 4), rtol=1e-5, atol=1e-5)


def test_numpy_names():
    x = values(2, 3)
    np.testing.assert_allclose(
        T(x).sum(axis=1, keepdims=True).numpy(), x.sum(axis=1, keepdims=True), rtol=1e-6
    )
    np.testing.assert_allclose(T(x).std(ddof=0).item(), x.std(ddof=0), rtol=1e-6)
    np.testing.assert_array_equal(T(x).triu(k=1).numpy(), np.triu(x, k=1))
    np.testing.assert_array_equal(T(x).diag(k=1).numpy(), np.diag(x, k=1))


def test_class_methods():
    np.testing.assert_array_equal(T.full(size=(2,), fill_value=3).numpy(), [3, 3])
    np.testing.assert_array_equal(T.arange(start=1, end=4).numpy(), [1, 2, 3])
    a, b = T([1, 2]), T([3, 4])
    np.testing.assert_array_equal(T.stack((a, b), axis=1).numpy(), [[1, 3], [2, 4]])


def test_unknown_names_say_which_there_are():
    x = T.ones(2, 3)
    with pytest.raises(TypeError, match=r"sum\(\) has no argument 'along'; it has axis, keepdim"):
        x.sum(along=0)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="'axis' by two names"):
        x.sum(dim=0, axis=1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="axis"):
        x.sum(0, dim=1)  # pyright: ignore[reportCallIssue]


def test_synonyms_are_pairs():
    assert len(set(SYNONYMS)) == len(SYNONYMS)
    assert all(ours != theirs for ours, theirs in SYNONYMS)


def test_families_of_methods_are_no_chain():
    """A family extends those whose methods it calls, and no other one."""
    families = {kind.__name__: kind for kind in tg.Tensor.__mro__}
    assert not issubclass(families["Neural"], families["Random"])
    assert not issubclass(families["Spectral"], families["Resizing"])
    assert families["Movement"].__bases__ == (TensorBase,)
