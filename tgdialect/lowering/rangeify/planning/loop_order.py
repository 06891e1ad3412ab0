"""The loops around a kernel's root: their order, and the divisors at which they are split.

Both decide how much work is hoisted: a value is computed once for all iterations of the loops that
it does not depend on, if these loops are inside the loops that it depends on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.positions import Index, LoopVariable, Position, loops_of
from tgdialect.lowering.rangeify.planning.demand import Demand, Demands
from tgdialect.lowering.rangeify.planning.plan import Fusion
from tgdialect.ops import tg

_NEAR = 48
"""Demands that are followed from a root to find the reductions that decide its loop order, of which
those of a normalization are a few ops away. Larger: planning takes longer (with 64 that of BERT 3 %
more calls); smaller: loops in orders that run reductions more often."""


@dataclass
class RootLoops:
    """Makes the loops of kernels' roots, and collects their orders and splits."""

    demands: Demands
    is_closed: Callable[[tg.ReduceOp], bool]
    fusion: Fusion
    has_reductions: bool

    def __post_init__(self) -> None:
        self.indices: dict[Operation, Index] = {}
        """The loops of each root."""
        self.known: set[LoopVariable] = set()
        """The loops of all roots, as opposed to the loops of reductions."""
        self._divisors = defaultdict[LoopVariable | None, set[int]](set)
        """The divisors of the digits of loops that hoisted values depend on."""

    @property
    def splits(self) -> dict[Operation, Sequence[Sequence[int]]]:
        """For each axis of a root, the divisors at which its loop is split, the greatest first."""
        axes = {root: [*map(_loop_of, index)] for root, index in self.indices.items()}
        return {
            root: [_chain(self._divisors.get(loop, ())) for loop in loops]
            for root, loops in axes.items()
            if not self._divisors.keys().isdisjoint(loops)
        }

    def index(self, root: Operation, like: SSAValue, inner: Sequence[int] = ()) -> Index:
        """The index of a kernel's root: a loop for each axis of `like`, in the cheapest order.
        The loops of the axes `inner` are innermost in any case; then the others are in order."""
        index = self.demands.loops(tg.shape_of(like))
        if inner:
            order = (*(a for a in range(len(index)) if a not in inner), *inner)
        else:
            order = self._order(root, like, index)
        if order:
            self.fusion.orders[root] = order
            index = self.demands.loops(tg.shape_of(like), order=order)
        self.known |= loops_of(*index)
        self.indices[root] = index
        return index

    def _order(self, root: Operation, like: SSAValue, index: Index) -> tuple[int, ...]:
        """The loop order that runs hoisted reductions least often; empty if that of the axes does.

        A reduction that depends on some of the axes runs once for each iteration of the loops
        around the innermost of them. In a softmax over the rows of a matrix, where the reductions
        depend on the column, the loop over columns has to be outside.
        """
        loops = [*map(_loop_of, index)]
        if sum(loop is not None for loop in loops) < 2 or not self.has_reductions:
            return ()
        # The steps of the reductions, by the axes that they depend on.
        natural = tuple(range(len(loops)))
        value = root.value if isinstance(root, tg.StoreOp) else like
        steps: dict[tuple[int, ...], float] = {}
        for demand in self._hoisted_reductions(Demand(root, value, index)):
            changing = loops_of(*demand.at)
            axes = tuple(axis for axis in natural if loops[axis] in changing)
            inner = next(iter(self.demands.operands(demand))).trips / max(demand.trips, 1)
            steps[axes] = steps.get(axes, 0) + inner

        trips = [1 if loop is None else loop.trips for loop in loops]

        def cost(order: Sequence[int]) -> float:
            def times(axes: Sequence[int]) -> float:
                around = order[: 1 + max((order.index(axis) for axis in axes), default=-1)]
                return math.prod(trips[axis] for axis in around)

            return sum(inner * times(axes) for axes, inner in steps.items())

        # For each set of axes, the order that has these outermost.
        orders = [natural, *((*axes, *(a for a in natural if a not in axes)) for axes in steps)]
        best = min(orders, key=cost)
        return () if best == natural else best

    def _hoisted_reductions(self, root: Demand) -> Iterator[Demand]:
        """The reductions nearest to a root that do not depend on all of its loops."""
        everything = loops_of(*root.at)
        walk = tg.Walk([root], _NEAR - 1)
        for demand in walk:
            op = demand.value.owner
            if not isinstance(op, tg.TgOp) or tg.is_storage(demand.value):
                continue
            if op in self.fusion.realised and demand is not root:
                continue
            if isinstance(op, tg.ReduceOp) and op not in self.demands.one_hot_sums:
                if self.is_closed(op):
                    continue
                if not everything <= loops_of(*demand.at):
                    yield demand
                    continue
            walk.add(self.demands.operands(demand))

    def split(self, demand: Demand) -> None:
        """Split root loops so that a hoisted value is outside of the digits it does not depend on.

        A value that depends on `i // 4` alone is computed once for 4 iterations if the loop of `i`
        is two loops, of `i // 4` and of `i % 4`.
        """
        lowest: dict[LoopVariable, int] = {}
        for loop, divisor in demand.depends:
            lowest[loop] = min(divisor, lowest.get(loop, divisor))
        for loop, divisor in lowest.items():
            if divisor > 1:
                self._divisors[loop].add(divisor)


def _loop_of(position: Position) -> LoopVariable | None:
    """The loop that goes along an axis; None for one of a single element."""
    return next(iter(loops_of(position)), None)


def _chain(divisors: Iterable[int]) -> list[int]:
    """The divisors, the greatest first, without those that do not divide the one before."""
    result: list[int] = []
    for divisor in sorted(divisors, reverse=True):
        if not result or result[-1] % divisor == 0:
            result.append(divisor)
    return result
