"""Movement methods against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg

pytestmark = pytest.mark.parity

F = torch.nn.functional
X = (2, 3, 4)

SAME: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda t: t.reshape(4, -1),
    "reshape tuple": lambda t: t.reshape((6, 4)),
    "view": lambda t: t.view(24),
    "flatten": lambda t: t.flatten(),
    "flatten 1": lambda t: t.flatten(1),
    "flatten 0 1": lambda t: t.flatten(0, 1),
    "unflatten": lambda t: t.unflatten(2, (2, 2)),
    "unflatten -1": lambda t: t.unflatten(-1, (-1, 2)),
    "unsqueeze": lambda t: t.unsqueeze(1),
    "unsqueeze last": lambda t: t.unsqueeze(-1),
    "squeeze": lambda t: t.unsqueeze(0).unsqueeze(2).squeeze(),
    "squeeze one": lambda t: t.unsqueeze(0).squeeze(0),
    "squeeze none": lambda t: t.squeeze(1),
    "expand": lambda t: t.unsqueeze(0).expand(5, -1, -1, -1),
    "permute": lambda t: t.permute(2, 0, 1),
    "transpose": lambda t: t.transpose(0, 2),
    "flip": lambda t: t.flip((0, 2)),
    "repeat": lambda t: t.repeat(2, 1, 3),
    "repeat more": lambda t: t.repeat(2, 1, 2, 1),
    "repeat_interleave": lambda t: t.repeat_interleave(2, 1),
    "repeat_interleave flat": lambda t: t.repeat_interleave(3),
    "roll": lambda t: t.roll(1, 2),
    "roll two": lambda t: t.roll((1, -2), (0, 2)),
    "roll flat": lambda t: t.roll(5),
    "split": lambda t: t.split(3, 2),
    "split sizes": lambda t: t.split([1, 2], 1),
    "chunk": lambda t: t.chunk(3, 2),
    "unfold": lambda t: t.unfold(2, 2, 1),
    "unfold step": lambda t: t.unfold(2, 3, 2),
    "unfold first": lambda t: t.unfold(0, 2, 1),
    "diagonal": lambda t: t.diagonal(),
    "diagonal 1": lambda t: t.diagonal(1, 1, 2),
    "diagonal -1": lambda t: t.diagonal(-1, 0, 2),
    "diagonal far": lambda t: t.diagonal(9),
    "tril": lambda t: t.tril(),
    "tril 1": lambda t: t.tril(1),
    "triu -1": lambda t: t.triu(-1),
    "contiguous": lambda t: t.permute(2, 0, 1).contiguous(),
    "detach": lambda t: t * t.detach(),
    "clone": lambda t: t.clone(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SAME)
def test_movement(name: str):
    check(SAME[name], SAME[name], values(*X))


PADDINGS = [(1, 2), (0, 1, 2, 0), (1, 1, 1, 1, 2, 2), (-1, 2), (0, -1, 1, 1)]


@pytest.mark.parametrize("padding", PADDINGS)
def test_pad(padding: tuple[int, ...]):
    check(lambda t: t.pad(padding), lambda t: F.pad(t, padding), values(*X))
    check(lambda t: t.pad(padding, value=3.5), lambda t: F.pad(t, padding, value=3.5), values(*X))


def test_pad_by_axis():
    ours = tg.Tensor(values(2, 3)).pad(((1, 0), None)).numpy()
    np.testing.assert_array_equal(ours, np.pad(values(2, 3), ((1, 0), (0, 0))))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [(1, 2), (0, 2), (2, 1)])
def test_pad_modes(mode: str, padding: tuple[int, int]):
    check(lambda t: t.pad(padding, mode), lambda t: F.pad(t, padding, mode), values(*X))


def test_shrink():
    check(lambda t: t.shrink(((0, 1), None, (1, 3))), lambda t: t[0:1, :, 1:3], values(*X))
    check(lambda t: t.shrink_to(1, None, 2), lambda t: t[:1, :, :2], values(*X))
    check(lambda t: t.pad_to(3, None, 6), lambda t: F.pad(t, (0, 2, 0, 0, 0, 1)), values(*X))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_and_stack(dim: int):
    x, y, z = (values(*X, seed=i) for i in range(3))
    check(lambda *t: t[0].cat(*t[1:], dim=dim), lambda *t: torch.cat(t, dim), x, y, z)
    check(lambda *t: t[0].stack(*t[1:], dim=dim), lambda *t: torch.stack(t, dim), x, y, z)


def test_cat_of_other_extents():
    x, y = values(2, 3), values(2, 5, seed=1)
    check(lambda a, b: a.cat(b, dim=1), lambda a, b: torch.cat((a, b), 1), x, y)
    masks = x > 0, y > 0
    check(lambda a, b: a.cat(b, dim=1), lambda a, b: torch.cat((a, b), 1), *masks, gradient=False)


def test_creation():
    for ours, theirs in (
        (tg.Tensor.zeros(2, 3), torch.zeros(2, 3)),
        (tg.Tensor.ones((2, 3)), torch.ones(2, 3)),
        (tg.Tensor.full((2,), 7), torch.full((2,), 7)),
        (tg.Tensor.arange(5), torch.arange(5)),
        (tg.Tensor.arange(2, 9, 3), torch.arange(2, 9, 3)),
        (tg.Tensor.arange(5, 0, -2), torch.arange(5, 0, -2)),
        (tg.Tensor.arange(0, 1, 0.25), torch.arange(0, 1, 0.25)),
        (tg.Tensor.arange(0), torch.arange(0)),
        (tg.Tensor.linspace(0, 1, 5), torch.linspace(0, 1, 5)),
        (tg.Tensor.linspace(3, -2, 1), torch.linspace(3, -2, 1)),
        (tg.Tensor.eye(3), torch.eye(3)),
        (tg.Tensor.eye(2, 4), torch.eye(2, 4)),
        (tg.Tensor([1.0, 2.0]).diag(), torch.tensor([1.0, 2.0]).diag()),
        (tg.Tensor([1, 2]).full_like(4), torch.tensor([1, 2]).fill_(4)),
        (tg.Tensor([[1, 2]]).ones_like(), torch.ones(1, 2, dtype=torch.int32)),
    ):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
        assert ours.shape == tuple(theirs.shape)
    for indexing in ("ij", "xy"):
        lines = [np.arange(3.0, dtype=np.float32), np.arange(4.0, dtype=np.float32)]
        check(
            lambda a, b, i=indexing: a.meshgrid(b, indexing=i),
            lambda a, b, i=indexing: torch.meshgrid(a, b, indexing=i),
            *lines,
        )


def test_errors():
    t = tg.Tensor(values(2, 3))
    with pytest.raises(ValueError, match="cannot be reshaped"):
        t.reshape(4)
    with pytest.raises(RuntimeError, match="only one extent"):
        t.reshape(-1, -1)
    with pytest.raises(ValueError, match="cannot be expanded"):
        t.expand(2, 4)
    with pytest.raises(RuntimeError, match="no order"):
        t.permute(0, 0)
    with pytest.raises(IndexError, match="axis 5"):
        t.flip(5)
    with pytest.raises(ValueError, match="outside"):
        t.shrink(((0, 3), None))
    with pytest.raises(ValueError, match="cat along axis 0"):
        t.cat(tg.Tensor(values(2, 4)))
