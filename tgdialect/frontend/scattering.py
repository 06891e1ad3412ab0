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
        hits, entries, moved = self._scatter_parts(dim, index, values)
        k = hits.shape[-1]
        last = hits.where(self.arange(1, k + 1), 0).max(-1, keepdim=True)
        chosen = hits & last.eq(self.arange(1, k + 1))
        value = chosen.where(entries, 0)
        total = value.any(-1) if self.dtype.is_bool else value.sum(-1).cast(self.dtype)
        return (last.squeeze(-1) > 0).where(total, moved).transpose(self._axis(dim), -1)

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
            return old.scatter_reduce(dim, index, values, "amax", include_self)._inverse()
        # Reduce the entries that hit each cell.
        hits, entries, moved = self._scatter_parts(dim, index, src)
        # A sum, which is a loop over the updates, and not `any`, of each update for each cell.
        number = hits.sum(-1)
        is_hit = number > 0
        match reduce:
            case "sum" | "mean":
                total = hits.where(entries, 0).sum(-1).cast(self.dtype)
                result = moved + total if include_self else total
                if reduce == "mean":
                    count = number + (1 if include_self else 0)
                    rounding: Literal["floor"] | None = None if self.dtype.is_float else "floor"
                    count = count.maximum(1).cast(self.dtype)
                    result = result.div(count, rounding_mode=rounding)
            case "prod":
                total = hits.where(entries, 1).prod(-1)
                result = moved * total if include_self else total
            case _:  # amax
                total = hits.where(entries, self._constant(self.dtype.low)).max(-1)
                result = moved.maximum(total) if include_self else total
        # Cells without an entry keep their value.
        result = result if include_self else is_hit.where(result, moved)
        return result.transpose(self._axis(dim), -1)

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
