"""Rows of the table that are not of products or networks of these alone: loops over steps, images
that are resized, counts, spectra, short floats, and tables that are looked up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.workload import Array, Workload, f32_bytes, unary, with_weights

# -- recurrent layers ------------------------------------------------------------------------------

_STEPS, _BATCH, _INPUTS, _HIDDEN = 100, 16, 128, 256


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _lstm_step(given: Any, state: Any, weight: Any, sigmoid: Any, tanh: Any) -> tuple[Any, Any]:
    """The output and the cell state after a step; gates are in PyTorch's order."""
    hidden, cell = state
    gates = given + hidden @ weight.T
    i, f, g, o = (gates[:, k * _HIDDEN : (k + 1) * _HIDDEN] for k in range(4))
    cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(cell), cell


def _unrolled(x: Any, first: tuple[Any, Any], step: Callable[..., tuple[Any, Any]]) -> list[Any]:
    outputs: list[Any] = []
    for given in x:
        first = step(given, first)
        outputs.append(first[0])
    return outputs


def _lstm(x: Any, weight: Any, recurrent: Any) -> Any:
    """As a scan in our words; tinygrad has no loop in a program, so that it is unrolled there."""

    def step(given: Any, state: Any) -> tuple[Any, Any]:
        return _lstm_step(given, state, recurrent, lambda v: v.sigmoid(), lambda v: v.tanh())

    inputs = x @ weight.T
    first = x.zeros(_BATCH, _HIDDEN), x.zeros(_BATCH, _HIDDEN)
    if type(x).__module__.startswith("tinygrad"):
        steps = _unrolled([inputs[i] for i in range(_STEPS)], first, step)
        return steps[0].stack(*steps[1:])
    from tgdialect import scan

    def ours(state: Any, given: Any) -> tuple[Any, Any]:
        new = step(given, state)
        return new, new[0]

    return scan(ours, first, inputs)[1]


def _torch_lstm(torch: Any, x: Any, weight: Any, recurrent: Any) -> Any:
    zeros = torch.zeros(1, _BATCH, _HIDDEN)
    flags = False, 1, 0.0, False, False, False
    return torch.lstm(x, (zeros, zeros), [weight, recurrent], *flags)[0]


def _jax_lstm(jax: Any, jnp: Any, x: Any, weight: Any, recurrent: Any) -> Any:
    def step(state: Any, given: Any) -> tuple[Any, Any]:
        new = _lstm_step(given, state, recurrent, jax.nn.sigmoid, jnp.tanh)
        return new, new[0]

    zeros = jnp.zeros((_BATCH, _HIDDEN))
    return jax.lax.scan(step, (zeros, zeros), x @ weight.T)[1]


def _numpy_lstm(x: Array, weight: Array, recurrent: Array) -> Array:
    def step(given: Array, state: Any) -> tuple[Array, Array]:
        return _lstm_step(given, state, recurrent, _sigmoid, np.tanh)

    zeros = np.zeros((_BATCH, _HIDDEN), x.dtype)
    return np.stack(_unrolled(x @ weight.T, (zeros, zeros), step))


_LSTM = ((_STEPS, _BATCH, _INPUTS), (4 * _HIDDEN, _INPUTS), (4 * _HIDDEN, _HIDDEN))

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


def _dlrm(
    dense: Any, rows: Any, *rest: Any, relu: Any, sigmoid: Any, stack: Any, cat: Any, turned: Any
) -> Any:
    """Dense features through two layers, rows of tables, the products of each pair of these, and
    two layers on top (Naumov et al., 2019)."""
    *weights, pairs = rest
    bottom, top, tables = weights[:2], weights[2:4], weights[4:]
    for weight in bottom:
        dense = relu(dense @ weight)
    every = stack([dense, *(table[rows[i]] for i, table in enumerate(tables))])
    products = (every @ turned(every)).reshape((_SAMPLES, -1))[:, pairs]
    return sigmoid(relu(cat([dense, products]) @ top[0]) @ top[1])


