"""Loads and stores of register tiles whose columns, not rows, are contiguous in memory.

Columns are loaded or stored as vectors, and square blocks of the tile are transposed in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast

from xdsl.ir import SSAValue

from tgdialect.lowering.select.accesses import Accesses
from tgdialect.lowering.select.indices import LaneIndex, Ramp, Scalar, TilePiece, is_ramp, lanes_of
from tgdialect.lowering.select.tiles import RegisterTile, StaticShape
from tgdialect.ops import tg
from tgdialect.ops.properties import dtype_of, place

_PART = 16
"""The bytes of the parts of a register between which shuffles are slow. Columns of so many bytes or
more are joined to registers as they are loaded, and squares in all parts of them are transposed at
once, which takes less than half of the shuffles. Joined shorter columns would need more."""


class Transposes:
    """Loads and stores whole tiles by their columns."""

    def __init__(self, accesses: Accesses, lanes: int) -> None:
        """`lanes` is how many elements a vector register has, the greatest size of a square."""
        self._accesses = accesses
        self._scalars = accesses.scalars
        self._lanes = lanes

    # -- deciding between rows and columns

    def height_of_load(self, memory: SSAValue, shape: StaticShape, widths: Sequence[int]) -> int:
        """How many elements of a column are loaded as one vector. It is 0 if rows are loaded,
        because columns are not contiguous or because rows take fewer instructions."""
        height = self._square(shape, widths)
        if not height or _are_neighbours(row := self._first_piece(memory, shape, widths)):
            return 0
        is_register = place(memory).addrspace is tg.AddrSpace.REG
        if not is_register and is_ramp(row) and _is_quicker_by_rows(row, height):
            return 0
        if not self._has_columns(memory, shape, height):
            return 0
        # Halves of a register are joined as they are loaded, which replaces a round of shuffles.
        is_whole = height == self._lanes and height * dtype_of(memory).itemsize >= 2 * _PART
        return height // 2 if is_whole else height

    def height_of_store(
        self, memory: SSAValue, shape: StaticShape, widths: Sequence[int], *, is_masked: bool
    ) -> int:
        """How many elements of a column are stored as one vector; 0 if rows are stored. With masked
        stores a vector may have more elements than the tile has rows."""
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
        return self._accesses.locations.locate(memory, cell).position

    def _has_columns(self, memory: SSAValue, shape: StaticShape, height: int) -> bool:
        """Whether the cells of a column are contiguous in memory, and no cell of the tile needs a
        bounds check."""
        locate, rows = self._accesses.locations.locate, shape[-2]
        lead, count = (0,) * (len(shape) - 2), min(height, rows)
        row = locate(memory, (*lead, 0, Ramp(0, 1, shape[-1])))
        column = locate(memory, (*lead, Ramp(0, 1, count), 0))
        last = locate(memory, (*lead, Ramp(rows - count, 1, count), shape[-1] - 1))
        return (
            is_ramp(column.position)
            and column.position.step == 1
            and all(
                self._accesses.bounds.gate(each.checks, None) is None
                for each in (row, column, last)
            )
        )

    def _is_interleaved(self, memory: SSAValue, tile: RegisterTile, height: int) -> bool:
        """Whether the columns of a tile, each shorter than a register, follow each other in memory:
        its rows are interleaved, as those of pairs are."""
        row = self._first_piece(memory, tile.shape, tile.widths)
        return height == tile.shape[-2] < self._lanes and is_ramp(row) and row.step == height

    # -- the accesses

    def load(
        self, memory: SSAValue, shape: StaticShape, widths: Sequence[int], height: int
    ) -> Sequence[TilePiece]:
        """Load the columns of a tile, and transpose them to the pieces of its rows: as many columns
        at once as a register has lanes, if they are not too short."""
        pieces: list[TilePiece] = []
        is_long = height * dtype_of(memory).itemsize >= _PART
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
                        columns = [self._accesses.load(memory, cell, height) for cell in cells]
                        parts.append(self._scalars.transposed(columns))
                    strip.append([self._scalars.joined(p) for p in zip(*parts, strict=True)])
                for at, pieces_of_row in enumerate(zip(*strip, strict=True), top):
                    rows.setdefault(at, pieces_of_row)
            for row in rows.values():
                pieces += row
        return pieces

    def store(self, memory: SSAValue, tile: RegisterTile, height: int) -> Sequence[SSAValue]:
        """Transpose a tile and store its columns. Strips of rows may overlap; a row in two strips
        is stored twice."""
        rows, count = tile.shape[-2], len(tile.widths)
        present = min(rows, height)
        if self._is_interleaved(memory, tile, height):
            return self._store_interleaved(memory, tile)
        mask = self._scalars.first_lanes(present, height) if present < height else None
        stores: list[SSAValue] = []
        for block, lead in enumerate(product(*map(range, tile.shape[:-2]))):
            for top in _tops(rows, present):
                first = (block * rows + top) * count
                for i, (start, width) in enumerate(tile.runs):
                    # Collect piece i of each row of the strip. Where a square has more rows than
                    # the tile, repeat the last row; the mask keeps it out of memory.
                    pieces = list(tile.pieces[first + i : first + i + present * count : count])
                    pieces += pieces[-1:] * (height - present)
                    vectors = [self._scalars.splat(cast(SSAValue, p), width) for p in pieces]
                    # Store each column of the transposed square.
                    for left, column in enumerate(self._scalars.transposed(vectors), start):
                        cell = *lead, Ramp(top, 1, present), left
                        where = self._accesses.locations.locate(memory, cell)
                        position = cast(Ramp, where.position)._replace(lanes=height)
                        location = self._accesses.locations.reference(where.view, position)
                        stores.append(self._accesses.put(location, column, mask))
        return stores

    def _store_interleaved(self, memory: SSAValue, tile: RegisterTile) -> Sequence[SSAValue]:
        """Store the columns of a tile as vectors of several columns."""
        rows, count = tile.shape[-2], len(tile.widths)
        stores: list[SSAValue] = []
        for block, lead in enumerate(product(*map(range, tile.shape[:-2]))):
            for i, (start, width) in enumerate(tile.runs):
                pieces = tile.pieces[block * rows * count :][i : rows * count : count]
                vectors = [self._scalars.splat(cast(SSAValue, p), width) for p in pieces]
                where = self._accesses.locations.locate(memory, (*lead, 0, start))
                position = Ramp(cast(Scalar, where.position), 1, rows * width)
                location = self._accesses.locations.reference(where.view, position)
                whole = self._scalars.interleaved(vectors)
                stores.append(self._accesses.put(location, whole, None))
        return stores


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
