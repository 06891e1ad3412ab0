"""Recipes carried out on NumPy arrays, and the distance of a result from the exact one in ulp."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from tgdialect.transforms.recipe import Dtype, RecipeValue

Array = np.ndarray[Any, Any]

DTYPES = {
    "index": np.int64,  # before i64: an array of these is of dtype i64
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}


class NumpySemantics:
    """Computes; `fused` says whether mulacc rounds once. `counts` are the primitives applied."""

    def __init__(self, fused: bool = False):
        self.fused = fused
        self.counts: Counter[str] = Counter()

    def constant(self, value: int | float, dtype: Dtype) -> Array:
        result = np.array(value, DTYPES[dtype])
        assert np.isnan(result) or result.item() == value, f"{value} is not exact in {dtype}"
        return result

    def apply(self, primitive: str, operands: tuple[Array, ...], dtype: Dtype) -> Array:
        self.counts[primitive] += 1
        result = self.compute(primitive, operands, DTYPES[dtype])
        assert result.dtype == DTYPES[dtype], f"{primitive}: {result.dtype}, not {dtype}"
        return result

    def compute(self, primitive: str, operands: tuple[Array, ...], dtype: Any) -> Array:
        a, *rest = operands
        if primitive == "cast":
            is_to_integer = a.dtype.kind == "f" and np.issubdtype(dtype, np.integer)
            return saturated(a, dtype) if is_to_integer else a.astype(dtype)
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
    "neg": np.negative,
    "sub": np.subtract,
    "mul": np.multiply,
    "recip": lambda a: a.dtype.type(1) / a,
    "trunc": np.trunc,
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
    recipe: Callable[..., RecipeValue[Array]], *arrays: Array, fused: bool = False
) -> tuple[Array, Counter[str]]:
    """What the recipe makes of the arrays, and how often it applied each primitive."""
    names = {np.dtype(v): k for k, v in DTYPES.items()}
    semantics = NumpySemantics(fused)
    with np.errstate(all="ignore"):
        result = recipe(*(RecipeValue(semantics, a, names[a.dtype]) for a in arrays))
    return result.handle, semantics.counts


def ulp_distance(result: Array, exact: Array) -> Array:
    """|result - exact| in units of the last place that `exact` has in the format of `result`.

    `exact` is of a wider format. An infinite result counts as the power of two that follows the
    greatest number. Infinite where only one is NaN, or where the signs differ, zeros included.
    """
    info = np.finfo(result.dtype)
    one = exact.dtype.type(1)
    top = np.ldexp(one, info.maxexp)
    with np.errstate(all="ignore"):
        found, wanted = (np.clip(v.astype(exact.dtype), -top, top) for v in (result, exact))
        exponent = np.clip(np.frexp(wanted)[1], info.minexp + 1, info.maxexp)
        error = np.abs(found - wanted) / np.ldexp(one, exponent - info.nmant - 1)
        both_nan = np.isnan(found) & np.isnan(wanted)
        differ = np.isnan(error) | (np.signbit(found) != np.signbit(wanted))
    return np.where(both_nan, 0, np.where(differ, np.inf, error)).astype(np.float64)


def f32_patterns(step: int) -> Iterator[Array]:
    """Every `step`-th bit pattern of f32, in chunks."""
    for base in range(0, 1 << 32, 1 << 26):
        chunk = np.arange(base + base % step, base + (1 << 26), step, np.uint64)
        yield chunk.astype(np.uint32).view(np.float32)


def saturated(x: Array, dtype: Any) -> Array:
    """CAST of floats to integers: truncated, the nearest one beyond the range, 0 for NaN."""
    info = np.iinfo(dtype)
    least, most = x.dtype.type(info.min), x.dtype.type(info.max)
    inside = np.where((least < x) & (x < most), x, 0).astype(dtype)
    ends = np.where(x >= most, info.max, np.where(x <= least, info.min, 0)).astype(dtype)
    return np.where((least < x) & (x < most), inside, ends)


def random_patterns(dtype: Any, count: int, seed: int) -> Array:
    """Random bit patterns, so that all exponents are equally likely."""
    raw = np.random.default_rng(seed).bytes(count * np.dtype(dtype).itemsize)
    return np.frombuffer(raw, dtype).copy()


def special_values(dtype: type[np.floating[Any]]) -> Array:
    """Zeros, ones, infinities, NaN, the ends of the ranges and small integers, of both signs."""
    info = np.finfo(dtype)
    integers = 2.0**info.nmant
    values = [0, 0.25, 0.5, 1 / 3, 1 - info.epsneg, 1, 1 + info.eps, 1.5, 2, 3, 4, 5, 10, np.inf]
    values += [info.smallest_subnormal, info.tiny, info.max, np.nan, integers / 2 + 0.5]
    values += [integers - 1, integers, integers + 1, 2 * integers, 2 * integers + 2]
    return np.array([*values, *(-v for v in values)], dtype)
