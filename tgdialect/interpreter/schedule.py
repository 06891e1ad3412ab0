"""The order in which a kernel is executed, and which of its loops are run all at once.

A range is a *lane* axis of every array that depends on it, unless memory carries something from one
iteration to the next: then it is *stepped*. That is so where a loop writes a memory and also reads
it, or writes it in a second place, and the iterations do not each have their own copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.accesses import Access, Roots, accesses
from tgdialect.interpreter.scopes import (
    GROUP_AXES,
    PARALLEL_AXES,
    Scopes,
    axis_type,
    graph_scopes,
    linear_scopes,
)
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.codegen import AtomicAddOp, SpecialOp
from tgdialect.ops.ordering import AfterOp, RangeOp
from tgdialect.ops.properties import place
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp


@dataclass(eq=False)
class Loop:
    """A stepped range and what is executed in each of its iterations."""

    range: RangeOp
    body: list[Item] = field(default_factory=list["Item"])


@dataclass(frozen=True)
class Accumulate:
    """The part of a REDUCE that is inside a stepped range."""

    op: ReduceOp


Item = Operation | Loop | Accumulate


@dataclass
class Schedule:
    """What to execute, in order.

    `axes` gives the lane axis of each range that is not stepped and of each SPECIAL. `private[b]` are
    the ranges and SPECIALs over which memory b has a copy per iteration; those in `assumed` only
    because no iteration is expected to read what another wrote. Reads through the views in
    `snapshots` see the memory as it was before every store. `unordered[w]` are the writes that may
    not touch a cell that write w touches.
    """

    items: list[Item]
    scopes: Scopes
    axes: dict[Operation, int]
    specials: list[SpecialOp]
    private: dict[SSAValue, list[Operation]]
    assumed: set[SSAValue]
    snapshots: set[SSAValue]
    unordered: dict[Operation, set[Operation]]
    roots: Roots

    @property
    def lanes(self) -> int:
        return len(self.axes)


def schedule(block: Block, *, graph: bool, assume_private: bool = True) -> Schedule:
    """Plan the execution of a kernel's block, a graph, or of the block of a LINEAR."""
    scopes = graph_scopes(block) if graph else linear_scopes(block)
    roots = Roots()
    all_accesses = [access for op in block.ops for access in accesses(op, roots)]
    versions = _Versions(block, all_accesses) if graph else None
    snapshots = versions.snapshots if versions else set[SSAValue]()
    live = [a for a in all_accesses if a.writes or a.view not in snapshots]
    specials = [op for op in block.ops if isinstance(op, SpecialOp)]
    private, assumed = _private(scopes, live, specials, assume_private)
    stepped = _stepped(scopes, live, private)
    lanes = [r for r in scopes.ranges if r not in stepped]
    axes: dict[Operation, int] = {op: i for i, op in enumerate([*specials, *lanes])}
    if graph:
        items = _Nest(block, scopes, stepped, versions.before if versions else {}).items()
    else:
        items = _nested(block, stepped)
    return Schedule(
        items,
        scopes,
        axes,
        specials,
        private,
        assumed,
        snapshots,
        versions.unordered if versions else {},
        roots,
    )


# -- versions ------------------------------------------------------------------------------------


