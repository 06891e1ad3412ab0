"""The kernel under construction: every value of the old one is a tile of registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, product
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ramps import is_near
from tgdialect.lowering.select.bounds import Bounds
from tgdialect.lowering.select.indices import Index, Piece, Ramp, Scalar, is_ramp, is_sum, lanes_of
from tgdialect.lowering.select.lanes import (
    Shape,
    Tile,
    broadcast_tile,
    cut,
    elements,
    ones,
    row_length,
    rows,
    scalar,
)
from tgdialect.lowering.select.locations import Cell, Locations
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.base import TgOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.memory import LoadOp, StoreOp, segments
from tgdialect.ops.movement import ReshapeOp, StackOp
from tgdialect.ops.properties import dtype_of, is_memory, number, place, tensor, tensor_type
from tgdialect.targets import Target
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.soft_float import NARROW_FORMATS


def static_shape(value: SSAValue) -> Shape:
    """The shape of a value in registers, which is known."""
    shape = tensor(value).get_shape()
    if DYNAMIC_INDEX in shape:
        raise PassFailedException(f"a value in registers has a static shape, not {value.type}")
    return shape


class Kernel:
    """The new block, and what became of the values of the old one."""

    def __init__(self, target: Target, lanes: int = 1) -> None:
        """`lanes` is how many elements a vector register has."""
        self.target = target
        self.square = lanes
        """The rows and columns of what is transposed in registers."""
        self.lanes = target.registers_at_once * lanes if lanes > 1 else 1
        """How many elements a piece of a row has at most."""
        self.block = Block()
        self.scalars = Scalars(self.block, target)
        self.narrow = NarrowFloats(self.scalars)
        self.bounds = Bounds(self.scalars)
        self.values: dict[SSAValue, Tile] = {}
        """What values became; an ordering edge is a scalar."""
        self.locations = Locations(self.scalars, self.narrow, self.tile, self.edges)

    # -- tiles

    def cut(self, extent: int) -> Sequence[int]:
        """The widths of the pieces of a row."""
        return cut(extent, self.lanes, self.square)

    def tile(self, value: SSAValue) -> Tile:
        """What became of a value; memory is read."""
        return self.load(value) if (known := self.values.get(value)) is None else known

    def edges(self, value: SSAValue) -> Sequence[SSAValue] | None:
        """The registers of a value, or its ordering edge; None of memory."""
        return None if (tile := self.values.get(value)) is None else elements(self.scalars, tile)

    def elements(self, value: SSAValue) -> Sequence[SSAValue]:
        """The elements of a value, row by row."""
        return elements(self.scalars, self.tile(value))

    def aligned(self, operands: Sequence[SSAValue], shape: Shape) -> Sequence[Tile]:
        """Operands that broadcast to a shape as tiles of it, in pieces of the same widths."""
        tiles = [self.tile(operand) for operand in operands]
        length = row_length(shape)
        widths = [tile.widths for tile in tiles if row_length(tile.shape) == length]
        fewest = min(widths, key=len, default=self.cut(length))
        return [broadcast_tile(self.scalars, tile, shape, fewest) for tile in tiles]

    def rebuilt(self, op: TgOp) -> Tile:
        """An op in order, on what became of its operands."""
        operands = [o for value in op.operands for o in self.waited_for(value)]
        return scalar(self.scalars.append(op.rebuild(operands)))

    def waited_for(self, value: SSAValue) -> Sequence[SSAValue]:
        """The edges to what became of a value, without reading it."""
        if value not in self.values and is_memory(value):
            return (self.locations.version(value),)
        return elements(self.scalars, self.values[value])

    # -- memory

    def load(
        self, memory: SSAValue, alt: SSAValue | None = None, gate: SSAValue | None = None
    ) -> Tile:
        """The register form of some memory: `alt` where it is gated off, 0 where it does not
        exist."""
        shape = static_shape(memory)
        widths = self._widths(memory, shape)
        if alt is None and gate is None and (height := self._columns(memory, shape, widths)):
            return Tile(shape, widths, self._load_transposed(memory, shape, widths, height))
        alts, gates = self._optional(alt, shape, widths), self._optional(gate, shape, widths)
        pieces: list[Piece] = []
        for cell, width in self._accesses(shape, widths):
            i = len(pieces)
            pieces.append(self._load_piece(memory, cell, width, alts[i], gates[i]))
        return Tile(shape, widths, pieces)

    def _optional(
        self, value: SSAValue | None, shape: Shape, widths: Sequence[int]
    ) -> Sequence[SSAValue] | _Nothing:
        if value is None:
            return _NOTHING
        tile = broadcast_tile(self.scalars, self.tile(value), shape, widths)
        return [self.scalars.register(piece) for piece in tile.pieces]

    def _accesses(self, shape: Shape, widths: Sequence[int]) -> Sequence[tuple[Cell, int]]:
        """The cells of each piece of a row, and how many they are."""
        if not shape:
            return [((), 1)]
        starts = Tile(shape, widths, ()).starts
        return [
            ((*row, start if width == 1 else Ramp(start, 1, width)), width)
            for row in rows(shape)
            for start, width in zip(starts, widths, strict=True)
        ]

    def _widths(self, memory: SSAValue, shape: Shape) -> Sequence[int]:
        """The widths in which memory is loaded: single elements where it is a column of a tile."""
        widths = self.cut(row_length(shape))
        if len(shape) != 1 or widths == ones(shape):
            return widths
        uses = [use.operation for use in memory.uses]
        loaded = [u.operation for op in uses if isinstance(op, LoadOp) for u in op.result.uses]
        is_column = bool(loaded) and all(
            isinstance(op, ReshapeOp) and static_shape(op.result)[-1] == 1 for op in loaded
        )
        return ones(shape) if is_column else widths

    def _columns(
        self,
        memory: SSAValue,
        shape: Shape,
        widths: Sequence[int],
        *,
        is_store: bool = False,
        is_masked: bool = False,
    ) -> int:
        """How many elements of a column of a tile are accessed at once, where not its rows but its
        columns lie together in memory, all of which is there; 0 otherwise, and where the rows are
        quicker loaded by themselves. Where they are masked it may be more than there are."""
        if self.square == 1 or len(shape) < 2 or shape[-2] == 1:
            return 0
        rows = shape[-2]
        height = min(1 << rows.bit_length() - 1, self.square)
        is_too_low = height < min(rows, self.square)
        if is_masked and is_too_low and not any(width % (2 * height) for width in widths):
            height *= 2
        if any(width % height for width in widths):
            return 0
        lead, count = (0,) * (len(shape) - 2), min(height, rows)
        piece = self.locations.locate(memory, (*lead, 0, Ramp(0, 1, widths[0]))).position
        if lanes_of(piece) == 1 or (is_ramp(piece) and piece.step in (1, -1)):
            return 0
        is_register = place(memory).addrspace is AddrSpace.REG
        if not is_store and not is_register and is_ramp(piece) and _is_quicker(piece, height):
            return 0
        row = self.locations.locate(memory, (*lead, 0, Ramp(0, 1, shape[-1])))
        column = self.locations.locate(memory, (*lead, Ramp(0, 1, count), 0))
        end = Ramp(rows - count, 1, count), shape[-1] - 1
        last = self.locations.locate(memory, (*lead, *end))
        is_so = (
            is_ramp(column.position)
            and column.position.step == 1
            and all(self.bounds.gate(each.checks, None) is None for each in (row, column, last))
        )
        return height if is_so else 0

    def _load_transposed(
        self, memory: SSAValue, shape: Shape, widths: Sequence[int], height: int
    ) -> Sequence[Piece]:
        """The pieces of a tile whose columns are loaded, in squares."""
        pieces: list[Piece] = []
        for lead in product(*map(range, shape[:-2])):
            rows: dict[int, Sequence[Piece]] = {}
            for top in _tops(shape[-2], height):
                squares: list[Sequence[SSAValue]] = []
                for left in range(0, shape[-1], height):
                    cells = ((*lead, Ramp(top, 1, height), left + i) for i in range(height))
                    columns = [self._load_piece(memory, c, height, None, None) for c in cells]
                    squares.append(self.scalars.transposed(columns))
                for at, parts in enumerate(map(iter, zip(*squares, strict=True)), top):
                    if at not in rows:
                        each = (list(islice(parts, width // height)) for width in widths)
                        rows[at] = [self.scalars.joined(part) for part in each]
            for row in rows.values():
                pieces += row
        return pieces

    def _load_piece(
        self,
        memory: SSAValue,
        cell: Cell,
        width: int,
        alt: SSAValue | None,
        gate: SSAValue | None,
    ) -> SSAValue:
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        choice = alt, gate, exists
        if is_ramp(position) and position.step == -1:
            location = self.locations.reference(where.view, self._mirrored(position))
            choice = [v if v is None else self._reversed(v) for v in choice]
            return self._reversed(self._loaded(memory, location, *choice))
        is_one = max(map(lanes_of, (position, *(v for v in choice if v is not None)))) == 1
        is_free = gate is None and exists is None
        if is_one or (is_ramp(position) and (is_free or is_near(position.step, width))):
            location = self.locations.reference(where.view, position)
            return self._loaded(memory, location, *choice)
        # Neighbours in a tile that are not in memory.
        loaded: list[SSAValue] = []
        for lane in range(width):
            location = self.locations.reference(where.view, self._lane(position, lane))
            here = [None if v is None else self.scalars.lane(v, lane) for v in choice]
            loaded.append(self._loaded(memory, location, *here))
        return self.scalars.stack(loaded)

    def _lane(self, position: Index, lane: int) -> Index:
        if isinstance(position, int) or is_sum(position):
            return position
        return self.scalars.known_index(self.scalars.lane(position, lane))

    def _mirrored(self, ramp: Ramp) -> Ramp:
        """The same indices, which fall by 1, from the last one up."""
        last = self.scalars.add(ramp.start, 1 - ramp.lanes)
        return Ramp(cast(Scalar, last), 1, ramp.lanes)

    def _reversed(self, value: SSAValue) -> SSAValue:
        count = lanes_of(value)
        return self.scalars.stack([self.scalars.lane(value, i) for i in reversed(range(count))])

    def _loaded(
        self,
        memory: SSAValue,
        location: SSAValue,
        alt: SSAValue | None,
        gate: SSAValue | None,
        exists: SSAValue | None,
    ) -> SSAValue:
        """LOAD of a location, which exists where `exists` says; `alt` where `gate` is false."""
        dtype = dtype_name(memory)
        type, lanes = tensor(location).element_type, lanes_of(location)
        result = tensor_type(type, (lanes,) if lanes > 1 else ())
        if exists is None:
            sizes = {"operandSegmentSizes": segments(1, 0, 0)}
            return self.computed(self.scalars.emit(LoadOp, (location,), sizes, result), dtype)
        zero = self.zero(dtype)
        otherwise = zero if alt is None else self.stored(alt, dtype)
        direct = exists is gate or otherwise is zero
        alternative = self.scalars.splat(otherwise if direct else zero, lanes)
        sizes = {"operandSegmentSizes": segments(1, 1, 1)}
        stored = self.scalars.emit(LoadOp, (location, alternative, exists), sizes, result)
        if gate is not None and not direct:
            choice = gate, stored, otherwise
            stored = self.scalars.apply("where", choice, self.narrow.stored_dtype(dtype))
        return self.computed(stored, dtype)

    def store(self, memory: SSAValue, value: SSAValue, gate: SSAValue | None) -> Sequence[SSAValue]:
        """The STOREs of the pieces of a value."""
        tile, dtype = self.tile(value), dtype_name(value)
        gates = self._optional(gate, tile.shape, tile.widths)
        pieces = [self.stored(self.scalars.register(piece), dtype) for piece in tile.pieces]
        if gate is None and self._is_cleared(memory, pieces):
            view = self.locations.version(memory)
            return [self._stored(view, self.scalars.splat(pieces[0], math.prod(tile.shape)), None)]
        is_masked = self.target.masks_stores and dtype_of(memory).itemsize >= 4
        if gate is None and (
            height := self._columns(
                memory, tile.shape, tile.widths, is_store=True, is_masked=is_masked
            )
        ):
            return self._store_transposed(memory, tile._replace(pieces=pieces), height)
        stores: list[SSAValue] = []
        for i, (cell, width) in enumerate(self._accesses(tile.shape, tile.widths)):
            piece = pieces[i]
            where = self.locations.locate(memory, cell)
            position, exists = where.position, self.bounds.gate(where.checks, gates[i])
            if is_ramp(position) and position.step == -1:
                piece = self._reversed(piece)
                exists = None if exists is None else self._reversed(exists)
                position = self._mirrored(position)
            is_known = exists is not None and _is_constant(exists)
            is_vector = is_ramp(position) and (position.step == 1 or exists is None)
            if width == 1 or (is_vector and not is_known):
                location = self.locations.reference(where.view, position)
                stores.append(self._stored(location, self.scalars.splat(piece, width), exists))
                continue
            for lane in range(width):
                location = self.locations.reference(where.view, self._lane(position, lane))
                here = None if exists is None else self.scalars.lane(exists, lane)
                if is_known and not _is_true(here):
                    continue
                here = None if is_known else here
                stores.append(self._stored(location, self.scalars.lane(piece, lane), here))
        return stores

    def _is_cleared(self, memory: SSAValue, pieces: Sequence[SSAValue]) -> bool:
        """Whether 0 is stored in all of some registers, for which one STORE is enough."""
        is_one = len(pieces) > 1 and all(piece is pieces[0] for piece in pieces)
        if self.square == 1 or not is_one or place(memory).addrspace is not AddrSpace.REG:
            return False
        attribute = constant_attribute(pieces[0])
        value = 1 if attribute is None else number(attribute)
        return value == 0 and math.copysign(1, value) > 0 and self.locations.is_whole(memory)

    def _store_transposed(self, memory: SSAValue, tile: Tile, height: int) -> Sequence[SSAValue]:
        """The STOREs of a tile by parts of its columns; what is in two parts is stored twice."""
        rows, count = tile.shape[-2], len(tile.widths)
        present = min(rows, height)
        mask = self.scalars.first_lanes(present, height) if present < height else None
        stores: list[SSAValue] = []
        for block, lead in enumerate(product(*map(range, tile.shape[:-2]))):
            for top in _tops(rows, present):
                first = (block * rows + top) * count
                for i, (start, width) in enumerate(zip(tile.starts, tile.widths, strict=True)):
                    pieces = list(tile.pieces[first + i : first + i + present * count : count])
                    pieces += pieces[-1:] * (height - present)
                    vectors = [self.scalars.splat(cast(SSAValue, p), width) for p in pieces]
                    for left, column in enumerate(self.scalars.transposed(vectors), start):
                        cell = *lead, Ramp(top, 1, present), left
                        where = self.locations.locate(memory, cell)
                        position = cast(Ramp, where.position)._replace(lanes=height)
                        location = self.locations.reference(where.view, position)
                        stores.append(self._stored(location, column, mask))
        return stores

    def _stored(self, location: SSAValue, value: SSAValue, gate: SSAValue | None) -> SSAValue:
        return self.scalars.append(StoreOp(location, value, gate))

    # -- the two forms of a value (`narrow.py`)

    def stored(self, value: SSAValue, dtype: Dtype) -> SSAValue:
        """What memory holds of a value."""
        return self.narrow.stored(value, dtype) if dtype in NARROW_FORMATS else value

    def computed(self, stored: SSAValue, dtype: Dtype) -> SSAValue:
        """What a register holds of a value in memory."""
        return self.narrow.computed(stored, dtype) if dtype in NARROW_FORMATS else stored

    def zero(self, dtype: Dtype) -> SSAValue:
        """The stored form of 0."""
        return self.scalars.constant(0, self.narrow.stored_dtype(dtype))


def _is_quicker(row: Ramp, height: int) -> bool:
    """Whether it takes fewer loads and shuffles to pick a row out of the vectors that have all of
    it than to transpose squares of a height, which have a part of as many rows each."""
    return row.lanes * height.bit_length() > height * (2 * abs(row.step) - 1)


def _tops(rows: int, height: int) -> Sequence[int]:
    """Where parts of so many rows begin; the last one may overlap with the one before."""
    return list(dict.fromkeys(min(top, rows - height) for top in range(0, rows, height)))


def _is_constant(mask: SSAValue) -> bool:
    """Whether it is known which lanes a mask has."""
    return isinstance(op := mask.owner, StackOp) and all(
        constant_attribute(lane) is not None for lane in op.sources
    )


def _is_true(lane: SSAValue | None) -> bool:
    attribute = None if lane is None else constant_attribute(lane)
    return attribute is not None and bool(number(attribute))


class _Nothing:
    """No alternatives, or no gates, for however many pieces."""

    def __getitem__(self, position: int) -> None:
        return None


_NOTHING = _Nothing()
