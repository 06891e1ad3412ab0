"""A placeholder for an array that nothing needs any more."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np


class ReleasedArray:
    """Stands for a constant argument after everything that a program needs of it has been derived
    from it. Its elements are gone."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], reason: str) -> None:
        """`reason` is the error for those who ask for its elements."""
        self.shape = shape
        self.dtype = dtype
        self.reason = reason

    @property
    def nbytes(self) -> int:
        """The bytes that it had."""
        return math.prod(self.shape) * self.dtype.itemsize

    def numpy(self) -> NoReturn:
        """Raises RuntimeError."""
        raise RuntimeError(self.reason)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.numpy()

    def __dlpack__(self, **_: Any) -> NoReturn:
        self.numpy()

    def __dlpack_device__(self) -> NoReturn:
        self.numpy()
