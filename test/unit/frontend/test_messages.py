"""Errors of the front end say what to do: variables without a value, classes that there are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tgdialect as tg

N = tg.Variable("n", 1, 8)
X = tg.Tensor(np.ones((8, 3), np.float32))


@pytest.mark.parametrize(
    "use",
    [
        lambda: X[:N],
        lambda: X[N],
        lambda: X * N,
        lambda: N + 1,
        lambda: 2 * N,
        lambda: 1 - N,
        lambda: N // 2,
        lambda: N / 2,
        lambda: 1 % N,
        lambda: -N,
        lambda: N < 3,
        lambda: int(N),
        lambda: float(N),
        lambda: list(range(N)),  # type: ignore
        lambda: tg.Tensor(N),
        lambda: tg.Tensor(N, dtype="i64"),
        lambda: tg.Tensor.arange(N),  # type: ignore
        lambda: tg.Tensor.rand(N),
        lambda: tg.Tensor.zeros(N, 3).numpy(),
        lambda: X.pad(((0, N), (0, 0))),
        lambda: X.topk(N),  # type: ignore
        lambda: tg.function(lambda x, n: x * n)(X, N),
    ],
)
def test_a_variable_without_a_value(use: Callable[[], object]):
    with pytest.raises(RuntimeError, match=r"n is unbound: n\.bind\(\.\.\.\) has a value"):
        use()


def test_values_of_variables():
    with pytest.raises(TypeError, match=r"n is an integer, got 2\.5"):
        N.bind(2.5)  # type: ignore
    with pytest.raises(ValueError, match=r"n is 9, outside of \[1, 8\]"):
        N.bind(9)
    assert tg.Variable("n", 1, 8) == N


@pytest.mark.parametrize("loss", ["sparse_categorical_crossentropy", "cross_entropy", "nll_loss"])
@pytest.mark.parametrize("wrong", [3, -2, 100])
def test_classes_that_there_are_not(loss: str, wrong: int):
    classes = np.array([0, 1, 2, 0, 1, 2, wrong, 0], np.int32)
    with pytest.raises(IndexError, match=f"{loss} by class {wrong}: classes are 0 to 2"):
        getattr(X, loss)(tg.Tensor(classes))


def test_classes_that_are_ignored():
    classes = tg.Tensor(np.array([0, 1, 2, 0, 1, 2, -100, 0], np.int32))
    expected = X.log_softmax()[:7].sparse_categorical_crossentropy(classes[[0, 1, 2, 3, 4, 5, 7]])
    found = X.log_softmax().nll_loss(classes, ignore_index=-100)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    ignored = X.sparse_categorical_crossentropy(classes, ignore_index=-100)
    np.testing.assert_allclose(ignored.numpy(), expected.numpy(), rtol=1e-6)


def test_dtypes_print_as_their_names():
    assert repr([tg.dtypes.float32, tg.dtypes.bfloat16]) == "[f32, bf16]"
