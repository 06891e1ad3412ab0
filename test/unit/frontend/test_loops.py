"""`scan` and `while_loop` against loops in NumPy and PyTorch: values, gradients, states of every
kind, devices, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl
from parity import torch

import tgdialect as tg
from tgdialect.diagnostics import CompilationError

T = tg.Tensor
SEVERAL = ("CPU:0", "CPU:1")
Array = np.ndarray[Any, np.dtype[Any]]


def values(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def close(found: Any, expected: Any) -> None:
    array = found.numpy() if isinstance(found, tg.Tensor) else found
    np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)


def loop(f: Any, state: Any, xs: Any, length: int | None = None, reverse: bool = False) -> Any:
    """A scan of PyTorch tensors, of one sequence or none, in Python."""
    count = len(xs) if length is None else length
    rows: dict[int, Any] = {}
    for i in reversed(range(count)) if reverse else range(count):
        state, rows[i] = f(state, None if xs is None else xs[i])
    return state, torch.stack([rows[i] for i in range(count)])


def check(f: Callable[..., Sequence[Any]], *arrays: Array) -> None:
    """Compare the results and gradients of `f(scan, *tensors)`."""
    ours = [T(a).requires_grad_(True) for a in arrays]
    theirs = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arrays]
    found, expected = list(f(tg.scan, *ours)), list(f(loop, *theirs))
    for a, b in zip(found, expected, strict=True):
        close(a, b.detach())
    for results in (found, expected):
        sum(((i + 1) * r).sin().sum() for i, r in enumerate(results)).backward()
    for a, b in zip(ours, theirs, strict=True):
        close(a.grad, torch.zeros_like(b) if b.grad is None else b.grad)


# -- values and gradients ------------------------------------------------------------------------


def recurrent(scan: Any, h: Any, xs: Any, w: Any, **how: Any) -> Sequence[Any]:
    return scan(lambda s, x: ((s @ w + x).tanh(), s * x), h, xs, **how)


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "the state before": lambda s, x: ((s[0] * x.sin(), s[1] + x), s[0]),
    "the state after": lambda s, x: ((s[0] * x.sin(), n := s[1] + x), n),
    "one value for two states": lambda s, x: ((n := (s[0] * s[1] + x).tanh(), n), s[0] + n),
    "states that change places": lambda s, x: ((s[1], s[0] * x.sin()), s[1]),
    "a state that is an element": lambda s, x: ((x, s[0] * s[1]), s[0]),
    "an output that is an element": lambda s, x: ((s[0] * 0.5, s[1] - x), x),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_recurrence(steps: int, reverse: bool):
    check(
        lambda scan, *a: recurrent(scan, *a, reverse=reverse),
        values(3),
        values(steps, 3),
        values(3, 3),
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_what_is_stacked(name: str, reverse: bool):
    def run(scan: Any, h: Any, g: Any, xs: Any) -> Sequence[Any]:
        last, ys = scan(STEPS[name], (h, g), xs, reverse=reverse)
        return *last, ys

    check(run, values(3), values(3, seed=1), values(4, 3))


def test_parts_of_the_results():
    """Gradients of the last state alone, and of the outputs alone."""
    for part in (0, 1):
        check(
            lambda scan, *a, i=part: [recurrent(scan, *a)[i]], values(3), values(4, 3), values(3, 3)
        )


def test_captured_tensors_that_are_also_arguments():
    def run(scan: Any, h: Any, xs: Any) -> Sequence[Any]:
        return scan(lambda s, x: (s * h + x + xs.sum(0), s * xs[1]), h, xs)

    check(run, values(3), values(4, 3) * 0.5)


def test_a_scan_in_a_scan():
    def run(scan: Any, h: Any, xs: Any, w: Any) -> Sequence[Any]:
        return scan(lambda s, x: scan(lambda a, b: (a * w + b, a), s, x), h, xs)

    check(run, values(), values(4, 3), values())


def test_a_gradient_of_a_gradient():
    given = values(3), values(4, 3), values(3, 3)
    ours = [T(a).requires_grad_(True) for a in given]
    last, ys = recurrent(tg.scan, *ours)
    first = (last.sum() + ys.sin().sum()).gradient(ours[0], ours[2])
    found = sum((g * g).sum() for g in first).gradient(*ours)
    theirs = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in given]
    last, ys = recurrent(loop, *theirs)
    total = last.sum() + ys.sin().sum()
    first = torch.autograd.grad(total, (theirs[0], theirs[2]), create_graph=True)
    expected = torch.autograd.grad(sum((g * g).sum() for g in first), theirs)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-4)


def test_a_gradient_within_a_step():
    """Gradient descent, by the gradient of a function of the state."""

    def step(w: tg.Tensor, x: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        loss = ((w - x) * (w - x)).sum()
        return w - 0.1 * loss.gradient(w)[0], loss

    w, xs = values(3), values(5, 3)
    last, losses = tg.scan(step, T(w).requires_grad_(True), T(xs))
    expected = []
    for x in xs:
        expected.append(((w - x) ** 2).sum())
        w = w - 0.2 * (w - x)
    close(last, w)
    close(losses, expected)


def test_a_scan_in_a_function_and_the_reverse():
    @tg.function
    def outer(h: tg.Tensor, xs: tg.Tensor, w: tg.Tensor) -> Any:
        return recurrent(tg.scan, h, xs, w)

    @tg.function
    def inner(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
        return a * b + 1

    check(lambda scan, *a: outer(*a) if scan is tg.scan else recurrent(scan, *a), *(
        values(3), values(4, 3), values(3, 3)
    ))  # fmt: skip
    last, ys = tg.scan(lambda s, x: (inner(s, x), s), 1.0, T([1.0, 2.0, 3.0]))
    assert (last.item(), ys.tolist()) == (16, [1, 2, 5])


# -- states --------------------------------------------------------------------------------------


class Pair(NamedTuple):
    left: Any
    right: Any


def test_nested_structures():
    xs = {"a": T([0.0, 1.0, 2.0]), "b": [T(np.arange(6).reshape(3, 2)), None]}
    state = {"p": 0.5, "q": Pair([T([1, 2], dtype="int64")], True)}

    def step(s: Any, x: Any) -> Any:
        (ints,), flag = s["q"]
        assert isinstance(s["q"], Pair)
        new = {"p": s["p"] + x["a"], "q": Pair([ints + x["b"][0]], ~flag)}
        return new, {"o": x["a"], "z": (ints, [flag, None])}

    last, ys = tg.scan(step, state, xs)
    assert last["p"].item() == 3.5
    assert last["q"].left[0].tolist() == [1 + 6, 2 + 9]
    assert last["q"].right.item() is False
    assert ys["o"].tolist() == [0, 1, 2]
    assert ys["z"][0].tolist() == [[1, 2], [1, 3], [3, 6]]
    assert ys["z"][1][0].tolist() == [True, False, True]
    assert ys["z"][1][1] is None


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64"]
)
def test_dtypes(dtype: str):
    xs = T(np.arange(12).reshape(4, 3)).cast(dtype)
    last, ys = tg.scan(lambda s, x: (s + x, s), T.zeros(3, dtype=dtype), xs, reverse=True)
    assert last.dtype == ys.dtype == xs.dtype
    assert last.cast("float32").tolist() == [18, 22, 26]
    assert ys[0].cast("float32").tolist() == [18, 21, 24]


def test_no_states_no_sequences_no_elements():
    assert tg.scan(lambda s, x: (None, x + 1), None, T([1, 2]))[1].tolist() == [2, 3]
    last, ys = tg.scan(lambda s, _: (s + 1, s * 2), 0, length=4)
    assert (last.item(), ys.tolist()) == (4, [0, 2, 4, 6])
    assert tg.scan(lambda s, x: (s, 5), 0, T([1, 2]))[1].tolist() == [5, 5]
    assert tg.scan(lambda s, x: (s + x, s), T.zeros(0), T.zeros(3, 0))[1].shape == (3, 0)
    captured = T(values(2))
    close(tg.scan(lambda s, x: (s, captured), 0, length=3)[1], [captured.numpy()] * 3)


@pytest.mark.parametrize("transform", [tg.function, lambda f: f], ids=["traced", "eager"])
def test_no_steps(transform: Any):
    def run(first: tg.Tensor, rows: tg.Tensor) -> Any:
        return tg.scan(lambda s, x: (s + x.sum(), {"a": x * s, "b": s.cast("i32")}), first, rows)

    last, outputs = transform(run)(T(np.float32(2.5)), T(np.zeros((0, 3), np.float32)))
    assert last.item() == 2.5
    assert (outputs["a"].shape, outputs["b"].dtype.name) == ((0, 3), "i32")
    assert outputs["a"].numpy().shape == (0, 3)
    assert tg.while_loop(lambda s: s < 5, lambda s: s + 1, 3, 0).item() == 3


def test_tensors_that_a_step_assigns_to():
    """They are states: the loop leaves them with their last values."""
    total, cells = T.zeros(3).realize(), T.zeros(4).realize()

    def step(s: tg.Tensor, x: tg.Tensor) -> Any:
        total.assign(total + x)
        cells[1:3].assign(cells[1:3] + x)
        cells[s] = 7.0
        return s + 1, total.sum()

    _, sums = tg.scan(step, 0, T([1.0, 2.0, 3.0]))
    assert total.tolist() == [6, 6, 6]
    assert cells.tolist() == [7, 10, 7, 0]
    assert sums.tolist() == [3, 9, 18]


def test_arguments_that_a_step_assigns_to():
    """The state and the element of a step are its own."""
    first, xs = T([0.0]).realize(), T([[1.0], [2.0]])

    def step(s: tg.Tensor, x: tg.Tensor) -> Any:
        s += x
        x *= 10
        made = T([1.0])
        made += x
        return s, made

    last, ys = tg.scan(step, first, xs)
    assert (last.item(), first.item()) == (3, 0)
    assert (ys.tolist(), xs.tolist()) == ([[11], [21]], [[1], [2]])


def test_random_numbers_differ_from_step_to_step():
    T.manual_seed(3)
    _, ys = tg.scan(lambda s, _: (s, T.rand(4)), 0, length=3)
    after = T.rand(2)
    T.manual_seed(3)
    one_by_one = [T.rand(4).numpy() for _ in range(3)]
    np.testing.assert_array_equal(ys.numpy(), one_by_one)
    np.testing.assert_array_equal(after.numpy(), T.rand(2).numpy())


def test_the_first_random_numbers_of_a_process(monkeypatch: pytest.MonkeyPatch):
    from tgdialect.frontend.random import Random

    monkeypatch.setattr(Random, "_state", None)
    _, ys = tg.scan(lambda s, _: (s, T.rand(4)), 0, length=3)
    assert len(np.unique(ys.numpy())) == 12


def test_dropout_and_its_gradient():
    x = T(np.ones((3, 50), np.float32)).requires_grad_(True)
    with T.train():
        _, ys = tg.scan(lambda s, row: (s, row.dropout(0.5)), 0, x)
        ys.sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), ys.numpy())
    assert len({tuple(row) for row in ys.tolist()}) == 3


def test_a_sort_in_a_step():
    """Its kernels write memory of the step several times, and begin anew in each step."""
    xs = values(3, 200)
    last, ys = tg.scan(lambda s, x: (s + x.sort()[0], (x + s).sort()[0]), T.zeros(200), T(xs))
    state = np.zeros(200, np.float32)
    for x, y in zip(xs, ys.numpy(), strict=True):
        close(y, np.sort(x + state))
        state = state + np.sort(x)
    close(last, state)


# -- while ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "limit", "last"), [(1, 20, 128), (1000, 20, 1000), (1, 3, 8)])
def test_while_ends_early_before_it_starts_and_at_the_limit(first: int, limit: int, last: int):
    assert tg.while_loop(lambda s: s < 100, lambda s: s * 2, first, limit).item() == last
    state = tg.while_loop(lambda s: s["n"] < 100, lambda s: {"n": s["n"] * 2}, {"n": first}, limit)
    assert state["n"].item() == last


@pytest.mark.parametrize("first", [0, 5, 9])
def test_the_gradient_of_a_while(first: int):
    def holds(s: Any) -> Any:
        return s[0] < 7

    def body(s: Any) -> Any:
        return s[0] + 1, s[1] * 1.1 + s[0] * 0.1

    def run(scan: Any, h: Any) -> Sequence[Any]:
        state = first, h
        if scan is tg.scan:
            return [tg.while_loop(holds, body, state, max_steps=5)[1]]
        for _ in range(5):
            state = body(state) if holds(state) else state
        return [state[1]]

    check(run, values(3))


def test_newton_until_it_converges():
    def body(s: Any) -> Any:
        return (x := s[0]) - (x * x - 2) / (2 * x), x

    root, _ = tg.while_loop(lambda s: (s[0] - s[1]).abs() > 1e-6, body, (1.0, 9.0), 50)
    close(root, np.sqrt(2))


LIMITS: dict[str, Callable[[int], Any]] = {
    "a number": lambda n: n,
    "a size": lambda n: tg.Variable("limit", 0, 1 << 20).bind(n),
    "a tensor": lambda n: T(np.array(n)),
}


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("transform", [tg.function, lambda f: f], ids=["traced", "eager"])
def test_limits_of_a_while(transform: Any, kind: str, compilations: list[Any]):
    run = transform(lambda n, s: tg.while_loop(lambda s: s < 1000, lambda s: s * 3, s, n))
    for limit in (2, 0, 1, 1 << 17):
        found = run(LIMITS[kind](limit), T(np.array(2)))
        assert found.item() == (2 * 3**limit if limit < 7 else 1458)
    assert kind == "a number" or len(compilations) <= 2  # A view of memory may be one.


def test_a_size_is_a_state_of_a_while():
    n = VARIABLE.bind(3)
    last, x = tg.while_loop(lambda s: s[0] < 7, lambda s: (s[0] + 1, s[1] * 2), (n, 1.0))
    assert (last.item(), x.item()) == (7, 16)


def test_numbers_of_numpy():
    """They are states, results and predicates, with their dtypes."""
    count, x = tg.while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (np.float32(0), T([1.0, 2.0]))
    )
    assert (count.item(), x.tolist()) == (3.0, [8.0, 16.0])
    more, x = tg.while_loop(
        lambda s: s[0], lambda s: (s[1].sum() < 50, s[1] * 2), (np.bool_(True), T([1.0, 2.0]))
    )
    assert (more.item(), x.tolist()) == (False, [64.0, 128.0])
    for number in (np.float16(1), np.int8(1), np.uint16(1), np.float64(1), np.int64(1)):
        (last,), _ = tg.scan(lambda s, x: ((s[0] + 1,), x), (number,), T([1.0, 2.0]))
        assert (last.numpy().dtype, last.item()) == (number.dtype, 3)
    chosen = tg.cond(T([1.0]).sum() > 0, lambda: np.float16(3), lambda: np.float16(4))
    assert (chosen.dtype.name, chosen.item()) == ("f16", 3.0)
    for flag in (np.bool_(False), np.float32(0)):
        assert tg.cond(flag, lambda x: x + 1, lambda x: x - 1, T([1.0])).tolist() == [0.0]


def test_the_gradient_of_a_while_of_too_many_steps():
    """All steps that may be taken have states: memory for them is refused, or a number is asked
    for, before anything runs."""

    def gradient(most: Any) -> Any:
        w = T([1.0, 2.0]).requires_grad_()
        step = lambda s: (s[0] + 1, s[1] * s[1])  # noqa: E731
        _, last = tg.while_loop(lambda s: s[0] < 3, step, (T(0), w), most)
        (found,) = last.sum().gradient(w)
        return found.tolist()

    steps = tg.Variable("steps", 1, 2**31 - 1)
    assert gradient(steps.bind(5)) == gradient(steps.bind(10000)) == [8.0, 1024.0]
    with pytest.raises(MemoryError, match="the memory of this call does not fit"):
        gradient(steps.bind(2**31 - 1))
    for most in (None, 2**31 - 1):
        with pytest.raises(RuntimeError, match="give `max_steps`"):
            gradient(most)


@pytest.mark.parametrize("steps", [0, 1, 255, 256, 257, 70_000])
def test_a_while_without_a_limit_ends_in_every_loop_of_its_nest(steps: int):
    assert tg.while_loop(lambda n: n < steps, lambda n: n + 1, 0).item() == steps
    assert tg.while_loop(lambda n: n >= 0, lambda n: n + 1, 0, T(steps)).item() == steps
    assert tg.while_loop(lambda n: n >= 0, lambda n: n + 1, 0, steps).item() == steps


@pytest.mark.parametrize("target", [None, "c", "interpreter"])
def test_the_outputs_of_a_while(target: str | None):
    """One program, for states of symbolic size and any number of steps that fit."""

    def program(x: tg.Tensor, limit: tg.Tensor) -> Any:
        return tg.while_loop(
            lambda s: s.sum() < limit,
            lambda s: (s + 1, {"before": s, "sum": s.sum()}),
            x,
            x.shape[0] + 2,
            has_outputs=True,
        )

    executable: Any = None
    for size, limit in ((3, 100.0), (1, 0.0), (4, 9.0), (10, 1e9)):
        x = values(10)[:size]
        given = T(values(10))[: VARIABLE.bind(size)], T(np.float32(limit))
        executable = executable or tg.compile(program, *given, target=target)
        last, outputs, count = executable(x, np.float32(limit))
        rows: list[Array] = []
        while len(rows) < size + 2 and x.sum() < limit:
            rows.append(x)
            x = x + 1
        expected = np.zeros((size + 2, size), np.float32)
        expected[: len(rows)] = np.reshape(rows, (-1, size))
        assert count == len(rows)
        close(last, x)
        close(outputs["before"], expected)
        close(outputs["sum"], expected.sum(1))


def test_the_gradient_of_the_outputs_of_a_while():
    def body(w: Any) -> Any:
        return lambda s: (s * w, s * s)

    x, w = values(3), np.float32([1.5, 2, 0.5])
    ours = [T(a).requires_grad_(True) for a in (x, w)]
    holds: Any = lambda s: (s * s).sum() < 2  # noqa: E731
    last, ys, count = tg.while_loop(holds, body(ours[1]), ours[0], 6, has_outputs=True)
    theirs = [torch.tensor(a, requires_grad=True) for a in (x, w)]
    state, rows = theirs[0], []
    while len(rows) < 6 and holds(state):
        state, row = body(theirs[1])(state)
        rows.append(row)
    assert 0 < count.item() == len(rows) < 6
    (last.sum() + ys.sum()).backward()
    (state.sum() + torch.stack(rows).sum()).backward()
    for a, b in zip(ours, theirs, strict=True):
        close(a.grad, b.grad)
    endless = tg.while_loop(holds, lambda s: s * ours[1], ours[0])
    with pytest.raises(RuntimeError, match="goes through all steps that may be taken"):
        endless.sum().backward()


# -- choices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [None, "c", "interpreter"])
def test_cond(target: str | None):
    """A choice, a choice in a choice, in a step of a loop, and of symbolic sizes."""

    def program(p: tg.Tensor, q: tg.Tensor, x: tg.Tensor, w: tg.Tensor) -> Any:
        def inner(x: tg.Tensor) -> Any:
            return tg.cond(q, lambda: {"a": x @ w, "b": 1}, lambda: {"a": x * 2, "b": 2})

        chosen = tg.cond(p, inner, lambda x: {"a": x.exp(), "b": x.shape[0]}, x)
        rows, _ = tg.scan(
            lambda s, row: (tg.cond(row.sum() > 0, lambda a: a + row, lambda a: a * 0.5, s), None),
            T.zeros(3),
            x,
        )
        return chosen["a"], chosen["b"], rows

    executable: Any = None
    w = values(3, 3)
    for number, (p, q) in enumerate([(False, True), (True, True), (False, False), (True, False)]):
        x = values(10, 3, seed=number)[: 1 + 3 * number]
        given = T(p), T(q), T(values(10, 3, seed=number))[: VARIABLE.bind(len(x))], T(w)
        executable = executable or tg.compile(program, *given, target=target)
        a, b, rows = executable(np.bool_(p), np.bool_(q), x, w)
        close(a, np.exp(x) if not p else x @ w if q else x * 2)
        assert b == (len(x) if not p else 1 if q else 2)
        state = np.zeros(3, np.float32)
        for row in x:
            state = state + row if row.sum() > 0 else state * 0.5
        close(rows, state)


def test_only_one_branch_of_a_cond_is_computed():
    """A branch that would not end, one that counts, and numbers of Python."""
    taken = T([0, 0]).realize()

    def counts(i: int) -> Callable[[], tg.Tensor]:
        def branch() -> tg.Tensor:
            taken[i] = taken[i] + 1
            return T(i)

        return branch

    for p in (True, False, True):
        assert tg.cond(T(p), counts(0), counts(1)).item() == 1 - p
    assert taken.tolist() == [2, 1]
    forever: Any = lambda: tg.while_loop(lambda n: n >= 0, lambda n: n * 1, 0)  # noqa: E731
    assert tg.cond(T(values(3)).sum() < 1e9, lambda: T(5), forever).item() == 5
    assert tg.cond(3, lambda a: a, forever, "operand") == "operand"


@pytest.mark.parametrize("target", [None, "c"])
def test_a_branch_of_a_cond_has_buffers_of_quotients_of_sizes(target: str | None):
    """The extents of what strided windows give are computed by the program and by its branches."""
    weights = [values(4, 3, 3, 3), values(4, 3, 5, 5, seed=1), values(2, 4, 3, 3, seed=2)]

    def program(p: tg.Tensor, x: tg.Tensor) -> Any:
        def branch(first: int, *strides: int) -> Any:
            return lambda: (
                x.conv2d(T(weights[first]), stride=strides[0])
                .relu()
                .conv2d(T(weights[2]), stride=strides[1])
                .sum((2, 3))
            )

        return tg.cond(p, branch(0, 2, 2), branch(1, 3, 1))

    specs = tg.spec((), "bool"), tg.spec(("b", 3, "h", "w"), b=(1, 8), h=(20, 64), w=(20, 64))
    executable: Any = tg.compile(program, *specs, target=target)
    for shape in ((2, 3, 31, 40), (1, 3, 20, 64)):
        x = values(*shape)
        for p in (True, False):
            expected: Any = tg.compile(program, np.bool_(p), x, target="interpreter")(p, x)
            np.testing.assert_allclose(executable(np.bool_(p), x), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("target", [None, "c", "interpreter"])
def test_the_other_branch_of_a_cond_may_be_endless_or_out_of_bounds(target: str | None):
    def program(x: tg.Tensor, y: tg.Tensor) -> Any:
        k = y.shape[0]
        endless: Any = lambda: tg.while_loop(lambda s: s.sum() < 1e9, lambda s: s * 1, y)  # noqa: E731
        return (
            tg.cond(x.sum() < 1e9, lambda: y * 2, endless),
            tg.cond(T(k) < 7, lambda: x[k : k + 4], lambda: x[:4] * 0),
        )

    x = values(10)
    given = T(x), T(x)[: VARIABLE.bind(6)]
    executable: Any = tg.compile(program, *given, target=target)
    for k in (1, 6, 7, 10):
        doubled, window = executable(x, x[:k])
        close(doubled, x[:k] * 2)
        close(window, x[k : k + 4] if k < 7 else x[:4] * 0)


@pytest.mark.parametrize("p", [False, True])
def test_the_gradient_of_a_cond(p: bool):
    """Of the branch that was taken: the other one's would be NaN."""

    def run(scan: Any, x: Any, w: Any) -> Sequence[Any]:
        then: Any = lambda x: (x @ w, x[0])  # noqa: E731
        otherwise: Any = lambda x: (x * 3, (x * w[0]).sum())  # noqa: E731
        bad: Any = lambda x: ((x * 0).log().sum() * x, x[0])  # noqa: E731
        if scan is tg.scan:
            branches = (then, bad) if p else (bad, otherwise)
            return tg.cond(T(p), *branches, x)
        return then(x) if p else otherwise(x)

    check(run, values(3), values(3, 3))
    flag = T(p)

    def twice(x: Any, choose: Any) -> Any:
        y = choose(x)
        (first,) = (
            y.sum().gradient(x)
            if isinstance(y, tg.Tensor)
            else torch.autograd.grad(y.sum(), x, create_graph=True)
        )
        return (first * first).sum()

    x = T(values(3)).requires_grad_(True)
    found = twice(x, lambda x: tg.cond(flag, lambda: x**3, lambda: x.sin())).gradient(x)[0]
    y = torch.tensor(values(3), requires_grad=True)
    (expected,) = torch.autograd.grad(twice(y, lambda y: y**3 if p else y.sin()), y)
    close(found, expected)


