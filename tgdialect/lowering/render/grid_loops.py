"""Programs for a grid in forms for outputs that lack parts of one: SPECIALs as loops, and SHUFFLEs
through LOCAL memory where work items cannot read each other's registers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.render.work_items import is_effect, is_leaf
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_axis


def loops_of_grid(linear: tg.LinearOp) -> None:
    """Replace the SPECIALs of a LINEAR by GLOBAL and LOCAL RANGEs in place, which `work_items.py`
    splits at BARRIERs; the first dimension is innermost.

        special %g "gidx0"; special %t "lidx0"; store b[%t]; barrier; ...
        ->
        range %g global; range %t local; store b[%t]; barrier; ...; end %t; end %g

    REG memory is zero at first for each work item, so it is cleared inside the loops.
    """
    block = linear.body.block
    ops = ops_of(block)
    specials = [op for op in ops if isinstance(op, tg.SpecialOp)]
    effects = [op for op in ops if is_effect(op) and not isinstance(op, tg.SinkOp)]
    if not specials:
        return
    if not effects:
        for op in reversed(ops):
            if not isinstance(op, tg.ParamOp | tg.SinkOp):
                block.erase_op(op)
        return
    front = _hoisted(ops, specials)
    for op in (*front, *(op for op in ops if op not in front)):
        op.detach()
        block.add_op(op)
    body = InsertPoint.after(list(front)[-1])
    ranges = _open(block, specials, body, next_axis(ops))
    for op in specials:
        op.result.replace_all_uses_with(ranges[op.symbol.data])
        block.erase_op(op)
    *_, last = effects
    end = tg.OpBuilder.after(last).put(tg.EndOp(last.results[0], list(ranges.values())[::-1]))
    if isinstance(sink := block.last_op, tg.SinkOp):
        sink.operands = (end,)


def _hoisted(ops: Sequence[Operation], specials: Sequence[tg.SpecialOp]) -> dict[Operation, None]:
    """The ops that come before the loops: constants and memory, and what bounds are made of."""
    needed = {op.bound.owner for op in specials}
    for op in reversed(ops):
        if op in needed:
            needed.update(operand.owner for operand in op.operands)
    return {op: None for op in ops if op in needed or is_leaf(op)}


def _open(
    block: Block, specials: Sequence[tg.SpecialOp], at: InsertPoint, axis: int
) -> dict[str, SSAValue]:
    """Begin a loop for each name of a SPECIAL, the outermost first, and clear REG memory."""
    builder = tg.OpBuilder(at)
    ranges: dict[str, SSAValue] = {}
    # Workgroups are outside of work items, and the last dimension outside of the others.
    last_first = sorted(specials, key=lambda op: -int(op.symbol.data[-1]))
    for op in sorted(last_first, key=lambda op: op.axis_type is tg.AxisType.LOCAL):
        if (name := op.symbol.data) not in ranges:
            builder.location = op.location
            range = builder.put(tg.RangeOp(axis, op.axis_type, op.bound))
            range.name_hint = op.result.name_hint
            ranges[name], axis = range, axis + 1
    for op in block.ops:
        if isinstance(op, tg.BufferOp) and tg.place(op.result).addrspace is tg.AddrSpace.REG:
            _clear(op, builder)
    return ranges


def _clear(buffer: tg.BufferOp, builder: tg.OpBuilder) -> None:
    """Store 0 to all of a buffer."""
    type = tg.tensor(buffer.result)
    size = math.prod(type.get_shape())
    zero = builder.put(tg.ConstOp(tg.number_attribute(0, type.element_type), type.element_type))
    view = buffer.result
    if type.get_shape() != (size,):
        view = builder.put(tg.ReshapeOp(view, [size]))
    builder.insert(
        tg.StoreOp(view, builder.put(tg.ExpandOp(builder.put(tg.ReshapeOp(zero, [1])), [size])))
    )


# -- SHUFFLEs


def shuffles_through_memory(linear: tg.LinearOp) -> None:
    """Rewrite the SHUFFLEs of a LINEAR, each with a LOCAL buffer of its own.

        %1 = shuffle %0 xor 4 of 32
        ->
        store b[%n], %0; barrier; %1 = load b[%n ^ 4]; barrier

    where %n is the number of the work item in its workgroup.
    """
    block = linear.body.block
    found = [op for op in ops_of(block) if isinstance(op, tg.ShuffleOp)]
    if not found:
        return
    items = sorted(
        (op for op in ops_of(block) if isinstance(op, tg.SpecialOp) and op.symbol.data[0] == "l"),
        key=lambda op: op.symbol.data,
    )
    extents = [tg.known_index(op.bound) or 0 for op in items]
    for op in found:
        count = math.prod(extents)
        if not items or count % op.threads.data:
            message = f"a shuffle of {op.threads.data} work items in a workgroup of {count}"
            raise locate(PassFailedException(message), op)
        _exchange(op, items, extents)


def _exchange(op: tg.ShuffleOp, items: list[tg.SpecialOp], extents: list[int]) -> None:
    b = tg.OpBuilder.before(op)
    (first, *others), count = items, 1
    number = first.result
    for item, extent in zip(others, extents, strict=False):
        count *= extent
        number = b.put(tg.AddOp(number, b.put(tg.MulOp(item.result, b.index_constant(count)))))
    other = b.put(tg.XorOp(number, b.index_constant(op.distance.data)))
    # The buffer has a cell for each lane of a vector.
    type = tg.tensor(op.value)
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
