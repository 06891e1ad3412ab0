"""The ops that need no visit in a walk over a block that was simplified before.

A visit depends on the op and on what it is computed from. If neither has changed since the last
walk, the visit would find again that no rewrite applies, so the engine only registers the op for
value numbering. OptOps simplify a kernel several times, and change a part of it each time.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg

_OF_USES = frozenset(
    (
        *("tg.where", "tg.and", "tg.or"),
        *("tg.cmplt", "tg.cmpge", "tg.cmple", "tg.cmpne", "tg.cmpeq"),
    )
)
"""Ops whose rewrites also depend on other uses of their operands or their result: operands that
nothing else reads are simplified under a condition, and a comparison of a clamp stays."""


class Settled:
    """The state of each op after the last walk, and the values that this walk has found changed."""

    def __init__(self) -> None:
        self._before: dict[Operation, Hashable] = {}
        self._now: dict[Operation, Hashable] = {}
        self._changed: set[SSAValue] = set()

    def begin(self) -> None:
        """Begin a walk over the block that the last walk has left."""
        self._before, self._now = self._now, {}
        self._changed.clear()

    def forget(self) -> None:
        """Have the next walk visit all ops."""
        self._now.clear()

    @property
    def is_first(self) -> bool:
        """Whether no walk was before this one."""
        return not self._before

    def note(self, op: Operation, key: Hashable) -> None:
        """Note that no rewrite applies to an op; `key` has its operands and properties."""
        self._now[op] = _facts(op, key)

    def is_same(self, op: Operation, key: Hashable) -> bool:
        """Whether an op, and all that it is computed from, is as the last walk has left it."""
        before = self._before.get(op)
        if before == _facts(op, key) and self._changed.isdisjoint(op.operands):
            return True
        self._changed.update(op.results)
        return False


def _facts(op: Operation, key: Hashable) -> Hashable:
    """The facts that rewrites of an op and of its users may depend on: of a RANGE only its
    extent."""
    return op.operands[0] if type(op) is tg.RangeOp else key


def depends_on_context(op: Operation) -> bool:
    """Whether the rewrites of an op depend on more than what it is computed from."""
    return (
        op.name in _OF_USES
        or type(op) is tg.ReduceOp
        or (type(op) is tg.LoadOp and op.gate is not None)
    )
