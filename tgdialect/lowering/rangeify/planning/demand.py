"""The cost of computing an element, and the elements of operands that it needs.

A demand is a value at a symbolic index, inside the loops of one kernel. Its operands are followed
down to memory: this gives the work of the kernel if all values between are fused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import operand_indices
from tgdialect.analysis.affine.positions import (
    Dependence,
    Index,
    LoopVariable,
    Position,
    Positions,
    depends_of,
    interval_of,
    surrounding,
    trips_of,
)
from tgdialect.analysis.limits import MANY
from tgdialect.ops import tg
from tgdialect.targets.costs import LOAD, own_cost


class Demand(NamedTuple):
    """A value at an index, in the kernel whose root is given."""

    root: Operation
    value: SSAValue
    at: Index

    @property
    def depends(self) -> frozenset[Dependence]:
        return depends_of(*self.at)

    @property
    def trips(self) -> float:
        """The number of times that it is computed."""
        return trips_of(self.depends)


class Demands(Positions):
    """Follows demands. A REDUCE has the same loops whenever it is asked for at one index."""

    def __init__(self) -> None:
        super().__init__()
        self._loops: dict[Demand, Index] = {}
        self.one_hot_sums: set[Operation] = set()
        """Sums with a one-hot mask (`analysis/one_hot.py`): they have no loop."""

    def loops(
        self, shape: tg.Shape, outer: tuple[Dependence, ...] = (), order: Sequence[int] = ()
    ) -> Index:
        """A new loop for each axis, inside those given; `order` has the outermost axis first."""
        index: dict[int, Position] = {}
        for axis in order or range(len(shape)):
            extent = shape[axis]
            if not isinstance(extent, int) and not (bound := self.dim(extent)).terms:
                extent = bound.constant
            if isinstance(extent, int):
                trips = counted = max(extent, 0)
            else:
                trips = max(interval_of(self.dim(extent)).hi, 0)
                counted = min(trips, _UNKNOWN_TRIPS)
            loop = LoopVariable(extent, counted, outer)
            if trips != 1:
                outer = (*outer, (loop, 1))
            index[axis] = self.digit(loop)
        return tuple(index[axis] for axis in range(len(shape)))

    def operands(self, demand: Demand) -> Iterable[Demand]:
        """The elements that an element is computed from."""
        op = demand.value.owner
        follow = _FOLLOW.get(type(op))
        if follow is None:
            kinds = type(op).__mro__
            follow = _FOLLOW[type(op)] = next((_FOLLOW[k] for k in kinds if k in _FOLLOW), _nothing)
        return follow(self, demand, op)

    def elementwise(self, demand: Demand, op: tg.ElementwiseOp | tg.MovementOp) -> Iterable[Demand]:
        indices = operand_indices(self, op, demand.at)
        return [Demand(demand.root, op.operands[n], at) for n, at in indices]

    def reduce(self, demand: Demand, op: tg.ReduceOp) -> Iterable[Demand]:
        return (Demand(demand.root, op.source, self._reduced(demand, op)),)

    def after(self, demand: Demand, op: tg.AfterOp) -> Iterable[Demand]:
        return (demand._replace(value=op.buffer),)

    def load(self, demand: Demand, op: tg.LoadOp) -> Iterable[Demand]:
        root, _, index = demand
        yield Demand(root, op.buffer, index)
        if op.gate is not None and op.alt is not None:
            scalar = not tg.tensor(op.gate).get_shape()
            yield Demand(root, op.gate, () if scalar else index)
            yield Demand(root, op.alt, index)

    def stack(self, demand: Demand, op: tg.StackOp) -> Iterable[Demand]:
        root, _, index = demand
        known = index[0].constant if not index[0].terms else None
        for number, source in enumerate(op.sources):
            if known in (None, number):
                yield Demand(root, source, index[1:])

    def _reduced(self, demand: Demand, op: tg.ReduceOp) -> Index:
        if (known := self._loops.get(demand)) is None:
            axes, shape = tg.integers(op, "axes"), tg.shape_of(op.source)
            if op in self.one_hot_sums:
                interval = tg.Interval(0, math.inf)
                one = self._atom("selected", (demand,), interval, demand.depends)
                inner: Index = (tg.Affine({one: 1}),) * len(axes)
            else:
                inner = self.loops(tuple(shape[a] for a in axes), surrounding(demand.depends))
            at = dict(zip(axes, inner, strict=True))
            known = tuple(at.get(a, position) for a, position in enumerate(demand.at))
            self._loops[demand] = known
        return known

    def index(self, demand: Demand, op: tg.IndexOp) -> Iterable[Demand]:
        root, _, index = demand
        inner: list[Position] = []
        axis = 0
        for operand in op.indices:
            rank = len(tg.tensor(operand).get_shape())
            asked = Demand(root, operand, index[axis : axis + rank])
            axis += rank
            yield asked
            element = self._atom("element", asked, _ANYTHING, asked.depends)
            inner.append(tg.Affine({element: 1}))
        yield Demand(root, op.source, (*inner, *index[axis:]))

    def bitcast(self, demand: Demand, op: tg.BitcastOp) -> Iterable[Demand]:
        root, value, index = demand
        old, new = tg.dtype_of(op.source).itemsize, tg.dtype_of(value).itemsize
        if old == new:
            yield Demand(root, op.source, index)
        elif new < old:
            whole = self.idiv(index[-1], tg.Affine(constant=old // new))
            yield Demand(root, op.source, (*index[:-1], whole))
        else:
            first = index[-1] * (new // old)
            for part in range(new // old):
                yield Demand(root, op.source, (*index[:-1], first + part))


def _nothing(demands: Demands, demand: Demand, op: Any) -> Iterable[Demand]:
    return ()


_FOLLOW: dict[type, Callable[[Demands, Demand, Any], Iterable[Demand]]] = {
    Operation: _nothing,
    **dict.fromkeys((tg.ElementwiseOp, tg.MovementOp), Demands.elementwise),
    tg.ReduceOp: Demands.reduce,
    tg.AfterOp: Demands.after,
    tg.LoadOp: Demands.load,
    tg.IndexOp: Demands.index,
    tg.StackOp: Demands.stack,
    tg.BitcastOp: Demands.bitcast,
}
"""How an op's demand becomes demands for its operands, by class; the caches of subclasses are
filled as they are met."""

_ANYTHING = tg.Interval(-math.inf, math.inf)

_UNKNOWN_TRIPS = 1024
"""The extent that a dynamic dimension counts as, unless its maximum is less."""


class DemandCost(NamedTuple):
    """The cost of some demands together, and the reductions among all that they lead to.

    The walk is not complete if there were too many demands; the cost is greater then, and the value
    not worth computing twice. In a sorting network each step needs twice as many elements as the
    one before.
    """

    cost: float
    reductions: Sequence[Demand]
    is_complete: bool = True


def demand_cost(
    demands: Demands, roots: Iterable[Demand], stored: Mapping[Operation, float]
) -> DemandCost:
    """The cost of computing elements, each once per index.

    `stored` has the cost of reading a value that has a buffer; `roots` themselves are computed.
    """
    roots = list(roots)
    cost, walk = 0.0, tg.Walk(roots)
    first = {demand.value for demand in roots}
    reductions: list[Demand] = []
    for demand in walk:
        op = demand.value.owner
        if not isinstance(op, tg.TgOp) or not op.operands or tg.is_storage(demand.value):
            if not isinstance(op, tg.ConstOp):
                cost += LOAD * demand.trips
            continue
        if op in stored and demand.value not in first:
            cost += stored[op] * demand.trips
            continue
        if len(walk.seen) > MANY:
            return DemandCost(cost, reductions, is_complete=False)
        if price := own_cost(type(op)):
            cost += price * demand.trips
        inner = demands.operands(demand)
        if type(op) is tg.ReduceOp:
            reductions.append(demand)
            cost += sum(each.trips for each in inner)
        walk.add(inner)
    return DemandCost(cost, reductions)
