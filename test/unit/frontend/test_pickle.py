"""Pickling and copying of tensors, layers, optimizers and traced functions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parity import values

import tgdialect as tg
from tgdialect import nn
from tgdialect.nn.state import get_parameters, get_state_dict


def pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


DEEP = {
    **{f"protocol {p}": pickled(p) for p in range(pickle.HIGHEST_PROTOCOL + 1)},
    "deepcopy": copy.deepcopy,
}
WAYS = {**DEEP, "copy": copy.copy}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
every_deep_way = pytest.mark.parametrize("way", DEEP.values(), ids=DEEP)
NAMES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "fp8e4m3", "fp8e5m2"),
)


def same(a: tg.Tensor, b: tg.Tensor) -> bool:
    is_alike = (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)
    return is_alike and a.numpy().tobytes() == b.numpy().tobytes()


@every_way
@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", NAMES)
def test_tensors_of_all_dtypes(way: Any, dtype: str):
    whole = tg.Tensor([[0, 1, 2], [3, 1, 0]]).cast(dtype)
    for x in (whole, whole.T, whole[1:], whole[0, 1], tg.Tensor.zeros(0, 3, dtype=dtype)):
        assert same(way(x), x)


@every_way
def test_a_copy_is_apart(way: Any):
    x = tg.Tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = way(x)
    assert y.requires_grad
    (3 * y).sum().backward()
    y[0] = 7.0
    assert x.grad is not None
    assert (x.tolist(), x.grad.tolist()) == ([1, 2], [2, 4])
    assert (y.tolist(), y.grad.tolist()) == ([7, 2], [5, 7])
    view = x.detach()[1:]
    way(view)[0] = 9.0
    assert x.tolist() == [1, 2]


@every_way
def test_sizes_and_devices(way: Any):
    n = tg.Variable("n", 1, 10).bind(3)
    for x in (tg.Tensor.arange(10)[:n] * 2, tg.Tensor.ones(25)[: 2 * n + 1].reshape(1, 2 * n + 1)):
        y = way(x)
        assert y.shape == x.shape
        assert (x + y).tolist() == (2 * x).tolist()
    sharded = tg.Tensor(np.arange(6.0)).shard(("CPU:0", "CPU:1"), 0)
    y = way(sharded)
    assert (y.device, y.axis) == (sharded.device, 0)
    assert (sharded + y).tolist() == (2 * sharded).tolist()


@every_deep_way
def test_one_tensor_with_two_names(way: Any):
    x = tg.Tensor([1.0])
    a, b, c = way([x, x, tg.Tensor([1.0])])
    assert a is b
    assert a is not c


class OfMine(tg.Tensor):
    """With attributes of its own."""


@every_way
def test_a_class_of_tensors(way: Any):
    x = OfMine([1.0])
    x.name = "mine"  # pyright: ignore[reportAttributeAccessIssue]
    y = way(x)
    assert (type(y), y.name, y.tolist()) == (OfMine, "mine", [1.0])


X = values(2, 4, 6, 6)
MODULES: dict[str, tuple[Callable[[], Any], np.ndarray]] = {
    "Linear": (lambda: nn.Linear(6, 3), X),
    "Conv1d": (lambda: nn.Conv1d(6, 2, 3), X[0]),
    "Conv2d": (lambda: nn.Conv2d(4, 2, 3, padding="same"), X),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(6, 2, 3), X[0]),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 2, 3), X),
    "BatchNorm": (lambda: nn.BatchNorm(4), X),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), X),
    "InstanceNorm": (lambda: nn.InstanceNorm(4), X),
    "LayerNorm": (lambda: nn.LayerNorm(6), X),
    "LayerNorm2d": (lambda: nn.LayerNorm2d(4), X),
    "RMSNorm": (lambda: nn.RMSNorm(6), X),
    "Embedding": (lambda: nn.Embedding(3, 2), np.array([0, 2])),
    "LSTMCell": (lambda: nn.LSTMCell(6, 3), X[0, 0]),
    "LSTM": (lambda: nn.LSTM(6, 3, bidirectional=True), X[0]),
    "GRU": (lambda: nn.GRU(6, 3), X[0]),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(6, 2), X[0]),
}


def result_of(module: Any, x: np.ndarray) -> np.ndarray:
    given = [tg.Tensor(x)] * (3 if isinstance(module, nn.MultiheadAttention) else 1)
    result = module(*given)
    while isinstance(result, tuple):
        result = result[0]
    return result.numpy()


def test_modules_are_complete():
    others = {"optim", "state"} | {
        name for name in nn.__all__ if name in ("BatchNorm2d", "BatchNorm3d")
    }
    assert MODULES.keys() == set(nn.__all__) - others


@pytest.mark.sampled(48)
@every_way
@pytest.mark.parametrize("name", MODULES)
def test_layers(way: Any, name: str):
    make, x = MODULES[name]
    module = make()
    again = way(module)
    assert [*get_state_dict(again)] == [*get_state_dict(module)]
    np.testing.assert_array_equal(result_of(again, x), result_of(module, x))


OPTIMIZERS: dict[str, Callable[[list[tg.Tensor]], nn.optim.Optimizer]] = {
    "SGD": lambda p: nn.optim.SGD(p, 0.1, 0.9),
    "Adam": lambda p: nn.optim.Adam(p, 0.1),
    "AdamW": lambda p: nn.optim.AdamW(p, 0.1),
    "LAMB": lambda p: nn.optim.LAMB(p, 0.1),
    "LARS": lambda p: nn.optim.LARS(p, 0.1),
    "Muon": lambda p: nn.optim.Muon(p, 0.1),
    "OptimizerGroup": lambda p: nn.optim.OptimizerGroup(
        nn.optim.SGD(p[:1]), nn.optim.Adam(p[1:], 0.1)
    ),
}


@pytest.mark.sampled(32)
@every_deep_way
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on(way: Any, name: str):
    """A model and its optimizer in one pickle: the parameters are the same tensors in both."""
    model = nn.Linear(6, 3)
    optimizer = OPTIMIZERS[name](get_parameters(model))
    is_group = isinstance(optimizer, nn.optim.OptimizerGroup)
    schedule = None if is_group else nn.optim.StepLR(optimizer, 1)

    def step(model: Any, optimizer: Any, schedule: Any) -> None:
        with tg.Tensor.train():
            optimizer.zero_grad()
            model(tg.Tensor(X[0, 0])).square().sum().backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()

    step(model, optimizer, schedule)
    again = way((model, optimizer, schedule))
    for _ in range(2):
        step(model, optimizer, schedule)
        step(*again)
    for x, y in zip(get_parameters(model), get_parameters(again[0]), strict=True):
        np.testing.assert_array_equal(x.numpy(), y.numpy())


@tg.function
def doubled(x: tg.Tensor) -> tg.Tensor:
    return 2 * x


def tripled(x: tg.Tensor) -> tg.Tensor:
    return 3 * x


TRACED = tg.function(tripled, max_signatures=1)


class Scaled:
    def __init__(self) -> None:
        self.scale = tg.Tensor([2.0])
        self.traced = tg.function(self.forward)

    def forward(self, x: tg.Tensor) -> tg.Tensor:
        return x * self.scale

    @tg.function
    def method(self, x: tg.Tensor) -> tg.Tensor:
        return x * self.scale


@every_deep_way
def test_traced_functions(way: Any):
    x = tg.Tensor([1.0])
    assert way(doubled) is doubled
    again = way(TRACED)
    assert again(x).tolist() == [3]
    with pytest.raises(RuntimeError, match="has 1 signatures"):
        again(tg.Tensor([1.0, 2.0]))
    # A method belongs to the copy of its object.
    model = Scaled()
    again = way(model)
    again.scale.assign([5.0])
    for each, wanted in ((model, [2]), (again, [5])):
        assert each.traced(x).tolist() == each.method(x).tolist() == wanted


def test_a_local_function_is_one_error():
    def local(x: tg.Tensor) -> tg.Tensor:
        return x

    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(tg.function(local))


@every_way
def test_a_value_that_is_not_known(way: Any):
    def function(x: tg.Tensor) -> tg.Tensor:
        return way(x)

    with pytest.raises(RuntimeError, match="not known while its function is traced"):
        tg.function(function)(tg.Tensor([1.0]))
    with pytest.raises(RuntimeError, match="n is unbound"):
        way(tg.Tensor.ones(tg.Variable("n", 1, 10)))
