"""A small GPT, trained as PyTorch trains it from the same weights: the losses are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from parity import torch

import tgdialect as tg
from tgdialect import nn

WIDTH, HEADS, LAYERS, CONTEXT, BATCH, STEPS = 32, 4, 2, 16, 4, 50
F = torch.nn.functional


class Block:
    def __init__(self) -> None:
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def __call__(self, x: tg.Tensor) -> tg.Tensor:
        batch, time, width = x.shape
        heads = batch, time, HEADS, width // HEADS
        q, k, v = (p.reshape(heads).transpose(1, 2) for p in self.qkv(self.ln1(x)).split(width, 2))
        mixed = q.scaled_dot_product_attention(k, v, is_causal=True).transpose(1, 2)
        x = x + self.proj(mixed.reshape(x.shape))
        return x + self.down(self.up(self.ln2(x)).gelu())


class GPT:
    def __init__(self, size: int) -> None:
        self.token, self.position = nn.Embedding(size, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = [Block() for _ in range(LAYERS)]
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, size, bias=False)

    def __call__(self, i: tg.Tensor) -> tg.Tensor:
        x = self.token(i) + self.position(tg.Tensor.arange(i.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def forward(state: dict[str, Any], i: Any) -> Any:
    """The same network in PyTorch, on a state dict."""

    def linear(x: Any, name: str) -> Any:
        return F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

    def norm(x: Any, name: str) -> Any:
        return F.layer_norm(x, (WIDTH,), state[f"{name}.weight"], state[f"{name}.bias"])

    x = state["token.weight"][i] + state["position.weight"][: i.shape[1]]
    for n in range(LAYERS):
        name = f"blocks.{n}"
        heads = *i.shape, HEADS, WIDTH // HEADS
        parts = linear(norm(x, f"{name}.ln1"), f"{name}.qkv").split(WIDTH, 2)
        q, k, v = (p.reshape(heads).transpose(1, 2) for p in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + linear(mixed.reshape(x.shape), f"{name}.proj")
        hidden = F.gelu(linear(norm(x, f"{name}.ln2"), f"{name}.up"), approximate="tanh")
        x = x + linear(hidden, f"{name}.down")
    return linear(norm(x, "ln"), "head")


def test_losses_of_a_gpt():
    text = np.frombuffer(Path(__file__).read_bytes(), np.uint8)
    letters, data = np.unique(text, return_inverse=True)
    size = len(letters)
    tg.Tensor.manual_seed(0)
    model = GPT(size)
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
