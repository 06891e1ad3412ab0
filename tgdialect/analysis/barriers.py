"""Which BARRIERs a LINEAR for a grid needs.

Two accesses of different work items to one cell, of which one writes, need a BARRIER on every path
from one to the other. The analysis follows the order of execution, with the accesses that may have
happened since the last BARRIER as state. A loop is followed once more for its second iteration and,
if that has accesses left from the first, once more for all later ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.work_items import CellIndex, Relation, WorkItems
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.codegen import AtomicAddOp, BarrierOp, EndIfOp, IfOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import place


@dataclass(eq=False)
class _Scope:
    """A loop, an IF, or the whole block (without `op`)."""

    op: Operation | None = None
    parent: _Scope | None = None
    children: list[Operation | _Scope] = field(default_factory=list["Operation | _Scope"])
    has_accesses: bool = False

    def around(self) -> list[_Scope]:
        """This scope and those around it, the outermost first."""
        scopes: list[_Scope] = []
        scope: _Scope | None = self
        while scope is not None:
            scopes.append(scope)
            scope = scope.parent
        return scopes[::-1]


@dataclass(eq=False)
class _Group:
    """Accesses of a scope whose indices differ by constants, as the STOREs of a register tile.

    Where no two cells of two groups meet, no pair of accesses has to be looked at.
    """

    scope: _Scope
    memory: SSAValue
    writes: bool
    is_atomic: bool
    index: CellIndex | None = None
    """The cells of all accesses."""


@dataclass(eq=False)
class _Access:
    """An access, with the cells that work items access."""

    access: MemoryAccess
    index: CellIndex | None
    group: _Group


@dataclass(frozen=True)
class _Earlier:
    """An access that may have happened since the last BARRIER."""

    access: _Access
    carrier: _Scope | None = None
    """The loop that is in a later iteration since then."""
    distance: int | None = None
    """How many iterations later, if that is known."""


@dataclass(frozen=True)
class Conflict:
    """Two accesses of different work items to one cell without a BARRIER on every path between."""

    earlier: MemoryAccess
    later: MemoryAccess
    before: Operation
    """The op that a BARRIER has to stand before."""
    blocked: Operation | None
    """The loop or IF that keeps some work items from reaching a BARRIER there."""
    depth: int
    """The number of loops and IFs around the place of the BARRIER."""


_State = frozenset[_Earlier]


class ConflictError(Exception):
    """A conflict that no BARRIER can order."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(conflict)
        self.conflict = conflict


