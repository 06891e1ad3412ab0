"""Tensors as variables: what is written to them, in place, through views, and by functions that
capture them, against NumPy's arrays."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg
from tgdialect import Tensor as T
from tgdialect.frontend.graph import Node, sorted_nodes

VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "row": (lambda x: x[1], lambda a: a[1]),
    "window": (lambda x: x[1:3, 1:], lambda a: a[1:3, 1:]),
    "steps": (lambda x: x[::2, ::-1], lambda a: a[::2, ::-1]),
    "flip": (lambda x: x.flip(0), lambda a: a[::-1]),
    "permute": (lambda x: x.permute(1, 0), lambda a: a.T),
    "reshape": (lambda x: x.reshape(2, 6), lambda a: a.reshape(2, 6)),
    "detach": (lambda x: x.detach(), lambda a: a[:]),
    "diagonal": (lambda x: x.diagonal(), lambda a: np.einsum("ii->i", a[:, :3])),
    "chunk": (lambda x: x.chunk(3)[1], lambda a: a[1:2]),
    "bitcast": (lambda x: x.bitcast("uint32"), lambda a: a.view(np.uint32)),
    "view of views": (lambda x: x[1:].T[::3].flip(1), lambda a: a[1:].T[::3, ::-1]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("realized", [False, True])
@pytest.mark.parametrize("name", VIEWS)
def test_a_write_to_a_view_is_one_to_its_tensor(name: str, realized: bool):
    ours, theirs = VIEWS[name]
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    x = T(array.copy())
    view, expected = ours(x), theirs(array)
    if realized:
        view.realize()
    view[0] = 50
    expected[0] = 50
    view += 3
    expected += 3
    view[-1:] *= 2
    expected[-1:] *= 2
    np.testing.assert_array_equal(x.numpy(), array)
    np.testing.assert_array_equal(view.numpy(), expected)
    view.assign(view + view)
    expected += expected
    np.testing.assert_array_equal(x.numpy(), array)


def test_views_are_written_to_one_after_the_other():
    x = T(np.zeros((3, 2), np.float32))
    for i, row in enumerate(x):
        row[0] = i + 1
    x[1][1] = 7
    x[2][:] = [8, 9]
    x[0] += 1
    x.flip(0)[0][1] -= 4
    assert x.tolist() == [[2, 1], [2, 7], [8, 5]]
    row, cell = x[1], x[1][0:1]
    cell[0] = 30
    assert (row[0].item(), x[1, 0].item()) == (30, 30)  # A view shows what is there.
    row += 1
    assert x[1].tolist() == row.tolist() == [31, 8]
    assert cell.tolist() == [31]
    later = row * 2  # What is computed from a view has the value that it had.
    x.replace(T.zeros(3, 2))
    assert (cell.tolist(), row.tolist(), later.tolist()) == ([0], [0, 0], [62, 16])


def test_views_of_tensors_that_are_gone():
    x = T(np.arange(6, dtype=np.int32).reshape(2, 3))
    rows = x.reshape(3, 2)
    cell = rows.T[1:, 2:]
    del x
    rows += 10
    cell *= 2
    assert (rows.tolist(), cell.tolist()) == ([[10, 11], [12, 13], [14, 30]], [[30]])


def test_a_tensor_forgets_views_that_are_gone():
    x = T(np.zeros((3, 2), np.float32))
    kept = [x[0] for _ in range(10)]
    for _ in range(10_000):
        x.T  # noqa: B018
    assert x.views
    assert len(x.views) < 64
    x += 1
    assert all(row.tolist() == [1, 1] for row in kept)


def test_what_is_computed_is_no_view():
    x = T([1, 2])
    results = [
        x.abs(), x.floor(), x.ceil(), x.round(), x.pow(1), x.clamp(-(2**40)), x.sum(()),
        x.repeat(1), x.repeat_interleave(1), x.repeat(2), x.pad((0, 0)), x.roll(0), x.contiguous(),
        x.clone(), x.dropout(), T(x), x.expand(1, 2).repeat(1, 2), x.cat(x), x.pad((1, 0))[1:],
        x.scatter(0, T.zeros(0, dtype="int"), 1),
    ]  # fmt: skip
    for result in results:
        result += 5
        result[0] = 9
    assert x.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="a write to an expanded tensor of shape \\(3, 2\\)"):
        x.expand(3, 2)[0] = 1


def test_operators_in_place():
    x = T([7, 9])
    same, array = x, np.array([7, 9], np.int32)
    for y in (x, array):
        y += 5
        y -= 1
        y *= 6
        y //= 4
        y %= 11
        y **= 3
        y <<= 2
        y >>= 1
        y |= 1024
        y ^= 2049
        y &= 4095
    assert same.tolist() == array.tolist()
    z = T([2.0, 4.0])
    other = z
    z /= T([4.0, 2.0], dtype="float64")
    assert (other.tolist(), other.dtype.name) == ([0.5, 2], "f32")
    z @= T([[1.0, 1.0], [0.0, 1.0]])
    assert other.tolist() == [0.5, 2.5]
    with pytest.raises(TypeError, match="i32 cannot become f32 in place"):
        x += 1.5
    with pytest.raises(ValueError, match=r"\(2,\) cannot become \(3, 2\) in place"):
        x += T.zeros(3, 2, dtype="int")


def test_gradients_of_what_is_changed_in_place():
    w = T([2.0, 3.0], requires_grad=True)
    h = w * 2
    h += w
    h[0] = h[0] * 5
    (gradient,) = h.sum().gradient(w)
    assert gradient.tolist() == [15, 3]
    same = w
    w -= 1  # A tensor that requires a gradient goes on without history.
    assert same.tolist() == [1, 2]
    w.detach()[0] = 4
    (w * w).sum().backward()
    assert w.grad is not None
    assert (w.requires_grad, w.tolist(), w.grad.tolist()) == (True, [4, 2], [8, 4])
    with pytest.raises(RuntimeError, match="through detach"):
        (kept := w * 2).detach()[0] = 4
    assert kept.shape == (2,)


def test_requires_grad_is_taken_back():
    x, y = T([3.0], requires_grad=True), T([4.0], requires_grad=True)
    assert x.requires_grad_().requires_grad_() is x
    x.requires_grad_(False)
    (x * y).sum().backward()
    assert y.grad is not None
    assert (x.grad, y.grad.tolist()) == (None, [3])
    x.requires_grad_()
    z = (x * 2).requires_grad_()
    z.requires_grad_(False).sum().backward()
    assert x.grad is not None
    assert (x.grad.tolist(), z.grad) == ([2], None)


def test_a_trained_tensor_keeps_no_history():
    w = T([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        w.assign(w.detach() * 0.5).realize()
    gc.collect()
    before = sum(isinstance(o, Node) for o in gc.get_objects())
    for _ in range(20):
        w.assign(w.detach() * 0.5).realize()
    gc.collect()
    assert sum(isinstance(o, Node) for o in gc.get_objects()) <= before


SAME: dict[str, Callable[[T], T]] = {
    "tensor": lambda x: T(x),
    "replace": lambda x: T.zeros(2, 1).replace(x),
    "replace twice": lambda x: T.zeros(2, 1).replace(T.zeros(2, 1).replace(x)),
    "reshape": lambda x: x.reshape(2, 1),
    "permute": lambda x: x.permute(0, 1),
    "expand": lambda x: x.expand(2, 1),
    "index": lambda x: x[:],
    "pad": lambda x: x.pad((0, 0, 0, 0)),
    "roll": lambda x: x.roll(0, 0),
    "sum": lambda x: x.sum(1, keepdim=True),
    "max": lambda x: x.max(1, keepdim=True),
    "cumsum": lambda x: x.cumsum(1),
    "avg_pool2d": lambda x: x.reshape(1, 1, 2, 1).avg_pool2d(1).reshape(2, 1),
    "cast": lambda x: x.cast("float32"),
}


@pytest.mark.parametrize("kind", ["data", "parameter", "not computed", "computed"])
@pytest.mark.parametrize("name", SAME)
def test_gradients_through_what_gives_the_same_value(name: str, kind: str):
    x = T(np.float32([[2], [3]]), requires_grad=kind == "parameter")
    if "computed" in kind:
        x = x * 1
    if kind == "computed":
        x.realize()
    y = SAME[name](x)
    assert (y * y).sum().gradient(x)[0].tolist() == [[4], [6]]


def test_the_same_value_many_times_keeps_no_history():
    a, b = T([1.0, 2.0]), T([3.0, 4.0])
    for _ in range(50):
        a, b = a.replace(b), b.replace(T(a))
    assert len(sorted_nodes([a.node], through_data=True)) <= 3


# -- functions that capture tensors --------------------------------------------------------------


def test_captured_tensors_that_others_have_made():
    w = T([1.0])
    w.replace(T([5.0]))
    f = tg.function(lambda x: x * w)
    assert f(T([1.0])).item() == 5
    w.assign([7.0])
    assert f(T([1.0])).item() == 7
    c = T([3.0])
    h = tg.function(lambda x: c.assign(c + x))
    c.replace(T([10.0]))
    h(T([1.0]))
    h(T([1.0]))
    assert c.item() == 12


def test_tensors_that_were_one_node():
    a = T([1.0])
    b = T(a)
    c = T.zeros(1).replace(a)
    f = tg.function(lambda x: x * a + 10 * b + 100 * c)
    assert f(T([1.0])).item() == 111
    a.assign([2.0])
    b[0] = 3
    assert f(T([1.0])).item() == 132
    c += 6
    assert f(T([1.0])).item() == 732


def test_gradients_that_are_tensors_of_others():
    w, x = T([3.0], requires_grad=True), T([5.0])
    (gradient,) = (w * x).sum().gradient(w)
    f = tg.function(lambda y: y * gradient)
    assert f(T([1.0])).item() == 5
    x.assign([6.0])
    assert f(T([1.0])).item() == 5


def test_an_argument_that_is_captured_too():
    w = T([1.0])

    @tg.function
    def f(x: T) -> T:
        x.assign(x + 1)
        return w * 10 + x

    other = T([5.0])
    for tensor, expected in ((w, 22), (other, 26), (w, 33), (other, 37), (w, 44)):
        assert f(tensor).item() == expected
    assert (w.item(), other.item()) == (4, 7)


def test_results_that_are_tensors_already():
    w, x = T([1.0]), T([2.0])
    f = tg.function(lambda x: (w, x.assign(x * w), x + 1))
    for _ in range(2):
        first, second, third = f(x)
        assert first is w
        assert second is x
        assert third.item() == x.item() + 1
    first += 4
    f(x)
    assert x.item() == 10


def test_captured_views_and_other_types():
    x = T(np.zeros((2, 2), np.float32))
    row = x[1]

    @tg.function
    def f(y: T) -> T:
        row.assign(row + y)
        return x.sum()

    for n in range(1, 4):
        assert f(T([1.0, 2.0])).item() == 3 * n
    assert (x.tolist(), row.tolist()) == ([[0, 0], [3, 6]], [3, 6])
    w = T([1.0])
    g = tg.function(lambda y: y + w)
    assert g(T([1.0])).dtype.name == "f32"
    w.replace(T([2.0], dtype="float64"))
    assert (g(T([1.0])).dtype.name, g(T([1.0])).item()) == ("f64", 3)


def test_signatures_of_numbers():
    f = tg.function(lambda x, y: x * y)
    assert [np.signbit(f(T([1.0]), zero).item()) for zero in (0.0, -0.0)] == [False, True]
    g = tg.function(lambda x, y: x + T(y))
    array = np.array([1.0], np.float32)
    assert g(T([1.0]), array).item() == 2
    array[0] = 5
    assert g(T([1.0]), array).item() == 6
    assert g(T([1.0]), np.array([1.0], np.float32)).item() == 2


def test_state_that_is_made_inside():
    """A tensor that a first call makes and keeps; and tensors of the function's own."""
    kept: list[T] = []

    @tg.function
    def f(x: T) -> T:
        if not kept:
            kept.append(T([100.0]))
        kept[0].assign(kept[0] + x)
        own = x * 2
        own += 1
        own[0] = own[0] * 3
        return own + kept[0]

    assert [f(T([1.0])).item() for _ in range(3)] == [110, 111, 112]
    assert kept[0].item() == 103
    assert [len(traced.changed) for traced in f._traced.values()] == [1]


