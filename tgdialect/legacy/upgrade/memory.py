"""Which version of memory an access of a kernel sees.

The ops of a listing execute in order. In a graph, an access sees the STOREs that its location is
AFTER, so the order becomes AFTERs: a STORE makes a new version of its buffer, and a loop that reads
what its earlier iterations have written begins with a version AFTER its RANGE.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import gcd

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, interval
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import tg
from tgdialect.ops.properties import Atom


@dataclass
class Written:
    """A STORE since the present version of its buffer, and its position; None for a whole loop."""

    effect: SSAValue
    position: tg.Polynomial | None


@dataclass
class Loop:
    """An open loop, or at the bottom of the stack the kernel itself."""

    range: tg.RangeOp | None = None
    effects: list[SSAValue] = field(default_factory=list[SSAValue])
    """The STOREs, BARRIERs and loops directly in it."""
    outside: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The versions before the loop of the buffers that it writes."""
    positions: dict[SSAValue, list[tg.Polynomial | None]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Where it writes each buffer, in inner loops too; None is anywhere."""


class MemoryVersions:
    """The present version of each buffer, while the ops of a kernel are rewritten in order."""

    def __init__(self, builder: tg.OpBuilder) -> None:
        self.builder = builder
        self.intervals = MinMax()
        self.loops = [Loop()]
        self._ranges: dict[SSAValue, frozenset[tg.RangeOp]] = {}
        self._version: dict[SSAValue, SSAValue] = {}
        self._written: dict[SSAValue, list[Written]] = defaultdict(list)

    def ranges(self, value: SSAValue) -> frozenset[tg.RangeOp]:
        """The loops that a value is in."""
        return tg.dependent_ranges(value, self._ranges)

    # -- accesses --------------------------------------------------------------------------------

    def to_read(self, buffer: SSAValue) -> SSAValue:
        """The version of a buffer that a LOAD sees: with every STORE before it."""
        if written := self._written.pop(buffer, None):
            effects = [each.effect for each in written]
            self._version[buffer] = self.builder.put(tg.AfterOp(self._present(buffer), effects))
        return self._present(buffer)

    def to_write(self, buffer: SSAValue, position: SSAValue | None) -> SSAValue:
        """The version that a STORE writes: after those before it, unless all are of other cells."""
        where = self._polynomial(position)
        others = self._written[buffer]
        if where is None or not all(self._differ(each.position, where) for each in others):
            return self.to_read(buffer)
        return self._present(buffer)

    def wrote(self, buffer: SSAValue, position: SSAValue | None, effect: SSAValue) -> None:
        """Record a STORE."""
        where = self._polynomial(position)
        self._written[buffer].append(Written(effect, where))
        self.effect(effect)
        for loop in self.loops:
            loop.positions[buffer].append(where)

    def synchronise(self, barrier: Callable[[Sequence[SSAValue]], SSAValue]) -> None:
        """A BARRIER: every later access of any buffer is after it."""
        effects = [each.effect for written in self._written.values() for each in written]
        point = barrier(effects)
        for buffer in {**self._version, **self._written}:
            self._written.pop(buffer, None)
            self._version[buffer] = self.builder.put(tg.AfterOp(self._present(buffer), (point,)))
        self.effect(point)

    def effect(self, effect: SSAValue) -> None:
        """Record an effect that no version of memory is after: the innermost loop has it."""
        self.loops[-1].effects.append(effect)

    @property
    def effects(self) -> list[SSAValue]:
        """The writes outside of all loops, and the loops themselves."""
        return self.loops[0].effects

    def _present(self, buffer: SSAValue) -> SSAValue:
        return self._version.get(buffer, buffer)

    def _polynomial(self, position: SSAValue | None) -> tg.Polynomial | None:
        return None if position is None else exact_polynomial(position, self.intervals)

    def _differ(self, a: tg.Polynomial | None, b: tg.Polynomial) -> bool:
        """Whether two positions differ, in the same and in different iterations of the loops that
        are open."""
        if a is None:
            return False
        difference = a - b
        if not difference.terms:
            # From one iteration to another a position changes by multiples of the greatest divisor.
            divisor = gcd(*(c for atoms, c in b.terms.items() if self._changes(atoms)))
            distance = difference.constant
            if distance % divisor if divisor else distance:
                return True
        x, y = interval(a, self.intervals), interval(b, self.intervals)
        return x.hi < y.lo or y.hi < x.lo

    def _changes(self, atoms: Iterable[Atom]) -> bool:
        """Whether some of the factors of a term change in loops that are open."""
        around = {loop.range for loop in self.loops}
        values = (atom for atom in atoms if isinstance(atom, SSAValue))
        return any(not around.isdisjoint(self.ranges(value)) for value in values)

    # -- loops -----------------------------------------------------------------------------------

    def enter(
        self, range: tg.RangeOp, written: Collection[SSAValue], carried: Collection[SSAValue]
    ) -> None:
        """Begin a loop that writes some buffers; its iterations read what earlier ones wrote to the
        buffers in `carried`."""
        loop = Loop(range)
        for buffer in written:
            outside = loop.outside[buffer] = self.to_read(buffer)
            if buffer in carried:
                after = tg.AfterOp(outside, (range.result,))
                self._version[buffer] = self.builder.put(after)
        if carried:
            keep_order(range)
        self.loops.append(loop)

    def leave(self) -> Sequence[SSAValue]:
        """End the innermost loop, and return its effects: its END, unless it has none or none
        depends on it. Iterations that may write the same cell keep their order."""
        loop = self.loops.pop()
        assert loop.range is not None
        effects = loop.effects
        if any(loop.range in self.ranges(effect) for effect in effects):
            body = effects[0] if len(effects) == 1 else self.builder.put(tg.GroupOp(effects))
            effects = [self.builder.put(tg.EndOp(body, (loop.range.result,)))]
        for buffer, outside in loop.outside.items():
            if not self._are_distinct(loop.positions[buffer], loop.range):
                keep_order(loop.range)
            self._version[buffer] = outside
            self._written[buffer] = [Written(effect, None) for effect in effects]
        self.loops[-1].effects += effects
        return effects

    def _are_distinct(self, positions: Sequence[tg.Polynomial | None], range: tg.RangeOp) -> bool:
        """Whether two iterations of a loop never write the same cell.

        Each position is a multiple of the iterator, plus what is equal in all iterations, plus what
        inner loops add, which has to be less than the multiple.
        """
        around = {loop.range for loop in self.loops}
        steps: set[int] = set()
        fixed: set[tg.Polynomial] = set()
        low, high = set[float](), set[float]()
        for position in positions:
            if position is None:
                return False
            step = 0
            same: tg.Polynomial = tg.Affine()
            inner: tg.Polynomial = tg.Affine(constant=position.constant)
            for atoms, coefficient in position.terms.items():
                values = [atom for atom in atoms if isinstance(atom, SSAValue)]
                ranges = {r for value in values for r in self.ranges(value)}
                if atoms == (range.result,):
                    step = coefficient
                elif range in ranges:
                    return False
                elif ranges <= around:
                    same += tg.Affine({atoms: coefficient})
                else:
                    inner += tg.Affine({atoms: coefficient})
            steps.add(abs(step))
            fixed.add(same)
            found = interval(inner, self.intervals)
            low.add(found.lo)
            high.add(found.hi)
        return len(steps) == len(fixed) == 1 and steps.pop() > max(high) - min(low)


def keep_order(range: tg.RangeOp) -> None:
    """Let the iterations of a loop execute one after the other."""
    range.properties["axis_type"] = tg.AxisTypeAttr(tg.AxisType.REDUCE)
