"""The loop nest of a kernel: which loop each op is in, and an order of execution.

A kernel is a graph: an op is in the loop of every RANGE that it depends on and that no END has
closed. From this follow how the loops nest, and, with the order that versioned memory asks for, a
total order: every op is in the outermost loop that it may be in, so what does not change in a loop
is computed before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import MemoryOrder
from tgdialect.diagnostics import locate
from tgdialect.ops.ordering import EndOp, GroupOp, RangeOp, SinkOp
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ParamOp


@dataclass(eq=False)
class Loop:
    """A loop, or with no range the whole kernel: ops and loops in the order of execution.

    The RANGE itself and the END are not among the items, and a GROUP is nowhere: it does nothing.
    """

    range: RangeOp | None = None
    end: EndOp | None = None
    parent: Loop | None = None
    depth: int = 0
    items: list[Operation | Loop] = field(default_factory=list["Operation | Loop"])

    def walk(self) -> Iterator[tuple[Loop, Operation | None]]:
        """Each op with its loop, in order; a loop's RANGE comes first, and None where it ends."""
        stack: list[tuple[Loop, Iterator[Operation | Loop]]] = [(self, iter(self.items))]
        while stack:
            loop, items = stack[-1]
            if (item := next(items, None)) is None:
                stack.pop()
                yield loop, None
            elif isinstance(item, Loop):
                assert item.range is not None
                stack.append((item, iter(item.items)))
                yield item, item.range
            else:
                yield loop, item


def needed_ops(block: Block) -> list[Operation]:
    """The ops that the SINK of a block needs, and its PARAMs, in the block's order."""
    stack: list[Operation] = [op for op in block.ops if isinstance(op, ParamOp | SinkOp)]
    needed = set(stack)
    while stack:
        for operand in stack.pop().operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner not in needed:
                needed.add(owner)
                stack.append(owner)
    return [op for op in block.ops if op in needed]


def loop_nest(block: Block) -> Loop:
    """Schedule the graph of a kernel that has no REDUCE over ranges, or the CALLs of a function.

    Raises PassFailedException where loops do not nest, a RANGE is not closed, memory is needed in
    two orders at once, or two unordered STOREs write one cell.
    """
    return _Scheduler(needed_ops(block)).schedule()


def _is_merge(op: Operation) -> bool:
    return isinstance(op, GroupOp) and bool(op.members)