def _dlrm_inputs(normal: list[Array]) -> list[Array]:
    dense, rows, *weights, _ = normal
    scaled = with_weights([dense, *weights[:4]])[1:]
    indices = (np.abs(rows) * _ROWS).astype(np.int64) % _ROWS
    return [dense, indices, *scaled, *weights[4:], _PAIRS]


# -- short floats ----------------------------------------------------------------------------------

_MLP = ((256, 784), (784, 512), (512, 512), (512, 10))


def _mlp(x: Any, weights: Sequence[Any], relu: Any) -> Any:
    for weight in weights[:-1]:
        x = relu(x @ weight)
    return x @ weights[-1]


def _rounded(normal: list[Array]) -> list[Array]:
    """Weights of a network, all of numbers that bf16 has: the upper half of their bits."""
    bits = (x.view(np.uint32) & np.uint32(0xFFFF0000) for x in with_weights(normal))
    return [x.view(np.float32) for x in bits]


PROGRAMS: Sequence[Workload] = (
    Workload(
        f"lstm of {_STEPS} steps {_BATCH}x{_HIDDEN}",
        _LSTM,
        _lstm,
        _torch_lstm,
        _numpy_lstm,
        _jax_lstm,
        2 * _STEPS * _BATCH * 4 * _HIDDEN * (_INPUTS + _HIDDEN),
        f32_bytes(*_LSTM, (_STEPS, _BATCH, _HIDDEN)),
        prepared=lambda arrays: [
            arrays[0],
            *((w / math.sqrt(w.shape[1])).astype(np.float32) for w in arrays[1:]),
        ],
    ),
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
    Workload(
        "bf16 mlp 256x784-512-512-10",
        _MLP,
        lambda x, *w: _mlp(x, w, lambda v: v.relu()).float(),
        lambda torch, x, *w: _mlp(x, w, torch.relu).float(),
        lambda x, *w: _mlp(x, w, lambda v: np.maximum(v, 0)),
        lambda jax, jnp, x, *w: _mlp(x, w, jax.nn.relu).astype(jnp.float32),
        2 * 256 * (784 * 512 + 512 * 512 + 512 * 10),
        f32_bytes(*_MLP, (256, 10)) // 2,
        prepared=_rounded,
        has_weights=True,
        dtype="bf16",
    ),
    Workload(
        f"dlrm {_SAMPLES} of {_TABLES} tables",
        _DLRM,
        lambda *x: _dlrm(
            *x,
            relu=lambda v: v.relu(),
            sigmoid=lambda v: v.sigmoid(),
            stack=lambda v: v[0].stack(*v[1:], dim=1),
            cat=lambda v: v[0].cat(*v[1:], dim=1),
            turned=lambda v: v.transpose(1, 2),
        ),
        lambda torch, *x: _dlrm(
            *x,
            relu=torch.relu,
            sigmoid=torch.sigmoid,
            stack=lambda v: torch.stack(v, 1),
            cat=lambda v: torch.cat(v, 1),
            turned=lambda v: v.transpose(1, 2),
        ),
        lambda *x: _dlrm(
            *x,
            relu=lambda v: np.maximum(v, 0),
            sigmoid=_sigmoid,
            stack=lambda v: np.stack(v, 1),
            cat=lambda v: np.concatenate(v, 1),
            turned=lambda v: v.swapaxes(1, 2),
        ),
        lambda jax, jnp, *x: _dlrm(
            *x,
            relu=jax.nn.relu,
            sigmoid=jax.nn.sigmoid,
            stack=lambda v: jnp.stack(v, 1),
            cat=lambda v: jnp.concatenate(v, 1),
            turned=lambda v: v.swapaxes(1, 2),
        ),
        2 * _SAMPLES * (13 * 128 + 128 * 64 + (_TABLES + 1) ** 2 * _FEATURES + 100 * 128 + 128),
        f32_bytes((_SAMPLES, 13), (_TABLES, _SAMPLES, _FEATURES)),
        prepared=_dlrm_inputs,
    ),
)
