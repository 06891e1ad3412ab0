"""Sorting: FUNCTIONs that CALL the built-in sorts, of which `tg-choose-sorts` makes algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.graph import apply
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.symbolic import SymInt, greatest, is_surely_less, to_dim
from tgdialect.ops import tg
from tgdialect.transforms.sorts import SHORT, pairs_function, sort_function


class Sorting(Indexing):
    """Sorting along an axis."""

    __slots__ = ()

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """The sorted values along an axis, and their former positions. The sort is stable; NaN is
        larger than all numbers.

        Values are sorted without their positions where that is quicker. Then -0 may come before +0,
        which the positions take for equal.
        """
        if not self.ndim:
            return self._apart_from(self), self.argsort(dim, descending)
        return self._first(self._axis(dim), None, descending)

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """The positions of the sorted values along an axis."""
        axis = self._axis(dim)
        if not self.ndim:
            return self._constant(0, dtypes.int32)
        return self.transpose(axis, -1)._order(None, descending).transpose(axis, -1)

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> tuple[Self, Self]:
        """The k largest (or smallest) values along an axis, sorted, and their positions."""
        axis = self._axis(dim)
        extent = self.shape[axis] if self.ndim else 1
        if is_surely_less(to_dim(k), 0) or is_surely_less(extent, k):
            raise ValueError(f"topk of {k} along an axis of {extent}")
        if not self.ndim:
            return self.sort(dim, largest)
        if self.node.extents is None and to_dim(k) == greatest(k) and not self._is_on_several:
            return self._first(axis, k, largest)
        bounds: list[tuple[int, int] | None] = [None] * self.ndim
        bounds[axis] = (0, k)
        values, indices = self.sort(dim, largest)
        return values.shrink(bounds), indices.shrink(bounds)

    @property
    def _is_on_several(self) -> bool:
        return isinstance(self.device, tuple)

    def _first(self, axis: int, k: int | None, descending: bool) -> tuple[Self, Self]:
        """The first k sorted values along an axis, all of them by default, and their positions."""
        x = self.transpose(axis, -1)
        order = x._order(k, descending)
        indices = order.transpose(axis, -1)
        # A gradient needs positions; sizes that are not known, and devices, are for them alone.
        is_plain = self.node.extents is None and not (self.node.is_tracked or self._is_on_several)
        if not is_plain or 0 in order.shape:
            return self._gathered(axis, indices), indices
        return x._sorted("tg.sort", k, descending).transpose(axis, -1), indices

    def _order(self, k: int | None, descending: bool) -> Self:
        """The positions of the first k sorted cells of the last axis."""
        x = self.detach() if self.node.is_tracked else self
        n = x.shape[-1]
        if x.numel() == 0 or k == 0:
            return self.full((*x.shape[:-1], n if k is None else k), 0, "int32")
        if not isinstance(device := x.device, tuple):
            return x._sorted("tg.argsort", k, descending)
        # A FUNCTION that calls kernels has no memory on several devices.
        if greatest(n) > SHORT:
            return x.to(device[0])._order(k, descending).to(device)
        return x._called(pairs_function, descending)

    def _sorted(self, sort: str, k: int | None, descending: bool) -> Self:
        """The result of a built-in sort (`ops/sorts.py`) of the last axis."""
        return self._called(sort_function, f"{sort}_descending" if descending else sort, k)

    def _called(self, function: Callable[..., tg.FunctionOp], *arguments: Any) -> Self:
        """The result of a FUNCTION of this value and its dynamic extents."""
        sizes = [extent for extent in self.shape if isinstance(extent, SymInt)]
        called = apply(function, self.node, self.max_shape, sizes, *arguments)
        result = apply(tg.GetTupleOp, called, 0)
        result.extents = self.node.extents
        return self.of_node(result)
