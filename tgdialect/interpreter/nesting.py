"""The order of a kernel's ops, with its stepped loops: a LINEAR as it stands, a graph sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import errors_at, locate
from tgdialect.interpreter.scopes import Scopes
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.reduce import ReduceOp


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


def _shown(cycle: Sequence[Item]) -> Operation:
    """The op of a cycle that an error is reported at: one that accesses memory, if there is one."""
    ops = [
        item.range if isinstance(item, Loop) else item.op if isinstance(item, Accumulate) else item
        for item in cycle
    ]
    return next((op for op in ops if isinstance(op, LoadOp | StoreOp | AtomicAddOp)), ops[0])


def nested(block: Block, stepped: set[RangeOp]) -> list[Item]:
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


class Nest:
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
            with errors_at(op):
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
            message = (
                "cycle: the loops and the versions of memory of this kernel ask for two orders at "
                "once"
            )
            raise locate(InterpretationError(message), _shown(e.args[1])) from e

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
            closed = {r.owner for r in op.ranges if isinstance(r.owner, Operation)}
            if closed & set(self._stepped):
                item = Accumulate(op)
                self._level[item] = self._innermost(scope | closed)
                self._sorters[self._level[item]].add(item)
                self._depend(op, item)

    def _link(self, op: Operation, before: Iterable[Operation]) -> None:
        item: Item = op
        if isinstance(op, RangeOp):
            item = self._loops.get(op, op)
        elif isinstance(op, ReduceOp) and Accumulate(op) in self._level:
            item = Accumulate(op)
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner in self._scopes.of:
                self._depend(item, owner)
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
