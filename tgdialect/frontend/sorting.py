"""Sorting: the place of a value is how many come before it."""

from __future__ import annotations

from typing import Self

from tgdialect.frontend.linear_algebra import LinearAlgebra


class Sorting(LinearAlgebra):
    """Orders along an axis."""

    __slots__ = ()

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """The values in order along an axis, and where they were; equal ones stay in order. NaN
        counts as the greatest."""
        if not self.ndim:
            return self, self._constant(0).cast("int32")
        indices = self.argsort(dim, descending)
        return self.gather(dim, indices), indices

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """Where the values in order along an axis are; it takes a comparison of all pairs."""
        if not self.ndim:
            return self._constant(0).cast("int32")
        axis = self._axis(dim)
        x = self.detach().transpose(axis, -1)
        n = x.shape[-1]
        if n == 0:
            return self.full(self.shape, 0, "int32")
        mine, other = x.unsqueeze(-1), x.unsqueeze(-2)
        is_before = other > mine if descending else other < mine
        is_same = other.eq(mine)
        if x.dtype.is_float:
            nan, other_nan = mine.isnan(), other.isnan()
            is_before = is_before | ((other_nan & ~nan) if descending else (nan & ~other_nan))
            is_same = is_same | (nan & other_nan)
        line = self.arange(n)
        is_earlier = line < line.reshape((n, 1))
        rank = (is_before | (is_same & is_earlier)).sum(-1)
        places = rank.unsqueeze(-2).eq(line.reshape((n, 1)))
        order = places.where(line, 0).sum(-1)
        return order.transpose(axis, -1)

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> tuple[Self, Self]:
        """The k greatest values along an axis in order, or the least, and where they are."""
        axis = self._axis(dim)
        if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
            raise ValueError(f"the {k} greatest of an axis of {self.shape[axis]}")
        values, indices = self.sort(dim, descending=largest)
        if not self.ndim:
            return values, indices
        bounds: list[tuple[int, int] | None] = [None] * self.ndim
        bounds[axis] = (0, k)
        return values.shrink(bounds), indices.shrink(bounds)
