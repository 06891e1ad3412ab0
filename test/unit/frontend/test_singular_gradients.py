"""Gradients where functions are not smooth, or not finite, against PyTorch's.

Where they differ on purpose: equal maxima share the gradient (docs/semantics.md), where PyTorch
gives all of it to one of them in `max_pool2d`, `cummax`, `cummin` and `topk`. Where the argument is
infinite or NaN, a gradient here may be the limit, or 0, where PyTorch has NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tgdialect import Tensor

torch = pytest.importorskip("torch")
F = torch.nn.functional

pytestmark = pytest.mark.parity

Functions = tuple[Callable[..., Tensor], Callable[..., Any]]
INF = math.inf
POINTS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 6.0, 0.5, 30.0, -30.0, 100.0, -100.0]
ROWS = [
    *([1, 1, 1, 1], [0, 0, 0, 0], [-0.0, 0, 0, -0.0], [2, 2, 1, 1], [0, 1, 2, 3], [0, 0, 2, 3]),
    *([-2, 2, -2, 2], [5, 3, 3, 5], [100, -100, 100, 0], [1e-30, 1e-30, 1e-30, 1e-30]),
]


def same(names: str, module: Any) -> dict[str, Functions]:
    return {name: (getattr(Tensor, name), getattr(module, name)) for name in names.split()}


def alike(function: Callable[..., Any]) -> Functions:
    """A function of tensors of both libraries."""
    return function, function


UNARY: dict[str, Functions] = {
    **same("exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tan", torch),
    **same("asin acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid relu abs sign", torch),
    **same("neg trunc floor ceil round", torch),
    **same("logsigmoid softplus silu mish elu celu selu leaky_relu hardsigmoid hardswish", F),
    **same("hardtanh relu6 softsign", F),
    "gelu": (Tensor.gelu, lambda x: F.gelu(x, approximate="tanh")),
    "gelu of erfc": (lambda x: x.gelu("none"), F.gelu),
    **{f"x ** {p}": alike(lambda x, p=p: x**p) for p in (0, 1, 2, 3, -1, -2, 0.5, 1.5, -0.5)},
    **{f"{p} ** x": alike(lambda x, p=p: p**x) for p in (0.0, 1.0, 2.0)},
    "clamp": alike(lambda x: x.clamp(-1, 3)),
    "x % 2": alike(lambda x: x % 2),
    "fmod": alike(lambda x: x.fmod(2)),
    "masked_fill": alike(lambda x: x.masked_fill(x < 0, 0.0).sqrt()),
    "log where positive": (
        lambda x: (x > 0).where(x.log(), 0),
        lambda x: torch.where(x > 0, x.log(), 0),
    ),
}
BINARY: dict[str, Functions] = {
    **same("atan2 pow logaddexp maximum minimum fmod div mul copysign", torch),
    "mod": (Tensor.mod, torch.remainder),
    "lerp": alike(lambda x, y: x.lerp(y, 0.25)),
    "where": (lambda x, y: (x > y).where(x, y), lambda x, y: torch.where(x > y, x, y)),
    "clamp": alike(lambda x, y: x.clamp(y, y + 1)),
}
REDUCTIONS: dict[str, Functions] = {
    **same("sum mean prod var std softmax log_softmax logsumexp cumsum cumprod", torch),
    "max": (lambda x, axis: x.max(axis), torch.amax),
    "min": (lambda x, axis: x.min(axis), torch.amin),
    "logcumsumexp": (Tensor.logcumsumexp, torch.logcumsumexp),
    "std of a population": alike(lambda x, axis: x.std(axis, correction=0)),
    "std_mean": (
        lambda x, axis: sum(x.std_mean(axis)),
        lambda x, axis: sum(torch.std_mean(x, axis)),
    ),
    **{
        f"norm {p}": (
            lambda x, axis, p=p: x.norm(p, axis),
            lambda x, axis, p=p: torch.linalg.vector_norm(x, p, axis),
        )
        for p in (0, 0.5, 1, 1.5, 2, 3, -1, -2, INF, -INF)
    },
    "normalize": (lambda x, axis: x.normalize(dim=axis), lambda x, axis: F.normalize(x, dim=axis)),
    "median": alike(lambda x, axis: x.median(axis)[0]),
    "layernorm": (Tensor.layernorm, lambda x, axis: F.layer_norm(x, x.shape[axis:])),
}


def check(functions: Functions, *arrays: Any, axis: tuple[int, ...] = ()) -> None:
    ours, theirs = functions
    values = [np.array(a, np.float64) for a in arrays]
    x, y = [Tensor(a) for a in values], [torch.tensor(a, requires_grad=True) for a in values]
    result = ours(*x, *axis)
    seed = np.linspace(1, 2, result.numel()).reshape(result.shape)
    found = result.gradient(*x, gradient=Tensor(seed))
    expected = torch.autograd.grad(theirs(*y, *axis), y, torch.tensor(seed), allow_unused=True)
    for value, a, b in zip(values, found, expected, strict=True):
        b = np.zeros_like(value) if b is None else b.numpy()
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-12, err_msg=str(values))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str):
    check(UNARY[name], POINTS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str):
    a, b = np.meshgrid(POINTS, POINTS)
    check(BINARY[name], a.flatten(), b.flatten())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str):
    check(REDUCTIONS[name], ROWS, axis=(1,))


def test_nan_of_a_maximum_goes_to_both():
    check((Tensor.maximum, torch.maximum), [math.nan, 1.0, math.nan], [2.0, math.nan, math.nan])
    check((Tensor.minimum, torch.minimum), [math.nan, 1.0, math.nan], [2.0, math.nan, math.nan])
