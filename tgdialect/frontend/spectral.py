"""Fourier transforms of real signals. There are no complex dtypes: a complex number is a pair in
the last axis, as `torch.view_as_real` shows it."""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, Self

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, DTypeError
from tgdialect.frontend.graph import Array
from tgdialect.frontend.resizing import Resizing
from tgdialect.frontend.symbolic import SymInt

Norm = Literal["backward", "ortho", "forward"]


class Spectral(Resizing):
    """Fourier transforms along an axis."""

    __slots__ = ()

    def rfft(self, n: int | None = None, dim: int = -1, norm: Norm | None = None) -> Self:
        """The discrete Fourier transform of a real signal: n // 2 + 1 frequencies.

        It is two steps of products with constant matrices (Cooley & Tukey, 1965), for n = a * b
        with a and b near the root of n; for a prime n, the product with the whole matrix.

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
        pairs = x._frequencies()
        if factors[norm] != 1:
            pairs = pairs * factors[norm]
        return pairs.transpose(axis, self.ndim - 1)

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
            pairs = pairs.cat(mirrored * self._signs(x), dim=-2)
        return pairs.transpose(-3, -2)

    def _signs(self, like: Self) -> Self:
        """What makes a pair its conjugate."""
        return self._of_array(np.array([1, -1], dtypes.numpy_of(like.dtype)))

    def _float_signal(self, name: str) -> Self:
        """This signal in a float dtype in which products are accurate."""
        if self.dtype.is_bool or not self.ndim:
            raise DTypeError(f"{name} of {self.dtype.name} {self.shape}: a signal is needed")
        return self._float()._accurate()

    def _frequencies(self) -> Self:
        """The pairs of the transform along the last axis, in a new last axis."""
        *lead, n = self.shape
        first, whole = _factor(n), n // 2 + 1
        second = n // first
        rows = whole // first
        matrices = _matrices(n, first, rows, dtypes.numpy_of(self.dtype))
        inner, outer, rest = (self._of_array(matrix) for matrix in matrices)
        x = self.reshape((math.prod(lead), n))
        parts: list[Self] = []
        if rows:
            # Element s * second + t: over s for each t, and then over t for each remainder k of the
            # frequency k + first * m.
            by_t = inner.matmul(x.reshape((-1, first, second))).reshape((-1, first, 2 * second))
            pairs = by_t.transpose(0, 1).contiguous().matmul(outer)
            pairs = pairs.reshape((first, -1, 2, rows)).permute((1, 3, 0, 2))
            parts.append(pairs.reshape((-1, rows * first, 2)))
        if rows * first < whole:
            parts.append(x.matmul(rest).reshape((-1, whole - rows * first, 2)))
        return parts[0].cat(*parts[1:], dim=1).reshape((*lead, whole, 2))


def _factor(n: int) -> int:
    """The greatest divisor of n that is not above its root."""
    return max(a for a in range(1, math.isqrt(n) + 1) if n % a == 0)


@cache
def _matrices(n: int, first: int, rows: int, dtype: np.dtype[np.generic]) -> tuple[Array, ...]:
    """The matrices of a transform of n = first * second elements.

    The first one maps elements s to the pairs of each k < `first`. The second one maps, for each k,
    the real and imaginary parts of all t to those of the frequencies k + first * m with m < `rows`.
    The third one maps all elements to the pairs of the frequencies beyond.
    """
    second = n // first
    k, s, t, m = np.arange(first), np.arange(first), np.arange(second), np.arange(rows)
    inner = _circle(np.multiply.outer(k, s) / first).transpose(0, 2, 1)
    frequency = k[:, None] + first * m
    turn = _circle(t[:, None] * frequency[:, None] / n)
    real, imaginary = turn[..., 0], turn[..., 1]
    outer = np.empty((first, 2, second, 2, rows))
    outer[:, 0, :, 0], outer[:, 1, :, 0] = real, -imaginary
    outer[:, 0, :, 1], outer[:, 1, :, 1] = imaginary, real
    beyond = np.arange(rows * first, n // 2 + 1)
    rest = _circle(np.multiply.outer(np.arange(n), beyond) % n / n)
    shapes = (2 * first, first), (first, 2 * second, 2 * rows), (n, -1)
    found = zip((inner, outer, rest), shapes, strict=True)
    return tuple(matrix.reshape(shape).astype(dtype) for matrix, shape in found)


def _circle(turns: Array) -> Array:
    """exp(-2 pi i turns), as pairs in a new last axis."""
    angle = -2 * np.pi * turns
    return np.stack([np.cos(angle), np.sin(angle)], -1)
