"""Which values of a function are stored in memory, and which are computed where they are used.

* A *realised* value is stored by a kernel of its own.
* A *local* value is stored in a LOCAL buffer of the kernel that uses it: the elements that do not
  change in the loops inside.
* Any other value is *fused*: computed again at every index at which it is used.

A fused value is computed outside of the loops that it does not depend on, so that reductions that
share outer loops share a kernel. The choice is about cost alone, with prices of `targets/costs.py`:
any choice gives the same results.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain

from xdsl.dialects.builtin import DYNAMIC_INDEX, f32
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.positions import (
    LoopVariable,
    depends_of,
    is_of_loops,
    loops_of,
    surrounding,
    trips_of,
)
from tgdialect.analysis.constants import derived_values
from tgdialect.analysis.limits import MANY
from tgdialect.analysis.one_hot import constant_values, scatters
from tgdialect.analysis.parts import REPAID
from tgdialect.diagnostics import (
    SHAPES,
    RemarkArgument,
    RemarkKind,
    emit_remark,
    kept_facts,
    remarks_are_wanted,
)
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.planning.axis_orders import axis_orders
from tgdialect.lowering.rangeify.planning.contractions import (
    all_elements,
    epilogue,
    has_narrow_factor,
    is_contraction,
    is_long,
    is_product,
    one_hot_mask,
    whole_total,
)
from tgdialect.lowering.rangeify.planning.demand import Demand, DemandCost, Demands, demand_cost
from tgdialect.lowering.rangeify.planning.loop_order import RootLoops
from tgdialect.lowering.rangeify.planning.online_blocks import blocks_of
from tgdialect.lowering.rangeify.planning.online_recognition import online_sums
from tgdialect.lowering.rangeify.planning.padding import (
    MANY_MASKS,
    MANY_WINDOWS,
    Padded,
    is_of_prefix,
    may_hold,
    padded_value,
    padding,
)
from tgdialect.lowering.rangeify.planning.plan import Fusion
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.costs import CHEAP, FREE, LOAD, LOCAL_LOAD, LOCAL_STORE, STORE, own_cost
from tgdialect.targets.matrix import matrix_instructions

MAX_FUSED = REPAID * (LOAD + STORE)
"""The greatest cost of the elementwise ops that one kernel computes for an element, in the units of
CHEAP; beyond it values that are not cheap get kernels of their own. With a greater limit long
chains take longer to compile, since equal parts are compiled once; with a smaller one there are
more passes through memory. By counting, kernels of `examples` and of `bench` have at most 80."""

_BLOCK_BUFFERS = 4
"""The LOCAL buffers like one of a product's rows that a kernel is assumed to need: scores,
exponentials and weights of an attention are three. Larger: fewer programs are fused; smaller: the
schedule has to make do with fewer rows than REPAID."""


@kept_facts(SHAPES)
def plan_fusion(
    block: Block,
    is_closed: Callable[[tg.ReduceOp], bool],
    is_valid: Callable[[SSAValue], bool],
    stored: Set[Operation],
    target: Target,
) -> Fusion:
    """Decide about every value of a function, in one walk from the roots to the leaves.

    `is_closed` says of a REDUCE that reads no memory whether it has a closed form, and `is_valid`
    of a value whether all of its cells are valid. The values of `stored` are realised in any case.
    LOCAL buffers fit into the memory of the target.
    """
    planner = _Planner(block, is_closed, is_valid, stored, target)
    orders = planner.plan().axis_orders
    if not planner.windows <= orders.keys():
        # Where vectors lie along windows, masks are those of lanes: a copy of the padding has none.
        planner = _Planner(block, is_closed, is_valid, stored, target, orders)
        planner.plan()
    for op, message, arguments in planner.remarks:
        kind = _KINDS.get(message.partition(":")[0], RemarkKind.ANALYSIS)
        emit_remark(op, message, "Fusion", kind, **arguments)
    return planner.fusion


@dataclass
class _Planner:
    """The walk of `plan_fusion`. A value is decided after all of its users."""

    block: Block
    is_closed: Callable[[tg.ReduceOp], bool]
    is_valid: Callable[[SSAValue], bool]
    stored: Set[Operation]
    target: Target
    ordered: Mapping[Operation, Sequence[int]] | None = None
    """If the roots of kernels may copy padding of which they read windows: those that may not."""

    def __post_init__(self) -> None:
        self.fusion = Fusion()
        self.demands = Demands()
        has_reductions = any(isinstance(op, tg.ReduceOp) for op in self.block.ops)
        self.roots = RootLoops(self.demands, self.is_closed, self.fusion, has_reductions)
        self.asked: dict[SSAValue, dict[Demand, None]] = {}
        """The demands for each value that has not been decided yet, or has a buffer."""
        self.prices: dict[Operation, float] = {}
        """The cost of an element of a value where its operands need not be followed: it has a
        closed form or a buffer, or is likely to get one, as results of long reductions are."""
        self.always = dict.fromkeys(self.stored, "realised: asked for before")
        """Values that are stored in any case, and why."""
        self.products: dict[Operation, bool] = {}
        """The last ops of the epilogues of products of matrices, and whether each is used in the
        epilogue of another one."""
        self.epilogues: set[Operation] = set()
        """The ops of these epilogues."""
        self.pads: dict[Operation, int] = {}
        """The PADs of operands of long reductions, and the reads per element that pay for a
        copy."""
        self.windows: set[Operation] = set()
        """The roots of kernels that would copy windows."""
        self.remarks: list[tuple[Operation, str, Mapping[str, RemarkArgument]]] = []
        """The remarks about the plan, which are reported if it is the one that is taken."""
        self.derived = derived_values(self.block)
        """The values that depend on constant arguments alone, and on which."""
        self.masks: set[Operation] = set()
        """The ops that make one-hot masks: never stored."""
        self.factors = {each.factor for each in matrix_instructions(self.target)}
        """The dtypes that matrix instructions multiply."""
        self.may_share_products = self.target.is_grid
        """Whether a kernel may keep the rows of a product in LOCAL memory. Elsewhere, and where a
        matrix instruction computes a product, only a kernel of its own has register tiles."""
        self.prefixes: set[Operation] = set()
        """The long reductions of prefixes, whose totals the loop over their results carries."""
        self.online: dict[Operation, bool] = {}
        """The ops inside of sums that are computed in one pass, and whether scores need them."""
        self.locations = _locations(self.block)
        """The views of memory of which more than the cells matters."""
        self.fused_cost: dict[Operation, float] = defaultdict(float)
        """The cost of the ops that the kernel of each root computes for an element."""

    def plan(self) -> Fusion:
        constants = constant_values(self.block)
        for op in ops_of(self.block):
            if isinstance(op, tg.LoadOp):
                self.always[op] = "realised: a copy of memory"
            elif isinstance(op, tg.ReduceOp):
                self.classify(op, constants)
        if self.may_share_products or not self.target.is_grid:
            self.find_online_sums()
        for op in reversed(ops_of(self.block)):
            if isinstance(op, tg.StoreOp):
                self.ask_operands(op)
            elif op.results and (asked := self.asked.get(op.results[0])):
                self.pass_on(op, self.decide(op, [*asked]))
                if op not in self.fusion.realised:
                    del self.asked[op.results[0]]
        self.fusion.splits, orders = self.roots.splits, {**self.fusion.orders}
        if not self.target.is_grid:
            self.order_axes()
        found: Sequence[tuple[Mapping[Operation, Sequence[object]], str, str]] = (
            (self.fusion.axis_orders, "axis order", "it costs the kernels that access it least"),
            (orders, "loop order", "reductions outside of loops run least often"),
            (self.fusion.splits, "loops split at", "values are the same for each part"),
        )
        for lists, name, why in found:
            for op, axes in lists.items():
                self.note(op, f"{name} {[*axes]}: {why}")
        return self.fusion

    def order_axes(self) -> None:
        """Decide in which order buffers have their axes, and the loops that store them."""
        constants = {a for a in self.block.args if "tg.constant" in tg.argument_attributes(a)}
        lanes = self.target.lanes(tg.DTYPES[f32].itemsize)
        roots = {op: i for op, i in self.roots.indices.items() if op not in self.fusion.online}
        # The buffer of a value that is stored inside of that of a PAD is the latter.
        padded = self.fusion.paddings
        for inside in padded.values():
            roots[inside.pad] = inside.at(roots.pop(inside.op))
        pads = {inside.pad for inside in padded.values()}
        reads: list[Demand] = []
        for root, value, at in chain(*self.asked.values()):
            if root in pads:
                continue
            if isinstance(op := value.owner, tg.TgOp) and (inside := padded.get(op)):
                value, at = inside.pad.result, inside.at(at)
            root = padded[root].pad if root in padded else root
            reads.append(Demand(root, value, at))
        orders = axis_orders(reads, roots, constants, lanes)
        for op, inside in padded.items():
            if inside.pad in orders:
                orders[op] = inside.order(orders[inside.pad])
        self.fusion.axis_orders = orders
        self.fusion.orders = {**orders, **self.fusion.orders}

    def classify(self, op: tg.ReduceOp, constants: set[Operation]) -> None:
        """Find out what kind of reduction a REDUCE is."""
        is_sum = op.kind.data is tg.ReduceKind.ADD
        if self.is_closed(op):
            self.prices[op] = 1
        elif mask := one_hot_mask(self.demands, op, constants):
            self.demands.one_hot_sums.add(op)
            self.masks |= mask
        elif scatters(op, constants) and (is_sum or not self.target.is_grid):
            last = whole_total(op)
            if not all(isinstance(user, tg.StoreOp) for user in tg.users_of(last)):
                # Only a kernel whose STOREs are this total runs a loop over the updates alone.
                self.always[last] = "realised: updates are joined with its cells"
        elif is_long(self.demands, op):
            ops, is_of_tile = epilogue(op), is_product(self.demands, op)
            is_added = is_of_tile and not self.target.is_grid and ops[-1] in self.products
            if is_added:
                # Another product is added to this one: two register tiles would share a kernel.
                ops = [each for each in ops if each not in self.epilogues]
            last = ops[-1]
            while isinstance(last, tg.CastOp) and self.is_widened(last):
                last = tg.behind(last.source, tg.MovementOp).owner
            assert isinstance(last, tg.TgOp)
            self.prices[last] = LOAD
            if is_of_tile:
                self.products[last] = is_added
                self.epilogues.update(ops)
                for pad in padding(op):
                    self.pads.setdefault(pad, MANY_MASKS)
                if self.target.matrix and has_narrow_factor(op):
                    self.may_share_products = False
            else:
                if any(map(is_of_prefix, padding(op))):
                    self.prefixes.add(op)
                if not self.target.is_grid:
                    windowed = (pad for pad in padding(op) if is_of_prefix(pad) is False)
                    self.pads.update(dict.fromkeys(windowed, MANY_WINDOWS))

    def find_online_sums(self) -> None:
        """Find the sums that are computed in one pass over blocks of steps: those whose rows a
        workgroup cannot keep in LOCAL memory."""
        for group in online_sums(self.block, self.is_valid, self.stored):
            size = group.steps * tg.dtype_of(group.scores).itemsize
            is_kept = self.target.is_grid and self.fit(group.results, size, self.target.local)
            if not is_kept and (blocks := blocks_of(group, self.target)) is not None:
                self.fusion.online[group.root] = group, blocks
                self.online.update(dict.fromkeys(group.inside, False))
                once = tg.Walk([group.scores])
                for value in once:
                    if isinstance(op := value.owner, tg.TgOp) and op in group.inside:
                        self.online[op] = True
                        once.add(op.operands)

    # -- demands

    def ask(self, demand: Demand) -> None:
        self.asked.setdefault(demand.value, {})[demand] = None

    def ask_operands(self, store: tg.StoreOp) -> None:
        """The demands of a STORE, which is the root of a kernel."""
        index = self.roots.index(store, store.buffer)
        self.ask(Demand(store, store.value, index))
        self.ask(Demand(store, store.buffer, index))
        if store.gate is not None:
            at = index if tg.tensor(store.gate).get_shape() else ()
            self.ask(Demand(store, store.gate, at))

    def pass_on(self, op: Operation, demands: Iterable[Demand]) -> None:
        """Ask for the operands of a value at the indices at which it is computed."""
        for demand in demands:
            self.fused_cost[demand.root] += own_cost(type(op))
            if isinstance(op, tg.ReduceOp) or op in self.fusion.local_axes:
                self.roots.split(demand)
            if not tg.is_storage(demand.value):
                for inner in self.demands.operands(demand):
                    self.ask(inner)

    # -- decisions

    def decide(self, op: Operation, asked: list[Demand]) -> list[Demand]:
        """Decide about a value; returns the indices at which it is computed: those that are asked
        for if it is fused, else those of the loops that store it."""
        # Some ops leave no choice.
        value = op.results[0]
        if op in self.fusion.online:
            rows, steps = self.fusion.online[op][1]
            remark = f"online: one pass over blocks of {rows} rows and {steps} steps"
            return self.realise(op, remark, Rows=rows, Steps=steps)
        if op in self.always:
            return self.realise(op, self.always[op])
        if op in self.prefixes and not all(is_of_loops(demand.at) for demand in asked):
            return self.realise(op, "realised: the loop over its results carries a total")
        if op in self.online:
            # A score is computed once, in the block that all sums share.
            return [min(asked, key=lambda demand: demand.trips)] if self.online[op] else asked
        if isinstance(op, tg.PadOp):
            return self.decide_padding(op, asked) if op in self.pads else asked
        # An INDEX is asked for twice as often by each INDEX of it by itself.
        is_gather = isinstance(op, tg.IndexOp) and len(asked) > 1 and value not in self.locations
        if not is_gather and (
            tg.is_memory(value) or not isinstance(op, tg.ElementwiseOp | tg.ReduceOp | tg.StackOp)
        ):
            return asked
        if self.is_never_stored(op):
            return asked
        # A value that is used once is fused, unless an inner loop would compute it.
        if not is_gather and self.is_worth_keeping(value, asked):
            return self.realise(op, "realised: constants alone decide it, so that it runs once")
        fresh = all_elements(self.demands, op, value)
        elements = fresh.trips
        # Few values are asked for where their cost matters, and each walk has up to 128 steps.
        once = cache(lambda: demand_cost(self.demands, [fresh], self.prices))
        longest = max(self.fused_cost[demand.root] for demand in asked) + own_cost(type(op))
        if not is_gather and longest > MAX_FUSED and once().cost > CHEAP * elements:
            return self.realise(op, f"realised: a kernel would compute more than {MAX_FUSED}")
        is_hot = not is_gather and self.is_hot(op, asked, elements, once)
        if len(asked) == 1 and asked[0].trips <= elements and not is_hot:
            return asked
        # The costs of realising, of fusing, and of a local buffer.
        cost, reads = once().cost, sum(demand.trips for demand in asked)
        realised = cost + STORE * elements + LOAD * reads
        has_many = len(asked) > MANY
        again = None if has_many else demand_cost(self.demands, asked, self.prices)
        fused = again.cost if again and again.is_complete else math.inf
        inner = self.inner_axes(asked)
        kept = None if is_gather else self.local(asked, inner, once, is_hot=is_hot)
        if is_hot:
            fused = math.inf
        elif cost <= CHEAP * elements and not has_many:
            realised = math.inf
        local = kept[1] if kept else math.inf
        costs = {"fused": fused, "local": local, "realised": realised}
        choice = min(costs, key=costs.__getitem__)
        if remarks_are_wanted():
            shown = {w: "never" if math.isinf(c) else f"{c:.4g}" for w, c in costs.items()}
            remark = (
                f"{choice}: {_WHAT[choice]} ({len(asked)} uses, {reads:.4g} reads of "
                f"{elements:.4g} elements; "
                f"cost {', '.join(f'{way} {cost}' for way, cost in shown.items())})"
            )
            ways = {way.capitalize(): cost for way, cost in shown.items()}
            self.note(op, remark, Uses=len(asked), Reads=reads, Elements=elements, **ways)
        if choice == "fused":
            return asked
        if choice == "local" and kept:
            return self.keep(op, inner, kept[0])
        return self.realise(op)

    def is_never_stored(self, op: Operation) -> bool:
        """Whether a value is computed wherever it is used: it is a mask, converted, or has a closed
        form."""
        is_closed = isinstance(op, tg.ReduceOp) and self.is_closed(op)
        return op in self.masks or is_closed or self.is_widened(op)

    def is_worth_keeping(self, value: SSAValue, asked: Sequence[Demand]) -> bool:
        """Whether a value that is computed once, since it depends on constant arguments alone, is
        kept for the kernels of each call, as the scale of a normalization. It must not have more
        bytes than what it is computed from: weights that are packed in few bits stay so."""
        if (arguments := self.derived.get(value)) is None:
            return False
        # A kernel that stores another such value is called once as well.
        asked = [d for d in asked if not self.derived.keys() & {*d.root.results}]
        memory = value, *arguments
        if not asked or not all(tg.tensor(each).has_static_shape() for each in memory):
            return False
        kept, *given = (
            math.prod(tg.tensor(v).get_shape()) * tg.dtype_of(v).itemsize for v in memory
        )
        reads = sum(demand.trips for demand in asked)
        cost = demand_cost(self.demands, asked, self.prices).cost
        return kept <= sum(given) and cost > (LOAD + FREE) * reads

    def is_widened(self, op: Operation) -> bool:
        """Whether an op converts computed floats to more bits. It is never stored on a grid, where
        memory takes the time, nor where matrix instructions take the narrow floats as factors."""
        if not isinstance(op, tg.CastOp):
            return False
        before, after = tg.dtype_of(op.source), tg.dtype_of(op.result)
        if not (before.is_float and after.is_float and before.bits < after.bits):
            return False
        return self.target.is_grid or before.name in self.factors

    def decide_padding(self, op: tg.PadOp, asked: list[Demand]) -> list[Demand]:
        """Copy padding that reductions read so often that the masks in their steps take longer than
        a copy: into a LOCAL buffer where one reduction reads windows of it, else by a kernel."""
        runs, least = self.runs_in_steps(asked), self.pads[op]
        if least == MANY_WINDOWS and len(asked) == 1:
            # The axes along which the steps of a reduction go.
            at, known = asked[0].at, self.roots.known
            inner = tuple(axis for axis, each in enumerate(at) if loops_of(each) - known)
            row = self.row_of(asked[0], inner)
            if row is not None and runs >= MANY_WINDOWS * row.trips:
                root = asked[0].root
                self.windows.add(root)
                if self.ordered is None or root in self.ordered:
                    return asked
                times = runs / max(row.trips, 1)
                remark = f"local: windows read {times:.3g} times as many elements"
                self.note(op, remark, Times=times)
                return self.keep(op, inner, row)
        elements = all_elements(self.demands, op, op.result).trips
        if runs < least * elements:
            return asked
        if (inside := self.padded_in_place(op)) is not None:
            self.always[inside.op] = "realised: stored inside of the buffer of what is padded"
            self.fusion.paddings[inside.op] = inside
        times = runs / max(elements, 1)
        remark = f"realised: reductions read each element {times:.3g} times"
        return self.realise(op, remark, Times=times)

    def padded_in_place(self, op: tg.PadOp) -> Padded | None:
        """The source of a PAD, if a kernel can store it inside of the PAD's buffer, so that nothing
        copies it; other readers read it there. Results of the function and values that are never
        stored are copied. So is everything on a grid, where launches of kernels for the border take
        longer."""
        if self.target.is_grid or (inside := padded_value(op)) is None:
            return None
        source, places = inside.value.owner, (self.fusion.paddings, self.fusion.online, self.online)
        fits = (
            isinstance(source, tg.ElementwiseOp | tg.ReduceOp | tg.StackOp)
            and not self.is_never_stored(source)
            and not any(source in place for place in places)
            and may_hold(inside, self.is_valid)
        )
        return inside if fits else None

    def realise(self, op: Operation, remark: str = "", **arguments: RemarkArgument) -> list[Demand]:
        """Have a kernel of its own store a value; the remark is the reason, unless it is noted."""
        if remark:
            self.note(op, remark, **arguments)
        self.fusion.realised.add(op)
        self.prices[op] = LOAD
        # Scores of blocks are computed outside of the loops that they do not depend on.
        inner = self.fusion.online[op][0].columns if op in self.fusion.online else ()
        return [Demand(op, op.results[0], self.roots.index(op, op.results[0], inner))]

    def keep(self, op: Operation, inner: tuple[int, ...], row: Demand) -> list[Demand]:
        """Have the one kernel that uses a value keep it in a LOCAL buffer of some axes."""
        self.fusion.local_axes[op] = inner
        self.prices[op] = LOCAL_LOAD
        return [row]

    def note(self, op: Operation, remark: str, **arguments: RemarkArgument) -> None:
        """Note the reason of a decision."""
        self.remarks.append((op, remark, arguments))

    # -- local buffers

    @staticmethod
    def inner_axes(asked: Sequence[Demand]) -> tuple[int, ...]:
        """The axes along which the indices of the demands differ. Those of a single demand whose
        loops are inside of loops that it does not depend on."""
        first = asked[0].at
        if len(asked) > 1:
            return tuple(a for a in range(len(first)) if any(d.at[a] != first[a] for d in asked))
        around = [{around for around, _ in surrounding(depends_of(each))} for each in first]
        named = loops_of(*first)
        return tuple(
            axis
            for axis, loops in enumerate(around)
            if any(loop.trips > 1 for loop in loops - named)
        )

    def local(
        self,
        asked: Sequence[Demand],
        inner: Sequence[int],
        once: Callable[[], DemandCost],
        *,
        is_hot: bool,
    ) -> tuple[Demand, float] | None:
        """The demand in the loops that would fill a LOCAL buffer for all demands, and the cost of
        that and of reading it.

        None where there can be no such buffer: demands come from more than one kernel, the buffer
        would be too large, or some demand reads fewer elements than filling it computes. The last
        is no reason where the steps of a product read the rows of a block. Products, and what their
        steps read, get buffers of their own, whose kernels have register tiles, except where each
        workgroup can keep rows in LOCAL memory that it declares, so that a processor has room for
        several.
        """
        root = asked[0].root
        is_block = is_hot and self.may_share_products
        is_few = (1 if is_block else 2) <= len(asked) <= MANY
        if root in self.fusion.online or not is_few or any(d.root is not root for d in asked):
            return None
        row = self.row_of(asked[0], inner)
        if row is None or not (is_block or all(d.trips <= row.trips for d in asked)):
            return None
        # A buffer of all axes is filled at the cost of a kernel that stores the value.
        is_whole = len(inner) == len(row.at) and not once().reductions
        inside = once() if is_whole else demand_cost(self.demands, [row], self.prices)
        if is_hot or is_contraction(self.demands, inside.reductions, row):
            around = surrounding(row.depends)
            rows = trips_of(frozenset(loop for loop in around if loop[0] in self.roots.known))
            size = row.trips / max(rows, 1) * tg.dtype_of(row.value).itemsize
            if not self.may_share_products or not self.fit(rows, size, self.target.declared_local):
                return None
        reads = sum(demand.trips for demand in asked)
        return row, inside.cost + LOCAL_STORE * row.trips + LOCAL_LOAD * reads

    def row_of(self, demand: Demand, inner: Sequence[int]) -> Demand | None:
        """The demand in loops of its own along some axes, and at the index of `demand` along the
        others; None where a LOCAL buffer of these axes would be too large, or has none."""
        root, value, at = demand
        shape = tg.tensor(value).get_shape()
        extents = tuple(shape[a] for a in inner)
        size = math.prod(extents) * tg.dtype_of(value).itemsize
        if not inner or DYNAMIC_INDEX in extents or not 0 < size <= self.target.local_buffer:
            return None
        outer = Demand(root, value, tuple(p for a, p in enumerate(at) if a not in inner))
        loops = iter(self.demands.loops(extents, surrounding(outer.depends)))
        index = tuple(next(loops) if a in inner else p for a, p in enumerate(at))
        return Demand(root, value, index)

    def fit(self, rows: float, size: float, local: int) -> bool:
        """Whether blocks of REPAID rows of some bytes fit into LOCAL memory, in each of which a
        load serves so many, and there are enough rows for all processors."""
        fits = REPAID * _BLOCK_BUFFERS * size <= local
        return fits and rows >= REPAID * self.target.units

    # -- inner loops

    def is_hot(
        self,
        op: Operation,
        asked: Sequence[Demand],
        elements: float,
        once: Callable[[], DemandCost],
    ) -> bool:
        """Whether fusing a value would compute it again and again in the inner loop of a reduction;
        of a product of matrices: at all, since only a kernel of its own has a register tile. One
        that computes several parts of it, as the gates of an LSTM, or other operands of a STACK
        would share the registers of a tile among these."""
        runs = self.runs_in_steps(asked)
        if op in self.products:
            has_parts = len(asked) > len({demand.root for demand in asked})
            is_part = any(isinstance(user, tg.StackOp) for user in tg.users_of(op))
            is_wider = any(demand.trips > elements for demand in asked)
            return runs > 0 or has_parts or is_part or is_wider or self.products[op]
        return runs >= REPAID * elements and once().cost > (LOAD + FREE) * elements

    def runs_in_steps(self, asked: Sequence[Demand]) -> float:
        """How often a value would be computed in the loops of reductions; 0 outside of them."""
        loops = set[LoopVariable]().union(*(loops_of(*demand.at) for demand in asked))
        if all(loop in self.roots.known or loop.trips <= 1 for loop in loops):
            return 0
        return sum(demand.trips for demand in asked)


def _locations(block: Block) -> set[SSAValue]:
    """The views that STOREs and CALLs may write, or of which there are later versions: a copy of
    the cells does not stand for them."""
    ops = (op for op in ops_of(block) if isinstance(op, tg.AfterOp | tg.StoreOp | tg.CallOp))
    walk = tg.Walk(
        v for op in ops for v in (op.operands if isinstance(op, tg.CallOp) else op.operands[:1])
    )
    for view in walk:
        if isinstance(owner := view.owner, tg.MovementOp | tg.AfterOp):
            walk.add(owner.operands[:1])
    return {*walk.seen}


_WHAT = {
    "fused": "computed again where it is used",
    "local": "kept in a buffer of the kernel that uses it",
    "realised": "stored by a kernel of its own",
}
"""The words of remarks for each choice."""

_KINDS = {
    **dict.fromkeys(("fused", "local", "online"), RemarkKind.PASSED),
    "realised": RemarkKind.MISSED,
}
"""The kinds of remarks that begin with these words."""
