"""REDUCE over ranges becomes an accumulator, and REDUCE over axes where a range was unrolled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import closed_ranges, is_expanded, is_loop
from tgdialect.diagnostics import locate
from tgdialect.lowering.expand.tile import Axes, Tile
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr, ReduceKind
from tgdialect.ops.dtypes import DTYPES, F32
from tgdialect.ops.elementwise import CastOp, MulAccOp, MulOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp, PermuteOp, ReshapeOp
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ALU, ReduceOp, identity
from tgdialect.ops.source import BufferOp

_REGISTER = PlaceAttr.of(addrspace=AddrSpace.REG)


class Accumulator(NamedTuple):
    """A REDUCE over loops: its buffer, and the STORE in the loop."""

    op: ReduceOp
    buffer: SSAValue
    axes: Axes
    update: SSAValue


def accumulated_dtype(op: ReduceOp) -> Attribute:
    """The dtype that a REDUCE accumulates in: f32 for sums and products of narrower floats."""
    element_type = tensor(op.source).element_type
    dtype = DTYPES[element_type]
    is_narrow = dtype.is_float and dtype.bits < 32 and op.kind.data is not ReduceKind.MAX
    return F32 if is_narrow else element_type


def expand_reductions(tile: Tile, group: Sequence[ReduceOp]) -> None:
    """Expand REDUCEs that share their loops, once their operands have been expanded.

    rewrite:
        %r = reduce add %v over %k
        ->
        %acc = buffer reg; %init = store (after %acc, outer ranges), identity
        %in = after %acc, %init, %k; %s = store %in, (load %in) + %v; %e = end %s over %k
        %r = load (after %acc, %e)

    An accumulator has a lane of its own for each iteration of a GROUP_REDUCE range: these are
    added up after the loop.
    """
    loops = [axis.result for axis in closed_ranges(group[0]) if is_loop(axis)]
    accumulators: list[Accumulator] = []
    for op in group:
        tile.location = op.location
        if loops:
            accumulators.append(_accumulate(tile, op, loops))
        else:
            value = _widened(tile, op)
            _finish(tile, op, _reduced(tile, op, value, _expanded(op)))
    if not accumulators:
        return
    updates = [accumulator.update for accumulator in accumulators]
    body = updates[0] if len(updates) == 1 else tile.put(GroupOp(updates))
    end = tile.put(EndOp(body, loops[::-1]))
    for op, buffer, axes, _ in accumulators:
        tile.location = op.location
        version = tile.put(AfterOp(buffer, [end]), axes)
        total = tile.put(LoadOp(version), axes)
        _finish(tile, op, _reduced(tile, op, total, _expanded(op, AxisType.GROUP_REDUCE)))


def _expanded(op: ReduceOp, kind: AxisType | None = None) -> list[RangeOp]:
    """The ranges of a REDUCE that are shape, all or those of a kind."""
    axes = [axis for axis in closed_ranges(op) if is_expanded(axis)]
    return [axis for axis in axes if kind in (None, axis.axis_type.data)]


def _accumulate(tile: Tile, op: ReduceOp, loops: Sequence[SSAValue]) -> Accumulator:
    """The accumulator of a REDUCE: its initial STORE, and the STORE in the loops."""
    kind, value = op.kind.data, _widened(tile, op)
    unrolled = _expanded(op, AxisType.UNROLL)
    axes = tuple(a for a in tile.union([value]) if a not in unrolled)
    axes = tile.sorted({*axes, *_expanded(op, AxisType.GROUP_REDUCE)})
    dtype = tensor(value).element_type
    place = tensor_type(dtype, tile.shape(axes), _REGISTER)
    buffer = tile.put(BufferOp(next(tile.free_slots), place), axes)
    buffer.name_hint = "acc"
    outer = [r.result for r in sorted(filter(is_loop, tile.open[op]), key=lambda r: r.axis.data)]
    version = tile.put(AfterOp(buffer, outer), axes) if outer else buffer
    start = tile.broadcast(tile.constant(identity(kind, DTYPES[dtype]), dtype), axes)
    init = tile.put(StoreOp(version, start))
    version = tile.put(AfterOp(buffer, [init, *loops]), axes)
    result = tile.put(LoadOp(version), axes)
    if (factors := _factors(tile, op, value)) is not None:
        for a, b in zip(*(_lanes(tile, factor, unrolled) for factor in factors), strict=True):
            result = tile.elementwise(MulAccOp, a, b, result)
    elif _is_in_order(op):
        for part in _lanes(tile, value, unrolled):
            result = tile.elementwise(ALU[kind], result, part)
    else:
        result = tile.elementwise(ALU[kind], result, _reduced(tile, op, value, unrolled))
    update = tile.put(StoreOp(version, tile.broadcast(result, axes)))
    return Accumulator(op, buffer, axes, update)


def _factors(tile: Tile, op: ReduceOp, value: SSAValue) -> tuple[SSAValue, ...] | None:
    """The factors of a sum of products that may be rounded once for each addition."""
    product = op.source.owner
    is_sum = op.kind.data is ReduceKind.ADD and op.ordered is None
    if not is_sum or not isinstance(product, MulOp) or value is not tile.value(op.source):
        return None
    if not DTYPES[tensor(value).element_type].is_float:
        return None
    return tuple(tile.value(factor) for factor in product.operands)


def _is_in_order(op: ReduceOp) -> bool:
    """Whether the order of accumulation can be seen: on floats, where it is asked for."""
    dtype = DTYPES[tensor(op.source).element_type]
    if op.ordered is None or not dtype.is_float or op.kind.data is ReduceKind.MAX:
        return False
    if _expanded(op, AxisType.GROUP_REDUCE):
        message = "an ordered REDUCE has one accumulator: it has no GROUP_REDUCE range"
        raise locate(PassFailedException(message), op)
    kinds = [is_expanded(axis) for axis in closed_ranges(op)]
    if kinds != sorted(kinds):
        message = "an ordered REDUCE over a loop inside an UNROLL range would not be in order"
        raise locate(PassFailedException(message), op)
    return True


def _widened(tile: Tile, op: ReduceOp) -> SSAValue:
    """The operand, in the dtype that is accumulated in."""
    value = tile.value(op.source)
    wide = accumulated_dtype(op)
    if wide != tensor(value).element_type:
        return tile.put(CastOp(value, wide), tile.axes(value))
    return value


def _finish(tile: Tile, op: ReduceOp, result: SSAValue) -> None:
    dtype: Attribute = tensor(op.result).element_type
    if tensor(result).element_type != dtype:
        result = tile.put(CastOp(result, dtype), tile.axes(result))
    result.name_hint = op.result.name_hint
    tile.values[op.result] = result


def _reduced(tile: Tile, op: ReduceOp, value: SSAValue, over: Sequence[RangeOp]) -> SSAValue:
    """REDUCE over the axes of some expanded ranges, which then leave the shape."""
    if not over:
        return value
    value = tile.broadcast(value, tile.sorted({*tile.axes(value), *over}))
    axes = tile.axes(value)
    positions = [axes.index(axis) for axis in over]
    ordered = op.ordered is not None
    ones = tile.put(ReduceOp(op.kind.data, value, sorted(positions), ordered=ordered))
    kept = tuple(axis for axis in axes if axis not in over)
    return tile.put(ReshapeOp(ones, tile.shape(kept)), kept)


def _lanes(tile: Tile, value: SSAValue, over: Sequence[RangeOp]) -> Iterator[SSAValue]:
    """The parts of a value for each iteration of some expanded ranges, in order."""
    axes = tile.axes(value)
    own = [axis for axis in over if axis in axes]
    kept = tuple(axis for axis in axes if axis not in own)
    order = [axes.index(axis) for axis in (*own, *kept)]
    if order != sorted(order):
        value = tile.put(PermuteOp(value, order))
    for cell in product(*(range(extent) for extent in tile.shape(tuple(over)))):
        lane = [tile.constant(i) for axis, i in zip(over, cell, strict=True) if axis in own]
        yield tile.put(IndexOp(value, lane), kept) if lane else value
