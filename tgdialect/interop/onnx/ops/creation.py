"""Constants, ranges, random numbers."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.symbolic import Dim, SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant
from tgdialect.interop.onnx.dtypes import carried, cast, dtype_of, element_type
from tgdialect.interop.onnx.rules import NodeCall, Rules, known, raw
from tgdialect.interop.onnx.values import Narrow, Refused, Value, as_tensor, dims
from tgdialect.ops.numpy_dtypes import Array

_DTYPES = {"value_int": np.int64, "value_ints": np.int64} | {
    "value_float": np.float32,
    "value_floats": np.float32,
}

MOST_KNOWN = 4096
"""The most elements of a constant that is made as a known value, on which arithmetic is folded."""


def _constant(_: NodeCall, **attributes: Any) -> Array:
    ((name, value),) = attributes.items()
    if name in ("value", "sparse_value"):
        return value
    if name not in _DTYPES:
        raise Refused("strings are not supported")
    return np.array(value, _DTYPES[name])


def _constant_of_shape(shape: Array, *, value: Array | None = None) -> Value:
    """One value in every cell: a known value if it is small."""
    one = np.zeros(1, np.float32) if value is None else value.reshape(1)
    extents = dims(shape)
    if all(isinstance(d, int) for d in extents) and math.prod(extents) <= MOST_KNOWN:
        return np.full([int(d) for d in extents], one[0], one.dtype)
    cell = carried(one)
    if isinstance(cell, Narrow):
        found = cell.tensor.reshape((1,) * len(extents)).expand(extents)
        return Narrow(found, cell.element_type)
    return Tensor.full(extents, one.item(), dtype=cell.dtype)


def _range(start: Array, limit: Array, delta: Array, **_: int) -> Value:
    ends = [array.item() for array in (start, limit, delta)]
    if any(isinstance(end, SymInt) for end in ends):
        return Tensor.arange(*ends, dtype=dtypes.int64)
    if ends[2] == 0:
        raise Refused("delta is 0")
    dtype = start.dtype
    if dtype.kind not in "iu":
        first, last, step = (np.float64(end) for end in ends)
        with np.errstate(all="ignore"):
            steps = (last - first) / step
        if not np.isfinite(steps):
            raise Refused(f"{first} to {last} by {step} has no number of elements")
        count = max(math.ceil(steps), 0)
        if count <= MOST_KNOWN:
            return (first + np.arange(count) * step).astype(dtype)
        found = _line(count).cast(dtypes.float64) * float(step) + float(first)
        return found.cast(dtypes.to_dtype(dtype))
    count = len(range(*map(int, ends)))
    if count <= MOST_KNOWN:
        return np.arange(*ends, dtype=dtype)
    return Tensor.arange(*map(int, ends), dtype=dtype)


def _eye_like(_: NodeCall, like: Value, *, k: int = 0, dtype: int | None = None) -> Value:
    given = carried(like)
    rows, columns = given.shape
    found = _line(rows).unsqueeze(1).eq(_line(columns) - k)
    return cast(found, dtype or element_type(given))


def _line(extent: Any) -> Tensor:
    return Tensor.arange(extent, dtype=dtypes.int64)


def _is_static(shape: Sequence[Dim]) -> bool:
    return all(isinstance(d, int) for d in shape)


def uniform(shape: Sequence[Dim], seed: float | None) -> Tensor:
    """Random numbers in [0, 1). With a seed they are the same in each call: those of NumPy, as in
    the reference implementation. Else each call has others."""
    return Tensor.rand(*shape) if seed is None else _of_numpy("uniform", shape, seed)


def _normal(shape: Sequence[Dim], seed: float | None) -> Tensor:
    return Tensor.randn(*shape) if seed is None else _of_numpy("standard_normal", shape, seed)


def _of_numpy(name: str, shape: Sequence[Dim], seed: float) -> Tensor:
    if not _is_static(shape):
        raise Refused("with a seed the shape is static: leave out the attribute seed")
    generator = np.random.RandomState(int(seed) % 2**32)
    return constant(np.asarray(getattr(generator, name)(size=tuple(shape))))


def _random_uniform(
    shape: Sequence[Dim], dtype: int, *, low: float, high: float, seed: float | None = None
) -> Value:
    return cast(uniform(shape, seed) * (high - low) + low, dtype)


def _random_normal(
    shape: Sequence[Dim], dtype: int, *, mean: float, scale: float, seed: float | None = None
) -> Value:
    return cast(_normal(shape, seed) * scale + mean, dtype)


def _random(make: Any) -> Any:
    return raw(lambda _, *, shape, dtype=1, **attributes: make(shape, dtype, **attributes))


def _random_like(make: Any) -> Any:
    def rule(_: NodeCall, like: Value, *, dtype: int | None = None, **attributes: Any) -> Value:
        given = carried(like)
        return make(given.shape, dtype or element_type(given), **attributes)

    return raw(rule)


def _bernoulli(
    _: NodeCall, x: Value, *, dtype: int | None = None, seed: float | None = None
) -> Value:
    odds = as_tensor(x)
    return cast(uniform(odds.shape, seed) < odds, dtype or element_type(odds))


def _multinomial(
    x: Tensor, *, sample_size: int = 1, dtype: int = 6, seed: float | None = None
) -> Tensor:
    """Classes, drawn with the exponentials of a row as weights."""
    running = x.cast(dtypes.float64).softmax(-1).cumsum(-1)
    share = running / running[:, -1:]
    drawn = uniform((x.shape[0], sample_size, 1), seed)
    return (drawn >= share.unsqueeze(1)).sum(-1).cast(dtype_of(dtype))


RULES: Rules = {
    "Bernoulli": {15: raw(_bernoulli)},
    "Constant": {1: raw(_constant)},
    "ConstantOfShape": {9: known(_constant_of_shape, 0)},
    "EyeLike": {9: raw(_eye_like)},
    "Multinomial": {7: _multinomial},
    "RandomNormal": {1: _random(_random_normal)},
    "RandomNormalLike": {1: _random_like(_random_normal)},
    "RandomUniform": {1: _random(_random_uniform)},
    "RandomUniformLike": {1: _random_like(_random_uniform)},
    "Range": {11: known(_range, 0, 1, 2)},
}
