"""Loop fission at barriers, for targets that run a workgroup as loops.

Where LOCAL and WARP ranges are loops, one work item would run to its end before the next begins.
Each region, the code between two BARRIERs, becomes a loop nest of its own over these ranges, as in
OpenCL implementations for CPUs. A serial loop or IF with a BARRIER inside goes around the nests of
its regions.

    range %i local; store b[%i]; barrier; load b[15 - %i]; store o[%i]; end %i
    ->
    range %0 local; store b[%0]; end %0; range %1 local; load b[15 - %1]; store o[%1]; end %1

A value that lives across a BARRIER is recomputed in its later region if it depends on indices
alone. Any other is spilled: it gets a REG buffer with a cell for each work item, and so does each
REG buffer that lives across a BARRIER.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import count, dropwhile

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.liveness import live_ranges
from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import buffer_type
from tgdialect.lowering.linear_blocks import close_one_by_one
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.numbering import next_axis, next_slot

_MOST_WORK_ITEMS = 1 << 20
"""More work items than any workgroup has: an extent beyond this counts as unbounded."""

_LEAVES = (tg.ConstOp, tg.VConstOp, tg.ParamOp, tg.BufferOp)
_ELEMENTWISE = frozenset({*PRIMITIVES, *DECOMPOSED})


def fission(linear: tg.LinearOp) -> None:
    """Split the work-item loops of a LINEAR at its BARRIERs in place, and erase the BARRIERs.

    Raises PassFailedException, located at the op, where a BARRIER is not known to be reached by all
    work items: under an IF whose gate, or in a loop whose bound, may differ between them.
    """
    block = linear.body.block
    if any(type(op) is tg.BarrierOp for op in ops_of(block)):
        close_one_by_one(block)
        if split := _split_blocks(block.ops):
            _Fission(linear, split).run()


def _split_blocks(ops: Iterable[Operation]) -> set[Operation]:
    """The work-item loops that have a BARRIER inside, and the loops and IFs with one inside
    these."""
    return {
        each
        for op, around in tg.nesting(ops).items()
        if isinstance(op, tg.BarrierOp)
        for each in dropwhile(lambda block: not _is_work_item(block), around)
    }


def _is_work_item(op: Operation) -> bool:
    return isinstance(op, tg.RangeOp) and op.axis_type.data in WORK_ITEMS


@dataclass(eq=False)
class _BarrierRegion:
    """The ops between two barriers."""

    ranges: tuple[tg.RangeOp, ...]
    """The split work-item ranges around the ops, outermost first."""
    known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The values inside the region's loops of the old values that its ops use."""
    numbers: dict[tuple[tg.RangeOp, ...], SSAValue] = field(
        default_factory=dict[tuple[tg.RangeOp, ...], SSAValue]
    )
    """The linear id of a work item among those of some ranges."""
    start: Operation | None = None
    """The first op. Loads and recomputations of values of other regions come before it."""
    has_effect: bool = False
    """Whether the region stores anything. Other regions recompute the values of one that does not,
    so that it can be dropped."""


