"""Sorting: short axes by comparing all pairs, longer ones by hand-written kernels.

Values are mapped to keys: unsigned integers in the same order. Where all pairs are compared, the
position is the least significant part of a key: no two are equal, and the sort is stable.

Positions and values are sorted apart, since programs mostly use one of them: keys alone take less
time than keys with positions and a gather, and many rows are sorted in the lanes of vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Self, TypeVar

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import is_cpu
from tgdialect.frontend.graph import apply
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.symbolic import greatest, is_surely_less, to_dim
from tgdialect.kernels.merge_sort import merge_argsort
from tgdialect.kernels.radix_sort import extent_in_chunks, radix_sort
from tgdialect.kernels.smallest import filtered, inserted, is_inserted, selected
from tgdialect.kernels.sorting_network import padded, sort_columns
from tgdialect.ops import tg
from tgdialect.ops.dtypes import unsigned

_SHORT = 128
"""The longest axis that is sorted by comparing all pairs, whose time grows as its square. A radix
sort has to clear and to add up counts for each row, whatever its length. On a CPU 1,000 rows of 128
f32 took 3.9 ms by pairs and 4.6 ms by digits, and rows of 192 took 8.6 and 8.0 ms. Not measured on
a GPU."""
_SELECTED = 4
"""`topk` selects at most one in so many elements of an axis, and sorts the axis for more. Smaller:
more of what is selected is sorted, too; larger: axes are sorted for a few of their elements. A
quarter of 1,000 f32 took as long by both ways, and a quarter of 10^5 took 1.0 ms by selection and
1.7 ms by sorting."""
_BLOCK = 64
"""Blocks, of which `topk` skips most, have a multiple of so many cells, that of the fewest blocks
and candidates together: rows of full vectors, whose minima are quick."""
_FEW = 16
"""`topk` looks at blocks if the k that it needs have at most one in so many elements of a row.
Smaller: the minima and the sort of blocks take longer than skipping them saves, as for an eighth of
51,200 f32 with 100 blocks; larger: blocks are not skipped that could be. At the 150th part of 10^6
they took 0.6 ms, and 1.8 ms without."""
_VECTOR = 512
"""The bits of the vectors whose lanes sort a row each. Narrower registers take several."""
_STAGES = 400
"""The most stages of a network that sorts rows, times the lanes for each row. Stages grow as the
square of the logarithm of the length: longer rows are sorted quicker by digits. Four rows of 1,000
f32, 484 by that measure, took as long by digits; eight of 4,000, 338, took 0.13 ms, and 0.18 ms by
digits."""
_FEW_PAIRS = 1 << 17
"""The most pairs of short axes that are left to comparisons of all pairs. Larger: a network would
run faster; smaller: it compiles for longer, 1.3 times and more for the shortest. So many pairs take
some 30 µs to compare."""

T = TypeVar("T", bound=Indexing)


class Sorting(Indexing):
    """Sorting along an axis."""

    __slots__ = ()

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """The sorted values along an axis, and their former positions. The sort is stable; NaN is
        larger than all numbers.

        Values are sorted without their positions where that is quicker. Then -0 may come before +0,
        which the positions take for equal.
        """
        indices = self.argsort(dim, descending)
        if not self.ndim:
            return self._apart_from(self), indices
        axis = self._axis(dim)
        values = self.transpose(axis, -1)._sorted_alone(descending)
        if values is None:
            return self._gathered(axis, indices), indices
        return values.transpose(axis, -1), indices

    def _sorted_alone(self, descending: bool) -> Self | None:
        """The sorted values of the last axis, without their positions: None where that is not
        quicker, or where positions are needed, as they are for a gradient."""
        is_plain = not self.node.is_tracked and self.node.extents is None
        if not is_plain or not is_cpu(self.device) or self.numel() == 0:
            return None
        n, bits = self.shape[-1], self.dtype.bits
        rows, lanes = self.numel() // n, _VECTOR // bits
        blocks, m = -(-rows // lanes), padded(n)
        if n <= _SHORT and rows * n * n <= _FEW_PAIRS:
            return None
        key = self._key(descending, is_stable=False).reshape((rows, n))
        if blocks * lanes * m.bit_length() ** 2 <= _STAGES * rows:
            # Lanes of a vector are rows.
            columns = key.pad_to(blocks * lanes, n).reshape((blocks, lanes, n)).transpose(1, 2)
            columns = columns.pad_to(None, m, None, value=2**bits - 1)._called(sort_columns, n)
            columns = columns.shrink_to(None, n, None).transpose(1, 2)
            key = columns.reshape((blocks * lanes, n)).shrink_to(rows, n)
        elif n > _SHORT:
            key = key._in_chunks()._called(radix_sort).shrink_to(rows, n)
        else:
            return None
        return key.reshape(self.shape)._of_key(self.dtype, descending)

    def _in_chunks(self) -> Self:
        """Rows of keys, padded to chunks of one size with keys that are no less than any other."""
        rows, n = self.shape
        return self.pad_to(rows, extent_in_chunks(n), value=int(self.dtype.high))

    def _called(self, function: Callable[..., tg.FunctionOp], *arguments: Any) -> Self:
        """The result of a FUNCTION."""
        result = self.of_node(apply(function, self.node, *arguments))
        return result._apply(tg.GetTupleOp, result.node, 0)

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """The positions of the sorted values along an axis."""
        axis = self._axis(dim)
        if not self.ndim:
            return self._constant(0, dtypes.int32)
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
        key = key.reshape((-1, most[-1]))._in_chunks()
        positions = self.arange(key.shape[-1]).cast(dtypes.uint32)._broadcast_to(key.shape)
        # One thread sorts a row by digits, and many merge parts of it.
        function = radix_sort if is_cpu(self.device) else merge_argsort
        order = key._called(function, positions.node).shrink_to(None, most[-1])
        return order.reshape(most).shrink_to(self.shape).cast(dtypes.int32)

    def _selected(self, k: int, largest: bool) -> Self:
        """The positions of the k first cells of each row in descending or ascending order."""
        n, bits = self.shape[-1], self.dtype.bits
        ones = 2**bits - 1
        key = self._key(largest).reshape((-1, n))
        rows = key.shape[0]
        size = max(math.isqrt(n // k) // _BLOCK, 1) * _BLOCK
        in_blocks = k * size * _FEW <= n
        # The least key of each block of neighbours.
        blocks = -(-n // size)
        least = key.pad_to(rows, blocks * size, value=ones).reshape((rows, blocks, size)).min(-1)
        if is_inserted(bits, k):
            found = key._called(inserted, k, *((least.node, size) if in_blocks else ()))
        else:
            if in_blocks:
                bound = least.sort()[0].shrink([None, (k - 1, k)]).reshape((rows,))
                both = apply(filtered, key.node, least.node, bound.node, k, size)
            else:
                both = apply(selected, key.node, k)
            parts = (self._apply(tg.GetTupleOp, both, i)._in_chunks() for i in range(2))
            keys, positions = parts
            found = keys._called(radix_sort, positions.node).shrink_to(rows, k)
        return found.cast(dtypes.int32).reshape((*self.shape[:-1], k))

    def _key(self, descending: bool, *, is_stable: bool = True) -> Self:
        """Unsigned integers of as many bits as the dtype has, in the order of the values. Zeros are
        equal in a stable sort, and otherwise -0 comes before +0, so that it is not lost."""
        bits = self.dtype.bits
        dtype = dtypes.of_attribute(unsigned(bits))
        top, ones = 1 << (bits - 1), int(dtype.high)
        if self.dtype.is_float:
            raw = (self.eq(0).where(0.0, self) if is_stable else self).bitcast(dtype)
            key = (raw < top).where(raw.bitwise_xor(top), raw.bitwise_xor(ones))
            key = self.isnan().where(ones, key)
        elif self.dtype.low < 0:
            key = self.bitcast(dtype).bitwise_xor(top)
        else:
            key = self.cast(dtype)
        return key.bitwise_xor(ones) if descending else key

    def _of_key(self, dtype: dtypes.DType, descending: bool) -> Self:
        """The values with these keys."""
        top, ones = 1 << (dtype.bits - 1), 2**dtype.bits - 1
        key = self.bitwise_xor(ones) if descending else self
        if dtype.is_float:
            raw = (key < top).where(key.bitwise_xor(ones), key.bitwise_xor(top))
            return key.eq(ones).where(math.nan, raw.bitcast(dtype))
        return key.bitwise_xor(top).bitcast(dtype) if dtype.low < 0 else key.cast(dtype)

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
        if is_surely_less(to_dim(k), 0) or is_surely_less(extent, k):
            raise ValueError(f"topk of {k} along an axis of {extent}")
        is_static = self.node.extents is None and to_dim(k) == greatest(k)
        is_selected = self.ndim and is_static and is_cpu(self.device)
        if is_selected and k > 0 and max(k * _SELECTED, _SHORT + 1) <= extent:
            x = self.detach().transpose(axis, -1)
            indices = x._selected(k, largest).transpose(axis, -1)
            return self._gathered(axis, indices), indices
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
