"""Layers, optimizers and state against PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parity import torch, values

import tgdialect as tg
from tgdialect import nn
from tgdialect.nn.state import (
    get_parameters,
    get_state_dict,
    load_state_dict,
    safe_load,
    safe_save,
)

pytestmark = pytest.mark.parity

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


def test_optimizer_errors():
    weight = tg.Tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="at least one"):
        nn.optim.SGD([tg.Tensor([1.0])])
    optimizer = nn.optim.SGD([weight])
    with pytest.raises(RuntimeError, match="in training"):
        optimizer.step()
    with tg.Tensor.train(), pytest.raises(RuntimeError, match="no gradient"):
        optimizer.step()
