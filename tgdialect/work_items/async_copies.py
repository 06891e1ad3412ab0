"""Which copies from GLOBAL to LOCAL memory may be asynchronous, and where work items wait for them.

An asynchronous copy goes on while the work item does, until that waits for it. Each wait stands
before a BARRIER, which lets the work items of the workgroup see what they have copied. Source: PTX
ISA, "Asynchronous copies"; groups are committed in order, and `wait n` leaves the last n pending.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.bounds import interval
from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.zeros import is_positive_zero
from tgdialect.ops import tg


@dataclass(frozen=True)
class AsyncCopies:
    """The asynchronous copies of a LINEAR for a grid."""

    loads: Mapping[tg.StoreOp, tg.LoadOp] = field(default_factory=dict[tg.StoreOp, tg.LoadOp])
    """The STOREs that may be asynchronous, and the LOAD of each."""
    waits: Mapping[Operation, int] = field(default_factory=dict[Operation, int])
    """The BARRIERs and RANGEs before which the copies since the last one are committed as a group,
    and how many groups may then be pending."""


class _Slot(NamedTuple):
    """One of the buffers of a pipeline: number `(loop + ahead) mod buffers`."""

    loop: Operation
    ahead: int
    buffers: int
    stride: int


def async_copies(ops: Sequence[Operation]) -> AsyncCopies:
    """The copies that may be asynchronous: what a BARRIER separates from all that reads it."""
    return _Copies(ops).found()


class _Copies:
    def __init__(self, ops: Sequence[Operation]) -> None:
        self._position = {op: position for position, op in enumerate(ops)}
        self._around = tg.nesting(ops)
        self._barriers = [op for op in ops if isinstance(op, tg.BarrierOp)]
        self._intervals = MinMax()
        self._numbers = CellNumbers()
        self._memories: dict[SSAValue, list[MemoryAccess]] = defaultdict(list)
        for access in accesses(ops) if self._barriers else ():
            self._memories[access.memory].append(access)
        spaces = {memory: tg.place(memory).addrspace for memory in self._memories}
        self._written = {
            access.memory: access.op
            for same in self._memories.values()
            for access in same
            if access.writes and spaces[access.memory] is tg.AddrSpace.GLOBAL
        }
        self._loads: dict[tg.StoreOp, tg.LoadOp] = {}
        self._pending: dict[Operation, int] = {}
        """By loop, how many groups its BARRIER may leave pending."""

    def found(self) -> AsyncCopies:
        for memory, same in self._memories.items():
            if tg.place(memory).addrspace is tg.AddrSpace.LOCAL:
                self._add(same)
        if not self._loads:
            return AsyncCopies()
        first = min(map(self._position.__getitem__, self._loads))
        loops = {loop for store in self._loads for loop in self._around[store]}
        waits: dict[Operation, int] = {}
        for barrier in self._barriers:
            around = self._around[barrier]
            if self._position[barrier] > first or loops & {*around}:
                waits[barrier] = self._pending.get(around[-1], 0) if around else 0
        # The copies before a loop that leaves groups pending are not among those.
        waits.update((loop, 0) for loop, pending in self._pending.items() if pending)
        return AsyncCopies(self._loads, waits)

    def _add(self, same: Sequence[MemoryAccess]) -> None:
        """Add the copies to one memory, if each of its STOREs may be one."""
        copies = {a.op: self._loaded(a.op) for a in same if a.writes}
        reads = [a for a in same if a.reads]
        if not all(copies.values()):
            return
        pending: dict[Operation, int] = {}
        slots = {access.op: self._slot(access) for access in same}
        for access in same:
            for read in reads if access.writes else ():
                if (slot := _common_slot(slots[access.op], slots[read.op])) is not None:
                    loop, distance = slot
                    if (left := self._left_pending(access.op, read.op, loop, distance)) is None:
                        return
                    pending[loop] = min(left, pending.get(loop, left))
                elif not self._is_separated(access.op, read.op):
                    return
                else:
                    loops = self._around[access.op]
                    pending.update((loop, 0) for loop in loops)
        for loop, left in pending.items():
            self._pending[loop] = min(left, self._pending.get(loop, left))
        self._loads.update(cast("Mapping[tg.StoreOp, tg.LoadOp]", copies))

    def _loaded(self, op: Operation) -> tg.LoadOp | None:
        """The LOAD of a STORE that only copies it from memory that no op writes, or gives 0 where
        its gate is false. All writes of GLOBAL memory come after it, as they may be to the same
        memory."""
        load = op.operands[1].owner
        if (
            not isinstance(op, tg.StoreOp)
            or not isinstance(load, tg.LoadOp)
            or op.gate is not None
            or not load.result.has_one_use()
            or not (load.alt is None or is_positive_zero(load.alt))
            or tg.place(load.buffer).addrspace is not tg.AddrSpace.GLOBAL
        ):
            return None
        last = max(map(self._position.__getitem__, (*self._barriers, op)))
        with_barriers = {scope for barrier in self._barriers for scope in self._around[barrier]}
        loops = with_barriers.intersection(self._around[op])
        is_safe = all(
            self._position[write] > last and loops.isdisjoint(self._around[write])
            for write in self._written.values()
        )
        return load if is_safe else None

    def _is_separated(self, copy: Operation, read: Operation) -> bool:
        """Whether a BARRIER is on every path from a copy to a read."""
        start, end = self._position[copy], self._position[read]
        ours, theirs = self._around[copy], self._around[read]
        shared = [op for op in ours if op in theirs and isinstance(op, tg.RangeOp)]
        for barrier in self._barriers:
            position, around = self._position[barrier], self._around[barrier]
            scope = around[-1] if around else None
            is_passed = scope is None or scope in ours or scope in theirs
            if start < end:
                if is_passed and start < position < end:
                    return True
            elif not shared or (
                shared[-1] in around
                and ((position > start and scope in ours) or (position < end and scope in theirs))
            ):
                return True
        return False

    def _left_pending(
        self, copy: Operation, read: Operation, loop: Operation, distance: int
    ) -> int | None:
        """How many groups the only BARRIER of a loop may leave pending, if a read comes `distance`
        iterations after the copy of its cell; None where the copy may not be asynchronous."""
        inside = [barrier for barrier in self._barriers if loop in self._around[barrier]]
        if len(inside) != 1 or self._around[inside[0]][-1] is not loop:
            return None
        at = self._position[inside[0]]
        left = distance - (self._position[copy] > at) - (self._position[read] < at)
        return left if left >= 0 else None

    def _slot(self, access: MemoryAccess) -> _Slot | None:
        if (cells := self._numbers[access]) is None:
            return None
        for product, stride in cells.shared.terms.items():
            value = product[0]
            op = value.owner if isinstance(value, SSAValue) and len(product) == 1 else None
            if not isinstance(op, tg.ModOp) or not (count := tg.known_index(op.operands[1])):
                continue
            turn = self._numbers.polynomial(op.operands[0])
            ((atom,), factor) = next(iter(turn.terms.items()), ((None,), 0))
            loop = atom.owner if isinstance(atom, SSAValue) else None
            bounds = interval(cells.shared - tg.polynomial(value) * stride, self._intervals)
            low, high = bounds.lo + min(cells.lanes), bounds.hi + max(cells.lanes)
            is_one_loop = len(turn.terms) == 1 and factor == 1
            if isinstance(loop, tg.RangeOp) and is_one_loop and low >= 0 and high < stride:
                return _Slot(loop, turn.constant, count, stride)
        return None


def _common_slot(copy: _Slot | None, read: _Slot | None) -> tuple[Operation, int] | None:
    """The loop whose iterations take the buffers of a pipeline in turns, and how many iterations
    after the copy its cell is read first; None where that is in the same one."""
    if copy is None or read is None or copy._replace(ahead=0) != read._replace(ahead=0):
        return None
    distance = (copy.ahead - read.ahead) % copy.buffers
    return (copy.loop, distance) if distance else None
