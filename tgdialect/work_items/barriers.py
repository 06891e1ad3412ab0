"""Which BARRIERs a LINEAR for a grid needs.

Two accesses of different work items to one cell, of which one writes, need a BARRIER on every path
from one to the other. The analysis follows the order of execution, with the accesses that may have
happened since the last BARRIER as state. A loop is followed once more for its second iteration and,
if that has accesses left from the first, once more for all later ones.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.work_items.accesses import CellShape, Relation, WorkItems
from tgdialect.work_items.meetings import Meeting


@dataclass(eq=False)
class _Scope:
    """A loop, an IF, or the whole block (without `op`)."""

    op: Operation | None = None
    outer: tuple[_Scope, ...] = ()
    children: list[Operation | _Scope] = field(default_factory=list["Operation | _Scope"])
    has_accesses: bool = False
    end: int = 0
    """The position of the op that ends it."""

    def __post_init__(self) -> None:
        self.around = (*self.outer, self)
        """The scopes around and this one, the outermost first."""


@dataclass(eq=False)
class _Group:
    """Accesses of one scope whose indices differ by constants, as the STOREs of a register tile:
    where two of them meet depends on their distance alone."""

    scope: _Scope
    memory: SSAValue
    writes: bool
    is_atomic: bool
    shape: CellShape | None
    """None where the access may be of any cell."""


@dataclass(eq=False)
class _Access:
    """An access, with the cells that work items access."""

    access: MemoryAccess
    group: _Group
    first: int
    conflicting: set[_Earlier] = field(default_factory=set["_Earlier"])
    """The accesses before it that it conflicts with, as far as `compared` has them."""
    compared: set[_Earlier] = field(default_factory=set["_Earlier"])


class _Earlier(NamedTuple):
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


_State = Set[_Earlier]
_Pairs = list[tuple[_Earlier, _Access]]


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
        self.ops = ops_of(block)
        self.positions = {op: position for position, op in enumerate(self.ops)}
        found = [
            a for a in accesses(self.ops) if tg.place(a.memory).addrspace is not tg.AddrSpace.REG
        ]
        written = {a.memory for a in found if a.writes}
        read_only = {a.memory for a in found} - written
        self.items = WorkItems(self.ops, read_only)
        shared = [a for a in found if a.memory in written] if self.items.count > 1 else []
        self._accesses: dict[Operation, list[_Access]] = {a.op: [] for a in shared}
        self.scopes: dict[Operation, _Scope] = {}
        """The scope of each op, and of a BARRIER before it."""
        self._number = {op: i for i, op in enumerate(self._accesses)}
        self._meetings: dict[tuple[_Group, _Group, _Scope | None, int | None], Meeting | bool] = {}
        """By two groups, and how iterations relate."""
        self._root = _Scope()
        self._nest()
        self._find_cells(shared)

    def _nest(self) -> None:
        """Make the tree of loops and IFs."""
        of: dict[Operation | Block | None, _Scope] = {None: self._root}
        for op, around in tg.nesting(self.ops).items():
            scope = self.scopes[op] = of[around[-1] if around else None]
            for begin in op.closed_blocks if isinstance(op, tg.TgOp) else ():
                of[begin.owner].end = self.positions[op]
            if isinstance(op, tg.RangeOp | tg.IfOp):
                of[op] = _Scope(op, scope.around)
                scope.children.append(of[op])
            elif isinstance(op, tg.BarrierOp) or op in self._accesses:
                scope.children.append(op)
            if op in self._accesses:
                for each in scope.around:
                    each.has_accesses = True

    def _find_cells(self, shared: Iterable[MemoryAccess]) -> None:
        groups: dict[object, _Group] = {}
        for access in shared:
            scope, is_atomic = self.scopes[access.op], isinstance(access.op, tg.AtomicAddOp)
            gates = [each.op.gate for each in scope.around if isinstance(each.op, tg.IfOp)]
            shape, first = self.items.index_of(access, gates) or (None, 0)
            key = scope, access.memory, access.writes, is_atomic, shape
            group = groups.setdefault(key, _Group(*key))
            self._accesses[access.op].append(_Access(access, group, first))

    def start(self, scope: _Scope) -> int:
        """The position of the op that begins a scope."""
        return -1 if scope.op is None else self.positions[scope.op]

    # -- who reaches a BARRIER

    def blocked(self, barrier: Operation) -> Operation | None:
        """The innermost loop or IF around a BARRIER that not all work items may enter alike."""
        for each in reversed(self.scopes[barrier].around):
            if each.op is not None and self.items.varies(each.op.operands[0]):
                return each.op
        return None

    # -- conflicts

    def conflicts(self) -> Sequence[Conflict]:
        """The conflicts in order of execution. There may be several of two accesses."""
        return [self._conflict(*pair) for pair in self._pairs(frozenset())]

    def _pairs(self, inserted: Set[Operation]) -> _Pairs:
        """The accesses that conflict if there were a BARRIER before each op of `inserted` too."""
        found: _Pairs = []
        if self._accesses:
            self._follow(self._root, frozenset(), inserted, found)
        return found

    def _follow(
        self, scope: _Scope, before: _State, inserted: Set[Operation], found: _Pairs
    ) -> _State:
        """The state after one execution of a scope's body; conflicts are added to `found`."""
        state = set(before)
        for child in scope.children:
            op = child.op if isinstance(child, _Scope) else child
            if op in inserted or isinstance(op, tg.BarrierOp):
                state.clear()
            if isinstance(child, _Scope):
                state = {*self._enter(child, state, inserted, found)}
                continue
            for access in self._accesses.get(child, ()):
                self._compare(access, state)
                if not access.conflicting.isdisjoint(state):
                    pairs = [(each, access) for each in access.conflicting & state]
                    found += sorted(pairs, key=lambda pair: self._number[pair[0].access.access.op])
                state.add(_Earlier(access))
        return state

    def _enter(
        self, scope: _Scope, before: _State, inserted: Set[Operation], found: _Pairs
    ) -> _State:
        """The state after a loop or an IF."""
        first = self._follow(scope, before, inserted, found)
        if not isinstance(scope.op, tg.RangeOp):
            return before | first
        trips = self.items.intervals[scope.op.bound]
        after = first if trips.lo >= 1 else before | first
        if not scope.has_accesses or trips.hi <= 1:
            return after
        # The second iteration; and the later ones, for what no BARRIER has ended by then.
        second = self._follow(scope, _carried(first, scope, 1), inserted, found)
        left = {each for each in second if each.carrier is scope}
        if left and trips.hi > 2:
            second |= self._follow(scope, _carried(left, scope, None), inserted, found)
        # Outside of the loop, its iterations make no difference.
        return after | {_Earlier(e.access) if e.carrier is scope else e for e in second}

    def _compare(self, access: _Access, state: _State) -> None:
        """Find out which accesses of a state an access conflicts with: two work items may access
        one cell, and one of them writes it."""
        later, new = access.group, state - access.compared
        access.compared |= new
        for each in new:
            before, carrier, distance = each
            if before.group.memory is not later.memory:
                continue
            key = before.group, later, carrier, distance
            if (meeting := self._meetings.get(key)) is None:
                meeting = self._meetings[key] = self._meeting(each, later)
            if meeting is True or (meeting and meeting.at(access.first - before.first)):
                access.conflicting.add(each)

    def _meeting(self, earlier: _Earlier, later: _Group) -> Meeting | bool:
        """Where accesses of two groups, of one memory, conflict; False for nowhere, and True for
        everywhere."""
        before = earlier.access.group
        if not (before.writes or later.writes) or (before.is_atomic and later.is_atomic):
            return False
        if before.shape is None or later.shape is None:
            return True
        one, other = before.scope.around, later.scope.around
        same = {a.op for a, b in zip(one, other, strict=False) if a is b}
        if earlier.carrier is not None:
            same -= {each.op for each in one[one.index(earlier.carrier) :]}
        changed = {
            s.op for s in (*one, *other) if isinstance(s.op, tg.RangeOp) and s.op not in same
        }
        carrier = earlier.carrier and earlier.carrier.op
        relation = Relation(frozenset(changed), carrier, earlier.distance)
        return self.items.meeting(before.shape, later.shape, relation)

    def _depth(self, earlier: _Earlier, later: _Access) -> int:
        """The number of loops and IFs around a BARRIER between two accesses. It stands in the
        innermost scope around both, or in the loop that carries the conflict."""
        around = later.group.scope.around
        if earlier.carrier is not None:
            return around.index(earlier.carrier)
        pairs = zip(earlier.access.group.scope.around, around, strict=False)
        return sum(a is b for a, b in pairs) - 1

    def _conflict(self, earlier: _Earlier, later: _Access) -> Conflict:
        """The BARRIER stands before the loop or IF in its scope that has the later access, or
        before that."""
        depth, around = self._depth(earlier, later), later.group.scope.around
        inner = around[depth + 1].op if depth + 1 < len(around) else later.access.op
        assert inner is not None
        return Conflict(earlier.access.access, later.access, inner)

    # -- places

    def missing(self) -> Sequence[Operation]:
        """The fewest ops before which BARRIERs have to be inserted, in order of execution.

        Those of inner loops come first, as they have to be there for each iteration. Then each is
        as late as it can be, so that it orders as many pairs as it can. Raises ConflictError for a
        pair that no BARRIER can order.
        """
        chosen: dict[Operation, tuple[_Earlier, _Access]] = {}
        while found := self._pairs(chosen.keys()):
            deepest = max(self._depth(*pair) for pair in found)
            new = _Places(self)
            for pair in found:
                if self._depth(*pair) < deepest or new.order(*pair):
                    continue
                if new.may_order(*pair):
                    break
                conflict = self._conflict(*pair)
                if self.blocked(conflict.before) is not None or conflict.before in chosen:
                    raise ConflictError(conflict)
                chosen[conflict.before] = pair
                new.add(conflict.before)
        # Those between the accesses of an earlier one may have made it superfluous.
        later, doubtful = _Places(self), list[Operation]()
        for op, pair in reversed(chosen.items()):
            if later.may_order(*pair):
                doubtful.append(op)
            later.add(op)
        for op in reversed(doubtful):
            if not self._pairs(chosen.keys() - {op}):
                del chosen[op]
        return [op for op in self.ops if op in chosen]


