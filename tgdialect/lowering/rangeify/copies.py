"""Rewrites of views before a function is split: destinations of STOREs and arguments of CALLs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, SSAValue

from tgdialect.analysis.memory_order import written_operands
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.attributes import Device
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.properties import integers, is_memory, place, shape_of, tensor, tensor_type
from tgdialect.ops.views import views_of


def store_before_movement(block: Block) -> None:
    """Move RESHAPEs, PERMUTEs and FLIPs from the value of a STORE to its destination.

    rewrite: `store %b, (reshape %x)` -> `store (reshape %b), %x`

    The loops of the kernel are then those of %x, and work that they share is hoisted out of them. A
    PERMUTE or FLIP of memory stays, so that a copy writes its cells in order.
    """
    for store in block.ops:
        if isinstance(store, tg.StoreOp) and store.gate is None:
            while (view := _moved_to_buffer(store)) is not None:
                buffer, source = view
                old = store.value.owner
                store.operands = (OpBuilder.before(store).put(buffer), source)
                if isinstance(old, TgOp) and not old.results[0].uses:
                    block.erase_op(old)


def _moved_to_buffer(store: tg.StoreOp) -> tuple[TgOp, SSAValue] | None:
    """The inverse movement of the destination, and the value before the movement."""
    match store.value.owner:
        case tg.ReshapeOp() as op:
            return tg.ReshapeOp(store.buffer, shape_of(op.source)), op.source
        case tg.FlipOp() as op if not is_memory(op.source):
            return tg.FlipOp(store.buffer, [bool(f) for f in integers(op, "flags")]), op.source
        case tg.PermuteOp() as op if not is_memory(op.source):
            order = integers(op, "order")
            inverse = [order.index(axis) for axis in range(len(order))]
            return tg.PermuteOp(store.buffer, inverse), op.source
        case _:
            return None


def copy_non_contiguous(block: Block) -> None:
    """Copy each view that is not contiguous before a CALL: a program gets a pointer.

    rewrite:
        %0 = call @k(permute %a)
        ->
        %s = store %b, (permute %a); %c = call @k(after %b, %s);
        %t = store (permute %a), (after %b, %c); %0 = group %c, %t   if @k writes the argument
    """
    for call in ops_of(block):
        if not isinstance(call, tg.CallOp):
            continue
        views = [a for a in dict.fromkeys(call.arguments) if is_memory(a) and _is_non_contiguous(a)]
        if views:
            copy_arguments(call, views)


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


def _is_non_contiguous(argument: SSAValue) -> bool:
    """Whether the cells of a view are not known to be contiguous in memory."""
    return not all(map(_keeps_contiguous, views_of(argument)[1]))


def _keeps_contiguous(view: MovementOp) -> bool:
    """Whether a view of contiguous memory is contiguous.

    A SHRINK is if its offsets are constant and each axis before the innermost that it cuts has one
    cell in the result.
    """
    if isinstance(view, tg.ReshapeOp | tg.BitcastOp):
        return True
    if not isinstance(view, tg.ShrinkOp) or len(view.operands) > 1:
        return False
    old, new = tensor(view.source).get_shape(), tensor(view.result).get_shape()
    cut = [axis for axis, pair in enumerate(zip(old, new, strict=True)) if len({*pair}) > 1]
    return all(extent == 1 for extent in new[: max(cut, default=0)])


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
