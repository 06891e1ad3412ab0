"""Sizes that depend on variables: one program for all of their values."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parity import torch, values

import tgdialect as tg
from tgdialect import nn
from tgdialect.frontend.symbolic import SymInt, is_surely_less, larger, smaller, to_dim

N = tg.Variable("n", 1, 16)
M = tg.Variable("m", 0, 5)
X = values(16, 3)


# -- arithmetic ------------------------------------------------------------------------------------


def leaves() -> st.SearchStrategy[Any]:
    bound = st.integers(1, 16).map(lambda v: (N.bind(v), v))
    other = st.integers(0, 5).map(lambda v: (M.bind(v), v))
    return st.one_of(bound, other, st.integers(-4, 20).map(lambda v: (v, v)))


def combined(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    operations = st.sampled_from([operator.add, operator.sub, operator.mul])

    def combine(op: Any, a: Any, b: Any) -> Any:
        return op(a[0], b[0]), op(a[1], b[1])

    return st.builds(combine, operations, children, children)


@given(st.recursive(leaves(), combined, max_leaves=6))
def test_arithmetic_is_that_of_the_values(pair: tuple[Any, int]):
    size, value = pair
    assert int(size) == value
    if isinstance(size, SymInt):
        assert size.min <= value <= size.max


def decided(compute: Callable[[], Any]) -> Any:
    """The answer, or None if it depends on the size."""
    try:
        return compute()
    except ValueError as error:
        if "depends on the size" not in str(error):
            raise
        return None


@given(st.recursive(leaves(), combined, max_leaves=4), st.integers(1, 6))
def test_a_quotient_is_that_of_the_values_or_an_error(pair: tuple[Any, int], divisor: int):
    size, value = pair
    found = decided(lambda: divmod(size, divisor))
    assert found is None or tuple(map(int, found)) == divmod(value, divisor)


@given(
    st.recursive(leaves(), combined, max_leaves=4), st.recursive(leaves(), combined, max_leaves=4)
)
def test_comparisons_are_those_of_the_values_or_errors(a: tuple[Any, int], b: tuple[Any, int]):
    for compare in operator.lt, operator.le, operator.gt, operator.ge:
        assert decided(lambda compare=compare: compare(a[0], b[0])) in (None, compare(a[1], b[1]))
    for choose, of_values in (larger, max), (smaller, min):
        found = decided(lambda choose=choose: int(choose(a[0], b[0])))
        assert found in (None, of_values(a[1], b[1]))
    if is_surely_less(a[0], b[0]):
        assert a[1] < b[1]


@pytest.mark.parametrize("choose", [larger, smaller])
@pytest.mark.parametrize("depth", [2, 6, 9])
def test_bounds_of_many_maxima(choose: Callable[..., Any], depth: int):
    """Each of them has two cases: not all of them are looked at."""

    def chain(size: Any) -> Any:
        for _ in range(depth):
            size = choose(size // 3, size - 1)
        return size

    variable = tg.Variable("n", 1, 100)
    size, of_values = chain(to_dim(variable)), [chain(n) for n in range(1, 101)]
    assert size.min <= min(of_values) <= max(of_values) <= size.max


def test_a_size_prints_as_a_polynomial():
    n, m = N.bind(3), M.bind(2)
    assert str(n) == "n"
    assert str(2 * n * m - m + 1) in ("2*m*n - m + 1", "2*n*m - m + 1")
    assert str(-n) == "-n"
    assert str(1 - n) == "-n + 1"


def test_a_variable_can_be_taken_apart():
    assert N.bind(3).unbind() == (N, 3)
    with pytest.raises(ValueError, match=r"n \+ 1 is not a variable"):
        (N.bind(3) + 1).unbind()


def test_equal_sizes_are_equal():
    assert N.bind(3) + 1 == 1 + N.bind(3)
    assert N.bind(3) != N.bind(4)
    assert N.bind(3) * 2 - N.bind(3) == N.bind(3)
    assert N.bind(3) - N.bind(3) == 0
    assert len({N.bind(3), N.bind(3), tg.Variable("n", 1, 17).bind(3)}) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tg.Variable("n", 3, 1), ValueError, "n is between 3 and 1"),
        (lambda: tg.Variable("n", -1, 1), ValueError, "n is between -1 and 1"),
        (lambda: tg.Variable("n", 0, 256, "ui8"), ValueError, "up to 256, out of the range of ui8"),
        (lambda: tg.Variable("n", 0, 1, "f32"), TypeError, "a size is an integer"),
        (lambda: N.bind(17), ValueError, r"n is 17, outside of \[1, 16\]"),
        (lambda: N.bind(True), TypeError, "n is an integer, got True"),
        (lambda: N.bind(1.5), TypeError, "an integer, got"),  # type: ignore[arg-type]
        (lambda: range(N.bind(3)), TypeError, "n is symbolic"),  # type: ignore[call-overload]
        (lambda: N.bind(3) < 5, ValueError, "whether n < 5 depends on the size"),
        (lambda: N.bind(3) // 0, ValueError, "n divided by 0"),
        (lambda: N.bind(3) // M.bind(1), ValueError, "n divided by m, which may be 0 or less"),
        (lambda: N.bind(3) + "1", TypeError, "unsupported operand"),  # type: ignore[operator]
        (lambda: N.bind(3) ** 20, ValueError, "has too many terms"),
    ],
)
def test_errors_of_sizes(call: Callable[[], Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        call()


# -- tensors ---------------------------------------------------------------------------------------


def _merged(x: Any) -> Any:
    """Axes merged in front of one whose extent is a sum of sizes."""
    return x.unsqueeze(1).reshape(-1, x.shape[1])


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "slice": lambda x, n: x[:n] * 1,
    "offset": lambda x, n: x[n - 1 : n + 0] * 1,
    "position": lambda x, n: x[n - 1] * 2,
    "negative_position": lambda x, n: x[:n][-1] + 1,
    "tail": lambda x, n: x[n - 1 :] + 1,
    "sum": lambda x, n: x[:n].sum(0),
    "prod": lambda x, n: x[:n].prod(0),
    "amax": lambda x, n: x[:n].amax(0) if isinstance(x, torch.Tensor) else x[:n].max(0),
    "mean": lambda x, n: x[:n].mean(0),
    "var": lambda x, n: x[: n + 1].var(0),
    "softmax": lambda x, n: x[:n].softmax(0),
    "logsumexp": lambda x, n: x[:n].logsumexp(0),
    "cumsum": lambda x, n: x[:n].cumsum(0),
    "cumprod": lambda x, n: x[:n].cumprod(0),
    "argmax": lambda x, n: x[:n].argmax(0),
    "argmin": lambda x, n: x[:n].argmin(0),
    "matmul": lambda x, n: x[:n] @ x[:n].T,
    "matmul_inner": lambda x, n: x[:n].T @ x[:n],
    "transpose": lambda x, n: x[:n].T * 2,
    "flatten": lambda x, n: x[:n].flatten() + 1,
    "flip": lambda x, n: x[:n].flip(0) * 1,
    "tril": lambda x, n: x[:n].tril(),
    "scaled": lambda x, n: x[:n] * n,
    "scaled in floats": lambda x, n: x[:n] * (n / 4 - 0.5) + 1 / n**0.5 * (2.5 - n) % 1.5,
    "power": lambda x, n: x[:n] * (0.9**n + n**2 + n // 2.5),
    "correction": lambda x, n: x[:n].var(0, correction=0.5) + x[:n].std(correction=0.25),
    "number": lambda x, n: x[:n].sum() / n,
    "broadcast": lambda x, n: x[:n].unsqueeze(1) * x[:n].unsqueeze(0),
    "layernorm": lambda x, n: (
        torch.nn.functional.layer_norm(x[:n], (3,))
        if isinstance(x, torch.Tensor)
        else x[:n].layernorm()
    ),
    "attention": lambda x, n: (
        torch.nn.functional.scaled_dot_product_attention
        if isinstance(x, torch.Tensor)
        else tg.Tensor.scaled_dot_product_attention
    )(x[None], x[None, :n], x[None, :n]),
    "causal": lambda x, n: (
        torch.nn.functional.scaled_dot_product_attention
        if isinstance(x, torch.Tensor)
        else tg.Tensor.scaled_dot_product_attention
    )(x[None, :n], x[None, :n], x[None, :n], is_causal=True),
    "masked": lambda x, n: x[:n].masked_fill(x[:n] > 0, 0),
    "repeat": lambda x, n: x[:n].repeat(2, 1),
    "cat": lambda x, n: (
        torch.cat([x[:n], x[:2]]) if isinstance(x, torch.Tensor) else x[:n].cat(x[:2])
    ),
    "stack": lambda x, n: (
        torch.stack([x[:n], x[:n] * 2]) if isinstance(x, torch.Tensor) else x[:n].stack(x[:n] * 2)
    ),
    "reshape": lambda x, n: _merged(
        x[:n, :1]
        * (torch.cat([x[:n], x[:2]]) if isinstance(x, torch.Tensor) else x[:n].cat(x[:2]))[:, 0]
    ),
    "gather": lambda x, n: x[:n].gather(0, type(x)([[0, 0, 0]]).long()),
    "index": lambda x, n: x[:n][type(x)([0, 0]).long()],
    "sort": lambda x, n: x[:n].sort(0)[0],
    "stride": lambda x, n: x[:n][::2] * 1,
    "roll": lambda x, n: x[:n].roll(-5, 0),
    "conv": lambda x, n: (
        torch.nn.functional.conv1d if isinstance(x, torch.Tensor) else tg.Tensor.conv2d
    )(x[:n].T[None], x[:9].reshape((3, 3, 3)), padding=1, stride=2),
    "median": lambda x, n: x[:n].median(0)[0],
}


@pytest.mark.sampled(6)
@pytest.mark.parity
@pytest.mark.parametrize("name", METHODS)
def test_method(name: str, compilations: list[Any]):
    method = METHODS[name]
    for k in (2, 5, 14):
        found = method(tg.Tensor(X), N.bind(k)).numpy()
        expected = method(torch.tensor(X), k).numpy()
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
    assert len(compilations) <= 1


@pytest.mark.sampled(24)
@pytest.mark.parity
@pytest.mark.parametrize("name", [n for n in METHODS if n not in ("argmax", "argmin")])
def test_gradient(name: str, compilations: list[Any]):
    method = METHODS[name]
    for k in (2, 5, 14):
        x = tg.Tensor(X, requires_grad=True)
        (method(x, N.bind(k)) ** 2).sum().backward()
        reference = torch.tensor(X, requires_grad=True)
        (method(reference, k) ** 2).sum().backward()
        assert x.grad is not None
        assert reference.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), reference.grad.numpy(), rtol=1e-4, atol=1e-4)
    assert len(compilations) <= 1


@pytest.mark.parametrize("least", [0, 1])
def test_strides_windows_and_rolls_of_all_sizes(least: int):
    """A compiled function gets sizes of 0 and 1, even and odd ones, and the greatest."""
    weight = tg.Tensor(values(3, 3, 3, seed=4))

    def all_of_them(x: tg.Tensor) -> Any:
        parts = x[::3], x[1::2], x[::-2], x.roll(1, 0), x.roll((-7, 20), (0, 0))
        return *parts, x.T[None].conv2d(weight, padding=1)

    function = tg.compile(all_of_them, tg.spec(("n", 3), "f32", n=(least, 16)))
    for size in (least, 1, 2, 7, 16):
        x = X[:size]
        *parts, convolved = function(x)
        expected = x[::3], x[1::2], x[::-2], np.roll(x, 1, 0), np.roll(x, 13, 0)
        for found, wanted in zip(parts, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        wide = np.pad(x, ((1, 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(wide, 3, 0)[:size]
        wanted = np.einsum("nck,ock->on", windows, weight.numpy())
        np.testing.assert_allclose(convolved[0], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_symbolic_bounds_of_slices_count_from_the_end(size: int):
    def parts(x: Any, n: Any) -> Any:
        return x[:-n] * 1, x[-n:] * 1, x[: -n - 99] * 1, x[: n + 99] * 1, x[:-n:-1] * 1

    function = tg.function(lambda n: parts(tg.Tensor(X), n))
    n = tg.Variable("n", 1, 5).bind(size)
    reversed_part = X[:-size:-1]
    wanted = X[:-size], X[-size:], X[:0], X, reversed_part
    for found in parts(tg.Tensor(X), n), function(n):
        for part, expected in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(part.numpy(), expected)
    changed, expected = tg.Tensor(X), X.copy()
    changed[:-n] = expected[:-size] = 3
    np.testing.assert_array_equal(changed.numpy(), expected)


def test_a_bound_of_a_slice_that_is_0_or_counts_from_the_end():
    function = tg.function(lambda n: tg.Tensor(X)[:-n] * 1)
    with pytest.raises(ValueError, match="counts from the end depends on the variables"):
        function(tg.Variable("n", 0, 5).bind(2))
    shifted, changed = tg.function(lambda n: tg.Tensor(X)[: n - 3] * 1), tg.Tensor(X).realize()

    @tg.function
    def write(n: Any) -> None:
        changed[: n - 3] = 3

    for size in (5, 3):
        write(tg.Variable("n", 0, 9).bind(size))
        found = shifted(tg.Variable("n", 0, 9).bind(size)).numpy()
        np.testing.assert_array_equal(found, X[: size - 3])
    np.testing.assert_array_equal(changed.numpy(), np.where(np.arange(len(X))[:, None] < 2, 3, X))
    for call in shifted, write:
        with pytest.raises((ValueError, tg.CompilationError), match="-1"):
            call(tg.Variable("n", 0, 9).bind(2))


def test_quotients_have_one_form():
    n, m = N.bind(7), M.bind(2)
    assert -(-n // 2) == (n + 1) // 2 == (2 * n + 2) // 4 == (n + 3) // 2 - 1
    assert n // 2 // 3 == n // 6
    assert (n - n % 4) % 4 == 0
    assert (n % 4).min == 0
    assert (n % 4).max == 3
    assert larger(n, m) == larger(m, n) == larger(n + 1, m + 1) - 1
    assert smaller(n, m) + larger(n, m) == n + m
    assert str((n + 1) // 2) == "(n + 1)//2"
    assert str(3 * (n // 2)) == "3*(n//2)"
    assert str(larger(n, 3)) == "max(n - 3, 0) + 3"


def test_memory_whose_extent_is_the_lesser_of_two():
    """Its size is m + n - max(m, n): a product with a negative factor."""

    def products(x: tg.Tensor) -> tg.Tensor:
        k = smaller(*x.shape)
        a = x[:k, :k].softmax(-1).contiguous()
        b = a.dot(a).contiguous()
        c = b.dot(b).contiguous()
        return (a.dot(b) + c.sum(0)).dot(c)

    compute = tg.function(products)
    x = values(16, 5)
    for m, n in (3, 4), (5, 2):
        found = compute(tg.Tensor(x)[: N.bind(m), : M.bind(n)])
        a = np.exp(x[: min(m, n), : min(m, n)].astype(np.float64))
        a /= a.sum(-1, keepdims=True)
        b = a @ a
        np.testing.assert_allclose(found.numpy(), (a @ b + (b @ b).sum(0)) @ b @ b, rtol=1e-5)


def test_creation():
    n = N.bind(4)
    assert tg.Tensor.arange(n).tolist() == [0, 1, 2, 3]
    assert tg.Tensor.arange(2, n + 2).tolist() == [2, 3, 4, 5]
    assert tg.Tensor.ones(n, 2).numpy().shape == (4, 2)
    assert tg.Tensor.full((2, n), 7).tolist() == [[7] * 4] * 2
    assert tg.Tensor.eye(n).numpy().tolist() == np.eye(4).tolist()


def test_a_realized_tensor_keeps_its_symbolic_shape():
    n = N.bind(4)
    x = (tg.Tensor(X)[:n].cat(tg.Tensor(X)[:1]) * 2).realize()
    assert x.shape == (n + 1, 3)
    assert x.max_shape == (17, 3)
    assert x.max_numel() == 51
    assert len(x) == 5
    y = x + tg.Tensor(X)[: n + 1]
    np.testing.assert_allclose(y.numpy(), 2 * np.vstack([X[:4], X[:1]]) + X[:5], rtol=1e-6)
    assert "n + 1" in repr(y[:, :1].contiguous())


def test_two_variables(compilations: list[Any]):
    for a, b in ((2, 3), (9, 0), (16, 5)):
        n, m = N.bind(a), M.bind(b)
        outer = tg.Tensor(X)[:n, :1] * tg.Tensor(X)[:m, 0]
        assert outer.shape == (n, m)
        np.testing.assert_allclose(outer.numpy(), X[:a, :1] * X[:b, 0], rtol=1e-6)
    assert len(compilations) == 1


def test_one_variable_with_two_values_is_two_sizes():
    x = tg.Tensor(X)
    with pytest.raises(ValueError, match="do not broadcast"):
        x[: N.bind(3)] + x[: N.bind(4)]
    both = x[: N.bind(3)].sum(0) + x[: N.bind(4)].sum(0)
    np.testing.assert_allclose(both.numpy(), X[:3].sum(0) + X[:4].sum(0), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, n: x[:n] + x[:4], ValueError, "axis 0: %n and 4 do not broadcast"),
        (lambda x, n: x[:n].reshape(5, 3), ValueError, r"\(n, 3\) cannot be reshaped to \(5, 3\)"),
        (lambda x, n: x[n + 20], IndexError, r"index n \+ 20 is outside of axis 0, which has 16"),
        (lambda x, n: x[n + 11], IndexError, r"index n \+ 11 is outside of axis 0"),
        (lambda x, n: x[: n + 12], ValueError, "is outside of"),
        (lambda x, n: x[:n][:6], ValueError, "is outside of"),
        (lambda x, n: x[:n][-6:], ValueError, "is outside of"),
        (lambda x, n: x[:8:n], ValueError, "the step of a slice is an integer other than 0, not n"),
        (lambda x, n: list(x[:n]), TypeError, "n is symbolic"),
        (
            lambda x, n: x[:n].split(2),
            ValueError,
            r"their number, \(n \+ 1\)//2, depends on the size",
        ),
        (
            lambda x, n: x[:n].chunk(2),
            ValueError,
            "chunk of n cells into 2 parts: .* depend on the",
        ),
        (lambda x, n: x[:n].unfold(0, 2, n - 1), RuntimeError, "windows of 2, step n - 1, of an"),
        (lambda x, n: x[:n].pad((n - 3, 0), mode="circular"), ValueError, "whether it is negative"),
        (lambda x, n: x[:n].qr(), ValueError, r"qr of shape \(n, 3\): .* are not symbolic"),
        (lambda x, n: x[:n].svd(), ValueError, r"svd of shape \(n, 3\): .* are not symbolic"),
        (lambda x, n: x[:n].T.rfft(), ValueError, "rfft of a symbolic length: n"),
        (lambda x, n: x[:n].reshape(-1, 2), ValueError, "cannot be reshaped"),
        (lambda x, n: x[:n].T.interpolate(scale_factor=0.3), ValueError, "scale_factor 0.3 of an"),
        (
            lambda x, n: tg.Tensor.kaiming_uniform(2, n),
            ValueError,
            "their bound is a number, not n",
        ),
        (lambda x, n: x[:n].item(), ValueError, r"a tensor of one element, got shape \(n, 3\)"),
        (lambda x, n: tg.Tensor.arange(0, n, 0.5), TypeError, "is of integers"),
        (lambda x, n: tg.Tensor.arange(n, 0, n), ValueError, "-n is negative"),
        (lambda x, n: tg.Tensor(N), RuntimeError, "n is unbound"),
        (lambda x, n: tg.Tensor.ones(N).numpy(), RuntimeError, "n is unbound"),
        (lambda x, n: tg.Tensor.ones(2, N) @ x[:n], RuntimeError, "n is not n"),
    ],
)
def test_errors_of_tensors(call: Callable[[Any, Any], Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        call(tg.Tensor(X), N.bind(5))


# -- functions -------------------------------------------------------------------------------------


def test_a_function_is_compiled_once_for_all_sizes(compilations: list[Any]):
    @tg.function
    def f(x: tg.Tensor, n: Any) -> Any:
        return x[:n].sum(0), x[:n] * 2, n + 1

    for k in (1, 3, 16):
        total, part, size = f(tg.Tensor(X), N.bind(k))
        np.testing.assert_allclose(total.numpy(), X[:k].sum(0), rtol=1e-5, atol=1e-6)
        assert part.shape == (N.bind(k), 3)
        np.testing.assert_allclose(part.numpy(), X[:k] * 2)
        assert size == N.bind(k) + 1
    assert len(compilations) == 1


def test_arguments_of_symbolic_shape(compilations: list[Any]):
    @tg.function
    def f(x: tg.Tensor) -> Any:
        return x.cat(x[:1]), x.shape[0]

    for k in (1, 3, 16):
        joined, size = f(tg.Tensor(X)[: N.bind(k)])
        assert size == N.bind(k)
        assert joined.shape == (N.bind(k) + 1, 3)
        np.testing.assert_array_equal(joined.numpy(), np.vstack([X[:k], X[:1]]))
    again, _ = f(joined[:, :3].realize())
    np.testing.assert_array_equal(again.numpy(), np.vstack([X[:16], X[:1], X[:1]]))


def test_nested_functions(compilations: list[Any]):
    @tg.function
    def inner(x: tg.Tensor) -> tg.Tensor:
        return x.cat(x)

    @tg.function
    def outer(x: tg.Tensor, n: Any) -> tg.Tensor:
        return (inner(x[:n]) * inner(x[:n] * 2)).sum(0)

    for k in (1, 3, 16):
        found = outer(tg.Tensor(X), N.bind(k)).numpy()
        np.testing.assert_allclose(found, 4 * (X[:k] ** 2).sum(0), rtol=1e-5)


@pytest.mark.parity
def test_gradients_through_functions():
    weight = tg.Tensor(values(3, 3, seed=1), requires_grad=True)

    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        return ((x @ weight).softmax(0) * x).sum()

    @tg.function
    def gradient(x: tg.Tensor) -> tg.Tensor:
        return ((x @ weight).softmax(0) * x).sum().gradient(x)[0]

    for k in (3, 7):
        x = tg.Tensor(X, requires_grad=True)
        weight.grad = None
        f(x[: N.bind(k)]).backward()
        tx, tw = torch.tensor(X, requires_grad=True), torch.tensor(weight.numpy()).requires_grad_()
        ((tx[:k] @ tw).softmax(0) * tx[:k]).sum().backward()
        assert x.grad is not None
        assert weight.grad is not None
        assert tx.grad is not None
        assert tw.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), tx.grad.numpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(weight.grad.numpy(), tw.grad.numpy(), rtol=1e-4, atol=1e-6)
        found = gradient(x[: N.bind(k)].detach())
        np.testing.assert_allclose(found.numpy(), tx.grad.numpy()[:k], rtol=1e-4, atol=1e-6)


@pytest.mark.parity
def test_a_cache_of_keys(compilations: list[Any]):
    """Attention to all that was seen before, one step at a time."""
    position = tg.Variable("position", 0, 7)
    cache = tg.Tensor.zeros(2, 8, 4).contiguous().realize()
    weight = tg.Tensor(values(3, 4, seed=2))

    @tg.function
    def step(token: tg.Tensor, at: Any) -> tg.Tensor:
        new = token @ weight
        cache[:, at : at + 1] = new
        keys = cache[:, : at + 1]
        return new.scaled_dot_product_attention(keys, keys)

    tokens = values(8, 2, 1, 3, seed=3)
    compilations.clear()
    for i in range(8):
        found = step(tg.Tensor(tokens[i]), position.bind(i)).numpy()
        keys = torch.tensor(np.concatenate([t @ weight.numpy() for t in tokens[: i + 1]], 1))
        expected = torch.nn.functional.scaled_dot_product_attention(keys[:, -1:], keys, keys)
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5, atol=1e-6)
    assert len(compilations) == 1


def test_a_size_is_not_known_while_a_function_is_traced():
    @tg.function
    def f(x: tg.Tensor, n: Any) -> tg.Tensor:
        return x * int(n)

    with pytest.raises(RuntimeError, match="n is not known while its function is traced"):
        f(tg.Tensor(X), N.bind(3))


class Layers:
    """Layers, one after the other."""

    def __init__(self, *layers: Any) -> None:
        self.layers = layers

    def __call__(self, x: Any) -> Any:
        return x.sequential(self.layers)


LAYERS: dict[str, tuple[Callable[[], Callable[[Any], Any]], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(6, 3), (8, 6)),
    "conv": (lambda: nn.Conv2d(3, 4, 3, padding=1), (8, 3, 6, 6)),
    "transposed conv": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), (8, 3, 6, 6)),
    "batch norm": (lambda: nn.BatchNorm(3), (8, 3, 6, 6)),
    "group norm": (lambda: nn.GroupNorm(3, 3), (8, 3, 6, 6)),
    "layer norm": (lambda: nn.LayerNorm(6), (8, 6)),
    "flattened conv": (
        lambda: Layers(nn.Conv2d(3, 4, 3), lambda x: x.flatten(1), nn.Linear(64, 2)),
        (8, 3, 6, 6),
    ),
    "transposed": (
        lambda: Layers(
            lambda x: x.transpose(1, 2), nn.Linear(4, 3), lambda x: x.flatten(1), nn.Linear(18, 2)
        ),
        (8, 4, 6),
    ),
    "max pool": (lambda: lambda x: x.max_pool2d(2), (8, 3, 6, 6)),
    "attention": (lambda: lambda x: x.scaled_dot_product_attention(x, x), (8, 3, 6, 6)),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", LAYERS)
def test_training_with_a_batch_of_symbolic_size(name: str, compilations: list[Any]):
    """Results, gradients and running averages are those of static sizes, by one program."""
    make, shape = LAYERS[name]
    x = tg.Tensor(values(*shape)).realize()
    results: list[Any] = []
    with tg.Tensor.train():
        for sizes in ((1, 5), [N.bind(k) for k in (1, 5)]):
            tg.Tensor.manual_seed(0)
            layer = make()
            state = nn.state.get_state_dict(layer)
            x.realize(*state.values())
            learnt = [t for t in state.values() if t.requires_grad]

            @tg.function
            def step(x: tg.Tensor, layer=layer, learnt=learnt) -> Any:  # pyright: ignore
                y = layer(x)
                return y, *(y.sin().sum() / y.shape[0]).gradient(x, *learnt)

            compilations.clear()
            for size in sizes:
                results.append([t.numpy() for t in (*step(x[:size]), *state.values())])
    assert len(compilations) == 1
    for expected, found in zip(results[:2], results[2:], strict=True):
        for part, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(part, wanted, rtol=1e-5, atol=1e-6)


def test_the_page_on_training(compilations: list[Any], capsys: pytest.CaptureFixture[str]):
    page = (Path(__file__).parents[3] / "docs" / "tensor.md").read_text(encoding="utf-8")
    section = page.partition("### Training with batches of all sizes\n\n```python\n")[2]
    exec(section.partition("```")[0], {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*["32"] * 3, "4"]
    assert len(compilations) == 2  # The weights, and the step.


@pytest.mark.sampled(4)
@pytest.mark.parametrize("k", [1, 2, 7, 16])
def test_random_numbers_of_symbolic_sizes_are_those_of_their_values(
    compilations: list[Any], k: int
):
    """Also those that are drawn next."""

    def draw(n: Any) -> Any:
        T = tg.Tensor
        numbers = T.rand(n, 3), T.randn(n), T.randint(2, n, low=-3), T.uniform(n, dtype="float16")
        return *numbers, T.randperm(n), T.randn(3), T.ones(n, 9).multinomial(2)

    traced = tg.function(draw)
    tg.Tensor.manual_seed(3)
    expected = [t.numpy() for t in draw(k)]
    for function in draw, traced:
        tg.Tensor.manual_seed(3)
        for found, wanted in zip(function(N.bind(k)), expected, strict=True):
            np.testing.assert_array_equal(found.numpy(), wanted)
    compilations.clear()
    traced(N.bind(5))
    assert not compilations


def test_masks_along_symbolic_axes():
    for k in (1, 4, 16):
        x, array = tg.Tensor(X)[: N.bind(k)], X[:k]
        np.testing.assert_array_equal((x > 0).nonzero().numpy(), np.argwhere(array > 0))
        np.testing.assert_array_equal(x[x > 0].numpy(), array[array > 0])
        np.testing.assert_array_equal(x[x[:, 0] > 0].numpy(), array[array[:, 0] > 0])
        found = tg.function(lambda x: x.masked_select(x > 0, size=2 * x.shape[0], fill_value=7))(x)
        wanted = np.append(array[array > 0], [7] * 2 * k)[: 2 * k]
        np.testing.assert_array_equal(found.numpy(), wanted)
    with pytest.raises(RuntimeError, match="masked_select and nonzero take a size"):
        tg.function(lambda x: x[x > 0])(tg.Tensor(X)[: N.bind(3)])


# -- bounds of slices, numbers in tensors ----------------------------------------------------------


def test_integer_slices_of_symbolic_axes():
    x = tg.Tensor(X)[: N.bind(5)]
    for bounds in (slice(0, 3), slice(2, 5), slice(-3, -1), slice(-1, None), slice(0, 16)):
        part = x[bounds]
        np.testing.assert_array_equal(part.numpy(), X[:5][bounds])
    assert x[:3].shape == (3, 3)
    assert x[:16].shape == x.shape


@pytest.mark.parametrize(
    "bounds",
    [
        *(slice(-1, None), slice(-3, None), slice(None, -1), slice(None, -3), slice(-3, -1)),
        *(slice(-3, None, 2), slice(-1, None, -1), slice(None, -3, -1), slice(-1, -4, -1)),
        *(slice(-1, -3), slice(-2, None, -1)),
    ],
    ids=str,
)
def test_slices_from_the_end_of_an_axis_that_may_be_empty(bounds: slice):
    """As NumPy has them, also of fewer cells than the numbers count."""
    least_0 = tg.Variable("n", 0, 9)

    def replaced(x: tg.Tensor) -> tg.Tensor:
        x = x + 0
        x[bounds] = -7.0
        return x

    read = tg.function(lambda x: x[bounds] * 2)
    written = tg.function(replaced)
    for size in (5, 2, 1, 0):
        x, line = X[:size], tg.Tensor(X)[: least_0.bind(size)]
        np.testing.assert_array_equal(read(line).numpy(), 2 * x[bounds])
        expected = x.copy()
        expected[bounds] = -7
        np.testing.assert_array_equal(written(line).numpy(), expected)
        np.testing.assert_array_equal((line[bounds] * 2).numpy(), 2 * x[bounds])
    # The extent is a number where the axis is not empty.
    assert tg.Tensor(X)[: N.bind(3)][-1:].shape == (1, X.shape[1])


def test_a_size_in_a_tensor():
    for n, dtype in ((N, "i32"), (tg.Variable("m", 0, 2**40), "i64")):
        assert tg.Tensor(n.bind(5)).dtype.name == dtype
        assert tg.Tensor(n.bind(5) * 2 + 1).item() == 11
    assert tg.Tensor(tg.Variable("n", 0, 9, dtype="ui8").bind(5)).dtype.name == "ui8"
    assert tg.Tensor(N.bind(5), dtype="f32").item() == 5.0
    assert tg.Tensor.full((2,), N.bind(5)).tolist() == [5, 5]
    double = tg.function(lambda n: tg.Tensor(n) * 2)
    assert [double(N.bind(i)).item() for i in (3, 4)] == [6, 8]


def test_arange_in_symbolic_steps():
    step = tg.Variable("s", 1, 3)
    for s in (1, 2, 3):
        line = tg.Tensor.arange(0, 10, step.bind(s))
        assert line.tolist() == list(range(0, 10, s))
        both = tg.Tensor.arange(N.bind(2), N.bind(14) + 2, step.bind(s))
        assert both.tolist() == list(range(2, 16, s))
    assert tg.Tensor.arange(0, N.bind(7), 2).tolist() == [0, 2, 4, 6]
    assert tg.Tensor.arange(N.bind(7), 0, -2).tolist() == [7, 5, 3, 1]


def test_a_write_to_no_cells_between_symbolic_bounds():
    n = tg.Variable("n", 1, 9).bind(8)
    for start in (None, 7):
        x = tg.Tensor(np.zeros(9, np.float32))
        x[start:n:-2] = 1
        assert x.tolist() == [0] * 9


@pytest.mark.parametrize("least", [0, 3])
def test_writes_to_slices_of_symbolic_bounds(least: int):
    n = tg.Variable("n", least, 9)
    slices: list[Callable[[Any], slice]] = [
        lambda n: slice(n - 1, None),
        lambda n: slice(1, n - 1),
        lambda n: slice(n // 2, n),
        lambda n: slice(None, n - 3),
    ]
    for of in slices:
        array = np.arange(27, dtype=np.float32).reshape(9, 3)
        tensor = tg.Tensor(array.copy()).realize()

        @tg.function
        def write(n, tensor=tensor, of=of):
            tensor[of(n)] += 1

        for size in (5, 8, 3):
            write(n.bind(size))
            array[of(size)] += 1
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_running_reductions_along_long_symbolic_axes(compilations: list[Any]):
    """In blocks, of which the last one may be shorter."""

    @tg.function
    def running(x: Any) -> Any:
        return x.cumsum(0), x.cummax(0)[0], (x > 0).nonzero(size=x.shape[0])

    size = tg.Variable("n", 1, 1 << 20)
    rng = np.random.default_rng(0)
    for n in (1, 31, 32, 33, 64, 1000, 1025, 40000):
        x = rng.integers(-9, 9, n).astype(np.float32)
        found = running(tg.Tensor(np.pad(x, (0, 1)))[: size.bind(n)])
        total, greatest, places = (t.numpy() for t in found)
        np.testing.assert_array_equal(total, x.astype(np.float64).cumsum())
        np.testing.assert_array_equal(greatest, np.maximum.accumulate(x))
        wanted = np.flatnonzero(x > 0)
        np.testing.assert_array_equal(places[: len(wanted), 0], wanted)


def test_writes_to_symbolic_numbers_of_positions():
    size = tg.Variable("n", 1, 1 << 20)

    @tg.function
    def written(x: Any, places: Any) -> Any:
        y = x.clone()
        y[places] = places.cast("float32")
        return y

    for n in (1, 600):
        places = np.random.default_rng(n).integers(0, 1000, n + 1).astype(np.int32)
        shown = tg.Tensor(places)[: size.bind(n)]
        wanted = np.zeros(1000, np.float32)
        wanted[places[:n]] = places[:n]
        np.testing.assert_array_equal(written(tg.Tensor.zeros(1000), shown).numpy(), wanted)


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere, memory is counted before it is used"
)
def test_workspaces_take_the_memory_that_a_call_uses():
    """A workspace is as large as for the greatest sizes: here, of more bytes than there are."""
    most = 1 << 42
    spec = tg.spec(["n"], "f32", n=(1, most))

    def two_kernels(x: Any) -> Any:
        return (x + 1).contiguous() * x.sum()

    call = tg.function(two_kernels).lower(spec).compile()
    for n in (5, 70, 5):
        x = np.arange(n, dtype=np.float32)
        np.testing.assert_allclose(call(x), (x + 1) * x.sum())


def test_positions_of_other_sizes_are_an_error_of_the_argument():
    x, places = tg.Tensor(np.ones((9, 9), np.float32)), tg.Tensor(np.arange(9))
    n, m = (tg.Variable(name, 1, 9).bind(3) for name in "nm")
    for other in (places[:m], tg.Tensor([0, 1, 2])):
        with pytest.raises(IndexError, match="do not broadcast"):
            _ = x[places[:n], other]