# -- targets and devices -------------------------------------------------------------------------


@pytest.mark.parametrize("target", [None, "c", "interpreter"])
def test_targets(target: str | None):
    def program(h: tg.Tensor, xs: tg.Tensor, w: tg.Tensor) -> Any:
        last, ys = recurrent(tg.scan, h, xs, w)
        count = tg.while_loop(lambda n: n * n < 30, lambda n: n + 1, 0, 100)
        return last, ys, count

    given = values(3), values(4, 3), values(3, 3)
    last, ys, count = tg.compile(program, *given, target=target)(*given)
    expected = recurrent(loop, *map(torch.tensor, given))
    close(last, expected[0])
    close(ys, expected[1])
    assert count == 6


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "device", [pytest.param(DEVICE, marks=needs_opencl), SEVERAL], ids=["a device", "several"]
)
def test_devices(device: str | tuple[str, ...]):
    def here(array: Array) -> tg.Tensor:
        return T(array, device=device) if isinstance(device, str) else T(array).shard(device)

    given = values(3), values(5, 3), values(3, 3)
    ours = [here(a).requires_grad_(True) for a in given]
    last, ys = recurrent(tg.scan, *ours, reverse=True)
    assert last.device == ys.device == ours[0].device
    theirs = [torch.tensor(a, requires_grad=True) for a in given]
    expected = recurrent(loop, *theirs, reverse=True)
    close(last, expected[0].detach())
    close(ys, expected[1].detach())
    (last.sum() + ys.sum()).backward()
    (expected[0].sum() + expected[1].sum()).backward()
    for a, b in zip(ours, theirs, strict=True):
        close(a.grad, b.grad)
    # Loops in loops, sorts, tensors that are assigned to, and random numbers, which stay at home.
    # Longer axes are sorted on one device, by a kernel, and a loop is on all of them.
    cells = 200 if isinstance(device, str) else 100
    xs, total = values(3, cells), here(values(cells))
    total.realize()

    def step(s: tg.Tensor, x: tg.Tensor) -> Any:
        total.assign(total + x)
        inner, _ = tg.scan(lambda a, b: (a * 0.5 + b, None), s, x)
        return inner, ((x + s).sort()[0], x * 0 + T.rand(cells))

    state = here(np.zeros((), np.float32))
    last, (ordered, noise) = tg.scan(step, state, here(xs))
    number = 0.0
    for x, y in zip(xs, ordered.numpy(), strict=True):
        close(y, np.sort(x + np.float32(number)))
        for cell in x:
            number = number * 0.5 + float(cell)
    close(last, number)
    close(total, values(cells) + xs.sum(0))
    assert len({tuple(row) for row in noise.tolist()}) == 3
    assert T.rand(2).device == T(0).device


