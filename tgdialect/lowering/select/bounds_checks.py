"""Bounds checks: an access whose indices are not proven to be in range gets a gate.

The proof may assume that an existing gate of the access is true, because nothing is accessed where
that gate is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, interval, is_less
from tgdialect.analysis.conditions import conjuncts, order
from tgdialect.analysis.min_max import MinMax, MinMaxOfCells
from tgdialect.lowering.select.indices import Extent, LaneIndex, Scalar, is_ramp, is_sum
from tgdialect.lowering.select.scalars import Scalars
from tgdialect.ops import tg
from tgdialect.ops.intervals import add

_INDEX = tg.DTYPES[tg.INDEX]

Check = tuple[LaneIndex, Extent]
"""An index (or a vector of indices), and the extent of the axis that it indexes."""


class BoundsChecks:
    """Proofs about the index values of one kernel."""

    def __init__(self, scalars: Scalars) -> None:
        self._scalars = scalars
        self._intervals: dict[SSAValue | None, MinMax] = {None: MinMax()}
        """For each gate, the intervals of values under the assumption that it is true."""
        self._limits: dict[SSAValue | None, Sequence[tg.Polynomial]] = {None: ()}
        """For each gate, polynomials that are 0 or less where it is true."""
        self._proven: dict[tuple[Scalar, Scalar, SSAValue | None], bool] = {}
        """Whether one index is less than another one under a gate: lanes have parts in common."""

    def gate(self, checks: Sequence[Check], gate: SSAValue | None) -> SSAValue | None:
        """The gate of an access: the conjunction of `gate` and of each check that is not proven
        under it; None where there is no condition."""
        conditions = [] if gate is None else [gate]
        for index, extent in dict.fromkeys(checks):
            conditions += self._unproven(index, extent, gate)
        return self._scalars.all_of(conditions)

    def is_positive(self, extent: Extent) -> bool:
        """Whether an extent is proven to be 1 or more."""
        return self._interval(extent, self._intervals[None]).lo >= 1

    def _under(self, gate: SSAValue | None) -> MinMax:
        """The intervals of values where a gate is true."""
        if (known := self._intervals.get(gate)) is None:
            assert gate is not None
            assumed = implied_intervals(gate, of_all := self._intervals[None])
            has_lanes = bool(tg.tensor(gate).get_shape())
            known = MinMaxOfCells(assumed, of_all) if has_lanes else MinMax(assumed)
            self._intervals[gate] = known
        return known

    def _limits_under(self, gate: SSAValue | None) -> Sequence[tg.Polynomial]:
        """The inequalities that a gate is made of, as polynomials that are 0 or less."""
        if (known := self._limits.get(gate)) is None:
            assert gate is not None
            orders = [order(*condition) for condition in conjuncts([(gate, True)])]
            intervals = self._intervals[None]
            known = self._limits[gate] = [
                exact_polynomial(low, intervals) + margin - exact_polynomial(high, intervals)
                for low, high, margin in filter(None, orders)
            ]
        return known

    def _unproven(
        self, index: LaneIndex, extent: Extent, gate: SSAValue | None
    ) -> Sequence[SSAValue]:
        """The comparisons `0 <= index` and `index < extent` that are not proven.

        For a ramp it is enough to prove them at its first and last index, or in each lane, of which
        the gate may say something of its own: i + [0, 1] < 5 implies 8 * i + [0, 8] < 40.
        """
        ends = [index, index]
        if is_ramp(index):
            ends[1] = self._scalars.add(index.start, index.step * (index.lanes - 1))
            ends[0] = index.start
            if index.step < 0:
                ends.reverse()
        first, last = (cast(Scalar, end) for end in ends)
        result: list[SSAValue] = []
        if not self._is_less(-1, first, gate) and not any(
            self._is_less_by_limits(tg.Affine(constant=-1), lane, gate)
            for lane in self._in_lanes(index, gate)
        ):
            result.append(self._scalars.compare("cmpge", index, 0))
        if not self._is_less(last, extent, gate) and not any(
            self._is_less_by_limits(lane, self._exact(extent, self._under(gate)), gate)
            for lane in self._in_lanes(index, gate)
        ):
            result.append(self._scalars.compare("cmplt", index, extent))
        return result

    def _is_less(self, a: Scalar, b: Scalar, gate: SSAValue | None) -> bool:
        """Whether a is proven to be less than b where a gate is true."""
        if isinstance(a, int) and isinstance(b, int):
            return a < b
        if (known := self._proven.get((a, b, gate))) is None:
            known = self._proven[a, b, gate] = self._is_proven(a, b, gate)
        return known

    def _is_proven(self, a: Scalar, b: Scalar, gate: SSAValue | None) -> bool:
        intervals = self._under(gate)
        if self._interval(a, intervals).hi < self._interval(b, intervals).lo:
            return True
        # Intervals are not enough: compare polynomials, where a RANGE is less than its bound.
        low, high = self._exact(a, intervals), self._exact(b, intervals)
        if is_less(low, high, intervals):
            return True
        return self._is_less_by_limits(low, high, gate)

    def _is_less_by_limits(
        self, low: tg.Polynomial, high: tg.Polynomial, gate: SSAValue | None
    ) -> bool:
        """Whether one polynomial is less than another one, less a multiple of what is 0 or less
        where a gate is true: i < 5 implies 8 * i + 7 < 40."""
        return any(
            is_less(low - limit * factor, high, self._under(gate))
            for limit in self._limits_under(gate)
            for factor in _common_factors(low - high, limit)
        )

    def _in_lanes(self, index: LaneIndex, gate: SSAValue | None) -> Iterator[tg.Polynomial]:
        """A ramp in each of its lanes, whose number is an atom: a VCONST that counts the lanes in a
        condition of the gate."""
        if not is_ramp(index):
            return
        start, limits = self._exact(index.start, self._under(gate)), self._limits_under(gate)
        for atom in dict.fromkeys(a for limit in limits for term in limit.terms for a in term):
            op = atom.owner if isinstance(atom, SSAValue) else None
            if not isinstance(op, tg.VConstOp) or len(op.values) != index.lanes:
                continue
            first, *others = numbers = [*op.values.get_values()]
            step = others[0] - first if others else 0
            if step and numbers == [*range(first, first + step * index.lanes, step)]:
                factor, rest = divmod(index.step, step)
                if not rest:
                    yield start - factor * first + tg.Affine({(atom,): factor})

    def _exact(self, index: Scalar, intervals: MinMax) -> tg.Polynomial:
        """An index as a polynomial over the integers. A sum that might wrap becomes an atom, for
        which it is emitted into a register."""
        if is_sum(index):
            total = tg.polynomial(index.base) + index.distance
            if interval(total, intervals).within(_INDEX.low, _INDEX.high):
                return total
        return exact_polynomial(self._scalars.settled(index), intervals)

    def _interval(self, index: Scalar, intervals: MinMax) -> tg.Interval:
        if isinstance(index, int):
            return tg.Interval(index, index)
        if is_sum(index):
            distance = tg.Interval(index.distance, index.distance)
            return add(_INDEX, intervals[index.base], distance)
        return intervals[index]


def _common_factors(of: tg.Polynomial, limit: tg.Polynomial) -> Sequence[int]:
    """The positive numbers times which a polynomial has a term of another one."""
    pairs = [(of.terms[p], factor) for p, factor in limit.terms.items() if p in of.terms]
    found = {own // factor for own, factor in pairs if own % factor == 0}
    return sorted(factor for factor in found if factor > 0)


def implied_intervals(gate: SSAValue, intervals: MinMax) -> dict[SSAValue, tg.Interval]:
    """The intervals that a true gate implies for the integers that it compares."""
    result: dict[SSAValue, tg.Interval] = {}
    for condition, holds in conjuncts([(gate, True)]):
        if (known := order(condition, holds)) is None:
            continue
        a, b, margin = known
        x, y = (result.get(v) or intervals[v] for v in (a, b))
        if x.lo + margin <= y.hi:  # Otherwise the gate is never true, and nothing is implied.
            result[a] = tg.Interval(x.lo, min(x.hi, y.hi - margin))
            result[b] = tg.Interval(max(y.lo, x.lo + margin), y.hi)
    return result
