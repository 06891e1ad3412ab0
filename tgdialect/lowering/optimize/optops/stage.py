"""STAGE: a loop first copies the tile of a parameter that it uses into a buffer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.ranges import is_expanded, loops_of
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.matrix_products import is_zero
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.boxes import BLOCKS, copy_box
from tgdialect.lowering.optimize.optops.prepack import prepack
from tgdialect.lowering.optimize.optops.tile_loads import (
    Digit,
    copy_loops,
    digits,
    in_tile_order,
    load_instead,
    staged_loads,
    whole_number,
)
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
    # Lanes around the loop are cells of the copy as well.
    around = [r for r in axes.open[axes.ends[at]] if not is_expanded(r)]
    around += nest[: nest.index(at) + 1]
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
    builder = tg.OpBuilder.before(first)
    put = builder.put
    dtype = tg.tensor(first.result).element_type
    padded = [digit.extent + padding * (i == 1) for i, digit in enumerate(cells)]
    buffer = new_buffer(builder, dtype, padded, space)
    # The loops of the copy: in the order of memory, the axes of the register tile innermost.
    merged = _merged(axes, first, inner)
    width = 1 if merged else _cells_at_once(axes, first, cells[-1])
    tile = [r for r in inner if is_expanded(r)]
    along = axes.strides(first.buffer)
    outer = [r for r in inner if r not in (*tile, *merged)]
    outer.sort(key=lambda r: -abs(along.get(r) or 0))
    loops = [(tg.AxisType.LOOP, [whole_number(axes, r)]) for r in outer]
    # Loops over whole trailing axes of the parameter are one loop, whose number is divided.
    if merged:
        loops.append((tg.AxisType.LOOP, [whole_number(axes, r) for r in merged]))
    for range in tile:
        unit = width if range is cells[-1].of else 1
        loops.append((tg.AxisType.UPCAST, [whole_number(axes, range, unit)]))
    ranges, numbers = copy_loops(builder, loops)
    copies: dict[SSAValue, SSAValue] = {r.result: numbers[r] for r in inner}
    again = partial(computed_again, builder, mapping=copies)
    index = first.buffer.owner
    # The copy loads through a flat view of those axes, so that no index is divided.
    if merged:
        assert isinstance(index, tg.IndexOp)
        whole = ranges[len(outer)]
        rest = len(index.indices) - len(merged)
        shape = tg.tensor(index.source).get_shape()[:rest]
        lead = [again(i) for i in index.indices[:rest]]
        size = math.prod(map(axes.extent, merged))
        flat = put(tg.ReshapeOp(index.source, [*shape, size]))
        copies[first.buffer] = put(tg.IndexOp(flat, [*lead, whole]))
    # Copy each cell, then have the LOADs read the buffer after all of the copy.
    if width == 1:
        value = put(first.rebuild([again(operand) for operand in first.operands]))
    else:
        range = cast(tg.RangeOp, cells[-1].of)
        part = ranges[len(outer) + tile.index(range)]
        value = _integer(builder, first, range, width, part, again)
    written = put(tg.AfterOp(buffer, [at.result]))
    cell = [digit.value(builder, numbers) for digit in cells]
    if width > 1:
        written = put(tg.BitcastOp(written, tg.tensor(value).element_type))
        cell[-1] = builder.index_constant(0)
    store = put(tg.StoreOp(put(tg.IndexOp(written, cell)), value))
    copied = put(tg.AfterOp(buffer, [put(tg.EndOp(store, ranges[::-1]))]))
    load_instead(axes, builder, loads, copied, [digit.value(builder, {}) for digit in cells])


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


def _cells_at_once(axes: Axes, load: tg.LoadOp, last: Digit) -> int:
    """How many cells a LOAD of a tile loads as one integer, which are the last axis of its copy; 1
    if they are not known to be neighbours in memory, and in it all together or not at all."""
    range, width, index = cast(tg.RangeOp, last.of), last.extent, load.buffer.owner
    is_integer = f"ui{8 * width * tg.dtype_of(load.buffer).itemsize}" in tg.TYPES
    if width < 2 or last.unit > 1 or not is_integer:
        return 1
    # Ranges that are no axes of the register tile are work items, with a cell each.
    if not (
        is_expanded(range)
        and isinstance(index, tg.IndexOp)
        and isinstance(index.source.owner, tg.ParamOp)
    ):
        return 1
    *lead, at = index.indices
    shape = tg.tensor(index.source).get_shape()
    if last.whole % width or DYNAMIC_INDEX in shape or shape[-1] % width:
        return 1
    if any(axes.depends(i, range) for i in lead) or _beside(at, range, width) is None:
        return 1
    if load.gate is None:
        return width
    for gate, _ in conjuncts([(load.gate, True)]):
        if not axes.depends(gate, range):
            continue
        test = gate.owner
        bound = tg.known_index(test.rhs) if isinstance(test, tg.CmpLtOp) else None
        if not isinstance(test, tg.CmpLtOp) or bound is None or bound % width:
            return 1
        if _beside(test.lhs, range, width) is None:
            return 1
    return width if load.alt is not None and is_zero(load.alt) else 1


def _beside(index: SSAValue, range: tg.RangeOp, width: int) -> tg.Polynomial | None:
    """A multiple of a width that is an index without the number of an iteration, divided by the
    width; None if it is no such index."""
    found, own = tg.polynomial(index), (range.result,)
    rest = found - tg.Affine({own: 1})
    are_values = all(isinstance(atom, SSAValue) for product in found.terms for atom in product)
    is_beside = are_values and own not in rest.terms and rest.is_multiple_of(width)
    return rest.divided(width) if is_beside else None


def _integer(
    builder: tg.OpBuilder,
    load: tg.LoadOp,
    range: tg.RangeOp,
    width: int,
    part: SSAValue,
    again: Callable[[SSAValue], SSAValue],
) -> SSAValue:
    """The cells of a LOAD that are neighbours along a range, as one integer; `again` computes a
    value for the ranges of the copy, in which integers lie along `part`."""
    index, put = load.buffer.owner, builder.put
    assert isinstance(index, tg.IndexOp)
    *lead, last = index.indices
    beside = _beside(last, range, width)
    assert beside is not None, "the cells are neighbours"
    dtype = tg.TYPES[f"ui{8 * width * tg.dtype_of(load.buffer).itemsize}"]
    last = put(tg.AddOp(emit_sum(builder, beside, again), part))
    cell = put(tg.IndexOp(put(tg.BitcastOp(index.source, dtype)), [*map(again, lead), last]))
    gate = () if load.gate is None else (put(tg.ConstOp(0, dtype)), again(load.gate))
    return put(tg.LoadOp(cell, *gate))
