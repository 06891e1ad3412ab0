"""Rows of the table that are not of products or networks of these alone: images that are resized,
counts, spectra, short floats, and tables that are looked up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.words import told
from bench.workload import Array, Workload, f32_bytes, unary, with_weights

# -- images ----------------------------------------------------------------------------------------

_IMAGE, _TIMES = (1, 64, 56, 56), 2


def _resized(x: Array, cubic: bool) -> Array:
    """An image of twice the size: the rows and columns of a matrix of weights for each axis."""
    weights = _weights(x.shape[-1], cubic)
    return np.einsum("oi,bcij,pj->bcop", weights, x, weights, optimize=True)


def _weights(extent: int, cubic: bool) -> Array:
    """The weights of old cells in new ones, as PyTorch has them without aligned corners."""
    at = (np.arange(_TIMES * extent) + 0.5) / _TIMES - 0.5
    if not cubic:
        at = np.maximum(at, 0)
    weights = np.zeros((_TIMES * extent, extent))
    for tap in range(-1, 3) if cubic else range(2):
        cells = np.floor(at).astype(int) + tap
        distance = np.abs(at - cells)
        near = (1.25 * distance - 2.25) * distance**2 + 1
        far = ((-0.75 * distance + 3.75) * distance - 6) * distance + 3
        weight = np.where(distance <= 1, near, far) if cubic else 1 - distance
        np.add.at(weights, (np.arange(len(at)), np.clip(cells, 0, extent - 1)), weight)
    return weights


def _interpolation(mode: str, method: str) -> Workload:
    size = tuple(_TIMES * n for n in _IMAGE[2:])
    return unary(
        *(f"{mode} 64x56x56 to 112x112", _IMAGE, 16 if mode == "bicubic" else 8),
        lambda x: x.interpolate(size, mode=mode),
        lambda torch, x: torch.nn.functional.interpolate(x, size, mode=mode, align_corners=False),
        lambda x: _resized(x, mode == "bicubic"),
        lambda jax, jnp, x: _jax_resized(jax, jnp, x, size, method),
        out=(*_IMAGE[:2], *size),
    )


def _jax_resized(jax: Any, jnp: Any, x: Any, size: tuple[int, ...], method: str) -> Any:
    """JAX's own resizing; its cubic kernel is another one, so that rows of PyTorch's are used."""
    if method != "cubic":
        return jax.image.resize(x, (*x.shape[:2], *size), method, antialias=False)
    weights = jnp.asarray(_weights(x.shape[-1], True), x.dtype)
    return jnp.einsum("oi,bcij,pj->bcop", weights, x, weights)


# -- signals ---------------------------------------------------------------------------------------

_SIGNAL, _WINDOW, _HOP = (16, 16000), 512, 128
_HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)).astype(np.float32)
_FRAMES = (_SIGNAL[1] - _WINDOW) // _HOP + 1


def _spectrum(x: Any, window: Any) -> Any:
    pairs = x.stft(_WINDOW, _HOP, window=window, center=False)
    return (pairs * pairs).sum(-1).sqrt()


def _numpy_spectrum(x: Array, window: Array) -> Array:
    frames = np.lib.stride_tricks.sliding_window_view(x, _WINDOW, axis=-1)[:, ::_HOP]
    return np.abs(np.fft.rfft(frames * window)).swapaxes(-1, -2)


def _jax_spectrum(jax: Any, jnp: Any, x: Any, window: Any) -> Any:
    starts = _HOP * jnp.arange(_FRAMES)[:, None] + jnp.arange(_WINDOW)
    return jnp.abs(jnp.fft.rfft(x[:, starts] * window)).swapaxes(-1, -2)


# -- recommendations -------------------------------------------------------------------------------

_TABLES, _ROWS, _FEATURES, _SAMPLES = 8, 10_000, 64, 512
_PAIRS = np.flatnonzero(np.triu(np.ones((_TABLES + 1,) * 2), 1)).astype(np.int64)
_DLRM = (
    (_SAMPLES, 13),
    (_TABLES, _SAMPLES),
    *((13, 128), (128, _FEATURES)),
    *((_FEATURES + len(_PAIRS), 128), (128, 1)),
    *((_ROWS, _FEATURES),) * _TABLES,
    (len(_PAIRS),),
)


def _dlrm(o: Any, dense: Any, rows: Any, *rest: Any) -> Any:
    """Dense features through two layers, rows of tables, the products of each pair of these, and
    two layers on top (Naumov et al., 2019)."""
    *weights, pairs = rest
    bottom, top, tables = weights[:2], weights[2:4], weights[4:]
    for weight in bottom:
        dense = o.relu(dense @ weight)
    every = o.stack([dense, *(table[rows[i]] for i, table in enumerate(tables))], 1)
    products = (every @ o.swapped(every)).reshape((_SAMPLES, -1))[:, pairs]
    return o.sigmoid(o.relu(o.cat([dense, products], 1) @ top[0]) @ top[1])


def _dlrm_inputs(normal: list[Array]) -> list[Array]:
    dense, rows, *weights, _ = normal
    scaled = with_weights([dense, *weights[:4]])[1:]
    indices = (np.abs(rows) * _ROWS).astype(np.int64) % _ROWS
    return [dense, indices, *scaled, *weights[4:], _PAIRS]


# -- short floats ----------------------------------------------------------------------------------

_MLP = ((256, 784), (784, 512), (512, 512), (512, 10))


def _mlp(o: Any, x: Any, *weights: Any) -> Any:
    for weight in weights[:-1]:
        x = o.relu(x @ weight)
    return o.wide(x @ weights[-1])


def _rounded(normal: list[Array]) -> list[Array]:
    """Weights of a network, all of numbers that bf16 has: the upper half of their bits."""
    bits = (x.view(np.uint32) & np.uint32(0xFFFF0000) for x in with_weights(normal))
    return [x.view(np.float32) for x in bits]


PROGRAMS: Sequence[Workload] = (
    _interpolation("bilinear", "linear"),
    _interpolation("bicubic", "cubic"),
    Workload(
        "bincount 10^6 in 1000",
        ((10**6,),),
        lambda x: x.bincount(size=1000),
        lambda torch, x: torch.bincount(x, minlength=1000),
        lambda x: np.bincount(x, minlength=1000),
        lambda jax, jnp, x: jnp.bincount(x, length=1000),
        10**6,
        8 * 10**6,
        "read",
        lambda arrays: [(np.abs(arrays[0]) * 997).astype(np.int64) % 1000],
    ),
    Workload(
        f"spectrum {_SIGNAL[0]}x{_SIGNAL[1]} by {_WINDOW}",
        (_SIGNAL, (_WINDOW,)),
        _spectrum,
        lambda torch, x, w: torch.stft(
            x, _WINDOW, _HOP, window=w, center=False, return_complex=True
        ).abs(),
        _numpy_spectrum,
        _jax_spectrum,
        round(2.5 * _SIGNAL[0] * _FRAMES * _WINDOW * math.log2(_WINDOW)),
        f32_bytes(_SIGNAL, (_SIGNAL[0], _FRAMES, _WINDOW // 2 + 1)),
        prepared=lambda arrays: [arrays[0], _HANN],
    ),
    told(
        "bf16 mlp 256x784-512-512-10",
        _MLP,
        _mlp,
        2 * 256 * (784 * 512 + 512 * 512 + 512 * 10),
        (),
        bytes=f32_bytes(*_MLP, (256, 10)) // 2,
        prepared=_rounded,
        has_weights=True,
        dtype="bf16",
    ),
    told(
        "bf16 gemm 512x512x512",
        ((512, 512),) * 2,
        lambda o, a, b: o.wide(a @ b),
        2 * 512**3,
        (),
        bytes=f32_bytes(*((512, 512),) * 3) // 2,
        prepared=_rounded,
        dtype="bf16",
    ),
    told(
        f"dlrm {_SAMPLES} of {_TABLES} tables",
        _DLRM,
        _dlrm,
        2 * _SAMPLES * (13 * 128 + 128 * 64 + (_TABLES + 1) ** 2 * _FEATURES + 100 * 128 + 128),
        (),
        bytes=f32_bytes((_SAMPLES, 13), (_TABLES, _SAMPLES, _FEATURES)),
        prepared=_dlrm_inputs,
    ),
)
