"""The order of a kernel's ops, as a tree of loops: a LINEAR as it stands, a graph sorted.

The RANGEs in `looped` become loops; any other RANGE stays an op, whose value is all its iterations.
In a graph END and REDUCE say where loops end, and several of them may close one RANGE: the maximum,
the sum and the quotients of a softmax go over the same row. Each of them gets a loop of its own. If
memory carries a value from one iteration to the next (the RANGE is in `connected`), those that do
not depend on each other share one loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import locate
from tgdialect.interpreter.block_analysis import (
    Axis,
    BlockAnalysis,
    Scopes,
    is_parallel,
    is_work_item,
)
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED


@dataclass(eq=False)
class LoopBody:
    """A RANGE or SPECIAL and what is executed in each of its iterations."""

    axis: tg.RangeOp | tg.SpecialOp
    body: list[Item] = field(default_factory=list["Item"])


@dataclass(frozen=True)
class Accumulate:
    """The part of a REDUCE that is inside the loops over its ranges."""

    op: tg.ReduceOp


Item = Operation | LoopBody | Accumulate


def items_of(
    analysis: BlockAnalysis, looped: Collection[tg.RangeOp], connected: Collection[tg.RangeOp]
) -> list[Item]:
    """The ops of a block in an order of execution, with a loop for each range of `looped`."""
    if analysis.is_graph:
        return GraphNest(analysis, looped, connected).items()
    return _linear_items(analysis.block, looped)


def _linear_items(block: Block, looped: Collection[tg.RangeOp]) -> list[Item]:
    """The ops of a LINEAR as they stand, with a loop for each range of `looped`."""
    root: list[Item] = []
    bodies = [root]
    for op in block.ops:
        if isinstance(op, tg.RangeOp) and op in looped:
            loop = LoopBody(op)
            bodies[-1].append(loop)
            bodies.append(loop.body)
            continue
        if isinstance(op, tg.EndOp):
            closed = sum(range.owner in looped for range in op.ranges)
            del bodies[len(bodies) - closed :]
        bodies[-1].append(op)
    return root


@dataclass(frozen=True)
class _Closer:
    """An END, REDUCE or SINK, and the loops that it closes inside the current one, in order."""

    op: Operation
    nest: Sequence[tg.RangeOp]


@dataclass(frozen=True)
class _Unsorted:
    """The ops of a loop body, those of the loops inside it included, and where they go."""

    items: list[Item]
    ops: Sequence[Operation]
    around: frozenset[Operation]
    """The loops that the body is in."""
    closers: Sequence[_Closer]
    """The ops that close the innermost of them."""


class GraphNest:
    """The loops of a graph."""

    def __init__(
        self,
        analysis: BlockAnalysis,
        looped: Collection[tg.RangeOp],
        connected: Collection[tg.RangeOp],
    ):
        self._block, self._before, scopes = analysis.block, analysis.before, analysis.scopes
        self._looped = frozenset[Operation](looped)
        self._connected = frozenset(connected)
        # The loops that each op is in, and those that it closes, the outermost first.
        self._around: dict[Operation, frozenset[Operation]] = {}
        self._nests: dict[Operation, Sequence[tg.RangeOp]] = {}
        # The bit of each closer, and the closers that each op depends on, as a set of bits.
        self._bits: dict[Operation, int] = {}
        self._needs: dict[Operation, int] = {}
        for op in self._block.ops:
            around = scopes.of[op] & self._looped
            nest = self._nest(op, scopes, around)
            self._around[op] = around.difference(nest)
            needs = 0
            for operand in op.operands:
                if isinstance(operand.owner, Operation):
                    needs |= self._needs.get(operand.owner, 0)
            if nest:
                self._nests[op] = nest
                self._bits[op] = 1 << len(self._bits)
            self._needs[op] = needs | self._bits.get(op, 0)

    def items(self) -> list[Item]:
        """The tree of items, in an order of execution."""
        root: list[Item] = []
        unsorted = [_Unsorted(root, list(self._block.ops), frozenset(), ())]
        while unsorted:
            unsorted += self._sort(unsorted.pop())
        return root

    def _nest(
        self, op: Operation, scopes: Scopes, around: frozenset[Operation]
    ) -> Sequence[tg.RangeOp]:
        """The loops that an op closes. A SINK closes all that are still open."""
        if isinstance(op, tg.SinkOp):
            return [r for r in scopes.ranges if r in around]
        if not isinstance(op, tg.EndOp | tg.ReduceOp):
            return ()
        owners = (r.owner for r in op.ranges)
        nest = [r for r in owners if isinstance(r, tg.RangeOp) and r in self._looped]
        if isinstance(op, tg.EndOp):
            nest.reverse()
        # Expanded ranges are the innermost loops, wherever a closer lists them: tg-expand makes
        # them axes of values.
        return sorted(nest, key=lambda axis: axis.axis_type.data in EXPANDED)

    def _sort(self, body: _Unsorted) -> list[_Unsorted]:
        """Put the items of a body in order; returns the bodies of the loops among them."""
        members: dict[Item, Sequence[Operation]] = {
            op: (op,)
            for op in body.ops
            if op not in self._looped and self._around[op] <= body.around
        }
        begun = [
            _Closer(op, self._nests[op]) for op in body.ops if op in members and op in self._nests
        ]
        loops = self._loops([*body.closers, *begun])
        for closer in body.closers:
            if isinstance(closer.op, tg.ReduceOp) and not closer.nest:
                members[Accumulate(closer.op)] = (closer.op,)
        inner: list[_Unsorted] = []
        for loop, closers in loops.items():
            ops = self._inside(closers, body)
            members[loop] = ops
            inner.append(_Unsorted(loop.body, ops, body.around | {loop.axis}, closers))
        self._order(body.items, members, loops)
        return inner

    def _loops(self, closers: Iterable[_Closer]) -> dict[LoopBody, list[_Closer]]:
        """The loops that begin in a body, each with what closes it."""
        loops: dict[LoopBody, list[_Closer]] = {}
        for closer in closers:
            if not closer.nest:
                continue
            shared = (
                loop
                for loop, others in loops.items()
                if loop.axis is closer.nest[0]
                and not self._connected.isdisjoint(closer.nest)
                and not any(self._needs[closer.op] & self._bits[other.op] for other in others)
            )
            if (loop := next(shared, None)) is None:
                loop = LoopBody(closer.nest[0])
            loops.setdefault(loop, []).append(_Closer(closer.op, closer.nest[1:]))
        return loops

    def _inside(self, closers: Sequence[_Closer], body: _Unsorted) -> list[Operation]:
        """The ops that closers need and that only loops inside of a body can execute."""
        known = set(body.ops)

        def sources(op: Operation) -> Iterator[Operation]:
            ops = (o.owner for o in op.operands if isinstance(o.owner, Operation))
            for each in ops:
                if each in known and (
                    each in self._looped or not self._around[each] <= body.around
                ):
                    yield each

        walk = tg.Walk(op for closer in closers for op in sources(closer.op))
        for op in walk:
            walk.add(sources(op))
        return [op for op in body.ops if op in walk.seen]

    def _order(
        self,
        items: list[Item],
        members: Mapping[Item, Sequence[Operation]],
        loops: Mapping[LoopBody, Sequence[_Closer]],
    ) -> None:
        """Sort by operands and by versions of memory; what closes a loop comes after it."""
        items_of: dict[Operation, list[Item]] = {}
        for item, ops in members.items():
            for op in ops:
                items_of.setdefault(op, []).append(item)
        sorter: TopologicalSorter[Item] = TopologicalSorter()
        for item, ops in members.items():
            sorter.add(item)
            for op in ops:
                for operand in op.operands:
                    owner = operand.owner
                    if isinstance(owner, Operation) and owner in members and owner is not item:
                        sorter.add(item, owner)
                for read in self._before.get(op, ()):
                    sorter.add(item, *(i for i in items_of.get(read, ()) if i is not item))
        for loop, closers in loops.items():
            for closer in closers:
                if closer.op in members:
                    sorter.add(closer.op, loop)
        try:
            items += sorter.static_order()
        except CycleError as e:
            message = (
                "cycle: the loops and the versions of memory of this kernel ask for two orders at "
                "once"
            )
            raise locate(InterpretationError(message), _shown(e.args[1])) from e


def _shown(cycle: Sequence[Item]) -> Operation:
    """The op of a cycle that an error is reported at: one that accesses memory, if there is one."""
    ops = [
        item.axis
        if isinstance(item, LoopBody)
        else item.op
        if isinstance(item, Accumulate)
        else item
        for item in cycle
    ]
    return next(
        (op for op in ops if isinstance(op, tg.LoadOp | tg.StoreOp | tg.AtomicAddOp)), ops[0]
    )


# -- which loops are run all at once, as lanes of NumPy arrays -------------------------------------
#
# A RANGE is a *lane* axis of every array that depends on it, unless memory carries something from
# one iteration to the next: then it is *stepped*, a Python loop.


@dataclass
class LaneSchedule:
    """The ops of a kernel in the order of execution.

    `axes` gives the lane axis of each range that is not stepped and of each SPECIAL. `private[b]`
    are the ranges and SPECIALs over which memory b has a copy per iteration; memory in `assumed`
    has copies only because no iteration is expected to read what another one wrote. Every access to
    memory that the kernel writes is inside each of `sliceable`, so one of these can be run in parts
    to save space.
    """

    analysis: BlockAnalysis
    items: list[Item]
    axes: dict[Axis, int]
    private: dict[SSAValue, list[Axis]]
    assumed: set[SSAValue]
    sliceable: list[Axis]

    @property
    def lanes(self) -> int:
        return len(self.axes)


def lane_schedule(analysis: BlockAnalysis) -> LaneSchedule:
    """Plan the execution of a kernel's block, a graph, or of the block of a LINEAR."""
    scopes, specials = analysis.scopes, analysis.specials
    private, assumed = _with_assumptions(analysis)
    stepped = analysis.connected(private) | _with_barriers(analysis)
    _limit_lanes(analysis, stepped)
    lanes = [r for r in scopes.ranges if r not in stepped]
    items = items_of(analysis, stepped, stepped)
    axes: dict[Axis, int] = {op: i for i, op in enumerate([*specials, *lanes])}
    return LaneSchedule(analysis, items, axes, private, assumed, _sliceable(analysis, lanes))


