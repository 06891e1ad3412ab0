"""Repairs the loops of ENDs and REDUCEs after a rewrite has removed the use of a RANGE.

An op is in the loop of a RANGE because it depends on the RANGE. A rewrite like `(4i + j) mod 4 = j`
may remove the last use of `i` from a loop's body. The loop is then repaired:

* a loop of one iteration is removed;
* a STORE stays in its loop through an AFTER that depends on the RANGE;
* a REDUCE of n equal values v becomes v, n * v or v^n.

If no repair is correct for a RANGE, the RANGE is pinned: no rewrite may remove its last use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import Ranges, closed_ranges, open_ranges
from tgdialect.analysis.validity import Validity
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg

MAX_POWER = 1024
"""The greatest exponent of a power by repeated squaring, which takes 2 log2 n multiplications. A
longer product stays a loop."""


@dataclass
class Loops:
    """The loops of the values of one block: those before simplification, and the current ones."""

    before: dict[Operation, Ranges] = field(default_factory=dict[Operation, Ranges])
    pinned: Ranges = frozenset()
    _known: dict[SSAValue, Ranges] = field(default_factory=dict[SSAValue, Ranges])

    @staticmethod
    def of(block: Block, min_max: MinMax, validity: Validity) -> Loops:
        """Find the loops of a block, and pin the RANGEs whose loops could not be repaired."""
        ops = ops_of(block)
        if not any(op.name == tg.EndOp.name or op.name == tg.ReduceOp.name for op in ops):
            return Loops()
        pinned: set[tg.RangeOp] = set()
        for op in ops:
            if isinstance(op, tg.ReduceOp):
                same = op.source.type == op.result.type and validity[op.source]
                for range in closed_ranges(op):
                    if not _is_foldable(op, min_max[range.bound]) or not (
                        same or tg.integers(op, "axes")
                    ):
                        pinned.add(range)
            elif isinstance(op, tg.EndOp) and any(effect is None for effect in _effects(op)):
                pinned.update(closed_ranges(op))
        return Loops(open_ranges(ops), frozenset(pinned))

    def open(self, value: SSAValue) -> Ranges:
        """The RANGEs whose loops currently contain a value."""
        return tg.dependent_ranges(value, self._known)

    def forget(self) -> None:
        """Drop the cached loops, after ops have got other operands."""
        self._known.clear()

    def keeps(self, old: SSAValue, new: SSAValue) -> bool:
        """Whether `new` may replace `old`: every pinned loop that contains `old` contains `new`."""
        return not self.pinned or not (self.open(old) & self.pinned) - self.open(new)


def _is_foldable(op: tg.ReduceOp, times: tg.Interval) -> bool:
    """Whether a REDUCE of `times` equal values can be computed without a loop.

    It cannot if the loop may have no iterations: the result is then the identity, not the value.
    """
    if times == ONCE:
        return True
    dtype, kind = tg.dtype_of(op.result), op.kind.data
    if times.lo < 1 or kind is tg.ReduceKind.MAX or dtype.is_bool:
        return times.lo >= 1
    if dtype.is_float and op.ordered is not None:
        return False
    return kind is tg.ReduceKind.ADD or (times.is_constant and times.hi <= MAX_POWER)


def _effects(end: tg.EndOp) -> Iterator[tg.StoreOp | tg.AtomicAddOp | None]:
    """The stores in an END's body; None for an effect that no AFTER can keep in the loop."""
    walk = tg.Walk([end.body])
    for value in walk:
        op = value.owner
        if isinstance(op, tg.GroupOp):
            walk.add(op.members)
        elif isinstance(op, tg.EndOp):
            walk.add([op.body])
        else:
            yield op if isinstance(op, tg.StoreOp | tg.AtomicAddOp) else None


ONCE = tg.Interval(1, 1)
"""The iterations of a loop that runs exactly once."""


# -- END -----------------------------------------------------------------------------------------


def repair_end(op: tg.EndOp, loops: Loops, min_max: MinMax) -> bool:
    """Repair an END that closes loops in which its body no longer is.

    Returns whether anything changed.
    """
    ranges, inside = closed_ranges(op), loops.open(op.body)
    lost = [r for r in ranges if r not in inside]
    if not lost:
        return False
    # Keep each store in its former loops, except loops of one iteration.
    needed = [r for r in lost if min_max[r.bound] != ONCE]
    for effect in _effects(op):
        assert effect is not None, "the ranges of this END were pinned"
        held = [r.result for r in needed if r in loops.before[effect]]
        if held:
            _hold(effect, held)
    # Close the loops that are left; an END that closes none is its body.
    closed = [r.result for r in ranges if r not in lost or r in needed]
    if closed:
        op.operands = (op.body, *closed)
    else:
        op.result.replace_all_uses_with(op.body)
        Rewriter.erase_op(op)
    loops.forget()
    return True


def _hold(effect: tg.StoreOp | tg.AtomicAddOp, ranges: Sequence[SSAValue]) -> None:
    """Keep an effect in the loops of ranges: its location depends on them through an AFTER."""
    builder, location = tg.OpBuilder.before(effect), effect.operands[0]
    index = location.owner
    if isinstance(index, tg.IndexOp):
        after = builder.put(tg.AfterOp(index.source, ranges))
        effect.operands[0] = builder.put(tg.IndexOp(after, index.indices))
    else:
        effect.operands[0] = builder.put(tg.AfterOp(location, ranges))