@needs_opencl
def test_a_while_on_a_grid_is_refused():
    result = tg.while_loop(lambda s: s < 5, lambda s: s + 1, T(0, device=DEVICE), 9)
    with pytest.raises(CompilationError, match="cannot load the bound of a loop"):
        result.numpy()


# -- refusals ------------------------------------------------------------------------------------

Z = np.zeros(3, np.float32)
XS = np.zeros((4, 3), np.float32)
VARIABLE = tg.Variable("n", 1, 10)
n = VARIABLE.bind(4)
REFUSED: dict[str, tuple[type[Exception], str, Callable[[], object]]] = {
    "structure": (
        ValueError,
        r"a step returns the state \('f32 \(3,\)', 'f32 \(3,\)'\) for f32 \(3,\)",
        lambda: tg.scan(lambda s, x: ((s, s), None), T(Z), T(XS)),
    ),
    "kind": (
        ValueError,
        r"a step returns the state \['f32 \(3,\)'\] for \('f32 \(3,\)',\)",
        lambda: tg.scan(lambda s, x: ([s[0]], None), (T(Z),), T(XS)),
    ),
    "keys": (
        ValueError,
        "a step returns the state {'b'",
        lambda: tg.scan(lambda s, x: ({"b": s["a"]}, None), {"a": T(Z)}, T(XS)),
    ),
    "shape": (
        ValueError,
        r"part 0 of the state is f32 \(3,\), and a step returns f32 \(2,\)",
        lambda: tg.scan(lambda s, x: (s[:2], None), T(Z), T(XS)),
    ),
    "dtype": (
        ValueError,
        r"part 0 of the state is i32 \(\), and a step returns f32 \(\)",
        lambda: tg.scan(lambda s, x: (s + x, None), 0, T(Z)),
    ),
    "no pair": (
        TypeError,
        "a step of a scan returns a pair",
        lambda: tg.scan(lambda s, x: [s, s], T(Z), T(XS)),  # pyright: ignore
    ),
    "lengths": (
        ValueError,
        "a scan has one number of steps: 4 and 5",
        lambda: tg.scan(lambda s, x: (s, s), T(Z), (T(XS), T.zeros(5))),
    ),
    "another length": (
        ValueError,
        "a scan has one number of steps: 4 and 5",
        lambda: tg.scan(lambda s, x: (s, s), T(Z), T(XS), length=5),
    ),
    "no length": (
        ValueError,
        "a scan has one number of steps: none is given",
        lambda: tg.scan(lambda s, x: (s, s), T(Z)),
    ),
    "a negative length": (
        ValueError,
        "a loop has no negative number of steps: -1",
        lambda: tg.scan(lambda s, x: (s, s), T(Z), length=-1),
    ),
    "another state, no steps": (
        ValueError,
        "part 0 of the state is",
        lambda: tg.scan(lambda s, x: (s[:2], s), T(Z), length=0),
    ),
    "no axis": (
        ValueError,
        "a sequence has an axis of steps",
        lambda: tg.scan(lambda s, x: (s, s), T(Z), T(3.0)),
    ),
    "an array": (
        TypeError,
        "a sequence is made of tensors, not ndarray",
        lambda: tg.scan(lambda s, x: (s, s), T(Z), XS),
    ),
    "a string": (
        TypeError,
        "a state is made of tensors, not str",
        lambda: tg.scan(lambda s, x: (s, s), "a", T(XS)),
    ),
    "an output": (
        TypeError,
        "an output is made of tensors, not str",
        lambda: tg.scan(lambda s, x: (s, "a"), T(Z), T(XS)),
    ),
    "a value": (
        RuntimeError,
        "a value is not known while its function is traced",
        lambda: tg.scan(lambda s, x: (s * s.sum().item(), None), T(Z), T(XS)),
    ),
    "a split sequence": (
        ValueError,
        "a sequence is split among devices: a loop takes it whole",
        lambda: tg.scan(
            lambda s, x: (s + x, None), T.zeros(4).shard(SEVERAL), T.zeros(4, 4).shard(SEVERAL, 0)
        ),
    ),
    "another device": (
        ValueError,
        "a loop is on one device, not on CPU and CPU:1",
        lambda: tg.scan(lambda s, x: (s, x.to("CPU:1")), T(Z, device="CPU:0"), T(XS)),
    ),
    "a shape of a condition": (
        TypeError,
        "the condition of a while_loop is a tensor of no axes",
        lambda: tg.while_loop(lambda s: s > 0, lambda s: s, T(Z), 4),
    ),
    "a limit that is a float": (
        TypeError,
        r"max_steps is an integer of no axes, not f32 \(\)",
        lambda: tg.while_loop(lambda s: s.sum() > 0, lambda s: s, T(Z), T(1.5)),
    ),
    "outputs without a limit": (
        ValueError,
        "the outputs of a while_loop need a max_steps that is a number or a size",
        lambda: tg.while_loop(lambda s: s.sum() > 0, lambda s: (s, s), T(Z), has_outputs=True),
    ),
    "a step without outputs": (
        TypeError,
        "a step of a while_loop with outputs returns a pair",
        lambda: tg.while_loop(lambda s: s.sum() > 0, lambda s: s, T(Z), 3, has_outputs=True),
    ),
    "a predicate with axes": (
        TypeError,
        "the predicate of a cond is a tensor of no axes",
        lambda: tg.cond(T(Z) > 0, lambda: T(Z), lambda: T(Z)),
    ),
    "branches that differ": (
        ValueError,
        r"the branches of a cond return \('f32 \(3,\)', 'i32 \(\)'\) and f32 \(3,\)",
        lambda: tg.cond(T(True), lambda: (T(Z), T(1)), lambda: T(Z)),
    ),
    "a condition": (
        TypeError,
        "the condition of a while_loop is a tensor of no axes",
        lambda: tg.while_loop(lambda s: True, lambda s: s, T(Z), 4),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str):
    kind, message, call = REFUSED[name]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reverse", [False, True])
def test_steps_of_symbolic_sizes(reverse: bool, compilations: list[Any]):
    """Values and gradients are those of the sizes' values, by one program."""
    w = T(np.linspace(0.2, 0.9, 3, dtype=np.float32), requires_grad=True)
    rows = np.linspace(-1, 1, 4 * 10 * 3, dtype=np.float32).reshape(4, 10, 3)

    def run(state: T, xs: T) -> Any:
        def step(states: Any, x: T) -> Any:
            count, h = states
            return (count + 1, (h * w + x).tanh()), {"h": h, "nothing": None}

        (count, last), outputs = tg.scan(step, (0, state), xs, reverse=reverse)
        w.grad = None
        (last.sum() + outputs["h"].square().sum()).backward()
        assert outputs["nothing"] is None
        return count, last, outputs["h"], w.grad

    traced = tg.function(run)
    for k in (1, 4, 10):
        xs = rows[:, :k]
        wanted = [t.numpy() for t in run(T(xs[0]), T(xs))]
        size = VARIABLE.bind(k)
        for function in (run, traced):
            found = function(T(rows[0])[:size], T(rows)[:, :size])
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-6)
    compilations.clear()
    traced(T(rows[0])[: VARIABLE.bind(7)], T(rows)[:, : VARIABLE.bind(7)])
    assert not compilations


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [tg.nn.LSTM, tg.nn.GRU])
def test_recurrent_layers_take_a_batch_of_symbolic_size(kind: Any):
    layer = kind(3, 4, num_layers=2, bidirectional=True)
    x = np.linspace(-1, 1, 5 * 10 * 3, dtype=np.float32).reshape(5, 10, 3)
    traced = tg.function(lambda x: layer(x)[0])
    for k in (2, 9):
        found = traced(T(x)[:, : VARIABLE.bind(k)]).numpy()
        np.testing.assert_allclose(found, layer(T(x[:, :k]))[0].numpy(), rtol=1e-5, atol=1e-6)


