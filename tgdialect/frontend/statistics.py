"""Statistics by order and by count: median, bincount."""

from __future__ import annotations

from typing import Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import check_integers, check_tensors
from tgdialect.frontend.realization import as_array
from tgdialect.frontend.sorting import Sorting
from tgdialect.frontend.symbolic import is_surely_less, to_dim


class Statistics(Sorting):
    """Methods on the distribution of values."""

    __slots__ = ()

    def median(self, dim: int | None = None, keepdim: bool = False) -> Self | tuple[Self, Self]:
        """The median of all elements; along an axis, the medians and their positions. Of an even
        number of elements it is the lower one in the middle; it is NaN if an element is. Raises
        ValueError over no elements (as PyTorch does: an empty axis beside that of the medians gives
        an empty result)."""
        if dim is None:
            if self.numel() == 0:
                raise ValueError(f"median over no elements: {self.shape}")
            return self.flatten()._medians(0)[0].squeeze(0)
        axis = self._axis(dim)
        if not self.ndim:
            return self._apart_from(self), self._zeros_index()
        if self.shape[axis] == 0:
            raise ValueError(f"median over no elements: {self.shape}")
        found = self._medians(axis)
        return found if keepdim else (found[0].squeeze(axis), found[1].squeeze(axis))

    def _medians(self, axis: int) -> tuple[Self, Self]:
        """The medians along an axis, which is kept, and their positions."""
        order = self.argsort(axis)
        middle = (self.shape[axis] - 1) // 2
        bounds: list[tuple[int, int] | None] = [None] * self.ndim
        bounds[axis] = (middle, middle + 1)
        position = order.shrink(bounds)
        if self.dtype.is_float:
            is_nan = self.isnan()
            position = is_nan.any(axis, keepdim=True).where(is_nan.argmax(axis, True), position)
        return self._gathered(axis, position), position

    def bincount(
        self, weights: Self | None = None, minlength: int = 0, size: int | None = None
    ) -> Self:
        """How often each of the numbers 0, 1, ... occurs, as i32; or the sums of their weights.

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
        entries = (
            self._constant(1, dtypes.default_int) if weights is None else weights.unsqueeze(-1)
        )
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
