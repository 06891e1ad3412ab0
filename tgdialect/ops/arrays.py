"""Arrays of the dialect's dtypes: the NumPy dtype of each, and exact conversions between them.

NumPy has no bfloat16 and no fp8; they are from `ml_dtypes`. Arithmetic on these and on f16 is done
in f32 and rounded once, so nothing here computes in them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tgdialect.ops.dtypes import DTYPES, DType
from tgdialect.ops.numpy_dtypes import NUMPY_NAMES, Array, dtype_named
from tgdialect.ops.properties import dtype_of


class _NumpyDTypes(dict[str, np.dtype[Any]]):
    """Finds a dtype when it is first used: most programs have none of `ml_dtypes`."""

    def __missing__(self, name: str) -> np.dtype[Any]:
        self[name] = found = dtype_named(NUMPY_NAMES[name])
        return found


NUMPY_DTYPES = _NumpyDTypes()
"""NumPy's dtypes, by the names of the dialect's."""

FLOAT32: np.dtype[Any] = np.dtype(np.float32)
FLOAT64: np.dtype[Any] = np.dtype(np.float64)


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of a row of the dtype table."""
    return NUMPY_DTYPES[dtype.name]


def numpy_dtype_of(value: SSAValue) -> np.dtype[Any]:
    """The NumPy dtype of a value's elements."""
    return NUMPY_DTYPES[dtype_of(value).name]


def compute_dtype(dtype: DType) -> np.dtype[Any]:
    """The dtype of arithmetic: f32 for narrower floats, else the dtype itself."""
    return FLOAT32 if dtype.is_float and dtype.bits < 32 else numpy_dtype(dtype)


def convert(data: Array, source: DType, target: DType) -> Array:
    """CAST: to bool `!= 0`; float to integer truncates, saturates, NaN to 0; integers wrap.

    A conversion to a float rounds once, to nearest even, from any dtype.
    """
    if source == target:
        return data
    if target.is_bool:
        return np.not_equal(_exact(data, source), 0)
    if target.is_float:
        return round_once(data, source, target)
    if source.is_float:
        return _saturate(_exact(data, source).astype(FLOAT64), target)
    return data.astype(numpy_dtype(target))


def _exact(data: Array, dtype: DType) -> Array:
    """A narrow float as f32, which is exact; other dtypes unchanged."""
    return data.astype(compute_dtype(dtype), copy=False)


def _saturate(x: Array, target: DType) -> Array:
    """An f64 array to an integer dtype: truncate, saturate, NaN to 0."""
    low, high = int(target.low), int(target.high)
    # high + 1 is a power of two and so exact in f64, which high itself may not be.
    too_great, too_small = x >= float(high + 1), x <= float(low)
    inside = np.where(too_great | too_small | np.isnan(x), 0.0, x)
    result = inside.astype(numpy_dtype(target))
    result = np.where(too_great, numpy_dtype(target).type(high), result)
    return np.where(too_small, numpy_dtype(target).type(low), result)


def round_once(data: Array, source: DType, target: DType) -> Array:
    """A conversion to a float dtype with one rounding.

    NumPy and ml_dtypes convert to narrow floats by way of f32, which rounds twice. If the first
    rounding is to odd, the result is still correctly rounded (Boldo and Melquiond, "Emulation of
    FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
    """
    to = numpy_dtype(target)
    if target.bits >= 32:
        return _exact(data, source).astype(to)
    exact_in_f32 = source.bits <= 16 or source.name == "f32"
    wide = data.astype(FLOAT32) if exact_in_f32 else _f32_to_odd(_f64_to_odd(data, source))
    return narrowed(wide, to)


_WITHOUT_INFINITY = {
    NUMPY_NAMES[dtype.name]: dtype.max_finite
    for dtype in DTYPES.values()
    if dtype.is_float and not math.isinf(dtype.high)
}


def narrowed(x: Array, dtype: np.dtype[Any]) -> Array:
    """Floats rounded to a dtype. What is too great for a dtype without infinities becomes its
    greatest number, which `astype` makes NaN."""
    if (greatest := _WITHOUT_INFINITY.get(dtype.name)) is not None and x.dtype != dtype:
        x = np.clip(x, -greatest, greatest)
    return np.asarray(x).astype(dtype, copy=False)


def _f64_to_odd(data: Array, source: DType) -> Array:
    """64-bit integers, with the low bits that f64 cannot hold combined into one sticky bit."""
    if source.is_float or source.bits < 64:
        return data.astype(FLOAT64)
    # From 2^53 on, up to 11 low bits are below the last bit of f64.
    eleven = data.dtype.type(11)
    high = (data >> eleven) << eleven
    sticky = high | ((data != high).astype(data.dtype) << eleven)
    limit = data.dtype.type(2**53)
    small = data < limit if not source.low else (data < limit) & (data > -limit)
    return np.where(small, data, sticky).astype(FLOAT64)


def _f32_to_odd(x: Array) -> Array:
    """f64 to f32, rounded to odd: an inexact result is the neighbour whose last bit is 1."""
    nearest = np.asarray(x.astype(FLOAT32))
    inexact = (nearest.astype(FLOAT64) != x) & np.isfinite(x)
    outward = inexact & (np.abs(nearest.astype(FLOAT64)) > np.abs(x))
    toward_zero = np.where(outward, np.nextafter(nearest, np.float32(0)), nearest)
    bits = np.asarray(toward_zero).view(np.uint32) | inexact.astype(np.uint32)
    return bits.view(np.float32)