class _Regions:
    """The regions of a LINEAR, of which the loops and IFs in `split` have a BARRIER inside."""

    def __init__(
        self, linear: tg.LinearOp, ops: Sequence[Operation], split: Set[Operation]
    ) -> None:
        self.split = split
        self.of: dict[Operation, _BarrierRegion] = {}
        """The region of each op; leaves and the ops that end a region have none."""
        self.spills: dict[SSAValue, SSAValue] = {}
        """The buffer with the copies of each spilled value, or of each spilled buffer."""
        self.rows: dict[SSAValue, tuple[tg.RangeOp, ...]] = {}
        """For each spilled buffer, the ranges whose work items have a copy of it."""
        self.buffers: list[tg.BufferOp] = []
        """The new buffers."""
        self._linear, self._ops = linear, ops
        self._slots = count(next_slot(ops))
        self._intervals = MinMax()
        self._indices: dict[SSAValue, bool] = {}
        """A cache of `_is_index`."""
        self._find_regions()
        self._find_registers()
        self._find_values()

    def _find_regions(self) -> None:
        """Assign each op inside a split work-item loop to a region, in order."""
        region: _BarrierRegion | None = None
        for op, around in tg.nesting(self._ops).items():
            ranges = tuple(
                e
                for e in around
                if isinstance(e, tg.RangeOp) and _is_work_item(e) and e in self.split
            )
            if not ranges or self._ends_region(op):
                region = None
            elif not is_leaf(op):
                region = region or _BarrierRegion(ranges)
                region.has_effect |= is_effect(op)
                self.of[op] = region

    def _ends_region(self, op: Operation) -> bool:
        if isinstance(op, tg.EndOp | tg.EndIfOp):
            return op.closed_blocks[0].owner in self.split
        return isinstance(op, tg.BarrierOp) or op in self.split

    def home(self, value: SSAValue) -> _BarrierRegion | None:
        owner = value.owner
        return self.of.get(owner) if isinstance(owner, tg.TgOp) else None

    # -- what lives across a barrier

    def _find_registers(self) -> None:
        """Give each work item its own copy of the REG buffers that live across a barrier.

        Such a buffer is accessed in more than one region, or is live beyond the region: a serial
        loop around it carries its value.
        """
        # The regions that access each buffer, and where these are.
        uses: dict[SSAValue, set[_BarrierRegion | None]] = defaultdict(set)
        for access in accesses(self._ops):
            if tg.place(access.memory).addrspace is tg.AddrSpace.REG:
                uses[access.memory].add(self.of.get(access.op))
        positions: dict[_BarrierRegion, list[int]] = defaultdict(list)
        for position, op in enumerate(self._ops):
            if (region := self.of.get(op)) is not None:
                positions[region].append(position)
        live = live_ranges(self._linear) if uses else {}
        # A buffer that is accessed outside of all regions is shared already.
        for memory, regions in uses.items():
            inside = [region for region in regions if region is not None]
            if len(inside) < len(regions):
                continue
            whole = positions[inside[0]]
            start, end = live[memory]
            if len(inside) == 1 and whole[0] <= start and end <= whole[-1]:
                continue
            # A row for each work item of the loops around all of these regions.
            nests = [region.ranges for region in inside]
            common = tuple(r for r in nests[0] if all(r in nest for nest in nests))
            shape = tg.tensor(memory).get_shape()
            self.spills[memory] = self._buffer(memory, (self.items(common, memory), *shape))
            self.rows[memory] = common

    def _find_values(self) -> None:
        """Spill the values that other regions use, but for those that these can recompute."""
        across = [
            operand
            for op in self._ops
            if op not in self.split
            for operand in op.operands
            if operand.type != tg.VOID and self.home(operand) not in (None, self.of.get(op))
        ]
        walk = tg.Walk(across)
        for value in walk:
            if (home := self.home(value)) is None:
                continue
            if self.is_recomputed(value):
                walk.add(tg.operands_of(value))
                continue
            count = math.prod(tg.tensor(value).get_shape()) * self.items(home.ranges, value)
            self.spills[value] = self._buffer(value, (count,))
            home.has_effect = True

    def is_recomputed(self, value: SSAValue) -> bool:
        """Whether other regions recompute a value: a movement op, or index arithmetic."""
        return isinstance(value.owner, tg.MovementOp) or self._is_index(value)

    def _is_index(self, value: SSAValue) -> bool:
        """Whether a value depends on RANGEs, scalar PARAMs and constants alone."""

        def compute(value: SSAValue) -> bool:
            op = value.owner
            if isinstance(op, tg.RangeOp | tg.ConstOp | tg.VConstOp | tg.ParamOp) or not isinstance(
                op, Operation
            ):
                return True
            is_pure = type(op) in _ELEMENTWISE or isinstance(op, tg.MovementOp)
            return is_pure and all(self._indices[operand] for operand in op.operands)

        def sources(value: SSAValue) -> Iterable[SSAValue]:
            return () if isinstance(value.owner, tg.RangeOp) else tg.operands_of(value)

        return tg.computed(value, self._indices, sources, compute)

    def items(self, ranges: Sequence[tg.RangeOp], value: SSAValue) -> int:
        """The greatest number of work items of some ranges; refused if it is not bounded."""
        count = math.prod(int(self._intervals[range.bound].hi) for range in ranges)
        if count > _MOST_WORK_ITEMS:
            numbers = ", ".join(str(range.axis.data) for range in ranges)
            message = (
                f"this lives across a barrier, and needs a cell for each iteration of range "
                f"{numbers}, of which there may be {count}, more than {_MOST_WORK_ITEMS}"
            )
            raise locate(PassFailedException(message), _owner_of(value))
        return count

    def _buffer(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A new REG buffer for the copies of a value."""
        type = buffer_type(tg.tensor(value).element_type, shape, tg.AddrSpace.REG)
        buffer = tg.BufferOp(next(self._slots), type)
        buffer.location = _owner_of(value).location
        buffer.result.name_hint = value.name_hint
        self.buffers.append(buffer)
        return buffer.result


def is_leaf(op: Operation) -> bool:
    return isinstance(op, _LEAVES) and not op.operands


def is_effect(op: Operation) -> bool:
    return type(op.results[0].type) is tg.VoidType


def _owner_of(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, tg.TgOp)
    return owner


class _Fission:
    """The rewriting of one LINEAR, of which the loops and IFs in `split` have a BARRIER inside."""

    def __init__(self, linear: tg.LinearOp, split: Set[Operation]) -> None:
        self._block = linear.body.block
        self._ops = ops_of(self._block)
        self._regions = _Regions(linear, self._ops, split)
        self._axes = count(next_axis(self._ops))
        self._operands = {op: tuple(op.operands) for op in self._ops}
        """The old operands: ops that are moved get those of their region."""
        self._constants: list[tg.ConstOp] = []
        """New constants, which come before all loops."""
        self._gone: dict[Operation, None] = {}
        """BARRIERs, the RANGEs and ENDs of split work-item loops, and regions without effect."""

    def run(self) -> None:
        leaves = [op for op in self._ops if is_leaf(op)]
        for op in self._ops:
            op.detach()
        self._emit()
        for op in reversed(self._gone):
            op.erase(safe_erase=False)
        front = tg.OpBuilder(InsertPoint.at_start(self._block))
        for op in (*leaves, *self._regions.buffers, *self._constants):
            front.insert(op)

    # -- the loops of a region

    def _emit(self) -> None:
        """Append the ops in order, with the loops of each region around its ops."""
        open: _BarrierRegion | None = None
        for op in self._ops:
            if is_leaf(op):
                continue
            region = self._regions.of.get(op)
            if region is not None and not region.has_effect:
                self._gone[op] = None
                continue
            if region is not open:
                if open is not None:
                    self._close(open)
                if region is not None:
                    self._open(region)
                open = region
            if region is not None:
                self._place(op, region)
            else:
                self._place_outside(op)

    def _open(self, region: _BarrierRegion) -> None:
        """Begin the loops of a region."""
        for range in region.ranges:
            bound = self._same_for_all(range, range.bound)
            new = tg.OpBuilder.at_end(self._block, range.location).put(
                tg.RangeOp(next(self._axes), range.axis_type.data, bound)
            )
            new.name_hint = range.result.name_hint
            region.known[range.result] = new

    def _close(self, region: _BarrierRegion) -> None:
        """End the loops of a region."""
        for range in reversed(region.ranges):
            last = self._block.last_op
            assert last is not None
            end = tg.EndOp(last.results[0], [region.known[range.result]])
            tg.OpBuilder.at_end(self._block, range.location).insert(end)

    def _place(self, op: Operation, region: _BarrierRegion) -> None:
        """Append an op of a region, and a STORE of its value if that is spilled."""
        self._block.add_op(op)
        region.start = region.start or op
        op.operands = [self._taken(operand, region) for operand in op.operands]
        (result,) = op.results
        if result in self._regions.spills:
            store = tg.StoreOp(self._cell(region, result), result)
            tg.OpBuilder.at_end(self._block, op.location).insert(store)

    def _place_outside(self, op: Operation) -> None:
        """Append an op outside of work-item loops, or drop one that ends a region."""
        if isinstance(op, tg.BarrierOp) or (op in self._regions.split and _is_work_item(op)):
            self._gone[op] = None
        elif isinstance(op, tg.EndOp):
            if op.ranges[0].owner in self._gone:
                self._gone[op] = None
                return
            if op.body.owner in self._gone:
                last = self._block.last_op
                assert last is not None
                op.operands = (last.results[0], *op.ranges)
            self._block.add_op(op)
        else:
            if isinstance(op, tg.RangeOp | tg.IfOp) and op in self._regions.split:
                op.operands = (self._same_for_all(op, op.operands[0]),)
            elif isinstance(op, tg.SinkOp):
                op.operands = self._effects(op)
            self._block.add_op(op)

    def _effects(self, sink: tg.SinkOp) -> Sequence[SSAValue]:
        """The effects of a SINK; the last effect of all stands for those that were dropped."""
        last = next((op for op in reversed(ops_of(self._block)) if is_effect(op)), None)
        found: dict[SSAValue, None] = {}
        for effect in sink.effects:
            if effect.owner not in self._gone:
                found[effect] = None
            elif last is not None:
                found[last.results[0]] = None
        return tuple(found)

    def _same_for_all(self, block: tg.RangeOp | tg.IfOp, value: SSAValue) -> SSAValue:
        """The bound of a loop, or the gate of an IF, computed outside of the work-item loops around
        it.

        Raises PassFailedException if it depends on a work item or on memory.
        """

        def sources(value: SSAValue) -> Sequence[SSAValue]:
            return () if self._regions.home(value) is None else self._operands[_owner_of(value)]

        def compute(value: SSAValue) -> SSAValue:
            is_outside = self._regions.home(value) is None
            if is_outside and value.owner not in self._gone:
                return value
            if is_outside or not self._regions.is_recomputed(value):
                inside = "an IF, whose gate"
                if isinstance(block, tg.RangeOp):
                    inside = f"the loop of range {block.axis.data}, whose bound"
                message = (
                    f"a barrier is in {inside} may differ between the work items of a workgroup: "
                    "not all of them may reach it"
                )
                raise locate(PassFailedException(message), block)
            op = _owner_of(value)
            assert isinstance(op, tg.TgOp)
            again = op.rebuild([known[o] for o in self._operands[op]])
            return tg.OpBuilder.at_end(self._block).put(again)

        known: dict[SSAValue, SSAValue] = {}
        return tg.computed(value, known, sources, compute)

    # -- values in a region

    def _taken(self, value: SSAValue, region: _BarrierRegion) -> SSAValue:
        """A value inside a region: its own, a load from its spill buffer, or recomputed."""

        def is_rebuilt(value: SSAValue) -> bool:
            """Whether the op of a value is rebuilt in the region."""
            if value in self._regions.spills or value.type == tg.VOID:
                return False
            home = self._regions.home(value)
            return home is not region if home else self._is_view_of_row(value)

        def sources(value: SSAValue) -> Sequence[SSAValue]:
            return self._operands[_owner_of(value)] if is_rebuilt(value) else ()

        def compute(value: SSAValue) -> SSAValue:
            if (ranges := self._regions.rows.get(value)) is not None:
                row = tg.IndexOp(self._regions.spills[value], [self._number(region, ranges, value)])
                return self._before(region, row, value)
            if value in self._regions.spills and self._regions.home(value) is not region:
                return self._before(region, tg.LoadOp(self._cell(region, value)), value)
            if not is_rebuilt(value):
                return value
            op = _owner_of(value)
            assert isinstance(op, tg.TgOp)
            operands = [region.known[operand] for operand in self._operands[op]]
            return self._before(region, op.rebuild(operands), value)

        return tg.computed(value, region.known, sources, compute)

    def _is_view_of_row(self, value: SSAValue) -> bool:
        return tg.is_memory(value) and tg.memory_of(value) in self._regions.rows

    def _cell(self, region: _BarrierRegion, value: SSAValue) -> SSAValue:
        """The location of a spilled value for a work item: a cell, or one for each lane."""
        home = self._regions.home(value)
        assert home is not None
        at = self._number(region, home.ranges, value)
        if shape := tg.tensor(value).get_shape():
            (lanes,) = shape
            at = self._before(region, tg.MulOp(at, self._constant(lanes)), value)
            neighbours = self._before(region, tg.VConstOp(range(lanes)), value)
            at = self._before(region, tg.AddOp(neighbours, at), value)
        return self._before(region, tg.IndexOp(self._regions.spills[value], [at]), value)

    def _number(
        self, region: _BarrierRegion, ranges: Sequence[tg.RangeOp], at: SSAValue
    ) -> SSAValue:
        """The linear id of a work item among those of some ranges, the last range fastest."""
        if (known := region.numbers.get(tuple(ranges))) is not None:
            return known
        number: SSAValue | None = None
        for each in ranges:
            index = region.known[each.result]
            if number is not None:
                extent = self._constant(self._regions.items([each], at))
                scaled = self._before(region, tg.MulOp(number, extent), at)
                index = self._before(region, tg.AddOp(scaled, index), at)
            number = index
        assert number is not None
        region.numbers[tuple(ranges)] = number
        return number

    def _before(self, region: _BarrierRegion, op: tg.TgOp, like: SSAValue) -> SSAValue:
        """Insert an op before the first op of a region, outside of its inner loops."""
        assert region.start is not None
        value = tg.OpBuilder(InsertPoint.before(region.start), _owner_of(like).location).put(op)
        value.name_hint = like.name_hint
        return value

    def _constant(self, value: int) -> SSAValue:
        self._constants.append(constant := tg.ConstOp(value, tg.INDEX))
        return constant.result
