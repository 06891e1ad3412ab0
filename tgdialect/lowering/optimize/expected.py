"""The cycles that the cost model expects of a kernel, with whatever schedule it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tgdialect.analysis.cycles import Cycles, cycles
from tgdialect.analysis.features import Counter, Features, Tiling
from tgdialect.analysis.ranges import closed_ranges, is_expanded
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.ops import tg


class ExpectedNest(NamedTuple):
    """A nest of a kernel: what it does, and how long that takes on one core."""

    closer: tg.EndOp | tg.ReduceOp
    features: Features
    cycles: Cycles


def expected_nests(nests: Nests) -> Iterator[ExpectedNest]:
    """The nests of a kernel as it is executed on one core, inner nests first."""
    for closer, nest in nests.models.items():
        counter, tiling = Counter(nest, nests.target), tiling_of(nests, closer)
        features = counter.moved(counter.counted(tiling), tiling)
        yield ExpectedNest(closer, features, cycles(features, nests.target))


def tiling_of(nests: Nests, closer: tg.EndOp | tg.ReduceOp) -> Tiling:
    """How the expanded ranges of a kernel execute a nest."""
    ranges = [nests.axes.ranges[n] for n in nests.models[closer].order]
    sizes = {r.axis.data: nests.extent(r) for r in ranges if is_expanded(r)}
    return Tiling(next((r.axis.data for r in _vectors(nests.axes, closer, ranges)), None), sizes)


def _vectors(
    axes: Axes, closer: tg.EndOp | tg.ReduceOp, ranges: Sequence[tg.RangeOp]
) -> Iterator[tg.RangeOp]:
    """The range that the vectors of a nest lie along: one of its reduction, or the innermost one
    of the results of a nest that it is in."""
    kinds = tg.AxisType.GROUP_REDUCE, tg.AxisType.UPCAST
    for kind in kinds[isinstance(closer, tg.EndOp) :]:
        for range in reversed(ranges):
            if range.axis_type.data is kind:
                end = axes.ends.get(range)
                within = [r for r in closed_ranges(end) if is_expanded(r)] if end else [range]
                yield within[0]


def expected_cycles(nests: Nests) -> float:
    """The cycles of a kernel, those of the slowest of its threads."""
    threads = nests.target.threads
    total = sum(each.cycles.total for each in expected_nests(nests))
    shared = (r for r in nests.axes.ranges.values() if r.axis_type.data is tg.AxisType.THREAD)
    chunks = max((tg.known_index(range.bound) or threads for range in shared), default=1)
    return total * -(-chunks // threads) / chunks
