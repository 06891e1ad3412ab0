"""Address computation: from the index of a cell in a view to a flat index into the buffer.

A view is a chain of movement ops (INDEX is one) on a PARAM or BUFFER, with AFTERs in between. A
walk goes from the view to the buffer. Each step turns the index of a cell in the result of an op
into the index of the same cell in the op's source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax, most_elements
from tgdialect.lowering.select.bounds_checks import Check
from tgdialect.lowering.select.indices import Extent, LaneIndex, is_ramp, known_positions, lanes_of
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.lowering.select.tiles import RegisterTile, elements, moved_tile
from tgdialect.ops import tg

_VIEWS = {
    *(tg.AfterOp, tg.IndexOp, tg.PermuteOp, tg.FlipOp, tg.ReshapeOp),
    *(tg.ExpandOp, tg.ShrinkOp, tg.BitcastOp),
}
"""The ops that make views of memory."""

CellIndex = Sequence[LaneIndex]
"""The index of a cell: one entry per axis."""


class Location(NamedTuple):
    """The address of a cell, and the bounds checks that the access needs."""

    view: SSAValue
    """The one-dimensional view of the buffer, after the AFTERs of the access."""
    position: LaneIndex
    """The index into the view."""
    checks: Sequence[Check]
    """The cell exists where each of these indices is within its extent."""
    extent: Extent
    """The number of elements of the view."""


class Locations:
    """The buffers of one kernel, and the addresses of cells in views of them."""

    def __init__(
        self,
        scalars: Scalars,
        narrow: NarrowFloats,
        tile: Callable[[SSAValue], RegisterTile],
        edges: Callable[[SSAValue], Sequence[SSAValue] | None],
    ) -> None:
        """
        Args:
            tile: gives the register tile of a value of the old kernel.
            edges: gives the registers of a value, or its ordering edge; None for memory.
        """
        self.scalars = scalars
        self._narrow = narrow
        self._tile = tile
        self._edges = edges
        self._intervals = MinMax()
        """The intervals of the old kernel's values."""
        self._flat: dict[SSAValue, SSAValue] = {}
        """The one-dimensional view of each PARAM and BUFFER."""
        self._shapes: dict[SSAValue, tuple[Extent, ...]] = {}
        self._row_major: dict[tuple[Extent, ...], list[Extent]] = {}
        self._versions: dict[tuple[SSAValue, Sequence[tg.AfterOp]], SSAValue] = {}

    def add_param(self, op: tg.ParamOp) -> None:
        """Emit a PARAM that is memory. It keeps its type; accesses index a one-dimensional view of
        it, whose elements are stored forms."""
        param = self.scalars.put(op.rebuild([self._scalar(d) for d in op.dims]))
        shape = self.shape(op.result)
        if len(shape) != 1:
            param = self.scalars.put(tg.ReshapeOp(param, (self.size(shape),)))
        stored = tg.TYPES[self._narrow.stored_dtype(dtype_name(op.result))]
        if stored != tg.tensor(op.result).element_type:
            param = self.scalars.put(tg.BitcastOp(param, stored))
        self._flat[op.result] = param

    def add_buffer(self, op: tg.BufferOp) -> None:
        """Emit a one-dimensional BUFFER, whose elements are stored forms. For a dynamic shape it
        has the greatest size possible, and accesses are checked against the actual shape."""
        stored = tg.TYPES[self._narrow.stored_dtype(dtype_name(op.result))]
        flat = tg.tensor_type(stored, (most_elements(op, self._intervals),), tg.place(op.result))
        new = tg.BufferOp(op.slot.data, flat)
        new.result.name_hint = op.result.name_hint
        self._flat[op.result] = self.scalars.put(new)

    def shape(self, value: SSAValue) -> tuple[Extent, ...]:
        """The shape of a value of the old kernel, with extents of the new kernel."""
        if (known := self._shapes.get(value)) is None:
            known = self._shapes[value] = self.extents(tg.shape_of(value))
        return known

    def extents(self, shape: tg.Shape) -> tuple[Extent, ...]:
        """Extents, or offsets, of the old kernel as those of the new one."""
        result: list[Extent] = []
        for dim in shape:
            if isinstance(dim, SSAValue):
                result.append(self.scalars.settled(self.scalars.known_index(self._scalar(dim))))
            elif isinstance(dim, int):
                result.append(dim)
            else:
                raise PassFailedException("a dynamic dimension that no index value gives")
        return tuple(result)

    def size(self, shape: Sequence[Extent]) -> Extent:
        """The number of elements of a shape."""
        result: Extent = 1
        for extent in shape:
            result = self._times(result, extent)
        return result

    def _times(self, a: Extent, b: Extent) -> Extent:
        return self.scalars.settled(self.scalars.mul(a, b))

    def is_whole(self, value: SSAValue) -> bool:
        """Whether a value is a whole PARAM or BUFFER, AFTERs aside."""
        return tg.behind(value, tg.AfterOp) in self._flat

    def version(self, value: SSAValue) -> SSAValue:
        """The one-dimensional view of the buffer that `value` is a view of, after the AFTERs
        between the two."""
        return self._after(*self._views(value))

    def _views(self, value: SSAValue) -> tuple[SSAValue, Sequence[Operation]]:
        """The buffer that a value is a view of, and the ops in between, the outermost first. Raises
        PassFailedException for what is no memory."""
        ops: list[Operation] = []
        while value not in self._flat:
            op = value.owner
            if not isinstance(op, Operation) or type(op) not in _VIEWS:
                what = op.name if isinstance(op, Operation) else "a block argument"
                message = f"{what} is not memory that this target can access in a kernel"
                raise PassFailedException(message)
            ops.append(op)
            value = op.operands[0]
        return value, ops

    def _after(self, base: SSAValue, ops: Sequence[Operation]) -> SSAValue:
        """The one-dimensional view of a buffer after the AFTERs among some ops, listed from the
        outermost to the innermost. Equal chains of AFTERs are emitted once."""
        result, afters = self._flat[base], [op for op in ops if isinstance(op, tg.AfterOp)]
        for i in reversed(range(len(afters))):
            key = (base, tuple(afters[i:]))
            if (known := self._versions.get(key)) is None:
                waited = [d for o in afters[i].dependencies for d in self.waited_for(o)]
                known = self._versions[key] = self.scalars.put(tg.AfterOp(result, waited))
            result = known
        return result

    def waited_for(self, value: SSAValue) -> Sequence[SSAValue]:
        """The values of the new kernel that stand for an operand of an ordering op. Memory is not
        loaded: its flat view stands for it."""
        known = self._edges(value)
        return (self.version(value),) if known is None else known

    def _scalar(self, value: SSAValue) -> SSAValue:
        return self.scalars.register(self._tile(value).pieces[0])

    def locate(self, memory: SSAValue, cell: CellIndex) -> Location:
        """The address of a cell of a view."""
        # Walk from the view to its buffer.
        walk = _Walk(self, cell)
        value, ops = self._views(memory)
        for op in (each for each in ops if type(each) is not tg.AfterOp):
            walk.step(op)
        # The flat index, and its bounds checks. A BITCAST to another element size leaves only the
        # flat index, in elements of the view.
        shape = self.shape(value)
        extent = self.size(shape)
        if walk.flat is None:
            index = self.flattened(walk.cell, shape)
            walk.checks += zip(walk.cell, shape, strict=True)
        else:
            index = walk.flat
            has, wanted = tg.dtype_of(value).itemsize, tg.dtype_of(memory).itemsize
            if has != wanted:
                bytes = self.scalars.mul(extent, has)
                extent = self.scalars.settled(self.scalars.idiv(bytes, wanted))
            walk.checks.append((index, extent))
        # The one-dimensional view, with elements of the dtype that is accessed.
        view = self._after(value, ops)
        stored = tg.TYPES[self._narrow.stored_dtype(dtype_name(memory))]
        if tg.tensor(view).element_type != stored:
            view = self.scalars.emit(tg.BitcastOp, (view,), {"dtype": stored})
        return Location(view, index, walk.checks, extent)

    def reference(self, view: SSAValue, index: LaneIndex) -> SSAValue:
        """The INDEX of one cell, or of one cell for each lane."""
        shape = () if (lanes := lanes_of(index)) == 1 else (lanes,)
        type = tg.tensor_type(tg.tensor(view).element_type, shape, tg.place(view))
        return self.scalars.emit(tg.IndexOp, (view, self.scalars.index(index)), type=type)

    def flattened(self, cell: CellIndex, shape: Sequence[Extent]) -> LaneIndex:
        """The row-major position of a cell: the sum of each index times the stride of its axis."""
        result: LaneIndex = 0
        for index, stride in zip(reversed(cell), self._strides(tuple(shape)), strict=True):
            if index != 0:
                result = self.scalars.add(self.scalars.mul(index, stride), result)
        return result

    def _strides(self, shape: tuple[Extent, ...]) -> Sequence[Extent]:
        """The row-major strides of a shape, from the last axis on."""
        if (known := self._row_major.get(shape)) is None:
            known = self._row_major[shape] = [1]
            for extent in reversed(shape[1:]):
                known.append(self._times(known[-1], extent))
        return known[: len(shape)]

    def lane(self, value: SSAValue, position: LaneIndex) -> LaneIndex:
        """Element `position` of an index operand of shape `()` or `(k,)`; for a vector of
        positions, a vector of elements. Positions are in range."""
        # Constant positions: pick elements of the tile.
        tile, emit = self._tile(value), self.scalars
        if not tile.shape:
            return emit.known_index(tile.pieces[0])
        if isinstance(position, int):
            piece, lane = tile.element(position)
            if is_ramp(piece):
                return emit.add(piece.start, piece.step * lane)
            return emit.known_index(emit.lane(piece, lane))
        if is_ramp(position) and isinstance(position.start, int):
            at = known_positions(position)
            whole = tile.pieces[0] if len(tile.pieces) == 1 else tile.ramp
            if whole is not None:
                return emit.known_index(emit.lanes(whole, at))
            (piece,) = moved_tile(emit, tile, np.array(at), (len(at),)).pieces
            return emit.known_index(piece)
        # Other positions: a chain of WHEREs over all elements.
        every = elements(emit, tile)
        result = every[0]
        for i, lane in islice(enumerate(every), 1, None):
            here = emit.compare("cmpeq", position, i)
            result = emit.apply("where", (here, lane, result), dtype_name(lane))
        return emit.known_index(result)


