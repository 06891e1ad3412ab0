"""Analysis of a kernel's graph or of a LINEAR before it is executed.

It finds the loops that each op is in, the memory that it reads and writes, the buffers of which
each iteration of a parallel loop has a copy, and the loops that carry values from one iteration to
the next through memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import locate
from tgdialect.interpreter.memory_uses import MemoryUse, Roots, memory_uses
from tgdialect.interpreter.scopes import axis_type, graph_scopes, linear_scopes
from tgdialect.ops import tg
from tgdialect.ops.axis_types import PARALLEL, WORKGROUP
from tgdialect.ops.properties import place


class GraphVersions:
    """The versions of memory that a graph names, as an order of its reads and writes.

    A read through a view without AFTER sees a snapshot if the kernel writes that memory. Any other
    comes before each write that its view does not wait for: `before[w]` are the ops that precede w.
    """

    def __init__(self, block: Block, uses: Sequence[MemoryUse]):
        self.snapshots: set[SSAValue] = set()
        self.before: dict[Operation, set[Operation]] = {}
        self.unordered: dict[Operation, set[Operation]] = {}
        writes = [use for use in uses if use.writes]
        if not writes:
            return
        self._number = {op: 2 << i for i, op in enumerate(dict.fromkeys(use.op for use in writes))}
        by_root: dict[SSAValue, list[Operation]] = {}
        for use in writes:
            by_root.setdefault(use.root, []).append(use.op)
        # The writes that a value waits for, and those that a view has been put after.
        self._reach: dict[SSAValue, int] = {}
        self._version: dict[SSAValue, int] = {}
        reach_of = {op: self._walk(op) for op in block.ops}
        for use in uses:
            own = by_root.get(use.root, [])
            if use.reads and own and not use.writes:
                self._order_read(use, own, reach_of[use.op])
        for own in by_root.values():
            self._find_unordered(own, reach_of)

    def _walk(self, op: Operation) -> int:
        reach = 0
        for operand in op.operands:
            reach |= self._reach.get(operand, 0)
        if op.operands and op.results:
            version = self._version.get(op.operands[0], 0)
            if isinstance(op, tg.AfterOp):
                for dependency in op.dependencies:
                    version |= self._reach.get(dependency, 0) | _AFTER
            self._version[op.results[0]] = version
        for result in op.results:
            self._reach[result] = reach | self._number.get(op, 0)
        return reach

    def _order_read(self, use: MemoryUse, writes: Sequence[Operation], reach: int) -> None:
        version = self._version.get(use.view, 0)
        for write in writes:
            number = self._number[write]
            if reach & number and not version & number:
                message = (
                    f"cycle: {use.op.name} reads memory as it was before a store that it waits for"
                )
                raise locate(InterpretationError(message), use.op)
        if not version & _AFTER:
            self.snapshots.add(use.view)
            return
        for write in writes:
            if not reach & self._number[write]:
                self.before.setdefault(write, set()).add(use.op)

    def _find_unordered(self, writes: Sequence[Operation], reach_of: dict[Operation, int]) -> None:
        for i, one in enumerate(writes):
            for other in writes[:i]:
                ordered = reach_of[one] & self._number[other] or reach_of[other] & self._number[one]
                both_add = isinstance(one, tg.AtomicAddOp) and isinstance(other, tg.AtomicAddOp)
                if one is not other and not ordered and not both_add:
                    self.unordered.setdefault(one, set()).add(other)
                    self.unordered.setdefault(other, set()).add(one)


_AFTER = 1
"""The bit of a version that some AFTER has named; the bits of the writes follow."""


Axis = tg.RangeOp | tg.SpecialOp


def is_parallel(axis: Operation) -> bool:
    """Whether the iterations of a RANGE or SPECIAL are in no order."""
    return isinstance(axis, tg.SpecialOp) or (
        isinstance(axis, tg.RangeOp) and axis_type(axis) in PARALLEL
    )


def is_work_item(axis: Operation) -> bool:
    """Whether a RANGE or SPECIAL numbers the work items of a workgroup."""
    if isinstance(axis, tg.SpecialOp):
        return axis.axis_type in WORKGROUP
    return isinstance(axis, tg.RangeOp) and axis_type(axis) in WORKGROUP


def _speed(axis: Axis) -> tuple[int, str]:
    """A key by which the axis that numbers work items fastest is first, of axes that are sorted
    from the inside out: WARP, LOCAL, SPECIAL."""
    if isinstance(axis, tg.SpecialOp):
        return 2, axis.symbol.data
    return int(axis_type(axis) is not tg.AxisType.WARP), ""


class BlockAnalysis:
    """The loops and the uses of memory of a block.

    A read of memory is in `snapshots` if it sees the contents before every STORE of the block;
    `before[w]` are the reads that come before a write w, and `unordered[w]` the writes that neither
    wait for w nor are waited for.
    """

    def __init__(self, block: Block, *, graph: bool):
        self.block, self.is_graph = block, graph
        self.scopes = graph_scopes(block) if graph else linear_scopes(block)
        self.roots = Roots()
        self.specials = [op for op in block.ops if isinstance(op, tg.SpecialOp)]
        uses = [use for op in block.ops for use in memory_uses(op, self.roots)]
        self.snapshots: set[SSAValue] = set()
        self.before: Mapping[Operation, set[Operation]] = {}
        self.unordered: Mapping[Operation, set[Operation]] = {}
        if graph:
            versions = GraphVersions(block, uses)
            self.snapshots = versions.snapshots
            self.before, self.unordered = versions.before, versions.unordered
        self.uses: dict[SSAValue, list[MemoryUse]] = {}
        for use in uses:
            if use.writes or use.view not in self.snapshots:
                self.uses.setdefault(use.root, []).append(use)
        axes: list[Axis] = [*self.specials, *self.scopes.ranges]
        self.work_items = sorted(filter(is_work_item, reversed(axes)), key=_speed)
        """The axes that number the work items of a workgroup, the one that varies fastest first:
        the innermost loop, as on a grid."""
        # SPECIALs are the outermost loops, around every op.
        self.loops_around: dict[Operation, list[Axis]] = {
            op: [a for a in axes if isinstance(a, tg.SpecialOp) or a in scope]
            for op, scope in self.scopes.of.items()
        }
        self.private = {
            root: self._private(root) for root in self.uses if isinstance(root.owner, tg.BufferOp)
        }
        """The parallel axes over which a LOCAL or REG buffer has a copy per iteration."""
        self.undefined = {
            root
            for root in self.private
            if self.specials and not graph and place(root).addrspace is tg.AddrSpace.LOCAL
        }
        """The BUFFERs that have no contents at first: the LOCAL ones of a grid."""

    def common_ranges(self, root: SSAValue) -> list[tg.RangeOp]:
        """The ranges that contain all uses of a memory."""
        scopes = [self.scopes.of[use.op] for use in self.uses[root]]
        return [r for r in self.scopes.ranges if all(r in scope for scope in scopes)]

    def _private(self, root: SSAValue) -> list[Axis]:
        space = place(root).addrspace
        if space is tg.AddrSpace.GLOBAL:
            return []
        parallel = [a for a in (*self.specials, *self.common_ranges(root)) if is_parallel(a)]
        return [a for a in parallel if space is tg.AddrSpace.REG or not is_work_item(a)]

    def connected(self, private: Mapping[SSAValue, Sequence[Axis]]) -> set[tg.RangeOp]:
        """The ranges whose iterations memory connects: one may read what another one has written.

        The iterations of a range in `private[b]` have copies of a buffer b. Work items are not
        connected, as what one of them stores reaches the others at a BARRIER only.
        """
        result: set[tg.RangeOp] = set()
        for root, uses in self.uses.items():
            if all(isinstance(use.op, tg.AtomicAddOp) for use in uses):
                continue
            for range in self.scopes.ranges:
                if is_work_item(range) or range in private.get(root, ()):
                    continue
                inside = [use for use in uses if range in self.scopes.of[use.op]]
                both = any(use.reads and use.writes for use in inside)
                if both or (len(inside) > 1 and any(use.writes for use in inside)):
                    result.add(range)
        return result
