"""Fourier transforms, against NumPy in float64 and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity import torch

import tgdialect as tg
from tgdialect.frontend.spectral import radices

T = tg.Tensor


def pairs(values: Any) -> Any:
    return np.stack([values.real, values.imag], -1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 7, 8, 9, 15, 26, 30, 77, 263, 512, 526])
def test_frequencies_of_all_kinds_of_lengths(n: int) -> None:
    x = np.random.default_rng(n).standard_normal((3, n))
    expected = pairs(np.fft.rfft(x))
    kinds = [(np.float32, 1e-6), (np.float64, 1e-13)]
    for dtype, tolerance in kinds if n in (7, 30) else kinds[:1]:
        found = T(x.astype(dtype)).rfft().numpy()
        assert found.dtype == dtype
        assert found.shape == expected.shape
        # An element's error is relative to the largest ones that it is a sum of.
        np.testing.assert_allclose(found, expected, atol=tolerance * n)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("n", "dim", "norm"),
    [(None, 0, None), (3, 1, "backward"), (8, -1, "ortho"), (6, 0, "forward"), (2, 1, "ortho")],
)
def test_arguments_of_rfft(n: int | None, dim: int, norm: Any) -> None:
    x = np.random.default_rng(0).standard_normal((4, 5, 6)).astype(np.float32)
    expected = torch.view_as_real(torch.fft.rfft(torch.from_numpy(x), n, dim, norm)).numpy()
    np.testing.assert_allclose(T(x).rfft(n, dim, norm).numpy(), expected, atol=1e-5)


def test_integers_and_short_floats_are_transformed_in_f32() -> None:
    x = np.arange(8)
    for given in (T(x), T(x).cast("f16")):
        found = given.rfft().numpy()
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, pairs(np.fft.rfft(x)), atol=1e-5)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "options",
    [
        {"n_fft": 16},
        {"n_fft": 16, "hop_length": 3, "center": False},
        {"n_fft": 15, "pad_mode": "constant", "normalized": True},
        {"n_fft": 15, "onesided": False},
        {"n_fft": 16, "onesided": False, "win_length": 9},
        {"n_fft": 20, "hop_length": 7, "win_length": 12, "window": "hann"},
        {"n_fft": 20, "win_length": 11, "window": "hann", "pad_mode": "replicate"},
    ],
)
@pytest.mark.parametrize("shape", [(60,), (3, 60)])
def test_windows_of_a_signal(options: dict[str, Any], shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    ours, theirs = dict(options), dict(options)
    # PyTorch warns where no window is given.
    width = options.get("win_length", options["n_fft"])
    theirs["window"] = torch.ones(width)
    if "window" in options:
        theirs["window"] = torch.hann_window(width)
        ours["window"] = T(theirs["window"].numpy())
    signal = torch.from_numpy(x)
    expected = torch.view_as_real(torch.stft(signal, **theirs, return_complex=True)).numpy()
    np.testing.assert_allclose(T(x).stft(**ours).numpy(), expected, atol=1e-4)


def test_steps_have_the_cheapest_factors() -> None:
    assert radices(256) == (4, 4, 4, 4)
    assert radices(512) == (8, 4, 4, 4)
    assert radices(30) == (6, 5)
    assert radices(2 * 127) == (127, 2)
    assert radices(1) == (1,)


@pytest.mark.parametrize("n", [7, 8])
def test_a_batch_of_a_number_that_calls_give(n: int) -> None:
    compiled = tg.compile(lambda x: x.rfft(), tg.spec((tg.Variable("batch", 1, 10), n)))
    x = np.random.default_rng(n).standard_normal((5, n)).astype(np.float32)
    np.testing.assert_allclose(compiled(x), pairs(np.fft.rfft(x)), atol=1e-5)
    assert T.zeros(0, n).rfft().shape == (0, n // 2 + 1, 2)


@pytest.mark.parametrize("n", [24, 15])
def test_the_gradient_of_a_power_spectrum(n: int) -> None:
    x = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    theirs = torch.from_numpy(x.astype(np.float64)).requires_grad_()
    (torch.fft.rfft(theirs).abs() ** 2).sum().backward()
    ours = T(x, requires_grad=True)
    ours.rfft().square().sum().backward()
    assert ours.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: T.ones(4).rfft(0), RuntimeError, "rfft of 0 elements"),
        (lambda: T.ones(4).rfft(norm="none"), RuntimeError, "norm is backward, forward or ortho"),
        (lambda: T(True).rfft(), IndexError, "axis -1"),
        (lambda: T([True]).rfft(), TypeError, "rfft of i1"),
        (lambda: T.ones(8).stft(4, return_complex=True), TypeError, "no complex dtypes"),
        (lambda: T.ones(2, 2, 8).stft(4), RuntimeError, "3 axes: it has one or two"),
        (lambda: T.ones(8).stft(9, center=False), RuntimeError, "windows of 9 of 8 elements"),
        (lambda: T.ones(8).stft(4, 0), RuntimeError, "0 apart"),
        (lambda: T.ones(8).stft(4, win_length=5), RuntimeError, "of which 5 are not zero"),
        (lambda: T.ones(8).stft(4, window=T.ones(3)), RuntimeError, r"a window of shape \(3,\)"),
    ],
)
def test_refusals(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
