"""Indexing: slices, tensors of positions, masks; gather."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Sequence
from functools import reduce
from types import EllipsisType
from typing import Any, Self, cast

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.base import ArgumentError, Number, TensorBase, check_integers, check_tensors
from tgdialect.frontend.graph import argument_errors
from tgdialect.frontend.movement import interleaved
from tgdialect.frontend.realization import as_array
from tgdialect.frontend.reduction import Reduction
from tgdialect.frontend.symbolic import (
    SymInt,
    greatest,
    is_surely_less,
    is_undecided,
    larger,
    least,
    smaller,
    to_dim,
)
from tgdialect.frontend.tracing import is_tracing
from tgdialect.frontend.views import mark_view
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import broadcast_shapes

Bounds = list[tuple[int, int] | None]


class Indexing(Reduction):
    """`x[...]`, gather, and methods made of these."""

    __slots__ = ()

    # -- x[...] ------------------------------------------------------------------------------------

    def __getitem__(self, indices: Any) -> Self:
        if isinstance(indices, TensorBase) and indices.dtype.is_bool and not indices.ndim:
            return self.unsqueeze(0)[cast(Self, indices).reshape((1,))]
        window, tensors = self._window(self._entries(indices))
        return window._pick(tensors) if tensors else window

    def _window(self, entries: Sequence[Any]) -> tuple[Self, list[tuple[int, Self]]]:
        """The view that slices, numbers and None make of this tensor, and the other entries with
        the axes of the view that they index."""
        # Slices, and numbers as slices of one cell: an axis for each entry.
        bounds: Bounds = []
        steps: list[int] = []
        for axis, entry in enumerate(e for e in entries if e is not None):
            is_tensor = isinstance(entry, TensorBase)
            start, end, step = (0, 0, 1) if is_tensor else reach_of(entry, self.shape[axis], axis)
            bounds.append(None if is_tensor else (start, end))
            steps.append(step)
        x = self.shrink(bounds).flip([axis for axis, step in enumerate(steps) if step < 0])
        x = x._strided([abs(step) for step in steps])
        # Then numbers drop their axis, and None adds one.
        shape: list[int] = []
        tensors: list[tuple[int, Self]] = []
        extents = iter(x.shape)
        for entry in entries:
            extent = 1 if entry is None else next(extents)
            if isinstance(entry, TensorBase):
                tensors.append((len(shape), cast(Self, entry)))
            if not isinstance(entry, int | SymInt):
                shape.append(extent)
        return x.reshape(shape), tensors

    def _strided(self, steps: Sequence[int]) -> Self:
        """Each axis with a step, from its first cell on."""
        if all(step == 1 for step in steps):
            return self
        counts = [-(-d // s) for d, s in zip(self.shape, steps, strict=True)]
        ends = zip(counts, steps, self.shape, strict=True)
        wide = self._padded([(0, c * s - d) for c, s, d in ends], 0)
        mark_view(wide.node)
        pairs = wide.reshape(interleaved(counts, steps))
        return pairs.shrink_to(interleaved(counts, [1] * len(counts))).reshape(counts)

    def _entries(self, indices: Any) -> list[Any]:
        """One entry for each axis, and None for each new axis. Masks become tensors of
        positions."""
        # Convert and check each entry.
        given: list[Any] = list(indices) if isinstance(indices, tuple) else [indices]  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(indices, list):  # One of numbers has positions, another one is a tuple.
            members = cast(list[Any], indices)
            is_flat = all(hasattr(m, "__index__") and not _is_index(m) for m in members)
            given = [self._of_array(_positions(members))] if is_flat else members
        entries: list[Any] = []
        masks: list[tuple[int, tuple[int, ...]]] = []
        for entry in given:
            if isinstance(entry, bool):
                raise IndexError("a bool is no index")
            if isinstance(entry, list | tuple):
                entry = self._of_array(_positions(cast(Sequence[Any], entry)))
            if isinstance(entry, TensorBase) and entry.dtype.is_bool:
                masks.append((len(entries), entry.shape))
                entries += cast(Self, entry)._positions_of_true()
            elif isinstance(entry, TensorBase) and not entry.dtype.is_integer:
                raise IndexError(f"an index of dtype {entry.dtype.name}")
            elif hasattr(entry, "__index__") and not isinstance(entry, TensorBase):
                entries.append(entry if isinstance(entry, SymInt) else operator.index(entry))
            elif entry is None or isinstance(entry, slice | EllipsisType | TensorBase):
                if isinstance(entry, slice):
                    _check_slice(cast("slice[Any, Any, Any]", entry))
                entries.append(entry)
            else:
                raise IndexError(f"an index of type {type(entry).__name__}")
        # Check their number.
        used = sum(e is not None and e is not Ellipsis for e in entries)
        if sum(e is Ellipsis for e in entries) > 1:
            raise IndexError("an index has a single ellipsis at most")
        if used > self.ndim:
            raise IndexError(f"too many: {used} indices for a tensor with {self.ndim} axes")
        # Check that masks have the shape of the axes that they index.
        for at, shape in masks:
            is_late = Ellipsis in [e for e in entries[:at] if not isinstance(e, TensorBase)]
            later = sum(e is not None for e in entries[at:])
            axis = self.ndim - later if is_late else sum(e is not None for e in entries[:at])
            if self.shape[axis : axis + len(shape)] != shape:
                raise IndexError(f"a mask of shape {shape} at axis {axis} of shape {self.shape}")
        # Fill up with full slices, at the ellipsis or at the end.
        rest = [slice(None)] * (self.ndim - used)
        at = next((i for i, e in enumerate(entries) if e is Ellipsis), None)
        return entries + rest if at is None else entries[:at] + rest + entries[at + 1 :]

    def _positions_of_true(self, count: int | None = None) -> list[Self]:
        """The positions where a mask is true, a tensor for each axis: the first `count`, or all."""
        flat = self.flatten()
        positions = flat._ranked(flat._count_of_true() if count is None else count)
        pairs = ((math.prod(self.shape[axis + 1 :]), d) for axis, d in enumerate(self.shape))
        return [positions.div(cells, rounding_mode="floor") % d for cells, d in pairs]

    def _ranked(self, count: int) -> Self:
        """The positions of the first `count` true cells of a mask with one axis."""
        found = self.full((count,), 0, dtypes.int32)
        if 0 in (found.shape[0], self.shape[0]):
            return found
        number = _position_dtype(self.shape[0])
        return self.cumsum(0, dtype=number).contiguous()._bisected(self.arange(count))

    def _bisected(
        self,
        wanted: Self,
        *,
        right: bool = True,
        extent: int | None = None,
        start: Self | None = None,
    ) -> Self:
        """By binary search, how many cells of this sorted tensor of one axis come before each of
        the wanted values, which have one axis, too: those that are not greater, or those that are
        less unless `right`. A NaN comes last. The axis may be rows of an extent; `start` is then
        the first cell of the row for each value."""
        n = self.shape[0] if extent is None else extent
        kind = _position_dtype(n)
        found = wanted.full(wanted.shape, 0, kind)
        for bit in reversed(range(greatest(n).bit_length())):
            last = found + ((1 << bit) - 1)
            at = last.minimum(n - 1)
            at = at if start is None else at + start
            cell = self._indexed(at)
            is_after = cell > wanted if right else cell >= wanted
            is_further = (last < n) & is_after.logical_not()
            found = found + is_further.cast(kind) * (1 << bit)
        return found

    def _count_of_true(self) -> int:
        try:
            return int(as_array(self.sum().node))
        except RuntimeError as error:
            if not is_tracing():
                raise
            message = "how many cells of a mask are true; masked_select and nonzero take a size"
            raise RuntimeError(f"{error}: {message}") from None

    def _pick(self, tensors: Sequence[tuple[int, Self]]) -> Self:
        """The cells at tensors of positions along axes. The tensors are broadcast. Their axes
        replace the indexed ones if these are adjacent; else they come first, as in NumPy."""
        axes = [axis for axis, _ in tensors]
        try:
            indices = tensors[0][1]._broadcasted(*(t for _, t in tensors[1:]))
        except ValueError:
            shapes = ", ".join(str(t.shape) for _, t in tensors)
            raise IndexError(f"indices of shapes {shapes} do not broadcast") from None
        flat = self._rows(axes)
        linear = self._linear(indices, [self.shape[a] for a in axes])
        picked = flat._indexed(linear.flatten())
        shape = indices[0].shape
        picked = picked.reshape((*shape, *flat.shape[1:]))
        if axes != list(range(axes[0], axes[0] + len(axes))):
            return picked
        before = sum(i < axes[0] for i in range(self.ndim) if i not in axes)
        return picked.movedim([*range(len(shape))], [*range(before, before + len(shape))])

    def _rows(self, axes: Sequence[int]) -> Self:
        """Some axes merged into the first one."""
        rest = [i for i in range(self.ndim) if i not in axes]
        count = math.prod(self.shape[a] for a in axes)
        return self.permute([*axes, *rest]).reshape((count, *(self.shape[i] for i in rest)))

    @classmethod
    def _linear(
        cls, indices: Sequence[Self], extents: Sequence[int], checked: Collection[int] | None = None
    ) -> Self:
        """Flat positions, in i64, from positions in each axis. Negative ones count from the end;
        what is outside of an axis is outside of the flat axis, too. The positions in axes other
        than the `checked` ones are inside."""
        checked = range(len(extents)) if checked is None else checked
        wide = [
            index._from_front(extent, dtypes.int64) if a in checked else index.cast(dtypes.int64)
            for a, (index, extent) in enumerate(zip(indices, extents, strict=True))
        ]
        # Outside of the first axis the sum is outside as well, unless it wraps around.
        may_wrap = len(extents) > 1 and indices[0].dtype.bits > 32
        is_inside = [
            (wide[a] >= 0) & (wide[a] < extents[a])
            for a in range(len(extents))
            if a in checked and (a > 0 or may_wrap)
        ]
        total = wide[0]
        for index, extent in zip(wide[1:], extents[1:], strict=True):
            total = total * extent + index
        return reduce(cls.bitwise_and, is_inside).where(total, -1) if is_inside else total

    @property
    def _expanded(self) -> Self | None:
        """The tensor of which this one is an expansion; None if it is none."""
        node = self.node
        is_expansion = isinstance(node.prototype, tg.ExpandOp) and node.data is None
        return self.of_node(node.operands[0]) if is_expansion else None

    def _from_front(self, extent: int, dtype: tg.DType) -> Self:
        """Positions along an axis, negative ones from its end, in a signed dtype that has all of
        the axis."""
        if (source := self._expanded) is not None:
            # Each position once: rows of a scatter are at positions that are repeated.
            return source._from_front(extent, dtype)._broadcast_to(self.shape)
        if self.dtype == dtypes.uint64:
            return self.minimum(dtypes.int64.high).cast(dtypes.int64)
        wide = self.cast(dtype) if self.dtype.bits < dtype.bits else self
        return wide if self.dtype.low == 0 else (wide < 0).where(wide + extent, wide)

    def repeat_interleave(self, repeats: int | Self, dim: int | None = None) -> Self:
        """Each cell of an axis repeated in place; of the flattened tensor if `dim` is None. A
        tensor of repeats has a count for each cell, and is computed at once."""
        source, axis = (self.flatten(), 0) if dim is None else (self, self._axis(dim))
        shape = source.shape
        if isinstance(repeats, TensorBase):
            if not repeats.dtype.is_integer:
                raise TypeError(f"repeats of dtype {repeats.dtype.name}")
            counts = as_array(repeats.node)
            if counts.ndim > 1 or counts.size not in (1, shape[axis]) or (counts < 0).any():
                raise ValueError(f"repeats of shape {counts.shape} for an axis of {shape[axis]}")
            places = np.repeat(np.arange(shape[axis]), np.broadcast_to(counts, shape[axis]))
            return source._pick([(axis, self._of_array(places))])
        count = to_dim(repeats)
        if is_surely_less(count, 0):
            raise ValueError(f"repeats is negative: {count}")
        wide = source.unsqueeze(axis + 1).expand((*shape[: axis + 1], count, *shape[axis + 1 :]))
        result = wide.reshape((*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))
        return result._apart_from(self)

    # -- gather ------------------------------------------------------------------------------------

    def gather(self, dim: int, index: Self) -> Self:
        """The cells at the positions in `index` along an axis."""
        check_integers("an index", index)
        axis = self._axis(dim)
        if not self.ndim and index.ndim == 1:
            return self.reshape((1,)).gather(dim, index)
        if index.max_numel() == 0:
            return self.full(index.shape, 0, self.dtype)
        if index.ndim != self.ndim:
            raise RuntimeError(
                f"gather from {self.shape} by {index.shape}: the index needs as many axes"
            )
        both = enumerate(zip(self.shape, index.shape, strict=True))
        if any(a != axis and is_surely_less(d, i) for a, (d, i) in both):
            raise RuntimeError(f"gather from {self.shape} by {index.shape}: the index is larger")
        return self._gathered(axis, index, (axis,))

    def _gathered(self, axis: int, index: Self, checked: Collection[int] = ()) -> Self:
        """`gather` by an index of positions that are inside of an axis, unless it is `checked`."""
        if index.max_numel() == 0:
            return self.full(index.shape, 0, self.dtype)
        linear = self._linear(index._places(axis), self.shape, checked)
        return self.flatten()._indexed(linear.flatten()).reshape(index.shape)

    def _places(self, axis: int) -> list[Self]:
        """Positions of cells along every axis, for an index along one axis: those of the other axes
        are the cell's own."""
        return [
            self if a == axis else self._line(extent, a)._broadcast_to(self.shape)
            for a, extent in enumerate(self.shape)
        ]

    def index_select(self, dim: int, index: Self) -> Self:
        """The cells of an axis at the positions in `index`, which has one axis or none."""
        check_integers("an index", index)
        axis = self._axis(dim)
        if index.ndim > 1:
            raise IndexError(f"index_select by {index.shape}: an index has one axis")
        if not self.ndim:
            return self.reshape((1,)).index_select(0, index).reshape(())
        return self._pick([(axis, index.reshape((-1,)) if index.ndim == 0 else index)])

    def take_along_dim(self, indices: Self, dim: int | None = None) -> Self:
        """`gather`, in which tensor and positions broadcast along the other axes; of the flattened
        tensor if `dim` is None."""
        check_integers("an index", indices)
        if dim is None:
            return self.flatten().gather(0, indices.flatten())
        if indices.ndim != self.ndim:
            raise ArgumentError(
                f"take_along_dim of {self.shape} by {indices.shape}: both have as many axes"
            )
        axis = self._existing_axis(dim)
        # Broadcast with the axis as the first one, which then is not there.
        wide, places = (t.transpose(axis, 0) for t in (self, indices))
        with argument_errors("take_along_dim: "):
            shape = broadcast_shapes([(1, *t.shape[1:]) for t in (wide, places)], operator.eq)[1:]
        wide, places = (
            t._broadcast_to((t.shape[0], *cast("tuple[int, ...]", shape))) for t in (wide, places)
        )
        return wide.gather(0, places).transpose(axis, 0)

    def one_hot(self, num_classes: int) -> Self:
        """One-hot vectors of classes, in a new last axis."""
        check_integers("classes", self)
        if is_surely_less(to_dim(num_classes), 0):
            raise ValueError(f"one_hot of {num_classes} classes")
        return self.unsqueeze(-1).eq(self.arange(to_dim(num_classes))).cast(dtypes.default_int)

    def masked_select(self, mask: Self, size: int | None = None, fill_value: Number = 0) -> Self:
        """The cells where a mask is true, as one axis; with `size` exactly that many, padded with
        `fill_value`."""
        check_tensors(mask)
        flat, where = (t.flatten() for t in self._broadcasted(mask.cast(dtypes.bool_)))
        if size is None:
            return flat[where]
        picked = flat._indexed(where._ranked(size))
        return (self.arange(size) < where.sum()).where(picked, picked._constant(fill_value))

    def nonzero(self, size: int | None = None, fill_value: Number = 0) -> Self:
        """The positions of the cells that are not 0, one row each; with `size` exactly that many,
        padded with `fill_value`."""
        mask = self.cast(dtypes.bool_)
        if not self.ndim:
            count = mask.reshape((1,))._count_of_true() if size is None else size
            return self.full((count, 0), 0, dtypes.int32)
        positions = mask._positions_of_true(size)
        found = positions[0].stack(*positions[1:], dim=1)
        if size is None:
            return found
        is_there = (self.arange(size) < mask.sum()).unsqueeze(1)
        return is_there.where(found, found._constant(fill_value))


