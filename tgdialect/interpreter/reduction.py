"""REDUCE on arrays: identities, accumulator dtypes, and invalid cells, which are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tgdialect.interpreter.elementwise import ARITHMETIC, LOGICAL
from tgdialect.interpreter.values import MaskedArray
from tgdialect.ops import tg
from tgdialect.ops.arrays import FLOAT32, FLOAT64, numpy_dtype, round_once
from tgdialect.ops.dtypes import DTYPES, F32, DType
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import dtype_of, integers
from tgdialect.ops.reduce import identity

_UFUNCS: dict[tg.ReduceKind, np.ufunc] = {
    tg.ReduceKind.ADD: np.add,
    tg.ReduceKind.MUL: np.multiply,
    tg.ReduceKind.MAX: np.maximum,
}
_LOGICAL_UFUNCS: dict[tg.ReduceKind, Any] = {
    kind: LOGICAL[f"tg.{kind.value}"] for kind in tg.ReduceKind
}


def accumulator_dtype(kind: tg.ReduceKind, dtype: DType, *, ordered: bool) -> np.dtype[Any]:
    """The dtype of an accumulator: f32 for narrower floats, otherwise the dtype itself.

    If the order is free, every order's rounding is allowed. The interpreter then adds and
    multiplies f32 in f64, for the most precise result.
    """
    if not dtype.is_float or dtype.name == "f64":
        return numpy_dtype(dtype)
    free = not ordered and kind is not tg.ReduceKind.MAX and dtype.name == "f32"
    return FLOAT64 if free else FLOAT32


def accumulate(
    kind: tg.ReduceKind, source: MaskedArray, axes: Sequence[int], dtype: DType, *, ordered: bool
) -> Array:
    """The reduction of `source` over array axes, which become 1, in the accumulator's dtype.

    A sum begins with +0, and so is never -0.
    """
    accumulator = accumulator_dtype(kind, dtype, ordered=ordered)
    data = _filled(source, kind, dtype)
    ufunc = _LOGICAL_UFUNCS[kind] if dtype.is_bool else _UFUNCS[kind]
    in_order = ordered and dtype.is_float and kind is not tg.ReduceKind.MAX and data.size
    if in_order or not axes:
        wide = data.astype(accumulator)
        result = _in_order(ufunc, wide, axes) if axes else wide
        return result + 0 if kind is tg.ReduceKind.ADD and dtype.is_float else result
    start = np.asarray(identity(kind, dtype)).astype(accumulator)[()]
    wide = data.astype(accumulator, copy=False) if dtype.bits < 32 and dtype.is_float else data
    result = ufunc.reduce(wide, axis=tuple(axes), dtype=accumulator, keepdims=True, initial=start)
    if kind is tg.ReduceKind.MAX and dtype.is_float:
        result = _positive_zero(result, wide, tuple(axes))
    return np.asarray(result)


def _filled(source: MaskedArray, kind: tg.ReduceKind, dtype: DType) -> Array:
    """The data of an array, with the identity of a reduction in invalid cells."""
    if source.valid is None:
        return source.data
    neutral = np.asarray(identity(kind, dtype)).astype(source.data.dtype)
    return np.where(source.valid, source.data, neutral)


def _in_order(ufunc: np.ufunc, data: Array, axes: Sequence[int]) -> Array:
    """One after the other, in row-major order of the reduced axes."""
    axes = sorted(axes)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(data.shape))
    moved = np.moveaxis(data, axes, range(len(axes)))
    flat = moved.reshape((-1, *moved.shape[len(axes) :]))
    return ufunc.accumulate(flat, axis=0)[-1].reshape(kept)


def _positive_zero(result: Array, data: Array, axes: tuple[int, ...]) -> Array:
    """The maximum of zeros is +0 where one of them is; np.maximum.reduce leaves that open."""
    if not bool((result == 0).any()):
        return result
    positive = ((data == 0) & ~np.signbit(data)).any(axis=axes, keepdims=True)
    zeros = np.where(positive, 0.0, -0.0).astype(result.dtype)
    return np.where(result == 0, zeros, result)


def initial(op: tg.ReduceOp) -> Array:
    """The initial value of a REDUCE, in the accumulator's dtype."""
    kind, dtype = op.kind.data, dtype_of(op.source)
    accumulator = accumulator_dtype(kind, dtype, ordered=op.ordered is not None)
    return np.asarray(identity(kind, dtype)).astype(accumulator)


def combine(op: tg.ReduceOp, total: Array, source: MaskedArray) -> Array:
    """A total and the elements of an array over the axes of a REDUCE, one after the other.

    The shape of the result is the array's, with 1 for each axis that is reduced.
    """
    kind, dtype, axes = op.kind.data, dtype_of(op.source), integers(op, "axes")
    data = _filled(source, kind, dtype)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(data.shape))
    wide = np.moveaxis(data.astype(total.dtype), axes, range(len(axes)))
    function = (LOGICAL if dtype.is_bool else ARITHMETIC)[f"tg.{kind.value}"]
    total = np.broadcast_to(total, kept)
    for elements in wide.reshape((-1, *kept)) if data.size else ():
        total = np.asarray(function(total, elements))
    return total


def finish(accumulated: Array, dtype: DType) -> Array:
    """An accumulator rounded to the dtype of the reduction."""
    if not dtype.is_float or accumulated.dtype == numpy_dtype(dtype):
        return accumulated
    if accumulated.dtype == FLOAT64:
        return accumulated.astype(numpy_dtype(dtype))
    return round_once(accumulated, DTYPES[F32], dtype)
