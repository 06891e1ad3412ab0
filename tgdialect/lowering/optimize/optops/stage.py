"""STAGE: a loop first copies the tile of a parameter that it uses into a buffer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.strides import strides
from tgdialect.analysis.ranges import is_expanded, loops_of
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.boxes import BLOCKS, copy_box
from tgdialect.lowering.optimize.optops.prepack import prepack
from tgdialect.lowering.optimize.optops.tile_loads import digits, in_tile_order, staged_loads
from tgdialect.lowering.optimize.optops.wide_cells import wide_cells
from tgdialect.lowering.recomputation import computed_again
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import tensor


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
    # What a loop inside loads again in each iteration of this one is loaded in this one, too.
    nest = loops_of(axes.ends[at])
    inside = nest[nest.index(at) :]
    loads = staged_loads(axes, slot, dict.fromkeys(op for r in inside for op in axes.reads(r)))
    if not loads:
        raise IllegalOptError(f"nothing of parameter {slot} is loaded in the loop of range {axis}")
    around = _around(axes, at)
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


def _around(axes: Axes, at: tg.RangeOp) -> Sequence[tg.RangeOp]:
    """A loop, and the loops around it."""
    nest = loops_of(axes.ends[at])
    return [*axes.open[axes.ends[at]], *nest[: nest.index(at) + 1]]


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

    builder = OpBuilder.before(first)
    put = builder.put
    dtype = tensor(first.result).element_type
    padded = tuple(extent + padding * (i == 1) for i, extent in enumerate(extents))
    buffer = new_buffer(builder, dtype, padded, space)
    copies: dict[SSAValue, SSAValue] = {}

    def new_range(extent: int, kind: tg.AxisType) -> SSAValue:
        return put(tg.RangeOp(next(builder.free_axes), kind, builder.index_constant(extent)))

    def again(value: SSAValue) -> SSAValue:
        return computed_again(builder, value, copies)

    # The loops of the copy: in the order of memory, the axes of the register tile innermost.
    merged = _merged(axes, first, inner)
    tile = [r for r in inner if is_expanded(r)]
    loops = [r for r in _by_stride(axes, first, inner) if r not in (*tile, *merged)]
    outer = [new_range(axes.extent(r), tg.AxisType.LOOP) for r in loops]
    # Loops over whole trailing axes of the parameter are one loop, whose number is divided.
    if merged:
        outer.append(whole := new_range(math.prod(map(axes.extent, merged)), tg.AxisType.LOOP))
        for range in reversed(merged):
            extent = builder.index_constant(axes.extent(range))
            copies[range.result] = put(tg.ModOp(whole, extent))
            whole = put(tg.IDivOp(whole, extent))
    wide = None if merged else wide_cells(axes, first, cells[-1])
    sizes = {} if wide is None else {wide.range: wide.width}
    parts = [new_range(axes.extent(r) // sizes.get(r, 1), tg.AxisType.UPCAST) for r in tile]
    starts = [
        put(tg.MulOp(part, builder.index_constant(sizes[r]))) if r in sizes else part
        for r, part in zip(tile, parts, strict=True)
    ]
    new = (*outer[: len(loops)], *starts)
    copies.update(zip((r.result for r in (*loops, *tile)), new, strict=True))
    # What the copy loads: through a flat view of those axes, so that no index is divided.
    if merged:
        index = first.buffer.owner
        assert isinstance(index, tg.IndexOp)
        rest = len(index.indices) - len(merged)
        shape = tensor(index.source).get_shape()[:rest]
        lead = [again(i) for i in index.indices[:rest]]
        flat = put(tg.ReshapeOp(index.source, [*shape, math.prod(map(axes.extent, merged))]))
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


def _by_stride(axes: Axes, load: tg.LoadOp, ranges: Sequence[tg.RangeOp]) -> Sequence[tg.RangeOp]:
    """Ranges by the stride of a LOAD along them, the largest first; unknown strides count as 0."""
    found = strides(load.buffer, axes.around)
    return sorted(ranges, key=lambda r: -abs(found.get(r) or 0))


def _merged(axes: Axes, load: tg.LoadOp, ranges: Sequence[tg.RangeOp]) -> Sequence[tg.RangeOp]:
    """The loops over the whole of trailing axes of a parameter: the copy has one loop for them."""
    index = load.buffer.owner
    if not isinstance(index, tg.IndexOp) or not isinstance(index.source.owner, tg.ParamOp):
        return ()
    found: list[tg.RangeOp] = []
    shape = tensor(index.source).get_shape()
    for value, extent in zip(reversed(index.indices), reversed(shape), strict=True):
        range = value.owner
        if range not in ranges or range in found or not isinstance(range, tg.RangeOp):
            break
        if is_expanded(range) or axes.extent(range) != extent:
            break
        found.append(range)
    return found[::-1] if len(found) > 1 else ()