class _Versions:
    """The versions of memory that a graph names, as an order of its reads and writes.

    A read through a view without AFTER sees a snapshot if the kernel writes that memory. Any other
    comes before each write that its view does not wait for: `before[w]` are the ops that precede w.
    """

    def __init__(self, block: Block, all_accesses: Sequence[Access]):
        self.snapshots: set[SSAValue] = set()
        self.before: dict[Operation, set[Operation]] = {}
        self.unordered: dict[Operation, set[Operation]] = {}
        writes = [a for a in all_accesses if a.writes]
        if not writes:
            return
        self._number = {op: 2 << i for i, op in enumerate(dict.fromkeys(a.op for a in writes))}
        by_root: dict[SSAValue, list[Operation]] = {}
        for access in writes:
            by_root.setdefault(access.root, []).append(access.op)
        # The writes that a value waits for, and those that a view has been put after.
        self._reach: dict[SSAValue, int] = {}
        self._version: dict[SSAValue, int] = {}
        reach_of = {op: self._walk(op) for op in block.ops}
        for access in all_accesses:
            own = by_root.get(access.root, [])
            if access.reads and own and not access.writes:
                self._order_read(access, own, reach_of[access.op])
        for own in by_root.values():
            self._find_unordered(own, reach_of)

    def _walk(self, op: Operation) -> int:
        reach = 0
        for operand in op.operands:
            reach |= self._reach.get(operand, 0)
        if op.operands and op.results:
            version = self._version.get(op.operands[0], 0)
            if isinstance(op, AfterOp):
                for dependency in op.dependencies:
                    version |= self._reach.get(dependency, 0) | _AFTER
            self._version[op.results[0]] = version
        for result in op.results:
            self._reach[result] = reach | self._number.get(op, 0)
        return reach

    def _order_read(self, access: Access, writes: Sequence[Operation], reach: int) -> None:
        version = self._version.get(access.view, 0)
        for write in writes:
            number = self._number[write]
            if reach & number and not version & number:
                raise InterpretationError(
                    f"cycle: {access.op.name} reads memory as it was before a store that it "
                    "waits for"
                )
        if not version & _AFTER:
            self.snapshots.add(access.view)
            return
        for write in writes:
            if not reach & self._number[write]:
                self.before.setdefault(write, set()).add(access.op)

    def _find_unordered(self, writes: Sequence[Operation], reach_of: dict[Operation, int]) -> None:
        for i, one in enumerate(writes):
            for other in writes[:i]:
                ordered = reach_of[one] & self._number[other] or reach_of[other] & self._number[one]
                both_add = isinstance(one, AtomicAddOp) and isinstance(other, AtomicAddOp)
                if one is not other and not ordered and not both_add:
                    self.unordered.setdefault(one, set()).add(other)
                    self.unordered.setdefault(other, set()).add(one)


_AFTER = 1
"""The bit of a version that some AFTER has named; the bits of the writes follow."""


# -- lanes and steps -----------------------------------------------------------------------------


def _private(
    scopes: Scopes, live: Sequence[Access], specials: Sequence[SpecialOp], assume: bool
) -> tuple[dict[SSAValue, list[Operation]], set[SSAValue]]:
    """Over which ranges and SPECIALs each LOCAL and REG buffer has a copy per iteration."""
    private: dict[SSAValue, list[Operation]] = {}
    assumed: set[SSAValue] = set()
    by_root: dict[SSAValue, list[Access]] = {}
    for access in live:
        if isinstance(access.root.owner, BufferOp):
            by_root.setdefault(access.root, []).append(access)
    for root, uses in by_root.items():
        space = place(root).addrspace
        if space is AddrSpace.GLOBAL:
            continue
        shared = GROUP_AXES if space is AddrSpace.LOCAL else frozenset[object]()
        over: list[Operation] = [
            s for s in specials if space is AddrSpace.REG or not s.symbol.data.startswith("lidx")
        ]
        common = frozenset.intersection(*(scopes.of[use.op] for use in uses))
        for range in scopes.ranges:
            if range not in common or axis_type(range) in shared:
                continue
            if axis_type(range) in PARALLEL_AXES:
                over.append(range)
            elif assume:
                over.append(range)
                assumed.add(root)
        private[root] = over
    return private, assumed


def _stepped(
    scopes: Scopes, live: Sequence[Access], private: dict[SSAValue, list[Operation]]
) -> set[RangeOp]:
    """The ranges whose iterations memory connects."""
    by_root: dict[SSAValue, list[Access]] = {}
    for access in live:
        by_root.setdefault(access.root, []).append(access)
    result: set[RangeOp] = set()
    for root, uses in by_root.items():
        if all(isinstance(use.op, AtomicAddOp) for use in uses):
            continue
        for range in scopes.ranges:
            if axis_type(range) in GROUP_AXES or range in private.get(root, ()):
                continue
            inside = [use for use in uses if range in scopes.of[use.op]]
            both = any(use.reads and use.writes for use in inside)
            if both or (len(inside) > 1 and any(use.writes for use in inside)):
                result.add(range)
    return result


# -- order ---------------------------------------------------------------------------------------


