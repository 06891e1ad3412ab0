"""Elementwise methods against PyTorch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from parity import EDGES, check, torch, values

from tgdialect import Tensor

pytestmark = pytest.mark.parity

F = torch.nn.functional

SAME_NAME = [
    *("neg", "abs", "sign", "square", "reciprocal", "trunc", "floor", "ceil", "round"),
    *("exp", "exp2", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
    *("relu", "sigmoid", "isnan", "isinf", "isfinite", "logical_not"),
]
ACTIVATIONS = {
    "logsigmoid": F.logsigmoid,
    "softplus": F.softplus,
    "silu": F.silu,
    "swish": F.silu,
    "mish": F.mish,
    "relu6": F.relu6,
    "elu": F.elu,
    "celu": F.celu,
    "selu": F.selu,
    "leaky_relu": F.leaky_relu,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "softsign": F.softsign,
}
LOOSE = {"tan": 1e-4, "selu": 3e-5}
SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 1, 4)]


def positive(name: str) -> bool:
    return name in ("log", "log2", "log10", "sqrt", "rsqrt", "acosh")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", SAME_NAME)
@pytest.mark.parametrize("shape", SHAPES)
def test_unary(name: str, shape: tuple[int, ...]):
    low, high = (1.1, 3) if positive(name) else (-0.9, 0.9) if name.startswith("a") else (-3, 3)
    x = values(*shape, low=low, high=high)
    tolerance = LOOSE.get(name, 3e-6)
    check(
        lambda t: getattr(t, name)(),
        lambda t: getattr(t, name)(),
        x,
        rtol=tolerance,
        atol=tolerance,
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_activation(name: str, shape: tuple[int, ...]):
    x = values(*shape, low=-8, high=8)
    tolerance = LOOSE.get(name, 3e-6)
    check(lambda t: getattr(t, name)(), ACTIVATIONS[name], x, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*SAME_NAME, *ACTIVATIONS])
def test_edges(name: str):
    reference = ACTIVATIONS.get(name) or (lambda t: getattr(t, name)())
    # Not the greatest: for angles, and since PyTorch multiplies it by 6 in hardswish.
    x = EDGES if name not in ("tan", "sin", "cos", "hardswish") else EDGES[:-1]
    tolerance = max(LOOSE.get(name, 0), 2e-5)
    check(
        lambda t: getattr(t, name)(), reference, x, gradient=False, rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
@pytest.mark.parametrize("name", ["atan", "atanh", "acos", "asinh", "sinh", "tan", "rsqrt", "exp"])
def test_functions_of_integers(name: str, dtype: type):
    x = np.array([1], dtype)
    expected = getattr(torch.tensor(x), name)()
    np.testing.assert_allclose(getattr(Tensor(x), name)().numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("n", [3, 4, 5, 10, 33])
def test_powers_are_rounded_once(n: int):
    numbers = np.random.default_rng(0).uniform(-3, 3, 1000).astype(np.float32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, -1e-30], "f4")
    last = np.float32(6.9814636e12)  # The greatest number whose cube is finite.
    special = np.concatenate(
        [special, [last, np.nextafter(last, np.float32(np.inf)), 1e17, -2e-14]]
    )
    x = np.concatenate([numbers, special.astype("f4")])
    found = (Tensor(x) ** n).numpy()
    with np.errstate(over="ignore"):
        expected = (x.astype("f8") ** n).astype("f4")
    np.testing.assert_array_max_ulp(found[:1000], expected[:1000], 1)
    np.testing.assert_array_equal(found[1000:], expected[1000:])
    assert (np.signbit(found) == np.signbit(expected))[~np.isnan(x)].all()


def test_gradient_of_cubes():
    x = np.array([0, -0.0, 0.3, -2, 1e15, 1e-30, np.inf, -np.inf], "f4")
    t = Tensor(x)
    (found,) = (t**3).sum().gradient(t)
    np.testing.assert_allclose(found.numpy(), 3 * x * x, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_signs_and_subnormals_of_angles(dtype: type):
    numbers = [0.0, 1.0, math.inf, float(np.finfo(dtype).smallest_subnormal), 1e-30, 3e38]
    x = np.array([*numbers, *(-n for n in numbers)], dtype)
    y, x = (a.flatten() for a in np.meshgrid(x, x))
    for found, expected in [
        (Tensor(y).atan2(Tensor(x)), np.arctan2(y, x)),
        (Tensor(x).atan(), np.arctan(x)),
    ]:
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=0)
        assert (np.signbit(found.numpy()) == np.signbit(expected)).all()


@pytest.mark.parametrize("name", ["relu", "sigmoid", "tanh", "silu", "softplus", "abs", "gelu"])
def test_gradients_at_edges(name: str):
    reference = {"silu": F.silu, "softplus": F.softplus}.get(name, lambda t: getattr(t, name)())
    if name == "gelu":
        reference = lambda t: F.gelu(t, approximate="tanh")  # noqa: E731
    x = EDGES[np.isfinite(EDGES) & (np.abs(EDGES) < 1e30)]
    check(lambda t: getattr(t, name)(), reference, x, rtol=1e-5, atol=1e-5)