# -- random programs -----------------------------------------------------------------------------

SHAPE = (3, 4)
Statement = Callable[[Sequence[Any], Sequence[Any], bool], Any]
"""Something done with captured variables and arguments, tensors or arrays."""


def value(rng: np.random.Generator) -> Statement:
    i, j, k = rng.integers(0, 3, 3)
    factor = int(rng.integers(-2, 3))

    def run(state: Sequence[Any], given: Sequence[Any], is_array: bool) -> Any:
        operands = [state[i], given[j % len(given)], state[k]]
        return operands[0] * factor + (operands[1] ^ operands[2])

    return run


def statement(rng: np.random.Generator) -> Statement:
    """A change of a variable or an argument, as a whole, in part, or through a view."""
    compute, at = value(rng), int(rng.integers(0, 5))
    kind = int(rng.integers(0, 7))
    name = str(rng.choice(["row", "window", "steps", "flip", "permute", "reshape", "diagonal"]))
    factor = int(rng.integers(1, 4))

    def run(state: Sequence[Any], given: Sequence[Any], is_array: bool) -> None:
        targets = [*state, *given]
        target, new = targets[at % len(targets)], compute(state, given, is_array)
        view = VIEWS[name][is_array]
        match kind:
            case 0 | 1 if is_array:
                target[...] = new
            case 0:
                target.assign(new)
            case 1:
                target.replace(new)
            case 2:
                target += new
            case 3:
                target[1:, ::2] = new[1:, ::2]
            case 4:
                target[2] *= factor
            case 5:
                view(target)[0] = factor
            case _:
                part = view(target)
                part += factor

    return run


