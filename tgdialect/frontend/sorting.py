"""Sorting, and statistics by order and by count: medians, quantiles, unique values, histograms.

A sort is a FUNCTION that CALLs a built-in one, of which `tg-choose-sorts` makes an algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import (
    ArgumentError,
    DTypeError,
    Number,
    TensorBase,
    check_integers,
    check_tensors,
    number_of,
)
from tgdialect.frontend.graph import apply
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.realization import as_array, realize
from tgdialect.frontend.symbolic import SymInt, greatest, is_surely_less, smaller, to_dim
from tgdialect.frontend.tracing import is_tracing
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
        is_static = self.node.extents is None and to_dim(k) == greatest(k)
        if is_static and isinstance(self.device, str):
            return self._first(axis, k, largest)
        values, indices = self.sort(dim, largest)
        return values._part(axis, 0, k), indices._part(axis, 0, k)

    def _first(self, axis: int, k: int | None, descending: bool) -> tuple[Self, Self]:
        """The first k sorted values along an axis, all of them by default, and their positions."""
        x = self.transpose(axis, -1)
        order = x._order(k, descending)
        indices = order.transpose(axis, -1)
        # A gradient needs positions; sizes that are not known, and devices, are for them alone.
        is_special = self.node.extents is not None or isinstance(self.device, tuple)
        if is_special or self.node.is_tracked or 0 in order.shape:
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


class Statistics(Sorting):
    """Methods on the distribution of values."""

    __slots__ = ()

    def median(self, dim: int | None = None, keepdim: bool = False) -> Self | tuple[Self, Self]:
        """The median of all elements; along an axis, the medians and their positions. Of an even
        number of elements it is the lower one in the middle; it is NaN if an element is. Raises
        ValueError over no elements (as PyTorch does: an empty axis beside that of the medians gives
        an empty result)."""
        if dim is None:
            self._check_nonempty("median", None)
            return self.flatten()._medians(0)[0].squeeze(0)
        axis = self._axis(dim)
        if not self.ndim:
            return self._apart_from(self), self._constant(0, dtypes.int32)
        self._check_nonempty("median", axis)
        found = self._medians(axis)
        return found if keepdim else (found[0].squeeze(axis), found[1].squeeze(axis))

    def _medians(self, axis: int) -> tuple[Self, Self]:
        """The medians along an axis, which is kept, and their positions."""
        order = self.argsort(axis)
        middle = (self.shape[axis] - 1) // 2
        position = order._part(axis, middle, middle + 1)
        if self.dtype.is_float:
            is_nan = self.isnan()
            position = is_nan.any(axis, keepdim=True).where(is_nan.argmax(axis, True), position)
        return self._gathered(axis, position), position

    @rounded_once
    def quantile(
        self,
        q: float | Self,
        dim: int | None = None,
        keepdim: bool = False,
        interpolation: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
    ) -> Self:
        """The value below which a share q of the elements is; NaN if an element is.

        Args:
            q: between 0 and 1; several of them, with one axis, give results along a new first axis.
                A tensor may have others, for which the result is NaN.
            dim: the axis; all elements if it is None.
            interpolation: what is between two neighbours in order.

        Raises TypeError for other dtypes than floats, ValueError for a number q out of its range,
        another interpolation, and over no elements.
        """
        if not self.dtype.is_float:
            raise DTypeError(f"quantile of {self.dtype.name}: a float is needed")
        if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise ArgumentError(
                f"interpolation is linear, lower, higher, midpoint or nearest: {interpolation!r}"
            )
        share = q.cast(self.dtype) if isinstance(q, TensorBase) else self._constant(number_of(q))
        if share.ndim > 1 or not (isinstance(q, TensorBase) or 0 <= q <= 1):
            raise ArgumentError(f"quantile {q}: a number between 0 and 1, or one axis of them")
        x = self.flatten() if dim is None or not self.ndim else self.movedim(self._axis(dim), -1)
        if 0 in x.shape:
            raise ArgumentError(f"quantile over no elements: {self.shape}")
        # The cells below and above the place in the sorted axis, which is the last one.
        place = share.reshape((-1,)) * (x.shape[-1] - 1)
        low, high = place.floor(), place.ceil()
        if interpolation == "nearest":
            low = high = place.round()
        low, high = {"lower": (low, low), "higher": (high, high)}.get(interpolation, (low, high))
        x_sorted = x.sort(-1)[0]
        below, above = (x_sorted._pick([(x.ndim - 1, t.cast(dtypes.int32))]) for t in (low, high))
        weight = 0.5 if interpolation == "midpoint" else (place - low).detach()
        is_right = (share >= 0) & (share <= 1) & x.isnan().any(-1, keepdim=True).logical_not()
        result = is_right.where(below + (above - below) * weight, math.nan)
        # Axes: that of the shares first.
        if keepdim:
            axes = range(self.ndim) if dim is None else [self._axis(dim)]
            for axis in axes if self.ndim else ():
                result = result.unsqueeze(axis)
        return result.movedim(-1, 0) if share.ndim else result.squeeze(-1)

    def unique(
        self,
        sorted_: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
        size: int | None = None,
        fill_value: Number = 0,
    ) -> Self | tuple[Self, ...]:
        """The different elements, or slices along an axis, in ascending order; NaNs are different.

        Args:
            sorted_: without effect: they are.
            return_inverse: whether to return the position of each element among them, too.
            return_counts: whether to return how often each occurs, too.
            dim: the axis of slices, which are compared cell by cell.
            size: how many are returned, padded with `fill_value`, and with counts of 0. Without it
                their number is computed at once.
        """
        if dim is None or not self.ndim:
            items = self.flatten()
            columns, shape = items.unsqueeze(0), self.shape
        else:
            items = self.movedim(self._axis(dim), 0)
            columns = items.reshape((items.shape[0], math.prod(items.shape[1:]))).transpose()
            shape = items.shape[:1]
            if 0 in items.shape[1:]:
                raise ArgumentError(f"unique slices of {self.shape} along {dim} have no elements")
        # Ranks of each cell in its column; pairs of columns are one, until there is one.
        n = items.shape[0]
        rank, order, is_first = columns._ranks()
        while rank.shape[0] > 1:
            rank = rank.pad_to(-(-rank.shape[0] // 2) * 2, None).cast(dtypes.int64)
            rank, order, is_first = (rank[::2] * n + rank[1::2])._ranks()
        rank, order, is_first = (t.squeeze(0).contiguous() for t in (rank, order, is_first))
        if size is None and not is_tracing():  # Once, and not again for the results.
            realize([t.node for t in (order, is_first, *[rank] * return_inverse)])
        count = is_first._count_of_true() if size is None else size
        first = is_first._ranked(count).contiguous()
        found = items._pick([(0, order._pick([(0, first)]))])
        is_there = self.arange(count) < is_first.sum()
        if size is not None:
            lined = is_there.reshape((count, *(1,) * (items.ndim - 1)))
            found = lined.where(found, found._constant(fill_value))
        found = found if items.ndim == 1 else found.movedim(0, self._axis(dim or 0))
        results = [found.detach()]
        if return_inverse:
            results.append(rank.reshape(shape))
        if return_counts:
            results.append(is_there.where(first.diff(append=first.full((1,), n, "int32")), 0))
        return tuple(results) if len(results) > 1 else results[0]

    def _ranks(self) -> tuple[Self, Self, Self]:
        """The rank of each cell of a row among its different values; the positions of the sorted
        cells; and which of these are the first of their value."""
        order = self.argsort(-1).contiguous()
        values = self.detach()._gathered(1, order).contiguous()
        is_other = values[:, 1:].ne(values[:, :-1])
        is_first = is_other._padded([(smaller(self.shape[1], 1), 0)], True)
        ranks = (is_first.cumsum(1) - 1).contiguous()
        return ranks._gathered(1, order.argsort(-1)).contiguous(), order, is_first

    def searchsorted(
        self,
        values: Self | Number,
        right: bool = False,
        side: Literal["left", "right"] | None = None,
        sorter: Self | None = None,
        out_int32: bool = True,
    ) -> Self:
        """The positions in the sorted last axis before which values keep it sorted, as i32.

        Args:
            values: any, for one axis that is sorted; else with the same axes before the last.
            right: whether to give the position after equal cells; `side` says the same.
            sorter: positions that sort the axis, as of `argsort`.
            out_int32: without effect: positions are i32.

        Raises ValueError for other shapes, or if `right` and `side` differ.
        """
        if side not in ("left", "right", None) or (right and side == "left"):
            raise ArgumentError(f"side is left or right, as `right` says, got {side!r}")
        if not isinstance(values, TensorBase):
            values = self._constant(values, dtypes.promote_number(self.dtype, number_of(values)))
        line = self.detach()
        if sorter is not None:
            check_integers("a sorter", sorter)
            if sorter.shape != self.shape:
                raise ArgumentError(f"a sorter {sorter.shape} for {self.shape}")
            line = line.gather(-1, sorter)
        if not self.ndim or (self.ndim > 1 and self.shape[:-1] != values.shape[:-1]):
            raise ArgumentError(
                f"searchsorted in {self.shape} of {values.shape}: the axes before the last are the "
                f"same, or one axis is sorted"
            )
        line, wanted = line._pair(values.detach())
        n, wanted = self.shape[-1], wanted.flatten()
        if n == 0:
            return self.full(values.shape, 0, dtypes.int32)
        start: Self | None = None
        if self.ndim > 1:
            each = self.arange(self.numel() // n) * n
            start = each.unsqueeze(-1).expand((-1, values.shape[-1])).flatten()
        line = line.flatten().contiguous()
        found = line._bisected(wanted, right=right or side == "right", extent=n, start=start)
        return found.reshape(values.shape)

    def histc(self, bins: int = 100, min_: float = 0, max_: float = 0) -> Self:
        """The number of elements in each of equal intervals between two bounds, as floats.

        Args:
            bins: the number of intervals. The last one has its upper bound, too.
            min_, max_: the bounds; if they are equal, the least and the greatest element, or 1 less
                and 1 more than them if these are equal.

        Raises TypeError for other dtypes than floats, ValueError for less than one bin, and bounds
        that are not finite or in the wrong order.
        """
        if not self.dtype.is_float:
            raise DTypeError(f"histc of {self.dtype.name}: a float is needed")
        low, high = (float(number_of(bound)) for bound in (min_, max_))
        if bins < 1 or not -math.inf < low <= high < math.inf:
            raise ArgumentError(f"histc of {bins} bins from {min_} to {max_}")
        x = self.detach().flatten()._accurate()
        least, most = x._constant(low), x._constant(high)
        if low == high and x.shape[0] != 0:
            least, most = x.min(), x.max()
        is_one = least.eq(most)
        least, most = is_one.where(least - 1, least), is_one.where(most + 1, most)
        place = ((x - least) * bins / (most - least)).minimum(bins - 1)
        is_inside = (x >= least) & (x <= most)
        places = is_inside.where(place.cast(dtypes.int32), -1)
        return places.unsqueeze(-1).eq(self.arange(bins)).sum(0).cast(self.dtype)

    def bincount(
        self, weights: Self | None = None, minlength: int = 0, size: int | None = None
    ) -> Self:
        """The number of times that each of 0, 1, ... occurs, as i32; or the sums of their weights.

        Args:
            weights: a weight for each element, of any dtype but bool; the result has its dtype.
            minlength: the least number of bins.
            size: the number of bins. Elements outside are not counted. Without it, there are bins
                up to the largest element, which is computed at once.

        Raises TypeError for elements that are no integers, ValueError for other shapes than (n,)
        and, without `size`, for negative elements.
        """
        check_integers("bincount", self)
        if self.ndim != 1:
            raise ValueError(f"bincount of shape {self.shape}: it has one axis")
        if is_surely_less(to_dim(minlength), 0):
            raise ValueError(f"minlength is negative: {minlength}")
        if weights is not None:
            check_tensors(weights)
            if weights.shape != self.shape:
                raise ValueError(f"weights {weights.shape} for elements {self.shape}")
        count = self._bins(minlength) if size is None else to_dim(size)
        ones = self._constant(1, dtypes.default_int)
        entries = ones if weights is None else weights.unsqueeze(-1)
        hits = self.unsqueeze(-1).eq(self.arange(count))
        return hits.where(entries, 0).sum(0, dtype=entries.dtype)

    def _bins(self, minlength: int) -> int:
        """The number of bins for all elements."""
        if self.numel() == 0:
            return minlength
        low, high = as_array(self.min().stack(self.max()).node)
        if low < 0:
            raise ValueError(f"bincount of {low}: elements are not negative")
        return max(int(high) + 1, minlength)
