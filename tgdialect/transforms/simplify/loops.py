"""Keeping the loops of ENDs and REDUCEs when a rewrite removes the use of a RANGE.

An op is in the loop of a RANGE because it depends on it. A rewrite like `(4i + j) mod 4 = j` may
remove the last use of `i` from a loop's body. Afterwards the loop is repaired:

* a loop of one iteration is removed;
* a STORE stays in its loop, by an AFTER that waits for the RANGE;
* a REDUCE of n equal values becomes one of them, n times it, or its n-th power.

A RANGE for which none of these is right is pinned: no rewrite may lose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import Ranges, closed_ranges, open_ranges
from tgdialect.analysis.validity import Validity
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.intervals import Interval
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp, dependent_ranges
from tgdialect.ops.properties import dtype_of, integers
from tgdialect.ops.reduce import ReduceOp

MAX_POWER = 1024
"""The greatest exponent of a power by repeated squaring, which takes 2 log2 n multiplications. A
longer product stays a loop."""


@dataclass
class Loops:
    """The loops of the values of one block, before simplification and now."""

    before: dict[Operation, Ranges] = field(default_factory=dict[Operation, Ranges])
    pinned: Ranges = frozenset()
    _known: dict[SSAValue, Ranges] = field(default_factory=dict[SSAValue, Ranges])

    @staticmethod
    def of(block: Block, min_max: MinMax, validity: Validity) -> Loops:
        """Find the loops of a block, and pin those that must keep their RANGE."""
        ops = list(block.ops)
        if not any(op.name == EndOp.name or op.name == ReduceOp.name for op in ops):
            return Loops()
        pinned: set[RangeOp] = set()
        for op in ops:
            if isinstance(op, ReduceOp):
                same = op.source.type == op.result.type and validity[op.source]
                for range in closed_ranges(op):
                    if not _is_foldable(op, trips(range, min_max)) or not (
                        same or integers(op, "axes")
                    ):
                        pinned.add(range)
            elif isinstance(op, EndOp) and any(effect is None for effect in _effects(op)):
                pinned.update(closed_ranges(op))
        return Loops(open_ranges(ops), frozenset(pinned))

    def open(self, value: SSAValue) -> Ranges:
        """The RANGEs whose loops a value is in now."""
        return dependent_ranges(value, self._known)

    def forget(self) -> None:
        """Ops have been given other operands."""
        self._known.clear()

    def keeps(self, old: SSAValue, new: SSAValue) -> bool:
        """Whether `new` may stand for `old`: it is in all the pinned loops that `old` is in."""
        return not self.pinned or not (self.open(old) & self.pinned) - self.open(new)


def _is_foldable(op: ReduceOp, times: Interval) -> bool:
    """Whether a REDUCE of `times` equal values can be computed without a loop. Zero times is not:
    the result is the identity."""
    if times == ONCE:
        return True
    dtype, kind = dtype_of(op.result), op.kind.data
    if times.lo < 1 or kind is ReduceKind.MAX or dtype.is_bool:
        return times.lo >= 1
    if dtype.is_float and op.ordered is not None:
        return False
    return kind is ReduceKind.ADD or (times.is_constant and times.hi <= MAX_POWER)


def _effects(end: EndOp) -> Iterator[StoreOp | AtomicAddOp | None]:
    """The stores that an END's loops are for; None for an effect that no AFTER can hold there."""
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


def trips(range: SSAValue | RangeOp, min_max: MinMax) -> Interval:
    """How many iterations a loop has."""
    op = range if isinstance(range, RangeOp) else range.owner
    assert isinstance(op, RangeOp)
    return min_max[op.bound]


ONCE = Interval(1, 1)


# -- END -----------------------------------------------------------------------------------------


def repair_end(op: EndOp, loops: Loops, min_max: MinMax) -> bool:
    """Repair an END whose body is in fewer loops than it closes. Whether anything changed."""
    lost = [v for v in op.ranges if v.owner not in loops.open(op.body)]
    if not lost:
        return False
    needed = [v for v in lost if trips(v, min_max) != ONCE]
    for effect in _effects(op):
        assert effect is not None, "the ranges of this END were pinned"
        held = [v for v in needed if v.owner in loops.before[effect]]
        if held:
            _hold(effect, held)
    closed = [v for v in op.ranges if v not in lost or v in needed]
    if closed:
        op.operands = (op.body, *closed)
    else:
        op.result.replace_all_uses_with(op.body)
        Rewriter.erase_op(op)
    loops.forget()
    return True


def _hold(effect: StoreOp | AtomicAddOp, ranges: Sequence[SSAValue]) -> None:
    """Make the location of an effect wait for ranges, which keeps the effect in their loops."""
    builder, location = OpBuilder.before(effect), effect.operands[0]
    index = location.owner
    if isinstance(index, IndexOp):
        after = builder.put(AfterOp(index.source, ranges))
        effect.operands[0] = builder.put(IndexOp(after, index.indices))
    else:
        effect.operands[0] = builder.put(AfterOp(location, ranges))