def program(rng: np.random.Generator) -> Statement:
    statements = [statement(rng) for _ in range(rng.integers(1, 4))]
    result, returned = value(rng), int(rng.integers(0, 3))

    def run(state: Sequence[Any], given: Sequence[Any], is_array: bool) -> Any:
        for each in statements:
            each(state, given, is_array)
        return state[returned] if returned < 2 else result(state, given, is_array)

    return run


@pytest.mark.sampled(3)
@pytest.mark.parametrize("freeze", [None, False, True], ids=["eager", "function", "frozen"])
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_STATE", 40), ids=str)
def test_random_state(seeds: range, freeze: bool | None):
    for seed in seeds:
        check_random_state(seed, freeze)


def check_random_state(seed: int, freeze: bool | None) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-9, 9, SHAPE, np.int32) for _ in range(5)]
    tensors = [T(a.copy()) for a in arrays]
    programs = [program(rng) for _ in range(2)]
    held = [(str(rng.choice(list(VIEWS))), int(rng.integers(0, 5))) for _ in range(4)]
    views = [VIEWS[name][0](tensors[i]) for name, i in held]
    expected = [VIEWS[name][1](arrays[i]) for name, i in held]

    def compiled(run: Statement) -> Callable[..., Any]:
        def call(*given: T) -> Any:
            return run(tensors[:3], given, False)

        return call if freeze is None else tg.function(call, freeze=freeze)

    functions = [compiled(run) for run in programs]
    for _ in range(12):
        if rng.integers(0, 3) == 0:
            change = statement(rng)
            change(tensors[:3], tensors[3:], False)
            change(arrays[:3], arrays[3:], True)
        else:
            which = int(rng.integers(0, 2))
            given = [int(i) for i in rng.choice(5 if rng.integers(0, 2) else [3, 4], 2)]
            ours = functions[which](*[tensors[i] for i in given])
            theirs = programs[which](arrays[:3], [arrays[i] for i in given], True)
            np.testing.assert_array_equal(ours.numpy(), theirs)
        written, number = int(rng.integers(0, 8)), int(rng.integers(0, 9))
        if written < len(views):
            views[written][0] = number
            expected[written][0] = number
        for tensor, array in zip((*tensors, *views), (*arrays, *expected), strict=True):
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_a_write_of_a_value_whose_device_is_named():
    """The name spreads to the tensor, and to what the view shows then."""
    x = T.zeros(2, 3).contiguous().realize()
    view = x[:, 1:2]
    view.assign(T.ones(2, 1, device="CPU")).realize()
    assert (view.tolist(), x.tolist()) == ([[1], [1]], [[0, 1, 0]] * 2)
