"""Padding and pooling, over all small parameters, against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from parity import torch

import tgdialect as tg

F = torch.nn.functional


@pytest.mark.sampled(6)
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("size", "padding"), [(2, 0), (2, 1), (3, 0), (3, 1)])
def test_pooling(size: int, padding: int, ceil_mode: bool):
    for stride, extent in ((1, 4), (2, 5), (3, 5), (3, 7)):
        x = torch.rand(1, 1, extent, extent)
        ours: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": ceil_mode}
        for count_include_pad in (False, True):
            expected = F.avg_pool2d(x, size, stride, padding, ceil_mode, count_include_pad)
            got = tg.Tensor(x.numpy()).avg_pool2d(size, **ours, count_include_pad=count_include_pad)
            np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5)
        values, places = F.max_pool2d(x, size, stride, padding, 1, ceil_mode, True)
        got = tg.Tensor(x.numpy()).max_pool2d(size, **ours, return_indices=True)
        np.testing.assert_array_equal(got[0].numpy(), values.numpy())
        np.testing.assert_array_equal(got[1].numpy(), places.numpy())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("extents", "window", "is_sized"),
    [
        ((8, 6), {"kernel_size": (2, 2)}, False),
        ((7, 9), {"kernel_size": (2, 2)}, True),
        ((10, 10), {"kernel_size": (5, 3), "stride": (6, 3)}, True),
        ((9, 10), {"kernel_size": (3, 3), "stride": (4, 5), "padding": 1}, True),
    ],
)
def test_unpooling(extents: tuple[int, int], window: dict[str, Any], is_sized: bool):
    x = torch.rand(2, 3, *extents)
    sizes = {"output_size": extents} if is_sized else {}
    pooled, places = F.max_pool2d(x, **window, return_indices=True)
    got = tg.Tensor(x.numpy()).max_pool2d(**window, return_indices=True)
    assert isinstance(got, tuple)
    weights = torch.rand_like(F.max_unpool2d(pooled, places, **window, **sizes))
    pooled.requires_grad_()
    expected = F.max_unpool2d(pooled, places, **window, **sizes)
    (expected * weights).sum().backward()
    values = tg.Tensor(got[0].numpy(), requires_grad=True)
    ours = values.max_unpool2d(got[1], **window, **sizes)
    np.testing.assert_array_equal(ours.numpy(), expected.detach().numpy())
    (gradient,) = (ours * tg.Tensor(weights.numpy())).sum().gradient(values)
    assert pooled.grad is not None
    np.testing.assert_array_equal(gradient.numpy(), pooled.grad.numpy())


def test_windows_of_no_cells():
    x = tg.Tensor(np.ones((3, 4), np.float32), requires_grad=True)
    for axis, step in ((0, 1), (1, 3)):
        windows = x.unfold(axis, 0, step)
        assert windows.numpy().shape == torch.ones(3, 4).unfold(axis, 0, step).shape
        assert windows.sum().gradient(x)[0].tolist() == [[0] * 4] * 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["constant", "circular", "reflect", "replicate"])
def test_padding(mode: str):
    """Where PyTorch refuses, or leaves cells that it does not write, nothing is compared: a
    circular pad of more cells than are left once others are cut off."""
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 4)
    count = 0
    for before, after in itertools.product(range(-2, 4), repeat=2):
        left = 4 + min(before, 0) + min(after, 0)
        if left <= 0 or (mode == "circular" and max(before, after) > left):
            continue
        if mode == "reflect" and max(before, after) > 3:
            continue
        expected = F.pad(torch.tensor(x), (before, after), mode=mode)
        got = tg.Tensor(x).pad((before, after), mode=mode)
        np.testing.assert_array_equal(got.numpy(), expected.numpy(), err_msg=f"{before}, {after}")
        count += 1
    assert count > 20
