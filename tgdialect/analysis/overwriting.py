"""Reads of memory that a kernel overwrites: whether each comes before the STOREs that it must not
see, in whatever order the iterations of the kernel run.

`tg-rangeify` asks before it lets a kernel write what it reads, and stores to a buffer first where
the answer is not known. `tg-optimize` and `tg-expand` ask of the kernels that they are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.cell_positions import CellPositions
from tgdialect.analysis.memory_order import MemoryAccess, MemoryOrder
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import open_ranges
from tgdialect.diagnostics import locate
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.ordering import AfterOp, RangeOp
from tgdialect.ops.properties import known_index
from tgdialect.ops.source import ParamOp


def overwritten_reads(
    ops: Sequence[Operation], memory: MemoryOrder | None = None
) -> Iterator[MemoryAccess]:
    """The reads that may see a STORE of another iteration, which they are not AFTER.

    A read does not if the STORE is in no loop; if the two are never of one cell; or if they are of
    one cell in each iteration of the loops of the STORE, and no other iteration stores to that
    cell. Iterations may be in any order, and work items that share loops compute anew what does not
    depend on them.
    """
    memory = memory or MemoryOrder(ops)
    if not memory.is_shared:
        return
    open_in, intervals = open_ranges(ops), MinMax()
    by_gate: dict[SSAValue | None, CellPositions] = {}
    for read, write in memory.anti_dependences():
        loops = {op for op in open_in[write.op] if known_index(op.bound) != 1}
        if not loops or not loops.isdisjoint(_begun(read)):
            continue
        is_own = not isinstance(read.memory.owner, ParamOp)
        if is_own and (memory.seen(read) or loops.isdisjoint(open_in[read.op])):
            continue  # Each work item, or each workgroup between two BARRIERs, has its own.
        gate = write.op.gate if isinstance(write.op, StoreOp) else None
        if (cells := by_gate.get(gate)) is None:
            cells = by_gate[gate] = CellPositions(intervals, gate)
        a, b = cells[read.location], cells[write.location]
        if a is None or b is None:
            yield read
            continue
        around = loops | open_in[read.op]
        if not cells.is_own(a, b, loops) and not cells.are_apart(a, b, around):
            yield read


def check_overwriting(ops: Sequence[Operation], memory: MemoryOrder | None = None) -> None:
    """Raise PassFailedException for a read that `overwritten_reads` finds."""
    for read in overwritten_reads(ops, memory):
        raise locate(
            PassFailedException(
                "this LOAD reads the buffer before every STORE to it, but is in a loop with a "
                "STORE to a cell that it may read in another iteration"
            ),
            read.op,
        )


def _begun(read: MemoryAccess) -> set[RangeOp]:
    """The RANGEs that the location of a read is AFTER: it sees what their earlier iterations
    wrote."""
    begun: set[RangeOp] = set()
    location = read.location
    while isinstance(owner := location.owner, MovementOp | AfterOp):
        if isinstance(owner, AfterOp):
            begun.update(d.owner for d in owner.dependencies if isinstance(d.owner, RangeOp))
        location = owner.operands[0]
    return begun
