"""Operators in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

from tgdialect.frontend.base import Number, Operand
from tgdialect.frontend.graph import same
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.state import State

E = TypeVar("E", bound="InPlace")


def _in_place(method: Callable[[Any, Any], Any]) -> Callable[[E, Any], E]:
    """The operator that sets a tensor to the result of a method."""
    return lambda self, x: self._become(method(self, x))  # pyright: ignore[reportPrivateUsage]


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

    def __ifloordiv__(self, x: Self | Operand) -> Self:
        return self._become(self.div(x, rounding_mode="floor"))

    __iadd__, __isub__ = _in_place(LinearAlgebra.add), _in_place(LinearAlgebra.sub)
    __imul__, __itruediv__ = _in_place(LinearAlgebra.mul), _in_place(LinearAlgebra.div)
    __imod__, __ipow__ = _in_place(LinearAlgebra.mod), _in_place(LinearAlgebra.pow)
    __imatmul__ = _in_place(LinearAlgebra.matmul)
    __iand__, __ior__ = _in_place(LinearAlgebra.bitwise_and), _in_place(LinearAlgebra.bitwise_or)
    __ixor__ = _in_place(LinearAlgebra.bitwise_xor)
    __ilshift__, __irshift__ = _in_place(LinearAlgebra.lshift), _in_place(LinearAlgebra.rshift)
