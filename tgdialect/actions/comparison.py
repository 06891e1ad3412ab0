"""The judgement of a result: which cells differ by more than their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tgdialect.ops.numpy_dtypes import Array

_SLACK = 1 + 1e-6
"""The factor of a bound that its own evaluation in f64 may cost: sums of up to 2^33 terms."""

_DIGITS = 9
"""The significant digits of the values in a report: enough to tell any two f32 apart."""


@dataclass(frozen=True)
class Judged:
    """The cells of one result: how many were compared and how many were not decided, the greatest
    bound of those compared, and the first difference beyond its bound, if there is one."""

    cells: int = 0
    undecided: int = 0
    bound: float = 0.0
    difference: str = ""

    def __add__(self, other: Judged) -> Judged:
        """The judgement of several results; of differences, the first."""
        return Judged(
            self.cells + other.cells,
            self.undecided + other.undecided,
            max(self.bound, other.bound),
            self.difference or other.difference,
        )


NOTHING = Judged()
"""The judgement of no cell."""


def judge(found: Array, wanted: Array, errors: Array, chosen: Array | None = None) -> Judged:
    """Compare arrays of one shape and dtype, in the cells that are `chosen`, or all of them.

    A cell whose error is infinite or NaN is not decided. Every NaN is the same value, and so are
    both zeros.
    """
    rank = found.ndim
    found, wanted, errors = (np.atleast_1d(x) for x in (found, wanted, errors))
    chosen = np.ones(found.shape, np.bool_) if chosen is None else np.atleast_1d(chosen)
    decided = chosen & np.isfinite(errors)
    same = found == wanted
    if found.dtype.kind not in "biu":
        same |= (found != found) & (wanted != wanted)
    far = decided & ~np.asarray(same, np.bool_)
    if far.any():
        with np.errstate(all="ignore"):
            a, b = (np.asarray(x[far], np.float64) for x in (found, wanted))
            # Of infinities and NaN the difference is NaN, which is no less than a bound.
            far[far] = ~(np.abs(a - b) <= errors[far] * _SLACK)
    cells = int(decided.sum())
    bound = float(errors[decided].max()) if cells else 0.0
    difference = ""
    if far.any():
        place = tuple(int(i) for i in np.argwhere(far)[0])
        a, b = (_text(x[place]) for x in (found, wanted))
        where = f"at {list(place)} " if rank else ""
        difference = (
            f"{int(far.sum())} of {cells} elements, {where}{a} and not {b}; "
            f"bound {errors[place]:.2g}"
        )
    return Judged(cells, int(chosen.sum()) - cells, bound, difference)


def _text(value: Array) -> str:
    if value.dtype.kind in "biu":
        return str(value)
    return f"{float(value.astype(np.float64)):.{_DIGITS}g}"


def judge_loosely(
    found: Sequence[Array], wanted: Sequence[Array], inputs: Sequence[Array]
) -> Judged:
    """Compare results whose errors are not known: floats agree in half of the digits of their
    dtype, relative to the largest of the array and of the inputs."""
    total, largest = Judged(), max(map(_largest, inputs), default=0.0)
    for a, b in zip(found, wanted, strict=True):
        errors = np.zeros(a.shape)
        if a.dtype.kind not in "biu":
            errors += max(_largest(b), largest) * _epsilon(a.dtype) ** 0.5
        total += judge(a, b, errors)
    return total


def _largest(array: Array) -> float:
    """The largest finite number of an array of floats, without signs."""
    if array.dtype.kind in "biu":
        return 0.0
    size = np.abs(np.asarray(array, np.float64))
    return float(np.max(size, where=np.isfinite(size), initial=0.0))


def _epsilon(dtype: np.dtype[np.generic]) -> float:
    """The distance of 1 to the next number."""
    one = np.ones((), dtype)
    bits = one.view(f"u{dtype.itemsize}")
    return float(np.asarray((bits + bits.dtype.type(1)).view(dtype), np.float64)) - 1
