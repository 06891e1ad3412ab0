"""The kernel under construction: maps each value of the old kernel to a register tile."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.zeros import is_positive_zero
from tgdialect.lowering.select.accesses import Accesses
from tgdialect.lowering.select.bounds_checks import BoundsChecks
from tgdialect.lowering.select.indices import Ramp, is_ramp
from tgdialect.lowering.select.locations import CellIndex, Locations
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.lowering.select.tiles import (
    RegisterTile,
    StaticShape,
    broadcast_tile,
    cut,
    elements,
    ones,
    row_length,
    rows,
    scalar,
)
from tgdialect.ops import tg
from tgdialect.targets import Target


def static_shape(value: SSAValue) -> StaticShape:
    """The shape of a value in registers. Raises PassFailedException for a dynamic shape."""
    shape = tg.tensor(value).get_shape()
    if DYNAMIC_INDEX in shape:
        raise PassFailedException(f"a value in registers has a static shape, not {value.type}")
    return shape


class SelectedKernel:
    """The new block, and the register tile of each value of the old block."""

    def __init__(self, target: Target, lanes: int = 1) -> None:
        """`lanes` is how many elements a vector register has."""
        self.target = target
        self.lanes = target.registers_at_once * lanes if lanes > 1 else 1
        """The most elements that a piece of a row has."""
        self.block = Block()
        self.scalars = Scalars(self.block, target)
        self.narrow = NarrowFloats(self.scalars)
        self.bounds = BoundsChecks(self.scalars)
        self.values: dict[SSAValue, RegisterTile] = {}
        """The tile of each value of the old kernel; that of an ordering edge is a scalar."""
        self.locations = Locations(self.scalars, self.narrow, self.tile, self.edges)
        self._accesses = Accesses(self.scalars, self.narrow, self.bounds, self.locations, lanes)
        self._register = lanes

    # -- tiles

    def cut(self, extent: int) -> Sequence[int]:
        """The widths of the pieces of a row of `extent` elements."""
        return cut(extent, self.lanes, self._register)

    def tile(self, value: SSAValue) -> RegisterTile:
        """The register tile of a value; for memory, a load of it."""
        return self.load(value) if (known := self.values.get(value)) is None else known

    def edges(self, value: SSAValue) -> Sequence[SSAValue] | None:
        """The registers of a value, or its ordering edge; None for memory."""
        return None if (tile := self.values.get(value)) is None else elements(self.scalars, tile)

    def elements(self, value: SSAValue) -> Sequence[SSAValue]:
        """The elements of a value, row by row."""
        return elements(self.scalars, self.tile(value))

    def aligned(self, operands: Sequence[SSAValue], shape: StaticShape) -> Sequence[RegisterTile]:
        """Operands broadcast to a shape, as tiles with pieces of the same widths. The widths are
        those of the operand with the fewest pieces."""
        tiles = [self.tile(operand) for operand in operands]
        length = row_length(shape)
        widths = [tile.widths for tile in tiles if row_length(tile.shape) == length]
        fewest = min(widths, key=len, default=self.cut(length))
        return [broadcast_tile(self.scalars, tile, shape, fewest) for tile in tiles]

    def rebuilt(self, op: tg.TgOp) -> RegisterTile:
        """An op on scalars or ordering edges, rebuilt on the operands of the new kernel."""
        operands = [o for value in op.operands for o in self.locations.waited_for(value)]
        return scalar(self.scalars.put(op.rebuild(operands)))

    # -- memory

    def load(
        self, memory: SSAValue, alt: SSAValue | None = None, gate: SSAValue | None = None
    ) -> RegisterTile:
        """Load memory into a register tile. An element is `alt` where the gate is false, and 0
        where an index is out of bounds."""
        # Without a gate, load by columns if that is faster.
        shape = static_shape(memory)
        if _is_matrix(memory):
            return RegisterTile(shape, shape, [self._accesses.load_block(memory)])
        widths = self._widths(memory, shape)
        is_whole = alt is None and gate is None
        if is_whole and (height := self._accesses.height_of_load(memory, shape, widths)):
            columns = self._accesses.load_columns(memory, shape, widths, height)
            return RegisterTile(shape, widths, columns)
        # Otherwise, load piece by piece.
        cells = _cells_of_pieces(shape, widths)
        alts, gates = (self._pieces(value, shape, widths, len(cells)) for value in (alt, gate))
        each = zip(cells, alts, gates, strict=True)
        pieces = [self._accesses.load(memory, *cell, alt, gate) for cell, alt, gate in each]
        return RegisterTile(shape, widths, pieces)

    def store(self, memory: SSAValue, value: SSAValue, gate: SSAValue | None) -> Sequence[SSAValue]:
        """Emit the STOREs of a value to memory, where the gate is true."""
        # Convert each piece to its stored form.
        tile, dtype = self.tile(value), dtype_name(value)
        cells = _cells_of_pieces(tile.shape, tile.widths)
        gates = self._pieces(gate, tile.shape, tile.widths, len(cells))
        registers = [self.scalars.register(piece) for piece in tile.pieces]
        pieces = [self.narrow.stored(register, dtype) for register in registers]
        # On a grid, store one value to a row of registers at once.
        if self.target.is_grid and gate is None and _is_one_value(memory, tile, pieces):
            widths, pieces = tile.shape, [self.scalars.splat(pieces[0], tile.shape[0])]
            tile, cells = tile._replace(widths=widths), _cells_of_pieces(tile.shape, widths)
            gates = [None]
        # Clear a whole REG buffer by one STORE.
        if gate is None and self._is_cleared(memory, pieces):
            view = self.locations.version(memory)
            zeros = self.scalars.splat(pieces[0], math.prod(tile.shape))
            return [self._accesses.put(view, zeros, None)]
        # Without a gate, store by columns if those are contiguous in memory.
        if gate is None and (height := self._accesses.height_of_store(memory, tile)):
            return self._accesses.store_columns(memory, tile._replace(pieces=pieces), height)
        # Otherwise, store piece by piece.
        return [
            store
            for i, (cell, width) in enumerate(cells)
            for store in self._accesses.store(memory, cell, width, pieces[i], gates[i])
        ]

    def _pieces(
        self, value: SSAValue | None, shape: StaticShape, widths: Sequence[int], count: int
    ) -> Sequence[SSAValue | None]:
        """The registers of an optional operand, broadcast to `shape` in pieces of `widths`; `count`
        times None where the operand is absent."""
        if value is None:
            return [None] * count
        tile = broadcast_tile(self.scalars, self.tile(value), shape, widths)
        return [self.scalars.register(piece) for piece in tile.pieces]

    def _widths(self, memory: SSAValue, shape: StaticShape) -> Sequence[int]:
        """The widths in which memory is loaded: single elements where every use reshapes the loaded
        vector to a column. On a grid, elements of a loaded vector are had for nothing; cells that
        are not contiguous are loaded as single elements."""
        if _is_accumulator(memory, shape):
            return shape
        row = row_length(shape)
        widths = cut(row, self._widest(memory), self._register)
        if widths == ones(shape):
            return widths
        if self.target.is_grid:
            cell, _ = _cells_of_pieces(shape, widths)[0]
            position = self._accesses.locations.locate(memory, cell).position
            return widths if is_ramp(position) and abs(position.step) == 1 else ones(shape)
        if len(shape) != 1:
            return widths
        users = _users_of_loads(memory)
        lengths = [static_shape(op.result)[-1] for op in users if isinstance(op, tg.ReshapeOp)]
        return ones(shape) if 0 < len(users) == lengths.count(1) else widths

    def _widest(self, memory: SSAValue) -> int:
        """How many elements one LOAD of memory loads. An asynchronous copy moves as many bytes as
        an access can, whatever dtype the target computes narrow floats in."""
        is_global = tg.place(memory).addrspace is tg.AddrSpace.GLOBAL
        if not self.target.copies_asynchronously or not is_global:
            return self.lanes
        users = _users_of_loads(memory)
        to = [tg.place(op.buffer).addrspace for op in users if isinstance(op, tg.StoreOp)]
        is_copy = to.count(tg.AddrSpace.LOCAL) == len(users)
        bits = 8 * tg.dtype_of(memory).itemsize
        return max(self.lanes, self.target.vector_bits // bits) if is_copy else self.lanes

    def _is_cleared(self, memory: SSAValue, pieces: Sequence[SSAValue]) -> bool:
        """Whether a store writes +0 to a whole REG buffer, for which one STORE is enough."""
        is_one = len(pieces) > 1 and all(piece is pieces[0] for piece in pieces)
        if self._register == 1 or not is_one or tg.place(memory).addrspace is not tg.AddrSpace.REG:
            return False
        return is_positive_zero(pieces[0]) and self.locations.is_whole(memory)


def _users_of_loads(memory: SSAValue) -> Sequence[Operation]:
    """The ops that use what is loaded of memory."""
    uses = [use.operation for use in memory.uses]
    return [user for op in uses if isinstance(op, tg.LoadOp) for user in tg.users_of(op)]


def _is_matrix(memory: SSAValue) -> bool:
    """Whether a block of memory is loaded for a WMMA, all of whose threads read all of it."""
    uses = [u for use in memory.uses for u in use.operation.results[0].uses]
    return bool(uses) and all(tg.is_shared_factor(use) for use in uses)


def _is_accumulator(memory: SSAValue, shape: StaticShape) -> bool:
    """Whether memory is loaded as what a WMMA begins with, a fragment that is one vector."""
    users = _users_of_loads(memory)
    while users and all(isinstance(op, tg.ReshapeOp) for op in users):
        users = [user for op in users for user in tg.users_of(op)]
    return bool(users) and all(
        isinstance(op, tg.WmmaOp | tg.InsOp)
        and (config := op.config) is not None
        and not config.is_whole
        and config.operand_shapes[2] == shape
        for op in users
    )


def _is_one_value(memory: SSAValue, tile: RegisterTile, pieces: Sequence[SSAValue]) -> bool:
    """Whether a row of memory that is not GLOBAL gets one value in several pieces."""
    return (
        len(tile.shape) == 1 < len(pieces)
        and tg.place(memory).addrspace is not tg.AddrSpace.GLOBAL
        and all(not tg.tensor(piece).get_shape() and piece is pieces[0] for piece in pieces)
    )


def _cells_of_pieces(shape: StaticShape, widths: Sequence[int]) -> Sequence[tuple[CellIndex, int]]:
    """For each piece of a tile, its cells and how many there are."""
    if not shape:
        return [((), 1)]
    runs = list(RegisterTile(shape, widths, ()).runs)
    return [
        ((*row, start if width == 1 else Ramp(start, 1, width)), width)
        for row in rows(shape)
        for start, width in runs
    ]
