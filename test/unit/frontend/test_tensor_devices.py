"""Tensors on a device other than the host: where methods make them, moves, gradients, training."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from opencl_device import DEVICE, KIND, needs_opencl

import tgdialect as tg
from tgdialect.nn import optim, state
from tgdialect.runtime.devices.array import DeviceArray

pytestmark = needs_opencl

T = tg.Tensor
X = np.arange(12, dtype=np.float32).reshape(3, 4)
n = tg.Variable("n", 1, 100).bind(5)


def here(array: np.ndarray = X, **how: object) -> tg.Tensor:
    return T(array, device=DEVICE, **how)


CREATED: dict[str, Callable[..., tg.Tensor]] = {
    "a number": lambda **to: T(3.5, **to),
    "a list": lambda **to: T([1, 2, 3], **to),
    "an array": lambda **to: T(X, **to),
    "an array of another dtype": lambda **to: T(X, dtype="float16", **to),
    "a view": lambda **to: T(np.arange(24).reshape(4, 6)[::2, ::-1], **to),
    "big-endian": lambda **to: T(X.astype(">f4"), **to),
    "a tensor": lambda **to: T(T(X), **to),
    "zeros": lambda **to: T.zeros(2, 3, **to),
    "ones": lambda **to: T.ones((2, 3), **to),
    "empty": lambda **to: T.empty(2, 0, **to),
    "full": lambda **to: T.full((2, 3), 7, **to),
    "arange": lambda **to: T.arange(1, 10, 2, **to),
    "arange of floats": lambda **to: T.arange(0, 1, 0.25, **to),
    "arange of nothing": lambda **to: T.arange(0, **to),
    "arange to a size": lambda **to: T.arange(n, **to),
    "linspace": lambda **to: T.linspace(0, 1, 5, **to),
    "linspace of one": lambda **to: T.linspace(2, 3, 1, **to),
    "eye": lambda **to: T.eye(3, 4, **to),
    "zeros_like": lambda **to: T(X).zeros_like(**to),
    "ones_like": lambda **to: T(X).ones_like("int8", **to),
    "full_like": lambda **to: T(X).full_like(2, **to),
    "empty_like": lambda **to: T(X).empty_like(**to),
    "rand": lambda **to: T.rand(5, 7, **to),
    "rand of nothing": lambda **to: T.rand(0, 3, **to),
    "rand_like": lambda **to: T(X).rand_like(**to),
    "randn": lambda **to: T.randn(4, 3, **to),
    "randn_like": lambda **to: T(X).randn_like(**to),
    "normal": lambda **to: T.normal(5, mean=2.0, std=0.5, **to),
    "normal of f16": lambda **to: T.normal(5, dtype="float16", **to),
    "uniform": lambda **to: T.uniform(5, low=-1.0, high=2.0, **to),
    "uniform of f64": lambda **to: T.uniform(5, dtype="float64", **to),
    "randint": lambda **to: T.randint(9, low=3, high=8, **to),
    "randperm": lambda **to: T.randperm(17, **to),
    "scaled_uniform": lambda **to: T.scaled_uniform(3, 4, **to),
    "glorot_uniform": lambda **to: T.glorot_uniform(3, 4, **to),
    "kaiming_uniform": lambda **to: T.kaiming_uniform(3, 4, **to),
    "kaiming_normal": lambda **to: T.kaiming_normal(3, 4, **to),
}


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", CREATED)
def test_creation(name: str):
    """The same values on every device, computed or copied there, and in a type that says so."""
    create = CREATED[name]
    T.manual_seed(3)
    expected = create()
    T.manual_seed(3)
    found = create(device=DEVICE.lower())
    assert found.device == DEVICE
    assert found.node.device == DEVICE
    assert isinstance(found.realize().node.data, DeviceArray)
    assert found.dtype == expected.dtype
    is_exact = not expected.dtype.is_float or ("norm" not in name and "randn" not in name)
    tolerance = 0 if is_exact else 1e-5 if expected.dtype.bits > 16 else 2e-3
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)
    with pytest.raises(tg.DeviceError, match="no device CL:99"):
        create(device="CL:99")


def test_creation_like_a_tensor():
    x = here()
    made = (x.zeros_like(), x.ones_like(), x.full_like(3), x.rand_like(), x.randn_like())
    assert {t.device for t in made} == {DEVICE}
    assert x.zeros_like(device="CPU").device == "CPU"


def test_constants_are_computed_where_they_are_used():
    """A COPY of a constant is no kernel, and no copy."""
    exe = tg.compile(lambda x: x + T.full((3, 4), 2.0, device=DEVICE), here(), target=DEVICE)
    assert len(exe.kernels) == 1
    np.testing.assert_array_equal(exe(X), X + 2)
    moved = T.arange(6).to(DEVICE)
    assert isinstance(moved.realize().node.data, DeviceArray)
    np.testing.assert_array_equal(moved.numpy(), np.arange(6))
    both = T.ones(3, device=DEVICE).to("CPU") + T.ones(3, device="CPU")
    assert isinstance(both.realize().node.data, np.ndarray)
    np.testing.assert_array_equal(both.numpy(), [2, 2, 2])


def test_a_named_device_is_meant(monkeypatch: pytest.MonkeyPatch):
    """Tensors that name different devices do not meet; one that names none follows the others."""
    x, host, anywhere = here(), T(X, device="CPU"), T(X)
    for named in (host, T.zeros(3, 4, device="CPU"), x.to("CPU"), T(1.0, device="CPU")):
        with pytest.raises(ValueError, match=f"different devices: {DEVICE} and CPU"):
            _ = x + named
    assert (x + anywhere).device == (anywhere + x).device == DEVICE
    assert host.numpy() is X or np.shares_memory(host.numpy(), X)
    monkeypatch.setenv("TG_DEVICE", DEVICE)
    assert T(X).device == DEVICE
    on_host = T(X, device="CPU")
    assert on_host.device == "CPU"
    assert np.shares_memory(on_host.numpy(), X)
    with pytest.raises(ValueError, match="different devices"):
        _ = on_host + x.to("CPU").to(DEVICE)


@pytest.mark.parametrize("name", [None, 3, b"CL:0"])
def test_names_that_are_none(name: object):
    if name is not None:
        with pytest.raises(TypeError, match="name of a device is a string"):
            T(X).to(name)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="name of a device is a string"):
        _ = tg.Device[name]  # pyright: ignore[reportArgumentType]


def test_results_of_several_devices_at_once():
    a, b, c = here() * 2, T(X, device="CPU") * 3, T(X) * 4
    a.realize(b, c)
    for tensor, factor, kind in ((a, 2, DeviceArray), (b, 3, np.ndarray), (c, 4, np.ndarray)):
        assert isinstance(tensor.node.data, kind)
        np.testing.assert_array_equal(tensor.numpy(), factor * X)


def test_assignment_stays_where_it_is():
    """A tensor that names a device keeps it; one that names none takes that of the value."""
    x = here()
    x.assign(T(X + 1, device="CPU"))
    assert x.device == DEVICE
    np.testing.assert_array_equal(x.numpy(), X + 1)
    x.assign(np.zeros_like(X))
    assert isinstance(x.realize().node.data, DeviceArray)
    x[1:] = T(X[1:])
    np.testing.assert_array_equal(x.numpy(), np.concatenate([0 * X[:1], X[1:]]))
    with pytest.raises(ValueError, match="different devices"):
        x += T(X, device="CPU")
    for change in (lambda t: t.assign(here()), lambda t: t.__iadd__(here())):
        follower = T.zeros(3, 4)
        change(follower)
        assert follower.device == DEVICE
        np.testing.assert_array_equal(follower.numpy(), X)


def test_moving_in_place():
    w = T(X, requires_grad=True)
    view = w[0]
    (w * w).sum().backward()
    data = weakref.ref(w.node)
    assert w.to_(DEVICE) is w
    gc.collect()
    assert data() is not None, "the view has it still"
    assert w.device == DEVICE
    assert w.requires_grad
    assert w.grad is not None
    assert w.grad.device == DEVICE
    np.testing.assert_array_equal(view.numpy(), X[0])
    w.grad = None
    (w * here()).sum().backward()
    assert w.grad is not None
    assert w.grad.device == DEVICE
    np.testing.assert_array_equal(w.grad.numpy(), X)
    x = T(X, requires_grad=True)
    y = (x * 3).to_(DEVICE)
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), np.full_like(X, 3))
    assert w.to_(None).device == tg.Device.DEFAULT


def test_a_moved_parameter_keeps_no_history():
    w = T(X.copy(), requires_grad=True)
    old = weakref.ref(w.node)
    w.to_(DEVICE).realize()
    gc.collect()
    assert old() is None


OPTIMIZERS: dict[str, Callable[..., optim.Optimizer]] = {
    "SGD": lambda p: optim.SGD(p, 0.1),
    "Nesterov": lambda p: optim.SGD(p, 0.05, momentum=0.9, weight_decay=0.1, nesterov=True),
    "Adam": lambda p: optim.Adam(p, 0.1, weight_decay=0.1),
    "AdamW": lambda p: optim.AdamW(p, 0.1),
}


# Without tracing there are many small kernels, which OpenCL devices take long to build.
@pytest.mark.sampled(8)
@pytest.mark.parametrize("is_traced", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training(name: str, is_traced: bool):
    """A model that is moved, or made on a device, learns what it does on the host."""

    def losses(device: str | None) -> list[float]:
        T.manual_seed(0)
        model = [tg.nn.Linear(4, 8), tg.nn.BatchNorm(8), tg.nn.Linear(8, 2)]
        for tensor in state.get_parameters(model):
            tensor.to_(device)
        optimizer = OPTIMIZERS[name](state.get_parameters(model))
        schedule = optim.StepLR(optimizer, 2, 0.5)
        x = T(np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4) ** 3, device=device)

        def step(x: tg.Tensor) -> tg.Tensor:
            optimizer.zero_grad()
            loss = ((model[2](model[1](model[0](x)).relu())) ** 2).mean()
            loss.backward()
            optimizer.schedule_step()
            return loss

        run = tg.function(step) if is_traced else step
        found: list[float] = []
        with T.train():
            for _ in range(4):
                found.append(run(x).item())
                schedule.step()
        names = {t.device for t in state.get_parameters(model) if t.requires_grad}
        assert names == {device or tg.Device.DEFAULT}
        return found

    found, wanted = losses(DEVICE), losses(None)
    assert wanted[-1] < wanted[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_an_lstm_on_a_device():
    cell = tg.nn.LSTMCell(4, 3)
    expected = [t.numpy() for t in cell(T(X))]
    for tensor in state.get_parameters(cell):
        tensor.to_(DEVICE)
    for found, wanted in zip(cell(here()), expected, strict=True):
        assert found.device == DEVICE
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_a_compiled_function_with_state_on_a_device():
    total = T.zeros(3, 4, device=DEVICE)

    def accumulate(x: tg.Tensor) -> tg.Tensor:
        total.assign(total + x)
        return total * 2

    exe = tg.compile(accumulate, tg.spec((3, 4)), target=DEVICE)
    exe(X)
    found = exe(X)
    np.testing.assert_array_equal(np.asarray(found), 4 * X)
    assert total.device == DEVICE
    assert isinstance(total.node.data, DeviceArray)
    np.testing.assert_array_equal(total.numpy(), 2 * X)
    out = np.empty_like(X)
    exe(X, out=out)
    np.testing.assert_array_equal(out, 6 * X)
    np.testing.assert_array_equal(total.numpy(), 3 * X)


def test_a_function_on_two_devices():
    @tg.function
    def there_and_back(x: tg.Tensor) -> tg.Tensor:
        return (x.to(DEVICE) * 2).to("CPU") + 1

    for _ in range(2):
        np.testing.assert_array_equal(there_and_back(T(X)).numpy(), 2 * X + 1)
    names = " and ".join(sorted((DEVICE, "CPU")))
    with pytest.raises(RuntimeError, match=f"one device, and this one names {names}"):
        tg.compile(there_and_back, X)


def test_dlpack_of_tensors():
    x = here() * 2
    assert x.__dlpack_device__()[0] == {"CL": 4, "CUDA": 2}[KIND]
    shared = DeviceArray.from_dlpack(tg.Device[DEVICE].driver, x)
    np.testing.assert_array_equal(shared.numpy(), 2 * X)
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), 2 * X)
    with pytest.raises((RuntimeError, BufferError), match=r"nsupported device|cannot use"):
        np.from_dlpack(x)


@pytest.mark.parametrize("places", [("CPU:0", "CPU:1"), ["CPU:0", "CPU:1"]])
def test_tensors_are_made_on_several_devices(places: list[str] | tuple[str, ...]):
    for made in (tg.Tensor.ones(2, 3, device=places), tg.Tensor.full((2, 3), 1.0, device=places)):
        assert made.device == ("CPU", "CPU:1")
        assert (made * 2).numpy().tolist() == [[2.0] * 3] * 2
    assert tg.Tensor([1, 2], device=places).to(places).sum().item() == 3