def _position_dtype(extent: int) -> tg.DType:
    """The dtype of positions along an axis."""
    return dtypes.int32 if greatest(extent) < 1 << 31 else dtypes.int64


def _is_index(value: object) -> bool:
    """Whether it is a tensor, or an array with axes: in a list it is an index of its own."""
    return isinstance(value, TensorBase) or (isinstance(value, np.ndarray) and value.ndim > 0)


def position_of(index: int, extent: int, axis: int) -> int:
    """A position counted from the front. Raises IndexError outside of the axis."""
    if is_surely_less(index, -extent) or is_surely_less(extent - 1, index):
        raise IndexError(
            f"out of bounds: index {index} is outside of axis {axis}, which has {extent}"
        )
    return index + extent if is_surely_less(index, 0) else index


def _check_slice(entry: slice[Any, Any, Any]) -> None:
    """Raise TypeError, as Python does, if a number of a slice is no integer."""
    for number in (entry.start, entry.stop, entry.step):
        if number is not None and not hasattr(number, "__index__"):
            raise TypeError(f"the numbers of a slice are integers, not {type(number).__name__}")


def slice_bounds(entry: Any, extent: int) -> tuple[int, int, int]:
    """Start, stop and step of a slice of an axis. A bound that is outside of the axis is moved to
    its end; one for which that depends on variables, or that is the end for their values now, is
    taken to be inside, but for a number that counts from the end of an axis that may be empty.
    Raises ValueError for a step of 0, and for a bound that is 0 or counts from the end, as it
    depends on variables."""
    given = entry.start, entry.stop, entry.step, extent
    if not any(isinstance(number, SymInt) for number in given):
        start, stop, step = entry.indices(extent)
        return start, max(start, stop) if step == 1 else stop, step
    step = 1 if entry.step is None else entry.step
    if isinstance(step, SymInt) or step == 0:
        raise ValueError(f"the step of a slice is an integer other than 0, not {step}")
    # The cells before the first one, and after the last one, in the direction of the step.
    low, high = (0, extent) if step > 0 else (-1, extent - 1)
    may_be_empty = least(extent) == 0

    def bound(given: int | None, default: int) -> int:
        if given is None:
            return default
        at = given if isinstance(given, SymInt) else to_dim(given)
        if is_surely_less(at, 0):
            at += extent
            if may_be_empty and not isinstance(given, SymInt):
                at = larger(at, low)
        elif least(at) < 0:
            if greatest(at) <= 0 and not is_surely_less(-1, at):
                raise ValueError(f"whether {at} counts from the end depends on the variables")
            return at
        is_now_whole = isinstance(at, SymInt) and at.is_bound and at.value == high
        if is_now_whole or is_undecided(low, at) or is_undecided(at, high):
            return at
        return smaller(larger(at, low), high)

    if step > 0:
        start = bound(entry.start, 0)
        if entry.stop is None and start != 0 and not isinstance(entry.start, SymInt):
            start = smaller(start, extent)  # Nothing is left: a window begins at the end.
        return start, bound(entry.stop, extent), step
    return bound(entry.start, high), bound(entry.stop, low), step


def reach_of(entry: Any, extent: int, axis: int) -> tuple[int, int, int]:
    """The cells from start to end of an axis that a number or a slice reaches, and its step. The
    end is not before the start. One that may be negative is kept in a slice from 0 on, whose size
    is then checked when it has a value."""
    if isinstance(entry, int | SymInt):
        at = position_of(cast(int, entry), extent, axis)
        return at, at + 1, 1
    start, stop, step = slice_bounds(entry, extent)
    if step < 0:
        start, stop = stop + 1, start + 1
    is_kept = start == 0 and not is_surely_less(-1, stop)
    return start, stop if is_kept else larger(start, stop), step


def _positions(values: Sequence[Any]) -> Array:
    """A list of positions or bools as an array; an empty list is a list of positions."""
    return array_of(values) if len(values) else np.zeros((0,), np.int32)
