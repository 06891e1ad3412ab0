"""Normalisation, losses, attention and interpolation against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg

pytestmark = pytest.mark.parity

F = torch.nn.functional
REDUCTIONS = ["mean", "sum", "none"]


def test_layernorm():
    check(lambda t: t.layernorm(), lambda t: F.layer_norm(t, (5,)), values(3, 4, 5), rtol=2e-5)
    check(
        lambda t: t.layernorm((1, 2)), lambda t: F.layer_norm(t, (4, 5)), values(3, 4, 5), rtol=2e-5
    )


def test_batchnorm():
    x, w, b, m, v = values(4, 3, 5), *(values(3, seed=i, low=0.5) for i in range(1, 5))
    check(
        lambda t, w, b, m, v: t.batchnorm(w, b, m, (v + 1e-5).rsqrt()),
        lambda t, w, b, m, v: F.batch_norm(t, m.detach(), v.detach(), w, b),
        x,
        w,
        b,
        m,
        v,
        gradient=False,
        rtol=1e-5,
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_crossentropy(reduction: str):
    p, y = values(4, 3, low=0.01, high=0.99), values(4, 3, seed=1, low=0, high=1)
    check(
        lambda a, b: a.binary_crossentropy(b.detach(), reduction),
        lambda a, b: F.binary_cross_entropy(a, b.detach(), reduction=reduction),
        p,
        y,
        rtol=1e-5,
    )
    logits = values(4, 3, low=-30, high=30)
    check(
        lambda a, b: a.binary_crossentropy_logits(b.detach(), reduction),
        lambda a, b: F.binary_cross_entropy_with_logits(a, b.detach(), reduction=reduction),
        logits,
        y,
        rtol=1e-5,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy(reduction: str, smoothing: float):
    logits, y = values(6, 5, low=-5, high=5), np.array([0, 4, 2, 2, 1, 3])
    check(
        lambda t, k: t.cross_entropy(k, reduction, smoothing),
        lambda t, k: F.cross_entropy(t, k, reduction=reduction, label_smoothing=smoothing),
        logits,
        y,
        rtol=1e-5,
    )
    check(
        lambda t, k: t.sparse_categorical_crossentropy(k, -1, smoothing, reduction),
        lambda t, k: F.cross_entropy(t, k, reduction=reduction, label_smoothing=smoothing),
        logits,
        y,
        rtol=1e-5,
    )
    probabilities = np.abs(values(6, 5, seed=2))
    check(
        lambda t, k: t.cross_entropy(k.detach(), reduction),
        lambda t, k: F.cross_entropy(t, k.detach(), reduction=reduction),
        logits,
        probabilities,
        rtol=1e-5,
    )


def test_cross_entropy_of_images():
    logits, y = values(2, 5, 3, low=-5, high=5), np.array([[0, 4, 2], [2, 1, 3]])
    check(lambda t, k: t.cross_entropy(k), F.cross_entropy, logits, y, rtol=1e-5)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nll_loss(reduction: str):
    x, y, w = values(6, 5), np.array([0, 4, 2, 2, 1, 3]), values(5, seed=1, low=0.1)
    check(
        lambda t, k, u: t.nll_loss(k, u.detach(), 2, reduction),
        lambda t, k, u: F.nll_loss(t, k, u.detach(), ignore_index=2, reduction=reduction),
        x,
        y,
        w,
        rtol=1e-5,
    )
    check(lambda t, k: t.nll_loss(k), F.nll_loss, x, y)


def test_attention():
    q, k, v = (values(2, 3, 5, 4, seed=i) for i in range(3))
    reference = F.scaled_dot_product_attention
    check(lambda *t: t[0].scaled_dot_product_attention(*t[1:]), reference, q, k, v, rtol=1e-5)
    check(
        lambda *t: t[0].scaled_dot_product_attention(*t[1:], is_causal=True),
        lambda *t: reference(*t, is_causal=True),
        q,
        k,
        v,
        rtol=1e-5,
    )
    mask = values(5, 5) > -1
    check(
        lambda a, b, c, m: a.scaled_dot_product_attention(b, c, m),
        lambda a, b, c, m: reference(a, b, c, m),
        q,
        k,
        v,
        mask,
        rtol=1e-5,
    )
    check(
        lambda a, b, c, m: a.scaled_dot_product_attention(b, c, m),
        lambda a, b, c, m: reference(a, b, c, m),
        q,
        k,
        v,
        values(5, 5),
        rtol=1e-5,
    )
    few = [values(2, 1, 5, 4, seed=i) for i in (1, 2)]
    check(
        lambda *t: t[0].scaled_dot_product_attention(*t[1:], enable_gqa=True),
        lambda *t: reference(*t, enable_gqa=True),
        q,
        *few,
        rtol=1e-5,
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["linear", "nearest", "nearest-exact"])
@pytest.mark.parametrize("size", [3, 5, 9, 1])
def test_interpolate(mode: str, size: int):
    check(
        lambda t: t.interpolate((size,), mode),
        lambda t: F.interpolate(t, size, mode=mode),
        values(2, 3, 5),
        rtol=1e-5,
    )


@pytest.mark.parametrize("align_corners", [False, True])
def test_interpolate_images(align_corners: bool):
    check(
        lambda t: t.interpolate((7, 3), align_corners=align_corners),
        lambda t: F.interpolate(t, (7, 3), mode="bilinear", align_corners=align_corners),
        values(1, 2, 5, 4),
        rtol=1e-5,
    )


@pytest.mark.parametrize(("old", "new"), [((16, 12), (5, 9)), ((5, 4), (7, 3)), ((6, 8), (6, 3))])
def test_interpolate_bytes(old: tuple[int, int], new: tuple[int, int]):
    """They are rounded after each axis, as PyTorch does in fixed point."""
    x = np.random.default_rng(0).integers(0, 256, (2, 3, *old), np.uint8)
    for mode, theirs in (("linear", "bilinear"), ("nearest", "nearest")):
        expected = F.interpolate(torch.tensor(x), new, mode=theirs)
        got = tg.Tensor(x).interpolate(new, mode)
        assert got.dtype.name == "ui8"
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
    wide = tg.Tensor(x.astype(np.int32) - 128).interpolate(new)
    assert wide.dtype.name == "i32"
    flat = tg.Tensor(x.astype(np.float64) - 128).interpolate(new)
    assert (wide - flat).abs().max().item() <= 1


def test_dropout_without_training():
    x = values(3, 4)
    np.testing.assert_array_equal(tg.Tensor(x).dropout(0.5).numpy(), x)


def test_gelu():
    x = values(50, low=-6, high=6)
    check(lambda t: t.gelu(), lambda t: F.gelu(t, approximate="tanh"), x)
    check(lambda t: t.gelu("none"), lambda t: F.gelu(t), x, atol=3e-6)
    check(lambda t: t.quick_gelu(), lambda t: t * torch.sigmoid(1.702 * t), x)