class _Places:
    """Places of BARRIERs, of which each is in execution before an op.

    They answer without following the program: a program of n BARRIERs would be followed n times.
    """

    def __init__(self, barriers: Barriers) -> None:
        self._barriers = barriers
        self._sorted: list[int] = []

    def add(self, op: Operation) -> None:
        bisect.insort(self._sorted, self._barriers.positions[op])

    def order(self, earlier: _Earlier, later: _Access) -> bool:
        """Whether one of them is between two accesses on every path, as it is in a scope around
        them. There may be others that are, in loops beside the accesses."""
        first, second = earlier.access.group.scope.around, later.group.scope.around
        start, end = self._positions(earlier, later)
        if (carrier := earlier.carrier) is None:
            return any(scope in first and scope in second for scope in self._scopes(start, end))
        return any(
            carrier in scope.around and scope in first for scope in self._scopes(start, carrier.end)
        ) or any(
            carrier in scope.around and scope in second
            for scope in self._scopes(self._barriers.start(carrier), end)
        )

    def may_order(self, earlier: _Earlier, later: _Access) -> bool:
        """Whether one of them may be between two accesses on some path."""
        start, end = self._positions(earlier, later)
        if (carrier := earlier.carrier) is not None:
            start, end = self._barriers.start(carrier), carrier.end
        return bool(self._between(start, end))

    def _positions(self, earlier: _Earlier, later: _Access) -> tuple[int, int]:
        positions = self._barriers.positions
        return positions[earlier.access.access.op], positions[later.access.op]

    def _between(self, start: int, end: int) -> Sequence[int]:
        low, high = (bisect.bisect_right(self._sorted, at) for at in (start, end))
        return self._sorted[low:high]

    def _scopes(self, start: int, end: int) -> Iterator[_Scope]:
        """The scopes of those between two positions."""
        all = self._barriers
        return (all.scopes[all.ops[at]] for at in self._between(start, end))


def _carried(state: _State, loop: _Scope, distance: int | None) -> _State:
    """The state at the beginning of the next iteration of a loop, or of one after that."""
    return {
        _Earlier(each.access, loop, distance)
        if each.carrier in (None, loop) and loop in each.access.group.scope.around
        else each
        for each in state
    }
