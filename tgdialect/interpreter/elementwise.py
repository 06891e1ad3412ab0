"""The elementwise ops, element by element: docs/semantics.md as a table.

A function takes the operands' arrays, of shapes that broadcast, in the dtype that the arithmetic is
done in (f32 for the narrower floats); `compute` converts to it and rounds the result once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tgdialect.ops import tg
from tgdialect.ops.arrays import FLOAT32, FLOAT64, compute_dtype, convert, narrowed, numpy_dtype
from tgdialect.ops.numpy_dtypes import Array

Arithmetic = Callable[..., Array]


def compute(
    name: str, operands: Sequence[Array], dtypes: Sequence[tg.DType], result: tg.DType
) -> Array:
    """The data of elementwise op `name` on arrays of `dtypes`, as an array of dtype `result`."""
    if name == "tg.cast":
        return np.asarray(convert(operands[0], dtypes[0], result))
    if name == "tg.where":
        return np.where(operands[0], operands[1], operands[2])
    arguments = [
        operand.astype(compute_dtype(dtype), copy=False)
        for operand, dtype in zip(operands, dtypes, strict=True)
    ]
    table = LOGICAL if dtypes[0].is_bool and name in LOGICAL else ARITHMETIC
    value = table[name](*arguments)
    return narrowed(np.asarray(value), numpy_dtype(result))


# -- exact arithmetic ----------------------------------------------------------------------------


def maximum(a: Array, b: Array) -> Array:
    """NaN if either is; max(-0, +0) = +0, which np.maximum leaves open."""
    result = np.maximum(a, b)
    if result.dtype.kind != "f":
        return result
    return np.where((a == 0) & (b == 0), a + b, result)


def floor_divide(a: Array, b: Array) -> Array:
    """floor(a / b); x idiv 0 = 0; the least integer idiv -1 wraps."""
    minus_one = b == -1 if b.dtype.kind == "i" else np.zeros_like(b, np.bool_)
    plain = np.floor_divide(a, np.where((b == 0) | minus_one, b.dtype.type(1), b))
    return np.where(b == 0, a.dtype.type(0), np.where(minus_one, np.negative(a), plain))


def modulo(a: Array, b: Array) -> Array:
    """a - b * floor(a / b), with the sign of b; x mod 0 = 0."""
    # Modulo 1, as modulo -1, is 0.
    trivial = (b == 0) | (b == -1) if b.dtype.kind == "i" else b == 0
    return np.remainder(a, np.where(trivial, b.dtype.type(1), b))


def _count(a: Array, count: Array) -> tuple[Array, Array]:
    """A shift count in a's dtype, and where it is negative or not less than a's width."""
    excessive = (count < 0) | (count >= a.dtype.itemsize * 8)
    return np.where(excessive, 0, count).astype(a.dtype), excessive


def shift_left(a: Array, b: Array) -> Array:
    """a << b; 0 for a count past the width."""
    count, excessive = _count(a, b)
    return np.where(excessive, a.dtype.type(0), np.left_shift(a, count))


def shift_right(a: Array, b: Array) -> Array:
    """a >> b, arithmetic on signed dtypes; 0 or the sign for a count past the width."""
    count, excessive = _count(a, b)
    return np.where(excessive, np.where(a < 0, -1, 0).astype(a.dtype), np.right_shift(a, count))


def truncate(x: Array) -> Array:
    """Round toward zero; integers and bools are whole."""
    return np.trunc(x) if x.dtype.kind == "f" else x


def _negation(compare: Arithmetic) -> Arithmetic:
    """The negation of CMPLT or CMPGT, so true where either operand is NaN."""
    return lambda *operands: np.logical_not(compare(*operands))


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, as MUL then ADD."""
    return np.add(np.multiply(a, b), c)


# -- transcendental functions --------------------------------------------------------------------


def _in_wider(function: Arithmetic) -> Arithmetic:
    """Evaluate f32 in f64, and f64 in the platform's long double, and round."""

    def rounded(*arguments: Array) -> Array:
        dtype = arguments[0].dtype
        wide: Any = FLOAT64 if dtype == FLOAT32 else np.longdouble
        return np.asarray(function(*(a.astype(wide) for a in arguments))).astype(dtype)

    return rounded


def gate(x: Array, t: Array, lost: Array | None = None) -> Array:
    """x / (1 + e^-(t + lost)); NaN of an infinite x, unless t is so large that x is the result."""
    is_x = t > math.floor(16 * (np.finfo(x.dtype).nmant + 1.5) * math.log(2)) / 16
    rest = np.zeros_like(t) if lost is None else np.where(is_x | np.isinf(t), 0, lost)
    result = _in_wider(_gate)(x, t, rest)
    return np.where(np.isinf(x) & ~is_x, np.asarray(np.nan, x.dtype), result)


def _gate(x: Array, t: Array, rest: Array) -> Array:
    return np.divide(x, 1 + np.exp(-(t + rest)))


def _softplus(x: Array) -> Array:
    """log(1 + e^x)."""
    return np.logaddexp(x, x.dtype.type(0))


