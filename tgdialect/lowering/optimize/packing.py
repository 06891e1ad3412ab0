"""STAGE: what a loop loads, copied into a buffer of its own first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.memory_order import memory_of
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.expand.tile import EXPANDED
from tgdialect.lowering.optimize.accesses import strides
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError, copied
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.elementwise import IDivOp, ModOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp, ReshapeOp
from tgdialect.ops.ordering import AfterOp, EndOp, RangeOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp


def stage(axes: Axes, slot: int, axis: int, space: str) -> None:
    """Copy what the loop of a range loads of a parameter into a buffer of its own, first.

    before -> after:
        stage 1, 0, local:  in the loop of range 0, %v = load %x[%0, %1] ->
            %b = buffer local; store %b[%2], (load %x[%0, %2]); end over %2; ...
            %v = load (after %b, %end)[%1]
    On a CPU this is packing: the tile that a loop uses again and again is put together.
    """
    at = axes[axis]
    if at not in axes.ends or at.axis_type.data in EXPANDED:
        raise IllegalOptError(f"range {axis} is no loop that an END closes")
    loads = [
        op
        for op in axes.reads(at)
        if isinstance(param := memory_of(op.buffer).owner, ParamOp) and param.slot.data == slot
    ]
    if not loads:
        raise IllegalOptError(f"nothing of parameter {slot} is loaded in the loop of range {axis}")
    if any(
        isinstance(op, StoreOp | AtomicAddOp)
        and isinstance(param := memory_of(op.operands[0]).owner, ParamOp)
        and param.slot.data == slot
        for op in axes.ops
    ):
        raise IllegalOptError(f"parameter {slot} is written in this kernel")
    around = _around(axes, at)
    if any(r.axis_type.data in (AxisType.LOCAL, AxisType.WARP) for r in around):
        raise IllegalOptError("the threads of a workgroup would share the buffer")
    first = loads[0]
    for load in loads[1:]:
        if tuple(load.operands) != tuple(first.operands):
            raise IllegalOptError(f"several tiles of parameter {slot} are loaded")
    inner = [r for r in axes.ranges.values() if r in axes.open[first] and r not in around]
    inner.sort(key=lambda r: r.axis_type.data in EXPANDED)  # Vectors lie along the last axis.
    extents = [axes.extent(r) for r in inner]
    if any(axes.depends(r.bound, other) for r in inner for other in axes.ranges.values()):
        raise IllegalOptError("the extent of the tile changes")
    if not inner:
        raise IllegalOptError(f"one element of parameter {slot} is loaded in range {axis}")
    _stage(axes, first, loads, at, inner, extents, AddrSpace(space))


def _around(axes: Axes, at: RangeOp) -> set[RangeOp]:
    """A range, and the loops that are around it."""
    nest = [r for r in reversed(closed_ranges(axes.ends[at])) if r.axis_type.data not in EXPANDED]
    return {*nest[: nest.index(at) + 1], *axes.open[axes.ends[at]]}


def _stage(
    axes: Axes,
    first: LoadOp,
    loads: Sequence[LoadOp],
    at: RangeOp,
    inner: Sequence[RangeOp],
    extents: Sequence[int],
    space: AddrSpace,
) -> None:
    block = axes.kernel.body.block

    def put(op: TgOp) -> SSAValue:
        op.location = first.location
        block.insert_op_before(op, first)
        return op.results[0]

    slots = [op.slot.data for op in axes.ops if isinstance(op, BufferOp)]
    where = PlaceAttr.of(addrspace=space)
    dtype = tensor(first.result).element_type
    buffer = put(BufferOp(max(slots, default=-1) + 1, tensor_type(dtype, tuple(extents), where)))
    copies: dict[SSAValue, SSAValue] = {}
    number = max(axes.ranges)

    def new_range(extent: int, kind: AxisType) -> SSAValue:
        nonlocal number
        number += 1
        return put(RangeOp(number, kind, put(ConstOp(extent, INDEX))))

    merged = _merged(axes, first, inner)
    tile = [r for r in inner if r.axis_type.data in EXPANDED]
    loops = [r for r in _by_stride(axes, first, inner) if r not in (*tile, *merged)]
    outer = [new_range(axes.extent(r), AxisType.LOOP) for r in loops]
    if merged:
        outer.append(whole := new_range(math.prod(map(axes.extent, merged)), AxisType.LOOP))
        for range in reversed(merged):
            extent = put(ConstOp(axes.extent(range), INDEX))
            copies[range.result] = put(ModOp(whole, extent))
            whole = put(IDivOp(whole, extent))
    parts = [new_range(axes.extent(r), AxisType.UPCAST) for r in tile]
    new = (*outer[: len(loops)], *parts)
    copies.update(zip((r.result for r in (*loops, *tile)), new, strict=True))
    if merged:
        index = first.buffer.owner
        assert isinstance(index, IndexOp)
        rest = len(index.indices) - len(merged)
        shape = tensor(index.source).get_shape()[:rest]
        lead = [copied(i, copies, put) for i in index.indices[:rest]]
        flat = put(ReshapeOp(index.source, [*shape, math.prod(map(axes.extent, merged))]))
        copies[first.buffer] = put(IndexOp(flat, [*lead, outer[-1]]))
    value = put(first.rebuild([copied(operand, copies, put) for operand in first.operands]))
    indices = [copies[r.result] for r in inner]
    cell = put(IndexOp(put(AfterOp(buffer, [at.result])), indices))
    end = put(EndOp(put(StoreOp(cell, value)), [*parts[::-1], *outer[::-1]]))
    staged = put(IndexOp(put(AfterOp(buffer, [end])), [r.result for r in inner]))
    result = put(LoadOp(staged))
    for load in loads:
        load.result.replace_all_uses_with(result)
        block.erase_op(load)
    axes.changed()


def _by_stride(axes: Axes, load: LoadOp, ranges: Sequence[RangeOp]) -> Sequence[RangeOp]:
    """Ranges in the order of the memory that a LOAD loads, where that is known."""
    found = strides(axes, load.buffer)
    return sorted(ranges, key=lambda r: -abs(found.get(r) or 0))


def _merged(axes: Axes, load: LoadOp, ranges: Sequence[RangeOp]) -> Sequence[RangeOp]:
    """The loops that go through the last axes of a parameter, all of each: they are one loop when
    it is copied."""
    index = load.buffer.owner
    if not isinstance(index, IndexOp) or not isinstance(index.source.owner, ParamOp):
        return ()
    found: list[RangeOp] = []
    shape = tensor(index.source).get_shape()
    for value, extent in zip(reversed(index.indices), reversed(shape), strict=True):
        range = value.owner
        if range not in ranges or range in found or not isinstance(range, RangeOp):
            break
        if range.axis_type.data in EXPANDED or axes.extent(range) != extent:
            break
        found.append(range)
    return found[::-1] if len(found) > 1 else ()
