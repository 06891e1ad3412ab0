"""Which indices are proven to be in range: the rest get a gate.

The proof may use that the access is gated already: where the gate is false nothing is accessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.bounds import exact_polynomial, is_less
from tgdialect.analysis.conditions import conjuncts, order
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.select.scalars import Index, Scalars
from tgdialect.ops.intervals import Interval

Check = tuple[Index, Index]
"""An index, and the extent of the axis that it is an index of."""


class Bounds:
    """Proofs about the index values of one kernel."""

    def __init__(self, scalars: Scalars) -> None:
        self._scalars = scalars
        self._intervals: dict[SSAValue | None, MinMax] = {None: MinMax()}
        """What is known of values wherever a gate is true."""

    def gate(self, checks: Sequence[Check], gate: SSAValue | None) -> SSAValue | None:
        """The gate of an access: `gate`, and every check that it does not imply."""
        conditions = [] if gate is None else [gate]
        intervals = self._under(gate)
        for index, extent in dict.fromkeys(checks):
            conditions += self._unproven(index, extent, intervals)
        return self._scalars.all_of(conditions)

    def is_positive(self, extent: Index) -> bool:
        """Whether an extent is proven to be 1 or more."""
        return (extent if isinstance(extent, int) else self._intervals[None][extent].lo) >= 1

    def _under(self, gate: SSAValue | None) -> MinMax:
        if (known := self._intervals.get(gate)) is None:
            assert gate is not None
            assumed = implied_intervals(gate, self._intervals[None])
            known = self._intervals[gate] = MinMax(assumed)
        return known

    def _unproven(self, index: Index, extent: Index, intervals: MinMax) -> Sequence[SSAValue]:
        if not isinstance(index, SSAValue) and isinstance(extent, int) and 0 <= index < extent:
            return ()
        of_index, of_extent = (
            Interval(i, i) if isinstance(i, int) else intervals[i] for i in (index, extent)
        )
        result: list[SSAValue] = []
        if of_index.lo < 0 and not _is_less(-1, index, intervals):
            result.append(self._scalars.compare("cmpge", index, 0))
        if of_index.hi >= of_extent.lo and not _is_less(index, extent, intervals):
            result.append(self._scalars.compare("cmplt", index, extent))
        return result


def _is_less(a: Index, b: Index, intervals: MinMax) -> bool:
    """Whether a is less than b because RANGEs are less than their bounds."""
    return is_less(*(exact_polynomial(i, intervals) for i in (a, b)), min_max=intervals)


def implied_intervals(gate: SSAValue, intervals: MinMax) -> dict[SSAValue, Interval]:
    """What the integers that a gate compares must be for it to be true."""
    result: dict[SSAValue, Interval] = {}
    for condition, holds in conjuncts([(gate, True)]):
        if (known := order(condition, holds)) is None:
            continue
        a, b, margin = known
        x, y = (result.get(v) or intervals[v] for v in (a, b))
        if x.lo + margin <= y.hi:  # else the gate is never true, and anything holds
            result[a] = Interval(x.lo, min(x.hi, y.hi - margin))
            result[b] = Interval(max(y.lo, x.lo + margin), y.hi)
    return result
