"""Sorting: short axes by comparing all pairs, longer ones by hand-written kernels on a CPU.

On other devices, and with symbolic sizes, long axes are sorted in blocks that are merged. Values
are mapped to keys: unsigned integers in the same order. Where keys are compared, the position is
their least significant part: no two are equal, and the sort is stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Self, TypeVar

from tgdialect.frontend import dtypes
from tgdialect.frontend.graph import apply
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.symbolic import greatest
from tgdialect.kernels.radix_sort import radix_argsort
from tgdialect.kernels.smallest import smallest
from tgdialect.ops.call import GetTupleOp
from tgdialect.ops.dtypes import unsigned
from tgdialect.ops.movement import IndexOp
from tgdialect.runtime.program import HOST

_BLOCK = 64
"""The size of the blocks that are sorted by comparing all pairs, before they are merged."""
_ALL_PAIRS = 1 << 17
"""Axes of up to this length are sorted by comparing all pairs, where no radix sort is used: merging
is less work, but its kernels take a minute or more to compile."""
_SHORT = 128
"""Axes of up to this length are sorted by comparing all pairs on a CPU, too. A radix sort has to
clear and to add up counts for each row: 1,000 rows of 128 f32 took 3.9 ms by pairs and 4.6 ms by
digits, and rows of 192 took 8.6 and 8.0 ms."""
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
        *lead, n = x.shape
        if x._is_sorted_by_digits():
            return x._argsort_by_digits(descending).transpose(axis, -1)
        keys = x._keys(descending)
        if greatest(n) <= _ALL_PAIRS:
            order = _ranked(keys)[-1]
        else:
            order = _merge_sorted([key.reshape((-1, n)) for key in keys])[-1].reshape((*lead, n))
        return order.bitwise_and(2**32 - 1).cast(dtypes.int32).transpose(axis, -1)

    def _is_sorted_by_digits(self) -> bool:
        """Whether rows are sorted by a radix sort: on a CPU, if they are long and of static shape.
        One thread sorts a row, so that a GPU merges blocks instead."""
        device, is_static = self.device, self.node.extents is None
        is_cpu = isinstance(device, str) and device.partition(":")[0] == HOST
        return is_static and is_cpu and self.shape[-1] > _SHORT

    def _argsort_by_digits(self, descending: bool) -> Self:
        """The positions of the sorted cells of each row."""
        n = self.shape[-1]
        keys = self._key(descending).reshape((-1, n))
        positions = self.arange(n).cast(dtypes.uint32)._broadcast_to(keys.shape)
        order = self.of_node(apply(radix_argsort, keys.node, positions.node))
        return order._apply(GetTupleOp, order.node, 0).reshape(self.shape).cast(dtypes.int32)

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
        if self.ndim and 0 < k * _SELECTED <= extent:
            x = self.detach().transpose(axis, -1)
            if x._is_sorted_by_digits():
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


def _merge_sorted(keys: Sequence[T]) -> list[T]:
    """Matrices of keys, sorted along rows: blocks are sorted, then merged in pairs."""
    rows, n = keys[0].shape
    size = _BLOCK
    padded = size
    while padded < n:
        padded *= 2
    *major, minor = (key.pad_to(rows, padded, value=2**64 - 1) for key in keys)
    line = minor.arange(padded).cast(minor.dtype)
    minor = (line < n).where(minor, line + (2**64 - padded))  # Padding is distinct, too.
    flat = [key.flatten() for key in _ranked([k.reshape((-1, size)) for k in (*major, minor)])]
    while size < padded:
        flat = _merged(flat, size)
        size *= 2
    return [key.reshape((rows, padded)).shrink_to(rows, n) for key in flat]


def _merged(keys: Sequence[T], size: int) -> list[T]:
    """Merge each pair of sorted blocks of a size.

    A binary search along the diagonal finds how many of the first k keys of the result come from
    the first block (Odeh et al., "Merge Path", 2012).
    """
    count = keys[0].shape[0]
    places = keys[0].arange(count)
    base, k = (places // (2 * size)) * (2 * size), places % (2 * size)

    def at(position: T) -> list[T]:
        """The keys at positions of both blocks."""
        linear = (base + position).maximum(0).minimum(count - 1)
        return [key._apply(IndexOp, key.node, (linear.node,)) for key in keys]  # pyright: ignore[reportPrivateUsage]

    def comes_first(i: T) -> T:
        """Whether key i of the first block is among the first k keys: 1 or 0."""
        j = k - 1 - i  # It is, if at most j keys of the second block come before it.
        is_less = _is_less(at(i), at(size + j)).cast(dtypes.int32)
        return (j >= 0).cast(dtypes.int32) * (j >= size).cast(dtypes.int32).maximum(is_less)

    taken = k * 0
    step = size
    while step > 1:
        step //= 2
        taken = taken + comes_first(taken + (step - 1)) * step
    taken = taken + comes_first(taken)
    first, second = at(taken), at(size + k - taken)
    is_first = (taken < size) & ((k - taken >= size) | _is_less(first, second))
    return [is_first.where(a, b).contiguous() for a, b in zip(first, second, strict=True)]