STEPS_NOW = tg.Variable("steps", 0, 12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("target", [None, "c", "interpreter"])
def test_a_symbolic_number_of_steps(target: str | None, reverse: bool):
    """Programs for none, one and more steps, with a batch of one and more, are one."""

    def program(h: tg.Tensor, xs: tg.Tensor, w: tg.Tensor) -> Any:
        last, ys = recurrent(tg.scan, h, xs, w, reverse=reverse)
        return last, ys, tg.scan(lambda s, x: (s + x, s), h, xs)[1]

    h, xs, w = values(10, 3), values(12, 10, 3), values(3, 3)
    executable: Any = None
    for steps, batch in ((0, 1), (1, 1), (2, 4), (12, 10)):
        m, k = STEPS_NOW.bind(steps), VARIABLE.bind(batch)
        given = T(h)[:k], T(xs)[:m, :k], T(w)
        if executable is None:
            executable = tg.compile(program, *given, target=target)
        last, ys, sums = executable(*(t.numpy() for t in given))
        assert ys.shape == sums.shape == (steps, batch, 3)
        x = torch.tensor(xs[:steps, :batch])
        if steps == 0:
            close(last, h[:batch])
            continue
        expected = recurrent(loop, torch.tensor(h[:batch]), x, torch.tensor(w), reverse=reverse)
        close(last, expected[0])
        close(ys, expected[1])
        close(sums, h[:batch] + np.cumsum(x.numpy(), 0) - x.numpy())


def test_symbolic_sizes_that_are_captured_computed_or_only_counted():
    m, k = STEPS_NOW.bind(5), VARIABLE.bind(3)
    rows, captured = values(13, 4), values(10, 3)
    # A captured tensor of symbolic size, and a length that no sequence has.
    last, _ = tg.scan(lambda s, x: (s + T(captured)[:k].sum(0), None), T(Z), length=m)
    close(last, 5 * captured[:3].sum(0))
    # The number of steps, and extents of states and outputs, are computed from variables.
    last, ys = tg.scan(
        lambda s, x: ((s.cat(s[:1]) + x.sum())[1:], s.cat(s)),
        T(captured)[: k + 1, 0],
        T(rows)[: m // 2 + k],
    )
    state, expected = captured[:4, 0], []
    for x in rows[:5]:
        expected.append(np.tile(state, 2))
        state = (np.append(state, state[0]) + x.sum())[1:]
    close(last, state)
    close(ys, expected)
    # Sizes in a step of a loop in a step.
    inner = tg.scan(
        lambda s, x: tg.scan(lambda a, b: (a + b, a[:k]), s, x),
        T(Z),
        T(values(5, 12, 3))[:m, : m + 1],
    )
    close(inner[0], Z + values(5, 12, 3)[:, :6].sum((0, 1)))
    assert inner[1].shape[0].max == 12
    assert inner[1].numpy().shape == (5, 6, 3)


def test_windows_in_steps_are_checked_by_the_call():
    @tg.function
    def run(k: Any, m: Any, x: tg.Tensor) -> Any:
        return tg.scan(lambda s, _: (s + x[k : k + 4], None), T.zeros(4), length=m)[0]

    @tg.function
    def choose(k: Any, x: tg.Tensor) -> Any:
        return tg.cond(T(k) < 7, lambda: x[k : k + 4], lambda: x[:4] * 0)

    x, m = values(10), STEPS_NOW.bind(2)
    close(run(VARIABLE.bind(6), m, T(x)), x[6:] * 2)
    with pytest.raises(CompilationError, match="axis 0: offset 7 plus extent 4 exceeds 10"):
        run(VARIABLE.bind(7), m, T(x))
    # One that does not fit may be in the branch that is not taken.
    close(choose(VARIABLE.bind(6), T(x)), x[6:])
    close(choose(VARIABLE.bind(7), T(x)), x[:4] * 0)


def test_a_number_of_steps_is_symbolic_in_one_program(compilations: list[Any]):
    cell = tg.nn.LSTM(3, 4)
    layer = tg.function(lambda x: cell(x)[0])
    xs = values(12, 2, 3)
    for steps in (3, 0, 1, 12):
        found = layer(T(xs)[: STEPS_NOW.bind(steps)])
        assert found.numpy().shape == (steps, 2, 4)
        if steps:
            close(found, cell(T(xs[:steps]))[0].numpy())
        if steps == 3:
            compilations.clear()
    assert len(compilations) <= 3  # Those of the static ones.


# -- programs ------------------------------------------------------------------------------------


def test_steps_are_one_set_of_kernels():
    counts: list[int] = []
    for steps in (10, 1000):
        layer, x = tg.nn.LSTM(4, 5), np.zeros((steps, 2, 4), np.float32)
        executable = tg.compile(lambda x, layer=layer: layer(x)[0], x)
        counts.append(len(executable.kernels))
    assert counts[0] == counts[1]


def test_a_profile_counts_the_steps():
    w, xs = values(16, 16), values(7, 16)
    executable = tg.compile(
        lambda xs, w: tg.scan(lambda s, x: ((s @ w + x).tanh(), None), T.zeros(16), xs)[0], xs, w
    )
    profile = executable.profile(xs, w, seconds=0.01)
    assert {k.name for k in profile} == {k.name for k in executable.kernels}
    assert 7 in {k.calls for k in profile}
    product = next(k for k in executable.kernels if k.flops >= 2 * 16 * 16)
    timed = next(k for k in profile if k.name == product.name)
    assert (timed.calls, timed.flops) == (7, 7 * product.flops)


def test_a_search_of_schedules(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_BEAM_SECONDS", "0.5")
    given = values(3), values(4, 3), values(3, 3)
    executable = tg.compile(lambda *a: recurrent(tg.scan, *a), *given, opt="beam:1")
    for a, b in zip(executable(*given), recurrent(loop, *map(torch.tensor, given)), strict=True):
        close(a, b)


TEXT = """
func.func @main(%h: tensor<4xf32>, %xs: tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 5 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n, %n : (tensor<4xf32>, tensor<4xf32>)
      -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<5x4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<5x4xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<4xf32>, tensor<5x4xf32>> -> tensor<4xf32>
  %1 = tg.gettuple %r 1 : !tg.tuple<tensor<4xf32>, tensor<5x4xf32>> -> tensor<5x4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<5x4xf32>
}
"""


def test_text_twice_from_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path / "cache"))
    h, xs = values(4), values(5, 4)
    for _ in range(2):
        last, sums = tg.compile(TEXT)(h, xs)
        close(sums, h + xs.cumsum(0))
        close(last, h + xs.sum(0))
    assert list((tmp_path / "cache").glob("*"))
