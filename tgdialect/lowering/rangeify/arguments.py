"""Views as arguments of CALLs: a program gets a pointer, so the cells have to follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue

from tgdialect.lowering.rangeify.schedule import written_arguments
from tgdialect.ops.attributes import AddrSpace, PlaceAttr
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import CallOp
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import BitcastOp, MovementOp, ReshapeOp, ShrinkOp
from tgdialect.ops.ordering import AfterOp, GroupOp
from tgdialect.ops.properties import is_memory, place, shape_of, tensor, tensor_type
from tgdialect.ops.source import BufferOp


def views_of(argument: SSAValue) -> tuple[SSAValue, Sequence[MovementOp]]:
    """What memory is a view of, whichever version of it, and the movements from there on."""
    views: list[MovementOp] = []
    while isinstance(owner := argument.owner, MovementOp | AfterOp):
        if isinstance(owner, MovementOp):
            views.append(owner)
        argument = owner.operands[0]
    return argument, views[::-1]


def copy_apart(block: Block) -> None:
    """Have CALLs take a copy of each view whose cells do not follow each other.

    rewrite:
        %0 = call @k(permute %a)
        ->
        %s = store %b, (permute %a); %c = call @k(after %b, %s);
        %t = store (permute %a), (after %b, %c); %0 = group %c, %t   if @k writes the argument
    """
    for call in list(block.ops):
        if not isinstance(call, CallOp):
            continue
        views = [a for a in dict.fromkeys(call.arguments) if is_memory(a) and _is_apart(a)]
        if views:
            _copy(call, views)


def _copy(call: CallOp, views: Sequence[SSAValue]) -> None:
    written = written_arguments(call)
    uses = list(call.result.uses)
    before, after = OpBuilder.before(call), OpBuilder.after(call)
    effects: list[SSAValue] = [call.result]
    copies: dict[SSAValue, SSAValue] = {}
    for view in views:
        buffer = before.put(_buffer_like(view, next(before.free_slots)))
        filled = before.put(StoreOp(buffer, view))
        copies[view] = before.put(AfterOp(buffer, [filled]))
        if view in written:
            made = after.put(AfterOp(buffer, [call.result]))
            effects.append(after.put(StoreOp(view, made)))
    if len(effects) > 1:
        group = after.put(GroupOp(effects))
        for use in uses:
            use.operation.operands[use.index] = group
    call.operands = [copies.get(argument, argument) for argument in call.operands]


def _is_apart(argument: SSAValue) -> bool:
    """Whether the cells of a view may not follow each other in memory."""
    return not all(map(_keeps_together, views_of(argument)[1]))


def _keeps_together(view: MovementOp) -> bool:
    """Whether a view shows cells that follow each other, of memory in which they do: that is known
    of a SHRINK if it cuts the first axis that has more than one cell, by constants."""
    if isinstance(view, ReshapeOp | BitcastOp):
        return True
    if not isinstance(view, ShrinkOp) or len(view.operands) > 1:
        return False
    old, new = tensor(view.source).get_shape(), tensor(view.result).get_shape()
    cut = [axis for axis, pair in enumerate(zip(old, new, strict=True)) if len({*pair}) > 1]
    return all(extent == 1 for extent in new[: max(cut, default=0)])


def _buffer_like(view: SSAValue, slot: int) -> BufferOp:
    shape, where = shape_of(view), PlaceAttr.of(place(view).device, AddrSpace.GLOBAL)
    static = [extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in shape]
    dims = [extent for extent in shape if isinstance(extent, SSAValue)]
    return BufferOp(slot, tensor_type(tensor(view).element_type, tuple(static), where), dims)
