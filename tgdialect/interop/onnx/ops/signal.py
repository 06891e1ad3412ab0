"""Fourier transforms, windows, Det."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np

from tgdialect.frontend.symbolic import SymInt, larger, smaller
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import Rules, known
from tgdialect.interop.onnx.values import Refused, dims
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.numpy_dtypes import Array

Pair = tuple[Tensor, Tensor | None]
"""The real and the imaginary part of a signal along the last axis; None is 0."""


def _cut(x: Tensor, count: int) -> Tensor:
    """The first cells of the last axis, padded with zeros."""
    extent: Any = x.shape[-1]
    if isinstance(extent, SymInt):
        raise Refused(f"a transform of {count} elements along an axis of {extent}: it is static")
    kept = smaller(extent, count)
    x = x.shrink([*((0, d) for d in x.shape[:-1]), (0, kept)])
    return x.pad((0, larger(count - kept, 0)))


def _spectrum(signal: Pair, *, onesided: bool = False) -> tuple[Tensor, Tensor]:
    """The transform along the last axis."""
    real, imaginary = signal
    a, b = _spectrum_of_real(real, onesided=onesided)
    if imaginary is None:
        return a, b
    c, d = _spectrum_of_real(imaginary, onesided=onesided)
    return a - d, b + c


def _spectrum_of_real(x: Tensor, *, onesided: bool) -> tuple[Tensor, Tensor]:
    pairs = x.rfft()
    a, b = pairs[..., 0], pairs[..., 1]
    n = int(x.shape[-1])
    if onesided or n <= 2:
        return a[..., : n // 2 + 1], b[..., : n // 2 + 1]
    # Those of negative frequencies are conjugates.
    others = slice(1, (n + 1) // 2)
    return a.cat(a[..., others].flip(-1), dim=-1), b.cat(-b[..., others].flip(-1), dim=-1)


def _inverse(signal: Pair, n: int) -> tuple[Tensor, Tensor]:
    """The inverse transform: the conjugate of the transform of the conjugate, divided by n."""
    real, imaginary = signal
    a, b = _spectrum((real, None if imaginary is None else -imaginary))
    return a / n, -b / n


def _whole(signal: Pair, n: int) -> Pair:
    """The spectrum of n real elements, from that of frequencies that are not negative."""
    real, imaginary = (None if t is None else _cut(t, n // 2 + 1) for t in signal)
    assert real is not None
    others = slice(1, (n + 1) // 2)
    a = real.cat(real[..., others].flip(-1), dim=-1)
    if imaginary is None:
        return a, None
    # Those of the frequency 0 and of the greatest one of an even number are real.
    places = Tensor.arange(n // 2 + 1)
    imaginary = (places.eq(0) | (places * 2).eq(n)).where(0, imaginary)
    return a, imaginary.cat(-imaginary[..., others].flip(-1), dim=-1)


def _parts(x: Tensor) -> Pair:
    """The parts that the last axis has."""
    match x.shape[-1]:
        case 1:
            return x[..., 0], None
        case 2:
            return x[..., 0], x[..., 1]
        case count:
            raise Refused(f"the last axis has {count} parts: a number has 1 or 2")


def _dft(
    x: Tensor,
    length: Array | None = None,
    axis: Array | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
    default_axis: int = -2,
) -> Tensor:
    at = axis_of(x, default_axis if axis is None else dims(axis)[0])
    if at == x.ndim - 1:
        raise Refused("axis: the last axis has the parts of numbers")
    parts = _parts(x)
    signal: Pair = (
        parts[0].movedim(at, -1),
        None if parts[1] is None else parts[1].movedim(at, -1),
    )
    extent: Any = x.shape[at]
    n = (
        (2 * (extent - 1) if inverse and onesided else extent)
        if length is None
        else dims(length)[0]
    )
    if isinstance(n, SymInt):
        raise Refused(f"a transform of {n} elements is not supported: their number is static")
    if inverse and onesided:
        found = (_inverse(_whole(signal, n), n)[0],)
    else:
        signal = (_cut(signal[0], n), None if signal[1] is None else _cut(signal[1], n))
        found = _inverse(signal, n) if inverse else _spectrum(signal, onesided=bool(onesided))
    moved = [t.cast(x.dtype).movedim(-1, at) for t in found]
    return Tensor.stack(*moved, dim=-1)


def _stft(
    x: Tensor,
    step: Array,
    window: Tensor | None = None,
    length: Array | None = None,
    *,
    onesided: int = 1,
) -> Tensor:
    if length is not None:
        (n,) = dims(length)
    else:
        n = x.shape[1] if window is None else window.shape[0]
    if isinstance(n, SymInt):
        raise Refused(f"frames of {n} elements are not supported: their number is static")
    (hop,) = dims(step)

    def frames(part: Tensor | None) -> Tensor | None:
        if part is None:
            return None
        found = part.unfold(1, n, hop)
        return found if window is None else found * window

    real, imaginary = _parts(x)
    first = frames(real)
    assert first is not None
    found = _spectrum((first, frames(imaginary)), onesided=bool(onesided))
    return Tensor.stack(*(t.cast(x.dtype) for t in found), dim=-1)


def _mel_weights(
    bins: Array, length: Array, rate: Array, low: Array, high: Array, *, output_datatype: int
) -> Array:
    """Triangles between neighbouring mel frequencies, over the bins of a spectrum."""
    count, n = dims(bins)[0], dims(length)[0]
    if isinstance(count, SymInt) or isinstance(n, SymInt):
        raise Refused("num_mel_bins and dft_length are static")

    def mel(frequency: Array) -> float:
        return 2595 * np.log10(1 + np.float64(frequency.reshape(())) / 700)

    step = (mel(high) - mel(low)) / (count + 2)
    mels = mel(low) + np.arange(count + 2) * step
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = ((n + 1) * hertz // int(rate.reshape(()))).astype(np.int64)
    left, center, right = edges[:-2], edges[1:-1], edges[2:]
    cell = np.arange(n // 2 + 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = (cell - left) / (center - left)
        falling = (right - cell) / (right - center)
    found = np.where((cell >= left) & (cell <= center), rising, 0)
    found = np.where((left == center) & (cell == center), 1, found)
    found = np.where((cell >= center) & (cell < right), falling, found)
    return found.astype(numpy_dtype(dtype_of(output_datatype)))


RULES: Rules = {
    "DFT": {
        17: known(lambda x, n=None, *, axis, **more: _dft(x, n, default_axis=axis, **more), 1),
        20: known(_dft, 1, 2),
    },
    "Det": {11: Tensor.det},
    "MelWeightMatrix": {17: known(_mel_weights, 0, 1, 2, 3, 4)},
    "STFT": {17: known(_stft, 1, 3)},
}
