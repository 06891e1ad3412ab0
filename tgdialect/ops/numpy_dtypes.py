"""NumPy's dtypes by their names. For what runs without xDSL."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
"""An array of any dtype."""

NUMPY_NAMES = {
    "i1": "bool",
    "index": "int64",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}
"""The names of NumPy's dtypes, by those of the dialect's."""


def dtype_named(name: str) -> np.dtype[Any]:
    """A dtype of NumPy or ml_dtypes by its name, as "float32" or "bfloat16"."""
    try:
        return np.dtype(name)
    except TypeError:
        # This import registers bfloat16 and the fp8 dtypes with NumPy.
        import ml_dtypes  # noqa: F401  # pyright: ignore[reportUnusedImport]

        return np.dtype(name)
