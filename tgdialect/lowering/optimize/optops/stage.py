"""STAGE: a loop first copies the tile of a parameter that it uses into a buffer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import is_expanded, loops_of
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.matrix_products import is_zero
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.boxes import BLOCKS, copy_box
from tgdialect.lowering.optimize.optops.prepack import prepack
from tgdialect.lowering.optimize.optops.tile_loads import Digit, digits, in_tile_order, staged_loads
from tgdialect.lowering.recomputation import computed_again, emit_sum
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS


def stage(axes: Axes, slot: int, axis: int, space: str, order: str = "") -> None:
    """Copy the tile of a parameter that the loop of a range loads into a buffer, before it is used.

    before -> after:
        stage 1, 0, local:  in the loop of range 0, %v = load %x[%0, %1] ->
            %b = buffer local; store %b[%2], (load %x[%0, %2]); end over %2; ...
            %v = load (after %b, %end)[%1]
    On a CPU this is packing: the tile becomes contiguous, and loops inside use it again and again.
    With `pad` rows of the copy are one cell longer, so that work items that access one column of it
    use different banks of LOCAL memory. Where TC has split the ranges of the tile, the copy has an
    axis for each axis of the parameter (`boxes.py`), and with `cores` it is in the order of core
    matrices of 8 rows of 16 bytes, which `ldmatrix` loads, or with `swizzle` in that of blocks of 8
    rows of up to 128 bytes, which `wgmma` multiplies.

        stage 1, 0, global:  a kernel that runs before packs the tiles of all iterations of range 0
            and of the ranges around it (`prepack`). For weights, which are the same in every call
            of the program, it runs once.
    """
    if tg.AddrSpace(space) is tg.AddrSpace.GLOBAL:
        prepack(axes, slot, axis)
        return
    at = axes[axis]
    if at not in axes.ends or is_expanded(at):
        raise IllegalOptError(f"range {axis} is no loop that an END closes")
    # Loads that a loop inside repeats in each iteration of this one count as loads of this one.
    nest = loops_of(axes.ends[at])
    inside = nest[nest.index(at) :]
    loads = staged_loads(axes, slot, dict.fromkeys(op for r in inside for op in axes.reads(r)))
    if not loads:
        raise IllegalOptError(f"nothing of parameter {slot} is loaded in the loop of range {axis}")
    around = [*axes.open[axes.ends[at]], *nest[: nest.index(at) + 1]]
    if any(r.axis_type.data in WORK_ITEMS for r in around):
        raise IllegalOptError("the threads of a workgroup would share the buffer")
    if any(r.axis_type.data is tg.AxisType.WARP for r in axes.open[loads[0]]):
        copy_box(axes, loads, at, {*around}, tg.AddrSpace(space), order)
        return
    if order in BLOCKS:
        raise IllegalOptError("core matrices are of tiles that TC has split")
    if not (inner := in_tile_order(axes, loads[0], around)):
        raise IllegalOptError(f"one element of parameter {slot} is loaded in range {axis}")
    _stage(axes, loads, at, inner, tg.AddrSpace(space), int(order == "pad"))


def _stage(
    axes: Axes,
    loads: Sequence[tg.LoadOp],
    at: tg.RangeOp,
    inner: Sequence[tg.RangeOp],
    space: tg.AddrSpace,
    padding: int,
) -> None:
    """Insert the copy of a tile before its first LOAD, and load from the copy."""
    first = loads[0]
    cells = digits(axes, first, inner)
    extents = [digit.extent for digit in cells]
    block = axes.kernel.body.block

    builder = tg.OpBuilder.before(first)
    put = builder.put
    dtype = tg.tensor(first.result).element_type
    padded = tuple(extent + padding * (i == 1) for i, extent in enumerate(extents))
    buffer = new_buffer(builder, dtype, padded, space)
    copies: dict[SSAValue, SSAValue] = {}

    def again(value: SSAValue) -> SSAValue:
        return computed_again(builder, value, copies)

    # The loops of the copy: in the order of memory, the axes of the register tile innermost.
    merged = _merged(axes, first, inner)
    tile = [r for r in inner if is_expanded(r)]
    along = strides(first.buffer, axes.around)
    loops = [r for r in inner if r not in (*tile, *merged)]
    loops.sort(key=lambda r: -abs(along.get(r) or 0))
    size = math.prod(map(axes.extent, merged))
    outer = [builder.range(tg.AxisType.LOOP, axes.extent(r)).result for r in loops]
    # Loops over whole trailing axes of the parameter are one loop, whose number is divided.
    if merged:
        outer.append(whole := builder.range(tg.AxisType.LOOP, size).result)
        for range in reversed(merged):
            extent = builder.index_constant(axes.extent(range))
            copies[range.result] = put(tg.ModOp(whole, extent))
            whole = put(tg.IDivOp(whole, extent))
    wide = None if merged else wide_cells(axes, first, cells[-1])
    sizes = {} if wide is None else {wide.range: wide.width}
    extents = [axes.extent(r) // sizes.get(r, 1) for r in tile]
    parts = [builder.range(tg.AxisType.UPCAST, extent).result for extent in extents]
    starts = [
        put(tg.MulOp(part, builder.index_constant(sizes[r]))) if r in sizes else part
        for r, part in zip(tile, parts, strict=True)
    ]
    new = (*outer[: len(loops)], *starts)
    copies.update(zip((r.result for r in (*loops, *tile)), new, strict=True))
    # The copy loads through a flat view of those axes, so that no index is divided.
    if merged:
        index = first.buffer.owner
        assert isinstance(index, tg.IndexOp)
        rest = len(index.indices) - len(merged)
        shape = tg.tensor(index.source).get_shape()[:rest]
        lead = [again(i) for i in index.indices[:rest]]
        flat = put(tg.ReshapeOp(index.source, [*shape, size]))
        copies[first.buffer] = put(tg.IndexOp(flat, [*lead, outer[-1]]))
    # Copy each cell, then have the LOADs read the buffer after all of the copy.
    if wide is None:
        value = put(first.rebuild([again(operand) for operand in first.operands]))
        written = put(tg.AfterOp(buffer, [at.result]))
        indices = [digit.value(axes, builder, copies) for digit in cells]
    else:
        part = parts[tile.index(wide.range)]
        value = put(wide.load(builder, again, part))
        narrow = [wide.digit_of(digit, part) for digit in cells[:-1]]
        written = put(tg.BitcastOp(put(tg.AfterOp(buffer, [at.result])), wide.dtype))
        indices = [digit.value(axes, builder, copies) for digit in narrow]
        indices.append(builder.index_constant(0))
    cell = put(tg.IndexOp(written, indices))
    end = put(tg.EndOp(put(tg.StoreOp(cell, value)), [*parts[::-1], *outer[::-1]]))
    indices = [digit.value(axes, builder, {}) for digit in cells]
    staged = put(tg.IndexOp(put(tg.AfterOp(buffer, [end])), indices))
    result = put(tg.LoadOp(staged))
    for load in loads:
        load.result.replace_all_uses_with(result)
        block.erase_op(load)
    axes.changed()


def _merged(axes: Axes, load: tg.LoadOp, ranges: Sequence[tg.RangeOp]) -> Sequence[tg.RangeOp]:
    """The loops over the whole of trailing axes of a parameter: the copy has one loop for them."""
    index = load.buffer.owner
    if not isinstance(index, tg.IndexOp) or not isinstance(index.source.owner, tg.ParamOp):
        return ()
    found: list[tg.RangeOp] = []
    shape = tg.tensor(index.source).get_shape()
    for value, extent in zip(reversed(index.indices), reversed(shape), strict=True):
        range = value.owner
        if range not in ranges or range in found or not isinstance(range, tg.RangeOp):
            break
        if is_expanded(range) or axes.extent(range) != extent:
            break
        found.append(range)
    return found[::-1] if len(found) > 1 else ()


# -- cells that are copied as one integer ----------------------------------------------------------

# Cells that are next to each other in memory and in the copy that STAGE makes of them.
#
# A factor of a matrix instruction may have pairs of steps next to each other in its block. Where
# they are neighbours in memory as well, as where rows lie along the steps, the copy moves a pair as
# one integer: it is a transpose of integers, which vectors do.


WIDEST = 8
"""The bytes of the widest integer."""


class WideCells(NamedTuple):
    """The cells of a LOAD of a tile, `width` neighbours along a range as one integer."""

    source: tg.LoadOp
    range: tg.RangeOp
    width: int

    @property
    def dtype(self) -> Attribute:
        """The integer."""
        bits = 8 * self.width * tg.dtype_of(self.source.buffer).itemsize
        return tg.TYPES[f"ui{bits}"]

    def digit_of(self, digit: Digit, part: SSAValue) -> Digit:
        """An axis of the copy, as an axis of integers, which lie along the range `part` of the
        copy."""
        if digit.range is not self.range or digit.divisor < self.width:
            return digit
        return Digit(cast(tg.RangeOp, part.owner), digit.extent, digit.divisor // self.width)

    def load(
        self, builder: tg.OpBuilder, again: Callable[[SSAValue], SSAValue], part: SSAValue
    ) -> tg.LoadOp:
        """A LOAD of an integer; `again` computes a value for the ranges of the copy, in which
        integers lie along `part`."""
        index, put = self.source.buffer.owner, builder.put
        assert isinstance(index, tg.IndexOp)
        found, own = tg.polynomial(index.indices[-1]), (self.range.result,)
        whole: tg.Polynomial = tg.Affine(
            {p: c // self.width for p, c in found.terms.items() if p != own}
        )
        last = emit_sum(builder, whole + found.constant // self.width, again)
        last = put(tg.AddOp(last, part))
        view = put(tg.BitcastOp(index.source, self.dtype))
        cell = put(tg.IndexOp(view, [*map(again, index.indices[:-1]), last]))
        if self.source.gate is None:
            return tg.LoadOp(cell)
        return tg.LoadOp(cell, put(tg.ConstOp(0, self.dtype)), again(self.source.gate))


def wide_cells(axes: Axes, load: tg.LoadOp, last: Digit) -> WideCells | None:
    """How a LOAD of a tile loads several cells at once, which are the last axis of its copy; None
    if they are not known to be neighbours in memory, and in it all together or not at all."""
    range, width, index = last.range, last.extent, load.buffer.owner
    bytes = width * tg.dtype_of(load.buffer).itemsize
    if width < 2 or last.divisor > 1 or bytes > WIDEST or bytes & (bytes - 1):
        return None
    # Ranges that are no axes of the register tile are work items, with a cell each.
    if (
        not is_expanded(range)
        or not isinstance(index, tg.IndexOp)
        or not isinstance(index.source.owner, tg.ParamOp)
    ):
        return None
    *lead, at = index.indices
    shape = tg.tensor(index.source).get_shape()
    if axes.extent(range) % width or DYNAMIC_INDEX in shape or shape[-1] % width:
        return None
    if any(axes.depends(i, range) for i in lead) or not _is_aligned(at, range, width):
        return None
    if load.gate is None:
        return WideCells(load, range, width)
    walk = tg.Walk([load.gate])
    for value in walk:
        op = value.owner
        if isinstance(op, tg.AndOp):
            walk.add(op.operands)
        elif axes.depends(value, range):
            bound = tg.known_index(op.rhs) if isinstance(op, tg.CmpLtOp) else None
            if not isinstance(op, tg.CmpLtOp) or bound is None or bound % width:
                return None
            if not _is_aligned(op.lhs, range, width):
                return None
    return WideCells(load, range, width) if load.alt is not None and is_zero(load.alt) else None


def _is_aligned(index: SSAValue, range: tg.RangeOp, width: int) -> bool:
    """Whether an index is the number of an iteration plus a multiple of a width."""
    found, own = tg.polynomial(index), (range.result,)
    rest = [found.constant, *(c for product, c in found.terms.items() if product != own)]
    are_values = all(isinstance(atom, SSAValue) for product in found.terms for atom in product)
    return are_values and found.terms.get(own) == 1 and not any(c % width for c in rest)
