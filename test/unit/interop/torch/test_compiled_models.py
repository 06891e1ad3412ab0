"""Models under `torch.compile(backend="tgdialect")` compute what PyTorch's eager mode does."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from compiled_models import assert_compiled, assert_same, compiled  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.parity


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_layers_of_products() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    assert_compiled(model, torch.randn(3, 4))


def test_convolutions() -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 4, 3, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )
    assert_compiled(model, torch.randn(2, 3, 16, 16))


def test_a_transformer_block() -> None:
    model = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    assert_compiled(model, torch.randn(2, 7, 32))


def test_a_recurrent_cell() -> None:
    assert_compiled(nn.LSTMCell(5, 7), torch.randn(3, 5))


@pytest.mark.parametrize("batch", [1, 2])
def test_a_recurrent_layer(batch: int) -> None:
    with torch._dynamo.config.patch(allow_rnn=True):
        assert_compiled(nn.LSTM(3, 4, bidirectional=True), torch.randn(5, batch, 3))


def test_frozen_weights() -> None:
    """Weights are packed again after a write, and are as in eager mode after each."""
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).eval()
    call, x = compiled(model, options={"freeze": True}), torch.randn(64, 64)
    with torch.no_grad():
        for _ in range(3):
            assert_same(call(x), model(x))
        model[0].weight.mul_(2)
        assert_same(call(x), model(x))
        model[2].weight = nn.Parameter(torch.randn(64, 64))
        assert_same(call(x), model(x))
    call(x).sum().backward()
    assert model[0].weight.grad is not None