class _Scheduler:
    """Sets of ranges are bits, in the order of `ranges`."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self.ops = ops
        self.position = {op: i for i, op in enumerate(ops)}
        self.ranges = [op for op in ops if isinstance(op, RangeOp)]
        self.bit = {op: 1 << i for i, op in enumerate(self.ranges)}
        self.open = self._open_ranges()
        self.root = Loop()
        self.loops: dict[RangeOp, Loop] = {}
        self._nest()
        self._loop_of_mask: dict[int, Loop] = {0: self.root}

    def schedule(self) -> Loop:
        memory = MemoryOrder(self.ops)
        memory.check_races()
        by_loop: dict[Loop, list[Operation | Loop]] = defaultdict(list)
        for op in self.ops:
            if isinstance(op, EndOp):
                for range in op.ranges:
                    loop = self._loop_of_range(range.owner)
                    assert loop.parent is not None
                    by_loop[loop.parent].append(loop)
            elif not isinstance(op, RangeOp) and not _is_merge(op):
                by_loop[self._loop(op)].append(op)
        successors: dict[Operation | Loop, list[Operation | Loop]] = defaultdict(list)
        waiting: dict[Operation | Loop, int] = defaultdict(int)
        anti = [(read.op, write.op) for read, write in memory.anti_dependences()]
        for before, after in (*self._data_edges(), *anti):
            if (edge := self._lift(before, after)) is not None:
                successors[edge[0]].append(edge[1])
                waiting[edge[1]] += 1
        for loop, items in by_loop.items():
            loop.items = self._sorted(items, successors, waiting)
            if len(loop.items) < len(items):
                stuck = set(items).difference(loop.items)
                raise self._both_orders(stuck, anti)
        return self.root

    # -- loops

    def _open_ranges(self) -> dict[Operation, int]:
        """The ranges whose loops each op is in; for an END, those around the loops it closes."""
        open_ranges: dict[Operation, int] = {}
        for op in self.ops:
            mask = self.bit.get(op, 0) if isinstance(op, RangeOp) else 0
            for operand in op.operands:
                if isinstance(owner := operand.owner, Operation):
                    mask |= open_ranges.get(owner, 0)
            if isinstance(op, EndOp):
                for range in op.ranges:
                    mask &= ~self.bit[self._range(range.owner)]
            elif isinstance(op, ReduceOp) and op.ranges:
                raise locate(
                    PassFailedException("a REDUCE over ranges has no loops before tg-expand"), op
                )
            open_ranges[op] = mask
        return open_ranges

    def _range(self, owner: object) -> RangeOp:
        assert isinstance(owner, RangeOp)
        return owner

    def _members(self, mask: int) -> list[RangeOp]:
        return [range for range in self.ranges if mask & self.bit[range]]

    def _nest(self) -> None:
        """Make a Loop of each range, inside the loops around the END that closes it."""
        outer: dict[RangeOp, int] = {}
        ends: dict[RangeOp, EndOp] = {}
        for op in self.ops:
            if isinstance(op, EndOp):
                mask = self.open[op]
                for value in reversed(op.ranges):
                    range = self._range(value.owner)
                    outer[range], ends[range] = mask, op
                    mask |= self.bit[range]
        for range in self.ranges:
            if range not in ends:
                raise locate(
                    PassFailedException(f"range {range.axis.data} is never closed by an END"), range
                )
        self._close_transitively(outer)
        for range in sorted(self.ranges, key=lambda r: outer[r].bit_count()):
            around = self._members(outer[range])
            parent = max(around, key=lambda r: outer[r].bit_count(), default=None)
            if parent is not None and outer[range] != outer[parent] | self.bit[parent]:
                raise self._crossing(range, outer[range])
            enclosing = self.root if parent is None else self.loops[parent]
            self.loops[range] = Loop(range, ends[range], enclosing, enclosing.depth + 1)

    def _close_transitively(self, outer: dict[RangeOp, int]) -> None:
        changed = True
        while changed:
            changed = False
            for range in self.ranges:
                mask = outer[range]
                for around in self._members(mask):
                    mask |= outer[around]
                if mask & self.bit[range]:
                    raise self._crossing(range, mask)
                changed |= mask != outer[range]
                outer[range] = mask

    def _crossing(self, range: RangeOp, mask: int) -> PassFailedException:
        others = [str(r.axis.data) for r in self._members(mask) if r is not range]
        return locate(
            PassFailedException(
                f"the loop of range {range.axis.data} does not nest with that of "
                f"{' and '.join(others)}"
            ),
            range,
        )

    def _loop_of_range(self, owner: object) -> Loop:
        return self.loops[self._range(owner)]

    def _loop(self, op: Operation) -> Loop:
        """The innermost loop around an op; of an END, the one around the loops that it closes."""
        mask = self.open[op]
        if (loop := self._loop_of_mask.get(mask)) is not None:
            return loop
        loop = max((self.loops[r] for r in self._members(mask)), key=lambda each: each.depth)
        around = loop
        while around.range is not None and around.parent is not None:
            mask &= ~self.bit[around.range]
            around = around.parent
        if mask:
            assert loop.range is not None
            raise self._crossing(loop.range, mask)
        self._loop_of_mask[self.open[op]] = loop
        return loop

    # -- order

    def _data_edges(self) -> Iterator[tuple[Operation, Operation]]:
        """From each op to its users, through GROUPs."""
        for op in self.ops:
            if _is_merge(op):
                continue
            operands = [op.body] if isinstance(op, EndOp) else list(op.operands)
            while operands:
                owner = operands.pop().owner
                if isinstance(owner, Block | RangeOp) or owner not in self.position:
                    continue
                if _is_merge(owner):
                    operands.extend(owner.operands)
                else:
                    yield owner, op

    def _lift(
        self, before: Operation, after: Operation
    ) -> tuple[Operation | Loop, Operation | Loop] | None:
        """An edge between two ops as one between two items of the innermost loop around both.

        None where there is nothing to order: both are in one item.
        """
        a: Operation | Loop = before
        b: Operation | Loop = after
        a_loop, b_loop = self._loop(before), self._loop(after)
        if isinstance(before, EndOp):
            a = self._loop_of_range(before.ranges[-1].owner)
        if isinstance(after, EndOp):
            b = self._loop_of_range(after.ranges[-1].owner)
        elif isinstance(after, RangeOp):
            b = self.loops[after]
            assert b.parent is not None
            b_loop = b.parent
        while a_loop is not b_loop:
            if a_loop.depth >= b_loop.depth and a_loop.parent is not None:
                a, a_loop = a_loop, a_loop.parent
            else:
                assert b_loop.parent is not None
                b, b_loop = b_loop, b_loop.parent
        if a is not b:
            return a, b
        if isinstance(before, EndOp) and isinstance(a, Loop) and a.end is before:
            assert a.range is not None
            raise locate(
                PassFailedException(f"range {a.range.axis.data} is used after its END"), after
            )
        return None

    def _key(self, item: Operation | Loop) -> int:
        """Loops count as their ENDs: in the order of the block every op's sources are before it."""
        op = item.end if isinstance(item, Loop) else item
        assert op is not None
        return self.position[op]

    def _sorted(
        self,
        items: Sequence[Operation | Loop],
        successors: dict[Operation | Loop, list[Operation | Loop]],
        waiting: dict[Operation | Loop, int],
    ) -> list[Operation | Loop]:
        """Kahn's algorithm, the earliest of the block first; a cycle is missing from the result."""
        by_key = {self._key(item): item for item in items}
        ready = sorted(key for key, item in by_key.items() if not waiting[item])
        result: list[Operation | Loop] = []
        while ready:
            item = by_key[heappop(ready)]
            result.append(item)
            for successor in successors[item]:
                waiting[successor] -= 1
                if not waiting[successor]:
                    heappush(ready, self._key(successor))
        return result

    def _both_orders(
        self, stuck: set[Operation | Loop], anti: Sequence[tuple[Operation, Operation]]
    ) -> PassFailedException:
        """Name a write that is stuck behind a read of what was there before it."""
        for read, write in anti:
            if (edge := self._lift(read, write)) is not None and stuck.issuperset(edge):
                message = (
                    "the program needs both orders at once: this write comes after a read of the "
                    "same buffer without AFTER, and before it"
                )
                return locate(PassFailedException(message), write)
        op = next(iter(stuck))
        return locate(
            PassFailedException("these ops depend on each other through their loops"),
            op if isinstance(op, Operation) else self._range(op.range),
        )
