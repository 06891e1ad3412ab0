"""The first value in which the results of two runs of a program differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tgdialect.ops.numpy_dtypes import Array

TOLERANCES = {
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "float8_e4m3fn": 0.25,
    "float8_e5m2": 0.5,
}
"""The relative differences that are roundings, by dtype. Larger: a miscompile that changes a value
slightly is overlooked; smaller: another order of a sum counts as one. Each is some thousand units
in the last place of a wide dtype and two of a narrow one, found on the sums of the examples."""


@dataclass(frozen=True)
class Difference:
    """Two results that differ, at the first cell in which they do.

    `result` is the number of the result, `index` the cell, `found` and `wanted` are the values
    there, and `count` says how many cells of that result differ. Where dtype or shape differ,
    `index` is None and the values are texts as `float32[2, 3]`.
    """

    result: int
    index: tuple[int, ...] | None
    found: Any
    wanted: Any
    count: int = 1

    def __str__(self) -> str:
        cell = "" if not self.index else f"[{', '.join(map(str, self.index))}]"
        more = "" if self.count == 1 else f" ({self.count} cells differ)"
        return f"result {self.result}{cell}: {self.found}, not {self.wanted}{more}"


def first_difference(found: Sequence[Any], wanted: Sequence[Any]) -> Difference | None:
    """The first difference between results, which are arrays or Python numbers; None if there is
    none.

    NaNs are equal, integers and bools are compared exactly, and floats up to `TOLERANCES` of the
    larger one of the two and of the mean magnitude of the result: the rounding of a sum is relative
    to its terms.
    """
    if len(found) != len(wanted):
        return Difference(0, None, f"{len(found)} results", f"{len(wanted)} results")
    for number, pair in enumerate(zip(found, wanted, strict=True)):
        x, y = map(np.asarray, pair)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return Difference(number, None, _kind(x), _kind(y))
        differing = np.argwhere(~_agree(x, y))
        if len(differing):
            index = tuple(map(int, differing[0]))
            return Difference(number, index, x[index], y[index], len(differing))
    return None


def _kind(array: Array) -> str:
    return f"{array.dtype.name}{list(array.shape)}"


def _agree(x: Array, y: Array) -> Array:
    """Where two arrays of one dtype and shape agree."""
    if (tolerance := TOLERANCES.get(x.dtype.name)) is None:
        return np.asarray(x == y)
    with np.errstate(all="ignore"):
        a, b = x.astype(np.float64), y.astype(np.float64)
        magnitudes = np.abs(b[np.isfinite(b)])
        typical = float(magnitudes.mean()) if magnitudes.size else 0.0
        room = np.maximum(np.maximum(np.abs(a), np.abs(b)), typical) * tolerance
        near = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= room)
        return np.asarray(near | (a == b) | (np.isnan(a) & np.isnan(b)))
