"""Register tiles: the registers that hold a value of any shape, and movement ops on them.

Each row of a value (along its last axis) is cut into pieces of widths that the target supports. A
piece is a vector, or one scalar if all its elements are equal. Shapes are static, so the source of
each element is known at compile time, and a movement op only renames or rearranges lanes.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, cycle, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tgdialect.lowering.select.indices import Ramp, TilePiece, apart, is_ramp
from tgdialect.lowering.select.scalars import Scalars
from tgdialect.ops import tg

StaticShape = tuple[int, ...]
Positions = NDArray[np.intp]
"""Row-major positions of elements."""


class RegisterTile(NamedTuple):
    """The pieces of a value, row by row."""

    shape: StaticShape
    widths: Sequence[int]
    """How many elements each piece of a row has."""
    pieces: Sequence[TilePiece]

    @property
    def starts(self) -> Sequence[int]:
        """Where the pieces of a row begin."""
        return _starts(tuple(self.widths))

    @property
    def runs(self) -> Iterator[tuple[int, int]]:
        """Where each piece of a row begins, and how many elements it has."""
        return zip(self.starts, self.widths, strict=True)

    def element(self, position: int) -> tuple[TilePiece, int]:
        """For a tile of one row, the piece that holds the element at `position`, and its lane."""
        i = bisect(self.starts, position) - 1
        return self.pieces[i], position - self.starts[i]

    @property
    def ramp(self) -> Ramp | None:
        """A tile of one row as one ramp, if each piece goes on where the one before ends."""
        first = self.pieces[0]
        if not is_ramp(first):
            return None
        base, start = apart(first.start)
        for piece, column in zip(self.pieces, self.starts, strict=True):
            begin = base, start + first.step * column
            if not is_ramp(piece) or piece.step != first.step or apart(piece.start) != begin:
                return None
        return first._replace(lanes=row_length(self.shape))


def scalar(value: TilePiece) -> RegisterTile:
    return RegisterTile((), (1,), (value,))


def row_length(shape: StaticShape) -> int:
    return shape[-1] if shape else 1


@lru_cache(maxsize=1024)
def cut(extent: int, lanes: int, register: int) -> Sequence[int]:
    """The widths of the pieces of a row of `extent` elements.

    The row is cut into vectors of `lanes` elements. The rest is cut into ever smaller powers of
    two, down to a register of `register` elements. The last piece may be narrower than a register,
    which the code generator fills up.
    """
    widths, rest = [lanes] * (extent // lanes), extent % lanes
    while rest:
        widths.append(rest if rest < register else 1 << rest.bit_length() - 1)
        rest -= widths[-1]
    return tuple(widths)


def ones(shape: StaticShape) -> Sequence[int]:
    """The widths that cut a row into single elements."""
    return (1,) * row_length(shape)


def rows(shape: StaticShape) -> Iterator[tuple[int, ...]]:
    """The leading indices of the rows of a shape, in order."""
    return product(*(range(extent) for extent in shape[:-1]))


@lru_cache(maxsize=1024)
def _starts(widths: tuple[int, ...]) -> Sequence[int]:
    return tuple(accumulate(widths[:-1], initial=0))


def cells(shape: StaticShape) -> Iterator[tuple[int, ...]]:
    """Every index of a shape, in row-major order."""
    return product(*(range(extent) for extent in shape))


def elements(scalars: Scalars, tile: RegisterTile) -> Sequence[Any]:
    """Every element of a tile, in row-major order."""
    if max(tile.widths, default=1) == 1:
        return [scalars.register(piece) for piece in tile.pieces]
    pairs = zip(tile.pieces, cycle(tile.widths), strict=False)
    return [scalars.lane(piece, lane) for piece, width in pairs for lane in range(width)]


# -- movement ------------------------------------------------------------------------------------

Source = tuple[int, ...]
"""Where a piece of a result comes from: `(i,)` is the whole piece i of the source, `(i, lane)` one
element for all lanes, and `(i, lane, j, lane, ...)` one element for each lane."""


def moved_tile(
    scalars: Scalars, tile: RegisterTile, positions: Positions, widths: Sequence[int]
) -> RegisterTile:
    """The tile whose elements are those of `tile` at `positions`, in pieces of `widths`."""
    sources = _plan(positions, tile.shape, tuple(tile.widths), tuple(widths))
    pieces = [_taken(scalars, tile, source) for source in sources]
    return RegisterTile(positions.shape, widths, pieces)


def broadcast_tile(
    scalars: Scalars, tile: RegisterTile, shape: StaticShape, widths: Sequence[int]
) -> RegisterTile:
    """A tile broadcast to a shape, in pieces of `widths`."""
    if tile.shape == shape and tile.widths == widths:
        return tile
    sources = _broadcast_plan(tile.shape, tuple(tile.widths), shape, tuple(widths))
    return RegisterTile(shape, widths, [_taken(scalars, tile, source) for source in sources])


def _taken(scalars: Scalars, tile: RegisterTile, source: Source) -> TilePiece:
    if len(source) == 1:
        return tile.pieces[source[0]]
    places = zip(source[::2], source[1::2], strict=True)
    lanes = [scalars.lane(tile.pieces[i], lane) for i, lane in places]
    return lanes[0] if all(lane is lanes[0] for lane in lanes) else scalars.gathered(lanes)


def reshaped_tile(
    scalars: Scalars, tile: RegisterTile, shape: StaticShape, cut: Sequence[int]
) -> RegisterTile:
    """A tile reshaped to `shape`: with the same pieces if they fit the new rows, and otherwise with
    rows cut into the widths `cut`."""
    # A longer row is several old rows; a shorter one is some whole pieces of an old row.
    old, new = row_length(tile.shape), row_length(shape)
    widths = tuple(tile.widths)
    if new > old and new % old == 0:
        return RegisterTile(shape, widths * (new // old), tile.pieces)
    if 0 < new <= old and old % new == 0:
        count = next((i for i, end in enumerate(accumulate(widths), 1) if end == new), 0)
        if count and widths == widths[:count] * (old // new):
            return RegisterTile(shape, widths[:count], tile.pieces)
    # Otherwise elements move between pieces.
    positions = np.arange(math.prod(shape)).reshape(shape)
    return moved_tile(scalars, tile, positions, cut)


@lru_cache(maxsize=1024)
def _broadcast_plan(
    shape: StaticShape, widths: tuple[int, ...], result: StaticShape, result_widths: tuple[int, ...]
) -> Sequence[Source]:
    positions = np.arange(math.prod(shape)).reshape(shape)
    return _plan(np.broadcast_to(positions, result), shape, widths, result_widths)


def _plan(
    positions: Positions,
    shape: StaticShape,
    widths: tuple[int, ...],
    result_widths: tuple[int, ...],
) -> Sequence[Source]:
    """The source of each piece of a result whose elements are at `positions` of a tile.

    The tile has `shape` and `widths`, the pieces of the result have `result_widths`.
    """
    # The piece and the lane of each column of the source.
    length = row_length(shape)
    columns = [(piece, lane) for piece, width in enumerate(widths) for lane in range(width)]

    def place(position: int) -> tuple[int, int]:
        row, column = divmod(position, length)
        piece, lane = columns[column]
        return row * len(widths) + piece, lane

    plan: list[Source] = []
    for row in positions.reshape(-1, row_length(positions.shape)).tolist():
        start = 0
        for width in result_widths:
            wanted = row[start : start + width]
            start += width
            # One whole piece, one element for all lanes, or an element for each lane.
            piece, lane = place(wanted[0])
            is_run = wanted == list(range(wanted[0], wanted[0] + width))
            if is_run and lane == 0 and widths[piece % len(widths)] == width:
                plan.append((piece,))
            elif wanted.count(wanted[0]) == width:
                plan.append((piece, lane))
            else:
                plan.append(tuple(chain.from_iterable(map(place, wanted))))
    return plan


def moved(op: Operation) -> Positions:
    """For each element of the result of a PERMUTE, FLIP or SHRINK, the position in its source."""
    shape = tg.tensor(op.operands[0]).get_shape()
    source = np.arange(math.prod(shape)).reshape(shape)
    if isinstance(op, tg.PermuteOp):
        return source.transpose(tg.integers(op, "order"))
    if isinstance(op, tg.FlipOp):
        return source[tuple(slice(None, None, -1 if f else 1) for f in tg.integers(op, "flags"))]
    windows = zip(tg.integers(op, "offsets"), tg.tensor(op.results[0]).get_shape(), strict=True)
    return source[tuple(slice(start, start + extent) for start, extent in windows)]
