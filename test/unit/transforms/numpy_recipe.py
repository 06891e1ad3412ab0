"""Recipes carried out on NumPy arrays, and the distance of a result from the exact one in ulp."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from tgdialect.transforms.recipe import Dtype, Primitive, Value

Array = np.ndarray[Any, Any]

DTYPES = {
    "i1": np.bool_,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
}
WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}


class NumpyTarget:
    """Computes; `fused` says whether mulacc rounds once. `counts` are the primitives applied."""

    def __init__(self, fused: bool = False):
        self.fused = fused
        self.counts: Counter[str] = Counter()

    def constant(self, value: int | float, dtype: Dtype) -> Array:
        result = np.array(value, DTYPES[dtype])
        assert np.isnan(result) or result == value, f"{value} is not exact in {dtype}"
        return result

    def apply(self, primitive: Primitive, operands: tuple[Array, ...], dtype: Dtype) -> Array:
        self.counts[primitive] += 1
        result = self.compute(primitive, operands, DTYPES[dtype])
        assert result.dtype == DTYPES[dtype], f"{primitive}: {result.dtype}, not {dtype}"
        return result

    def compute(self, primitive: Primitive, operands: tuple[Array, ...], dtype: Any) -> Array:
        a, *rest = operands
        if primitive == "cast":
            assert a.dtype.kind != "f", "casts of floats to integers saturate; NumPy's do not"
            return a.astype(dtype)
        if primitive == "bitcast":
            assert a.dtype.itemsize == np.dtype(dtype).itemsize
            return a.view(dtype)
        if primitive == "mulacc":
            b, c = rest
            if not self.fused:
                return a * b + c
            wide = WIDER[a.dtype]
            return (a.astype(wide) * b + c).astype(a.dtype)
        if primitive in ("shl", "shr"):
            count = rest[0]
            assert np.all((count >= 0) & (count < a.dtype.itemsize * 8)), "count past the width"
            shift = np.left_shift if primitive == "shl" else np.right_shift
            return shift(a, count.astype(a.dtype))
        return FUNCTIONS[primitive](*operands)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "recip": lambda a: a.dtype.type(1) / a,
    "trunc": np.trunc,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "cmplt": np.less,
    "cmpeq": np.equal,
    "cmpne": np.not_equal,
    "not": np.logical_not,
    "where": np.where,
}


def carry_out(
    recipe: Callable[..., Value[Array]], *arrays: Array, fused: bool = False
) -> tuple[Array, Counter[str]]:
    """What the recipe makes of the arrays, and how often it applied each primitive."""
    names = {np.dtype(v): k for k, v in DTYPES.items()}
    target = NumpyTarget(fused)
    with np.errstate(all="ignore"):
        result = recipe(*(Value(target, a, names[a.dtype]) for a in arrays))
    return result.handle, target.counts


def ulp_distance(result: Array, exact: Array) -> Array:
    """|result - exact| in units of the last place that `exact` has in the format of `result`.

    `exact` is of a wider format. Infinite where one is NaN or infinite and the other is not what
    it rounds to; signs of zeros count.
    """
    with np.errstate(all="ignore"):
        rounded = exact.astype(result.dtype)
        info = np.finfo(result.dtype)
        size = np.abs(exact)
        size = np.clip(size, info.smallest_normal, info.max).astype(result.dtype)
        ulp = np.spacing(size).astype(exact.dtype)
        # A mantissa that rounding carried into the next binade has the ulp of the lower one.
        ulp = np.where(size.astype(exact.dtype) > np.maximum(np.abs(exact), info.smallest_normal),
                       np.spacing(np.nextafter(size, result.dtype.type(0))).astype(exact.dtype), ulp)
        error = np.abs(result.astype(exact.dtype) - exact) / ulp
        # Overflow: within reach of the threshold, inf and the greatest number are neighbours.
        beyond = np.isinf(rounded) & np.isfinite(exact) & np.isfinite(result)
        error = np.where(beyond, (np.abs(exact) - np.abs(result.astype(exact.dtype))) / ulp, error)
        near = np.isinf(result) & np.isfinite(exact)
        limit = np.ldexp(exact.dtype.type(1), info.maxexp)
        error = np.where(near, np.maximum(limit - np.abs(exact), 0) / ulp, error)
        same = np.isnan(result) & np.isnan(exact) | (np.isinf(exact) & (result == exact))
        error = np.where(same, 0, error)
        zero = (exact == 0) & (result == 0) & (np.signbit(exact) != np.signbit(result))
        wrong_sign = (np.signbit(exact) != np.signbit(result)) & ~np.isnan(exact)
        return np.where(zero | wrong_sign | np.isnan(error), np.inf, error)