def _with_assumptions(
    analysis: BlockAnalysis,
) -> tuple[dict[SSAValue, list[Axis]], set[SSAValue]]:
    """The axes over which a buffer has copies, if iterations in order do not exchange values.

    That is assumed of every buffer but those that work items share: in those, values pass from one
    iteration to the next at a BARRIER.
    """
    private = {root: list(axes) for root, axes in analysis.private.items()}
    assumed: set[SSAValue] = set()
    for root, axes in private.items():
        is_local = tg.place(root).addrspace is tg.AddrSpace.LOCAL
        if tg.place(root).addrspace is tg.AddrSpace.GLOBAL or (is_local and analysis.work_items):
            continue
        in_order = [r for r in analysis.common_ranges(root) if not is_parallel(r)]
        if in_order:
            axes += in_order
            assumed.add(root)
    return private, assumed


def _with_barriers(analysis: BlockAnalysis) -> set[tg.RangeOp]:
    """The loops around BARRIERs: work items of different iterations do not run in parallel."""
    around = [scope for op, scope in analysis.scopes.of.items() if isinstance(op, tg.BarrierOp)]
    return {r for r in analysis.scopes.ranges if not is_parallel(r) and any(r in s for s in around)}


_MAX_LANES = 24
"""NumPy arrays have 32 axes before version 2; the rest is for shapes."""


def _limit_lanes(analysis: BlockAnalysis, stepped: set[tg.RangeOp]) -> None:
    """Step outer ranges too where there would be more lane axes than an array can have."""
    ranges = analysis.scopes.ranges
    candidates = [
        r for r in ranges if r not in stepped and not is_work_item(r) and not _is_reduced(r)
    ]
    excess = len(analysis.specials) + len(ranges) - len(stepped) - _MAX_LANES
    stepped.update(candidates[: max(excess, 0)])


def _is_reduced(range: tg.RangeOp) -> bool:
    """Whether a REDUCE closes a range: it needs all iterations, and several may."""
    return any(isinstance(use.operation, tg.ReduceOp) for use in range.result.uses)


def _sliceable(analysis: BlockAnalysis, lanes: Sequence[tg.RangeOp]) -> list[Axis]:
    """The axes that can be run in parts: not threads of a group, and not ranges of a REDUCE."""
    scopes = [
        analysis.scopes.of[use.op]
        for uses in analysis.uses.values()
        if any(use.writes for use in uses)
        for use in uses
    ]
    ranges = [r for r in lanes if all(r in scope for scope in scopes) and not _is_reduced(r)]
    return [axis for axis in (*analysis.specials, *ranges) if not is_work_item(axis)]
