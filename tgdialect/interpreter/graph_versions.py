"""The versions of memory that a kernel's graph names, as an order of its reads and writes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import locate
from tgdialect.interpreter.memory_uses import MemoryUse
from tgdialect.ops import tg


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
