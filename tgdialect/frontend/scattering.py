"""Scatters: values that are stored or reduced into cells at tensors of positions."""

from __future__ import annotations

from typing import Literal, Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import (
    ArgumentError,
    DTypeError,
    Number,
    TensorBase,
    check_integers,
    check_tensors,
)
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.symbolic import is_surely_less


class Scattering(Indexing):
    """The inverse of `gather`."""

    __slots__ = ()

    def _scatter_parts(self, dim: int, index: Self, values: Self) -> tuple[Self, Self, Self]:
        """Three tensors for a scatter, in which `dim` is moved to the end: a mask that is true
        where an entry of the index hits a cell, with a new last axis for entries; the values, with
        the same axis; and self."""
        axis = self._axis(dim)
        if index.ndim != self.ndim or values.ndim != self.ndim:
            raise RuntimeError(
                f"scatter to {self.shape} by {index.shape} of {values.shape}: as many axes"
            )
        extents = zip(index.shape, values.shape, self.shape, strict=True)
        for a, (i, v, d) in enumerate(extents):
            if is_surely_less(v, i) or (a != axis and is_surely_less(d, i)):
                raise RuntimeError(
                    f"scatter to {self.shape} by {index.shape} of {values.shape}: axis {a} of the "
                    f"index is longer"
                )
        values = values.shrink_to(*index.shape)
        # The cells of other axes that the index does not reach are outside.
        shape = (*self.shape[:axis], index.shape[axis], *self.shape[axis + 1 :])
        every = self.full(index.shape, True, dtypes.bool_)
        extent = self.shape[axis]
        is_narrow = is_surely_less(extent, 1 << 31)
        places = index._from_front(extent, dtypes.int32 if is_narrow else dtypes.int64)
        inside, places, entries = (
            t._placed([0] * self.ndim, shape, 0).transpose(axis, -1).unsqueeze(-2)
            for t in (every, places, values)
        )
        line = self.arange(extent).reshape((extent, 1))
        return places.eq(line) & inside, entries, self.transpose(axis, -1)

    def scatter(
        self,
        dim: int,
        index: Self,
        src: Self | Number,
        reduce: Literal["multiply", "add"] | None = None,
    ) -> Self:
        """Store, add or multiply the values of `src` at the positions in `index` along an axis.

        The last of several values for a cell wins. `src` has the dtype of this tensor. Along every
        axis `index` is no longer than `src`, and along other axes than `dim` no longer than this.
        """
        self._check_scatter(dim, index, src)
        if reduce not in ("add", "multiply", None):
            raise ValueError(f"reduce is add, multiply or None, got {reduce!r}")
        values = src if isinstance(src, TensorBase) else self.full(index.shape, src, self.dtype)
        if not self.ndim:
            line, places, entries = (t.reshape((1,)) for t in (self, index, values))
            return line.scatter(dim, places, entries, reduce).reshape(())
        if reduce is not None:
            return self.scatter_reduce(dim, index, values, "sum" if reduce == "add" else "prod")
        if index.numel() == 0:
            return self._apart_from(self)
        # The last entry that hits each cell; negative where none does.
        hits = self._hits(dim, index)
        numbers = self.arange(hits.shape[-1])
        last = hits.where(numbers, numbers.dtype.low).max(-1).contiguous()
        _, entries, moved = self._scatter_parts(dim, index, values)
        places = last.maximum(0)._broadcast_to(moved.shape)
        chosen = entries.squeeze(-2)._gathered(self.ndim - 1, places)
        return (last >= 0).where(chosen, moved).transpose(self._axis(dim), -1)

    def _check_scatter(self, dim: int, index: Self, src: Self | Number) -> None:
        """Raise IndexError for an invalid axis, TypeError for the dtypes of index and source."""
        self._axis(dim)
        check_integers("an index", index)
        if isinstance(src, TensorBase) and src.dtype != self.dtype:
            raise DTypeError(f"scatter of {src.dtype.name} to {self.dtype.name}: cast it")

    def scatter_reduce(
        self,
        dim: int,
        index: Self,
        src: Self,
        reduce: Literal["sum", "prod", "mean", "amax", "amin"],
        include_self: bool = True,
    ) -> Self:
        """Reduce the values of `src` into the cells at the positions in `index` along an axis,
        together with the old values if `include_self`. Dtypes and shapes are as in `scatter`; a
        mean of integers is rounded down."""
        # Checks and special cases.
        check_tensors(src)
        self._check_scatter(dim, index, src)
        if reduce not in ("sum", "prod", "mean", "amax", "amin"):
            raise ArgumentError(f"reduce is sum, prod, mean, amax or amin, got {reduce!r}")
        if not self.ndim:
            line, places, values = (t.reshape((1,)) for t in (self, index, src))
            return line.scatter_reduce(dim, places, values, reduce, include_self).reshape(())
        if index.numel() == 0:
            return self._apart_from(self)
        if reduce == "amin":
            old, values = self._inverse(), src._inverse()
            greatest = old.scatter_reduce(dim, index, values, "amax", include_self)
            return greatest.contiguous()._inverse()
        # Reduce the entries that hit each cell, together with its old value or a neutral one: as
        # one total of both, it is computed by a loop over the entries (`transforms/simplify`).
        hits, entries, moved = self._scatter_parts(dim, index, src)
        neutral = {"prod": 1, "amax": self._constant(self.dtype.low)}.get(reduce, 0)
        number = self._hits(dim, index).sum(-1).contiguous()
        old = moved if include_self else (number > 0).where(neutral, moved)
        chosen = hits.where(entries, neutral)
        match reduce:
            case "sum" | "mean":
                result = old + chosen.sum(-1).cast(self.dtype)
            case "prod":
                result = old * chosen.prod(-1)
            case _:  # amax
                result = old.maximum(chosen.max(-1))
        result = result.transpose(self._axis(dim), -1)
        if reduce == "mean":
            rounding: Literal["floor"] | None = None if self.dtype.is_float else "floor"
            count = (number + 1 if include_self else number.maximum(1)).cast(self.dtype)
            count = count.transpose(self._axis(dim), -1)
            return result.contiguous().div(count, rounding_mode=rounding)
        return result

    def _hits(self, dim: int, index: Self) -> Self:
        """The mask of `_scatter_parts`, which has one cell along axes along which the index is
        expanded."""
        source = index._expanded
        ones = (a for a, d in enumerate(source.shape if source is not None else ()) if d == 1)
        alike = {a for a in ones if index.shape[a] == self.shape[a]} - {self._axis(dim)}
        index = index.shrink_to([1 if axis in alike else None for axis in range(self.ndim)])
        cells = self.full([1 if a in alike else d for a, d in enumerate(self.shape)], 0)
        return cells._scatter_parts(dim, index, index)[0]

    def scatter_add(self, dim: int, index: Self, src: Self) -> Self:
        """The values of `src` added to the cells at the positions in `index` along an axis."""
        return self.scatter_reduce(dim, index, src, "sum")

    def index_add(self, dim: int, index: Self, source: Self, alpha: Number = 1) -> Self:
        """The slices of `source` along an axis, times `alpha`, added to those of this tensor at the
        positions in `index`, which has one axis or none. Raises ValueError for other shapes."""
        check_tensors(index, source)
        if not self.ndim:
            line = self.reshape((1,)).index_add(dim, index, source.reshape((-1,)), alpha)
            return line.reshape(())
        axis = self._axis(dim)
        shape = (*self.shape[:axis], index.numel(), *self.shape[axis + 1 :])
        if index.ndim > 1 or (source.shape or (1,)) != shape:
            raise ArgumentError(
                f"index_add of {source.shape} to {self.shape} at {index.shape} along axis {axis}: "
                f"an index has one axis, and the source is {shape}"
            )
        places = index.reshape((-1, *(1,) * (self.ndim - axis - 1)))._broadcast_to(shape)
        values = source.reshape(shape)
        return self.scatter_add(axis, places, values if alpha == 1 else values * alpha)
