"""Layers, optimizers and state against PyTorch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parity import torch, values

import tgdialect as tg
from tgdialect import dtypes, nn
from tgdialect.nn.state import (
    get_parameters,
    get_state_dict,
    load_state_dict,
    safe_load,
    safe_save,
)

T = torch.nn

LAYERS: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "linear": (nn.Linear(3, 5), T.Linear(3, 5), (4, 3)),
    "linear without bias": (nn.Linear(3, 5, bias=False), T.Linear(3, 5, bias=False), (2, 4, 3)),
    "conv1d": (nn.Conv1d(2, 4, 3, padding=1), T.Conv1d(2, 4, 3, padding=1), (2, 2, 7)),
    "conv2d": (
        nn.Conv2d(2, 4, 3, stride=2, groups=2),
        T.Conv2d(2, 4, 3, stride=2, groups=2),
        (2, 2, 7, 6),
    ),
    "conv2d same": (
        nn.Conv2d(2, 3, (3, 2), padding="same", dilation=2),
        T.Conv2d(2, 3, (3, 2), padding="same", dilation=2),
        (1, 2, 6, 5),
    ),
    "transposed": (
        nn.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1, padding=1),
        T.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1, padding=1),
        (1, 2, 4, 3),
    ),
    "transposed 1d": (nn.ConvTranspose1d(2, 3, 4), T.ConvTranspose1d(2, 3, 4), (1, 2, 5)),
    "groupnorm": (nn.GroupNorm(2, 6), T.GroupNorm(2, 6), (3, 6, 4)),
    "instancenorm": (nn.InstanceNorm(3), T.InstanceNorm2d(3, affine=True), (2, 3, 4, 5)),
    "layernorm": (nn.LayerNorm((4, 5)), T.LayerNorm((4, 5)), (3, 4, 5)),
    "rmsnorm": (nn.RMSNorm(5), T.RMSNorm(5, eps=1e-6), (3, 5)),
    "batchnorm": (nn.BatchNorm(3), T.BatchNorm2d(3).eval(), (2, 3, 4, 5)),
}


def copy_weights(ours: Any, theirs: Any, seed: int = 3) -> None:
    state = theirs.state_dict()
    own = get_state_dict(ours)
    assert own.keys() == state.keys()
    for i, name in enumerate(own):
        assert own[name].shape == tuple(state[name].shape)
        if own[name].dtype.is_float:
            data = np.abs(values(*own[name].shape, seed=seed + i))
            own[name].assign(tg.Tensor(data))
            state[name].copy_(torch.tensor(data))


@pytest.mark.sampled(3)
@pytest.mark.parity
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str):
    ours, theirs, shape = LAYERS[name]
    copy_weights(ours, theirs)
    x = values(*shape)
    a, b = tg.Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    mine, other = ours(a), theirs(b)
    np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=2e-5, atol=2e-5)
    w = values(*mine.shape, seed=9)
    (mine * tg.Tensor(w)).sum().backward()
    (other * torch.tensor(w)).sum().backward()
    named = dict(theirs.named_parameters())
    pairs = [(a, b), *((t, named[n]) for n, t in get_state_dict(ours).items() if n in named)]
    for t, u in pairs:
        assert t.grad is not None
        np.testing.assert_allclose(t.grad.numpy(), u.grad.numpy(), rtol=5e-5, atol=5e-5)


@pytest.mark.parity
def test_batchnorm_in_training():
    ours, theirs = nn.BatchNorm2d(3), T.BatchNorm2d(3)
    for seed in range(3):
        x = values(4, 3, 2, 2, seed=seed)
        with tg.Tensor.train():
            mine = ours(tg.Tensor(x))
        np.testing.assert_allclose(
            mine.numpy(), theirs(torch.tensor(x)).detach().numpy(), rtol=2e-5, atol=2e-5
        )
    np.testing.assert_allclose(ours.running_mean.numpy(), theirs.running_mean.numpy(), rtol=1e-5)
    np.testing.assert_allclose(ours.running_var.numpy(), theirs.running_var.numpy(), rtol=1e-5)
    assert ours.num_batches_tracked.item() == 3


def test_a_traced_function_in_a_model_is_no_state():
    class Model:
        def __init__(self) -> None:
            self.weight = tg.Tensor([2.0])
            self.traced = tg.function(self.forward)

        def forward(self, x: tg.Tensor) -> tg.Tensor:
            return x * self.weight

    model = Model()
    model.traced(tg.Tensor([3.0]))
    assert list(nn.state.get_state_dict(model)) == ["weight"]


def test_a_scalar_that_is_stored_with_an_axis():
    norm = nn.BatchNorm(1)
    for stored in (tg.Tensor([7]), tg.Tensor(7)):
        for own in (tg.Tensor(0, "int64"), tg.Tensor([0], "int64")):
            norm.num_batches_tracked = own
            nn.state.load_state_dict(norm, {"num_batches_tracked": stored}, strict=False)
            assert (own.shape, own.numel(), own.sum().item()) == (own.shape, 1, 7)


@pytest.mark.parity
def test_embedding():
    ours, theirs = nn.Embedding(7, 4), T.Embedding(7, 4)
    copy_weights(ours, theirs)
    i = np.array([[0, 6, 2], [2, 2, 5]])
    mine, other = ours(tg.Tensor(i)), theirs(torch.tensor(i))
    np.testing.assert_array_equal(mine.numpy(), other.detach().numpy())
    (mine * mine).sum().backward()
    (other * other).sum().backward()
    assert ours.weight.grad is not None
    np.testing.assert_allclose(ours.weight.grad.numpy(), theirs.weight.grad.numpy(), rtol=1e-6)
    with pytest.raises(TypeError, match="Expected integer dtype"):
        ours(tg.Tensor([1.0]))


@pytest.mark.parity
def test_lstm_cell():
    ours, theirs = nn.LSTMCell(3, 4), T.LSTMCell(3, 4)
    copy_weights(ours, theirs)
    state, state_ = None, None
    for seed in range(3):
        x = values(2, 3, seed=seed)
        state, state_ = ours(tg.Tensor(x), state), theirs(torch.tensor(x), state_)
    assert state is not None
    for mine, other in zip(state, state_, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)


OPTIMIZERS: dict[str, tuple[Any, Any]] = {
    "sgd": (lambda p: nn.optim.SGD(p, 0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "momentum": (
        lambda p: nn.optim.SGD(p, 0.1, 0.9, 0.01),
        lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.01),
    ),
    "nesterov": (
        lambda p: nn.optim.SGD(p, 0.1, 0.9, nesterov=True),
        lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True),
    ),
    "adam": (lambda p: nn.optim.Adam(p, 0.1), lambda p: torch.optim.Adam(p, 0.1)),
    "adam with decay": (
        lambda p: nn.optim.Adam(p, 0.1, weight_decay=0.1),
        lambda p: torch.optim.Adam(p, 0.1, weight_decay=0.1),
    ),
    "adamw": (
        lambda p: nn.optim.AdamW(p, 0.1, weight_decay=0.1),
        lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.1),
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parity
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name: str, traced: bool):
    x, y = values(6, 3), values(6, 2, seed=1)
    ours, theirs = nn.Linear(3, 2), T.Linear(3, 2)
    copy_weights(ours, theirs)
    mine, other = (
        OPTIMIZERS[name][0](get_parameters(ours)),
        OPTIMIZERS[name][1](theirs.parameters()),
    )

    def step(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
        mine.zero_grad()
        difference = ours(a) - b
        loss = (difference * difference).mean()
        loss.backward()
        if traced:
            mine.schedule_step()
        else:
            mine.step()
        return loss

    run = tg.function(step) if traced else step
    for _ in range(6):
        with tg.Tensor.train():
            loss = run(tg.Tensor(x), tg.Tensor(y))
        other.zero_grad()
        difference = theirs(torch.tensor(x)) - torch.tensor(y)
        loss_ = (difference * difference).mean()
        loss_.backward()
        other.step()
        np.testing.assert_allclose(loss.item(), loss_.item(), rtol=1e-4)
    for t, u in zip(get_parameters(ours), theirs.parameters(), strict=True):
        np.testing.assert_allclose(t.numpy(), u.detach().numpy(), rtol=1e-4, atol=1e-5)


SHAPES = [(), (1,), (3,), (2, 3), (2, 3, 2), (0,), (0, 3), (3, 0)]


@pytest.mark.sampled(2)
@pytest.mark.parity
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_parameters_of_all_shapes(name: str):
    """Scalars and empty ones among them, in one optimizer; and the norm of their gradients."""
    data = [values(*shape, seed=i) for i, shape in enumerate(SHAPES)]
    ours = [tg.Tensor(a.copy(), requires_grad=True) for a in data]
    theirs = [torch.tensor(a, requires_grad=True) for a in data]
    mine, other = (
        make(given) for make, given in zip(OPTIMIZERS[name], (ours, theirs), strict=True)
    )
    for _ in range(3):
        for total in (sum((x**3).sum() for x in params) for params in (ours, theirs)):
            total.backward()
        norm = nn.optim.clip_grad_norm_(ours, 0.5)
        assert norm.shape == ()
        np.testing.assert_allclose(norm.item(), T.utils.clip_grad_norm_(theirs, 0.5), rtol=1e-5)
        with tg.Tensor.train():
            mine.step()
        other.step()
        mine.zero_grad()
        other.zero_grad()
    for x, y in zip(ours, theirs, strict=True):
        assert x.shape == tuple(y.shape)
        np.testing.assert_allclose(x.numpy(), y.detach().numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parity
def test_schedules():
    for ours, theirs in (
        (
            lambda o: nn.optim.StepLR(o, 2, 0.5),
            lambda o: torch.optim.lr_scheduler.StepLR(o, 2, 0.5),
        ),
        (
            lambda o: nn.optim.MultiStepLR(o, [1, 4]),
            lambda o: torch.optim.lr_scheduler.MultiStepLR(o, [1, 4]),
        ),
        (
            lambda o: nn.optim.CosineAnnealingLR(o, 6, 0.01),
            lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 6, 0.01),
        ),
        (
            lambda o: nn.optim.LinearLR(o, 0.25, 1, 4),
            lambda o: torch.optim.lr_scheduler.LinearLR(o, 0.25, 1, 4),
        ),
    ):
        mine = nn.optim.SGD([tg.Tensor([1.0], requires_grad=True)], 0.3)
        other = torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.3)
        schedule, schedule_ = ours(mine), theirs(other)
        for _ in range(6):
            np.testing.assert_allclose(mine.lr.item(), other.param_groups[0]["lr"], rtol=1e-6)
            other.step()
            schedule.step()
            schedule_.step()


class Model:
    def __init__(self) -> None:
        self.layers = [nn.Linear(2, 3), nn.Linear(3, 1)]
        self.norm = {"last": nn.LayerNorm(1)}
        self.name = "model"


def test_state(tmp_path: Path):
    first, second = Model(), Model()
    state = get_state_dict(first)
    assert list(state) == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
        "norm.last.weight",
        "norm.last.bias",
    ]
    path = tmp_path / "model.safetensors"
    safe_save(state, path)
    load_state_dict(second, safe_load(path))
    for a, b in zip(get_parameters(first), get_parameters(second), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert b.requires_grad
    from safetensors.torch import load_file

    assert load_file(path)["layers.1.weight"].tolist() == first.layers[1].weight.tolist()
    del state["layers.0.bias"]
    with pytest.raises(KeyError, match=r"the state has no layers\.0\.bias"):
        load_state_dict(second, state)
    with pytest.raises(ValueError, match=r"layers\.0\.weight is"):
        load_state_dict(second, {"layers.0.weight": tg.Tensor([1.0])}, strict=False)
    (tmp_path / "bad").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="bad"):
        safe_load(tmp_path / "bad")


KINDS = [
    name for name in dict.fromkeys(each.name for each in dtypes.NAMES.values()) if name != "index"
]


def test_files_of_every_dtype(tmp_path: Path):
    """Files that we write are read by us and by PyTorch, and those of PyTorch by us."""
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file, save_file

    whole = {name: tg.Tensor([[0, 1, 3], [4, 0, 1]]).cast(name) for name in KINDS}
    saved = whole | {"scalar": tg.Tensor(2.0).cast("fp8e4m3"), "none": tg.Tensor.zeros(0, 3)}
    safe_save(saved, tmp_path / "ours")
    for loaded in (safe_load(tmp_path / "ours"), load_file(tmp_path / "ours")):
        assert loaded.keys() == saved.keys()
        for name, tensor in loaded.items():
            expected = saved[name].cast("f64").numpy()
            if isinstance(tensor, torch.Tensor):
                np.testing.assert_array_equal(tensor.double().numpy(), expected)
            else:
                np.testing.assert_array_equal(tensor.cast("f64").numpy(), expected)
                assert tensor.dtype == saved[name].dtype
    save_file(load_file(tmp_path / "ours"), tmp_path / "theirs")
    assert {k: (t.dtype, t.shape) for k, t in safe_load(tmp_path / "theirs").items()} == {
        k: (t.dtype, t.shape) for k, t in saved.items()
    }
    save_file({"a": torch.ones(2, dtype=torch.complex64)}, tmp_path / "wrong")
    with pytest.raises(ValueError, match="complex"):
        safe_load(tmp_path / "wrong")


def test_optimizer_errors():
    weight = tg.Tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="at least one"):
        nn.optim.SGD([tg.Tensor([1.0])])
    optimizer = nn.optim.SGD([weight])
    with pytest.raises(RuntimeError, match="in training"):
        optimizer.step()
    with tg.Tensor.train(), pytest.raises(RuntimeError, match="no gradient"):
        optimizer.step()


RECURRENT: dict[str, tuple[str, dict[str, Any], tuple[int, ...], bool]] = {
    "lstm": ("LSTM", {"num_layers": 2, "bidirectional": True}, (2, 2, 4), True),
    "lstm projected": ("LSTM", {"proj_size": 2, "bias": False}, (2, 4), False),
    "gru": ("GRU", {"batch_first": True, "num_layers": 2}, (2, 3, 4), False),
    "gru both ways": ("GRU", {"bidirectional": True}, (2, 4), True),
}
"""The class, its options, the shape of sequences, and whether a state is given."""


@pytest.mark.parity
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "name",
    [
        *("lstm projected", "gru both ways"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("lstm", "gru")),
    ],
)
def test_recurrent(name: str):
    kind, options, shape, has_state = RECURRENT[name]
    ours, theirs = getattr(nn, kind)(4, 5, **options), getattr(T, kind)(4, 5, **options)
    copy_weights(ours, theirs)
    x = values(*shape)
    a, b = tg.Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    hx, hx_ = None, None
    if has_state:
        batch = () if len(shape) == 2 else (2,)
        rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
        sizes = [options.get("proj_size", 5), 5][: 2 if kind == "LSTM" else 1]
        states = [values(rows, *batch, size, seed=4 + size) for size in sizes]
        hx, hx_ = tuple(map(tg.Tensor, states)), tuple(map(torch.tensor, states))
        hx, hx_ = (hx, hx_) if kind == "LSTM" else (hx[0], hx_[0])
    (mine, state), (other, state_) = ours(a, hx), theirs(b, hx_)
    pairs = zip(state, state_, strict=True) if kind == "LSTM" else [(state, state_)]
    for u, v in [(mine, other), *pairs]:
        assert u.shape == tuple(v.shape)
        np.testing.assert_allclose(u.numpy(), v.detach().numpy(), rtol=2e-5, atol=2e-5)
    w = values(*mine.shape, seed=9)
    (mine * tg.Tensor(w)).sum().backward()
    (other * torch.tensor(w)).sum().backward()
    named = dict(theirs.named_parameters())
    for t, u in [(a, b), *((t, named[n]) for n, t in get_state_dict(ours).items())]:
        assert t.grad is not None
        np.testing.assert_allclose(t.grad.numpy(), u.grad.numpy(), rtol=1e-4, atol=5e-5)


def test_recurrent_refuses_shapes():
    with pytest.raises(ValueError, match="for 4 features"):
        nn.GRU(4, 5)(tg.Tensor.zeros(3, 2, 5))
    with pytest.raises(ValueError, match="proj_size 5"):
        nn.LSTM(4, 5, proj_size=5)
    with pytest.raises(ValueError, match="num_layers 0"):
        nn.GRU(4, 5, num_layers=0)


ATTENTION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "without biases": ({"bias": False, "batch_first": True}, {"average_attn_weights": False}),
    "other features": ({"kdim": 3, "vdim": 5}, {"mask": "bool"}),
    "added keys": ({"add_bias_kv": True, "add_zero_attn": True}, {"padding": True}),
    "masks": ({"batch_first": True}, {"mask": "float", "padding": True, "need_weights": False}),
    "masks of heads": ({}, {"mask": "heads"}),
    "without a batch": ({}, {"is_single": True}),
}


@pytest.mark.sampled(4)
@pytest.mark.parity
@pytest.mark.parametrize("name", ATTENTION)
def test_multihead_attention(name: str):
    options, call = ATTENTION[name]
    call = dict(call)
    ours, theirs = nn.MultiheadAttention(4, 2, **options), T.MultiheadAttention(4, 2, **options)
    copy_weights(ours, theirs)
    sizes = (3, 4), (5, options.get("kdim", 4)), (5, options.get("vdim", 4))
    is_single, first = call.pop("is_single", False), options.get("batch_first", False)
    shapes = [
        (steps, size) if is_single else (2, steps, size) if first else (steps, 2, size)
        for steps, size in sizes
    ]
    arrays = [values(*shape, seed=i) for i, shape in enumerate(shapes)]
    masks: dict[str, np.ndarray] = {}
    match call.pop("mask", None):
        case "bool":
            masks["attn_mask"] = np.triu(np.ones((3, 5), bool), 2)
        case "float":
            masks["attn_mask"] = values(3, 5, seed=5)
        case "heads":
            masks["attn_mask"] = values(4, 3, 5, seed=5) > 1
        case _:
            pass
    if call.pop("padding", False):
        padding = np.array([[False] * 5, [False] * 3 + [True] * 2])
        is_number = "attn_mask" in masks and masks["attn_mask"].dtype.kind == "f"
        masks["key_padding_mask"] = padding * np.float32(-3) if is_number else padding
    mine, weights = ours(
        *map(tg.Tensor, arrays), **call, **{k: tg.Tensor(v) for k, v in masks.items()}
    )
    other, weights_ = theirs(
        *map(torch.tensor, arrays), **call, **{k: torch.tensor(v) for k, v in masks.items()}
    )
    np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=2e-5, atol=2e-5)
    assert (weights is None) == (weights_ is None)
    if weights is not None:
        np.testing.assert_allclose(weights.numpy(), weights_.detach().numpy(), rtol=2e-5, atol=2e-5)


def test_causal_attention():
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = values(1, 3, 4)
    whole, weights = layer(*[tg.Tensor(x)] * 3, is_causal=True)
    part, _ = layer(*[tg.Tensor(x[:, :2])] * 3, is_causal=True)
    np.testing.assert_allclose(whole.numpy()[:, :2], part.numpy(), rtol=1e-5, atol=1e-6)
    assert weights is not None
    assert (np.triu(weights.numpy()[0], 1) == 0).all()
    with pytest.raises(ValueError, match="3 heads do not divide 4 features"):
        nn.MultiheadAttention(4, 3)


LARGE: dict[str, tuple[Any, Any]] = {
    "lars": (lambda p: nn.optim.LARS(p, 0.1), {}),
    "lars without momentum": (
        lambda p: nn.optim.LARS(p, 0.1, momentum=0.0, classic=False),
        {"momentum": 0.0, "classic": False},
    ),
    "muon": (
        lambda p: nn.optim.Muon(p, 0.1),
        {
            "momentum": 0.95,
            "decay": 0.1,
            "nesterov": True,
            "classic": False,
            "pre": False,
            "trust": 0.0,
            "polynomial": (3.4445, -4.775, 2.0315),
        },
    ),
}


def lars(
    weight: np.ndarray,
    gradients: list[np.ndarray],
    momentum: float = 0.9,
    decay: float = 1e-4,
    nesterov: bool = False,
    classic: bool = True,
    pre: bool = True,
    trust: float = 0.001,
    polynomial: tuple[float, ...] = (),
) -> np.ndarray:
    """A parameter after steps with a learning rate of 0.1, in f64, by the rule of the paper. Its
    axes after the first are one for the polynomial."""
    average = np.zeros_like(weight)
    for gradient in gradients:
        lengths = np.linalg.norm(weight), np.linalg.norm(gradient)
        has_ratio = trust and min(lengths) > 0
        ratio = trust * lengths[0] / (lengths[1] + decay * lengths[0]) if has_ratio else 1.0
        g = gradient + decay * weight if pre else gradient
        g = g * ratio * 0.1 if classic else g
        if momentum:
            average = momentum * average + g
            g = g + momentum * average if nesterov else average
        if polynomial:
            x = g.reshape(g.shape[0] if g.ndim else 1, math.prod(g.shape[1:]))
            x = x / (np.linalg.norm(x) + 1e-7)
            for _ in range(5):
                square = x @ x.T
                x = sum(c * np.linalg.matrix_power(square, i) for i, c in enumerate(polynomial)) @ x
            g = x.reshape(g.shape)
        g = g if classic else g * ratio * 0.1
        weight = weight - (g if pre else g + decay * 0.1 * weight)
    return weight


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LARGE)
def test_lars(name: str):
    make, options = LARGE[name]
    starts = [values(*shape).astype(np.float64) for shape in ((3, 4), *SHAPES)]
    gradients = [[values(*a.shape, seed=i + 1).astype(np.float64) for a in starts] for i in (1, 2)]
    params = [tg.Tensor(start, requires_grad=True) for start in starts]
    optimizer = make(params)
    with tg.Tensor.train():
        for gradient in gradients:
            for param, g in zip(params, gradient, strict=True):
                param.grad = tg.Tensor(g)
            optimizer.step()
    for param, start, *given in zip(params, starts, *gradients, strict=True):
        np.testing.assert_allclose(param.numpy(), lars(start, given, **options), rtol=1e-6)


@pytest.mark.parametrize("shape", [(3, 4), ()])
def test_lamb(shape: tuple[int, ...]):
    """The first step has the length of the parameter, in the direction of Adam's."""
    start, gradient = (values(*shape, seed=i).astype(np.float64) for i in (0, 1))
    moved: list[np.ndarray] = []
    for is_adam in (False, True):
        param = tg.Tensor(start, requires_grad=True)
        param.grad = tg.Tensor(gradient)
        group = nn.optim.OptimizerGroup(nn.optim.LAMB([param], 0.1, adam=is_adam))
        with tg.Tensor.train():
            group.step()
        moved.append(start - param.numpy())
        group.zero_grad()
        assert param.grad is None
    direction = gradient / (np.abs(gradient) + 1e-6)
    np.testing.assert_allclose(moved[1], 0.1 * direction, rtol=1e-5)
    ratio = np.linalg.norm(start) / np.linalg.norm(direction)
    np.testing.assert_allclose(moved[0], 0.1 * ratio * direction, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_clip_grad_norm(norm_type: float):
    for limit in (0.5, 100.0):
        mine = [tg.Tensor(values(3, seed=i), requires_grad=True) for i in range(3)]
        other = [torch.tensor(t.numpy(), requires_grad=True) for t in mine]
        for i in range(2):
            mine[i].grad = tg.Tensor(values(3, seed=5 + i))
            other[i].grad = torch.tensor(values(3, seed=5 + i))
        total = nn.optim.clip_grad_norm_(mine, limit, norm_type)
        total_ = T.utils.clip_grad_norm_(other, limit, norm_type)
        np.testing.assert_allclose(total.item(), total_.item(), rtol=1e-6)
        for a, b in zip(mine[:2], other[:2], strict=True):
            assert a.grad is not None
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-5)
        assert mine[2].grad is None
