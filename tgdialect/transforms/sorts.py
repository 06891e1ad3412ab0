"""The algorithms of sorts, as tensor ops and FUNCTIONs that call kernels.

Values are mapped to keys: unsigned integers in the same order. Short axes are sorted by comparing
all pairs of keys; the position is the least significant part of a key then, so that no two are
equal, and the sort is stable. Longer axes are sorted by hand-written kernels (`kernels/`).

Positions and values are sorted apart, since programs mostly use one of them: keys alone take less
time than keys with positions and a gather, and many rows are sorted in the lanes of vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.kernels.merge_sort import merge_argsort
from tgdialect.kernels.radix_sort import COUNT, extent_in_chunks, radix_sort
from tgdialect.kernels.smallest import filtered, inserted, is_inserted, selected
from tgdialect.kernels.sorting_network import column_length, sort_columns
from tgdialect.kernels.writer import Library
from tgdialect.ops import tg
from tgdialect.ops.dtypes import I64, UI64
from tgdialect.ops.movement import MixedDims
from tgdialect.ops.sorts import SORTS
from tgdialect.transforms.builder import Builder
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.tg_semantics import Tg, TgSemantics

SHORT = 128
"""The longest axis that is sorted by comparing all pairs, whose time grows as its square. A radix
sort has to clear and to add up counts for each row, whatever its length. The lengths at which both
take as long on two CPUs are in `docs/notes/front-end.md`. Not measured on a GPU."""
_SELECTED = 4
"""At most one in so many elements of an axis is selected, and the axis is sorted for more. Smaller:
more of what is selected is sorted, too; larger: axes are sorted for a few of their elements. A
quarter of 1,000 f32 takes as long by both ways, and a quarter of 10^5 0.64 times as long by
selection (`docs/notes/front-end.md`)."""
_BLOCK = 64
"""Blocks, of which a selection skips most, have a multiple of so many cells, that of the fewest
blocks and candidates together: rows of full vectors, whose minima are quick."""
_FEW = 16
"""A selection looks at blocks if the k that it needs have at most one in so many elements of a row.
Smaller: the minima and the sort of blocks take longer than skipping them saves, as for an eighth of
51,200 f32 with 100 blocks; larger: blocks are not skipped that could be. For 200 of 10^6 they are
7 times as quick (`docs/notes/front-end.md`)."""
_VECTOR = 512
"""The bits of the vectors whose lanes sort a row each. Narrower registers take several."""
_STAGES = 400
"""The most stages of a network that sorts rows, times the lanes for each row. Stages grow as the
square of the logarithm of the length: longer rows are sorted quicker by digits, from 484 stages on
one CPU and later on another (`docs/notes/front-end.md`)."""
_FEW_PAIRS = 1 << 17
"""The most pairs of short axes that are left to comparisons of all pairs. Larger: a network would
run faster; smaller: it compiles for longer, 1.3 times and more for the shortest. So many pairs take
some 30 µs to compare."""

_GREATEST = 2**31 - 1
"""The greatest extent of which there is a position, in i32."""


class SortBuilder(Builder):
    """Inserts the ops that sort the last axis of values, before an op or at the end of a block."""

    def __init__(self, at: Operation | Block) -> None:
        if isinstance(at, Block):
            super().__init__(at)
        else:
            assert at.parent is not None
            super().__init__(at.parent, at)
            self.move_before(at)
        self._lines: dict[int | SSAValue, SSAValue] = {}

    # -- ops

    def recipe(self, value: SSAValue) -> Tg:
        """A value whose operators insert ops here."""
        return TgSemantics(self).value(value)

    def cast(self, value: SSAValue, dtype: Attribute) -> SSAValue:
        return (
            value if tg.tensor(value).element_type == dtype else self.put(tg.CastOp(value, dtype))
        )

    def pad(self, value: SSAValue, shape: MixedDims, fill: int) -> SSAValue:
        """A value with numbers behind the cells of its axes."""
        if tg.shape_of(value) == tuple(shape):
            return value
        filled = tg.number_attribute(fill, tg.tensor(value).element_type)
        return self.put(tg.PadOp(value, [0] * len(shape), shape, filled))

    def shrink(self, value: SSAValue, shape: MixedDims) -> SSAValue:
        """The first cells of the axes of a value."""
        if tg.shape_of(value) == tuple(shape):
            return value
        return self.put(tg.ShrinkOp(value, [0] * len(shape), shape))

    def line(self, extent: int | SSAValue, dtype: Attribute) -> SSAValue:
        """The vector 0, 1, ..., extent - 1."""
        if extent not in self._lines:
            self._lines[extent] = self.positions(extent)
        return self.cast(self._lines[extent], dtype)

    def reduced(self, kind: tg.ReduceKind, value: SSAValue) -> SSAValue:
        """A value reduced over its last axis."""
        shape = tg.shape_of(value)
        return self.reshaped(self.put(tg.ReduceOp(kind, value, [len(shape) - 1])), shape[:-1])

    # -- keys

    def key(self, value: SSAValue, *, descending: bool, is_stable: bool = True) -> SSAValue:
        """Unsigned integers of as many bits as the dtype has, in the order of the values. Zeros are
        equal in a stable sort, and otherwise -0 comes before +0, so that it is not lost."""
        x, dtype = self.recipe(value), tg.dtype_of(value)
        word = cast(Dtype, f"ui{dtype.bits}")
        top, ones = 1 << (dtype.bits - 1), 2**dtype.bits - 1
        if dtype.is_float:
            raw = (x.eq(0).where(x.constant(0), x) if is_stable else x).bitcast(word)
            signed, flipped = raw ^ top, raw ^ ones
            key = (raw < top).where(signed, flipped)
            key = x.ne(x).where(key.constant(ones), key)
        elif dtype.low < 0:
            key = x.bitcast(word) ^ top
        else:
            key = x.cast(word)
        return (key ^ ones if descending else key).handle

    def value(self, key: SSAValue, type: Attribute, *, descending: bool) -> SSAValue:
        """The values of a dtype with these keys."""
        x, dtype = self.recipe(key), tg.dtype_row(type)
        name = cast(Dtype, dtype.name)
        top, ones = 1 << (dtype.bits - 1), 2**dtype.bits - 1
        x = x ^ ones if descending else x
        if dtype.is_float:
            signed, flipped = x ^ top, x ^ ones
            number = (x < top).where(flipped, signed).bitcast(name)
            nan = number.constant(math.nan)
            return x.eq(ones).where(nan, number).handle
        return ((x ^ top).bitcast(name) if dtype.low < 0 else x.cast(name)).handle

    # -- all pairs

    def argsort_by_pairs(self, value: SSAValue, *, descending: bool) -> SSAValue:
        """The positions of the sorted cells of the last axis, of i32, by comparing all pairs."""
        shape = self.known(tg.shape_of(value))
        key = self.cast(self.key(value, descending=descending), UI64)
        position = self.expanded(self.line(shape[-1], UI64), shape)
        keys = [key, position]
        if tg.dtype_of(value).bits <= 32:
            keys = [(self.recipe(key) << 32 | self.recipe(position)).handle]
        # The rank of a key is the number of keys before it.
        lines = (*shape[:-1], 1, shape[-1])
        others = [self.recipe(self.reshaped(key, lines)) for key in keys]
        mine = [self.recipe(self.reshaped(key, (*shape, 1))) for key in keys]
        before = _is_less(others, mine).cast("i32")
        rank = self.reduced(tg.ReduceKind.ADD, before.handle)
        rank = self.recipe(self.reshaped(rank, lines))
        place = self.reshaped(self.line(shape[-1], tg.I32), (shape[-1], 1))
        chosen = rank.eq(self.recipe(place)).where(others[-1], 0)
        ranked = self.put(tg.ContiguousOp(self.reduced(tg.ReduceKind.ADD, chosen.handle)))
        return (self.recipe(ranked) & (2**32 - 1)).cast("i32").handle

    # -- kernels

    def called(self, function: tg.FunctionOp) -> SSAValue:
        """The first result of a FUNCTION."""
        return self.put(tg.GetTupleOp(self.put(function), 0))

    def in_chunks(self, key: SSAValue) -> SSAValue:
        """Rows of keys, padded to chunks of one size with keys that are no less than any other."""
        rows, n = tg.static_shape(tg.tensor(key))
        return self.pad(key, (rows, extent_in_chunks(n)), 2 ** tg.dtype_of(key).bits - 1)


def _is_less(a: Sequence[Tg], b: Sequence[Tg]) -> Tg:
    """Lexicographic comparison of keys."""
    *rest, (last, other) = zip(a, b, strict=True)
    less = last < other
    for mine, theirs in rest:
        equal = mine.eq(theirs) & less
        less = (mine < theirs) | equal
    return less


Orders = dict[tuple[SSAValue, int, bool], SSAValue]
"""For values, numbers of cells, and whether they are in descending order: the positions of the
first sorted cells. Sorted values may be gathered by them."""


class Sorts:
    """The sorts of values for a target, whose kernels come from a library."""

    def __init__(
        self, builder: SortBuilder, library: Library, orders: Orders, *, is_grid: bool
    ) -> None:
        self.b = builder
        self.library = library
        self.orders = orders
        self.is_grid = is_grid

    def positions(
        self, value: SSAValue, most: Sequence[int], count: int, *, descending: bool
    ) -> SSAValue:
        """The positions of the first `count` sorted cells of the last axis, as i32; of all if that
        is dynamic. `most` is the greatest shape of the value."""
        *lead, n = shape = tg.shape_of(value)
        key = value, count, descending
        if (known := self.orders.get(key)) is None:
            if self._is_selected(shape, count):
                known = self._selected(value, count, descending=descending)
            elif count in (n, DYNAMIC_INDEX):
                known = self._argsort(value, most, descending=descending)
            else:
                every = self.positions(value, most, cast(int, n), descending=descending)
                known = self.b.shrink(every, (*lead, count))
            self.orders[key] = known
        return known

    def values(self, value: SSAValue, count: int, *, descending: bool = False) -> SSAValue:
        """The first `count` sorted cells of the last axis."""
        b, shape = self.b, tg.static_shape(tg.tensor(value))
        if DYNAMIC_INDEX in shape:
            raise PassFailedException(
                "sorted values of a dynamic shape: gather them by their positions"
            )
        if self._is_selected(shape, count):
            order = self.positions(value, shape, count, descending=descending)
            return self._gathered(value, order)
        every = self._sorted_alone(value, descending=descending)
        if every is None:
            order = self.positions(value, shape, shape[-1], descending=descending)
            every = self._gathered(value, order)
        return b.shrink(every, (*shape[:-1], count))

    def _is_selected(self, shape: tg.Shape, count: int) -> bool:
        """Whether the first cells are selected, and the others not sorted."""
        if self.is_grid or not all(isinstance(extent, int) for extent in shape):
            return False
        return count > 0 and max(count * _SELECTED, SHORT + 1) <= cast(int, shape[-1])

    def _argsort(self, value: SSAValue, most: Sequence[int], *, descending: bool) -> SSAValue:
        """The positions of the sorted cells of the last axis, as i32. `most` is the greatest shape
        of a value of symbolic size, at which it is sorted by kernels: the last cells are no less
        than any other."""
        b, n = self.b, most[-1]
        if n <= SHORT:
            return b.argsort_by_pairs(value, descending=descending)
        if max(most) > _GREATEST:
            raise PassFailedException("a sort of an axis whose greatest extent is not known")
        shape = b.known(tg.shape_of(value))
        key = b.key(value, descending=descending)
        key = b.pad(key, most, 2 ** tg.dtype_of(key).bits - 1)
        key = b.in_chunks(b.reshaped(key, (math.prod(most[:-1]), n)))
        extents = tg.static_shape(tg.tensor(key))
        positions = b.expanded(b.line(extents[-1], COUNT), extents)
        # One thread sorts a row by digits, and many merge parts of it.
        sort = merge_argsort if self.is_grid else radix_sort
        order = b.called(sort(self.library, key, positions))
        order = b.reshaped(b.shrink(order, (extents[0], n)), tuple(most))
        return b.cast(b.shrink(order, shape), tg.I32)

    def _selected(self, value: SSAValue, k: int, *, descending: bool) -> SSAValue:
        """The positions of the first k sorted cells of the last axis, as i32."""
        b, library = self.b, self.library
        *lead, n = tg.static_shape(tg.tensor(value))
        rows = math.prod(lead)
        key = b.reshaped(b.key(value, descending=descending), (rows, n))
        size = max(math.isqrt(n // k) // _BLOCK, 1) * _BLOCK
        least = self._least_of_blocks(key, size) if k * size * _FEW <= n else None
        if is_inserted(tg.dtype_of(key).bits, k):
            found = b.called(inserted(library, key, k, least, size))
        else:
            if least is None:
                both = b.put(selected(library, key, k))
            else:
                every = self.values(least, tg.static_shape(tg.tensor(least))[-1])
                bound = b.reshaped(b.put(tg.ShrinkOp(every, [0, k - 1], [rows, 1])), (rows,))
                both = b.put(filtered(library, key, least, bound, k, size))
            keys, positions = (b.in_chunks(b.put(tg.GetTupleOp(both, i))) for i in range(2))
            found = b.shrink(b.called(radix_sort(library, keys, positions)), (rows, k))
        return b.reshaped(b.cast(found, tg.I32), (*lead, k))

    def _least_of_blocks(self, key: SSAValue, size: int) -> SSAValue:
        """The least key of each block of neighbours of a row."""
        b = self.b
        rows, n = tg.static_shape(tg.tensor(key))
        blocks, ones = -(-n // size), 2 ** tg.dtype_of(key).bits - 1
        grouped = b.reshaped(b.pad(key, (rows, blocks * size), ones), (rows, blocks, size))
        greatest = b.reduced(tg.ReduceKind.MAX, (b.recipe(grouped) ^ ones).handle)
        return (b.recipe(greatest) ^ ones).handle

    def _sorted_alone(self, value: SSAValue, *, descending: bool) -> SSAValue | None:
        """The sorted cells of the last axis, without their positions: None where that is not
        quicker."""
        b = self.b
        *lead, n = shape = tg.static_shape(tg.tensor(value))
        rows, bits = math.prod(lead), tg.dtype_of(value).bits
        lanes = _VECTOR // bits
        blocks, m = -(-rows // lanes), column_length(n)
        in_lanes = blocks * lanes * m.bit_length() ** 2 <= _STAGES * rows
        few = n <= SHORT and (rows * n * n <= _FEW_PAIRS or not in_lanes)
        if self.is_grid or few:
            return None
        key = b.reshaped(b.key(value, descending=descending, is_stable=False), (rows, n))
        if in_lanes:
            # Lanes of a vector are rows.
            columns = b.reshaped(b.pad(key, (blocks * lanes, n), 0), (blocks, lanes, n))
            columns = b.put(tg.PermuteOp(columns, [0, 2, 1]))
            columns = b.pad(columns, (blocks, m, lanes), 2**bits - 1)
            columns = b.called(sort_columns(self.library, columns, n))
            columns = b.put(tg.PermuteOp(b.shrink(columns, (blocks, n, lanes)), [0, 2, 1]))
            key = b.shrink(b.reshaped(columns, (blocks * lanes, n)), (rows, n))
        else:
            key = b.shrink(b.called(radix_sort(self.library, b.in_chunks(key))), (rows, n))
        key = b.reshaped(key, shape)
        return b.value(key, tg.tensor(value).element_type, descending=descending)

    def _gathered(self, value: SSAValue, positions: SSAValue) -> SSAValue:
        """The cells at positions along the last axis."""
        b = self.b
        shape = tg.static_shape(tg.tensor(value))
        wanted = tg.static_shape(tg.tensor(positions))
        cell: Tg | None = None
        for axis, extent in enumerate(shape):
            if axis == len(shape) - 1:
                place = b.cast(positions, I64)
            else:
                line = tuple(extent if a == axis else 1 for a in range(len(shape)))
                place = b.expanded(b.reshaped(b.line(extent, I64), line), wanted)
            place = b.recipe(place)
            cell = place if cell is None else cell * extent + place
        assert cell is not None, "there is a last axis"
        flat = b.reshaped(value, (math.prod(shape),))
        cells = b.reshaped(cell.handle, (math.prod(wanted),))
        return b.reshaped(b.put(tg.IndexOp(flat, [cells])), wanted)


# -- the FUNCTIONs of front ends


def sort_function(
    value: SSAValue, most: Sequence[int], sizes: Sequence[SSAValue], name: str, count: int | None
) -> tg.FunctionOp:
    """A FUNCTION that CALLs a sort of `ops/sorts.py` on a value, whose dynamic extents are `sizes`,
    and whose greatest shape is `most`: for the first `count` sorted cells of the last axis, or
    their positions, as i32; None is all."""
    builder, param = _body(value, most, sizes)
    *lead, n = tg.tensor(param).get_shape()
    dtype = tg.tensor(param).element_type
    memory = tg.PlaceAttr.of(tg.place(value).device, tg.AddrSpace.GLOBAL)
    dims = [dim for dim in tg.shape_of(param) if isinstance(dim, SSAValue)]

    def buffer(slot: int, dtype: Attribute, n: int) -> SSAValue:
        return builder.put(tg.BufferOp(slot, tg.tensor_type(dtype, (*lead, n), memory), dims))

    source = buffer(0, dtype, n)
    source = builder.put(tg.AfterOp(source, [builder.put(tg.StoreOp(source, param))]))
    target = buffer(1, dtype if SORTS[name].gives_values else tg.I32, n if count is None else count)
    call = builder.put(tg.CallOp(name, [source, target]))
    result = builder.put(tg.LoadOp(builder.put(tg.AfterOp(target, [call]))))
    builder.insert(tg.TupleOp([result]))
    return tg.FunctionOp([value, *sizes], Region(builder.block))


def pairs_function(
    value: SSAValue,
    most: Sequence[int],
    sizes: Sequence[SSAValue],
    descending: bool,  # Positional, for a key of `apply`.
) -> tg.FunctionOp:
    """A FUNCTION from a value to the positions of its sorted cells, as `sort_function`, by tensor
    ops alone: for values on several devices, each of which has a part of all."""
    builder, param = _body(value, most, sizes)
    builder.insert(tg.TupleOp([builder.argsort_by_pairs(param, descending=descending)]))
    return tg.FunctionOp([value, *sizes], Region(builder.block))


def _body(
    value: SSAValue, most: Sequence[int], sizes: Sequence[SSAValue]
) -> tuple[SortBuilder, SSAValue]:
    """The beginning of the body of a FUNCTION of a value and its dynamic extents, and its PARAM."""
    builder = SortBuilder(Block())
    where, shape = tg.place(value), tg.tensor(value).get_shape()
    bounds = [bound for extent, bound in zip(shape, most, strict=True) if extent == DYNAMIC_INDEX]
    dims = [
        builder.put(tg.ParamOp(slot, tg.tensor(size), min=0, max=bound))
        for slot, (size, bound) in enumerate(zip(sizes, bounds, strict=True), 1)
    ]
    here = tg.PlaceAttr.of(where.device, None, where.axis)
    type = tg.tensor_type(tg.tensor(value).element_type, shape, here)
    return builder, builder.put(tg.ParamOp(0, type, dims))
