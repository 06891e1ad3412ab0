"""Training of a small GPT and of a convolutional network: the losses are those of PyTorch from the
same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpt import GPT, Sizes
from parity import torch

import tgdialect as tg
from tgdialect import nn

WIDTH, HEADS, LAYERS, CONTEXT, BATCH, STEPS = 32, 4, 2, 16, 4, 50
F = torch.nn.functional


def forward(state: dict[str, Any], i: Any) -> Any:
    """The same network in PyTorch, on a state dict."""

    def linear(x: Any, name: str) -> Any:
        return F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

    def norm(x: Any, name: str) -> Any:
        return F.layer_norm(x, (WIDTH,), state[f"{name}.weight"], state[f"{name}.bias"])

    x = state["token.weight"][i] + state["position.weight"][: i.shape[1]]
    for n in range(LAYERS):
        name = f"blocks.{n}"
        mixed = linear(norm(x, f"{name}.ln1"), f"{name}.qkv").reshape(*i.shape, HEADS, -1)
        q, k, v = (part.transpose(1, 2) for part in mixed.split(WIDTH // HEADS, 3))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + linear(mixed.reshape(x.shape), f"{name}.proj")
        hidden = F.gelu(linear(norm(x, f"{name}.ln2"), f"{name}.up"), approximate="tanh")
        x = x + linear(hidden, f"{name}.down")
    return linear(norm(x, "ln"), "head")


@pytest.mark.parity
def test_losses_of_a_gpt():
    text = np.frombuffer(Path(__file__).read_bytes(), np.uint8)
    letters, data = np.unique(text, return_inverse=True)
    size = len(letters)
    tg.Tensor.manual_seed(0)
    model = GPT(nn, Sizes(size, CONTEXT, WIDTH, HEADS, LAYERS))
    own = nn.state.get_state_dict(model)
    state = {name: torch.tensor(t.numpy(), requires_grad=True) for name, t in own.items()}
    optimizer = nn.optim.AdamW(list(own.values()), lr=1e-3)
    reference = torch.optim.AdamW(list(state.values()), lr=1e-3)

    @tg.function
    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        logits = model(x).reshape(-1, size)
        loss = logits.sparse_categorical_crossentropy(y.flatten())
        loss.backward()
        optimizer.schedule_step()
        return loss

    random = np.random.default_rng(0)
    losses: list[tuple[float, float]] = []
    with tg.Tensor.train():
        for _ in range(STEPS):
            starts = random.integers(0, len(data) - CONTEXT - 1, BATCH)
            x, y = (np.stack([data[s + k : s + k + CONTEXT] for s in starts]) for k in (0, 1))
            reference.zero_grad()
            logits = forward(state, torch.tensor(x)).reshape(-1, size)
            expected = F.cross_entropy(logits, torch.tensor(y).flatten())
            expected.backward()
            reference.step()
            losses.append((float(step(tg.Tensor(x), tg.Tensor(y)).item()), expected.item()))
    mine, theirs = np.array(losses).T
    np.testing.assert_allclose(mine, theirs, atol=1e-3)
    assert mine[-5:].mean() < mine[:5].mean() - 0.5


@pytest.mark.parity
def test_losses_of_a_convolutional_network():
    """Steps in a traced function and outside of it update the same parameters, averages and state.
    In f64, since one maximum that is rounded apart would be another path."""
    random = np.random.default_rng(0)
    shapes = {"0.weight": (4, 2, 3, 3), "0.bias": (4,), "2.weight": (4,), "2.bias": (4,)}
    shapes |= {"5.weight": (3, 36), "5.bias": (3,)}
    start = {name: random.normal(size=shape) / 3 for name, shape in shapes.items()}
    L = torch.nn
    reference = L.Sequential(
        *(L.Conv2d(2, 4, 3), L.ReLU(), L.BatchNorm2d(4)),
        *(L.MaxPool2d(2), L.Flatten(), L.Linear(36, 3)),
    ).double()
    given = {name: torch.tensor(value) for name, value in start.items()}
    reference.load_state_dict(given, strict=False)
    own = {name: tg.Tensor(value, requires_grad=True) for name, value in start.items()}
    norm = nn.BatchNorm(4)
    norm.weight, norm.bias = own["2.weight"], own["2.bias"]
    norm.running_mean, norm.running_var = tg.Tensor(np.zeros(4)), tg.Tensor(np.ones(4))
    ours = nn.optim.Adam(list(own.values()), lr=0.01)
    ours.lr, ours.b1_t, ours.b2_t = (tg.Tensor([n], "float64") for n in (0.01, 1.0, 1.0))
    theirs = torch.optim.Adam(reference.parameters(), lr=0.01)

    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        ours.zero_grad()
        hidden = norm(x.conv2d(own["0.weight"], own["0.bias"]).relu()).max_pool2d()
        logits = hidden.flatten(1).linear(own["5.weight"].T, own["5.bias"])
        loss = logits.sparse_categorical_crossentropy(y)
        loss.backward()
        ours.schedule_step()
        return loss

    traced = tg.function(step)
    with tg.Tensor.train():
        for i in range(12):
            x, y = random.normal(size=(8, 2, 8, 8)), random.integers(0, 3, 8)
            theirs.zero_grad()
            expected = F.cross_entropy(reference(torch.tensor(x)), torch.tensor(y))
            expected.backward()
            theirs.step()
            loss = (step if i % 4 == 0 else traced)(tg.Tensor(x), tg.Tensor(y))
            np.testing.assert_allclose(loss.item(), expected.item(), rtol=1e-10)
    got = own | {"2.running_mean": norm.running_mean, "2.running_var": norm.running_var}
    for name, value in got.items():
        wanted = reference.state_dict()[name].numpy()
        np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-9, atol=1e-12, err_msg=name)


def test_a_cache_of_symbolic_length():
    """What a GPT says of a text is the same all at once and one token at a time."""
    tg.Tensor.manual_seed(0)
    model = GPT(nn, Sizes(11, CONTEXT, WIDTH, HEADS, LAYERS))
    caches = [tg.Tensor.zeros(*model.cache_shape(3)).contiguous().realize() for _ in model.blocks]
    position = tg.Variable("position", 0, CONTEXT - 1)

    @tg.function
    def step(tokens: tg.Tensor, at: int) -> tg.Tensor:
        return model(tokens, caches, at)

    tokens = np.random.default_rng(0).integers(0, 11, (3, CONTEXT)).astype(np.int32)
    expected = model(tg.Tensor(tokens)).numpy()
    for start in (0, 3):  # Three at once, then one by one; and all one by one.
        found = [step(tg.Tensor(tokens[:, :start]), position.bind(0)).numpy()] if start else []
        for i in range(start, CONTEXT):
            found.append(step(tg.Tensor(tokens[:, i : i + 1]), position.bind(i)).numpy())
        np.testing.assert_allclose(np.concatenate(found, 1), expected, rtol=1e-4, atol=1e-5)
