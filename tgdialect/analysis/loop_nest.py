"""The loop nest of a kernel: the loop that each op is in, and an order of execution.

A kernel is a graph: an op is in the loop of every RANGE that it depends on and that no END has
closed. This determines how the loops nest. Together with the order that versioned memory needs
(`memory_order.py`) it gives a total order. Each op is in the outermost loop that it can be in, so
loop-invariant ops are hoisted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import MemoryOrder
from tgdialect.analysis.ranges import Ranges, closed_ranges, needed_ops, open_ranges
from tgdialect.diagnostics import locate
from tgdialect.ops import tg


@dataclass(eq=False)
class LoopTree:
    """A loop, or the whole kernel if there is no range: ops and loops in order of execution.

    The RANGE and the END of the loop are not among the items, nor are GROUPs, which do nothing.
    """

    range: tg.RangeOp | None = None
    end: tg.EndOp | None = None
    parent: LoopTree | None = None
    depth: int = 0
    items: list[Operation | LoopTree] = field(default_factory=list["Operation | LoopTree"])

    def walk(self) -> Iterator[tuple[LoopTree, Operation | None]]:
        """Each op with its loop, in order; a loop's RANGE comes first, and None where it ends."""
        stack: list[tuple[LoopTree, Iterator[Operation | LoopTree]]] = [(self, iter(self.items))]
        while stack:
            loop, items = stack[-1]
            if (item := next(items, None)) is None:
                stack.pop()
                yield loop, None
            elif type(item) is LoopTree:
                assert item.range is not None
                stack.append((item, iter(item.items)))
                yield item, item.range
            else:
                yield loop, cast(Operation, item)


def loop_nest(block: Block) -> LoopTree:
    """The loops of a kernel that has no REDUCE over ranges, or of the CALLs of a function, and the
    order of their ops.

    Raises PassFailedException where loops do not nest, a RANGE is not closed, memory is needed in
    two orders at once, or two unordered STOREs of a kernel without OptOps write one cell.
    """
    return _Nester(needed_ops(block)).loop_tree()


