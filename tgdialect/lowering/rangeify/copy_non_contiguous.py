"""The pass that copies views which a CALL cannot pass; copies of memory that a function passes to
CALLs, and the buffers for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, SSAValue

from tgdialect.analysis.memory_order import written_operands
from tgdialect.diagnostics import RemarkKind, begins, emit_remark
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.function_pass import FunctionPass
from tgdialect.ops import tg
from tgdialect.ops.properties import static_bytes
from tgdialect.ops.views import movements


@dataclass(frozen=True)
class CopyNonContiguousPass(FunctionPass):
    """Copy each view that is not contiguous before a CALL: a program gets a pointer.

    rewrite: `%0 = call @k(permute %a)` ->
    `%s = store %b, (permute %a)`, `%c = call @k(after %b, %s)`; and if `@k` writes the argument
    `%t = store (permute %a), (after %b, %c)`, `%0 = group %c, %t`
    """

    name = "tg-copy-non-contiguous"

    def rewrite(self, block: Block) -> None:
        for call in ops_of(block):
            if isinstance(call, tg.CallOp):
                memory = [a for a in dict.fromkeys(call.arguments) if tg.is_memory(a)]
                views = [a for a in memory if not all(map(_keeps_contiguous, movements(a)))]
                if views and begins("copy", call):
                    message = f"copies of {len(views)} views that are not contiguous"
                    sizes = sum(map(static_bytes, views))
                    more = {"Views": len(views), "Bytes": sizes}
                    emit_remark(call, message, "Copy", RemarkKind.MISSED, **more)
                    copy_arguments(call, views)


def _keeps_contiguous(view: tg.MovementOp) -> bool:
    """Whether a view of contiguous memory is contiguous.

    A SHRINK is if its offsets are constant and each axis before the innermost that it cuts has one
    cell in the result.
    """
    if isinstance(view, tg.ReshapeOp | tg.BitcastOp):
        return True
    if not isinstance(view, tg.ShrinkOp) or len(view.operands) > 1:
        return False
    old, new = tg.tensor(view.source).get_shape(), tg.tensor(view.result).get_shape()
    cut = [axis for axis, pair in enumerate(zip(old, new, strict=True)) if len({*pair}) > 1]
    return all(extent == 1 for extent in new[: max(cut, default=0)])


def copy_arguments(call: tg.CallOp, views: Sequence[SSAValue]) -> Sequence[tg.StoreOp]:
    """Let a CALL read copies of arguments, and return the STOREs to these. What it writes to a copy
    is stored to the argument after it."""
    written = written_operands(call)
    # The STOREs into the copies come before the CALL, those back into views after it.
    uses = list(call.result.uses)
    before, after = tg.OpBuilder.before(call), tg.OpBuilder.after(call)
    effects: list[SSAValue] = [call.result]
    copies: dict[SSAValue, SSAValue] = {}
    stores: list[tg.StoreOp] = []
    for view in views:
        dtype, device = tg.tensor(view).element_type, tg.place(view).device
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
    value: SSAValue, dtype: Attribute, device: tg.Device, slot: int, order: Sequence[int] = ()
) -> tg.BufferOp:
    """A buffer in global memory with the shape of a value, or its axes in another order."""
    shape, where = tg.shape_of(value), tg.PlaceAttr.of(device, tg.AddrSpace.GLOBAL)
    if order:
        shape = tuple(shape[axis] for axis in order)
    static = tuple(extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in shape)
    dims = [extent for extent in shape if isinstance(extent, SSAValue)]
    return tg.BufferOp(slot, tg.tensor_type(dtype, static, where), dims)
