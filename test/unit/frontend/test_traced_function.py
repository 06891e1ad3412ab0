"""`@tg.function`: inputs, results, state, nesting, gradients."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest
from parity import values

import tgdialect as tg
from tgdialect.frontend import function as function_module


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled for functions."""
    modules: list[Any] = []
    original = function_module.compiled

    def compiled(module: Any, device: str | None, **options: Any) -> Any:
        modules.append(module.clone())  # The compilation changes it.
        return original(module, device, **options)

    monkeypatch.setattr(function_module, "compiled", compiled)
    return modules


def test_compiles_once_for_each_signature(compilations: list[Any]):
    @tg.function
    def f(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
        return a * 2 + b

    for seed in range(4):
        x, y = values(3, 4, seed=seed), values(4, seed=seed + 9)
        np.testing.assert_allclose(f(tg.Tensor(x), tg.Tensor(y)).numpy(), x * 2 + y, rtol=1e-6)
    assert len(compilations) == 1
    x = values(2, 4)
    np.testing.assert_allclose(f(tg.Tensor(x), tg.Tensor(x)).numpy(), x * 3, rtol=1e-6)
    assert len(compilations) == 2


def test_inputs_are_deduplicated_by_identity(compilations: list[Any]):
    @tg.function
    def f(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
        return a - b

    x = tg.Tensor(values(4))
    assert f(x, x).tolist() == [0] * 4
    other = tg.Tensor(values(4))
    assert f(x, other).tolist() == [0] * 4
    counts = [sum(op.name == "tg.param" for op in module.walk()) for module in compilations]
    assert counts == [1, 2]


def test_structures():
    @tg.function
    def f(
        pair: tuple[tg.Tensor, list[tg.Tensor]], *, scale: int, more: dict[str, tg.Tensor]
    ) -> Any:
        a, (b,) = pair
        return {"sum": a + b, "rest": [more["c"] * scale, (a,)], "scale": scale}

    a, b, c = (tg.Tensor(values(3, seed=i)) for i in range(3))
    for scale in (2, 3):
        result = f((a, [b]), scale=scale, more={"c": c})
        np.testing.assert_allclose(result["sum"].numpy(), (a + b).numpy())
        np.testing.assert_allclose(result["rest"][0].numpy(), c.numpy() * scale)
        np.testing.assert_allclose(result["rest"][1][0].numpy(), a.numpy())
        assert result["scale"] == scale


def test_unrealized_inputs():
    @tg.function
    def f(a: tg.Tensor) -> tg.Tensor:
        return a.sum()

    assert f(tg.Tensor.arange(5) + 1).item() == 15


class Counter:
    """Holds tensors, some that are data and some that are not computed yet."""

    def __init__(self) -> None:
        self.weight = tg.Tensor(values(3), requires_grad=True)
        self.total = tg.Tensor.zeros(3)
        self.count = tg.Tensor(0)

    @tg.function
    def step(self, x: tg.Tensor) -> tg.Tensor:
        self.total.assign(self.total + x * self.weight)
        self.count.assign(self.count + 1)
        return self.total.sum()


def test_methods_and_state():
    one, other = Counter(), Counter()
    x = values(3, seed=5)
    for n in range(1, 4):
        expected = (n * x * one.weight.numpy()).sum()
        np.testing.assert_allclose(one.step(tg.Tensor(x)).item(), expected, rtol=1e-6)
        assert one.count.item() == n
    assert other.count.item() == 0
    one.weight.assign(tg.Tensor.zeros(3))
    before = one.total.numpy()
    one.step(tg.Tensor(x))
    np.testing.assert_array_equal(one.total.numpy(), before)


def test_assigning_to_an_argument():
    @tg.function
    def double(x: tg.Tensor) -> None:
        x.assign(x * 2)

    t = tg.Tensor([1.0, 2.0])
    double(t)
    double(t)
    assert t.tolist() == [4, 8]


def test_closures_take_what_is_there():
    weight = tg.Tensor([1.0, 2.0])

    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        return x * weight

    x = tg.Tensor([3.0, 4.0])
    assert f(x).tolist() == [3, 8]
    weight.assign([10.0, 20.0])
    assert f(x).tolist() == [30, 80]


def test_frozen_functions_notice_what_is_assigned():
    weight, scale = tg.Tensor(values(96, 40)), tg.Tensor(values(96))

    @tg.function(freeze=True)
    def f(x: tg.Tensor) -> tg.Tensor:
        return x @ (weight * scale.exp().reshape((96, 1))).T

    x = tg.Tensor(values(8, 40, seed=1))

    def expected() -> np.ndarray:
        return x.numpy() @ (weight.numpy() * np.exp(scale.numpy())[:, None]).T

    for _ in range(3):
        np.testing.assert_allclose(f(x).numpy(), expected(), rtol=1e-4, atol=1e-4)
    weight.assign(weight * 2)
    np.testing.assert_allclose(f(x).numpy(), expected(), rtol=1e-4, atol=1e-4)
    scale.assign(scale + 1)
    np.testing.assert_allclose(f(x).numpy(), expected(), rtol=1e-4, atol=1e-4)


def released_layers() -> tuple[list[tg.Tensor], list[weakref.ref[Any]], list[np.ndarray], Any]:
    """Layers whose weights are released, and references to the arrays of these."""
    kept = [values(512, 512, seed=i) / 16 for i in range(2)]
    weights = [tg.Tensor(array.copy()) for array in kept]
    arrays = [weakref.ref(w.numpy()) for w in weights]

    @tg.function(freeze="release")
    def layers(x: tg.Tensor) -> tg.Tensor:
        for weight in weights:
            x = (x @ weight).relu()
        return x

    return weights, arrays, kept, layers


def test_packed_weights_are_there_once():
    weights, arrays, kept, layers = released_layers()
    x = values(64, 512, seed=3)
    expected = np.maximum(np.maximum(x @ kept[0], 0) @ kept[1], 0)
    for _ in range(4):
        np.testing.assert_allclose(layers(tg.Tensor(x)).numpy(), expected, rtol=1e-3, atol=1e-3)
        assert all(array() is None for array in arrays)
    assert "released this tensor" in repr(weights[0])
    (traced,) = layers._traced.values()
    (memory,) = traced.executable.memory()
    assert memory.arguments == x.nbytes
    assert memory.persistent >= 2 * 512 * 512 * 4
    # They have a shape, but no value, for this function or for others.
    assert weights[0].shape == (512, 512)
    for use in (
        weights[0].numpy,
        (weights[1] + 1).numpy,
        lambda: np.from_dlpack(weights[1]),
        lambda: layers(tg.Tensor(x[:32])),
        lambda: tg.function(lambda y: y @ weights[0])(tg.Tensor(x)),
        lambda: tg.function(lambda y: y @ weights[0], freeze=True)(tg.Tensor(x)),
    ):
        with pytest.raises(RuntimeError, match="layers has released this tensor"):
            use()
    np.testing.assert_allclose(layers(tg.Tensor(x)).numpy(), expected, rtol=1e-3, atol=1e-3)


def test_released_weights_are_assigned_to_together():
    weights, _, kept, layers = released_layers()
    x = values(64, 512, seed=3)
    layers(tg.Tensor(x)), layers(tg.Tensor(x))
    weights[0].assign(kept[1])
    with pytest.raises(RuntimeError, match="layers has released this tensor"):
        layers(tg.Tensor(x))
    weights[1].assign(kept[0])
    expected = np.maximum(np.maximum(x @ kept[1], 0) @ kept[0], 0)
    for _ in range(3):
        np.testing.assert_allclose(layers(tg.Tensor(x)).numpy(), expected, rtol=1e-3, atol=1e-3)
    with pytest.raises(RuntimeError, match="layers has released this tensor"):
        weights[0].numpy()


def test_weights_that_are_not_packed_are_not_released():
    table, weight = tg.Tensor(values(64, 64)), tg.Tensor(values(64, 64, seed=1))
    n = tg.Variable("n", 1, 64)

    @tg.function(freeze="release")
    def f(x: tg.Tensor) -> tg.Tensor:
        return x @ weight + x[:, :1] * table[0]

    for rows in (3, 64, 5):
        x = values(64, 64, seed=2)
        found = f(tg.Tensor(x)[: n.bind(rows)]).numpy()
        np.testing.assert_allclose(
            found,
            x[:rows] @ values(64, 64, seed=1) + x[:rows, :1] * table.numpy()[0],
            rtol=1e-3,
            atol=1e-3,
        )


def test_arrays_of_the_caller_outlive_release():
    array = values(64, 64)
    weight = tg.Tensor(array)
    f = tg.function(lambda x: x @ weight, freeze="release")
    for _ in range(3):
        found = f(tg.Tensor(values(32, 64, seed=1))).numpy()
        np.testing.assert_allclose(found, values(32, 64, seed=1) @ array, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(array, values(64, 64))


def test_frozen_functions_have_state_and_gradients():
    weight, count = tg.Tensor(values(32, 16)), tg.Tensor([0.0])
    weight.requires_grad_()

    @tg.function(freeze=True)
    def f(x: tg.Tensor) -> tg.Tensor:
        count.assign(count + 1)
        return (x @ weight.T * count).sum()

    x = tg.Tensor(values(4, 16, seed=1))
    total = x.numpy().astype(np.float64) @ weight.numpy().T.astype(np.float64)
    for n in range(1, 4):
        np.testing.assert_allclose(f(x).item(), n * total.sum(), rtol=1e-4)
    f(x).backward()
    assert weight.grad is not None
    np.testing.assert_allclose(weight.grad.numpy()[0], 4 * x.numpy().sum(0), rtol=1e-4)


def test_nested_functions():
    @tg.function
    def inner(a: tg.Tensor, b: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        return a * b, a + b

    @tg.function
    def outer(a: tg.Tensor) -> tg.Tensor:
        product, total = inner(a, a + 1)
        return inner(product, total)[0].sum()

    x = values(5)
    expected = (x * (x + 1) * (2 * x + 1)).sum()
    np.testing.assert_allclose(outer(tg.Tensor(x)).item(), expected, rtol=1e-5)


def test_an_inner_function_uses_what_the_outer_one_has_computed():
    @tg.function
    def outer(a: tg.Tensor) -> tg.Tensor:
        double = a * 2

        @tg.function
        def inner(x: tg.Tensor) -> tg.Tensor:
            return x + double

        return inner(a)

    for value in (1.0, 5.0):
        assert outer(tg.Tensor([value])).tolist() == [3 * value]


class Account:
    """One method reads what the other, which calls it, has assigned."""

    def __init__(self) -> None:
        self.total = tg.Tensor.zeros(1)

    @tg.function
    def times(self, x: tg.Tensor) -> tg.Tensor:
        return self.total * x

    @tg.function
    def add(self, x: tg.Tensor) -> tg.Tensor:
        self.total.assign(self.total + x)
        return self.times(x)


def test_an_inner_function_reads_what_the_outer_one_has_assigned():
    account, total = Account(), 0.0
    for value in (1.0, 2.0, 3.0):
        total += value
        assert account.add(tg.Tensor([value])).tolist() == [total * value]
        assert account.total.tolist() == [total]
    assert account.times(tg.Tensor([2.0])).tolist() == [2 * total]


def test_gradients():
    @tg.function
    def f(a: tg.Tensor, b: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        return (a @ b).tanh(), a.sum()

    x, y = values(3, 4), values(4, 2, seed=1)

    def gradients(function: Any) -> list[np.ndarray]:
        a, b = tg.Tensor(x, requires_grad=True), tg.Tensor(y, requires_grad=True)
        first, second = function(a, b)
        ((first * first).sum() + second).backward()
        assert a.grad is not None
        assert b.grad is not None
        return [a.grad.numpy(), b.grad.numpy()]

    plain = gradients(lambda a, b: ((a @ b).tanh(), a.sum()))
    for mine, theirs in zip(gradients(f), plain, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_gradient_inside():
    @tg.function
    def f(a: tg.Tensor) -> tg.Tensor:
        return (a * a * a).sum().gradient(a)[0]

    np.testing.assert_allclose(f(tg.Tensor(values(4))).numpy(), 3 * values(4) ** 2, rtol=1e-6)


def test_the_mode_is_part_of_the_signature():
    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        return x + (1 if x.training else 0)

    x = tg.Tensor([1.0])
    assert f(x).item() == 1
    with tg.Tensor.train():
        assert f(x).item() == 2
    assert f(x).item() == 1


def test_values_are_not_known_inside():
    @tg.function
    def f(x: tg.Tensor) -> Any:
        return x * x.sum().item()

    with pytest.raises(RuntimeError, match="not known while its function is traced"):
        f(tg.Tensor([1.0]))
    assert (tg.Tensor([1.0]) + 1).tolist() == [2]


def test_a_function_that_raises_changes_nothing():
    state = tg.Tensor([1.0, 2.0])

    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        state.assign(state + x)
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        f(tg.Tensor([3.0, 4.0]))
    assert state.tolist() == [1, 2]


def test_repeated_calls_with_tensors_that_are_not_computed():
    """Also of a function with memory of its own, which native code cannot launch by itself."""

    @tg.function
    def sums(x: tg.Tensor) -> tg.Tensor:
        return (x.cumsum(0).contiguous() * 2).contiguous().cumsum(0)

    x = np.ones(5000, np.float32)
    realized = tg.Tensor(x).realize()
    for _ in range(4):
        sums(realized)
    np.testing.assert_array_equal(sums(realized + 1).numpy(), 2 * sums(realized).numpy())


def test_no_more_signatures_than_wanted(compilations: list[Any]):
    @tg.function(max_signatures=1)
    def f(x: tg.Tensor, power: int) -> tg.Tensor:
        return x**power

    x = tg.Tensor([1.0, 2.0], requires_grad=True)
    assert f(x, 2).tolist() == [1, 4]
    assert f(x.detach(), 2).tolist() == [1, 4]
    for arguments in ((tg.Tensor([1.0]), 2), (tg.Tensor([1, 2]), 2), (x, 3)):
        with pytest.raises(function_module.SignatureError, match="f has 1 signatures"):
            f(*arguments)
    assert f(tg.Tensor([3.0, 5.0]), 2).tolist() == [9, 25]
    assert len(compilations) == 2


def test_gradients_inside_are_not_set_outside():
    x = tg.Tensor([3.0, 4.0], requires_grad=True)

    @tg.function
    def f(y: tg.Tensor) -> tg.Tensor:
        (x * y).sum().backward()
        assert x.grad is not None
        return x.grad * 2

    assert f(tg.Tensor([1.0, 2.0])).tolist() == [2, 4]
    assert x.grad is None
    x.sum().backward()
    outside = x.grad
    f(tg.Tensor([[1.0, 2.0]]))
    assert x.grad is outside
    assert x.grad.tolist() == [1, 1]


def test_values_on_two_devices():
    """From one to another, in a nested function, with a symbolic size, state and a gradient."""
    first, second = "CPU:0", "CPU:1"
    state = tg.Tensor([0.0], device=second)

    @tg.function
    def inner(x: tg.Tensor) -> tg.Tensor:
        return (x.to(second) * 3).to(first) + x

    @tg.function
    def f(x: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        there = (inner(x) + 1).to(second)
        state.assign(state + there.sum())
        return there, x * 2

    for i, array in enumerate((values(5), values(5, seed=1), values(4))):
        n = tg.Variable("n", 1, 8).bind(len(array))
        x = tg.Tensor(values(8), device=first)[:n]
        x.assign(tg.Tensor(array, device=first).shrink(((0, n),)))
        there, here = f(x)
        assert (there.device, here.device) == (tg.Device[second].name, tg.Device[first].name)
        np.testing.assert_allclose(there.numpy(), array * 4 + 1, rtol=1e-6)
        np.testing.assert_array_equal(here.numpy(), array * 2)
        assert i or state.item() == pytest.approx(float((array * 4 + 1).sum()), rel=1e-5)
    x = tg.Tensor(values(3), device=first).requires_grad_()
    (inner(x) * inner(x)).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 32 * values(3), rtol=1e-5)


def test_arguments_are_the_same_by_name_and_by_position(compilations: list[Any]):
    @tg.function(max_signatures=1)
    def difference(a: tg.Tensor, b: tg.Tensor, *, factor: float, shift: float) -> tg.Tensor:
        return (a - b) * factor + shift

    x, y = tg.Tensor([5.0]), tg.Tensor([2.0])
    for found in (
        difference(x, y, factor=2.0, shift=1.0),
        difference(a=x, b=y, factor=2.0, shift=1.0),
        difference(shift=1.0, b=y, factor=2.0, a=x),
        difference(x, factor=2.0, b=y, shift=1.0),
    ):
        assert found.tolist() == [7.0]
    assert len(compilations) == 1

    class Model:
        @tg.function(max_signatures=1)
        def __call__(self, a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
            return a - b

    model = Model()
    assert [model(x, b=y).tolist(), model(b=y, a=x).tolist()] == [[3.0], [3.0]]
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        tg.function(lambda a: a)(x, c=y)


def test_the_order_of_other_names_is_seen():
    """As in Python: a function of `**tensors` may iterate over them."""

    @tg.function
    def first(**tensors: tg.Tensor) -> tg.Tensor:
        return next(iter(tensors.values())) + 0

    x, y = tg.Tensor([5.0]), tg.Tensor([2.0])
    assert [first(a=x, b=y).item(), first(b=y, a=x).item()] == [5.0, 2.0]


def test_an_argument_gets_a_gradient_within_the_function():
    @tg.function
    def run(a: tg.Tensor, w: tg.Tensor) -> Any:
        w.requires_grad_(True)
        (a * w * w).sum().backward()
        return w.grad, a - w, (a - w.requires_grad_(False))

    found = run(tg.Tensor([5.0, 6.0]), tg.Tensor([2.0, 3.0]))
    assert [each.tolist() for each in found] == [[20, 36], [3, 3], [3, 3]]
