"""SHUFFLE through LOCAL memory, for outputs whose work items cannot read each other's registers.

    %1 = shuffle %0 xor 4 of 32
    ->
    store b[%n], %0; barrier; %1 = load b[%n ^ 4]; barrier

where %n is the number of the work item in its workgroup.
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import known_index, tensor


def shuffles_through_memory(linear: tg.LinearOp) -> None:
    """Rewrite the SHUFFLEs of a LINEAR, each with a LOCAL buffer of its own."""
    block = linear.body.block
    found = [op for op in ops_of(block) if isinstance(op, tg.ShuffleOp)]
    if not found:
        return
    items = sorted(
        (op for op in ops_of(block) if isinstance(op, tg.SpecialOp) and op.symbol.data[0] == "l"),
        key=lambda op: op.symbol.data,
    )
    extents = [known_index(op.bound) or 0 for op in items]
    for op in found:
        count = math.prod(extents)
        if not items or count % op.threads.data:
            message = f"a shuffle of {op.threads.data} work items in a workgroup of {count}"
            raise locate(PassFailedException(message), op)
        _exchange(op, items, extents)


def _exchange(op: tg.ShuffleOp, items: list[tg.SpecialOp], extents: list[int]) -> None:
    b = OpBuilder.before(op)
    (first, *others), count = items, 1
    number = first.result
    for item, extent in zip(others, extents, strict=False):
        count *= extent
        number = b.put(tg.AddOp(number, b.put(tg.MulOp(item.result, b.index_constant(count)))))
    other = b.put(tg.XorOp(number, b.index_constant(op.distance.data)))
    # The buffer has a cell for each lane of a vector.
    type = tensor(op.value)
    shape = type.get_shape()
    lanes = math.prod(shape)
    cells = math.prod(extents) * lanes
    buffer = new_buffer(b, type.element_type, (cells,), tg.AddrSpace.LOCAL)

    def cell(position: SSAValue, lane: int) -> SSAValue:
        index = b.put(tg.MulOp(position, b.index_constant(lanes)))
        return b.put(tg.IndexOp(buffer, [b.put(tg.AddOp(index, b.index_constant(lane)))]))

    for lane in range(lanes):
        value = b.put(tg.IndexOp(op.value, [b.index_constant(lane)])) if shape else op.value
        b.insert(tg.StoreOp(cell(number, lane), value))
    b.insert(tg.BarrierOp(()))
    loaded = [b.put(tg.LoadOp(cell(other, lane))) for lane in range(lanes)]
    b.insert(tg.BarrierOp(()))
    op.result.replace_all_uses_with(b.put(tg.StackOp(loaded)) if shape else loaded[0])
    b.block.erase_op(op)
