"""Which values of a function are worth a buffer, and which are computed where they are used.

A value is *realised* when a kernel of its own stores its elements, and *staged* when its kernel
keeps those that the loops around share in a small buffer of its own; every other value is fused:
computed again at every index that asks for it. What is asked for inside loops that it does not
depend on is computed once for all of them, so that reductions that share outer loops share a
kernel. The choice is about cost alone (`demand.py` has the prices); any choice gives the same
results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.demand import (
    LOAD,
    LOCAL_LOAD,
    LOCAL_STORE,
    STORE,
    Demand,
    Demands,
    demand_cost,
    is_storage,
)
from tgdialect.analysis.one_hot import constant_values, one_hot_mask
from tgdialect.analysis.positions import Index, Loop, surrounding, trips_of
from tgdialect.diagnostics import emit_remark, remarks_are_wanted
from tgdialect.ops.attributes import VOID
from tgdialect.ops.elementwise import ElementwiseOp, MulOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import FlipOp, MovementOp, PadOp, PermuteOp, ReshapeOp
from tgdialect.ops.properties import dtype_of, is_memory, shape_of, tensor
from tgdialect.ops.reduce import ReduceOp

LOCAL_BYTES = 64 * 1024
"""The greatest buffer inside a kernel."""

CHEAP = 12
"""What an element may cost for it to be computed where it is used, however often that is."""

FREE, MANY_RUNS = 1.5, 8
"""What a reduction's operand may cost, besides loading it, for the reduction to compute it for each
of its results, and from how many of those on it matters."""

MANY_MASKS = 64
"""How often a padded value is read for each of its elements for a copy to be worth while."""

SHORT_LOOP = 8
"""Up to so many iterations a reduction is like elementwise operations."""

_NEAR = 48
"""Demands that are followed to find the order of a root's loops."""

_MANY = 16
"""Demands of one value beyond which it gets a buffer without further thought."""


@dataclass
class Fusion:
    """What becomes of the values of a function. Values that are not here are fused."""

    realised: set[Operation] = field(default_factory=set[Operation])
    staged: dict[Operation, tuple[int, ...]] = field(
        default_factory=dict[Operation, tuple[int, ...]]
    )
    """The axes that the buffer has; the loops around fix the index of the others."""
    splits: dict[Operation, list[list[int]]] = field(
        default_factory=dict[Operation, list[list[int]]]
    )
    """For each axis of a root, the divisors at which its loop is split, the greatest first."""
    orders: dict[Operation, tuple[int, ...]] = field(
        default_factory=dict[Operation, tuple[int, ...]]
    )
    """The axes of a root in the order of its loops, the outermost first, where that is another."""


def plan_fusion(
    block: Block, is_closed: Callable[[ReduceOp], bool], stored: Set[Operation] = frozenset()
) -> Fusion:
    """Decide about every value of a function, in one walk from the roots to the leaves.

    `is_closed` says of a REDUCE that reads no memory whether it has a closed form. Those in
    `stored` get a buffer in any case.
    """
    return _Planner(is_closed, stored).plan(block)


