"""Arrays among the arguments of a traced function are arguments, whatever library they are of."""

from __future__ import annotations

import random
import tracemalloc
import warnings
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from parity import values

import tgdialect as tg
from tgdialect.frontend.function import MANY_SIGNATURES


class Pair(NamedTuple):
    first: Any
    second: Any


class Counted:
    """A traced function that counts its traces."""

    def __init__(self, function: Any, **options: Any) -> None:
        self.traces = 0

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.traces += 1
            return function(*args, **kwargs)

        self.call = tg.function(counted, **options)


def test_other_elements_are_no_other_program():
    w = tg.Tensor(values(16, 4))
    f = Counted(lambda x: (tg.Tensor(x) @ w).sum(1))
    for seed in range(20):
        x = values(8, 16, seed=seed)
        result = f.call(x)
        assert type(result) is tg.Tensor
        np.testing.assert_allclose(result.numpy(), (x @ w.numpy()).sum(1), rtol=1e-4, atol=1e-5)
    f.call(tg.Tensor(values(8, 16)))
    assert f.traces == 1
    f.call(values(9, 16))
    f.call(values(9, 16).astype(np.float64))
    assert f.traces == 3


def test_by_name_and_by_position_are_one_program():
    traces: list[int] = []

    @tg.function
    def f(x: Any, y: Any, *, scale: Any) -> Any:
        traces.append(1)
        return (x - y) * scale

    x, y, scale = values(3), values(3, seed=1), values(3, seed=2)
    for result in (f(x, y, scale=scale), f(x, y=y, scale=scale), f(y=y, scale=scale, x=x)):
        np.testing.assert_allclose(result.numpy(), (x - y) * scale, rtol=1e-6)
    assert len(traces) == 1


def test_arrays_are_let_go():
    f = tg.function(lambda x: x.sum())
    size = 1 << 20
    f(np.zeros(size, np.float32)).item()
    tracemalloc.start()
    for number in range(20):
        assert f(np.full(size, number, np.float32)).item() == number * size
    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now < 4 * size


def _random_value(rng: random.Random, depth: int, leaves: list[Any]) -> Any:
    """A nested value of arrays of several dtypes, layouts and libraries; `leaves` are what they
    are as arrays of NumPy in C order."""
    kind = rng.choice(["array"] * 3 + ["list", "tuple", "named", "dict"] * (depth < 2))
    if kind == "array":
        dtype = rng.choice([np.float32, np.float64, np.int8, np.bool_, ml_dtypes.bfloat16])
        array = (
            values(*[rng.randint(1, 3)] * rng.randint(0, 3), seed=rng.randrange(99)) * 9
        ).astype(dtype)
        leaves.append(np.array(array))
        match rng.choice(["plain", "transposed", "tensor", "strided"]):
            case "transposed":
                return np.asarray(array.T.copy().T)
            case "tensor":
                return tg.Tensor(array)
            case "strided" if array.ndim:
                return np.repeat(array, 2, 0)[::2]
            case _:
                return np.asarray(array)
    inner = [_random_value(rng, depth + 1, leaves) for _ in range(2)]
    match kind:
        case "list":
            return inner
        case "tuple":
            return tuple(inner)
        case "named":
            return Pair(*inner)
        case _:
            return {"a": inner[0], "b": inner[1]}


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tg.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in _leaves(part)]


@pytest.mark.parametrize("seed", range(12))
def test_random_structures(seed: int):
    f = Counted(lambda value: [leaf + leaf for leaf in _leaves(value)])
    for _ in range(3):  # Equal structures, from the same seed.
        leaves: list[Any] = []
        value = _random_value(random.Random(seed), 0, leaves)
        results = f.call(value)
        assert len(results) == len(leaves)
        for result, leaf in zip(results, leaves, strict=True):
            expected = (tg.Tensor(leaf) + tg.Tensor(leaf)).numpy()
            assert result.dtype == tg.Tensor(leaf).dtype
            np.testing.assert_array_equal(result.numpy(), expected)
    assert f.traces == 1


def test_arrays_of_pytorch():
    torch = pytest.importorskip("torch")
    f = Counted(lambda x: x * 2)
    for number in range(3):
        result = f.call(torch.full((2, 3), float(number)))
        np.testing.assert_array_equal(result.numpy(), np.full((2, 3), 2 * number))
    assert f.traces == 1


def test_static_arrays_are_constants():
    traces: list[Any] = []

    @tg.function(static="index")
    def f(x: Any, index: Any) -> Any:
        traces.append(index)
        return x.permute(*map(int, index))

    x = values(2, 3, 4)
    for order in ([2, 0, 1], [1, 0, 2], [2, 0, 1]):
        result = f(x, np.array(order))
        np.testing.assert_array_equal(result.numpy(), x.transpose(order))
    assert len(traces) == 2
    assert f.lower(x, np.array([2, 1, 0])).compile()(x).shape == (4, 3, 2)
    with pytest.raises(TypeError, match="index is static, and is given a tensor"):
        f(x, tg.Tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="static='what': the arguments are x"):
        tg.function(lambda x: x, static="what")


def test_numbers_are_constants_as_in_operators():
    f = tg.function(lambda x, number: x * number)
    x = tg.Tensor(values(3))
    for number in (2, 2.5, np.float32(2.5), np.float64(2.5), np.int64(3)):
        result = f(x, number)
        assert result.dtype == (x * number).dtype
        np.testing.assert_allclose(result.numpy(), values(3) * number, rtol=1e-6)


def test_an_array_cannot_be_assigned():
    @tg.function
    def f(x: Any) -> Any:
        x += 1
        return x

    array = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="f assigns to an argument, and the call passes an array"):
        f(array)
    np.testing.assert_array_equal(array, np.ones(3))
    given = tg.Tensor(array.copy())
    f(given)
    np.testing.assert_array_equal(given.numpy(), np.full(3, 2))
    with pytest.raises(TypeError, match="f assigns to an argument"):
        f(array)


def test_arrays_that_are_no_tensors():
    f = tg.function(lambda x: x)
    for array in (np.array(["a"]), np.array([{}]), np.ones(2, np.complex64)):
        with pytest.raises(TypeError, match="the array x is no tensor"):
            f(array)


def test_donated_arrays_stay():
    f = tg.function(lambda x: x + 1, donate="x")
    array = np.ones(1000, np.float32)
    np.testing.assert_array_equal(f(array).numpy(), np.full(1000, 2))
    np.testing.assert_array_equal(array, np.ones(1000))


def test_gradients_by_captured_tensors():
    w = tg.Tensor(values(4), requires_grad=True)
    f = tg.function(lambda x: (x * w).sum())
    x = values(4, seed=3)
    f(x).backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), x, rtol=1e-6)


def test_many_signatures_warn():
    f = tg.function(lambda x, number: x + number)
    x = tg.Tensor(values(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(MANY_SIGNATURES - 1):
            f(x, number)
    with pytest.warns(RuntimeWarning, match="traced for 32 signatures"):
        f(x, -1)
