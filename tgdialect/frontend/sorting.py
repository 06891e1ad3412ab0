"""Sorting: short axes by comparing all pairs, longer ones by hand-written kernels.

Values are mapped to keys: unsigned integers in the same order. Where all pairs are compared, the
position is the least significant part of a key: no two are equal, and the sort is stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Self, TypeVar

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import is_cpu
from tgdialect.frontend.graph import apply
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.symbolic import greatest
from tgdialect.kernels.merge_sort import merge_argsort
from tgdialect.kernels.radix_sort import radix_argsort
from tgdialect.kernels.smallest import smallest
from tgdialect.ops.call import GetTupleOp
from tgdialect.ops.dtypes import unsigned

_SHORT = 128
"""Axes of up to this length are sorted by comparing all pairs. A radix sort has to clear and to add
up counts for each row: on a CPU 1,000 rows of 128 f32 took 3.9 ms by pairs and 4.6 ms by digits,
and rows of 192 took 8.6 and 8.0 ms. Not measured on a GPU."""
_SELECTED = 4
"""`topk` selects if it is asked for at most this part of an axis, and sorts the axis otherwise.
What is selected is sorted, too: a quarter of 1,000 f32 took as long by both ways, and a quarter of
10^5 took 1.0 ms by selection and 1.7 ms by sorting."""

T = TypeVar("T", bound=LinearAlgebra)


class Sorting(LinearAlgebra):
    """Sorting along an axis."""

    __slots__ = ()

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """The sorted values along an axis, and their former positions. The sort is stable; NaN is
        larger than all numbers."""
        indices = self.argsort(dim, descending)
        if not self.ndim:
            return self._apart_from(self), indices
        return self.gather(dim, indices), indices

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """The positions of the sorted values along an axis."""
        axis = self._axis(dim)
        if not self.ndim:
            return self._constant(0, dtypes.default_int)
        x = self.detach().transpose(axis, -1)
        if x.numel() == 0:
            return self.full(self.shape, 0, "int32")
        if greatest(x.shape[-1]) <= _SHORT:
            order = _ranked(x._keys(descending))[-1].bitwise_and(2**32 - 1).cast(dtypes.int32)
        elif isinstance(device := x.device, tuple):
            # A FUNCTION that calls kernels has no memory on several devices.
            order = x.to(device[0])._argsort_by_kernels(descending).to(device)
        else:
            order = x._argsort_by_kernels(descending)
        return order.transpose(axis, -1)

    def _argsort_by_kernels(self, descending: bool) -> Self:
        """The positions of the sorted cells of each row: of the greatest size, if it is symbolic,
        of which the last cells are no less than any other."""
        key = self._key(descending)
        most = [greatest(extent) for extent in self.shape]
        if self.node.extents is not None:
            key = key.pad_to(most, value=2**self.dtype.bits - 1)
        key = key.reshape((-1, most[-1]))
        positions = self.arange(most[-1]).cast(dtypes.uint32)._broadcast_to(key.shape)
        # One thread sorts a row by digits, and many merge parts of it.
        function = radix_argsort if is_cpu(self.device) else merge_argsort
        order = self.of_node(apply(function, key.node, positions.node))
        found = order._apply(GetTupleOp, order.node, 0).reshape(most)
        return found.shrink_to(self.shape).cast(dtypes.int32)

    def _selected(self, k: int, largest: bool) -> Self:
        """The positions of the k first cells of each row in descending or ascending order."""
        key = self._key(largest).reshape((-1, self.shape[-1]))
        found = self.of_node(apply(smallest, key.node, k))
        positions = found._apply(GetTupleOp, found.node, 0).cast(dtypes.int32)
        return positions.reshape((*self.shape[:-1], k))

    def _key(self, descending: bool) -> Self:
        """Unsigned integers of as many bits as the dtype has, in the order of the values."""
        bits = self.dtype.bits
        dtype = dtypes.of_attribute(unsigned(bits))
        top, ones = 1 << (bits - 1), int(dtype.high)
        if self.dtype.is_float:
            raw = self.eq(0).where(0.0, self).bitcast(dtype)  # -0 equals +0.
            key = (raw < top).where(raw.bitwise_xor(top), raw.bitwise_xor(ones))
            key = self.isnan().where(ones, key)
        elif self.dtype.low < 0:
            key = self.bitcast(dtype).bitwise_xor(top)
        else:
            key = self.cast(dtype)
        return key.bitwise_xor(ones) if descending else key

    def _keys(self, descending: bool) -> list[Self]:
        """The keys of the last axis, as one or two tensors, the most significant first."""
        wide = self.dtype.bits > 32
        key = self._key(descending).cast(dtypes.uint64)
        position = self.arange(self.shape[-1]).cast(dtypes.uint64)._broadcast_to(self.shape)
        return [key, position] if wide else [key.lshift(32).bitwise_or(position)]

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> tuple[Self, Self]:
        """The k largest (or smallest) values along an axis, sorted, and their positions."""
        axis = self._axis(dim)
        extent = self.shape[axis] if self.ndim else 1
        if not 0 <= k <= extent:
            raise ValueError(f"topk of {k} along an axis of {extent}")
        is_selected = self.ndim and self.node.extents is None and is_cpu(self.device)
        if is_selected and k > 0 and max(k * _SELECTED, _SHORT + 1) <= extent:
            x = self.detach().transpose(axis, -1)
            indices = x._selected(k, largest).transpose(axis, -1)
            return self.gather(axis, indices), indices
        values, indices = self.sort(dim, descending=largest)
        if not self.ndim:
            return values, indices
        bounds: list[tuple[int, int] | None] = [None] * self.ndim
        bounds[axis] = (0, k)
        return values.shrink(bounds), indices.shrink(bounds)


def _is_less(a: Sequence[T], b: Sequence[T]) -> T:
    """Lexicographic comparison of keys."""
    *rest, last = zip(a, b, strict=True)
    less = last[0] < last[1]
    return reduce(lambda low, pair: (pair[0] < pair[1]) | (pair[0].eq(pair[1]) & low), rest, less)


def _ranked(keys: Sequence[T]) -> list[T]:
    """Keys sorted along the last axis: the rank of a key is the number of keys before it."""
    n = keys[0].shape[-1]
    others, mine = ([key.unsqueeze(axis) for key in keys] for axis in (-2, -1))
    rank = _is_less(others, mine).sum(-1)
    is_here = rank.unsqueeze(-2).eq(rank.arange(n).reshape((n, 1)))
    return [is_here.where(key.unsqueeze(-2), 0).sum(-1).contiguous() for key in keys]
