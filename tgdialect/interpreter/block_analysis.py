"""Analysis of a kernel's graph or of a LINEAR before it is executed.

It finds the loops that each op is in, the memory that it reads and writes, the buffers of which
each iteration of a parallel loop has a copy, and the loops that carry values from one iteration to
the next through memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import add_note, locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.interpreter.movement import MOVEMENTS
from tgdialect.ops import tg
from tgdialect.ops.axis_types import PARALLEL, WORKGROUP
from tgdialect.ops.ordering import ranges_after

# -- which ops read and write which memory ---------------------------------------------------------

_ORDERING = (tg.AfterOp, tg.EndOp, tg.GroupOp, tg.SinkOp, tg.BarrierOp)
"""Ops that wait for their operands without reading them."""

_OPAQUE = (tg.CallOp, FuncCallOp, tg.CustomOp, tg.InsOp, tg.CustomFunctionOp)
"""Ops that may do anything to the memory they are given."""


def is_view(op: Operation) -> bool:
    """Whether the result is a view of the first operand where that is memory."""
    return op.name in MOVEMENTS or isinstance(
        op, tg.AfterOp | tg.DetachOp | tg.ContiguousBackwardOp
    )


class Roots:
    """The memory that each view shows, cached."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, SSAValue] = {}
        self._by_slot: dict[tuple[str, int, Attribute], SSAValue] = {}

    def __getitem__(self, value: SSAValue) -> SSAValue:
        """The value that made the memory that `value` is a view of."""
        chain: list[SSAValue] = []
        known = self._known
        while value not in known:
            owner = value.owner
            if not isinstance(owner, Operation) or not is_view(owner):
                known[value] = self._canonical(value, owner)
                break
            chain.append(value)
            value = owner.operands[0]
        root = known[value]
        for view in chain:
            known[view] = root
        return root

    def _canonical(self, value: SSAValue, owner: Operation | Block) -> SSAValue:
        """PARAMs of one slot are one memory, and so are BUFFERs of one slot and address space."""
        if isinstance(owner, tg.ParamOp | tg.BufferOp):
            return self._by_slot.setdefault((owner.name, owner.slot.data, value.type), value)
        return value


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """One op reading or writing (or both) memory through `view`, its operand at `position`."""

    op: Operation
    position: int
    view: SSAValue
    root: SSAValue
    reads: bool
    writes: bool


def memory_uses(op: Operation, roots: Roots) -> Iterable[MemoryUse]:
    """How an op uses the memory among its operands."""
    if isinstance(op, _ORDERING):
        return
    for position, operand in enumerate(op.operands):
        if not tg.is_memory(operand):
            continue
        is_changed = position == 0 and isinstance(op, tg.StoreOp | tg.AtomicAddOp)
        reads = position > 0 or not (is_view(op) or isinstance(op, tg.StoreOp))
        writes = is_changed or isinstance(op, _OPAQUE)
        if reads or writes:
            yield MemoryUse(op, position, operand, roots[operand], reads, writes)


# -- which loops and conditions each op is in, for a graph and for a LINEAR ------------------------

Scope = frozenset[Operation]
"""RANGEs and IFs."""

NO_SCOPE: Scope = frozenset()

_Nesting = dict[tg.RangeOp, set[tg.RangeOp]]
"""The ranges that each range is nested in."""


class Scopes(NamedTuple):
    """`of[op]` is what an op executes in; `ranges` are in nesting order, the outermost first.

    An END or REDUCE executes outside the ranges that it closes, a RANGE outside itself.
    """

    of: dict[Operation, Scope]
    ranges: list[tg.RangeOp]


def graph_scopes(block: Block) -> Scopes:
    """By dependence: an op is inside each range that it depends on and that nothing closed."""
    of: dict[Operation, Scope] = {}
    ranges: list[tg.RangeOp] = []
    outside: _Nesting = {}
    opened: dict[SSAValue, Scope] = {}
    for op in block.ops:
        sources = [opened.get(operand, NO_SCOPE) for operand in op.operands]
        inside: Scope = NO_SCOPE.union(*sources)
        after = _ranges_after(op, inside)
        if isinstance(op, tg.EndIfOp):
            after = after - {op.begin.owner}
        of[op] = inside & after
        if isinstance(op, tg.IfOp):
            after = after | {op}
        if isinstance(op, tg.RangeOp):
            ranges.append(op)
            outside[op] = _only_ranges(inside)
        for result in op.results:
            opened[result] = after
    for op in block.ops:
        if isinstance(op, tg.EndOp | tg.ReduceOp):
            _nest(op, _only_ranges(of[op]), outside)
    return Scopes(of, _nesting_order(ranges, outside))


