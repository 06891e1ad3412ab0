"""Methods on the other float dtypes, and on views that are not contiguous, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parity import torch, values

import tgdialect as tg

pytestmark = pytest.mark.parity

F = torch.nn.functional

UNARY = (
    *("neg", "abs", "sign", "square", "reciprocal", "trunc", "floor", "ceil", "round", "exp"),
    *("exp2", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "relu"),
    *("asin", "atan", "sinh", "erf", "sum", "mean", "prod", "var", "std", "argmax", "isnan"),
)
OTHERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda a, b: a + b, lambda a, b: a + b),
    "mul": (lambda a, b: a * b, lambda a, b: a * b),
    "div": (lambda a, b: a / b, lambda a, b: a / b),
    "pow": (lambda a, b: a**b, lambda a, b: a**b),
    "matmul": (lambda a, b: a @ b.transpose(), lambda a, b: a @ b.T),
    "maximum": (lambda a, b: a.maximum(b), torch.maximum),
    "less": (lambda a, b: a < b, lambda a, b: a < b),
    "max": (lambda a, b: a.max(1), lambda a, b: a.amax(1)),
    "softmax": (lambda a, b: a.softmax(), lambda a, b: a.softmax(-1)),
    "log_softmax": (lambda a, b: a.log_softmax(), lambda a, b: a.log_softmax(-1)),
    "cumsum": (lambda a, b: a.cumsum(1), lambda a, b: a.cumsum(1)),
    "sort": (lambda a, b: a.sort()[0], lambda a, b: a.sort()[0]),
    "gelu": (lambda a, b: a.gelu(), lambda a, b: F.gelu(a, approximate="tanh")),
    "silu": (lambda a, b: a.silu(), lambda a, b: F.silu(a)),
    "layernorm": (lambda a, b: a.layernorm(), lambda a, b: F.layer_norm(a, a.shape[-1:])),
    "attention": (
        lambda a, b: a.scaled_dot_product_attention(b, b),
        lambda a, b: F.scaled_dot_product_attention(a[None, None], b[None, None], b[None, None])[
            0, 0
        ],
    ),
    "where": (lambda a, b: (a > 1).where(a, b), lambda a, b: torch.where(a > 1, a, b)),
    "cat": (lambda a, b: a.cat(b, dim=1), lambda a, b: torch.cat((a, b), 1)),
    "index": (lambda a, b: a[[0, 2, 1], 1:], lambda a, b: a[[0, 2, 1], 1:]),
}
TOLERANCE = {"float64": 1e-7, "float16": 4e-3, "bfloat16": 3e-2}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", [*UNARY, *OTHERS])
def test_dtype(name: str, dtype: str):
    ours, theirs = OTHERS.get(name) or (lambda a, _: getattr(a, name)(),) * 2
    high = 0.95 if name.startswith("a") else 2
    arrays = [values(3, 4, seed=i, low=0.1, high=high) for i in range(2)]
    wanted = getattr(torch, dtype)
    got = ours(*(tg.Tensor(a).cast(dtype) for a in arrays))
    expected = theirs(*(torch.tensor(a).to(wanted) for a in arrays))
    assert got.shape == tuple(expected.shape)
    if expected.dtype == wanted:
        assert got.dtype == tg.Tensor(0.0, dtype).dtype
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(
        got.double().numpy(), expected.double().numpy(), rtol=tolerance, atol=tolerance
    )


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, 1:],
    "reversed": lambda a: a[::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "Fortran order": np.asfortranarray,
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_arrays(view: str):
    x = VIEWS[view](values(6, 5))
    np.testing.assert_allclose(
        (tg.Tensor(x) * 2).sum(1).numpy(), (x * 2).sum(1), rtol=1e-6, atol=1e-5
    )
    np.testing.assert_array_equal(tg.Tensor(x).numpy(), x)
    source = torch.tensor(values(6, 5)).T[1:]
    np.testing.assert_array_equal(tg.Tensor(source).numpy(), source.numpy())


def test_names_of_dtypes() -> None:
    assert tg.dtypes.half is tg.dtypes.float16 is tg.Tensor([1.0], dtype="f16").dtype
    assert tg.Tensor([1]).cast(tg.dtypes.bool).dtype is tg.dtypes.bool_
    assert {"Tensor", "dtypes", "function"} <= {*dir(tg)}
    with pytest.raises(AttributeError, match=r"'float12' is not a dtype; there are: .*float16"):
        _ = tg.dtypes.float12
