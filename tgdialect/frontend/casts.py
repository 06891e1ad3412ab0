"""Conversions, by the names that dtypes have in C."""

from __future__ import annotations

from typing import Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import TensorBase


class Casts(TensorBase):
    """Conversions, by the names that dtypes have in C. The class has no other methods, since inside
    of it these names hide Python's types."""

    __slots__ = ()

    def bool(self) -> Self:
        """Convert to bool: whether it is not 0."""
        return self.cast(dtypes.bool_)

    def short(self) -> Self:
        """Convert to i16."""
        return self.cast(dtypes.int16)

    def int(self) -> Self:
        """Convert to i32."""
        return self.cast(dtypes.int32)

    def long(self) -> Self:
        """Convert to i64."""
        return self.cast(dtypes.int64)

    def half(self) -> Self:
        """Convert to f16."""
        return self.cast(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert to bf16."""
        return self.cast(dtypes.bfloat16)

    def float(self) -> Self:
        """Convert to f32."""
        return self.cast(dtypes.float32)

    def double(self) -> Self:
        """Convert to f64."""
        return self.cast(dtypes.float64)
