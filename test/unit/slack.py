"""How far right executors may differ on a program, found by running it with other roundings.

docs/semantics.md leaves the order of a float sum or product open, and some ulps of transcendental
functions. The interpreter runs a program several times, each time with random errors of the
greatest size that this allows: what comes out is what may come out. Sums that are exact in any
order have no error, so that results which depend on nothing open are compared to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
from expression import Array

from tgdialect.interpreter import elementwise, pure
from tgdialect.ops import elementwise as ew
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import DType

Results = Sequence[Array]

SAMPLES = 24
MORE_SAMPLES = 300
"""Runs for a result that few do not explain: a comparison that hardly any error decides."""
FEW_SAMPLES = 12
"""Runs for a candidate of a reduction. More: fewer that are wrong by chance; fewer: smaller
programs in the same time."""
ROOM_OF_FEW = 16.0
"""How much farther from the samples a candidate's result has to be than from each other. A larger
number: fewer are wrong by chance; a smaller one: fewer that are wrong are missed."""
ULPS = {np.dtype(np.float32): 2, np.dtype(np.float64): 3}
"""The error of a transcendental function in its arithmetic."""


def unexplained(run: Callable[[], Results], expected: Results, results: Results) -> list[str]:
    """The results that differ from those expected by more than other roundings explain, a line
    for each. `run` evaluates the program once more."""
    if len(results) != len(expected):
        return [f"{len(expected)} results, got {len(results)}"]
    for x, y in zip(expected, results, strict=True):
        if x.dtype != y.dtype or x.shape != y.shape:
            return [f"a result is {x.dtype}{x.shape}, got {y.dtype}{y.shape}"]
    if all(_same(x, y).all() for x, y in zip(expected, results, strict=True)):
        return []
    wrong: list[str] = []
    samples: list[Results] = [expected]
    for count in _counts:
        rng = np.random.default_rng(count)
        with _other_roundings(rng):
            samples += [run() for _ in range(count)]
        wrong = []
        for i, (x, y) in enumerate(zip(expected, results, strict=True)):
            found = [s[i] for s in samples]
            right = np.any([_same(each, y) for each in found], 0) | _between(found, y)
            if not right.all():
                where = tuple(int(n) for n in np.argwhere(~right)[0])
                wrong.append(f"result {i} at {where}: {x[where]!r}, got {y[where]!r}")
        if not wrong:
            break
    return wrong


@contextmanager
def few_samples() -> Generator[None]:
    """Within the context, a program is run a few times, and has to be further off."""
    global _counts, _room
    before = _counts, _room
    _counts, _room = [FEW_SAMPLES], ROOM_OF_FEW
    try:
        yield
    finally:
        _counts, _room = before


_counts = [SAMPLES, MORE_SAMPLES]
_room = 1.0


def _same(x: Array, y: Array) -> Array:
    """Where two arrays have the same value: NaNs are equal, and zeros of both signs are not."""
    with np.errstate(invalid="ignore"):
        equal = x == y
        if x.dtype.kind in "biu":
            return np.asarray(equal)
        return np.asarray((equal & (np.signbit(x) == np.signbit(y))) | ((x != x) & (y != y)))


def _between(samples: Sequence[Array], y: Array) -> Array:
    """Where y is as near to the samples as they are to each other. Where they differ in whether
    they are finite, it may be anything."""
    is_float = y.dtype.kind not in "biu"
    wide = np.float64 if is_float else object
    with np.errstate(all="ignore"):
        stacked = np.array([s.astype(wide) for s in samples])
        value = y.astype(wide)
        if not is_float:
            low, high = stacked.min(0), stacked.max(0)
            return np.asarray((value >= low) & (value <= high) & (low != high), np.bool_)
        kinds = np.where(np.isnan(stacked), 2, np.isinf(stacked) * np.sign(stacked))
        free = (kinds != kinds[0]).any(0)
        finite = np.where(np.isfinite(stacked), stacked, 0)
        low, high = finite.min(0), finite.max(0)
        room = (high - low) * _room
        inside = (value >= low - room) & (value <= high + room) & (room > 0)
        return free | (inside & (kinds[0] == 0))


@contextmanager
def _other_roundings(rng: np.random.Generator) -> Generator[None]:
    """Let the interpreter err wherever it may."""
    names = {op.name for op in ew.TRANSCENDENTAL}
    contracted = elementwise.ARITHMETIC[ew.MulAccOp.name]

    def once_or_twice(a: Array, b: Array, c: Array) -> Array:
        """MULACC: the product may be rounded or not."""
        result = contracted(a, b, c)
        if result.dtype.kind in "biu":
            return result
        wide: Any = np.longdouble if result.dtype == np.float64 else np.float64
        with np.errstate(all="ignore"):
            once = a.astype(wide) * b.astype(wide) + c.astype(wide)
        return np.where(rng.integers(2, size=result.shape), result, once.astype(result.dtype))

    table = {
        name: _inexact(f, rng) if name in names else f for name, f in elementwise.ARITHMETIC.items()
    }
    table[ew.MulAccOp.name] = once_or_twice
    multiplied = elementwise.ARITHMETIC[ew.MulOp.name]
    has_underflow = has_overflow = False

    def noted(a: Array, b: Array) -> Array:
        """MUL, which notes products that are out of range: a sum that rounds once has others."""
        nonlocal has_underflow, has_overflow
        product = multiplied(a, b)
        if product.dtype.kind not in "biu":
            has_underflow |= bool(((product == 0) & (a != 0) & (b != 0)).any())
            has_overflow |= bool((np.isinf(product) & np.isfinite(a) & np.isfinite(b)).any())
        return product

    table[ew.MulOp.name] = noted
    accumulate = pure.accumulate

    def accumulated(
        kind: ReduceKind, source: Any, axes: Sequence[int], dtype: DType, *, ordered: bool
    ) -> Any:
        total = accumulate(kind, source, axes, dtype, ordered=ordered)
        if not dtype.is_float or ordered or kind is ReduceKind.MAX or not axes:
            return total
        data = source.materialised()
        error = _error(kind, data, tuple(axes), dtype, total)
        if kind is ReduceKind.MUL:
            data = source.data if source.valid is None else np.where(source.valid, source.data, 1)
        elif has_overflow and rng.integers(2):
            # A product that overflowed may be finite with what it is added to.
            largest = ml_dtypes.finfo(data.dtype).max
            data = np.clip(data, -largest, largest)
        other = _in_another_order(kind, data, axes, dtype, rng).astype(total.dtype)
        with np.errstate(all="ignore"):
            if kind is ReduceKind.MUL or has_overflow or not np.isfinite(other).all():
                total = other
            elif has_underflow and rng.integers(2):
                # A product that underflowed to -0 may keep its sign.
                negative = (np.signbit(data) & (data == 0)).any(tuple(axes), keepdims=True)
                total = np.where((total == 0) & negative, -0.0, total).astype(total.dtype)
            return total + (error * rng.uniform(-1, 1, total.shape)).astype(total.dtype)

    with (
        patch.object(elementwise, "ARITHMETIC", table),
        patch.object(pure, "accumulate", accumulated),
    ):
        yield


def _inexact(function: Callable[..., Array], rng: np.random.Generator) -> Callable[..., Array]:
    """A function that is a few ulps off, but where it is 0 or 1."""

    def computed(*arguments: Array) -> Array:
        exact = np.asarray(function(*arguments))
        ulps = rng.integers(-ULPS[exact.dtype], ULPS[exact.dtype] + 1, exact.shape)
        with np.errstate(all="ignore"):
            other = exact + ulps * np.spacing(exact)
        return np.where((exact == 0) | (exact == 1), exact, other).astype(exact.dtype)

    return computed


def _in_another_order(
    kind: ReduceKind, data: Array, axes: Sequence[int], dtype: DType, rng: np.random.Generator
) -> Array:
    """A sum or product as compiled code may have it: of several parts, with terms in any order, and
    rounded after each step. So partial results may overflow or underflow."""
    ufunc = np.multiply if kind is ReduceKind.MUL else np.add
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(data.shape))
    terms = np.moveaxis(data, sorted(axes), range(len(axes)))
    terms = terms.reshape(-1, *terms.shape[len(axes) :])
    terms = terms.astype(np.float64 if dtype.name == "f64" else np.float32)
    with np.errstate(all="ignore"):
        parts = np.array_split(rng.permutation(terms), rng.choice([1, 2, 4, 8]))
        each = [ufunc.accumulate(part)[-1] for part in parts if len(part)]
        return np.asarray(ufunc.accumulate(each)[-1] if each else ufunc.identity).reshape(kept)


def _error(
    kind: ReduceKind, data: Array, axes: tuple[int, ...], dtype: DType, total: Array
) -> Array:
    """A bound of the error of a sum or product in any order; 0 of a sum that is exact."""
    accumulator = np.finfo(np.float64 if dtype.name == "f64" else np.float32)
    with np.errstate(all="ignore"):
        wide = data.astype(np.float64)
        wide = np.where(np.isfinite(wide), wide, 0)
        count = wide.size // max(total.size, 1)
        eps = float(accumulator.eps)
        if kind is ReduceKind.MUL:
            return np.where(np.isfinite(total), count * eps * np.abs(total), 0)
        scale = np.abs(wide).sum(axes, keepdims=True)
        # The lowest bit of all terms. Products may have been rounded before, which 8 bits exclude.
        mantissa, exponent = np.frexp(wide)
        bits = (mantissa * 2.0**53).astype(np.int64)
        lowest = np.where(
            bits != 0, np.ldexp((bits & -bits).astype(np.float64), exponent - 53), 1e300
        )
        unit = lowest.min(axes, keepdims=True, initial=1e300)
        exact = scale <= unit * 2.0 ** (accumulator.nmant - 8)
        return np.where(exact | ~np.isfinite(total), 0, (count + 1) * eps * scale)
