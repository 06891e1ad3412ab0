"""Clearing LOCAL buffers: BUFFERs are zero at first, and the shared memory of a grid is not."""

from __future__ import annotations

import math

from xdsl.ir import Block

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import number_attribute
from tgdialect.ops.properties import known_index, tensor
from tgdialect.work_items.coverage import uncovered


def clear_uncovered(block: Block, numbers: CellNumbers) -> None:
    """Store 0 to each LOCAL buffer of which some cell may be read before it is stored."""
    for buffer in [*uncovered(block, numbers)]:
        _clear(buffer)


def _clear(buffer: tg.BufferOp) -> None:
    """Store 0 to all cells, before anything else: the work items take turns.

    `range %i to ceil(n / items); if %item + %i * items < n; store %b[...], 0; endif; end`
    """
    block = buffer.parent
    assert block is not None
    items = [op for op in block.ops if isinstance(op, tg.SpecialOp) and op.symbol.data[0] == "l"]
    items.sort(key=lambda op: op.symbol.data)
    last = max([buffer, *items], key=lambda op: block.get_operation_index(op))
    b = OpBuilder.after(last)
    type = tensor(buffer.result)
    size = math.prod(type.get_shape())
    count, index = 1, b.index_constant(0)
    for item in items:
        index = b.put(tg.AddOp(index, b.put(tg.MulOp(item.result, b.index_constant(count)))))
        count *= known_index(item.bound) or 1
    loop = b.put(
        tg.RangeOp(next(b.free_axes), tg.AxisType.LOOP, b.index_constant(-(-size // count)))
    )
    cell = b.put(tg.AddOp(index, b.put(tg.MulOp(loop, b.index_constant(count)))))
    begin = b.insert(tg.IfOp(b.put(tg.CmpLtOp(cell, b.index_constant(size)))))
    view = buffer.result
    if len(type.get_shape()) != 1:
        view = b.put(tg.ReshapeOp(view, [size]))
    zero = b.put(tg.ConstOp(number_attribute(0, type.element_type), type.element_type))
    b.insert(tg.StoreOp(b.put(tg.IndexOp(view, [cell])), zero))
    b.insert(tg.EndOp(b.put(tg.EndIfOp(begin)), [loop]))
