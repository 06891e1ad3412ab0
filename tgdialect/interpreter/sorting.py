"""The built-in sorts (`ops/sorts.py`), by NumPy."""

from __future__ import annotations

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.sorts import SORTS


def run_sort(name: str, source: Array, target: Array) -> None:
    """Sort the last axis of an array into one of as many cells, or fewer."""
    sort = SORTS[name]
    # NumPy's order of narrow floats has no place for NaN.
    keys = source if source.dtype.kind in "biu" else source.astype(np.float64)
    last = source.shape[-1] - 1
    if sort.descending:
        order = last - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        order = np.argsort(keys, axis=-1, kind="stable")
    order = order[..., : target.shape[-1]]
    target[...] = np.take_along_axis(source, order, -1) if sort.gives_values else order
