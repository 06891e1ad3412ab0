"""Tiles by the intervals of indices, which STAGE copies for matrix instructions.

TC computes the row and the column of an element from bits of the lane. A tile with an axis for each
range, as `stage.py` makes it, would have one for the lane, and hold each cell several times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import reduce

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import interval
from tgdialect.analysis.affine.strides import unclamped
from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops.affine import Affine, times
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.elementwise import AddOp, AndOp, CmpLtOp, IDivOp, ModOp, MulOp, WhereOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import AfterOp, EndOp, RangeOp
from tgdialect.ops.properties import (
    Polynomial,
    dtype_of,
    known_index,
    polynomial,
    tensor,
    tensor_type,
)
from tgdialect.ops.source import BufferOp, ConstOp

RUN = 16
"""The bytes that one access of a copy moves, and by which rows of a padded tile are longer: the
widest access of a work item, to an address that stays aligned. Rows of 64 bytes plus 16 put the 8
rows of a fragment of `mma.sync` into different banks of LOCAL memory."""


@dataclass(frozen=True)
class _Side:
    """The part of one axis of a parameter that a tile has."""

    start: Polynomial
    """Where it begins, by the loops around the tile."""
    inner: Polynomial
    """The number of a cell in the tile."""
    extent: int
    last: int | None
    """The last index of an axis, if PADTO clamps what a LOAD loads."""


def copy_box(
    axes: Axes,
    loads: Sequence[LoadOp],
    at: RangeOp,
    around: Set[RangeOp],
    space: AddrSpace,
    *,
    padded: bool,
) -> None:
    """Copy the cells that LOADs are of in an iteration of the loop `at` to a buffer with an axis
    for each axis of the parameter, and load from there.

    before -> after:
        in the loop of %0, %v = load %x[8 * %0 + %1 / 4, %1 mod 4] ->
            %b = buffer local; store %b[%2 / 4, %2 mod 4], (load %x[8 * %0 + %2 / 4, %2 mod 4])
            end over %2; ... %v = load (after %b, %end)[%1 / 4, %1 mod 4]

    The copy has one loop over runs of 16 bytes, so that work items can share it evenly.
    """
    first = loads[0]
    index = first.buffer.owner
    assert isinstance(index, IndexOp)
    limits = _limits(first, index)
    intervals = MinMax()
    ends = tensor(index.source).get_shape()
    sides = [
        _side(axes, value, around, intervals, end)
        for value, end in zip(index.indices, ends, strict=True)
    ]
    tile = [number for number, side in enumerate(sides) if side.extent > 1]
    if not tile:
        raise IllegalOptError("the tile is one element")
    builder = OpBuilder.before(first)
    put, constant = builder.put, builder.index_constant
    # The buffer.
    element = tensor(first.result).element_type
    cells = RUN // max(dtype_of(first.result).itemsize, 1)
    row = sides[tile[-1]].extent
    shape = [sides[number].extent for number in tile]
    if padded and len(tile) > 1:
        shape[-1] += cells
    where = PlaceAttr.of(addrspace=space)
    buffer = put(BufferOp(next(builder.free_slots), tensor_type(element, tuple(shape), where)))
    # The loop of the copy, and the digits of its number.
    width = math.gcd(row, cells)
    size = math.prod(side.extent for side in sides)
    run = put(RangeOp(next(builder.free_axes), AxisType.LOOP, constant(size // width)))
    ranges, rest = [run], run
    digits: dict[int, SSAValue] = {}
    for number in reversed(tile):
        extent = sides[number].extent // (width if number == tile[-1] else 1)
        digits[number] = rest if number == tile[0] else put(ModOp(rest, constant(extent)))
        rest = rest if number == tile[0] else put(IDivOp(rest, constant(extent)))
    if width > 1:
        lane = put(RangeOp(next(builder.free_axes), AxisType.UPCAST, constant(width)))
        ranges.append(lane)
        scaled = put(MulOp(digits[tile[-1]], constant(width)))
        digits[tile[-1]] = put(AddOp(scaled, lane))
    # Copy each cell, then have the LOADs read the buffer after all of the copy.
    indices: list[SSAValue] = []
    for number, side in enumerate(sides):
        position = _sum(builder, side.start)
        if number in digits:
            position = put(AddOp(position, digits[number]))
        if side.last is not None:
            exists = put(CmpLtOp(position, constant(side.last + 1)))
            position = put(WhereOp(exists, position, constant(side.last)))
        indices.append(position)
    location = put(IndexOp(index.source, indices))
    if limits:
        gates = [put(CmpLtOp(indices[number], end)) for number, end in limits]
        gate = reduce(lambda a, b: put(AndOp(a, b)), gates)
        value = put(LoadOp(location, first.alt, gate))
    else:
        value = put(LoadOp(location))
    cell = put(IndexOp(put(AfterOp(buffer, [at.result])), [digits[number] for number in tile]))
    end = put(EndOp(put(StoreOp(cell, value)), ranges[::-1]))
    own = [_sum(builder, sides[number].inner) for number in tile]
    result = put(LoadOp(put(IndexOp(put(AfterOp(buffer, [end])), own))))
    for load in loads:
        load.result.replace_all_uses_with(result)
    axes.erase_dead_ops()


def _limits(load: LoadOp, index: IndexOp) -> Sequence[tuple[int, SSAValue]]:
    """The gate of a LOAD as axes and the ends of their indices. Raises IllegalOptError for other
    gates, and where what is loaded otherwise is no constant."""
    if load.gate is None:
        return ()
    own = [_unclamped(value)[0] for value in index.indices]
    found: list[tuple[int, SSAValue]] = []
    for gate, holds in conjuncts([(load.gate, True)]):
        test = gate.owner
        if not holds or not isinstance(test, CmpLtOp) or known_index(test.operands[1]) is None:
            raise IllegalOptError("the LOADs of the tile are gated by more than their indices")
        value, _ = _unclamped(test.operands[0])
        if value not in own:
            raise IllegalOptError("the LOADs of the tile are gated by more than their indices")
        found.append((own.index(value), test.operands[1]))
    if load.alt is None or not isinstance(load.alt.owner, ConstOp):
        raise IllegalOptError("where the LOADs of the tile are gated, they give no constant")
    return found


def _side(axes: Axes, index: SSAValue, around: Set[RangeOp], intervals: MinMax, end: int) -> _Side:
    """The cells of an index along an axis to `end`, for all iterations of the loops in a tile.

    Clamps are left out, and the copy has one for all: it repeats the last cell. Raises
    IllegalOptError where the cells are no interval that begins at a number that the loops around
    the tile decide.
    """
    start: Polynomial = Affine()
    inner: Polynomial = Affine()
    total, is_clamped = _unclamped(index)
    for product, factor in total.terms.items():
        atoms = [atom for atom in product if isinstance(atom, SSAValue)]
        depends = {range for atom in atoms for range in axes.around(atom)}
        if depends <= around:
            start += Affine({product: factor})
        elif depends & around or any(axes.is_bound_to(atom, depends) for atom in atoms):
            raise IllegalOptError("the cells of the tile are no interval of each axis")
        else:
            inner += Affine({product: factor})
    cells = interval(inner, intervals)
    low, high = int(cells.lo), int(cells.hi)
    last = end - 1 if is_clamped else None
    return _Side(start + low + total.constant, inner - low, high - low + 1, last)


def _unclamped(index: SSAValue) -> tuple[Polynomial, bool]:
    """An index as a polynomial without the clamps of PADTO, and whether there were any."""
    plain = unclamped(index)
    found, is_clamped = polynomial(plain), plain is not index
    total: Polynomial = Affine(constant=found.constant)
    for product, factor in found.terms.items():
        term: Polynomial = Affine(constant=factor)
        for atom in product:
            here, has_clamp = Affine({(atom,): 1}), False
            if isinstance(atom, SSAValue) and unclamped(atom) is not atom:
                here, has_clamp = _unclamped(atom)[0], True
            is_clamped |= has_clamp
            if (product_with := times(term, here)) is None:
                raise IllegalOptError("the cells of the tile are no interval of each axis")
            term = product_with
        total += term
    return total, is_clamped


def _sum(builder: OpBuilder, of: Polynomial) -> SSAValue:
    """The value of a polynomial."""
    put, total = builder.put, None
    for product, factor in of.terms.items():
        values = [atom for atom in product if isinstance(atom, SSAValue)]
        term = values[0]
        for value in values[1:]:
            term = put(MulOp(term, value))
        if factor != 1:
            term = put(MulOp(term, builder.index_constant(factor)))
        total = term if total is None else put(AddOp(total, term))
    if total is None:
        return builder.index_constant(of.constant)
    return put(AddOp(total, builder.index_constant(of.constant))) if of.constant else total