class _Walk:
    """The state of a walk from a view to its buffer."""

    def __init__(self, locations: Locations, cell: CellIndex) -> None:
        self._locations = locations
        self.cell = cell
        """The cell in the memory that the walk has reached."""
        self.flat: LaneIndex | None = None
        """The row-major position in the whole buffer, once a step has computed it. From then on
        `cell` is not used. After a BITCAST to another element size only this is known."""
        self.checks: list[Check] = []

    def step(self, op: Operation) -> None:
        """Go from the result of an op to its source."""
        emit, shape, cell = self._locations.scalars, self._locations.shape, self.cell
        if self.flat is not None:
            if not isinstance(op, tg.ReshapeOp | tg.BitcastOp):
                message = f"a bitcast of a part of a buffer, which {op.name} cuts out"
                raise PassFailedException(message)
            return
        match op:
            case tg.IndexOp():
                # Each `(k,)` operand has one axis in the result, whose index selects an element of
                # the operand. Every element may be out of bounds, so it gets a check.
                rest, lane = iter(cell), self._locations.lane
                indices = [
                    lane(index, next(rest) if tg.static_shape(tg.tensor(index)) else 0)
                    for index in op.indices
                ]
                self.checks += zip(indices, shape(op.source), strict=False)
                self.cell = [*indices, *rest]
            case tg.PermuteOp():
                by_axis = dict(zip(tg.integers(op, "order"), cell, strict=True))
                self.cell = [by_axis[axis] for axis in range(len(cell))]
            case tg.FlipOp():
                flags = zip(cell, shape(op.source), tg.integers(op, "flags"), strict=True)
                self.cell = [emit.sub(emit.sub(end, 1), i) if flag else i for i, end, flag in flags]
            case tg.ExpandOp():
                ends = zip(cell, shape(op.source), strict=True)
                self.cell = [0 if end == 1 else i for i, end in ends]
            case tg.ShrinkOp():
                starts = self._locations.extents(tg.window(op)[0])
                self.cell = [emit.add(i, start) for i, start in zip(cell, starts, strict=True)]
            case tg.BitcastOp():
                if tg.dtype_of(op.source).itemsize != tg.dtype_of(op.result).itemsize:
                    self.flat = self._locations.flattened(cell, shape(op.result))
            case _:
                self._reshape(op)

    def _reshape(self, op: Operation) -> None:
        # Only axes of size 1 come or go: keep the other indices.
        emit, cell = self._locations.scalars, self.cell
        old, new = self._locations.shape(op.operands[0]), self._locations.shape(op.results[0])
        if [e for e in old if e != 1] == [e for e in new if e != 1]:
            kept = iter([i for i, extent in zip(cell, new, strict=True) if extent != 1])
            self.cell = [0 if extent == 1 else next(kept) for extent in old]
            return
        # Otherwise go through the row-major position. In a whole buffer that is the flat index.
        position = self._locations.flattened(cell, new)
        if self._locations.is_whole(op.operands[0]):
            self.flat = position
            return
        inner: list[LaneIndex] = []
        for extent in reversed(old[1:]):
            inner.append(emit.mod(position, extent))
            position = emit.idiv(position, extent)
        self.cell = [position, *reversed(inner)] if old else []
