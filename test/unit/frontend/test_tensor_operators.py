"""Operators of two operands against PyTorch, with promotion and broadcasting."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from parity import EDGES, check, torch, values

import tgdialect as tg

pytestmark = pytest.mark.parity

OPERATORS = ["add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne"]
METHODS = ["maximum", "minimum", "fmod", "copysign", "logaddexp"]
SHAPES = [((), ()), ((3, 4), (4,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((1,), (5,))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_operator(name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]):
    low = 0.5 if name == "pow" else -2
    x, y = (values(*s, seed=i, low=low) for i, s in enumerate(shapes))
    check(getattr(operator, name), getattr(operator, name), x, y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_method(name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]):
    x, y = (values(*s, seed=i) for i, s in enumerate(shapes))
    check(
        lambda a, b: getattr(a, name)(b), lambda a, b: getattr(torch, name)(a, b), x, y, rtol=5e-6
    )


@pytest.mark.parametrize("name", [*OPERATORS, "maximum", "minimum", "copysign", "logaddexp"])
def test_edges(name: str):
    x, y = (a.ravel() for a in np.meshgrid(EDGES, EDGES))
    if name == "pow":
        x, y = x.clip(-3, 30), y.clip(-3, 3)
    elif hasattr(operator, name):
        check(getattr(operator, name), getattr(operator, name), x, y, gradient=False)
        return
    function = getattr(operator, name, None) or (lambda a, b: getattr(a, name)(b))
    reference = getattr(operator, name, None) or getattr(torch, name)
    check(function, reference, x, y, gradient=False, rtol=1e-5)


DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
def test_promotion(a: str, b: str):
    x, y = np.ones(2, a), np.ones(2, b)
    if {a, b} == {"bool"}:
        return
    check(lambda t, u: t * u, lambda t, u: t * u, x, y, gradient=False)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod", "and_", "or_", "xor"])
def test_integers(name: str, dtype: str):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 7, -7 if info.min else 7, 100, 3], dtype)
    y = np.array([3, 5, 7, info.max, 2, 2, -3 if info.min else 3, -1 if info.min else 1], dtype)
    check(getattr(operator, name), getattr(operator, name), x, y, gradient=False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", [2, -3, 0.5, True])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "bool"])
@pytest.mark.parametrize("name", ["add", "mul", "sub", "truediv"])
def test_python_numbers_are_weak(name: str, dtype: str, number: float):
    if name == "sub" and (dtype == "bool" or number is True):
        return  # PyTorch refuses bools here.
    x = np.array([1, 0, 3], dtype)
    function = getattr(operator, name)
    for case in (lambda t: function(t, number), lambda t: function(number, t)):
        if name == "truediv":
            x = np.array([1, 2, 3], dtype)
        if isinstance(number, bool) and dtype == "bool":
            continue
        check(case, case, x, gradient=False)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, 2.5, 10])
def test_powers(exponent: float):
    check(lambda t: t**exponent, lambda t: t**exponent, values(6, low=0.5), rtol=1e-5)


def test_power_of_a_number():
    check(lambda t: 2**t, lambda t: 2**t, values(6), rtol=1e-5)


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_div(mode: str, dtype: str):
    x = np.array([7, -7, 7, -7, 6, 0], dtype)
    y = np.array([2, 2, -2, -2, 3, 5], dtype)
    check(
        lambda a, b: a.div(b, rounding_mode=mode),
        lambda a, b: a.div(b, rounding_mode=mode),
        x,
        y,
        gradient=dtype == "float32",
    )


def test_remainders():
    x, y = values(20, low=-9, high=9), values(20, seed=1, low=0.5)
    check(lambda a, b: a % b.detach(), lambda a, b: a % b.detach(), x, y, rtol=1e-5, atol=1e-5)
    check(lambda a, b: a % -b, lambda a, b: a % -b, x, y, rtol=1e-5, atol=1e-5, gradient=False)
    check(lambda a, b: a // b, lambda a, b: a // b, x, y, gradient=False)
    check(lambda a: 7 % a, lambda a: 7 % a, y, rtol=1e-5, atol=1e-5, gradient=False)


def test_where_and_clamp():
    x, y = values(3, 4), values(4, seed=1)
    check(lambda a, b: (a > 0).where(a, b), lambda a, b: torch.where(a > 0, a, b), x, y)
    check(lambda a: (a > 0).where(a, 2), lambda a: torch.where(a > 0, a, 2), x)
    check(lambda a: a.clamp(-1, 1), lambda a: a.clamp(-1, 1), x)
    nan = float("nan")
    for bounds in ((nan, None), (None, nan), (nan, 1), (0, nan)):
        check(lambda a, b=bounds: a.clamp(*b), lambda a, b=bounds: a.clamp(*b), x)
    check(lambda a: a.clip(max_=0.5), lambda a: a.clip(max=0.5), x)
    check(lambda a, b: a.lerp(b, 0.3), lambda a, b: a.lerp(b, 0.3), x, values(3, 4, seed=2))
    check(lambda a: a.masked_fill(a > 0, 3), lambda a: a.masked_fill(a > 0, 3), x)


def test_casts():
    x = np.array([1.7, -1.7, 0.0, 200.0, -3.0], np.float32)
    for dtype in ("int32", "int64", "float16", "bfloat16", "float64", "bool"):
        ours = tg.Tensor(x).cast(dtype)
        theirs = torch.tensor(x).to(getattr(torch, dtype))
        np.testing.assert_array_equal(ours.float().numpy(), theirs.float().numpy(), err_msg=dtype)


def test_errors():
    with pytest.raises(ValueError, match="broadcast"):
        tg.Tensor(values(3)) + tg.Tensor(values(4))
    with pytest.raises(TypeError, match="only integers and bools"):
        tg.Tensor(values(3)) & tg.Tensor(values(3))
    with pytest.raises(TypeError, match="not a dtype"):
        tg.Tensor([1]).cast("complex64")
    with pytest.raises(RuntimeError, match="min_ or max_"):
        tg.Tensor([1.0]).clamp()


BITS = ["uint8", "int16", "int32", "float32", "int64", "float64"]


@pytest.mark.parametrize("target", BITS)
@pytest.mark.parametrize("source", BITS)
def test_bitcast(source: str, target: str):
    x = np.random.default_rng(0).integers(0, 100, (3, 8)).astype(source)
    found = tg.Tensor(x).bitcast(target)
    expected = torch.tensor(x).view(getattr(torch, target))
    assert found.shape == tuple(expected.shape)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_bitcast_that_does_not_fit():
    with pytest.raises(ValueError, match="no multiple of 8 bytes"):
        tg.Tensor(values(2, 3)).bitcast("float64")


def test_contiguous_backward():
    check(lambda a: a.contiguous_backward() * 3, lambda a: a * 3, values(4))


def test_cast():
    check(lambda a: a.cast("float64").sin(), lambda a: a.double().sin(), values(4))
    assert (tg.Tensor(values(4)).cast("int16").dtype.name, tg.Tensor(1.0).ndim) == ("i16", 0)
