"""Numbers and arrays of every dtype, with those among them where arithmetic goes wrong."""

from __future__ import annotations

import math

import numpy as np
from expression import Array
from xdsl.ir import Attribute

from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import DTYPES, DType, round_to


def interesting_numbers(dtype: DType) -> list[int | float]:
    """Numbers of a dtype where arithmetic goes wrong, the simplest first."""
    if dtype.is_bool:
        return [0, 1]
    if not dtype.is_float:
        numbers = [
            0,
            1,
            2,
            3,
            5,
            7,
            dtype.bits - 1,
            dtype.bits,
            int(dtype.high),
            int(dtype.high) - 1,
        ]
        return numbers if dtype.low == 0 else [*numbers, -1, -2, -3, int(dtype.low)]
    tiny = 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    numbers = [0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.5, 0.1, -0.0, 100.0, 1e5]
    numbers += [dtype.max_finite, -dtype.max_finite, 2.0**dtype.min_exponent, tiny, -tiny, math.nan]
    if math.isinf(dtype.high):
        numbers += [math.inf, -math.inf]
    rounded = [round_to(dtype, n) for n in numbers]
    return [r for n, r in zip(numbers, rounded, strict=True) if n != n or r == r]


def random_array(dtype: Attribute, shape: tuple[int, ...], seed: int) -> Array:
    """Values of a dtype: small, of every magnitude, or interesting."""
    row = DTYPES[dtype]
    rng = np.random.default_rng(seed)
    special = np.array(interesting_numbers(row), np.float64 if row.is_float else object)
    chosen = special[rng.integers(0, len(special), shape)]
    if row.is_bool:
        values = rng.integers(0, 2, shape)
    elif row.is_float:
        small = rng.integers(-4, 5, shape) * 0.5
        with np.errstate(all="ignore"):
            normal = rng.standard_normal(shape) * 2.0 ** rng.integers(-8, 9, shape)
        values = np.choose(rng.integers(0, 3, shape), [small, normal, chosen])
    else:
        low = np.maximum(-8, int(row.low))
        small = rng.integers(low, 9, shape).astype(object)
        wide = rng.integers(int(row.low), int(row.high), shape, numpy_dtype(row), endpoint=True)
        choice = rng.integers(0, 3, shape)
        values = np.where(choice == 0, small, np.where(choice == 1, wide.astype(object), chosen))
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(numpy_dtype(row))
