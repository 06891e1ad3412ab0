"""Tiles by the intervals of indices, which STAGE copies for matrix instructions.

TC computes the row and the column of an element from bits of the lane. A tile with an axis for each
range, as `stage.py` makes it, would have one for the lane, and hold each cell several times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial, reduce

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import interval
from tgdialect.analysis.affine.strides import unclamped
from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.recomputation import emit_sum
from tgdialect.ops import tg
from tgdialect.ops.affine import times
from tgdialect.targets.local_factors import CORE_ROWS

RUN = 16
"""The bytes that one access of a copy moves, and by which rows of a padded tile are longer: the
widest access of a work item, to an address that stays aligned. Rows of 64 bytes plus 16 put the 8
rows of a fragment of `mma.sync` into different banks of LOCAL memory."""


@dataclass(frozen=True)
class _Side:
    """The part of one axis of a parameter that a tile has."""

    start: tg.Polynomial
    """Where it begins, by the loops around the tile."""
    inner: tg.Polynomial
    """The number of a cell in the tile."""
    extent: int
    last: int | None
    """The last index of an axis, if PADTO clamps what a LOAD loads."""


@dataclass(frozen=True)
class _Order:
    """The order of the cells of a tile in the buffer, and that in which they are copied."""

    shape: Sequence[int]
    """The extents of the buffer."""
    ranges: Sequence[tg.RangeOp]
    """The ranges of the copy, outermost first."""
    digits: Mapping[int, SSAValue]
    """By the number of an axis of the parameter, which index of the tile is copied."""
    cell: Sequence[SSAValue]
    """Where it is in the buffer."""


def copy_box(
    axes: Axes,
    loads: Sequence[tg.LoadOp],
    at: tg.RangeOp,
    around: Set[tg.RangeOp],
    space: tg.AddrSpace,
    order: str,
) -> None:
    """Copy the cells that LOADs are of in an iteration of the loop `at` to a buffer with an axis
    for each axis of the parameter, and load from there.

    The order of the buffer is that of the parameter, with `pad` in rows that are longer by RUN
    bytes; or with `cores` that of core matrices of 8 rows of RUN bytes, and with `swizzle` that of
    blocks of 8 rows of up to 8 such runs (`targets/local_factors.py`).

    before -> after:
        in the loop of %0, %v = load %x[8 * %0 + %1 / 4, %1 mod 4] ->
            %b = buffer local; store %b[%2 / 4, %2 mod 4], (load %x[8 * %0 + %2 / 4, %2 mod 4])
            end over %2; ... %v = load (after %b, %end)[%1 / 4, %1 mod 4]

    The copy has one loop over runs of 16 bytes, so that work items can share it evenly.
    """
    first = loads[0]
    index = first.buffer.owner
    assert isinstance(index, tg.IndexOp)
    limits = _limits(first, index)
    intervals = MinMax()
    ends = tg.tensor(index.source).get_shape()
    pairs = zip(index.indices, ends, strict=True)
    sides = [_side(axes, value, around, intervals, end) for value, end in pairs]
    tile = [number for number, side in enumerate(sides) if side.extent > 1]
    if not tile:
        raise IllegalOptError("the tile is one element")
    cells = RUN // max(tg.dtype_of(first.result).itemsize, 1)
    builder = tg.OpBuilder.before(first)
    put, constant = builder.put, builder.index_constant
    if order in BLOCKS:
        blocks = _blocks(axes, at, sides, tile, cells, BLOCKS[order])
        copy, cell_of = _by_blocks(builder, blocks, cells), partial(_block_cell, blocks, cells)
    else:
        extents = {number: sides[number].extent for number in tile}
        copy, cell_of = _by_rows(builder, extents, cells, has_padding=order == "pad"), _row_cell
    # The buffer.
    buffer = new_buffer(builder, tg.tensor(first.result).element_type, copy.shape, space)
    # Copy each cell, then have the LOADs read the buffer after all of the copy.
    indices: list[SSAValue] = []
    gated = {number for number, _ in limits}
    for number, side in enumerate(sides):
        position = emit_sum(builder, side.start)
        if number in copy.digits:
            position = put(tg.AddOp(position, copy.digits[number]))
        # A gate is of the index without a clamp, which would hide what is past the end.
        if side.last is not None and number not in gated:
            exists = put(tg.CmpLtOp(position, constant(side.last + 1)))
            position = put(tg.WhereOp(exists, position, constant(side.last)))
        indices.append(position)
    location = put(tg.IndexOp(index.source, indices))
    gates = [put(tg.CmpLtOp(indices[number], end)) for number, end in limits]
    gate = reduce(lambda a, b: put(tg.AndOp(a, b)), gates) if gates else None
    value = put(tg.LoadOp(location, first.alt if gates else None, gate))
    cell = put(tg.IndexOp(put(tg.AfterOp(buffer, [at.result])), copy.cell))
    end = put(tg.EndOp(put(tg.StoreOp(cell, value)), [r.result for r in reversed(copy.ranges)]))
    own = {number: emit_sum(builder, sides[number].inner) for number in tile}
    result = put(tg.LoadOp(put(tg.IndexOp(put(tg.AfterOp(buffer, [end])), cell_of(builder, own)))))
    for load in loads:
        load.result.replace_all_uses_with(result)
    axes.erase_dead_ops()


def _by_rows(
    builder: tg.OpBuilder, extents: Mapping[int, int], cells: int, *, has_padding: bool
) -> _Order:
    """The order of the parameter, in runs of at most so many cells."""
    put, constant = builder.put, builder.index_constant
    (*outer, last), shape = extents, list(extents.values())
    width = math.gcd(shape[-1], cells)
    run = builder.range(tg.AxisType.LOOP, math.prod(shape) // width)
    rest, digits = run.result, dict[int, SSAValue]()
    for number in reversed([*outer[1:], last] if outer else []):
        extent = constant(extents[number] // (width if number == last else 1))
        digits[number], rest = put(tg.ModOp(rest, extent)), put(tg.IDivOp(rest, extent))
    digits[outer[0] if outer else last] = rest
    ranges = [run]
    if width > 1:
        ranges.append(lane := builder.range(tg.AxisType.UPCAST, width))
        digits[last] = put(tg.AddOp(put(tg.MulOp(digits[last], constant(width))), lane))
    if has_padding and outer:
        shape[-1] += cells
    return _Order(shape, ranges, digits, _row_cell(builder, digits))


def _row_cell(builder: tg.OpBuilder, digits: Mapping[int, SSAValue]) -> Sequence[SSAValue]:
    """Where the element of a tile is in a buffer in the order of the parameter."""
    return [digits[number] for number in sorted(digits)]


@dataclass(frozen=True)
class _Blocks:
    """A tile as blocks of 8 rows."""

    rows: int
    """The axis of the parameter along which the rows of a block follow each other."""
    columns: int
    """The axis along which they lie, the last one of the tile."""
    runs: int
    """The runs of RUN bytes in a row: 1 in a core matrix, 2, 4 or 8 in a swizzled block."""
    extents: Mapping[int, int]
    """How many blocks each of the two axes has."""
    inner: int
    """The axis along which blocks lie next to each other: that of the loop around the tile, so that
    the tiles of instructions along the other axis follow each other."""

    @property
    def order(self) -> tuple[int, int]:
        """The axes of blocks in the buffer."""
        return (self.columns if self.inner == self.rows else self.rows), self.inner


BLOCKS = {"cores": 1, "swizzle": CORE_ROWS}
"""By the order that STAGE names, how many runs the rows of a block have at most."""


def _blocks(
    axes: Axes, at: tg.RangeOp, sides: Sequence[_Side], tile: Sequence[int], cells: int, runs: int
) -> _Blocks:
    """A tile as blocks of rows of at most so many runs. Raises IllegalOptError where there are
    none."""
    if len(tile) != 2:
        raise IllegalOptError("core matrices are of tiles of two axes")
    rows, columns = tile
    if sides[rows].extent % CORE_ROWS or sides[columns].extent % cells:
        sizes = f"{sides[rows].extent}x{sides[columns].extent}"
        raise IllegalOptError(f"a tile of {sizes} is not made of core matrices {CORE_ROWS}x{cells}")
    starts = {number: _atoms(sides[number].start) for number in tile}
    moved = [n for n, atoms in starts.items() if any(at in axes.around(atom) for atom in atoms)]
    if len(moved) != 1:
        raise IllegalOptError(f"range {at.axis.data} does not move the tile along one axis")
    runs = math.gcd(sides[columns].extent // cells, runs)
    width = runs * cells
    extents = {rows: sides[rows].extent // CORE_ROWS, columns: sides[columns].extent // width}
    return _Blocks(rows, columns, runs, extents, moved[0])


def _by_blocks(builder: tg.OpBuilder, blocks: _Blocks, cells: int) -> _Order:
    """The order of blocks. The rows of one are copied together, then those beside it: both LOCAL
    and GLOBAL memory are accessed in whole sectors."""
    put, constant = builder.put, builder.index_constant
    runs, rows = constant(blocks.runs), constant(CORE_ROWS)
    size = math.prod(blocks.extents.values()) * CORE_ROWS * blocks.runs
    run = builder.range(tg.AxisType.LOOP, size)
    lane = builder.range(tg.AxisType.UPCAST, cells)
    line, number = _divided(builder, run.result, blocks.runs)
    block, row = _divided(builder, line, CORE_ROWS)
    above, beside = _divided(builder, block, blocks.extents[blocks.columns])
    at = {blocks.rows: above, blocks.columns: beside}
    whole = put(tg.AddOp(put(tg.MulOp(at[blocks.columns], runs)), number))
    line = put(tg.AddOp(put(tg.MulOp(at[blocks.rows], rows)), row))
    column = put(tg.AddOp(put(tg.MulOp(whole, constant(cells))), lane))
    digits = {blocks.rows: line, blocks.columns: column}
    shape = [*(blocks.extents[axis] for axis in blocks.order), CORE_ROWS, blocks.runs, cells]
    place = _swizzled(builder, number, row, blocks.runs)
    cell = [*(at[axis] for axis in blocks.order), row, place, lane.result]
    return _Order(shape, (run, lane), digits, cell)


def _swizzled(builder: tg.OpBuilder, run: SSAValue, row: SSAValue, runs: int) -> SSAValue:
    """Where a run of a row is among the runs of a block in that row."""
    if runs == 1:
        return run
    shared = builder.put(tg.IDivOp(row, builder.index_constant(CORE_ROWS // runs)))
    return builder.put(tg.XorOp(run, shared))


def _block_cell(
    blocks: _Blocks, cells: int, builder: tg.OpBuilder, digits: Mapping[int, SSAValue]
) -> Sequence[SSAValue]:
    """Where the element of a tile is in a buffer in the order of blocks."""
    rows, row = _divided(builder, digits[blocks.rows], CORE_ROWS)
    runs, lane = _divided(builder, digits[blocks.columns], cells)
    columns, run = _divided(builder, runs, blocks.runs)
    outer = {blocks.rows: rows, blocks.columns: columns}
    place = _swizzled(builder, run, row, blocks.runs)
    return [*(outer[axis] for axis in blocks.order), row, place, lane]


def _divided(builder: tg.OpBuilder, value: SSAValue, by: int) -> tuple[SSAValue, SSAValue]:
    """A quotient and its remainder."""
    if by == 1:
        return value, builder.index_constant(0)
    divisor = builder.index_constant(by)
    return builder.put(tg.IDivOp(value, divisor)), builder.put(tg.ModOp(value, divisor))


def _limits(load: tg.LoadOp, index: tg.IndexOp) -> Sequence[tuple[int, SSAValue]]:
    """The gate of a LOAD as axes and the ends of their indices. Raises IllegalOptError for other
    gates, and where what is loaded otherwise is no constant."""
    if load.gate is None:
        return ()
    own = [_unclamped(value)[0] for value in index.indices]
    found: list[tuple[int, SSAValue]] = []
    for gate, holds in conjuncts([(load.gate, True)]):
        test, message = gate.owner, "the LOADs of the tile are gated by more than their indices"
        if not isinstance(test, tg.CmpLtOp) or not holds or tg.known_index(test.rhs) is None:
            raise IllegalOptError(message)
        if (value := _unclamped(test.lhs)[0]) not in own:
            raise IllegalOptError(message)
        found.append((own.index(value), test.rhs))
    if load.alt is None or not isinstance(load.alt.owner, tg.ConstOp):
        raise IllegalOptError("where the LOADs of the tile are gated, they give no constant")
    return found


def _side(
    axes: Axes, index: SSAValue, around: Set[tg.RangeOp], intervals: MinMax, end: int
) -> _Side:
    """The cells of an index along an axis to `end`, for all iterations of the loops in a tile.

    Clamps are left out, and the copy has one for all: it repeats the last cell. Raises
    IllegalOptError where the cells are no interval that begins at a number that the loops around
    the tile decide.
    """
    start: tg.Polynomial = tg.Affine()
    inner: tg.Polynomial = tg.Affine()
    total, is_clamped = _unclamped(index)
    for product, factor in total.terms.items():
        atoms = [atom for atom in product if isinstance(atom, SSAValue)]
        depends = {range for atom in atoms for range in axes.around(atom)}
        if depends <= around:
            start += tg.Affine({product: factor})
        elif depends & around or any(axes.is_bound_to(atom, depends) for atom in atoms):
            raise IllegalOptError("the cells of the tile are no interval of each axis")
        else:
            inner += tg.Affine({product: factor})
    cells = interval(inner, intervals)
    low, high = int(cells.lo), int(cells.hi)
    last = end - 1 if is_clamped else None
    return _Side(start + low + total.constant, inner - low, high - low + 1, last)


def _unclamped(index: SSAValue) -> tuple[tg.Polynomial, bool]:
    """An index as a polynomial without the clamps of PADTO, and whether there were any."""
    plain = unclamped(index)
    found, is_clamped = tg.polynomial(plain), plain is not index
    total: tg.Polynomial = tg.Affine(constant=found.constant)
    for product, factor in found.terms.items():
        term: tg.Polynomial = tg.Affine(constant=factor)
        for atom in product:
            here, has_clamp = tg.Affine({(atom,): 1}), False
            if isinstance(atom, SSAValue) and unclamped(atom) is not atom:
                here, has_clamp = _unclamped(atom)[0], True
            is_clamped |= has_clamp
            if (product_with := times(term, here)) is None:
                raise IllegalOptError("the cells of the tile are no interval of each axis")
            term = product_with
        total += term
    return total, is_clamped


def _atoms(of: tg.Polynomial) -> Sequence[SSAValue]:
    return [atom for product in of.terms for atom in product if isinstance(atom, SSAValue)]