class Barriers:
    """The accesses of a LINEAR that work items of a workgroup share, and their order.

    It is right for as long as only BARRIERs are inserted into or erased from the block.
    """

    def __init__(self, block: Block) -> None:
        self.ops = list(block.ops)
        found = [a for a in accesses(self.ops) if place(a.memory).addrspace is not AddrSpace.REG]
        written = {a.memory for a in found if a.writes}
        read_only = {a.memory for a in found} - written
        self.items = WorkItems(self.ops, read_only)
        shared = [a for a in found if a.memory in written] if self.items.count > 1 else []
        self._accesses: dict[Operation, list[_Access]] = {a.op: [] for a in shared}
        self._scopes: dict[Operation, _Scope] = {}
        self._meet: dict[Hashable, bool] = {}
        """By two accesses or two groups, and how iterations relate: whether they may meet."""
        self._root = _Scope()
        self._nest()
        self._group(shared)

    def _nest(self) -> None:
        """Make the tree of loops and IFs."""
        scope = self._root
        for op in self.ops:
            if isinstance(op, EndOp | EndIfOp):
                for _ in op.ranges if isinstance(op, EndOp) else (op,):
                    assert scope.parent is not None
                    scope = scope.parent
            self._scopes[op] = scope
            if isinstance(op, RangeOp | IfOp):
                inner = _Scope(op, scope)
                scope.children.append(inner)
                scope = inner
            elif isinstance(op, BarrierOp) or op in self._accesses:
                scope.children.append(op)
            if op in self._accesses:
                for each in scope.around():
                    each.has_accesses = True

    def _group(self, shared: Iterable[MemoryAccess]) -> None:
        """Find the cells of accesses, and the groups."""
        groups: dict[Hashable, _Group] = {}
        members: dict[_Group, list[CellIndex]] = defaultdict(list)
        for access in shared:
            scope, is_atomic = self._scopes[access.op], isinstance(access.op, AtomicAddOp)
            gates = [each.op.gate for each in scope.around() if isinstance(each.op, IfOp)]
            index = self.items.index_of(access, gates)
            kind = scope, access.memory, access.writes, is_atomic
            group = groups.setdefault((*kind, index and index.shape), _Group(*kind))
            self._accesses[access.op].append(_Access(access, index, group))
            if index is not None:
                members[group].append(index)
        for group, (first, *others) in members.items():
            group.index = first.joined(others)

    # -- who reaches a BARRIER

    def blocked(self, barrier: Operation) -> Operation | None:
        """The innermost loop or IF around a BARRIER that not all work items may enter alike."""
        return self._blocked(self._scopes[barrier])

    def _blocked(self, scope: _Scope) -> Operation | None:
        for each in reversed(scope.around()):
            if each.op is not None and self.items.varies(each.op.operands[0]):
                return each.op
        return None

    # -- conflicts

    def conflicts(self, inserted: Set[Operation] = frozenset()) -> list[Conflict]:
        """The conflicts in order of execution, if there were a BARRIER before each op of
        `inserted` too."""
        found: dict[tuple[Operation, Operation], Conflict] = {}
        if self._accesses:
            self._follow(self._root, frozenset(), inserted, found)
        return list(found.values())

    def _follow(
        self,
        scope: _Scope,
        state: _State,
        inserted: Set[Operation],
        found: dict[tuple[Operation, Operation], Conflict],
    ) -> _State:
        """The state after one execution of a scope's body; conflicts are added to `found`."""
        for child in scope.children:
            op = child.op if isinstance(child, _Scope) else child
            if op in inserted or isinstance(op, BarrierOp):
                state = frozenset()
            if isinstance(child, _Scope):
                state = self._enter(child, state, inserted, found)
                continue
            for access in self._accesses.get(child, ()):
                writes = access.group.writes
                for earlier in state:
                    if not writes and not earlier.access.group.writes:
                        continue
                    key = earlier.access.access.op, access.access.op
                    if key not in found and self._conflicts(earlier, access):
                        found[key] = self._conflict(earlier, access.access)
                state |= {_Earlier(access)}
        return state

    def _enter(
        self,
        scope: _Scope,
        before: _State,
        inserted: Set[Operation],
        found: dict[tuple[Operation, Operation], Conflict],
    ) -> _State:
        """The state after a loop or an IF."""
        first = self._follow(scope, before, inserted, found)
        if not isinstance(scope.op, RangeOp):
            return before | first
        trips = self.items.intervals[scope.op.bound]
        after = first if trips.lo >= 1 else before | first
        if not scope.has_accesses or trips.hi <= 1:
            return after
        # The second iteration; and the later ones, for what no BARRIER has ended by then.
        second = self._follow(scope, self._carried(first, scope, 1), inserted, found)
        left = {each for each in second if each.carrier is scope}
        if left and trips.hi > 2:
            second |= self._follow(scope, self._carried(left, scope, None), inserted, found)
        # Outside of the loop, its iterations make no difference.
        return after | {
            replace(e, carrier=None, distance=None) if e.carrier is scope else e for e in second
        }

    def _carried(self, state: Iterable[_Earlier], loop: _Scope, distance: int | None) -> _State:
        """The state at the beginning of the next iteration of a loop, or of one after that."""
        return frozenset(
            replace(each, carrier=loop, distance=distance)
            if each.carrier in (None, loop) and loop in each.access.group.scope.around()
            else each
            for each in state
        )

    def _conflicts(self, earlier: _Earlier, later: _Access) -> bool:
        """Whether two work items may access one cell, and one of them writes it."""
        before, one, other = earlier.access, earlier.access.group, later.group
        if one.memory is not other.memory:
            return False
        if one.is_atomic and other.is_atomic:
            return False
        for a, b in ((one, other), (before, later)):
            key = a, b, earlier.carrier, earlier.distance
            if key not in self._meet:
                how = self._relation(earlier, other.scope)
                self._meet[key] = self.items.may_meet(a.index, b.index, how)
            if not self._meet[key]:
                return False
        return True

    def _relation(self, earlier: _Earlier, later: _Scope) -> Relation:
        one, other = earlier.access.group.scope.around(), later.around()
        same = {a.op for a, b in zip(one, other, strict=False) if a is b}
        if earlier.carrier is not None:
            same -= {each.op for each in one[one.index(earlier.carrier) :]}
        changed = {s.op for s in (*one, *other) if isinstance(s.op, RangeOp) and s.op not in same}
        return Relation(changed, earlier.carrier and earlier.carrier.op, earlier.distance)

    def _conflict(self, earlier: _Earlier, later: MemoryAccess) -> Conflict:
        """The BARRIER stands in the innermost scope around both accesses, or in the loop that
        carries the conflict: before the loop or IF in there that has the later access, or before
        that."""
        around = self._scopes[later.op].around()
        if earlier.carrier is not None:
            depth = around.index(earlier.carrier)
        else:
            pairs = zip(earlier.access.group.scope.around(), around, strict=False)
            depth = sum(a is b for a, b in pairs) - 1
        scope = around[depth]
        inner = around[depth + 1].op if depth + 1 < len(around) else later.op
        assert inner is not None
        return Conflict(earlier.access.access, later, inner, self._blocked(scope), depth)

    # -- places

    def missing(self) -> Sequence[Operation]:
        """The fewest ops before which BARRIERs have to be inserted, in order of execution.

        Those of inner loops come first, as they have to be there for each iteration. Then each is
        as late as it can be, so that it orders as many pairs as it can. Raises ConflictError for a
        pair that no BARRIER can order.
        """
        chosen: dict[Operation, None] = {}
        while found := self.conflicts(chosen.keys()):
            deepest = max(found, key=lambda conflict: conflict.depth)
            if deepest.blocked is not None or deepest.before in chosen:
                raise ConflictError(deepest)
            chosen[deepest.before] = None
        for op in list(chosen):
            if not self.conflicts(chosen.keys() - {op}):
                del chosen[op]
        return [op for op in self.ops if op in chosen]