def _ranges_after(op: Operation, inside: Scope) -> Scope:
    """`ranges_after` of ops.ordering, with IFs left alone."""
    ranges = frozenset(_only_ranges(inside))
    return (inside - ranges) | ranges_after(op, [ranges])


def _only_ranges(scope: Scope) -> set[tg.RangeOp]:
    return {op for op in scope if isinstance(op, tg.RangeOp)}


def _nest(closer: tg.EndOp | tg.ReduceOp, around: set[tg.RangeOp], outside: _Nesting) -> None:
    """The ranges around a closer are outside those that it closes. END lists inner ones first."""
    closed = [r.owner for r in closer.ranges]
    for range in reversed(closed):
        if isinstance(range, tg.RangeOp):
            outside.setdefault(range, set()).update(around)
            if isinstance(closer, tg.EndOp):
                around = around | {range}


def _nesting_order(ranges: Sequence[tg.RangeOp], outside: _Nesting) -> list[tg.RangeOp]:
    """Outer ranges first; by axis id where there is no one nesting."""
    by_id = sorted(ranges, key=lambda range: range.axis.data)
    known = set(by_id)
    sorter: TopologicalSorter[tg.RangeOp] = TopologicalSorter()
    for range in by_id:
        sorter.add(range, *(outside[range] & known))
    try:
        order = list(sorter.static_order())
    except CycleError:
        # Reductions may nest two ranges both ways; then their order does not matter: lanes run both
        # at once, and the oracle nests them as each closer lists them.
        return by_id
    depth: dict[tg.RangeOp, int] = {}
    for range in order:
        depth[range] = 1 + max((depth[r] for r in outside[range] & known), default=0)
    return sorted(by_id, key=lambda range: depth[range])


def linear_scopes(block: Block) -> Scopes:
    """By position: an op is inside each block that is open where it stands."""
    of = {op: frozenset(around) for op, around in tg.nesting(ops_of(block)).items()}
    return Scopes(of, [op for op in of if isinstance(op, tg.RangeOp)])


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


# -- the analysis ----------------------------------------------------------------------------------

Axis = tg.RangeOp | tg.SpecialOp


def is_parallel(axis: Operation) -> bool:
    """Whether the iterations of a RANGE or SPECIAL are in no order."""
    if isinstance(axis, tg.RangeOp):
        return axis.axis_type.data in PARALLEL
    return isinstance(axis, tg.SpecialOp)


def is_work_item(axis: Operation) -> bool:
    """Whether a RANGE or SPECIAL numbers the work items of a workgroup."""
    if isinstance(axis, tg.SpecialOp):
        return axis.axis_type in WORKGROUP
    return isinstance(axis, tg.RangeOp) and axis.axis_type.data in WORKGROUP


def _speed(axis: Axis) -> tuple[int, str]:
    """A key by which the axis that numbers work items fastest is first, of axes that are sorted
    from the inside out: WARP, LOCAL, SPECIAL."""
    if isinstance(axis, tg.SpecialOp):
        return 2, axis.symbol.data
    return int(axis.axis_type.data is not tg.AxisType.WARP), ""


