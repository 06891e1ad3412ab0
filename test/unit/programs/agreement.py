"""Whether two executors agree: to the bit, to some ulps, or as a free order of REDUCE allows.

NaNs are equal to each other whatever their payload.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from expression import Array
from random_programs import Output, Reduction

from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import DType


def differences(outputs: Sequence[Output], a: Sequence[Array], b: Sequence[Array]) -> list[str]:
    """What is wrong, a line for each result; nothing if all is right. `a` is the oracle."""
    if len(a) != len(outputs) or len(b) != len(outputs):
        return [f"{len(outputs)} results, got {len(a)} and {len(b)}"]
    wrong: list[str] = []
    for position, (output, x, y) in enumerate(zip(outputs, a, b, strict=True)):
        dtype = output.value.row
        if not x.dtype == y.dtype == numpy_dtype(dtype) or x.shape != y.shape:
            wrong.append(f"result {position} is {x.dtype}{x.shape} and {y.dtype}{y.shape}")
        elif x.shape != output.value.shape:
            wrong.append(f"result {position} has shape {x.shape}, not {output.value.shape}")
        elif not np.all(_agree(output, a, x, y)):
            wrong.append(f"result {position} differs:\n{x!r}\n{y!r}")
    return wrong


def identical(x: Array, y: Array) -> bool:
    """Whether two arrays have the same bits, but for those of NaNs."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    with np.errstate(invalid="ignore"):
        same_bits = x.view(np.uint8) == y.view(np.uint8) if x.dtype.itemsize == 1 else None
        if same_bits is None:
            same_bits = _distance(x, y) == 0
        return bool(np.all(same_bits | ((x != x) & (y != y))))


def _agree(output: Output, results: Sequence[Array], x: Array, y: Array) -> Array:
    dtype = output.value.row
    if not dtype.is_float:
        return x == y
    # ml_dtypes flags NaN in fp8 as an invalid operation.
    with np.errstate(invalid="ignore"):
        nan_x, nan_y = np.isnan(x), np.isnan(y)
    both_nan = nan_x & nan_y
    if output.reduction is not None:
        source = results[output.reduction.source]
        return both_nan | _reductions_agree(output.reduction, dtype, source, x, y)
    return both_nan | (_distance(x, y) <= output.value.ulps) & (nan_x == nan_y)


def _distance(x: Array, y: Array) -> Array:
    """How many floats lie between: the difference of the bits as sign-magnitude integers.

    -0 and +0 are one apart.
    """

    def ordered(a: Array) -> Array:
        bits = np.array(a, order="C").view(f"i{a.dtype.itemsize}").astype(object)
        low = -(1 << (8 * a.dtype.itemsize - 1))
        return np.where(bits < 0, low - bits - 1, bits)

    return np.abs(ordered(x) - ordered(y))


def _reductions_agree(
    reduction: Reduction, dtype: DType, source: Array, x: Array, y: Array
) -> Array:
    """Whether two sums or products are the same up to the rounding of their terms in any order.

    Where an order can overflow or underflow and another not, anything goes.
    """
    wide = source.astype(np.float64)
    count = wide.size // max(x.size, 1)
    accumulator = np.finfo(np.float64 if dtype.bits == 64 else np.float32)
    largest = min(dtype.max_finite, float(accumulator.max))
    magnitudes = np.abs(np.where(np.isfinite(wide), wide, 1.0))
    axes = reduction.axes
    with np.errstate(all="ignore"):
        if reduction.kind is ReduceKind.ADD:
            scale = magnitudes.sum(axes, keepdims=True)
            free = scale > largest / 4
        else:
            greatest = np.maximum(magnitudes, 1).prod(axes, keepdims=True)
            least = np.minimum(magnitudes, 1).prod(axes, keepdims=True)
            scale = np.abs(x.astype(np.float64))
            free = (greatest > largest / 4) | (least < 2.0**dtype.min_exponent)
        ulp = 2.0 ** (1 - dtype.precision)
        smallest = 2.0 ** (dtype.min_exponent - dtype.precision + 1)
        tolerance = (count + 1) * float(accumulator.eps) * scale + ulp * np.abs(x) + smallest
        x64, y64 = x.astype(np.float64), y.astype(np.float64)
        return free | (x64 == y64) | (np.abs(x64 - y64) <= tolerance)
