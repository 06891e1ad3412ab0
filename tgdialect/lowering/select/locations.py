"""Cells of memory: from the index in a view to one flat index into a buffer.

A view is a chain of movement ops, INDEX among them, from a PARAM or BUFFER, with AFTERs in between.
Each step turns the index of a cell in its result into that of the same cell in its source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.capacity import most_elements
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.select.bounds import Check
from tgdialect.lowering.select.indices import (
    Extent,
    Index,
    is_ramp,
    known_positions,
    lanes_of,
)
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import TYPES, Scalars, dtype_name
from tgdialect.lowering.select.tiles import RegisterTile, elements, moved_tile
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
)
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import (
    Shape,
    dtype_of,
    integers,
    place,
    shape_of,
    tensor,
    tensor_type,
    window,
)
from tgdialect.ops.source import BufferOp, ParamOp

Cell = Sequence[Index]
"""The index of a cell: one entry per axis."""


class Location(NamedTuple):
    """Where a cell is, and what must hold for it to exist."""

    view: SSAValue
    """The buffer, with one axis, after what it waits for."""
    position: Index
    checks: Sequence[Check]
    extent: Extent
    """The number of elements of the view."""


class Locations:
    """The memory of one kernel."""

    def __init__(
        self,
        scalars: Scalars,
        narrow: NarrowFloats,
        tile: Callable[[SSAValue], RegisterTile],
        edges: Callable[[SSAValue], Sequence[SSAValue] | None],
    ) -> None:
        """
        Args:
            tile: what became of a value.
            edges: the registers of a value, or its ordering edge; None of memory.
        """
        self._scalars = scalars
        self._narrow = narrow
        self._tile = tile
        self._edges = edges
        self._intervals = MinMax()
        """Of the old kernel."""
        self._flat: dict[SSAValue, SSAValue] = {}
        """The one-dimensional view of each PARAM and BUFFER."""
        self._shapes: dict[SSAValue, tuple[Extent, ...]] = {}
        self._versions: dict[tuple[SSAValue, Sequence[AfterOp]], SSAValue] = {}

    def add_param(self, op: ParamOp) -> None:
        """A PARAM in memory keeps its type; what indexes it is a view of one axis."""
        param = self._scalars.append(op.rebuild([self._scalar(d) for d in op.dims]))
        shape = self.shape(op.result)
        if len(shape) != 1:
            param = self._scalars.append(ReshapeOp(param, (self.size(shape),)))
        stored = TYPES[self._narrow.stored_dtype(dtype_name(op.result))]
        if stored != tensor(op.result).element_type:
            param = self._scalars.append(BitcastOp(param, stored))
        self._flat[op.result] = param

    def add_buffer(self, op: BufferOp) -> None:
        """A BUFFER has one axis and holds stored forms. One of dynamic shape has room for the
        largest, and the accesses are checked against the shape that it has."""
        stored = TYPES[self._narrow.stored_dtype(dtype_name(op.result))]
        flat = tensor_type(stored, (most_elements(op, self._intervals),), place(op.result))
        new = BufferOp(op.slot.data, flat)
        new.result.name_hint = op.result.name_hint
        self._flat[op.result] = self._scalars.append(new)

    def shape(self, value: SSAValue) -> tuple[Extent, ...]:
        """The shape of a value of the old kernel, in the new one."""
        if (known := self._shapes.get(value)) is None:
            known = self._shapes[value] = self._extents(shape_of(value))
        return known

    def _extents(self, shape: Shape) -> tuple[Extent, ...]:
        result: list[Extent] = []
        for dim in shape:
            if isinstance(dim, SSAValue):
                result.append(self._scalars.settled(self._scalars.known_index(self._scalar(dim))))
            elif isinstance(dim, int):
                result.append(dim)
            else:
                raise PassFailedException("a dynamic dimension that no index value gives")
        return tuple(result)

    def size(self, shape: Sequence[Extent]) -> Extent:
        result: Extent = 1
        for extent in shape:
            result = self._times(result, extent)
        return result

    def _times(self, a: Extent, b: Extent) -> Extent:
        return self._scalars.settled(self._scalars.mul(a, b))

    def is_whole(self, value: SSAValue) -> bool:
        """Whether a value is a whole PARAM or BUFFER."""
        while isinstance(op := value.owner, AfterOp):
            value = op.buffer
        return value in self._flat

    def version(self, value: SSAValue) -> SSAValue:
        """The flat view of a buffer, or of a view of one, after what its AFTERs wait for."""
        afters: list[AfterOp] = []
        while value not in self._flat:
            if isinstance(op := value.owner, AfterOp):
                afters.append(op)
            value = _source(op)
        return self._after(value, afters)

    def _after(self, base: SSAValue, afters: Sequence[AfterOp]) -> SSAValue:
        """The flat view of a base; the AFTERs are innermost last."""
        result = self._flat[base]
        for i in reversed(range(len(afters))):
            key = (base, tuple(afters[i:]))
            if (known := self._versions.get(key)) is None:
                waited = [d for o in afters[i].dependencies for d in self._waited_for(o)]
                known = self._versions[key] = self._scalars.append(AfterOp(result, waited))
            result = known
        return result

    def _waited_for(self, value: SSAValue) -> Sequence[SSAValue]:
        known = self._edges(value)
        return (self.version(value),) if known is None else known

    def _scalar(self, value: SSAValue) -> SSAValue:
        return self._scalars.register(self._tile(value).pieces[0])

    def locate(self, memory: SSAValue, cell: Cell) -> Location:
        """The cell of a view of memory."""
        walk = _Walk(self, memory, list(cell))
        afters: list[AfterOp] = []
        while (value := walk.value) not in self._flat:
            if isinstance(op := value.owner, AfterOp):
                afters.append(op)
            else:
                walk.step(op)
            walk.value = _source(op)
        shape = self.shape(value)
        extent = self.size(shape)
        if walk.flat is None:
            index = self.flattened(walk.cell, shape)
            walk.checks += zip(walk.cell, shape, strict=True)
        else:
            index = walk.flat
            bytes = self._scalars.mul(extent, dtype_of(value).itemsize)
            extent = self._scalars.settled(self._scalars.idiv(bytes, dtype_of(memory).itemsize))
            walk.checks.append((index, extent))
        view = self._after(value, afters)
        stored = TYPES[self._narrow.stored_dtype(dtype_name(memory))]
        if tensor(view).element_type != stored:
            view = self._scalars.emit(BitcastOp, (view,), {"dtype": stored})
        return Location(view, index, walk.checks, extent)

    def reference(self, view: SSAValue, index: Index) -> SSAValue:
        """The INDEX of a cell, or of one for each lane."""
        shape = () if (lanes := lanes_of(index)) == 1 else (lanes,)
        type = tensor_type(tensor(view).element_type, shape, place(view))
        return self._scalars.emit(IndexOp, (view, self._scalars.index(index)), type=type)

    def flattened(self, cell: Cell, shape: Sequence[Extent]) -> Index:
        """The row-major position: the sum of each index times the size of what it steps over."""
        result: Index = 0
        stride: Extent = 1
        for index, extent in zip(reversed(cell), reversed(shape), strict=True):
            if index != 0:
                result = self._scalars.add(self._scalars.mul(index, stride), result)
            stride = self._times(stride, extent)
        return result

    # -- what the steps of a walk use

    @property
    def arithmetic(self) -> Scalars:
        return self._scalars

    def lane(self, value: SSAValue, position: Index) -> Index:
        """The elements of an index, `()` or `(k,)`, at positions that are in range."""
        tile, emit = self._tile(value), self._scalars
        if not tile.shape:
            return emit.known_index(tile.pieces[0])
        if isinstance(position, int):
            piece, lane = tile.element(position)
            if is_ramp(piece):
                return emit.add(piece.start, piece.step * lane)
            return emit.known_index(emit.lane(piece, lane))
        if is_ramp(position) and isinstance(position.start, int):
            at = known_positions(position)
            (piece,) = moved_tile(emit, tile, np.array(at), (len(at),)).pieces
            return emit.known_index(piece)
        every = elements(emit, tile)
        result = every[0]
        for i, lane in islice(enumerate(every), 1, None):
            here = emit.compare("cmpeq", position, i)
            result = emit.apply("where", (here, lane, result), dtype_name(lane))
        return emit.known_index(result)

    def offsets(self, op: ShrinkOp) -> Sequence[Extent]:
        return self._extents(window(op)[0])


def _source(op: Any) -> SSAValue:
    """What an op is a view of."""
    if not isinstance(op, Operation) or not (isinstance(op, AfterOp) or type(op) in _STEPS):
        what = op.name if isinstance(op, Operation) else "a block argument"
        raise PassFailedException(f"{what} is not memory that this target can access in a kernel")
    return op.operands[0]


class _Walk:
    """A cell on its way from a view to the buffer."""

    def __init__(self, locations: Locations, value: SSAValue, cell: list[Index]) -> None:
        self.locations = locations
        self.value = value
        self.cell = cell
        self.flat: Index | None = None
        """The position in the whole buffer, once that is known. After a BITCAST that changes the
        size of the elements nothing else is."""
        self.checks: list[Check] = []

    def step(self, op: Operation | Any) -> None:
        if self.flat is None:
            _STEPS[type(op)](self, op)
        elif not isinstance(op, ReshapeOp | BitcastOp):
            raise PassFailedException(f"a bitcast of a part of a buffer, which {op.name} cuts out")


def _permute(walk: _Walk, op: PermuteOp) -> None:
    by_axis = dict(zip(integers(op, "order"), walk.cell, strict=True))
    walk.cell = [by_axis[axis] for axis in range(len(walk.cell))]


def _flip(walk: _Walk, op: FlipOp) -> None:
    emit, shape = walk.locations.arithmetic, walk.locations.shape(op.source)
    walk.cell = [
        emit.sub(emit.sub(extent, 1), i) if flag else i
        for i, extent, flag in zip(walk.cell, shape, integers(op, "flags"), strict=True)
    ]


def _reshape(walk: _Walk, op: ReshapeOp) -> None:
    emit = walk.locations.arithmetic
    old, new = walk.locations.shape(op.source), walk.locations.shape(op.result)
    if [e for e in old if e != 1] == [e for e in new if e != 1]:
        kept = iter([i for i, extent in zip(walk.cell, new, strict=True) if extent != 1])
        walk.cell = [0 if extent == 1 else next(kept) for extent in old]
        return
    position = walk.locations.flattened(walk.cell, new)
    if walk.locations.is_whole(op.source):
        walk.flat = position
        return
    cell: list[Index] = []
    for extent in reversed(old[1:]):
        cell.append(emit.mod(position, extent))
        position = emit.idiv(position, extent)
    walk.cell = [position, *reversed(cell)] if old else []


def _expand(walk: _Walk, op: ExpandOp) -> None:
    shape = walk.locations.shape(op.source)
    walk.cell = [0 if extent == 1 else i for i, extent in zip(walk.cell, shape, strict=True)]


def _shrink(walk: _Walk, op: ShrinkOp) -> None:
    emit = walk.locations.arithmetic
    offsets = walk.locations.offsets(op)
    walk.cell = [emit.add(i, o) for i, o in zip(walk.cell, offsets, strict=True)]


def _index(walk: _Walk, op: IndexOp) -> None:
    """Axes that are indexed by `(k,)` values come from these; an index may be out of bounds."""
    rest = iter(walk.cell)
    cell = [
        walk.locations.lane(index, next(rest) if tensor(index).get_shape() else 0)
        for index in op.indices
    ]
    walk.checks += zip(cell, walk.locations.shape(op.source), strict=False)
    walk.cell = [*cell, *rest]


def _bitcast(walk: _Walk, op: BitcastOp) -> None:
    if dtype_of(op.source).itemsize != dtype_of(op.result).itemsize:
        walk.flat = walk.locations.flattened(walk.cell, walk.locations.shape(op.result))


_STEPS: dict[type[Operation], Callable[[_Walk, Any], None]] = {
    PermuteOp: _permute,
    FlipOp: _flip,
    ReshapeOp: _reshape,
    ExpandOp: _expand,
    ShrinkOp: _shrink,
    IndexOp: _index,
    BitcastOp: _bitcast,
}
