"""Operators in place."""

from __future__ import annotations

from typing import Self

from tgdialect.frontend.base import Number, Operand
from tgdialect.frontend.graph import Array, same
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.state import State


class InPlace(LinearAlgebra, State):
    """Operators that set the value of their tensor to their result."""

    __slots__ = ()

    def _become(self, new: Self) -> Self:
        """Set the value to the result of an operator, of this shape and kind of dtype. For a tensor
        that requires a gradient, the new value has no history, as in `assign`."""
        if new.shape != self.shape:
            raise ValueError(f"{self.shape} cannot become {new.shape} in place")
        kinds = [(dtype.is_float, dtype.is_bool) for dtype in (self.dtype, new.dtype)]
        if kinds[0] != kinds[1]:
            raise TypeError(f"{self.dtype.name} cannot become {new.dtype.name} in place")
        new = new.cast(self.dtype)
        if self.requires_grad:
            return self.assign(new)
        self._write(same(new.node) if new is self else new.node)
        return self

    def masked_fill_(self, mask: Self, value: Self | Number) -> Self:
        """Set the cells where the mask is true to a value."""
        return self._become(self.masked_fill(mask, value))

    def __iadd__(self, x: Self | Operand) -> Self:
        return self._become(self.add(x))

    def __isub__(self, x: Self | Operand) -> Self:
        return self._become(self.sub(x))

    def __imul__(self, x: Self | Operand) -> Self:
        return self._become(self.mul(x))

    def __itruediv__(self, x: Self | Operand) -> Self:
        return self._become(self.div(x))

    def __ifloordiv__(self, x: Self | Operand) -> Self:
        return self._become(self.div(x, rounding_mode="floor"))

    def __imod__(self, x: Self | Operand) -> Self:
        return self._become(self.mod(x))

    def __ipow__(self, x: Self | Operand) -> Self:
        return self._become(self.pow(x))

    def __imatmul__(self, x: Self | Array) -> Self:
        return self._become(self.matmul(x))

    def __iand__(self, x: Self | Operand) -> Self:
        return self._become(self.bitwise_and(x))

    def __ior__(self, x: Self | Operand) -> Self:
        return self._become(self.bitwise_or(x))

    def __ixor__(self, x: Self | Operand) -> Self:
        return self._become(self.bitwise_xor(x))

    def __ilshift__(self, x: Self | int) -> Self:
        return self._become(self.lshift(x))

    def __irshift__(self, x: Self | int) -> Self:
        return self._become(self.rshift(x))
