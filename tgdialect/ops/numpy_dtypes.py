"""NumPy's dtypes by their names. For what runs without xDSL."""

from __future__ import annotations

from typing import Any

import numpy as np


def dtype_named(name: str) -> np.dtype[Any]:
    """A dtype of NumPy or ml_dtypes by its name, as "float32" or "bfloat16"."""
    try:
        return np.dtype(name)
    except TypeError:
        # This import registers bfloat16 and the fp8 dtypes with NumPy.
        import ml_dtypes  # noqa: F401  # pyright: ignore[reportUnusedImport]

        return np.dtype(name)
