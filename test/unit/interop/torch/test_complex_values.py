"""Complex values of compiled functions: Fourier transforms, arithmetic, movement, aliases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from compiled_models import compiled  # noqa: E402

from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity

R = torch.randn(4, 6, dtype=torch.float64)
Z = torch.randn(4, 6, dtype=torch.complex128)


def assert_compiled(function: Callable[..., Any], *inputs: torch.Tensor, **options: Any) -> Any:
    """A compiled function gives PyTorch's results, with their layouts, and nothing falls back."""
    report().clear()
    with torch.no_grad():
        found, expected = compiled(function, **options)(*inputs), function(*inputs)
    torch.testing.assert_close(found, expected, check_stride=True)
    assert not report().fallbacks
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [1, 2, 7, 12, 30, 257, 2 * 509])
def test_transforms_of_all_kinds_of_lengths(n: int) -> None:
    """Of small and of great prime factors, against NumPy in f64."""
    real = np.random.default_rng(n).standard_normal((2, 3, n))
    z = real[0] + 1j * real[1]

    def transforms(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = torch.fft.rfft(x)
        return half, torch.fft.fft(z), torch.fft.ifft(z), torch.fft.irfft(z, n), torch.fft.fft(x)

    expected = (
        np.fft.rfft(real[0]),
        np.fft.fft(z),
        np.fft.ifft(z),
        np.fft.irfft(z[:, : n // 2 + 1], n),
        np.fft.fft(real[0]),
    )
    for dtype, tolerance in ((torch.float32, 5e-7), (torch.float64, 2e-15)):
        x = torch.from_numpy(real[0]).to(dtype)
        found = compiled(transforms)(x, torch.from_numpy(z).to(torch.complex(x, x).dtype))
        for a, b in zip(found, expected, strict=True):
            error = np.abs(a.numpy() - b).max() / max(np.abs(b).max(), 1e-9)
            assert error < tolerance


@pytest.mark.sampled(3)
@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_transforms_along_several_axes(norm: str) -> None:
    def transforms(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            torch.fft.fftn(z, dim=(1, 0), norm=norm),
            torch.fft.ifft2(z, norm=norm),
            torch.fft.rfft2(x, s=(3, 8), norm=norm),
            torch.fft.irfftn(z, s=(5, 9), norm=norm),
            torch.fft.hfft(z, dim=0, norm=norm),
            torch.fft.ihfft2(x, norm=norm),
            torch.fft.fftshift(torch.fft.fft(x, dim=0), dim=1),
        )

    assert_compiled(transforms, R, Z)


def test_arithmetic() -> None:
    def function(z: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            z * z + x - 0.1j,
            (x + 0.3j) / 0.7,
            z / z.flip(0),
            1 / z,
            3 - z * 2,
            -z.conj(),
            z @ z.mT,
            z.abs(),
            z.angle(),
            z.exp(),
            (z == z.conj()) | (z != x),
            torch.polar(x.abs(), x),
            torch.complex(x, x[0]),
        )

    assert_compiled(function, Z, R)


def test_quotients_do_not_overflow() -> None:
    big = torch.tensor([1e200 + 1e200j, 1e-200 + 1e-250j, 1j], dtype=torch.complex128)
    found = compiled(lambda z: z / z)(big)
    torch.testing.assert_close(found, torch.ones(3, dtype=torch.complex128))


def test_movement_and_sums() -> None:
    def function(z: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        both = torch.cat([z, x.to(z.dtype)], 1)
        return (
            z.permute(1, 0) + 0,
            both[1:, ::2] * 1,
            torch.nn.functional.pad(z, (1, 2), value=3.0),
            torch.where(x > 0, z, x),
            torch.stack([z, z * 2]).sum(0),
            z.roll(1, 0).reshape(-1).cumsum(0),
            z[:, torch.tensor([2, 0])] * 1,
            torch.view_as_real(z * 2),
            torch.view_as_complex(torch.stack([x, x], -1)) * 1,
            torch.full((2,), 1 + 2j) * z[0, :2],
        )

    assert_compiled(function, Z, R)


def test_arguments_that_lie_otherwise_in_memory() -> None:
    def function(z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return z * 2, z.real + 1, z.imag * 2

    for z in (Z, Z.T, Z.conj(), Z[:, ::2], Z[0].expand(3, 6), Z.conj().T):
        assert_compiled(function, z)


def test_results_that_are_views_share_memory() -> None:
    z = Z.clone()
    with torch.no_grad():
        parts, turned = compiled(lambda z: (torch.view_as_real(z), z.T))(z)
    z[0, 0] = 5j
    assert parts[0, 0].tolist() == [0, 5]
    assert turned[0, 0] == 5j


def test_arguments_are_written_in_place() -> None:
    def function(z: torch.Tensor) -> torch.Tensor:
        z.mul_(2j)
        return z + 1

    views: list[Callable[[torch.Tensor], torch.Tensor]] = [
        *(
            lambda z: z,
            lambda z: z.T,
            lambda z: z[:, ::2],
            lambda z: z.conj(),
            lambda z: z[1:].conj(),
        ),
    ]
    for view in views:
        call = compiled(function)
        ours, theirs = Z.clone(), Z.clone()
        with torch.no_grad():
            for _ in range(2):
                torch.testing.assert_close(call(view(ours)), function(view(theirs)))
                torch.testing.assert_close(ours, theirs)


def test_gradients() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        spectrum = torch.fft.rfft(x)
        return torch.fft.irfft(spectrum * spectrum.conj(), n=x.shape[-1]).square().sum()

    ours, theirs = (R.clone().requires_grad_() for _ in range(2))
    compiled(function)(ours).backward()
    function(theirs).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_any_number_of_signals() -> None:
    call = compiled(torch.fft.rfft, dynamic=True)
    for count in (2, 3, 7):
        x = torch.randn(count, 12)
        torch.testing.assert_close(call(x), torch.fft.rfft(x))


def test_check_mode_compares_complex_results() -> None:
    assert_compiled(lambda z: (z * 2, torch.fft.fft(z)), Z, options={"check": True})


def test_ops_of_complex_values_without_a_line_fall_back() -> None:
    report().clear()
    with torch.no_grad():
        found = compiled(lambda z: torch.sin(z * 2) + z)(Z)
    torch.testing.assert_close(found, torch.sin(Z * 2) + Z)
    (fallback,) = report().fallbacks
    assert fallback.op == "aten.sin.default"
    assert "complex numbers" in fallback.reason