class _Nester:
    """Finds the loops of ops, and orders the items of each loop.

    Ops are numbered in the order of the block. A loop, as an item of the loop around it, has the
    number of its outermost END: all ops that it needs come before that in the block.
    """

    def __init__(self, ops: Sequence[Operation]) -> None:
        self.ops = ops
        self.number: dict[object, int] = {op: i for i, op in enumerate(ops)}
        self.sources = [
            [i for operand in op.operands if (i := self.number.get(operand.owner)) is not None]
            for op in ops
        ]
        for op in ops:
            if isinstance(op, tg.ReduceOp) and op.ranges:
                message = "a REDUCE over ranges has no loops before tg-expand"
                raise locate(PassFailedException(message), op)
        self.open = open_ranges(ops)
        """The ranges whose loops each op is in; for an END, those around the loops it closes."""
        self.root = LoopTree()
        self.loops: dict[tg.RangeOp, LoopTree] = {}
        self._nest()
        self._loop_of: dict[Ranges, LoopTree] = {frozenset(): self.root}
        self.loop = [self._innermost(self.open[op]) for op in ops]
        """The innermost loop around an op; of an END, the one around the loops that it closes."""

    def loop_tree(self) -> LoopTree:
        memory = MemoryOrder(self.ops)
        if not any(isinstance(op, tg.SinkOp) and op.opts for op in self.ops):
            # OptOps make iterations that store equal values to one cell, in any two forms.
            memory.check_races()
        # The items of each loop: its ops, and the loops inside it.
        items: dict[LoopTree, list[tuple[int, Operation | LoopTree]]] = defaultdict(list)
        for i, op in enumerate(self.ops):
            if type(op) is tg.EndOp:
                for range in closed_ranges(op):
                    loop = self.loops[range]
                    assert loop.parent is not None
                    items[loop.parent].append((i, loop))
            elif type(op) is not tg.RangeOp and not _is_merge(op):
                items[self.loop[i]].append((i, op))
        # Edges between items of one loop: data dependences, and writes after reads.
        anti = [
            (self.number[read.op], self.number[write.op])
            for read, write in memory.anti_dependences()
        ]
        successors: dict[LoopTree, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for before, after in (*self._data_edges(), *anti):
            if (edge := self._lift(before, after)) is not None:
                loop, a, b = edge
                successors[loop][a].append(b)
        # A topological order of the items of each loop.
        for loop, numbered in items.items():
            by_number = dict(numbered)
            order = tg.topological(by_number, successors[loop])
            if len(order) < len(by_number):
                raise self._both_orders(loop, by_number.keys() - order, anti)
            loop.items = [by_number[i] for i in order]
        return self.root

    # -- loops

    def _nest(self) -> None:
        """Make a LoopTree of each range, inside the loops around the END that closes it."""
        # The END of each range, and the ranges that are open around it.
        outer: dict[tg.RangeOp, Ranges] = {}
        ends: dict[tg.RangeOp, tg.EndOp] = {}
        for op in self.ops:
            if isinstance(op, tg.EndOp):
                around = self.open[op]
                for range in reversed(closed_ranges(op)):
                    outer[range], ends[range] = around, op
                    around |= {range}
        ranges = [op for op in self.ops if isinstance(op, tg.RangeOp)]
        changed = True
        while changed:
            changed = False
            for range in ranges:
                around = outer[range].union(*(outer[each] for each in outer[range]))
                if range in around:
                    raise self._crossing(range, around)
                changed |= around != outer[range]
                outer[range] = around
        # Outer loops first: the parent is the innermost of the loops around.
        for range in sorted(ranges, key=lambda r: len(outer[r])):
            around = outer[range]
            parent = max(around, key=lambda r: len(outer[r]), default=None)
            if parent is not None and around != outer[parent] | {parent}:
                raise self._crossing(range, around)
            enclosing = self.root if parent is None else self.loops[parent]
            self.loops[range] = LoopTree(range, ends[range], enclosing, enclosing.depth + 1)

    def _crossing(self, range: tg.RangeOp, others: Set[tg.RangeOp]) -> PassFailedException:
        numbers = sorted((self.number[each], each.axis.data) for each in others - {range})
        crossed = " and ".join(str(axis) for _, axis in numbers)
        message = f"the loop of range {range.axis.data} does not nest with that of {crossed}"
        return locate(PassFailedException(message), range)

    def _innermost(self, ranges: Ranges) -> LoopTree:
        """The innermost of a set of loops. Refused unless the others are just the loops around
        it."""
        if (known := self._loop_of.get(ranges)) is not None:
            return known
        innermost = max(ranges, key=lambda each: (self.loops[each].depth, -self.number[each]))
        loop = self._loop_of[ranges] = around = self.loops[innermost]
        crossing = {*ranges}
        while around.range is not None and around.parent is not None:
            crossing.discard(around.range)
            around = around.parent
        if crossing:
            raise self._crossing(innermost, crossing)
        return loop

    # -- order

    def _data_edges(self) -> Iterator[tuple[int, int]]:
        """From each op to its users, through GROUPs."""
        for i, op in enumerate(self.ops):
            if _is_merge(op):
                continue
            # Of an END the body: its ranges are inside.
            sources = self.sources[i][:1] if type(op) is tg.EndOp else list(self.sources[i])
            while sources:
                source = sources.pop()
                if _is_merge(self.ops[source]):
                    sources.extend(self.sources[source])
                elif type(self.ops[source]) is not tg.RangeOp:
                    yield source, i

    def _lift(self, before: int, after: int) -> tuple[LoopTree, int, int] | None:
        """An edge between two ops as an edge between two items of the innermost loop around both.

        None if both are in one item, which orders them itself.
        """
        a, b, a_loop, b_loop = before, after, self.loop[before], self.loop[after]
        if a_loop is b_loop and type(self.ops[after]) is not tg.RangeOp:
            return a_loop, a, b
        if isinstance(op := self.ops[after], tg.RangeOp):
            b, b_loop = self._as_item(self.loops[op])
        while a_loop is not b_loop:
            if a_loop.depth >= b_loop.depth:
                a, a_loop = self._as_item(a_loop)
            else:
                b, b_loop = self._as_item(b_loop)
        return (a_loop, a, b) if a != b else None

    def _as_item(self, loop: LoopTree) -> tuple[int, LoopTree]:
        """The number of a loop among the items of the loop around it, and that loop."""
        assert loop.parent is not None
        return self.number[loop.end], loop.parent

    def _both_orders(
        self, loop: LoopTree, stuck: set[int], anti: Sequence[tuple[int, int]]
    ) -> PassFailedException:
        """Name a write that is stuck behind a read of what was there before it."""
        for read, write in anti:
            edge = self._lift(read, write)
            if edge is not None and edge[0] is loop and stuck.issuperset(edge[1:]):
                message = (
                    "the program needs both orders at once: this write comes after a read of the "
                    "same buffer without AFTER, and before it"
                )
                return locate(PassFailedException(message), self.ops[write])
        message = "this depends on itself through the loops that it is in"
        return locate(PassFailedException(message), self.ops[min(stuck)])


def _is_merge(op: Operation) -> bool:
    return type(op) is tg.GroupOp and bool(op.operands)
