"""REDUCE over ranges becomes an accumulator, and REDUCE over axes where a range was unrolled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.diagnostics import locate
from tgdialect.lowering.expand.tile import Axes, Tile, is_expanded, is_loop
from tgdialect.ops.attributes import AddrSpace, PlaceAttr, ReduceKind
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import DTYPES, F32
from tgdialect.ops.elementwise import AddOp, CastOp, MaxOp, MulOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp, PermuteOp, ReshapeOp
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp, identity
from tgdialect.ops.source import BufferOp

ALU: dict[ReduceKind, type[TgOp]] = {
    ReduceKind.ADD: AddOp,
    ReduceKind.MUL: MulOp,
    ReduceKind.MAX: MaxOp,
}
"""The elementwise op that a reduction repeats."""

_REGISTER = PlaceAttr.of(addrspace=AddrSpace.REG)


class Accumulator(NamedTuple):
    """A REDUCE over loops: its buffer, and the STORE in the loop."""

    op: ReduceOp
    buffer: SSAValue
    axes: Axes
    update: SSAValue


def expand_reductions(tile: Tile, group: Sequence[ReduceOp]) -> None:
    """Expand REDUCEs that share their loops, once their operands have been expanded.

    rewrite:
        %r = reduce add %v over %k
        ->
        %acc = buffer reg; %init = store (after %acc, outer ranges), identity
        %in = after %acc, %init, %k; %s = store %in, (load %in) + %v; %e = end %s over %k
        %r = load (after %acc, %e)
    """
    loops = [axis.result for axis in closed_ranges(group[0]) if is_loop(axis)]
    accumulators: list[Accumulator] = []
    for op in group:
        tile.location = op.location
        if loops:
            accumulators.append(_accumulate(tile, op, loops))
        else:
            value = _widened(tile, op)
            _finish(tile, op, _reduced(tile, op, value))
    if not accumulators:
        return
    updates = [accumulator.update for accumulator in accumulators]
    body = updates[0] if len(updates) == 1 else tile.emit(GroupOp(updates))
    end = tile.emit(EndOp(body, loops[::-1]))
    for op, buffer, axes, _ in accumulators:
        tile.location = op.location
        version = tile.emit(AfterOp(buffer, [end]), axes)
        _finish(tile, op, tile.emit(LoadOp(version), axes))


def _accumulate(tile: Tile, op: ReduceOp, loops: Sequence[SSAValue]) -> Accumulator:
    """The accumulator of a REDUCE: its initial STORE, and the STORE in the loops."""
    kind, value = op.kind.data, _widened(tile, op)
    parts = list(_lanes(tile, op, value)) if _is_in_order(op) else [_reduced(tile, op, value)]
    axes, dtype = tile.axes(parts[0]), tensor(value).element_type
    place = tensor_type(dtype, tile.shape(axes), _REGISTER)
    buffer = tile.emit(BufferOp(tile.new_slot(), place), axes)
    buffer.name_hint = "acc"
    outer = [r.result for r in sorted(filter(is_loop, tile.open[op]), key=lambda r: r.axis.data)]
    version = tile.emit(AfterOp(buffer, outer), axes) if outer else buffer
    start = tile.broadcast(tile.constant(identity(kind, DTYPES[dtype]), dtype), axes)
    init = tile.emit(StoreOp(version, start))
    version = tile.emit(AfterOp(buffer, [init, *loops]), axes)
    result = tile.emit(LoadOp(version), axes)
    for part in parts:
        result = tile.elementwise(ALU[kind], result, part)
    return Accumulator(op, buffer, axes, tile.emit(StoreOp(version, result)))


def _is_in_order(op: ReduceOp) -> bool:
    """Whether the order of accumulation can be seen: on floats, where it is asked for."""
    dtype = DTYPES[tensor(op.source).element_type]
    if op.ordered is None or not dtype.is_float or op.kind.data is ReduceKind.MAX:
        return False
    kinds = [is_expanded(axis) for axis in closed_ranges(op)]
    if kinds != sorted(kinds):
        message = "an ordered REDUCE over a loop inside an UNROLL range would not be in order"
        raise locate(PassFailedException(message), op)
    return True


def _widened(tile: Tile, op: ReduceOp) -> SSAValue:
    """The operand, in f32 where sums and products of its dtype accumulate in f32."""
    value = tile.value(op.source)
    dtype = DTYPES[tensor(value).element_type]
    if dtype.is_float and dtype.bits < 32 and op.kind.data is not ReduceKind.MAX:
        return tile.emit(CastOp(value, F32), tile.axes(value))
    return value


def _finish(tile: Tile, op: ReduceOp, result: SSAValue) -> None:
    dtype: Attribute = tensor(op.result).element_type
    if tensor(result).element_type != dtype:
        result = tile.emit(CastOp(result, dtype), tile.axes(result))
    result.name_hint = op.result.name_hint
    tile.values[op.result] = result


def _unrolled(tile: Tile, op: ReduceOp, value: SSAValue) -> tuple[SSAValue, list[RangeOp]]:
    """The operand with an axis for each unrolled range, and those ranges."""
    unrolled = [axis for axis in closed_ranges(op) if is_expanded(axis)]
    axes = tile.sorted({*tile.axes(value), *unrolled})
    return tile.broadcast(value, axes), unrolled


def _reduced(tile: Tile, op: ReduceOp, value: SSAValue) -> SSAValue:
    """REDUCE over the axes of the unrolled ranges, which then leave the shape."""
    value, unrolled = _unrolled(tile, op, value)
    if not unrolled:
        return value
    axes = tile.axes(value)
    positions = [axes.index(axis) for axis in unrolled]
    ordered = op.ordered is not None
    ones = tile.emit(ReduceOp(op.kind.data, value, sorted(positions), ordered=ordered))
    kept = tuple(axis for axis in axes if axis not in unrolled)
    return tile.emit(ReshapeOp(ones, tile.shape(kept)), kept)


def _lanes(tile: Tile, op: ReduceOp, value: SSAValue) -> Iterator[SSAValue]:
    """The parts of the operand for each iteration of its unrolled ranges, in order."""
    value, unrolled = _unrolled(tile, op, value)
    axes = tile.axes(value)
    kept = tuple(axis for axis in axes if axis not in unrolled)
    order = [axes.index(axis) for axis in (*unrolled, *kept)]
    if order != sorted(order):
        value = tile.emit(PermuteOp(value, order))
    if not unrolled:
        yield value
        return
    for lane in product(*(range(extent) for extent in tile.shape(tuple(unrolled)))):
        yield tile.emit(IndexOp(value, [tile.constant(i) for i in lane]), kept)
