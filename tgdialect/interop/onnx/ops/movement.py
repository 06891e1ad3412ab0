"""Shapes, transpositions, slices, joins and pads."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import numpy as np

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.rules import Call, Rules, known, raw
from tgdialect.interop.onnx.values import Refused, Value, dims, sizes
from tgdialect.ops.numpy_dtypes import Array


def _shape(_: Call, x: Value, *, start: int = 0, end: int | None = None) -> Array:
    if x is None or isinstance(x, list):
        raise Refused("a sequence has no shape")
    return sizes(*x.shape[start:end])


def _reshape(x: Tensor, shape: Array, *, allowzero: int = 0) -> Tensor:
    wanted = dims(shape)
    if not allowzero:
        wanted = [x.shape[i] if isinstance(d, int) and d == 0 else d for i, d in enumerate(wanted)]
    return x.reshape(wanted)


def _flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    axis = axis + x.ndim if axis < 0 else axis
    rows = columns = 1
    for extent in x.shape[:axis]:
        rows = rows * extent
    for extent in x.shape[axis:]:
        columns = columns * extent
    return x.reshape(rows, columns)


def _slice(
    x: Tensor,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Tensor:
    cut: list[slice] = [slice(None)] * x.ndim
    count = len(dims(starts))
    for axis, start, end, step in zip(
        range(count) if axes is None else dims(axes),
        dims(starts),
        dims(ends),
        [1] * count if steps is None else dims(steps),
        strict=True,
    ):
        cut[int(axis)] = slice(start, end, step)
    return x[tuple(cut)]


RULES: Rules = {
    "Concat": {4: lambda *xs, axis: Tensor.cat(*xs, dim=axis)},
    "Expand": {8: known(lambda x, shape: x * Tensor.ones(*dims(shape), dtype=x.dtype), 1)},
    "Flatten": {1: _flatten},
    "Reshape": {5: known(_reshape, 1)},
    "Shape": {1: raw(_shape)},
    "Size": {1: raw(lambda call, x: np.prod(sizes(*x.shape)))},
    "Slice": {
        1: lambda x, *, starts, ends, axes=None: _slice(
            x, np.array(starts), np.array(ends), None if axes is None else np.array(axes)
        ),
        10: known(_slice, 1, 2, 3, 4),
    },
    "Squeeze": {
        1: lambda x, *, axes=None: x.squeeze(axes),
        13: known(lambda x, axes=None: x.squeeze(None if axes is None else tuple(dims(axes))), 1),
    },
    "Transpose": {1: lambda x, *, perm=None: x.permute(perm or tuple(range(x.ndim))[::-1])},
}
