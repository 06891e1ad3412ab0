"""A program for a grid as loops, for targets that have none.

SPECIALs become GLOBAL and LOCAL ranges around the program; `work_items.py` splits them at BARRIERs.

    special %g "gidx0"; special %t "lidx0"; store b[%t]; barrier; ...
    ->
    range %g global; range %t local; store b[%t]; barrier; ...; end %t; end %g
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.render.work_items import is_effect, is_leaf
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import number_attribute
from tgdialect.ops.numbering import next_axis
from tgdialect.ops.properties import place, tensor


def loops_of_grid(linear: tg.LinearOp) -> None:
    """Replace the SPECIALs of a LINEAR by RANGEs in place; the first dimension is innermost.

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
    end = OpBuilder.after(last).put(tg.EndOp(last.results[0], list(ranges.values())[::-1]))
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
    builder = OpBuilder(at)
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
        if isinstance(op, tg.BufferOp) and place(op.result).addrspace is tg.AddrSpace.REG:
            _clear(op, builder)
    return ranges


def _clear(buffer: tg.BufferOp, builder: OpBuilder) -> None:
    """Store 0 to all of a buffer."""
    type = tensor(buffer.result)
    size = math.prod(type.get_shape())
    zero = builder.put(tg.ConstOp(number_attribute(0, type.element_type), type.element_type))
    view = buffer.result
    if type.get_shape() != (size,):
        view = builder.put(tg.ReshapeOp(view, [size]))
    builder.insert(
        tg.StoreOp(view, builder.put(tg.ExpandOp(builder.put(tg.ReshapeOp(zero, [1])), [size])))
    )
