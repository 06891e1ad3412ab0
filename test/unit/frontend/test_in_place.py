"""State in place: what a traced function assigns to, and donated arguments, seen by others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl

import tgdialect as tg
from tgdialect.frontend.function import Function

SHAPE = (64, 64)


def values(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 9, SHAPE).astype(np.float32)


def state(seed: int = 0) -> tg.Tensor:
    return tg.Tensor(values(seed).copy())


def place(tensor: tg.Tensor) -> int:
    data = tensor.realize().node.data
    assert isinstance(data, np.ndarray)
    return data.ctypes.data


def doubling(tensor: tg.Tensor) -> Function[[], tg.Tensor]:
    @tg.function
    def double() -> tg.Tensor:
        tensor.assign(tensor * 2)
        return tensor.sum()

    return double


def memory_of(function: Any) -> Any:
    (traced,) = function._traced.values()
    (cpu,) = traced.executable.memory()
    return cpu


# -- what is written in place ---------------------------------------------------------------------


def test_assignments_stay_where_they_are():
    x = state()
    double = doubling(x)
    double()
    before = place(x)
    for n in range(2, 5):
        double()
        assert place(x) == before
        np.testing.assert_array_equal(x.numpy(), values() * 2**n)
    assert memory_of(double).results == 4


def test_a_row_of_a_cache():
    cache, n = state(), tg.Variable("n", 0, 63)

    @tg.function
    def write(row: tg.Tensor, at: Any) -> tg.Tensor:
        cache[at : at + 1] = row
        return cache.sum(0)

    wanted, row = values(), values(1)[:1]
    write(tg.Tensor(row), n.bind(3))
    wanted[3:4] = row
    before = place(cache)
    for at in (0, 3, 63):
        row = row + 1
        wanted[at : at + 1] = row
        found = write(tg.Tensor(row), n.bind(at))
        assert place(cache) == before
        np.testing.assert_array_equal(found.numpy(), wanted.sum(0))
        np.testing.assert_array_equal(cache.numpy(), wanted)
    (traced,) = write._traced.values()
    assert traced.executable is not None
    writing = traced.executable.kernels[-1]
    assert "64" in writing.source
    assert memory_of(write).results == 4 * 64


def test_writes_through_views():
    cache = tg.Tensor(np.zeros((2, 8, 64), np.float32))

    @tg.function
    def write(row: tg.Tensor) -> tg.Tensor:
        cache[1].T[:, 2:4].assign(row.reshape((64, 1)).expand((64, 2)))
        return cache[1, 2] + 1

    row = values()[0]
    write(tg.Tensor(row))
    before = place(cache)
    for _ in range(3):
        row = row + 1
        np.testing.assert_array_equal(write(tg.Tensor(row)).numpy(), row + 1)
        assert place(cache) == before
    wanted = np.zeros((2, 8, 64), np.float32)
    wanted[1, 2:4] = row
    np.testing.assert_array_equal(cache.numpy(), wanted)


def test_optimizers_take_no_memory_for_results():
    weight = tg.Tensor(values() / 9, requires_grad=True)
    optimizer = tg.nn.optim.Adam([weight])

    @tg.function
    def step(x: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = ((x @ weight).relu() ** 2).mean()
        loss.backward()
        optimizer.schedule_step()
        return loss

    with tg.Tensor.train():
        losses = [step(tg.Tensor(values(1))) for _ in range(2)]
        before = [place(t) for t in (weight, *optimizer.m, *optimizer.v)]
        losses += [step(tg.Tensor(values(1))) for _ in range(3)]
    assert before == [place(t) for t in (weight, *optimizer.m, *optimizer.v)]
    assert memory_of(step).results == 4
    found = [loss.item() for loss in losses]
    assert found == sorted(found, reverse=True)


# -- others who see the memory --------------------------------------------------------------------


@pytest.mark.parametrize(
    "hold",
    [
        lambda t: t.numpy(),
        lambda t: t.numpy()[3:, 1:].T,
        lambda t: t.data(),
        lambda t: np.from_dlpack(t),
        lambda t: t.__dlpack__(),
        lambda t: np.asarray(t),
        lambda t: memoryview(t.numpy())[1:],
        lambda t: t.numpy().flat,
    ],
    ids=["numpy", "view", "data", "from_dlpack", "capsule", "asarray", "memoryview", "iterator"],
)
def test_arrays_that_others_hold(hold: Callable[[tg.Tensor], Any]):
    x = state()
    double = doubling(x)
    double(), double()
    held, array = hold(x), x.numpy().copy()
    before = place(x)
    double()
    assert place(x) != before
    np.testing.assert_array_equal(x.numpy(), array * 2)
    if type(held).__name__ == "PyCapsule":
        del held
    else:
        seen = np.asarray(held)
        assert np.isin(seen, array).all()
        assert seen.sum() in (
            array.sum(),
            array[3:, 1:].sum(),
            array[1:].sum(),
        )
        del held, seen
    before = place(x)
    double()
    assert place(x) == before


def test_arrays_of_the_caller():
    array = values()
    for given in (
        array,
        array[:],
        np.frombuffer(bytearray(array.tobytes()), np.float32).reshape(SHAPE),
    ):
        x = tg.Tensor(given)
        double = doubling(x)
        double(), double()
        np.testing.assert_array_equal(x.numpy(), values() * 4)
        np.testing.assert_array_equal(given, values())


def test_other_tensors():
    x = state()
    double = doubling(x)
    double(), double()
    wanted = values() * 4
    same, later, view, detached = tg.Tensor(x), x + 1, x[3], x.detach()
    computed = x[5].realize()
    for n in (2, 4, 8):
        double()
        np.testing.assert_array_equal(x.numpy(), wanted * n)
        np.testing.assert_array_equal(same.numpy(), wanted)
        np.testing.assert_array_equal(view.numpy(), wanted[3] * n)
        np.testing.assert_array_equal(computed.numpy(), wanted[5] * n)
        np.testing.assert_array_equal(detached.numpy(), wanted * n)
    np.testing.assert_array_equal(later.numpy(), wanted + 1)


def test_two_names_of_one_tensor():
    x = state()

    @tg.function
    def add(y: tg.Tensor) -> tg.Tensor:
        x.assign(x + y)
        return y - 1

    wanted = values()
    for _ in range(3):
        found = add(x)
        wanted = wanted * 2
        np.testing.assert_array_equal(x.numpy(), wanted)
        np.testing.assert_array_equal(found.numpy(), wanted - 1)


def test_old_values_that_are_read_late():
    a, b = state(0), state(1)

    @tg.function
    def swap() -> tuple[tg.Tensor, tg.Tensor]:
        old = a + 0
        a.assign(b)
        b.assign(old)
        a[:32] = a[32:]
        return old.sum(0), a.T + b

    x, y = values(0), values(1)
    for _ in range(4):
        first, second = swap()
        np.testing.assert_array_equal(first.numpy(), x.sum(0))
        x, y = y.copy(), x
        x[:32] = x[32:]
        np.testing.assert_array_equal(second.numpy(), x.T + y)
        np.testing.assert_array_equal(a.numpy(), x)
        np.testing.assert_array_equal(b.numpy(), y)


def test_gradients_need_what_is_not_assigned_to():
    weight, count = tg.Tensor(values(), requires_grad=True), state(1)

    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        count.assign(count + 1)
        return (x * weight * count).sum()

    for n in range(1, 4):
        weight.grad = None
        loss = f(tg.Tensor(values(2)))
        f(tg.Tensor(values(2)))
        loss.backward()
        assert weight.grad is not None
        np.testing.assert_array_equal(weight.grad.numpy(), values(2) * (values(1) + 2 * n - 1))


def test_values_that_are_overwritten_are_an_error():
    weight = tg.Tensor(values(), requires_grad=True)

    @tg.function
    def step(x: tg.Tensor) -> tg.Tensor:
        loss = (x * weight * weight).sum()
        weight.assign(weight - 1)
        return loss

    x = tg.Tensor(values(1))
    step(x)
    loss = step(x)
    with pytest.raises(RuntimeError, match="assigned to after it was used"):
        loss.gradient(weight)
    (gradient,) = loss.gradient(x)
    with pytest.raises(RuntimeError, match="step has overwritten this value in memory"):
        gradient.numpy()
    np.testing.assert_array_equal(weight.numpy(), values() - 2)


def test_compiled_functions():
    x = state()
    compiled = doubling(x).lower().compile()
    compiled()
    before = place(x)
    compiled()
    assert place(x) == before
    held = x.numpy()
    assert compiled() == values().sum() * 8
    out = np.zeros((), np.float32)
    compiled(out=out)
    assert out == values().sum() * 16
    np.testing.assert_array_equal(held, values() * 4)
    np.testing.assert_array_equal(x.numpy(), values() * 16)


@needs_opencl
def test_state_on_a_device():
    x = tg.Tensor(values(), device=DEVICE)
    double = doubling(x)
    double()
    data = x.node.data
    later = x + 1
    double()
    assert x.node.data is not data
    place = x.node.data
    del data, later
    for n in range(3, 6):
        span = place.span
        del place
        double()
        place = x.node.data
        assert place.span == span
        np.testing.assert_array_equal(x.numpy(), values() * 2**n)


# -- donated arguments ----------------------------------------------------------------------------


def test_donated_arguments():
    @tg.function(donate="cache")
    def write(cache: tg.Tensor, row: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        cache[3:4] = row
        return cache, cache.sum()

    cache, wanted, row = state(), values(), values(1)[:1]
    wanted[3:4] = row
    cache, _ = write(cache, tg.Tensor(row))
    for _ in range(3):
        old, before = cache, place(cache)
        cache, total = write(cache, tg.Tensor(row))
        assert place(cache) == before
        np.testing.assert_array_equal(cache.numpy(), wanted)
        assert total.item() == wanted.sum()
        assert old.shape == SHAPE
        for use in (old.numpy, (old + 1).numpy, lambda old=old: write(old, tg.Tensor(row))):
            with pytest.raises(RuntimeError, match="donated to write as cache"):
                use()
    assert memory_of(write).results == 4


def test_donated_structures_by_position():
    @tg.function(donate=(1, -1))
    def f(scale: float, states: dict[str, tg.Tensor], x: tg.Tensor, *, last: tg.Tensor) -> Any:
        return {k: v * scale + x for k, v in states.items()}, last - 1

    states, x = {"a": state(0), "b": state(1)}, state(2)
    given, last = dict(states), state(3)
    for _ in range(2):
        held, before = last, dict(states)
        states, last = f(2.0, states, x, last=last)
    assert all(place(t) for t in states.values())
    np.testing.assert_array_equal(states["b"].numpy(), (values(1) * 2 + values(2)) * 2 + values(2))
    np.testing.assert_array_equal(last.numpy(), values(3) - 2)
    for tensor in (*given.values(), *before.values()):
        with pytest.raises(RuntimeError, match="donated to f as states"):
            tensor.numpy()
    with pytest.raises(RuntimeError, match="donated to f as last"):
        held.numpy()
    x.numpy()


def test_donated_arguments_that_others_see():
    @tg.function(donate=0)
    def f(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        return x * 2 + y

    for _ in range(3):
        x = state()
        array, same, later = x.numpy(), tg.Tensor(x), x + 1
        np.testing.assert_array_equal(f(x, same).numpy(), values() * 3)
        np.testing.assert_array_equal(array, values())
        np.testing.assert_array_equal(same.numpy(), values())
        np.testing.assert_array_equal(later.numpy(), values() + 1)
        x = state()
        np.testing.assert_array_equal(f(x, x).numpy(), values() * 3)


def test_what_cannot_be_donated():
    x = state()
    with pytest.raises(ValueError, match="donate='z': the arguments are y"):
        tg.function(lambda y: y, donate="z")
    with pytest.raises(ValueError, match="donate=1: the arguments are y"):
        tg.function(lambda y: y, donate=1)
    f = tg.function(lambda y: x + y, donate="y")
    with pytest.raises(ValueError, match="captures the tensor that is donated as y"):
        f(x)
    np.testing.assert_array_equal(x.numpy(), values())


def test_calls_within_functions_donate_nothing():
    inner = tg.function(lambda y: y * 2, donate="y")

    @tg.function
    def outer(y: tg.Tensor) -> tg.Tensor:
        return inner(y) + y

    x = state()
    for _ in range(3):
        np.testing.assert_array_equal(outer(x).numpy(), values() * 3)


def test_views_of_contiguous_cells_share_memory(compilations: list[Any]):
    """They are compiled for once, whatever their place and size, and neither they nor what they are
    views of is overwritten while both are there."""
    array = np.arange(24, dtype=np.float32).reshape(6, 4)
    x = tg.Tensor(array.copy()).realize()
    n = tg.Variable("n", 1, 6)
    double = tg.function(lambda row: row * 2)
    compilations.clear()
    for i in range(6):
        np.testing.assert_array_equal(double(x[i]).numpy(), array[i] * 2)
        np.testing.assert_array_equal(double(x[i : i + 1]).numpy(), array[i : i + 1] * 2)
        part = x[i : i + n.bind(6 - i)].realize()
        np.testing.assert_array_equal(double(part).numpy(), array[i:] * 2)
        assert np.shares_memory(part.numpy(), x.numpy())
    assert len(compilations) == 3
    assert not np.shares_memory(x[1].numpy(), x.numpy())
    assert not np.shares_memory(x[:, 1:].realize().numpy(), x.numpy())

    @tg.function
    def increment(t: tg.Tensor) -> None:
        t += 1

    whole = x.clone().realize()
    row, kept = whole[2].realize(), whole * 1
    increment(whole)
    np.testing.assert_array_equal(row.numpy(), array[2] + 1)
    increment(row)
    array[2] += 1
    np.testing.assert_array_equal(whole.numpy(), array + 1)
    np.testing.assert_array_equal(row.numpy(), array[2] + 1)
    array[2] -= 1
    np.testing.assert_array_equal(kept.numpy(), array)
    column = whole[:, 1].realize()
    increment(column)
    np.testing.assert_array_equal(whole[:, 1].numpy(), column.numpy())
    np.testing.assert_array_equal(column.numpy(), array[:, 1] + [2, 2, 3, 2, 2, 2])
    alone = (tg.Tensor(array) * 1).realize()[3:5].realize()
    other = (alone * 1).realize()
    increment(alone)
    np.testing.assert_array_equal(alone.numpy(), array[3:5] + 1)
    np.testing.assert_array_equal(other.numpy(), array[3:5])
