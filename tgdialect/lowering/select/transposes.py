"""Register tiles whose columns, not rows, are neighbours in memory: columns are loaded or stored as
vectors, and squares of them are transposed in registers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from typing import cast

from xdsl.ir import SSAValue

from tgdialect.lowering.select.accesses import Accesses
from tgdialect.lowering.select.indices import Index, Piece, Ramp, is_ramp, lanes_of
from tgdialect.lowering.select.tiles import RegisterTile, Shape
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.properties import place


class Transposes:
    """Accesses to tiles by their columns."""

    def __init__(self, accesses: Accesses, lanes: int) -> None:
        """`lanes` is how many elements a vector register has: the rows and columns of a square."""
        self._accesses = accesses
        self._scalars = accesses.scalars
        self._lanes = lanes

    # -- whether a tile is accessed by columns

    def height_of_load(self, memory: SSAValue, shape: Shape, widths: Sequence[int]) -> int:
        """How many elements of a column are loaded as one vector; 0 where rows are loaded, because
        columns are no neighbours in memory or because that takes fewer instructions."""
        height = self._square(shape, widths)
        if not height or _are_neighbours(row := self._first_piece(memory, shape, widths)):
            return 0
        is_register = place(memory).addrspace is AddrSpace.REG
        if not is_register and is_ramp(row) and _is_quicker_by_rows(row, height):
            return 0
        return height if self._has_columns(memory, shape, height) else 0

    def height_of_store(
        self, memory: SSAValue, shape: Shape, widths: Sequence[int], *, is_masked: bool
    ) -> int:
        """How many elements of a column are stored as one vector; 0 where rows are stored. With
        masked stores it may be more than the tile has rows."""
        height = self._square(shape, widths, is_masked=is_masked)
        if not height or _are_neighbours(self._first_piece(memory, shape, widths)):
            return 0
        return height if self._has_columns(memory, shape, height) else 0

    def _square(self, shape: Shape, widths: Sequence[int], *, is_masked: bool = False) -> int:
        """The rows of the squares that a tile is made of; 0 where it is not made of any."""
        if self._lanes == 1 or len(shape) < 2 or shape[-2] == 1:
            return 0
        rows = shape[-2]
        height = min(1 << rows.bit_length() - 1, self._lanes)
        is_too_low = height < min(rows, self._lanes)
        if is_masked and is_too_low and not any(width % (2 * height) for width in widths):
            height *= 2
        return 0 if any(width % height for width in widths) else height

    def _first_piece(self, memory: SSAValue, shape: Shape, widths: Sequence[int]) -> Index:
        """Where the cells of the first piece of a tile are."""
        cell = (*(0,) * (len(shape) - 1), Ramp(0, 1, widths[0]))
        return self._accesses.locations.locate(memory, cell).position

    def _has_columns(self, memory: SSAValue, shape: Shape, height: int) -> bool:
        """Whether the cells of a column are neighbours in memory, and all of the tile is in
        bounds."""
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

    # -- the accesses

    def load(
        self, memory: SSAValue, shape: Shape, widths: Sequence[int], height: int
    ) -> Sequence[Piece]:
        """The pieces of a tile: its columns are loaded, and transposed in squares."""
        pieces: list[Piece] = []
        for lead in product(*map(range, shape[:-2])):
            rows: dict[int, Sequence[Piece]] = {}
            for top in _tops(shape[-2], height):
                # A strip of rows: transpose its columns, square by square.
                squares: list[Sequence[SSAValue]] = []
                for left in range(0, shape[-1], height):
                    cells = ((*lead, Ramp(top, 1, height), left + i) for i in range(height))
                    columns = [self._accesses.load(memory, cell, height) for cell in cells]
                    squares.append(self._scalars.transposed(columns))
                # Each row of the strip has one part from each square: join them as widths say.
                for at, parts in enumerate(map(iter, zip(*squares, strict=True)), top):
                    if at not in rows:
                        each = (list(islice(parts, width // height)) for width in widths)
                        rows[at] = [self._scalars.joined(part) for part in each]
            for row in rows.values():
                pieces += row
        return pieces

    def store(self, memory: SSAValue, tile: RegisterTile, height: int) -> Sequence[SSAValue]:
        """The STOREs of a tile by its columns. Strips of rows may overlap: what is in two of them
        is stored twice."""
        rows, count = tile.shape[-2], len(tile.widths)
        present = min(rows, height)
        mask = self._scalars.first_lanes(present, height) if present < height else None
        stores: list[SSAValue] = []
        for block, lead in enumerate(product(*map(range, tile.shape[:-2]))):
            for top in _tops(rows, present):
                first = (block * rows + top) * count
                for i, (start, width) in enumerate(zip(tile.starts, tile.widths, strict=True)):
                    # The pieces of this strip that are below each other; the last row is repeated
                    # where a square has more rows than the tile.
                    pieces = list(tile.pieces[first + i : first + i + present * count : count])
                    pieces += pieces[-1:] * (height - present)
                    vectors = [self._scalars.splat(cast(SSAValue, p), width) for p in pieces]
                    for left, column in enumerate(self._scalars.transposed(vectors), start):
                        cell = *lead, Ramp(top, 1, present), left
                        where = self._accesses.locations.locate(memory, cell)
                        position = cast(Ramp, where.position)._replace(lanes=height)
                        location = self._accesses.locations.reference(where.view, position)
                        stores.append(self._accesses.put(location, column, mask))
        return stores


def _are_neighbours(row: Index) -> bool:
    """Whether the cells of a row are neighbours in memory, or all one cell."""
    return lanes_of(row) == 1 or (is_ramp(row) and row.step in (1, -1))


def _is_quicker_by_rows(row: Ramp, height: int) -> bool:
    """Whether it takes fewer loads and shuffles to pick a row out of the vectors that have all of
    it than to transpose squares of a height, which have a part of as many rows each."""
    return row.lanes * height.bit_length() > height * (2 * abs(row.step) - 1)


def _tops(rows: int, height: int) -> Sequence[int]:
    """The first rows of the strips of `height` rows; the last strip may overlap the one before."""
    return list(dict.fromkeys(min(top, rows - height) for top in range(0, rows, height)))
