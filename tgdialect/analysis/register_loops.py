"""Loops whose index chooses registers."""

from __future__ import annotations

from collections.abc import Sequence, Set

from xdsl.ir import Operation

from tgdialect.analysis.memory_order import accesses
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.base import TgOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import known_index, place

LONGEST = 64
"""The most iterations of a loop that become straight code, whose buffers are then registers.
Larger: longer code; smaller: buffers stay in memory. An order of magnitude."""


def register_loops(ops: Sequence[Operation]) -> Set[RangeOp]:
    """The loops of a LINEAR that the index of an access to REG memory depends on.

    A processor cannot compute the number of a register, so the memory is in registers only if these
    loops are unrolled; a GPU would have it in its slowest memory.
    """
    locations = [
        access.location.owner
        for access in accesses(ops)
        if place(access.memory).addrspace is AddrSpace.REG
    ]
    stack = [i.owner for op in locations if isinstance(op, IndexOp) for i in op.indices]
    seen = set[object]()
    found = set[RangeOp]()
    while stack:
        op = stack.pop()
        if op in seen or not isinstance(op, TgOp):
            continue
        seen.add(op)
        if not isinstance(op, RangeOp):
            stack.extend(operand.owner for operand in op.operands)
        elif (extent := known_index(op.bound)) is not None and extent <= LONGEST:
            found.add(op)
    return found