_erfc = np.vectorize(math.erfc, otypes=[FLOAT64])


def _gelu(x: Array) -> Array:
    """x P(Z < x) for a normal Z: ERFC of the rounded x / sqrt 2, and its first-order change by what
    the rounding loses."""
    quotient = np.clip(x.astype(np.longdouble) / np.sqrt(np.longdouble(2)), -40, 40)
    rounded = quotient.astype(FLOAT64)
    density = np.exp(-rounded * rounded) / math.sqrt(math.pi)
    return x * np.maximum(_erfc(-rounded) / 2 + density * (quotient - rounded), 0)


_log_of_gamma = np.vectorize(math.lgamma, otypes=[FLOAT64])


def _lgamma(x: Array, approximation: Array) -> Array:
    """The approximation where it loses no digits, or math.lgamma has no value."""
    is_near = (x > -60) & (x < -1.5) & (x != np.trunc(x))
    return np.where(is_near, _log_of_gamma(np.where(is_near, x, -2.5)), approximation)


# -- random bits ---------------------------------------------------------------------------------

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
"""The bits by which a round rotates, for eight rounds. Source: Salmon, Moraes, Dror, Shaw,
"Parallel random numbers: as easy as 1, 2, 3" (SC 2011)."""
_ROUNDS = 20
"""The rounds of Threefry-2x32, as in the same paper."""
_PARITY = np.uint32(0x1BD11BDA)
"""The constant that makes the third word of the key, as in the same paper."""


def _words(packed: Array) -> tuple[Array, Array]:
    """The words of a ui64: the first is the low half."""
    return packed.astype(np.uint32), (packed >> np.uint64(32)).astype(np.uint32)


def threefry(counter: Array, key: Array) -> Array:
    """THREEFRY: the block of Threefry-2x32 with 20 rounds for a counter and a key, arrays of ui64
    that broadcast. Written apart from the decomposition in `transforms/threefry.py`, so that each
    checks the other."""
    first_key, second_key = _words(key)
    schedule = (first_key, second_key, first_key ^ second_key ^ _PARITY)
    first, second = _words(counter)
    first, second = first + schedule[0], second + schedule[1]
    for round in range(_ROUNDS):
        distance = _ROTATIONS[round % len(_ROTATIONS)]
        first = first + second
        rotated = (second << np.uint32(distance)) | (second >> np.uint32(32 - distance))
        second = rotated ^ first
        if round % 4 == 3:
            injection = round // 4 + 1
            first = first + schedule[injection % 3]
            second = second + schedule[(injection + 1) % 3] + np.uint32(injection)
    return first.astype(np.uint64) | (second.astype(np.uint64) << np.uint64(32))


ARITHMETIC: dict[str, Arithmetic] = {
    "tg.recip": np.reciprocal,
    "tg.trunc": truncate,
    "tg.add": np.add,
    "tg.mul": np.multiply,
    "tg.max": maximum,
    "tg.mod": modulo,
    "tg.idiv": floor_divide,
    "tg.cmplt": np.less,
    "tg.cmpne": np.not_equal,
    "tg.xor": np.bitwise_xor,
    "tg.or": np.bitwise_or,
    "tg.and": np.bitwise_and,
    "tg.shr": shift_right,
    "tg.shl": shift_left,
    "tg.neg": np.negative,
    "tg.sub": np.subtract,
    "tg.div": np.divide,
    "tg.cmpgt": np.greater,
    "tg.cmpge": _negation(np.less),
    "tg.cmple": _negation(np.greater),
    "tg.cmpeq": np.equal,
    "tg.not": np.logical_not,
    **{
        f"tg.{function.__name__}": _in_wider(function)
        for function in (np.exp2, np.log2, np.exp, np.log, np.log10, np.expm1, np.log1p)
    },
    "tg.softplus": _in_wider(_softplus),
    "tg.sin": _in_wider(np.sin),
    "tg.cos": _in_wider(np.cos),
    "tg.erf": _in_wider(np.vectorize(math.erf, otypes=[FLOAT64])),
    "tg.erfc": _in_wider(_erfc),
    "tg.gelu": _in_wider(_gelu),
    "tg.gate": gate,
    "tg.sqrt": np.sqrt,
    "tg.pow": _in_wider(np.power),
    "tg.logaddexp": _in_wider(np.logaddexp),
    "tg.lgamma": _in_wider(_lgamma),
    "tg.fmod": np.fmod,
    "tg.mulacc": multiply_add,
    "tg.threefry": threefry,
}
"""One row per op; WHERE and CAST, whose operands differ in dtype from the result, are apart."""

LOGICAL: dict[str, Arithmetic] = {
    "tg.add": np.logical_or,
    "tg.mul": np.logical_and,
    "tg.max": np.logical_or,
}
"""ADD, MUL and MAX of bools are or, and, or."""

ELEMENTWISE: frozenset[str] = frozenset(ARITHMETIC) | {"tg.cast", "tg.where"}
"""Every elementwise op."""
