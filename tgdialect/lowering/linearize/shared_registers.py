"""REG buffers that a work item reads after others wrote them become LOCAL buffers.

Outside of the loops over work items a value is in registers of each of them. A REG buffer that is
written inside such loops and read outside stays one if all work items write the same to it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.diagnostics import locate
from tgdialect.lowering.kernel_memory import buffer_type
from tgdialect.lowering.linear_blocks import ITEMS, Nest, loops_by_depth, nest
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.properties import known_index, place, tensor
from tgdialect.ops.walk import Walk
from tgdialect.work_items.uniform import uniform_blocks


def share_registers(block: Block, around: Mapping[Operation, Sequence[Operation]]) -> None:
    """Make LOCAL buffers of the REG buffers that work items share. `around` has the blocks that
    each op is in."""
    uses: dict[SSAValue, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(block.ops):
        if place(access.memory).addrspace is tg.AddrSpace.REG:
            uses[access.memory].append(access)
    alike = uniform_blocks(block.ops if uses else ())
    extents = [{known_index(r.bound) for r in same} for same in loops_by_depth(around, ITEMS)]
    for memory, same in uses.items():
        nests = [nest(around[access.op], ITEMS) for access in same]
        written = max((n for n, a in zip(nests, same, strict=True) if a.writes), key=len)
        if all(each[: len(written)] == written for each in nests):
            continue
        values = [
            access.op.operands[1] if each == written else None
            for each, access in zip(nests, same, strict=True)
            if access.writes
        ]
        size = min(0 if value is None else alike.get(value, 1) for value in values)
        if _have_alike(written, nests, extents, size):
            continue
        if common := {*nests[0]}.intersection(*nests):
            numbers = ", ".join(str(range.axis.data) for range in common)
            message = (
                f"the work items of range {numbers} each have a REG buffer that others write "
                "to: it would have to be shared by some of them"
            )
            raise locate(PassFailedException(message), same[0].op)
        owner = memory.owner
        assert isinstance(owner, tg.BufferOp)
        _move_to(owner, tg.AddrSpace.LOCAL)


def _have_alike(
    written: Nest, nests: Sequence[Nest], extents: Sequence[set[int | None]], size: int
) -> bool:
    """Whether all work items that read a buffer outside of the loops in which it is written have
    written it, and all of them the same: these loops are whole axes, the innermost ones, and blocks
    of `size` neighbours write the same value."""
    shared = min(_common(each, written) for each in nests)
    inner = extents[shared:]
    if len(written) < len(extents) or any(len(each) > 1 for each in inner):
        return False
    count = math.prod(extent or 0 for each in inner for extent in each)
    return count > 0 and size % count == 0 < size


def _common(a: Nest, b: Nest) -> int:
    """How many of the outermost loops two nests share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(a, b, strict=False)))


def _move_to(buffer: tg.BufferOp, space: tg.AddrSpace) -> None:
    """Put a buffer into another address space, and its views."""
    type = tensor(buffer.result)
    where = buffer_type(type.element_type, type.get_shape(), space)
    walk: Walk[tg.BufferOp | MovementOp] = Walk([buffer])
    for old in walk:
        moved = isinstance(old, MovementOp)
        new = old.rebuild(old.operands) if moved else tg.BufferOp(old.slot.data, where)
        builder = OpBuilder.before(old)
        value = builder.put(new)
        value.name_hint = old.results[0].name_hint
        for use in list(old.results[0].uses):
            use.operation.operands[use.index] = value
            if isinstance(use.operation, MovementOp) and use.index == 0:
                walk.add([use.operation])
        builder.block.erase_op(old)
