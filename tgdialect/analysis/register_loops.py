"""Loops whose index chooses registers."""

from __future__ import annotations

from collections.abc import Sequence, Set

from xdsl.ir import Operation

from tgdialect.analysis.memory_order import accesses
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index, place
from tgdialect.ops.walk import computed_from

LONGEST = 64
"""The most iterations of a loop that become straight code, whose buffers are then registers.
Larger: longer code; smaller: buffers stay in memory. An order of magnitude."""


def register_loops(ops: Sequence[Operation]) -> Set[tg.RangeOp]:
    """The loops of a LINEAR that the index of an access to REG memory depends on.

    A processor cannot compute the number of a register, so the memory is in registers only if these
    loops are unrolled; a GPU would have it in its slowest memory.
    """
    locations = [
        access.location.owner
        for access in accesses(ops)
        if place(access.memory).addrspace is tg.AddrSpace.REG
    ]
    indices = [i for op in locations if isinstance(op, tg.IndexOp) for i in op.indices]
    return {
        op
        for op in computed_from(*indices, until=(tg.RangeOp,))
        if isinstance(op, tg.RangeOp)
        and (extent := known_index(op.bound)) is not None
        and extent <= LONGEST
    }
