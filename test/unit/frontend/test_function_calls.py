"""Calls of functions like the one before, which a builtin sees to, and all others, which it leaves
to Python."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from parity import values

import tgdialect as tg
from tgdialect.frontend.function import Function
from tgdialect.frontend.graph import Node
from tgdialect.runtime import launcher


@pytest.fixture(params=["builtin", "python"])
def f(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`a * 2 + b`, of which a call on tensors of 3x4 is like the one before."""
    if request.param == "python":
        monkeypatch.setattr(launcher, "_code", lambda _: None)
    new = tg.function(lambda a, b: a * 2 + b)
    for _ in range(3):
        new(tg.Tensor(values(3, 4)), tg.Tensor(values(3, 4, seed=1)))
    return new


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The calls that Python has looked at."""
    calls: list[object] = []
    original = Function._called
    monkeypatch.setattr(
        Function, "_called", lambda self, *of: calls.append(of) or original(self, *of)
    )
    return calls


def test_results(f: Any, looked: list[object], request: pytest.FixtureRequest):
    for seed in range(5):
        x, y = values(3, 4, seed=seed), values(3, 4, seed=seed + 9)
        result = f(tg.Tensor(x), tg.Tensor(y))
        np.testing.assert_allclose(result.numpy(), x * 2 + y, rtol=1e-6)
        assert (result.shape, result.dtype.name, result.requires_grad) == ((3, 4), "f32", False)
        assert result.grad is None
    assert len(looked) == (0 if "builtin" in request.node.name else 5)


def test_a_result_is_a_tensor_as_any_other(f: Any):
    x, y = tg.Tensor(values(3, 4)), tg.Tensor(values(3, 4, seed=1))
    first, second = f(x, y), f(x, y)
    assert type(first) is tg.Tensor
    assert first.node.owner() is first
    assert first.node.serial < second.node.serial < tg.Tensor(1.0).node.serial
    assert {name for name in Node.__slots__ if not hasattr(first.node, name)} == set()
    assert gc.is_tracked(first)
    assert gc.is_tracked(first.node)
    # The result of one call is what the next one takes, and may be assigned and differentiated.
    again = f(f(first, second), first)
    expected = (first.numpy() * 2 + second.numpy()) * 2 + first.numpy()
    np.testing.assert_allclose(again.numpy(), expected, rtol=1e-6)
    again.assign(again + 1)
    np.testing.assert_allclose(again.numpy(), expected + 1, rtol=1e-6)


def test_nothing_is_kept(f: Any):
    x, y = tg.Tensor(values(3, 4)), tg.Tensor(values(3, 4, seed=1))
    kept = [None, True, False, (), x, y, x.node, y.node, x.node.data, y.node.data, x.node.type]
    kept += [tg.Tensor, Node]
    gc.collect()  # What earlier tests have left, which refers to the classes.
    before = [sys.getrefcount(o) for o in kept]
    for _ in range(1000):
        result = f(x, y)
        with pytest.raises(TypeError):
            f(x, y, x)
        f(x, x)
    reference = weakref.ref(result.node.data)
    del result
    assert reference() is None
    after = [sys.getrefcount(o) for o in kept]
    assert max(b - a for a, b in zip(before, after, strict=True)) < 100
    assert min(b - a for a, b in zip(before, after, strict=True)) > -100


def test_what_is_not_like_the_call_before(f: Any):
    x, y = values(3, 4), values(3, 4, seed=1)
    a, b = tg.Tensor(x), tg.Tensor(y)
    expected = x * 2 + y

    def check(first: Any, second: Any, expected: Any = expected) -> None:
        np.testing.assert_allclose(f(first, second).numpy(), expected, rtol=1e-6)
        np.testing.assert_array_equal(f(a, b).numpy(), x * 2 + y)

    check(a, a, x * 3)
    check(a, 1.5, x * 2 + 1.5)
    check(tg.Tensor(values(2, 3, 4)), b, values(2, 3, 4) * 2 + y)
    check(a, b[0], x * 2 + y[0])
    check(a + 0, b * 1)
    check(tg.Tensor(np.asfortranarray(x)), b)
    check(tg.Tensor(x.astype(np.float64)), tg.Tensor(y.astype(np.float64)))
    node = Node(None, (), a.node.type, np.repeat(x, 2, axis=1)[:, ::2])
    check(tg.Tensor.of_node(node), b)

    class Special(tg.Tensor):
        pass

    check(Special(x), b)
    tracked = tg.Tensor(x, requires_grad=True)
    f(tracked, b).sum().backward()
    assert tracked.grad is not None
    np.testing.assert_array_equal(tracked.grad.numpy(), np.full((3, 4), 2))
    for wrong in ((a,), (a, b, a), (a, "b"), (a, None), (a, object())):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            f(*wrong)
    with pytest.raises(AttributeError):
        f(a, tg.Tensor.__new__(tg.Tensor))
    np.testing.assert_allclose(f(a, b=b).numpy(), expected, rtol=1e-6)


def test_inside_another_function(f: Any):
    outer = tg.function(lambda a, b: f(f(a, b), a).relu())
    x, y = values(3, 4), values(3, 4, seed=1)
    for _ in range(3):
        expected = np.maximum((x * 2 + y) * 2 + x, 0)
        np.testing.assert_allclose(outer(tg.Tensor(x), tg.Tensor(y)).numpy(), expected, rtol=1e-5)


def test_the_mode_is_looked_at(f: Any):
    dropped = tg.function(lambda a: a.dropout(0.5) + a)
    ones = tg.Tensor.ones(64)
    ones.realize()
    for _ in range(3):
        assert set(dropped(ones).tolist()) == {2.0}
    with tg.Tensor.train():
        assert set(dropped(ones).tolist()) == {1.0, 3.0}
    assert set(dropped(ones).tolist()) == {2.0}


def test_a_program_of_several_kernels(f: Any, looked: list[object], request: Any):
    """Which needs memory of its own: the builtin calls the executable."""
    network = tg.function(lambda x, w, v: ((x @ w).relu() @ v).softmax())
    x, w, v = values(8, 16), values(16, 16, seed=1), values(16, 4, seed=2)
    e = np.exp(np.maximum(x @ w, 0) @ v)
    for i in range(5):
        if i == 2:
            looked.clear()
        result = network(tg.Tensor(x), tg.Tensor(w), tg.Tensor(v))
        np.testing.assert_allclose(result.numpy(), e / e.sum(1, keepdims=True), rtol=1e-4)
    assert len(looked) == (0 if "builtin" in request.node.name else 3)
    with pytest.raises(RuntimeError, match="4 is not 16"):
        network(tg.Tensor(x), tg.Tensor(v), tg.Tensor(v))


def test_what_is_captured(f: Any, looked: list[object], request: pytest.FixtureRequest):
    """Its present value counts; and a call with it, or that needs its gradient, is another one."""
    x, w = values(3, 4), values(3, 4, seed=1)
    a, weight = tg.Tensor(x), tg.Tensor(w)
    scaled = tg.function(lambda a: a * 2 + weight)

    def check(expected: Any, given: tg.Tensor = a) -> None:
        np.testing.assert_allclose(scaled(given).numpy(), expected, rtol=1e-6)

    for _ in range(5):
        check(x * 2 + w)
    assert len(looked) == (2 if "builtin" in request.node.name else 5)
    weight.assign(weight + 1)
    check(x * 2 + w + 1)
    check((w + 1) * 3, weight)
    check(x * 2 + w + 1)
    weight.requires_grad_()
    scaled(a).sum().backward()
    assert weight.grad is not None
    np.testing.assert_array_equal(weight.grad.numpy(), np.ones((3, 4)))
    weight.requires_grad_(False)
    weight.replace(tg.Tensor(w))
    check(x * 2 + w)


def test_results_from_the_pool(f: Any):
    add = tg.function(lambda a, b: a + b)
    x = np.arange(1 << 16, dtype=np.float32)
    a, b = tg.Tensor(x), tg.Tensor(x + 1)
    results = [add(a, b) for _ in range(8)]
    assert len({result.node.data.ctypes.data for result in results}) == 8
    for result in results:
        np.testing.assert_array_equal(result.numpy(), x + x + 1)


def test_on_several_threads(f: Any):
    x, y = values(3, 4), values(3, 4, seed=1)
    a, b = tg.Tensor(x), tg.Tensor(y)
    wrong: list[Any] = []

    def calls() -> None:
        for i in range(2000):
            if not np.array_equal(f(a, b).numpy(), x * 2 + y):
                wrong.append(i)

    def changes() -> None:
        for _ in range(2000):
            a.node = tg.Tensor(x.copy()).node

    threads = [threading.Thread(target=target) for target in (calls, calls, changes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
