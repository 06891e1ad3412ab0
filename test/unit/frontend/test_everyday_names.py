"""Methods by PyTorch's everyday names, with all of PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg

T = tg.Tensor
Function = Callable[..., Any]
pytestmark = pytest.mark.parity


def integers(*shape: int, high: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-high, high, shape).astype(np.int32)


def both(function: Function) -> tuple[Function, Function]:
    """A function that takes the class of tensors, for positions, and then tensors."""
    return (
        lambda *tensors: function(T, *tensors),
        lambda *tensors: function(torch.tensor, *tensors),
    )


X, Y = values(5, 6), values(5, 6, seed=1)
FLAT = np.array([np.nan, 1, np.nan, -np.inf, 1, np.inf, -0.0, 0], np.float32)
METHODS: dict[str, tuple[tuple[Function, Function], tuple[np.ndarray, ...]]] = {
    "mT": (both(lambda _, x: x.mT), (values(2, 3, 4),)),
    "bmm": (both(lambda _, x, y: x.bmm(y)), (values(2, 3, 4), values(2, 4, 5))),
    "masked_fill_": (both(lambda _, x: (x * 1).masked_fill_(x > 0, 2.5)), (X,)),
    "scatter_add": (both(lambda t, x, s: x.scatter_add(1, t([[1, 1], [0, 5]]), s)), (X, Y[:2, :2])),
    "index_add": (both(lambda t, x, s: x.index_add(1, t([2, 0, 2]), s, alpha=2)), (X, Y[:, :3])),
    "index_add to integers": (
        both(lambda t, x, s: x.index_add(0, t([2, 0]), s, alpha=3)),
        (integers(4), integers(2)),
    ),
    "index_select": (both(lambda t, x: x.index_select(-1, t([1, 0, 1]))), (X,)),
    "index_select of a scalar": (both(lambda t, x: x.index_select(0, t([0]))), (X[0, 0],)),
    "take_along_dim": (both(lambda _, x: x.take_along_dim(x.argsort(0), 0)), (X,)),
    "take_along_dim of rows": (both(lambda t, x: x.take_along_dim(t([[3, 1, 1]]), dim=1)), (X,)),
    "take_along_dim of a row": (
        both(lambda t, x: x.take_along_dim(t([[1], [5], [0]]), 1)),
        (X[:1],),
    ),
    "take_along_dim of all": (both(lambda t, x: x.take_along_dim(t([[1], [29]]))), (X,)),
    **{f"tile {c}": (both(lambda _, x, c=c: x.tile(c)), (X,)) for c in ((2,), (2, 1, 3), (0, 2))},
    "tile by numbers": (both(lambda _, x: x.tile(2, 3)), (X,)),
    **{
        f"diff {n} along {d}": (both(lambda _, x, n=n, d=d: x.diff(n, d)), (X,))
        for n, d in product((0, 1, 2, 9), (0, -1))
    },
    "diff of bools": (both(lambda _, x: (x > 0).diff()), (X,)),
    "diff with ends": (
        both(lambda _, x, y: x.diff(1, 0, prepend=y[:1], append=y[1:3])),
        (X, Y),
    ),
    **{
        f"count_nonzero {d}": (
            both(lambda _, x, d=d: x.count_nonzero(d)),
            (integers(3, 4, high=2),),
        )
        for d in (None, 0, (0, 1))
    },
    **{
        f"cdist {p}": (
            (lambda x, y, p=p: x.cdist(y, p), lambda x, y, p=p: torch.cdist(x, y, p)),
            (values(2, 3, 4), values(5, 4, seed=1)),
        )
        for p in (0.0, 0.5, 1.0, 2.0, 3.0, float("inf"))
    },
    "cdist of no features": (
        (lambda x: x.cdist(x, float("inf")), lambda x: torch.cdist(x, x, float("inf"))),
        (X[:, :0],),
    ),
    **{
        f"inverse of {shape}": (both(lambda _, x: x.inverse()), (values(*shape, seed=5),))
        for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 0))
    },
    **{
        f"det of {shape}": (both(lambda _, x: x.det()), (values(*shape),))
        for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 0))
    },
    "det of a permutation": (
        both(lambda _, x: x.det()),
        (np.eye(4, dtype=np.float32)[[2, 0, 3, 1]],),
    ),
    **{
        f"histc {options}": (both(lambda _, x, o=options: x.histc(**o)), (X,))
        for options in ({}, {"bins": 5}, {"bins": 4, "min": -1, "max": 1})
    },
    "histc of equals": (both(lambda _, x: x.histc(4)), (np.full(5, 2, np.float32),)),
    "histc of nothing": (both(lambda _, x: x.histc(4)), (X[:0],)),
    "histc of a NaN": (both(lambda _, x: x.histc(4, 0, 1)), (FLAT,)),
}
for q, kind, options in (
    *((0.3, kind, {"dim": 0}) for kind in ("linear", "lower", "higher", "midpoint", "nearest")),
    *((0.7, "linear", options) for options in ({}, {"dim": -1, "keepdim": True})),
    *(([0.1, 0.77], "linear", options) for options in ({"dim": 0}, {"keepdim": True})),
):
    METHODS[f"quantile {q} {kind} {options}"] = (
        both(
            lambda t, x, q=q, k=kind, o=options: x.quantile(
                t(q) if isinstance(q, list) else q, interpolation=k, **o
            )
        ),
        (X,),
    )
METHODS["quantile of NaN"] = both(lambda _, x: x.detach().quantile(0.5)), (FLAT,)
METHODS["quantile of a scalar"] = both(lambda t, x: x.quantile(t([0.5]), keepdim=True)), (X[0, 0],)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", METHODS)
def test_method(name: str):
    (ours, theirs), arrays = METHODS[name]
    check(ours, theirs, *arrays, rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("data", "options"),
    [
        *(
            (integers(4, 3, high=2), {"return_inverse": inverse, "return_counts": counts})
            for inverse, counts in product((False, True), (False, True))
        ),
        *(
            (data, {"return_inverse": True, "return_counts": True, "dim": dim})
            for data, dim in (
                (integers(5, 3, high=1), 0),
                (values(3, 6).round(), -1),
                (integers(3, 4, 2, high=1) > -1, 1),
                (integers(0, 3), 0),
            )
        ),
        (np.float32(3), {"return_inverse": True, "return_counts": True}),
    ],
)
def test_unique(data: np.ndarray, options: dict[str, Any]):
    check(
        lambda x: x.unique(**options),
        lambda x: torch.unique(x, **options),
        np.asarray(data),
        gradient=False,
    )


def test_unique_of_many_and_of_nan():
    for data in (integers(5000, high=900), FLAT):
        check(
            lambda x: x.unique(return_inverse=True, return_counts=True),
            lambda x: torch.unique(x, return_inverse=True, return_counts=True),
            data,
            gradient=False,
        )


def test_unique_of_a_size():
    @tg.function
    def traced(x: tg.Tensor) -> Any:
        return x.unique(return_inverse=True, return_counts=True, size=4, fill_value=-1)

    found = traced(T([3, 1, 1]))
    assert [t.tolist() for t in found] == [[1, 3, -1, -1], [1, 0, 0], [2, 1, 0, 0]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options", [{}, {"right": True}, {"side": "left"}, {"side": "right"}], ids=str
)
def test_searchsorted(options: dict[str, Any]):
    rows = np.sort(values(2, 3, 7).round(), -1)
    with_nan = np.array([1, 2, np.nan, np.nan], np.float32)
    for line, wanted in (
        (np.sort(integers(7)), integers(3, 4)),
        (rows, values(2, 3, 2).round()),
        (with_nan, np.append(with_nan, [0, 3, np.inf]).astype(np.float32)),
        (rows[0, 0, :0], rows),
        (rows[0, 0], rows[:0]),
    ):
        check(
            lambda x, y: x.searchsorted(y, **options),
            lambda x, y: torch.searchsorted(x, y, **options),
            line,
            wanted,
            gradient=False,
        )
    x = T(rows[0, 0])
    assert x.searchsorted(1.0, **options).item() == np.searchsorted(
        rows[0, 0], 1.0, "right" if "right" in str(options) else "left"
    )
    unsorted = T(X)
    order = unsorted.argsort(-1)
    found = unsorted.searchsorted(T(Y), sorter=order, **options).tolist()
    assert found == unsorted.sort(-1)[0].searchsorted(T(Y), **options).tolist()


REFUSALS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "mT": (lambda: T([1.0]).mT, RuntimeError, "a matrix has two"),
    "bmm": (lambda: T(X).bmm(T(X)), RuntimeError, r"\(b, n, m\) and \(b, m, p\)"),
    "index_add": (lambda: T(X).index_add(0, T([1]), T(X)), RuntimeError, r"the source is \(1, 6\)"),
    "index_select": (lambda: T(X).index_select(0, T([[1]])), IndexError, "one axis"),
    "take_along_dim": (lambda: T(X).take_along_dim(T([1]), 0), RuntimeError, "as many axes"),
    "order of diff": (lambda: T(X).diff(-1), RuntimeError, "order -1"),
    "unique": (lambda: T.zeros(3, 0).unique(dim=0), RuntimeError, "no elements"),
    "share": (lambda: T(X).quantile(1.1), RuntimeError, "between 0 and 1"),
    "interpolation": (lambda: T(X).quantile(0.5, interpolation="x"), RuntimeError, "'x'"),
    "quantile of integers": (lambda: T([1]).quantile(0.5), TypeError, "a float"),
    "quantile of nothing": (lambda: T([]).quantile(0.5), RuntimeError, "no elements"),
    "side": (lambda: T(X).searchsorted(T(X), True, "left"), RuntimeError, "side is left or right"),
    "rows": (lambda: T(X).searchsorted(T(X[:2])), RuntimeError, "one axis is sorted"),
    "p": (lambda: T(X).cdist(T(X), -1.0), RuntimeError, "p is not negative"),
    "inverse": (lambda: T(X).inverse(), RuntimeError, "a matrix is square"),
    "bounds": (lambda: T(X).histc(3, 1, 0), RuntimeError, "from 1 to 0"),
    "histc of integers": (lambda: T([1]).histc(3), TypeError, "a float"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str):
    function, kind, text = REFUSALS[name]
    with pytest.raises(kind, match=text):
        function()


def test_the_determinant_of_a_singular_matrix():
    """Its gradient is the matrix of the cofactors, where PyTorch has zeros."""
    x = np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], np.float64)
    t = T(x, requires_grad=True)
    determinant = t.det()
    determinant.backward()
    cofactors = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ]
    assert t.grad is not None
    np.testing.assert_allclose(determinant.item(), 0, atol=1e-12)
    np.testing.assert_allclose(t.grad.numpy(), cofactors, atol=1e-12)
    assert not np.isfinite(T(x).inverse().numpy()).all()


@pytest.mark.parametrize("name", ["erfinv", "lgamma"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_probability(name: str, dtype: Any):
    line = np.linspace(-0.999, 0.999, 301) * (1 if name == "erfinv" else 5.5)
    further = [170.0, 2.6, 0.5] if name == "lgamma" else [1 - 1e-7, 0.53]
    check(
        lambda x: getattr(x, name)(),
        lambda x: getattr(torch, name)(x),
        np.array([*line, *further]).astype(dtype),
        rtol=1e-5,
    )
