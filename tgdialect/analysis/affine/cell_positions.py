"""The cell that a location of memory is, as positions in loops: the normal form of accesses.

    index(%x[i // 2, i % 2]) of 6x2 cells  ==  index((reshape %x [12])[i])

Both are `(i // 2, i % 2)` along the axes of `%x`, and `i` in row-major order. The digits are those
of `positions.py`, in which `tg-rangeify` computes where it loads and stores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from math import inf
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tgdialect.analysis.affine.movement import moved
from tgdialect.analysis.affine.positions import (
    EXACT,
    Index,
    LoopVariable,
    Position,
    PositionAtom,
    Positions,
    interval_of,
)
from tgdialect.analysis.conditions import conjuncts, order
from tgdialect.analysis.memory_order import LocationNumbering
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import tg

_ARITHMETIC: Mapping[type, Callable[[Positions, Position, Position], Position]] = {
    tg.AddOp: Positions.add,
    tg.SubOp: Positions.sub,
    tg.MulOp: Positions.mul,
    tg.IDivOp: Positions.idiv,
    tg.ModOp: Positions.mod,
}


class CellPosition(NamedTuple):
    """A cell, or the cells that it is in all iterations."""

    axes: Index
    """The position along each axis of the memory."""
    flat: Position | None
    """The position in row-major order; None if extents are dynamic."""

    @property
    def forms(self) -> Iterator[Index]:
        """The positions along the axes, and the one in row-major order as that of a single axis."""
        yield self.axes
        if self.flat is not None:
            yield (self.flat,)


class CellPositions(Positions):
    """The locations of a kernel whose ops stay as they are, where a gate is true."""

    def __init__(self, intervals: MinMax, gate: SSAValue | None = None) -> None:
        super().__init__(intervals)
        self._numbering = LocationNumbering(intervals)
        self._gated = _iterations(gate, intervals)
        self._loops: dict[tg.RangeOp, tuple[LoopVariable, Position]] = {}
        self._known: dict[SSAValue, Position] = {}
        self._alike: dict[int, SSAValue] = {}
        self._dependent: dict[SSAValue, frozenset[tg.RangeOp]] = {}

    # -- locations

    def __getitem__(self, location: SSAValue) -> CellPosition | None:
        """The cell of a location; None if it is not one cell, or a view of another kind."""
        if tg.tensor(location).get_shape():
            return None
        index: Index = ()
        while isinstance(op := location.owner, tg.MovementOp | tg.AfterOp):
            if isinstance(op, tg.IndexOp):
                if any(tg.tensor(each).get_shape() for each in op.indices):
                    return None
                index = (*map(self.position, op.indices), *index)
            elif isinstance(op, tg.MovementOp):
                if (inner := moved(self, op, index)) is None:
                    return None
                index = inner
            location = op.operands[0]
        return CellPosition(index, self._flat(index, tg.tensor(location).get_shape()))

    def _flat(self, index: Index, shape: Sequence[int]) -> Position | None:
        if DYNAMIC_INDEX in shape:
            return None
        total: Position = tg.Affine()
        for position, extent in zip(index, shape, strict=True):
            total = self.add(total * extent, position)
        return total

    # -- values

    def position(self, value: SSAValue) -> Position:
        """An index as a position."""
        return tg.computed(value, self._known, self._operands, self._compute)

    @staticmethod
    def _operands(value: SSAValue) -> Iterable[SSAValue]:
        is_sum = type(value.owner) in _ARITHMETIC and value.type == tg.tensor_type(tg.INDEX)
        return tg.operands_of(value) if is_sum else ()

    def _compute(self, value: SSAValue) -> Position:
        if (interval := self.intervals[value]).is_constant:
            return tg.Affine(constant=int(interval.lo))
        if isinstance(op := value.owner, tg.RangeOp):
            return self._loop(op)[1]
        operands = [self._known[operand] for operand in self._operands(value)]
        if operands:
            found = _ARITHMETIC[type(op)](self, *operands)
            # Of a number that might wrap nothing is known.
            if interval_of(found).within(-EXACT, EXACT):
                return found
        value = self._alike.setdefault(self._numbering[value], value)
        loops = tg.dependent_ranges(value, self._dependent)
        return self.number_of(value, frozenset((self._loop(op)[0], 1) for op in loops))

    def _loop(self, op: tg.RangeOp) -> tuple[LoopVariable, Position]:
        """The variable of a loop, which begins at 0 with the first iteration where the gate may be
        true, and the value of the RANGE."""
        if (known := self._loops.get(op)) is None:
            extent, first = tg.known_index(op.bound), 0
            if extent is None:
                loop = LoopVariable(op.bound, max(self.intervals[op.result].hi + 1, 0))
            else:
                if (found := self._gated.get(op)) is not None:
                    first = max(int(found.lo), 0)
                    extent = max(min(int(found.hi), extent - 1) - first + 1, 0)
                loop = LoopVariable(extent, extent)
            known = self._loops[op] = loop, self.digit(loop) + first
        return known

    # -- questions

    def are_apart(self, a: CellPosition, b: CellPosition, loops: Set[tg.RangeOp]) -> bool:
        """Whether two locations are different cells in all iterations of some loops, which need
        not be the same for both."""
        varying = {self._loop(op)[0] for op in loops}
        return any(
            _differ(x, y, varying)
            for one, other in zip(a.forms, b.forms, strict=True)
            for x, y in zip(one, other, strict=True)
        )

    def is_own(self, a: CellPosition, b: CellPosition, loops: Iterable[tg.RangeOp]) -> bool:
        """Whether two locations are one cell in each iteration of some loops, and no two
        iterations have the same."""
        variables = [self._loop(op)[0] for op in loops]
        varying = set(variables)
        return any(
            one == other and _determines(one, varying)
            for one, other in zip(a.forms, b.forms, strict=True)
        )


def _iterations(gate: SSAValue | None, intervals: MinMax) -> Mapping[tg.RangeOp, tg.Interval]:
    """The iterations of loops for which a gate may be true, by comparisons of RANGEs alone."""
    found: dict[tg.RangeOp, tg.Interval] = {}
    for each in conjuncts([(gate, True)] if gate is not None else []):
        if (known := order(*each)) is None:
            continue
        most = intervals[known.high].hi - known.margin
        least = intervals[known.low].lo + known.margin
        for value, low, high in ((known.low, -inf, most), (known.high, least, inf)):
            if isinstance(op := value.owner, tg.RangeOp):
                now = found.get(op, intervals[value])
                found[op] = tg.Interval(max(now.lo, low), min(now.hi, high))
    return found


def _varies(atom: PositionAtom, loops: Set[LoopVariable]) -> bool:
    return any(loop in loops for loop, _ in atom.depends)


def _differ(a: Position, b: Position, varying: Set[LoopVariable]) -> bool:
    """Whether two positions are never equal, each in any iteration: by their intervals, or since
    their difference is no multiple of the divisor that their terms have."""
    apart: Position = tg.Affine(constant=a.constant - b.constant)
    divisor, low, high = 0, 0.0, 0.0
    for position, sign in ((a, 1), (b, -1)):
        for atom, factor in position.terms.items():
            if not _varies(atom, varying):
                apart += tg.Affine({atom: sign * factor})
                continue
            divisor = math.gcd(divisor, factor)
            ends = sign * factor * atom.interval.lo, sign * factor * atom.interval.hi
            low, high = low + min(ends), high + max(ends)
    divisor = math.gcd(divisor, *apart.terms.values())
    if apart.constant % divisor if divisor else apart.constant:
        return True
    interval = interval_of(apart)
    return interval.lo + low > 0 or interval.hi + high < 0


def _determines(index: Index, loops: Set[LoopVariable]) -> bool:
    """Whether an index is different in each iteration: along each axis it is a number whose digits
    are digits of loops, and all digits of each loop are in some axis."""
    digits: dict[LoopVariable, dict[int, int | None]] = {loop: {} for loop in loops}
    for position in index:
        varying = [(abs(f), atom) for atom, f in position.terms.items() if _varies(atom, loops)]
        if not all(atom.kind == "digit" for _, atom in varying):
            continue
        reach = 0.0
        varying.sort(key=lambda term: term[0])
        for factor, atom in varying:
            if factor <= reach:
                break
            reach += factor * atom.interval.hi
        else:
            for _, atom in varying:
                loop, divisor, extent = atom.digit
                digits[loop][divisor] = extent
    return all(_is_whole(loop, digits[loop]) for loop in loops)


def _is_whole(loop: LoopVariable, digits: Mapping[int, int | None]) -> bool:
    """Whether digits of a loop, by their divisors, are all of it."""
    if not isinstance(loop.extent, int):
        return 1 in digits and digits[1] is None
    divisor = 1
    while divisor < loop.extent and (extent := digits.get(divisor)):
        divisor *= extent
    return divisor >= loop.extent
