"""Loop fission at barriers, for targets that run a workgroup as loops.

Where LOCAL and WARP ranges are loops, one work item would run to its end before the next begins.
Each region, the code between two BARRIERs, becomes a loop nest of its own over these ranges, as in
OpenCL implementations for CPUs. A serial loop or IF with a BARRIER inside goes around the nests of
its regions.

    range %i local; store b[%i]; barrier; load b[15 - %i]; store o[%i]; end %i
    ->
    range %0 local; store b[%0]; end %0; range %1 local; load b[15 - %1]; store o[%1]; end %1

`regions.py` says what happens to values that live across a BARRIER.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import count

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.linear_blocks import close_one_by_one
from tgdialect.lowering.render.regions import (
    BarrierRegion,
    Regions,
    is_effect,
    is_leaf,
    is_work_item,
    owner_of,
    split_blocks,
)
from tgdialect.ops import tg
from tgdialect.ops.attributes import VOID
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.numbering import next_axis
from tgdialect.ops.properties import is_memory, tensor
from tgdialect.ops.views import memory_of
from tgdialect.ops.walk import computed


def fission(linear: tg.LinearOp) -> None:
    """Split the work-item loops of a LINEAR at its BARRIERs in place, and erase the BARRIERs.

    Raises PassFailedException, located at the op, where a BARRIER is not known to be reached by all
    work items: under an IF whose gate, or in a loop whose bound, may differ between them.
    """
    block = linear.body.block
    if any(type(op) is tg.BarrierOp for op in ops_of(block)):
        close_one_by_one(block)
        if split := split_blocks(block.ops):
            _Fission(linear, split).run()


class _Fission:
    """The rewriting of one LINEAR, of which the loops and IFs in `split` have a BARRIER inside."""

    def __init__(self, linear: tg.LinearOp, split: Set[Operation]) -> None:
        self._block = linear.body.block
        self._ops = ops_of(self._block)
        self._regions = Regions(linear, self._ops, split)
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
        front = OpBuilder(InsertPoint.at_start(self._block))
        for op in (*leaves, *self._regions.buffers, *self._constants):
            front.insert(op)

    # -- the loops of a region

    def _emit(self) -> None:
        """Append the ops in order, with the loops of each region around its ops."""
        open: BarrierRegion | None = None
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

    def _open(self, region: BarrierRegion) -> None:
        """Begin the loops of a region."""
        for range in region.ranges:
            bound = self._same_for_all(range, range.bound)
            new = OpBuilder.at_end(self._block, range.location).put(
                tg.RangeOp(next(self._axes), range.axis_type.data, bound)
            )
            new.name_hint = range.result.name_hint
            region.known[range.result] = new

    def _close(self, region: BarrierRegion) -> None:
        """End the loops of a region."""
        for range in reversed(region.ranges):
            last = self._block.last_op
            assert last is not None
            end = tg.EndOp(last.results[0], [region.known[range.result]])
            OpBuilder.at_end(self._block, range.location).insert(end)

    def _place(self, op: Operation, region: BarrierRegion) -> None:
        """Append an op of a region, and a STORE of its value if that is spilled."""
        self._block.add_op(op)
        region.start = region.start or op
        op.operands = [self._taken(operand, region) for operand in op.operands]
        (result,) = op.results
        if result in self._regions.spills:
            store = tg.StoreOp(self._cell(region, result), result)
            OpBuilder.at_end(self._block, op.location).insert(store)

    def _place_outside(self, op: Operation) -> None:
        """Append an op outside of work-item loops, or drop one that ends a region."""
        if isinstance(op, tg.BarrierOp) or (op in self._regions.split and is_work_item(op)):
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
            return () if self._regions.home(value) is None else self._operands[owner_of(value)]

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
            op = owner_of(value)
            assert isinstance(op, TgOp)
            again = op.rebuild([known[o] for o in self._operands[op]])
            return OpBuilder.at_end(self._block).put(again)

        known: dict[SSAValue, SSAValue] = {}
        return computed(value, known, sources, compute)

    # -- values in a region

    def _taken(self, value: SSAValue, region: BarrierRegion) -> SSAValue:
        """A value inside a region: its own, a load from its spill buffer, or recomputed."""

        def is_rebuilt(value: SSAValue) -> bool:
            """Whether the op of a value is rebuilt in the region."""
            if value in self._regions.spills or value.type == VOID:
                return False
            home = self._regions.home(value)
            return home is not region if home else self._is_view_of_row(value)

        def sources(value: SSAValue) -> Sequence[SSAValue]:
            return self._operands[owner_of(value)] if is_rebuilt(value) else ()

        def compute(value: SSAValue) -> SSAValue:
            if (ranges := self._regions.rows.get(value)) is not None:
                row = tg.IndexOp(self._regions.spills[value], [self._number(region, ranges, value)])
                return self._before(region, row, value)
            if value in self._regions.spills and self._regions.home(value) is not region:
                return self._before(region, tg.LoadOp(self._cell(region, value)), value)
            if not is_rebuilt(value):
                return value
            op = owner_of(value)
            assert isinstance(op, TgOp)
            operands = [region.known[operand] for operand in self._operands[op]]
            return self._before(region, op.rebuild(operands), value)

        return computed(value, region.known, sources, compute)

    def _is_view_of_row(self, value: SSAValue) -> bool:
        return is_memory(value) and memory_of(value) in self._regions.rows

    def _cell(self, region: BarrierRegion, value: SSAValue) -> SSAValue:
        """The location of a spilled value for a work item: a cell, or one for each lane."""
        home = self._regions.home(value)
        assert home is not None
        at = self._number(region, home.ranges, value)
        if shape := tensor(value).get_shape():
            (lanes,) = shape
            at = self._before(region, tg.MulOp(at, self._constant(lanes)), value)
            neighbours = self._before(region, tg.VConstOp(range(lanes)), value)
            at = self._before(region, tg.AddOp(neighbours, at), value)
        return self._before(region, tg.IndexOp(self._regions.spills[value], [at]), value)

    def _number(
        self, region: BarrierRegion, ranges: Sequence[tg.RangeOp], at: SSAValue
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

    def _before(self, region: BarrierRegion, op: TgOp, like: SSAValue) -> SSAValue:
        """Insert an op before the first op of a region, outside of its inner loops."""
        assert region.start is not None
        value = OpBuilder(InsertPoint.before(region.start), owner_of(like).location).put(op)
        value.name_hint = like.name_hint
        return value

    def _constant(self, value: int) -> SSAValue:
        self._constants.append(constant := tg.ConstOp(value, INDEX))
        return constant.result
