"""Tiles by the intervals of indices, which STAGE copies for matrix instructions.

TC computes the row and the column of an element from bits of the lane. A tile with an axis for each
range, as `stage.py` makes it, would have one for the lane, and hold each cell several times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial, reduce

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import interval
from tgdialect.analysis.affine.strides import unclamped_polynomial
from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.tile_loads import Digit, Numbers, copy_loops, load_instead
from tgdialect.lowering.recomputation import emit_sum
from tgdialect.ops import tg
from tgdialect.targets.local_factors import CORE_BYTES, CORE_ROWS


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
    """The order of the cells of a tile, as digits of their numbers, outermost first."""

    buffer: Sequence[Digit]
    """The axes of the buffer."""
    copied: Sequence[Digit]
    """The order of copying; the last digit counts the cells of a run, which are copied at once."""
    padding: int = 0
    """By how many cells rows of the buffer are longer."""
    swizzled_runs: int = 1
    """The runs of a row of a block whose places, the last but one axis of the buffer, are swizzled:
    the number of a run XOR that of its row, the axis before."""


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

    The order of the buffer is that of the parameter, with `pad` in rows that are longer by one run
    of 16 bytes; or with `cores` that of core matrices of 8 rows of one run, and with `swizzle` that
    of blocks of 8 rows of up to 8 such runs (`targets/local_factors.py`).

    before -> after:
        in the loop of %0, %v = load %x[8 * %0 + %1 / 4, %1 mod 4] ->
            %b = buffer local; store %b[%2 / 4, %2 mod 4], (load %x[8 * %0 + %2 / 4, %2 mod 4])
            end over %2; ... %v = load (after %b, %end)[%1 / 4, %1 mod 4]

    The copy has one loop over runs of 16 bytes, so that work items can share it evenly. That is the
    widest access of a work item, to an address that stays aligned in rows with `pad`: rows of 64
    bytes plus 16 put the 8 rows of a fragment of `mma.sync` into different banks of LOCAL memory.
    """
    first = loads[0]
    index = first.buffer.owner
    assert isinstance(index, tg.IndexOp)
    limits = _limits(first, index)
    intervals = MinMax()
    ends = tg.tensor(index.source).get_shape()
    pairs = zip(index.indices, ends, strict=True)
    sides = [_side(axes, value, around, intervals, end) for value, end in pairs]
    extents = {axis: side.extent for axis, side in enumerate(sides) if side.extent > 1}
    if not extents:
        raise IllegalOptError("the tile is one element")
    run = CORE_BYTES // max(tg.dtype_of(first.result).itemsize, 1)
    if order in BLOCKS:
        cells = _by_blocks(axes, at, sides, extents, run, most=1 if order == "cores" else CORE_ROWS)
    else:
        cells = _by_rows(extents, run, padding=run if order == "pad" else 0)
    builder = tg.OpBuilder.before(first)
    put, constant = builder.put, builder.index_constant
    *outer, lane = cells.copied
    kinds = [(tg.AxisType.LOOP, outer), (tg.AxisType.UPCAST, [lane])]
    loops, numbers = copy_loops(builder, kinds[: 1 if lane.extent == 1 else 2])
    cell = _cell(builder, cells, numbers)
    *shape, last = (digit.extent for digit in cells.buffer)
    dtype = tg.tensor(first.result).element_type
    buffer = new_buffer(builder, dtype, [*shape, last + cells.padding], space)
    # Copy each cell, then have the LOADs read the buffer after all of the copy.
    indices: list[SSAValue] = []
    gated = {axis for axis, _ in limits}
    for axis, side in enumerate(sides):
        position = emit_sum(builder, side.start)
        if axis in numbers:
            position = put(tg.AddOp(position, numbers[axis]))
        # A gate is of the index without a clamp, which would hide what is past the end.
        if side.last is not None and axis not in gated:
            exists = put(tg.CmpLtOp(position, constant(side.last + 1)))
            position = put(tg.WhereOp(exists, position, constant(side.last)))
        indices.append(position)
    location = put(tg.IndexOp(index.source, indices))
    gates = [put(tg.CmpLtOp(indices[axis], end)) for axis, end in limits]
    gate = reduce(lambda a, b: put(tg.AndOp(a, b)), gates) if gates else None
    value = put(tg.LoadOp(location, first.alt if gates else None, gate))
    written = put(tg.IndexOp(put(tg.AfterOp(buffer, [at.result])), cell))
    end = put(tg.EndOp(put(tg.StoreOp(written, value)), loops[::-1]))
    own: Numbers = {axis: emit_sum(builder, sides[axis].inner) for axis in extents}
    copied = put(tg.AfterOp(buffer, [end]))
    load_instead(axes, builder, loads, copied, _cell(builder, cells, own))
    axes.erase_dead_ops()


