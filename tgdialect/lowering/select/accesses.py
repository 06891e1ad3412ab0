"""LOADs and STOREs of one piece of a register tile.

Cells that are contiguous in memory are accessed as a vector, other cells one lane at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.lanes import is_near
from tgdialect.fast_xdsl.unchecked import segments
from tgdialect.lowering.select.bounds_checks import BoundsChecks
from tgdialect.lowering.select.indices import (
    LaneIndex,
    Ramp,
    Scalar,
    TilePiece,
    is_ramp,
    is_sum,
    lanes_of,
)
from tgdialect.lowering.select.locations import CellIndex, Location, Locations
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.lowering.select.tiles import RegisterTile, StaticShape
from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute

_PART = 16
"""The bytes of the parts of a register between which shuffles are slow. Columns of so many bytes or
more are joined to registers as they are loaded, and squares in all parts of them are transposed at
once, which takes less than half of the shuffles. Joined shorter columns would need more."""


class Accesses:
    """Appends LOADs and STOREs to a kernel."""

    def __init__(
        self,
        scalars: Scalars,
        narrow: NarrowFloats,
        bounds: BoundsChecks,
        locations: Locations,
        lanes: int,
    ) -> None:
        """`lanes` is how many elements a vector register has, the greatest size of a square."""
        self.scalars = scalars
        self.bounds = bounds
        self.locations = locations
        self._narrow = narrow
        self._lanes = lanes

    def load(
        self,
        memory: SSAValue,
        cell: CellIndex,
        width: int,
        alt: SSAValue | None = None,
        gate: SSAValue | None = None,
    ) -> SSAValue:
        """Load a piece of `width` elements into a register. A lane is `alt` where the gate is
        false, and 0 where an index is out of bounds."""
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        choice = alt, gate, exists
        if is_ramp(position) and position.step == -1:
            # Contiguous cells in descending order: load them ascending, and reverse the lanes.
            location = self.locations.reference(where.view, self._mirrored(position))
            choice = [v if v is None else self._reversed(v) for v in choice]
            return self._reversed(self._load(memory, location, *choice))
        is_one = max(map(lanes_of, (position, *(v for v in choice if v is not None)))) == 1
        is_free = gate is None and exists is None
        if is_one or (is_ramp(position) and (is_free or is_near(position.step, width))):
            # One element, or a ramp that one vector LOAD can read.
            return self._load(memory, self.locations.reference(where.view, position), *choice)
        # Cells that no vector LOAD covers: one LOAD for each lane.
        loaded: list[SSAValue] = []
        for lane in range(width):
            here = [None if v is None else self.scalars.lane(v, lane) for v in choice]
            loaded.append(self._load(memory, self._lane(where, lane), *here))
        return self.scalars.stack(loaded)

    def load_block(self, memory: SSAValue) -> SSAValue:
        """Load contiguous cells as one vector in their own dtype, which only a matrix instruction
        can do, whatever their number is."""
        (size,) = tg.tensor(memory).get_shape()
        where = self.locations.locate(memory, (Ramp(0, 1, size),))
        if self.bounds.gate(where.checks, None) is not None:
            raise PassFailedException("a block of LOCAL memory that may be out of bounds")
        view, dtype = where.view, tg.tensor(memory).element_type
        if tg.tensor(view).element_type != dtype:
            view = self.scalars.emit(tg.BitcastOp, (view,), {"dtype": dtype})
        location = self.locations.reference(view, where.position)
        sizes = {"operandSegmentSizes": segments(1, 0, 0)}
        return self.scalars.emit(tg.LoadOp, (location,), sizes, tg.tensor_type(dtype, (size,)))

    def store(
        self, memory: SSAValue, cell: CellIndex, width: int, piece: SSAValue, gate: SSAValue | None
    ) -> Sequence[SSAValue]:
        """Emit the STOREs of a piece, which is in its stored form. Lanes where the gate is false
        or an index is out of bounds are not written."""
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        if is_ramp(position) and position.step == -1:
            # Contiguous cells in descending order: reverse the lanes, and store them ascending.
            piece = self._reversed(piece)
            exists = None if exists is None else self._reversed(exists)
            position = self._mirrored(position)
        # One vector STORE, unless a constant mask allows unmasked STOREs of the lanes it selects.
        is_known = exists is not None and _is_constant(exists)
        is_vector = is_ramp(position) and (position.step == 1 or exists is None)
        if width == 1 or (is_vector and not is_known):
            location = self.locations.reference(where.view, position)
            return [self.put(location, self.scalars.splat(piece, width), exists)]
        # One STORE for each lane whose mask is not known to be false.
        where = where._replace(position=position)
        stores: list[SSAValue] = []
        for lane in range(width):
            location = self._lane(where, lane)
            here = None if exists is None else self.scalars.lane(exists, lane)
            if not is_known or _is_true(here):
                value = self.scalars.lane(piece, lane)
                stores.append(self.put(location, value, None if is_known else here))
        return stores

    def put(self, location: SSAValue, value: SSAValue, gate: SSAValue | None) -> SSAValue:
        """Emit one STORE to a location."""
        return self.scalars.put(tg.StoreOp(location, value, gate))

    def _load(
        self,
        memory: SSAValue,
        location: SSAValue,
        alt: SSAValue | None,
        gate: SSAValue | None,
        exists: SSAValue | None,
    ) -> SSAValue:
        """Emit one LOAD of the lanes where `exists` is true; None stands for all lanes.

        The other lanes are `alt` where `gate` is false, and 0 where only a bounds check fails.
        """
        dtype = dtype_name(memory)
        type, lanes = tg.tensor(location).element_type, lanes_of(location)
        result = tg.tensor_type(type, (lanes,) if lanes > 1 else ())
        if exists is None:
            sizes = {"operandSegmentSizes": segments(1, 0, 0)}
            loaded = self.scalars.emit(tg.LoadOp, (location,), sizes, result)
            return self._narrow.computed(loaded, dtype)
        # A LOAD has one alternative value. It is `alt` if no bounds check was added to the gate,
        # or else 0, and a WHERE on the gate puts `alt` in place.
        zero = self.scalars.constant(0, self._narrow.stored_dtype(dtype))
        otherwise = zero if alt is None else self._narrow.stored(alt, dtype)
        direct = exists is gate or otherwise is zero
        alternative = self.scalars.splat(otherwise if direct else zero, lanes)
        sizes = {"operandSegmentSizes": segments(1, 1, 1)}
        stored = self.scalars.emit(tg.LoadOp, (location, alternative, exists), sizes, result)
        if gate is not None and not direct:
            choice = gate, stored, otherwise
            stored = self.scalars.apply("where", choice, self._narrow.stored_dtype(dtype))
        return self._narrow.computed(stored, dtype)

    def _lane(self, where: Location, lane: int) -> SSAValue:
        """The INDEX of the cell that one lane accesses."""
        position: LaneIndex = where.position
        if not isinstance(position, int) and not is_sum(position):
            position = self.scalars.known_index(self.scalars.lane(position, lane))
        return self.locations.reference(where.view, position)

    def _mirrored(self, ramp: Ramp) -> Ramp:
        """The indices of a ramp of step -1, in ascending order."""
        last = self.scalars.add(ramp.start, 1 - ramp.lanes)
        return Ramp(cast(Scalar, last), 1, ramp.lanes)

    def _reversed(self, value: SSAValue) -> SSAValue:
        """A vector with its lanes in reverse order."""
        count = lanes_of(value)
        return self.scalars.stack([self.scalars.lane(value, i) for i in reversed(range(count))])

    # -- tiles whose columns, not rows, are contiguous in memory

    # Columns are loaded or stored as vectors, and square blocks of the tile are transposed in
    # registers.

    def height_of_load(self, memory: SSAValue, shape: StaticShape, widths: Sequence[int]) -> int:
        """How many elements of a column are loaded as one vector. It is 0 if rows are loaded,
        because columns are not contiguous or because rows take fewer instructions."""
        height = self._square(shape, widths)
        if not height or _are_neighbours(row := self._first_piece(memory, shape, widths)):
            return 0
        is_register = tg.place(memory).addrspace is tg.AddrSpace.REG
        if not is_register and is_ramp(row) and _is_quicker_by_rows(row, height):
            return 0
        if not self._has_columns(memory, shape, height):
            return 0
        # Halves of a register are joined as they are loaded, which replaces a round of shuffles.
        is_whole = height == self._lanes and height * tg.dtype_of(memory).itemsize >= 2 * _PART
        return height // 2 if is_whole else height

    def height_of_store(self, memory: SSAValue, tile: RegisterTile) -> int:
        """How many elements of a column are stored as one vector; 0 if rows are stored. With masked
        stores a vector may have more elements than the tile has rows."""
        shape, widths, target = tile.shape, tile.widths, self.scalars.target
        is_masked = target.masks_stores and tg.dtype_of(memory).itemsize >= 4
        height = self._square(shape, widths, is_masked=is_masked)
        if not height or _are_neighbours(self._first_piece(memory, shape, widths)):
            return 0
        return height if self._has_columns(memory, shape, height) else 0

    def _square(self, shape: StaticShape, widths: Sequence[int], *, is_masked: bool = False) -> int:
        """The size of the square blocks of a tile; 0 if its pieces do not divide into squares.

        It is the greatest power of two that neither the rows nor a register exceed. With masked
        stores it may be twice that, so that all rows fit into one square.
        """
        if self._lanes == 1 or len(shape) < 2 or shape[-2] == 1:
            return 0
        rows = shape[-2]
        height = min(1 << rows.bit_length() - 1, self._lanes)
        is_too_low = height < min(rows, self._lanes)
        if is_masked and is_too_low and not any(width % (2 * height) for width in widths):
            height *= 2
        return 0 if any(width % height for width in widths) else height

    def _first_piece(
        self, memory: SSAValue, shape: StaticShape, widths: Sequence[int]
    ) -> LaneIndex:
        """The flat indices of the cells of a tile's first piece."""
        cell = (*(0,) * (len(shape) - 1), Ramp(0, 1, widths[0]))
        return self.locations.locate(memory, cell).position

    def _has_columns(self, memory: SSAValue, shape: StaticShape, height: int) -> bool:
        """Whether the cells of a column are contiguous in memory, and no cell of the tile needs a
        bounds check."""
        locate, rows = self.locations.locate, shape[-2]
        lead, count = (0,) * (len(shape) - 2), min(height, rows)
        row = locate(memory, (*lead, 0, Ramp(0, 1, shape[-1])))
        column = locate(memory, (*lead, Ramp(0, 1, count), 0))
        last = locate(memory, (*lead, Ramp(rows - count, 1, count), shape[-1] - 1))
        if not is_ramp(column.position) or column.position.step != 1:
            return False
        return all(self.bounds.gate(each.checks, None) is None for each in (row, column, last))

    def _is_interleaved(self, memory: SSAValue, tile: RegisterTile, height: int) -> bool:
        """Whether the columns of a tile, each shorter than a register, follow each other in memory:
        its rows are interleaved, as those of pairs are."""
        row = self._first_piece(memory, tile.shape, tile.widths)
        return height == tile.shape[-2] < self._lanes and is_ramp(row) and row.step == height

    def load_columns(
        self, memory: SSAValue, shape: StaticShape, widths: Sequence[int], height: int
    ) -> Sequence[TilePiece]:
        """Load the columns of a tile, and transpose them to the pieces of its rows: as many columns
        at once as a register has lanes, if they are not too short."""
        pieces: list[TilePiece] = []
        is_long = height * tg.dtype_of(memory).itemsize >= _PART
        most = self._lanes if is_long else height
        for lead in product(*map(range, shape[:-2])):
            rows: dict[int, Sequence[TilePiece]] = {}
            for top in _tops(shape[-2], height):
                # Load and transpose a strip of rows, piece by piece.
                strip: list[Sequence[SSAValue]] = []
                for start, width in RegisterTile(shape, widths, ()).runs:
                    count = max(height, min(width & -width, most))
                    parts: list[Sequence[SSAValue]] = []
                    for left in range(start, start + width, count):
                        cells = ((*lead, Ramp(top, 1, height), left + i) for i in range(count))
                        columns = [self.load(memory, cell, height) for cell in cells]
                        parts.append(self.scalars.transposed(columns))
                    strip.append([self.scalars.joined(p) for p in zip(*parts, strict=True)])
                for at, pieces_of_row in enumerate(zip(*strip, strict=True), top):
                    rows.setdefault(at, pieces_of_row)
            for row in rows.values():
                pieces += row
        return pieces

    def store_columns(
        self, memory: SSAValue, tile: RegisterTile, height: int
    ) -> Sequence[SSAValue]:
        """Transpose a tile and store its columns. Strips of rows may overlap; a row in two strips
        is stored twice."""
        rows, count = tile.shape[-2], len(tile.widths)
        present = min(rows, height)
        if self._is_interleaved(memory, tile, height):
            return self._store_interleaved(memory, tile)
        are_rows = [self.scalars.constant(row < present, "i1") for row in range(height)]
        mask = self.scalars.stack(are_rows) if present < height else None
        stores: list[SSAValue] = []
        for block, lead in enumerate(product(*map(range, tile.shape[:-2]))):
            for top in _tops(rows, present):
                first = (block * rows + top) * count
                for i, (start, width) in enumerate(tile.runs):
                    # Collect piece i of each row of the strip. Where a square has more rows than
                    # the tile, repeat the last row; the mask keeps it out of memory.
                    pieces = list(tile.pieces[first + i : first + i + present * count : count])
                    pieces += pieces[-1:] * (height - present)
                    vectors = [self.scalars.splat(cast(SSAValue, p), width) for p in pieces]
                    # Store each column of the transposed square.
                    for left, column in enumerate(self.scalars.transposed(vectors), start):
                        cell = *lead, Ramp(top, 1, present), left
                        where = self.locations.locate(memory, cell)
                        position = cast(Ramp, where.position)._replace(lanes=height)
                        location = self.locations.reference(where.view, position)
                        stores.append(self.put(location, column, mask))
        return stores

    def _store_interleaved(self, memory: SSAValue, tile: RegisterTile) -> Sequence[SSAValue]:
        """Store the columns of a tile as vectors of several columns."""
        rows, count = tile.shape[-2], len(tile.widths)
        stores: list[SSAValue] = []
        for block, lead in enumerate(product(*map(range, tile.shape[:-2]))):
            for i, (start, width) in enumerate(tile.runs):
                pieces = tile.pieces[block * rows * count :][i : rows * count : count]
                vectors = [self.scalars.splat(cast(SSAValue, p), width) for p in pieces]
                where = self.locations.locate(memory, (*lead, 0, start))
                position = Ramp(cast(Scalar, where.position), 1, rows * width)
                location = self.locations.reference(where.view, position)
                whole = self.scalars.interleaved(vectors)
                stores.append(self.put(location, whole, None))
        return stores


def _is_constant(mask: SSAValue) -> bool:
    """Whether every lane of a mask is a constant."""
    lanes = mask.owner.sources if isinstance(mask.owner, tg.StackOp) else ()
    return bool(lanes) and all(constant_attribute(lane) is not None for lane in lanes)


def _is_true(lane: SSAValue | None) -> bool:
    """Whether one lane of a mask is the constant true."""
    attribute = None if lane is None else constant_attribute(lane)
    return attribute is not None and bool(tg.number(attribute))


def _are_neighbours(row: LaneIndex) -> bool:
    """Whether the cells of a row are contiguous in memory, or all the same cell."""
    return lanes_of(row) == 1 or (is_ramp(row) and row.step in (1, -1))


def _is_quicker_by_rows(row: Ramp, height: int) -> bool:
    """Whether rows take fewer loads and shuffles than columns. A row is picked out of the vectors
    that cover its cells; columns are transposed in squares of `height` rows."""
    return row.lanes * height.bit_length() > height * (2 * abs(row.step) - 1)


def _tops(rows: int, height: int) -> Sequence[int]:
    """The first row of each strip of `height` rows. The last strip may overlap the one before."""
    return list(dict.fromkeys(min(top, rows - height) for top in range(0, rows, height)))
