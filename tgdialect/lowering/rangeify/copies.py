"""Copies of memory that a function passes to CALLs, and the buffers for them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue

from tgdialect.analysis.memory_order import written_operands
from tgdialect.ops import tg
from tgdialect.ops.attributes import Device
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import place, shape_of, tensor, tensor_type


def copy_arguments(call: tg.CallOp, views: Sequence[SSAValue]) -> Sequence[tg.StoreOp]:
    """Let a CALL read copies of arguments, and return the STOREs to these. What it writes to a copy
    is stored to the argument after it."""
    written = written_operands(call)
    # The STOREs into the copies come before the CALL, those back into views after it.
    uses = list(call.result.uses)
    before, after = OpBuilder.before(call), OpBuilder.after(call)
    effects: list[SSAValue] = [call.result]
    copies: dict[SSAValue, SSAValue] = {}
    stores: list[tg.StoreOp] = []
    for view in views:
        dtype, device = tensor(view).element_type, place(view).device
        buffer = before.put(buffer_like(view, dtype, device, next(before.free_slots)))
        stores.append(before.insert(tg.StoreOp(buffer, view)))
        copies[view] = before.put(tg.AfterOp(buffer, [stores[-1].result]))
        if view in written:
            made = after.put(tg.AfterOp(buffer, [call.result]))
            effects.append(after.put(tg.StoreOp(view, made)))
    # Users of the CALL wait for the STOREs after it as well.
    if len(effects) > 1:
        group = after.put(tg.GroupOp(effects))
        for use in uses:
            use.operation.operands[use.index] = group
    call.operands = [copies.get(argument, argument) for argument in call.operands]
    return stores


def buffer_like(
    value: SSAValue, dtype: Attribute, device: Device, slot: int, order: Sequence[int] = ()
) -> tg.BufferOp:
    """A buffer in global memory with the shape of a value, or its axes in another order."""
    shape, where = shape_of(value), tg.PlaceAttr.of(device, tg.AddrSpace.GLOBAL)
    if order:
        shape = tuple(shape[axis] for axis in order)
    static = tuple(extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in shape)
    dims = [extent for extent in shape if isinstance(extent, SSAValue)]
    return tg.BufferOp(slot, tensor_type(dtype, static, where), dims)