# -- the order of cells ----------------------------------------------------------------------------

BLOCKS = ("cores", "swizzle")
"""The orders that are of blocks of 8 rows."""


def _by_rows(extents: Mapping[int, int], run: int, *, padding: int) -> _Order:
    """The order of the parameter, in runs of at most so many cells."""
    *outer, last = (Digit(axis, extent, extent) for axis, extent in extents.items())
    width = math.gcd(last.extent, run)
    along = partial(Digit, last.of, last.whole)
    runs = along(last.extent // width, width), along(width)
    return _Order([*outer, last], [*outer, *runs], padding if outer else 0)


def _by_blocks(
    axes: Axes,
    at: tg.RangeOp,
    sides: Sequence[_Side],
    extents: Mapping[int, int],
    run: int,
    *,
    most: int,
) -> _Order:
    """The order of blocks, with at most so many runs in a row. Those along the axis that the loop
    `at` moves lie next to each other, so that the tiles of instructions along the other axis follow
    each other.

    The rows of a block are copied together, then those beside it: both LOCAL and GLOBAL memory are
    accessed in whole sectors. Raises IllegalOptError where there are no such blocks.
    """
    if len(extents) != 2:
        raise IllegalOptError("core matrices are of tiles of two axes")
    (rows, height), (columns, width) = extents.items()
    if height % CORE_ROWS or width % run:
        sizes = f"{height}x{width}"
        raise IllegalOptError(f"a tile of {sizes} is not made of core matrices {CORE_ROWS}x{run}")
    moved = [n for n in extents if any(at in _around(axes, p) for p in sides[n].start.terms)]
    if len(moved) != 1:
        raise IllegalOptError(f"range {at.axis.data} does not move the tile along one axis")
    runs = math.gcd(width // run, most)
    across, along = partial(Digit, rows, height), partial(Digit, columns, width)
    above, beside = across(height // CORE_ROWS, CORE_ROWS), along(width // runs // run, runs * run)
    inside = across(CORE_ROWS), along(runs, run), along(run)
    blocks = (beside, above) if moved == [rows] else (above, beside)
    return _Order([*blocks, *inside], [above, beside, *inside], swizzled_runs=runs)


def _cell(builder: tg.OpBuilder, order: _Order, numbers: Numbers) -> Sequence[SSAValue]:
    """Where the cell of these numbers along the axes of the tile is in the buffer."""
    found = [digit.value(builder, numbers) for digit in order.buffer]
    if (runs := order.swizzled_runs) > 1:
        *_, row, run, _ = found
        shared = builder.put(tg.IDivOp(row, builder.index_constant(CORE_ROWS // runs)))
        found[-2] = builder.put(tg.XorOp(run, shared))
    return found


# -- the cells of a tile ---------------------------------------------------------------------------


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
    total, is_clamped = _unclamped(index)
    for product, factor in total.terms.items():
        depends, atoms = _around(axes, product), [a for a in product if isinstance(a, SSAValue)]
        if depends <= around:
            start += tg.Affine({product: factor})
        elif depends & around or any(axes.is_bound_to(atom, depends) for atom in atoms):
            raise IllegalOptError("the cells of the tile are no interval of each axis")
    inner = total - start
    cells = interval(inner, intervals)
    low, high = int(cells.lo), int(cells.hi)
    return _Side(start + low, inner - low, high - low + 1, end - 1 if is_clamped else None)


def _around(axes: Axes, product: Iterable[SSAValue | tg.UnknownDim]) -> Set[tg.RangeOp]:
    """The ranges in whose loops some atoms of a polynomial are."""
    return {range for a in product if isinstance(a, SSAValue) for range in axes.around(a)}


def _unclamped(index: SSAValue) -> tuple[tg.Polynomial, bool]:
    """An index as a polynomial without clamps, and whether there were any."""
    if (found := unclamped_polynomial(index)) is None:
        raise IllegalOptError("the cells of the tile are no interval of each axis")
    return found, found != tg.polynomial(index)