class BlockAnalysis:
    """The loops and the uses of memory of a block.

    A read of memory is in `snapshots` if it sees the contents before every STORE of the block;
    `before[w]` are the reads that come before a write w, and `unordered[w]` the writes that neither
    wait for w nor are waited for.
    """

    def __init__(self, block: Block, *, graph: bool):
        self.block, self.is_graph = block, graph
        kernel = block.parent_op()
        self.has_gates = not isinstance(kernel, tg.KernelOp) or kernel.target is not None
        """Whether `tg-select` has given a gate to each access that may be out of bounds."""
        self.scopes = graph_scopes(block) if graph else linear_scopes(block)
        self.roots = Roots()
        self.specials = [op for op in block.ops if isinstance(op, tg.SpecialOp)]
        uses = [use for op in block.ops for use in memory_uses(op, self.roots)]
        # The order of a LINEAR is that of its ops.
        versions = GraphVersions(block, uses if graph else ())
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
            if self.specials and not graph and tg.place(root).addrspace is tg.AddrSpace.LOCAL
        }
        """The BUFFERs that have no contents at first: the LOCAL ones of a grid."""

    def common_ranges(self, root: SSAValue) -> list[tg.RangeOp]:
        """The ranges that contain all uses of a memory."""
        scopes = [self.scopes.of[use.op] for use in self.uses[root]]
        return [r for r in self.scopes.ranges if all(r in scope for scope in scopes)]

    def _private(self, root: SSAValue) -> list[Axis]:
        space = tg.place(root).addrspace
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


# -- what conflicts in a race: one error, at the later access, with a note at the earlier one ------


@dataclass(frozen=True, slots=True)
class Instance:
    """An op in one iteration of the parallel loops around it."""

    op: Operation
    iteration: tuple[tuple[Axis, int], ...]

    def __str__(self) -> str:
        """`work item (gidx0 = 1, lidx0 = 3)`, `workgroup (gidx0 = 1)` or `iteration (range 0 = 2)`;
        empty outside of parallel loops."""
        if not self.iteration:
            return ""
        axes = [axis for axis, _ in self.iteration]
        if any(map(is_work_item, axes)):
            kind = "work item"
        else:
            kind = "workgroup" if isinstance(axes[0], tg.SpecialOp) else "iteration"
        numbers = (f"{_name(axis)} = {i}" for axis, i in self.iteration)
        return f"{kind} ({', '.join(numbers)})"

    def is_parallel_to(self, other: Instance, *, is_ordered: bool) -> bool:
        """Whether the iterations run in parallel. `is_ordered` says that a BARRIER is between the
        two, which orders the work items of one workgroup."""
        iteration = dict(self.iteration)
        return any(
            iteration.get(axis, i) != i and not (is_ordered and is_work_item(axis))
            for axis, i in other.iteration
        )


def _name(axis: Axis) -> str:
    return axis.symbol.data if isinstance(axis, tg.SpecialOp) else f"range {axis.axis.data}"


def parallel_race(
    cell: str, now: Instance, does: str, before: Instance, did: str
) -> InterpretationError:
    """The error of two parallel instances that access one cell."""
    error = InterpretationError(f"race: {now} {does} {cell}, which {before} {did}")
    return add_note(locate(error, now.op), before.op, f"{before} {did} it here")


def unordered_stores(cell: str, now: Operation, before: Operation) -> InterpretationError:
    """The error of two STOREs, or ATOMICADDs, that neither waits for the other."""
    message = f"race: two stores that neither waits for the other write {cell}"
    return add_note(locate(InterpretationError(message), now), before, "the other store is here")


def out_of_bounds(now: Instance, index: str, name: str, size: int) -> InterpretationError:
    """The error of an access outside of its memory of `size` elements."""
    by = f" by {now}" if now.iteration else ""
    message = f"out of bounds: an access{by} to element {index} of {name}, which has {size}"
    return locate(InterpretationError(message), now.op)


def not_written(now: Instance, cell: str) -> InterpretationError:
    """The error of a read of LOCAL memory that has no contents yet."""
    message = f"{now} reads {cell}, which no work item has written: local memory of a grid is not 0"
    return locate(InterpretationError(message), now.op)


def not_reached(now: Instance, missing: Instance, analysis: BlockAnalysis) -> InterpretationError:
    """The error of a BARRIER or an op of a warp that one work item reaches and another does not."""
    group = "warp" if tg.warp_of(now.op) > 1 else "workgroup"
    message = (
        f"a {now.op.name[3:]} is not reached by all work items of a {group}: {now} reaches it, "
        f"{missing} does not"
    )
    error = locate(InterpretationError(message), now.op)
    around = [op for op in analysis.scopes.of[now.op] if not is_parallel(op)]
    for op in around:
        add_note(error, op, f"it is inside this {op.name[3:]}")
    return error