class _Planner:
    def __init__(self, is_closed: Callable[[ReduceOp], bool], stored: Set[Operation]) -> None:
        self.is_closed = is_closed
        self.stored = stored
        self.fusion = Fusion()
        self.demands = Demands()
        self.asked: dict[SSAValue, dict[Demand, None]] = {}
        self.prices: dict[Operation, float] = {}
        """What an element of a value costs whatever is below it: it has a closed form, or a buffer,
        or will have: the values that long reductions end in count as stored where what uses them
        is decided."""
        self.axes: dict[Loop, tuple[Operation, int]] = {}
        """The axis of a root that a loop is for."""
        self.products: set[Operation] = set()
        """What products of matrices end in."""
        self.padded: set[Operation] = set()
        """The PADs of what products of matrices read."""
        self.has_reductions = False
        self.masks: set[Operation] = set()
        """What makes the masks that select: never stored."""

    def plan(self, block: Block) -> Fusion:
        constants = constant_values(block)
        self.has_reductions = any(isinstance(op, ReduceOp) for op in block.ops)
        for op in block.ops:
            if isinstance(op, ReduceOp):
                if self.is_closed(op):
                    self.prices[op] = 1
                elif mask := one_hot_mask(self.demands, op, constants):
                    self.demands.one_hot_sums.add(op)
                    self.masks |= mask
                elif self.is_long(op):
                    self.prices[_epilogue(op)] = LOAD
                    if self.is_product(op):
                        self.products.add(_epilogue(op))
                        self.padded.update(_pads(op))
        for op in reversed(block.ops):
            if isinstance(op, StoreOp):
                index = self.root_index(op, op.buffer)
                self.ask(Demand(op, op.value, index))
                self.ask(Demand(op, op.buffer, index))
                if op.gate is not None:
                    self.ask(Demand(op, op.gate, index if tensor(op.gate).get_shape() else ()))
            elif op.results and op.results[0].type != VOID:
                asked = self.asked.pop(op.results[0], None)
                if asked:
                    self.pass_on(op, self.decide(op, op.results[0], list(asked)))
        for root, axes in self.fusion.splits.items():
            self.fusion.splits[root] = [_chain(divisors) for divisors in axes]
        return self.fusion

    # -- demands

    def ask(self, demand: Demand) -> None:
        self.asked.setdefault(demand.value, {})[demand] = None

    def root_index(self, op: Operation, like: SSAValue) -> Index:
        """The index of a kernel's root: a loop for each axis."""
        index = self.demands.loops(shape_of(like))
        if order := self.loop_order(op, like, index):
            self.fusion.orders[op] = order
            index = self.demands.loops(shape_of(like), order=order)
        for axis, position in enumerate(index):
            for loop, _ in position.depends:
                self.axes[loop] = op, axis
        return index

    def loop_order(self, op: Operation, like: SSAValue, index: Index) -> tuple[int, ...]:
        """The order in which reductions that do not change with all axes run least often.

        Such a reduction is shared by the loops inside of those that it changes with: in a softmax
        over rows, the loop over columns is outside. Empty if the order of the axes is as good.
        """
        loops = [next((loop for loop, _ in position.depends), None) for position in index]
        natural = tuple(range(len(loops)))
        root = op.value if isinstance(op, StoreOp) else like
        if sum(loop is not None for loop in loops) < 2 or not self.has_reductions:
            return ()
        shared: dict[tuple[int, ...], float] = {}
        for demand in self.first_reductions(Demand(op, root, index)):
            changing = {loop for loop, _ in demand.depends}
            axes = tuple(axis for axis in natural if loops[axis] in changing)
            inner = next(iter(self.demands.operands(demand))).trips / max(demand.trips, 1)
            shared[axes] = shared.get(axes, 0) + inner

        def cost(order: Sequence[int]) -> float:
            total = 0.0
            for axes, inner in shared.items():
                around = order[: 1 + max((order.index(axis) for axis in axes), default=-1)]
                trips = (loop.trips for axis in around if (loop := loops[axis]) is not None)
                total += inner * math.prod(trips)
            return total

        orders = [natural, *((*axes, *(a for a in natural if a not in axes)) for axes in shared)]
        best = min(orders, key=cost)
        return () if best == natural else best

    def first_reductions(self, root: Demand) -> Iterator[Demand]:
        """The reductions nearest to a root that are not done for each of its elements."""
        everything = {loop for loop, _ in root.depends}
        stack, seen = [root], {root}
        while stack and len(seen) < _NEAR:
            demand = stack.pop()
            op = demand.value.owner
            if not isinstance(op, Operation) or is_storage(demand.value):
                continue
            if op in self.fusion.realised and demand is not root:
                continue
            if isinstance(op, ReduceOp) and op not in self.demands.one_hot_sums:
                if self.is_closed(op):
                    continue
                if not everything <= {loop for loop, _ in demand.depends}:
                    yield demand
                    continue
            for inner in self.demands.operands(demand):
                if inner not in seen:
                    seen.add(inner)
                    stack.append(inner)

    def pass_on(self, op: Operation, demands: Iterable[Demand]) -> None:
        for demand in demands:
            if isinstance(op, ReduceOp) or op in self.fusion.staged:
                self.split_loops(demand)
            if not is_storage(demand.value):
                for inner in self.demands.operands(demand):
                    self.ask(inner)

    def split_loops(self, demand: Demand) -> None:
        """What changes with the upper digits of a loop alone is to be outside of the others."""
        lowest: dict[Loop, int] = {}
        for loop, divisor in demand.depends:
            lowest[loop] = min(divisor, lowest.get(loop, divisor))
        for loop, divisor in lowest.items():
            if divisor > 1 and loop in self.axes:
                root, axis = self.axes[loop]
                rank = len(
                    shape_of(root.operands[0] if isinstance(root, StoreOp) else root.results[0])
                )
                axes = self.fusion.splits.setdefault(root, [[] for _ in range(rank)])
                axes[axis].append(divisor)

    # -- decisions

    def decide(self, op: Operation, value: SSAValue, asked: list[Demand]) -> list[Demand]:
        """The demands that are left: those given, or that of the kernel or loop that stores it."""
        if isinstance(op, LoadOp) or op in self.stored:
            return [self.realise(op, value)]
        if isinstance(op, PadOp):
            return [self.realise(op, value)] if self.is_masked_often(op, asked) else asked
        if not isinstance(op, ElementwiseOp | ReduceOp) or is_memory(value):
            return asked
        if op in self.masks or (isinstance(op, ReduceOp) and self.is_closed(op)):
            return asked
        fresh = Demand(op, value, self.demands.loops(shape_of(value)))
        elements = fresh.trips
        once = demand_cost(self.demands, [fresh], self.prices).cost
        is_hot = self.is_hot(op, asked, elements, once)
        if len(asked) == 1 and asked[0].trips <= elements and not is_hot:
            return asked
        reads = sum(demand.trips for demand in asked)
        buffered = once + STORE * elements + LOAD * reads
        many = len(asked) > _MANY
        again = None if many else demand_cost(self.demands, asked, self.prices)
        fused = again.cost if again and again.is_complete else math.inf
        row = self.staged_demand(value, asked)
        staged = math.inf
        if row is not None:
            inside = demand_cost(self.demands, [row], self.prices)
            if not self.is_contraction(inside.reductions, row):
                staged = inside.cost + LOCAL_STORE * row.trips + LOCAL_LOAD * reads
        if is_hot:
            fused = staged = math.inf
        elif once <= CHEAP * elements and not many:
            buffered = math.inf
        costs = {"fused": fused, "staged": staged, "buffered": buffered}
        choice = min(costs, key=costs.__getitem__)
        if remarks_are_wanted():
            self.remark(op, choice, asked, fresh, costs)
        if choice == "fused":
            return asked
        if choice == "staged" and row is not None:
            self.fusion.staged[op] = self.inner_axes(asked)
            self.prices[op] = LOCAL_LOAD
            return [row]
        return [self.realise(op, value)]

    def realise(self, op: Operation, value: SSAValue) -> Demand:
        self.fusion.realised.add(op)
        self.prices[op] = LOAD
        return Demand(op, value, self.root_index(op, value))

    def remark(
        self,
        op: Operation,
        choice: str,
        asked: Sequence[Demand],
        fresh: Demand,
        costs: dict[str, float],
    ) -> None:
        """Say what was chosen, and what each way would have cost."""
        what = {
            "fused": "fused: computed again where it is used",
            "staged": "staged: kept in a buffer of the kernel that uses it",
            "buffered": "split: stored by a kernel of its own",
        }
        reads = sum(demand.trips for demand in asked)
        prices = ", ".join(
            f"{way} {'never' if math.isinf(cost) else f'{cost:.4g}'}" for way, cost in costs.items()
        )
        emit_remark(
            op,
            f"{what[choice]} ({len(asked)} uses, {reads:.4g} reads of {fresh.trips:.4g} elements; "
            f"cost {prices})",
        )

    # -- staging

    @staticmethod
    def inner_axes(asked: Sequence[Demand]) -> tuple[int, ...]:
        """The axes at which demands differ."""
        first = asked[0].at
        return tuple(a for a in range(len(first)) if any(d.at[a] != first[a] for d in asked))

    def staged_demand(self, value: SSAValue, asked: Sequence[Demand]) -> Demand | None:
        """The element that a buffer inside the one kernel of all demands would be filled with.

        None where that is no way: more than one kernel asks, the buffer would be large, or some
        demand asks for elements more often than there are any.
        """
        root = asked[0].root
        if len(asked) < 2 or len(asked) > _MANY or any(d.root is not root for d in asked):
            return None
        inner = self.inner_axes(asked)
        shape = tensor(value).get_shape()
        extents = [shape[a] for a in inner]
        size = math.prod(extents) * dtype_of(value).itemsize
        if DYNAMIC_INDEX in extents or not 0 < size <= LOCAL_BYTES:
            return None
        first = asked[0].at
        outer = Demand(root, value, tuple(p for a, p in enumerate(first) if a not in inner))
        around = surrounding(outer.depends)
        loops = iter(self.demands.loops(tuple(extents), around))
        index = tuple(next(loops) if a in inner else p for a, p in enumerate(first))
        row = Demand(root, value, index)
        if any(demand.trips > row.trips for demand in asked):
            return None
        return row

    def is_hot(self, op: Operation, asked: Sequence[Demand], elements: float, once: float) -> bool:
        """Whether a value would be computed in the innermost loop of a reduction over and over, or
        is a product of matrices, which there has no tile of its own."""
        runs = self.runs_in_steps(asked)
        if op in self.products:
            return runs > 0 or any(demand.trips > elements for demand in asked)
        return once > (LOAD + FREE) * elements and runs >= MANY_RUNS * elements

    def is_masked_often(self, op: PadOp, asked: Sequence[Demand]) -> bool:
        """Whether a product, as a convolution, reads what is padded so often that masks in its
        steps take longer than a copy that has the padding in it."""
        if op not in self.padded or op.fill is None:  # Without, a buffer would need a mask as well.
            return False
        elements = trips_of(Demand(op, op.result, self.demands.loops(shape_of(op.result))).depends)
        return self.runs_in_steps(asked) >= MANY_MASKS * elements

    def runs_in_steps(self, asked: Sequence[Demand]) -> float:
        """How often a value would be computed in the loops of reductions; 0 outside of them."""
        loops = {loop for demand in asked for loop, _ in demand.depends if loop.trips > 1}
        if loops <= self.axes.keys():
            return 0
        return sum(trips_of(surrounding(demand.depends)) for demand in asked)

    def is_long(self, op: ReduceOp) -> bool:
        """Whether a reduction is more than a few elementwise operations."""
        before = Demand(op, op.source, self.demands.loops(shape_of(op.source)))
        after = Demand(op, op.result, self.demands.loops(shape_of(op.result)))
        return before.trips > SHORT_LOOP * after.trips

    def is_product(self, op: ReduceOp) -> bool:
        """Whether a reduction uses what it reads for several of its results: a product of matrices,
        a convolution."""
        if not isinstance(op.source.owner, MulOp):
            return False
        product = Demand(op, op.source, self.demands.loops(shape_of(op.source)))
        for demand in self.demands.operands(product):
            while isinstance(demand.value.owner, MovementOp):
                demand = next(iter(self.demands.operands(demand)))
            if len(demand.depends) == len(product.depends):
                return False
        return True

    def is_contraction(self, reductions: Iterable[Demand], row: Demand) -> bool:
        """Whether filling a buffer takes a long reduction for each of its elements."""
        own = trips_of(row.depends)
        return any(
            demand.trips >= own
            and next(iter(self.demands.operands(demand))).trips > SHORT_LOOP * demand.trips
            for demand in reductions
        )


def _epilogue(op: ReduceOp) -> Operation:
    """The last op of the chain of elementwise ops that a reduction's result goes through alone."""
    last: Operation = op
    value: SSAValue = op.result
    while True:
        users = {use.operation for use in value.uses}
        if len(users) != 1:
            return last
        (user,) = users
        if isinstance(user, ElementwiseOp) and tensor(user.result).get_shape() == shape_of(value):
            last = user
        elif not isinstance(user, ReshapeOp | PermuteOp | FlipOp):
            return last
        value = user.results[0]


def _pads(product: ReduceOp) -> Iterator[PadOp]:
    """The PADs among the movement of a product's operands."""
    factors = product.source.owner
    assert isinstance(factors, MulOp)
    for value in factors.operands:
        while isinstance(op := value.owner, MovementOp):
            if isinstance(op, PadOp):
                yield op
            value = op.operands[0]


def _chain(divisors: Sequence[int]) -> list[int]:
    """The divisors that divide each other, the greatest first."""
    result: list[int] = []
    for divisor in sorted(set(divisors), reverse=True):
        if not result or result[-1] % divisor == 0:
            result.append(divisor)
    return result
