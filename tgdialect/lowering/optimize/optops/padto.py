"""PADTO: a range padded to a multiple, with what is not there masked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.optimize.axes import NAMING, NOT_COPIED, Axes, IllegalOptError
from tgdialect.lowering.optimize.strides import strides, unclamped
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.base import TgOp
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.copies import copied
from tgdialect.ops.dtypes import DTYPES, INDEX
from tgdialect.ops.elementwise import AndOp, CmpLtOp, WhereOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import tensor
from tgdialect.ops.reduce import ReduceOp, identity
from tgdialect.ops.source import ConstOp


def padto(axes: Axes, axis: int, multiple: int, where: str = "") -> None:
    """Pad a range to the next multiple; what is not there is masked.

    before -> after:
        padto 0, 16:  range 0 loop to 100 -> range 0 loop to 112
    A STORE is gated by `i < 100`, and a REDUCE takes its identity elsewhere. LOADs are of the last
    iteration that there is, or gated where vectors may lie along the range: where neighbouring
    iterations load neighbouring cells, and store such, or reduce. With `clamp` none is gated:
    vectors lie along another range.
    """
    range = axes[axis]
    extent = axes.extent(range)
    if range.axis_type.data in EXPANDED:
        raise IllegalOptError(f"range {axis} is {range.axis_type.data}")
    if extent % multiple == 0:
        raise IllegalOptError(f"range {axis} to {extent} is a multiple of {multiple} already")
    if any(unclamped(use.operation.results[0]) is range.result for use in range.result.uses):
        raise IllegalOptError(f"range {axis} is padded already")
    if axes.ends.get(range) is not None and range.axis_type.data is AxisType.REDUCE:
        raise IllegalOptError(f"the iterations of range {axis} have an order")
    if any(axes.depends(other.bound, range) for other in axes.ranges.values()):
        raise IllegalOptError(f"the extent of another range depends on range {axis}")
    if any(isinstance(op, AtomicAddOp) and range in axes.open[op] for op in axes.ops):
        raise IllegalOptError(f"an ATOMICADD is in range {axis}, and cannot be gated")
    gated: list[LoadOp] = []
    has_vectors = range not in axes.ends or any(
        strides(axes, store.buffer).get(range) == 1 for store in axes.stores(range)
    )
    if has_vectors and where != "clamp":
        loads = axes.reads(range)
        gated = [load for load in loads if strides(axes, load.buffer).get(range) == 1]
    _pad(axes, range, extent, -(-extent // multiple) * multiple, gated)


def _pad(
    axes: Axes,
    range: RangeOp,
    extent: int,
    padded: int,
    gated: Sequence[LoadOp],
) -> None:
    block = axes.kernel.body.block

    def before(op: Operation, *new: Operation) -> None:
        for each in new:
            each.location = op.location
            block.insert_op_before(each, op)

    bound = ConstOp(padded, tensor(range.bound).element_type)
    limit = ConstOp(extent, INDEX)
    before(range, bound)
    range.operands = (bound.result,)
    exists = CmpLtOp(range.result, limit)
    last = ConstOp(extent - 1, INDEX)
    clamped = WhereOp(exists, range.result, last)
    for op in (clamped, last, exists, limit):
        op.location = range.location
        block.insert_op_after(op, range)
    gate = exists.results[0]
    keep: set[Operation] = {exists, clamped}
    for use in list(range.result.uses):
        if use.operation not in keep and not (isinstance(use.operation, NAMING) and use.index > 0):
            use.operation.operands[use.index] = clamped.results[0]
    for load in gated:
        _gate_load(load, gate, range.result, clamped.results[0], before)
    for op in list(block.ops):
        if isinstance(op, StoreOp) and op in axes.open and range in axes.open[op]:
            _gate_store(op, gate, range.result, clamped.results[0], before)
        elif isinstance(op, ReduceOp) and range in closed_ranges(op):
            dtype = tensor(op.source).element_type
            neutral = ConstOp(identity(op.kind.data, DTYPES[dtype]), dtype)
            value = WhereOp(gate, op.source, neutral)
            before(op, neutral, value)
            op.operands = (value.results[0], *op.operands[1:])
    axes.changed()


Before = Callable[..., None]


def _gate_load(
    load: LoadOp, gate: SSAValue, index: SSAValue, clamped: SSAValue, before: Before
) -> None:
    """A LOAD with a gate, at the index that is not clamped."""
    dtype = tensor(load.result).element_type
    location = _unclamped(load, load.buffer, index, clamped, before)
    if load.gate is not None and load.alt is not None:
        both = AndOp(load.gate, gate)
        before(load, both)
        new = LoadOp(location, load.alt, both)
    else:
        zero = ConstOp(0, dtype)
        before(load, zero)
        new = LoadOp(location, zero, gate)
    before(load, new)
    new.result.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(new.result)
    load.detach()
    load.erase()


def _gate_store(
    store: StoreOp, gate: SSAValue, index: SSAValue, clamped: SSAValue, before: Before
) -> None:
    location = _unclamped(store, store.buffer, index, clamped, before)
    if store.gate is not None:
        both = AndOp(store.gate, gate)
        before(store, both)
        gate = both.results[0]
    store.operands = (location, store.value, gate)


def _unclamped(
    at: Operation, location: SSAValue, index: SSAValue, clamped: SSAValue, before: Before
) -> SSAValue:
    """A location computed from the index itself, and not from what is in range."""

    def put(op: TgOp) -> SSAValue:
        before(at, op)
        return op.results[0]

    return copied(location, {clamped: index}, put, shared=NOT_COPIED)
