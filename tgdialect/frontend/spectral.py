"""Fourier transforms of real signals. There are no complex dtypes: a complex number is a pair in
the last axis, as `torch.view_as_real` shows it."""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, Self

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, DTypeError
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.symbolic import SymInt
from tgdialect.ops.numpy_dtypes import Array

Norm = Literal["backward", "ortho", "forward"]


class Spectral(LinearAlgebra, Indexing):
    """Fourier transforms along an axis."""

    __slots__ = ()

    def rfft(self, n: int | None = None, dim: int = -1, norm: Norm | None = None) -> Self:
        """The discrete Fourier transform of a real signal: n // 2 + 1 frequencies.

        It is steps of products with small constant matrices, one for each of the factors of n that
        take the least time (Cooley & Tukey, 1965). A prime factor is one step.

        Args:
            n: the length of the signal, which is cut or padded with zeros; by default that of the
                axis.
            dim: the axis of the signal, which becomes that of the frequencies.
            norm: backward, or None (no factor), forward (1 / n) or ortho (1 / sqrt(n)).

        Returns:
            The frequencies, with a new last axis of real and imaginary parts.

        Raises:
            ArgumentError: n is not positive, or there is no such norm.
            DTypeError: the signal has no real dtype.
        """
        axis = self._existing_axis(dim)
        x = self._float_signal("rfft").transpose(axis, -1)
        length = x.shape[-1] if n is None else n
        if isinstance(length, SymInt):
            raise ValueError(f"rfft of a symbolic length: {length}")
        if length < 1:
            raise ArgumentError(f"rfft of {length} elements")
        factors = {None: 1.0, "backward": 1.0, "forward": 1 / length, "ortho": length**-0.5}
        if norm not in factors:
            raise ArgumentError(f"norm is backward, forward or ortho: {norm!r}")
        x = x.pad((0, length - x.shape[-1])) if x.shape[-1] != length else x
        return x._frequencies(factors[norm]).transpose(axis, self.ndim - 1)

    def stft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Self | None = None,
        center: bool = True,
        pad_mode: str = "reflect",
        normalized: bool = False,
        onesided: bool = True,
        return_complex: bool = False,
    ) -> Self:
        """The short-time Fourier transform: that of windows of a real signal, as PyTorch's.

        Args:
            n_fft: the length of a window.
            hop_length: the distance of windows; by default n_fft // 4.
            win_length: the length of `window`, which is padded with zeros to `n_fft`.
            window: the factors of a window's elements; ones by default.
            center: pad the signal, so that window i is around element i * hop_length.
            pad_mode: how: reflect, replicate, circular or constant.
            normalized: divide by sqrt(n_fft).
            onesided: give n_fft // 2 + 1 frequencies, which are all that differ.
            return_complex: has to be False: the last axis has real and imaginary parts.

        Returns:
            (frequencies, windows, 2) for a signal of one axis; another one before it is a batch.

        Raises:
            ArgumentError: a length is not positive, or longer than it may be.
            DTypeError: the signal has no real dtype, or a complex one is asked for.
        """
        if return_complex:
            raise DTypeError("there are no complex dtypes: the last axis has both parts")
        if self.ndim not in (1, 2):
            raise ArgumentError(f"stft of a tensor with {self.ndim} axes: it has one or two")
        x = self._float_signal("stft")
        if center:
            pads = [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)]
            x = x.pad(pads, mode=pad_mode)
        hop = n_fft // 4 if hop_length is None else hop_length
        width = n_fft if win_length is None else win_length
        if not 0 < n_fft <= x.shape[-1] or not 0 < width <= n_fft or hop < 1:
            raise ArgumentError(
                f"stft by windows of {n_fft} of {x.shape[-1]} elements, {hop} apart, of which "
                f"{width} are not zero"
            )
        if window is not None and window.shape != (width,):
            raise ArgumentError(f"a window of shape {window.shape}, not {(width,)}")
        frames = x.unfold(-1, n_fft, hop)
        if window is not None or width < n_fft:
            factors = x.ones(width, dtype=x.dtype) if window is None else window
            before = (n_fft - width) // 2
            frames = frames * factors.pad((before, n_fft - width - before))
        pairs = frames.rfft(norm="ortho" if normalized else None)
        if not onesided:
            # Those of negative frequencies are conjugates.
            mirrored = pairs[..., 1 : (n_fft + 1) // 2, :].flip(-2)
            signs = self._of_array(np.array([1, -1], dtypes.numpy_of(x.dtype)))
            pairs = pairs.cat(mirrored * signs, dim=-2)
        return pairs.transpose(-3, -2)

    def _float_signal(self, name: str) -> Self:
        """This signal in a float dtype in which products are accurate."""
        if self.dtype.is_bool or not self.ndim:
            raise DTypeError(f"{name} of {self.dtype.name} {self.shape}: a signal is needed")
        return self._float()._accurate()

    def _frequencies(self, factor: float) -> Self:
        """The pairs of the transform along the last axis, times a factor, in a new last axis.

        In all steps the last axis has the signals, so that vectors lie along it whatever the length
        is. A signal of even length is half as many complex numbers, of two elements each. Their
        transform tells those of the even and of the odd elements apart, since these are real
        (Sorensen et al., "Real-valued fast Fourier transform algorithms", 1987).
        """
        *lead, n = self.shape
        signals = math.prod(lead)
        pairs = self.reshape((signals, n)).transpose(0, 1)._half_spectrum(factor)
        return pairs.permute((2, 1, 0)).reshape((*lead, n // 2 + 1, 2))

    def _half_spectrum(self, factor: float) -> Self:
        """The transform of real signals, (elements, signals), times a factor, as
        (2, frequencies, signals)."""
        n, signals = self.shape
        if n % 2:
            return self.reshape((1, n, signals))._fourier(n // 2 + 1, factor)
        # Transposed before the parts are told apart: neighbouring elements are in one tile.
        halves = self.contiguous().reshape((n // 2, 2, signals)).transpose(0, 1)
        return halves._fourier(n // 2, factor / 2)._of_halves()

    def _of_half_spectrum(self, n: int, factor: float) -> Self:
        """The n real elements, (elements, signals), whose transform begins with these frequencies,
        (2, n // 2 + 1, signals), times a factor. It is the inverse transform times n."""
        signals = self.shape[2]
        # The frequency 0 and the greatest one of an even number are real.
        is_real = (np.arange(n // 2 + 1) * 2 % n == 0)[:, None]
        real, imaginary = self[0], self._of_array(is_real).where(0, self[1])
        if n % 2:
            mirrored = real[1:].flip(0), imaginary[1:].flip(0)
            whole = real.cat(mirrored[0], dim=0), imaginary.cat(-mirrored[1], dim=0)
            # The inverse is the transform with its parts in each other's place.
            return whole[1].stack(whole[0], dim=0)._fourier(n, factor)[1]
        turn = _circle(np.arange(n // 2) / -n).astype(dtypes.numpy_of(self.dtype))
        cosine, sine = (self._of_array(turn[:, part, None]) for part in (0, 1))
        ahead = real[:-1], imaginary[:-1]
        back = real[1:].flip(0), imaginary[1:].flip(0)
        a, b = ahead[0] - back[0], ahead[1] + back[1]
        evens = ahead[0] + back[0], ahead[1] - back[1]
        odds = cosine * a - sine * b, cosine * b + sine * a
        parts = (evens[1] + odds[0]).stack(evens[0] - odds[1], dim=0)
        return parts._fourier(n // 2, factor).flip(0).transpose(0, 1).reshape((n, signals))

    def _fourier(self, wanted: int, factor: float) -> Self:
        """The first `wanted` frequencies of a complex transform, times a factor, as
        (2, frequencies, signals).

        This tensor is (parts, elements, signals): one part if the elements are real.
        """
        parts, n, signals = self.shape
        if radices(n)[0] > _GREATEST_RADIX:
            return self._by_chirps(wanted, factor)
        dtype = dtypes.numpy_of(self.dtype)
        x, done = self, 1
        for radix in radices(n):
            # Frequencies below `done` are known of every (n / done)-th element. A step sums over
            # the next digit of elements, and finds `radix` times as many frequencies.
            rest = n // (done * radix)
            digits, scale = (radix, 1.0) if rest > 1 else (-(-wanted // done), factor)
            matrices = self._of_array(_step_matrices(done, radix, digits, parts, scale, dtype))
            elements = x.reshape((parts, done, radix, rest * signals))
            sums = self.einsum("fqdps,pfst->qdft", matrices, elements).contiguous()
            x = sums.reshape((2, digits * done, rest * signals))
            parts, done = 2, done * radix
        return x[:, :wanted]

    def _by_chirps(self, wanted: int, factor: float) -> Self:
        """`_fourier` as a convolution, whose length has small factors: j k is
        (j^2 + k^2 - (j - k)^2) / 2 (Bluestein, 1970)."""
        parts, n, _ = self.shape
        length = 1 << (2 * n - 2).bit_length()
        chirp = _circle(np.arange(n) ** 2 % (2 * n) / (2 * n))
        around = np.zeros((length, 2))
        around[:n] = chirp
        around[length - n + 1 :] = chirp[:0:-1]
        response = np.fft.fft(around[:, 0] - 1j * around[:, 1]) * (factor / length)
        filters = np.stack([response.real, response.imag], -1)
        x = self if parts == 2 else self.cat(self * 0, dim=0)
        x = x._turned(chirp).pad([(0, 0), (0, length - n), (0, 0)])
        x = x._fourier(length, 1)._turned(filters)
        return x.flip(0)._fourier(length, 1).flip(0)[:, :wanted]._turned(chirp[:wanted])

    def _turned(self, factors: Array) -> Self:
        """Complex elements, (2, elements, signals), times constant ones, (elements, 2)."""
        a, b = (
            self._of_array(factors[:, part, None].astype(dtypes.numpy_of(self.dtype)))
            for part in (0, 1)
        )
        return (self[0] * a - self[1] * b).stack(self[0] * b + self[1] * a, dim=0)

    def _of_halves(self) -> Self:
        """The frequencies of real signals, from those of complex numbers that are neighbours: where
        n of these have the transform z, z[k] + conj(z[n - k]) is twice that of the even elements,
        and z[k] - conj(z[n - k]) is 2i times that of the odd ones. The results are twice as great
        as well."""
        n = self.shape[1]
        ahead = self.repeat(1, 2, 1)[:, : n + 1]
        back = ahead.flip(1)
        turn = _circle(np.arange(n + 1) / (2 * n)).astype(dtypes.numpy_of(self.dtype))
        cosine, sine = (self._of_array(turn[:, part, None]) for part in (0, 1))
        real, imaginary = ahead[1] + back[1], back[0] - ahead[0]
        return (ahead[0] + back[0] + cosine * real - sine * imaginary).stack(
            ahead[1] - back[1] + cosine * imaginary + sine * real, dim=0
        )


_STEP = 3
"""The cost of a step beyond its products, in multiply-adds per element: a step is a pass through
memory, and a kernel to compile. Larger: fewer steps of greater radices. By time alone it would be 1
to 2 (a step of radix 4 takes 0.57 of one of radix 8 in L2, and 0.6 in memory); the rest is compile
time."""


_GREATEST_RADIX = 256
"""The greatest radix of a step. A prime factor beyond is a convolution, of which three transforms
of twice to four times the length have fewer products, and no matrix of its square. About where both
have as many products."""


@cache
def radices(n: int) -> tuple[int, ...]:
    """The factors of n, the greatest first, whose steps take the least time. A step has as many
    multiply-adds per element as its radix."""

    def cost(factors: tuple[int, ...]) -> int:
        return sum(factors) + _STEP * len(factors)

    found: list[tuple[int, ...]] = [(n,)]
    for divisor in range(2, math.isqrt(n) + 1):
        if n % divisor == 0:
            factors = radices(divisor) + radices(n // divisor)
            found.append(tuple(sorted(factors, reverse=True)))
    return min(found, key=cost)


@cache
def _step_matrices(
    done: int, radix: int, digits: int, parts: int, scale: float, dtype: np.dtype[np.generic]
) -> Array:
    """For each frequency f < `done` the matrix from the parts of `radix` elements to those of
    the frequencies f + done * k with k < `digits`, times a scale: (done, 2, digits, parts, radix).
    """
    frequency = np.arange(done)[:, None] + done * np.arange(digits)
    period = done * radix
    turn = _circle(np.multiply.outer(frequency, np.arange(radix)) % period / period) * scale
    real, imaginary = turn[..., 0], turn[..., 1]
    of_real, of_imaginary = np.stack([real, imaginary], 1), np.stack([-imaginary, real], 1)
    return np.stack([of_real, of_imaginary][:parts], 3).astype(dtype)


def _circle(turns: Array) -> Array:
    """exp(-2 pi i turns), as pairs in a new last axis."""
    angle = -2 * np.pi * turns
    return np.stack([np.cos(angle), np.sin(angle)], -1)
