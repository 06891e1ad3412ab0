"""What simplification must not lose: the loops that an END or REDUCE closes.

An op is in the loop of a RANGE because it depends on it. A rewrite like `(4i + j) mod 4 = j` may take
the last use of `i` out of a loop's body, so this says afterwards what the loop is then:

* a loop of one iteration goes;
* a STORE stays in its loop, by an AFTER that waits for the RANGE;
* a REDUCE of n equal values is one of them, or n times it, or its n-th power.

Where none of these is right, the range is pinned: no rewrite may lose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import Ranges, closed_ranges, open_ranges
from tgdialect.ops.attributes import VOID, ReduceKind
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.dtypes import F32, INDEX
from tgdialect.ops.elementwise import CastOp, MulOp
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp, ranges_after
from tgdialect.ops.properties import dtype_of, tensor
from tgdialect.ops.reduce import ReduceOp

MAX_POWER = 1024
"""The greatest number of equal factors that are multiplied by repeated squaring."""


@dataclass
class Loops:
    """The loops of one block, before it is simplified and as it is."""

    before: dict[Operation, Ranges] = field(default_factory=dict[Operation, Ranges])
    pinned: Ranges = frozenset()
    _known: dict[SSAValue, Ranges] = field(default_factory=dict[SSAValue, Ranges])

    @staticmethod
    def of(block: Block, min_max: MinMax) -> Loops:
        """The loops of a block, those pinned that cannot do without their range."""
        ops = list(block.ops)
        closing = [op for op in ops if isinstance(op, EndOp) or _is_loop(op)]
        if not closing:
            return Loops()
        pinned: set[RangeOp] = set()
        for op in closing:
            if isinstance(op, ReduceOp):
                pinned.update(r for r in closed_ranges(op) if not _is_foldable(op, r, min_max))
            elif isinstance(op, EndOp) and any(effect is None for effect in _effects(op)):
                pinned.update(closed_ranges(op))
        return Loops(open_ranges(ops), frozenset(pinned))

    def open(self, value: SSAValue) -> Ranges:
        """The RANGEs whose loops a value is in now."""
        known = self._known
        stack = [value]
        while stack:
            v = stack[-1]
            owner = v.owner
            if v in known:
                stack.pop()
            elif isinstance(owner, Block):
                known[v] = frozenset()
            elif missing := [o for o in owner.operands if o not in known]:
                stack.extend(missing)
            else:
                known[v] = ranges_after(owner, [known[o] for o in owner.operands])
        return known[value]

    def forget(self) -> None:
        """Ops have been given other operands."""
        self._known.clear()

    def keeps(self, old: SSAValue, new: SSAValue) -> bool:
        """Whether `new` may stand for `old`: it is in all the pinned loops that `old` is in."""
        return not self.pinned or not (self.open(old) & self.pinned) - self.open(new)


def _is_loop(op: Operation) -> bool:
    return isinstance(op, ReduceOp) and bool(op.ranges)


def _effects(end: EndOp) -> Iterator[StoreOp | AtomicAddOp | None]:
    """The stores that an END's loops are for; None for an effect that an AFTER cannot hold there."""
    stack = [end.body]
    while stack:
        value = stack.pop()
        op = value.owner
        if isinstance(op, GroupOp):
            stack.extend(op.members)
        elif isinstance(op, EndOp):
            stack.append(op.body)
        else:
            yield op if isinstance(op, StoreOp | AtomicAddOp) else None


# -- END -----------------------------------------------------------------------------------------


def simplify_end(loops: Loops, min_max: MinMax, op: Operation) -> bool:
    """Repair an END whose body lost a range. Whether anything changed."""
    assert isinstance(op, EndOp)
    lost = [v for v in op.ranges if v.owner not in loops.open(op.body)]
    if not lost:
        return False
    kept = [v for v in op.ranges if v not in lost or min_max[_bound(v)].lo != min_max[_bound(v)].hi or min_max[_bound(v)].lo != 1]
    for value in lost:
        if value in kept:
            _hold(loops, op, value)
    if kept:
        op.operands = (op.body, *kept)
    else:
        op.result.replace_all_uses_with(op.body)
        Rewriter.erase_op(op)
    loops.forget()
    return True