def _nested(block: Block, stepped: set[RangeOp]) -> list[Item]:
    """A LINEAR as it stands, with a loop for each stepped range."""
    root: list[Item] = []
    bodies = [root]
    open_ranges: list[RangeOp] = []
    for op in block.ops:
        if isinstance(op, RangeOp) and op in stepped:
            loop = Loop(op)
            bodies[-1].append(loop)
            bodies.append(loop.body)
            open_ranges.append(op)
            continue
        for closed in getattr(op, "ranges", ()):
            if open_ranges and closed.owner is open_ranges[-1]:
                open_ranges.pop()
                bodies.pop()
        bodies[-1].append(op)
    return root


class _Nest:
    """A graph put in order: each op in its innermost stepped loop, and each loop's body sorted."""

    def __init__(
        self,
        block: Block,
        scopes: Scopes,
        stepped: set[RangeOp],
        before: dict[Operation, set[Operation]],
    ):
        self._scopes = scopes
        self._stepped = [r for r in scopes.ranges if r in stepped]
        self._parent = {
            r: max(scopes.outside[r] & stepped, key=self._stepped.index, default=None)
            for r in self._stepped
        }
        self._level: dict[Item, RangeOp | None] = {}
        self._loops = {r: Loop(r) for r in self._stepped}
        for range, loop in self._loops.items():
            self._level[loop] = self._parent[range]
        self._sorters: dict[RangeOp | None, TopologicalSorter[Item]] = {
            level: TopologicalSorter() for level in (None, *self._stepped)
        }
        for loop in self._loops.values():
            self._sorters[self._level[loop]].add(loop)
        for op in block.ops:
            self._place(op)
        for op in block.ops:
            self._link(op, before.get(op, ()))

    def items(self) -> list[Item]:
        """The whole, in order."""
        try:
            for range, loop in self._loops.items():
                loop.body = list(self._sorters[range].static_order())
            return list(self._sorters[None].static_order())
        except CycleError as e:
            raise InterpretationError(
                "cycle: the loops and the versions of memory of this kernel ask for two orders at "
                "once"
            ) from e

    def _innermost(self, ranges: Iterable[Operation]) -> RangeOp | None:
        """The innermost stepped range of a scope, which all others must enclose."""
        inside = [r for r in self._stepped if r in ranges]
        if not inside:
            return None
        deepest = max(inside, key=lambda r: len(self._path(r)))
        if not set(inside) <= set(self._path(deepest)):
            axes = ", ".join(str(r.axis.data) for r in inside)
            raise InterpretationError(f"ranges {axes} are open together but do not nest")
        return deepest

    def _path(self, level: RangeOp | None) -> list[RangeOp]:
        """The loops around and including a level, the outermost first."""
        path: list[RangeOp] = []
        while level is not None:
            path.append(level)
            level = self._parent[level]
        return path[::-1]

    def _place(self, op: Operation) -> None:
        if op in self._loops:
            return
        scope = self._scopes.of[op]
        self._level[op] = self._innermost(scope)
        self._sorters[self._level[op]].add(op)
        if isinstance(op, ReduceOp):
            closed = {r.owner for r in op.ranges}
            if closed & set(self._stepped):
                item = Accumulate(op)
                self._level[item] = self._innermost(scope | closed)
                self._sorters[self._level[item]].add(item)
                self._depend(op, item)

    def _link(self, op: Operation, before: Iterable[Operation]) -> None:
        item: Item = self._loops.get(op, op) if isinstance(op, RangeOp) else op
        accumulate = isinstance(op, ReduceOp) and Accumulate(op) in self._level
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner in self._scopes.of:
                self._depend(Accumulate(op) if accumulate else item, owner)
        for earlier in before:
            self._depend(item, earlier)

    def _depend(self, later: Item, earlier: Item) -> None:
        """Sort `later` after `earlier`, or the loops they are in where they first part."""
        later_path = self._with_loops(later)
        earlier_path = self._with_loops(earlier)
        level: RangeOp | None = None
        for one, other in zip(later_path, earlier_path, strict=False):
            if one is not other:
                self._sorters[level].add(one, other)
                return
            if isinstance(one, Loop):
                level = one.range

    def _with_loops(self, item: Item) -> list[Item]:
        if isinstance(item, RangeOp) and item in self._loops:
            return [self._loops[r] for r in self._path(item)]
        loops: list[Item] = [self._loops[r] for r in self._path(self._level[item])]
        return [*loops, item]
