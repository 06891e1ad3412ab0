"""Reads of memory that a kernel overwrites: whether each comes before the STOREs that it must not
see, in whatever order the iterations of the kernel run.

`tg-rangeify` asks before it lets a kernel write what it reads, and stores to a buffer first where
the answer is not known. `tg-optimize` and `tg-expand` ask of the kernels that they are given, and
let them read copies (`lowering/overwritten_memory.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, partial

from xdsl.ir import Operation
from xdsl.utils.disjoint_set import IntDisjointSet
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.cell_positions import CellPosition, CellPositions
from tgdialect.analysis.memory_order import MemoryAccess, MemoryOrder
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import Ranges, closed_ranges, open_ranges
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.views import versions

_IN_ORDER = frozenset({tg.AxisType.LOOP, tg.AxisType.REDUCE})
"""The types of the loops that a CPU executes in order, by one thread."""


def overwritten_reads(
    ops: Sequence[Operation],
    memory: MemoryOrder | None = None,
    in_order: Set[tg.AxisType] = frozenset[tg.AxisType](),
) -> Iterator[tuple[MemoryAccess, Ranges]]:
    """The reads that may see a STORE of another iteration, which they are not AFTER, each with the
    loops that both are in.

    A read does not if the STORE is in no loop, or begins when the loops of the read have ended with
    all that is computed of it; if the two are never of one cell; or if they are of
    one cell in each iteration of the loops of the STORE, and no other iteration stores to that
    cell. Iterations may be in any order, and work items that share loops compute anew what does not
    depend on them: not so the loops of the types `in_order`, which a read outside of them precedes.
    """
    memory = memory or MemoryOrder(ops)
    if not memory.is_shared:
        return
    open_in, positions = open_ranges(ops), cache(partial(CellPositions, MinMax()))
    for read, write in memory.anti_dependences():
        loops = {op for op in open_in[write.op] if tg.known_index(op.bound) != 1}
        if not loops or not loops.isdisjoint(_begun(read)):
            continue
        is_own = not isinstance(read.memory.owner, tg.ParamOp)
        is_outside = loops.isdisjoint(open_in[read.op])
        if is_outside and all(op.axis_type.data in in_order for op in loops):
            continue
        if is_own and (memory.seen(read) or is_outside):
            continue  # Each work item, or each workgroup between two BARRIERs, has its own.
        if _has_ended(read, write, loops, open_in, memory):
            continue
        # Each iteration that stores reads its own cell alone.
        stored = positions(write.op.gate if isinstance(write.op, tg.StoreOp) else None)
        if _is_known(stored, stored.is_own, read, write, loops):
            continue
        # No iteration reads a cell that any stores to. A LOAD that no gate leaves out also reads
        # where the gate of the STORE is false: without a use, but at the same time.
        cells, both = positions(None), loops | open_in[read.op]
        if not _is_known(cells, cells.are_apart, read, write, both):
            yield read, open_in[read.op] & loops


def _is_known(
    positions: CellPositions,
    holds: Callable[[CellPosition, CellPosition, Set[tg.RangeOp]], bool],
    read: MemoryAccess,
    write: MemoryAccess,
    loops: Set[tg.RangeOp],
) -> bool:
    """Whether both accesses are of known cells, for which something holds in some loops."""
    a, b = positions[read.location], positions[write.location]
    return a is not None and b is not None and holds(a, b, loops)


def _has_ended(
    read: MemoryAccess,
    write: MemoryAccess,
    loops: set[tg.RangeOp],
    open_in: Mapping[Operation, Ranges],
    memory: MemoryOrder,
) -> bool:
    """Whether a write waits for the END of loops around a read, which nothing that is computed of
    it leaves but by STOREs that the write is AFTER. Iterations of loops around both are those of a
    kernel that orders its accesses by AFTER, which says of each what it sees."""
    around = {op for op in open_in[read.op] if tg.known_index(op.bound) != 1}
    own = around - loops
    if not own or (own != around and not memory.seen(read)):
        return False
    walk = tg.Walk(tg.users_of(read.op))
    for op in walk:
        if isinstance(op, tg.StoreOp | tg.AtomicAddOp):
            if not memory.depends(write.op, op):
                return False
        elif own.isdisjoint(open_in.get(op, ())):
            return False
        else:
            walk.add(tg.users_of(op))
    return True


def check_overwriting(
    ops: Sequence[Operation], memory: MemoryOrder | None = None, *, is_grid: bool
) -> None:
    """Raise PassFailedException for a read that `overwritten_reads` finds, unless it is AFTER some
    STOREs: such a kernel states an order itself. On a grid, any loop may become one of work
    items."""
    memory = memory or MemoryOrder(ops)
    in_order = frozenset[tg.AxisType]() if is_grid else _IN_ORDER
    message = (
        "this LOAD reads the buffer before every STORE to it, but is in a loop with a STORE to a "
        "cell that it may read in another iteration"
    )
    for read, _ in overwritten_reads(ops, memory, in_order):
        if not memory.seen(read):
            raise locate(PassFailedException(message), read.op)


def in_both_orders(
    ops: Sequence[Operation], memory: MemoryOrder, *, are_private: bool
) -> Operation | None:
    """A STORE that has to come both before and after another loop: loops, each of which runs as a
    whole, wait for one another, as reads come before STOREs. None if there is no such STORE, or
    the loops do not even nest without these reads. Unless the RANGEs `are_private`, loops over one
    of them count as one, and there may be no such STORE where one is found."""
    number: dict[object, int] = {op: i for i, op in enumerate(ops)}
    # The ops of nested loops are one item.
    item = IntDisjointSet(size=len(ops))
    for op, ranges in open_ranges(ops).items():
        closed = closed_ranges(op) if isinstance(op, tg.EndOp | tg.ReduceOp) else ()
        for axis in (*ranges, *closed):
            item.union(number[op], number[axis])
    items = {item[i] for i in range(len(ops))}
    successors: dict[int, list[int]] = defaultdict(list)

    def stuck(edges: Iterable[tuple[object, Operation]]) -> set[int]:
        """The items that no order has, with more edges."""
        for before, after in edges:
            if before in number and (a := item[number[before]]) != (b := item[number[after]]):
                successors[a].append(b)
        return items.difference(tg.topological(items, successors))

    if stuck((operand.owner, op) for op in ops for operand in op.operands) and are_private:
        return None
    anti = [(read.op, write.op) for read, write in memory.anti_dependences()]
    if not (cycle := stuck(anti)):
        return None
    both = (write for read, write in anti if {item[number[read]], item[number[write]]} <= cycle)
    return next(both, anti[0][1])


def _begun(read: MemoryAccess) -> set[tg.RangeOp]:
    """The RANGEs that the location of a read is AFTER: it sees what their earlier iterations
    wrote."""
    waits = (d.owner for after in versions(read.location) for d in after.dependencies)
    return {owner for owner in waits if isinstance(owner, tg.RangeOp)}
