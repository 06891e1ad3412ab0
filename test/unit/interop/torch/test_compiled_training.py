"""Twenty steps of training under `torch.compile(backend="tgdialect")` have eager mode's losses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import compiled  # noqa: E402
from torch import nn  # noqa: E402

from bench.networks import NETWORKS  # noqa: E402
from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity

STEPS = 20


def losses(
    call: Callable[..., torch.Tensor],
    model: nn.Module,
    batches: list[tuple[Any, torch.Tensor]],
    rate: float = 0.1,
) -> list[float]:
    """The losses of some steps."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.5)
    found: list[float] = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(call(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def assert_same_losses(model: nn.Module, batches: list[tuple[torch.Tensor, ...]]) -> None:
    """Both modes have the same losses, which fall, and leave the same state."""
    other = copy.deepcopy(model)
    ours = losses(compiled(model), model, batches)
    theirs = losses(other, other, batches)
    torch.testing.assert_close(ours, theirs, rtol=2e-3, atol=2e-3)
    assert ours[-1] < ours[0]
    for (name, a), b in zip(model.state_dict().items(), other.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=5e-2, atol=5e-3, msg=lambda m, n=name: f"{n}: {m}")
    assert not report().fallbacks
    assert [graph.kind for graph in report().graphs] == ["forward", "backward"]


def test_a_convolutional_network() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 8, 3, stride=2), nn.GELU(), nn.Flatten(), nn.Linear(72, 3)),
    )
    x, y = torch.randn(16, 1, 14, 14), torch.randint(0, 3, (16,))
    assert_same_losses(model, [(x, y)] * STEPS)


def test_a_language_model() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(11, 16)
            self.block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
            self.head = nn.Linear(16, 11)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
            hidden = self.block(self.embedding(tokens), src_mask=mask, is_causal=True)
            return self.head(hidden).flatten(0, 1)

    torch.manual_seed(0)
    tokens = torch.randint(0, 11, (4, 9))
    assert_same_losses(Model(), [(tokens[:, :-1], tokens[:, 1:].flatten())] * STEPS)


@pytest.mark.parametrize("name", ["resnet", "bert", "lstm"])
@torch._dynamo.config.patch(allow_rnn=True)
def test_networks(name: str) -> None:
    """Networks of the bench, with a head for three classes, at a rate at which differences do not
    grow: losses are eager mode's within 1e-4."""
    torch.manual_seed(0)
    network = NETWORKS[name]
    model = Classifier(network.small())
    x = network.inputs(*network.small_sizes[-1])
    y = torch.randint(0, 3, (x[0].shape[0],))
    other = copy.deepcopy(model)
    batches = [(x, y)] * STEPS
    ours = losses(compiled(model), model, batches, 0.01)
    theirs = losses(other, other, batches, 0.01)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=0)
    assert ours[-1] < ours[0]
    assert not report().fallbacks


class Classifier(nn.Module):
    """A network whose results are averaged to logits of three classes."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        found = self.network(*inputs)
        return found.flatten(1)[:, :9].unflatten(1, (3, 3)).mean(1)
