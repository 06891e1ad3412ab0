"""Loop fission at barriers, for targets that run a workgroup as loops.

Where LOCAL and WARP ranges are loops, one work item would run to its end before the next begins.
What lies between two BARRIERs, a *region*, becomes a loop nest of its own over these ranges, as
the work-item loops of OpenCL on CPUs do. A serial loop with a BARRIER inside goes around the nests
of its body.

    range %i local; store b[%i]; barrier; load b[15 - %i]; store o[%i]; end %i
    ->
    range %0 local; store b[%0]; end %0; range %1 local; load b[15 - %1]; store o[%1]; end %1

A value that lives across a BARRIER is computed again in its later region if it depends on indices
alone. Any other has a cell for each work item in a REG buffer, and so has each REG buffer that
lives across.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.liveness import live_ranges
from tgdialect.analysis.memory_order import accesses, memory_of
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import VOID, AddrSpace, PlaceAttr
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.codegen import BarrierOp, EndIfOp, IfOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES, AddOp, MulOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp, MovementOp
from tgdialect.ops.numbering import next_axis, next_slot
from tgdialect.ops.ordering import EndOp, LinearOp, RangeOp, SinkOp
from tgdialect.ops.properties import is_memory, place, tensor, tensor_type
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp, VConstOp
from tgdialect.ops.walk import computed, operands_of

MOST_WORK_ITEMS = 1 << 20
"""More than any workgroup has: beyond this an extent counts as not bounded."""

_LEAVES = (ConstOp, VConstOp, ParamOp, BufferOp)
_ELEMENTWISE = frozenset({*PRIMITIVES, *DECOMPOSED})
_REGISTER = PlaceAttr.of(addrspace=AddrSpace.REG)


def fission(linear: LinearOp) -> None:
    """Split the work-item loops of a LINEAR at its BARRIERs, in place, which are gone then.

    Raises PassFailedException, located at the op, where a BARRIER is not known to be reached by all
    work items: under an IF, or in a loop whose bound may differ between them.
    """
    block = linear.body.block
    if any(type(op) is BarrierOp for op in block.ops):
        _close_one_by_one(block)
        if split := _split_loops(block.ops):
            _Fission(linear, split).run()


def _close_one_by_one(block: Block) -> None:
    """
    rewrite: `end %s over %k, %i` -> `%0 = end %s over %k; end %0 over %i`
    """
    for op in list(block.ops):
        while isinstance(op, EndOp) and len(op.ranges) > 1:
            inner = OpBuilder.before(op).put(EndOp(op.body, op.ranges[:1]))
            op.operands = (inner, *op.ranges[1:])


def _split_loops(ops: Iterable[Operation]) -> set[RangeOp]:
    """The work-item loops that have a BARRIER inside, and the loops with one inside these."""
    found: set[RangeOp] = set()
    around: list[Operation] = []
    for op in ops:
        if isinstance(op, RangeOp | IfOp):
            around.append(op)
        elif isinstance(op, EndOp | EndIfOp):
            around.pop()
        elif isinstance(op, BarrierOp):
            first = next((i for i, each in enumerate(around) if _is_work_item(each)), len(around))
            for each in around[first:]:
                if not isinstance(each, RangeOp):
                    message = "a barrier is inside an IF: not all threads of a workgroup reach it"
                    raise locate(PassFailedException(message), op)
                found.add(each)
    return found


def _is_work_item(op: Operation) -> bool:
    return isinstance(op, RangeOp) and op.axis_type.data in WORK_ITEMS


@dataclass(eq=False)
class _Region:
    """The ops between two barriers, and the split work-item ranges around them, outermost first."""

    ranges: tuple[RangeOp, ...]
    known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What the values that its ops use are in its loops."""
    numbers: dict[tuple[RangeOp, ...], SSAValue] = field(
        default_factory=dict[tuple[RangeOp, ...], SSAValue]
    )
    """The numbers of its work items."""
    start: Operation | None = None
    """The first op; what the region takes from others is put before it."""
    has_effect: bool = False
    """Whether anything is left of the region where later ones compute its values again."""


class _Fission:
    """The rewriting of one LINEAR, of which the loops in `split` have a BARRIER inside."""

    def __init__(self, linear: LinearOp, split: set[RangeOp]) -> None:
        self._linear, self._block = linear, linear.body.block
        self._ops = list(self._block.ops)
        self._split = split
        self._slots, self._axes = count(next_slot(self._ops)), count(next_axis(self._ops))
        self._intervals = MinMax()
        self._operands = {op: tuple(op.operands) for op in self._ops}
        """As they were: ops that are moved get those of their region."""
        self._region: dict[Operation, _Region] = {}
        """Of each op that is in a split work-item loop, but for leaves and what ends a region."""
        self._indices: dict[SSAValue, bool] = {}
        """Whether a value depends on indices and constants alone."""
        self._cells: dict[SSAValue, SSAValue] = {}
        """For a value that lives across a BARRIER, a buffer with cells for each work item; for a
        buffer that does, one with a row for each."""
        self._rows: dict[SSAValue, tuple[RangeOp, ...]] = {}
        """The ranges that number the rows of a buffer that lives across a BARRIER."""
        self._front: list[TgOp] = []
        """What is put before all loops."""
        self._gone: dict[Operation, None] = {}
        """BARRIERs, and the RANGEs and ENDs of the work-item loops that were split."""

    def run(self) -> None:
        self._find_regions()
        self._find_registers()
        self._find_values()
        leaves = [op for op in self._ops if _is_leaf(op)]
        for op in self._ops:
            op.detach()
        self._emit()
        for op in reversed(self._gone):
            op.erase(safe_erase=False)
        front = OpBuilder(InsertPoint.at_start(self._block))
        for op in (*leaves, *self._front):
            front.insert(op)

    # -- regions

    def _find_regions(self) -> None:
        around: list[RangeOp] = []
        region: _Region | None = None
        for op in self._ops:
            if isinstance(op, EndOp) and around and op.ranges[0].owner is around[-1]:
                around.pop()
            if not around or self._ends_region(op):
                region = None
            elif not _is_leaf(op):
                region = region or _Region(tuple(around))
                region.has_effect |= _is_effect(op)
                self._region[op] = region
            if op in self._split and isinstance(op, RangeOp) and _is_work_item(op):
                around.append(op)

    def _ends_region(self, op: Operation) -> bool:
        if isinstance(op, EndOp):
            return op.ranges[0].owner in self._split
        return isinstance(op, BarrierOp) or op in self._split

    def _home(self, value: SSAValue) -> _Region | None:
        owner = value.owner
        return self._region.get(owner) if isinstance(owner, Operation) else None

    # -- what lives across a barrier

    def _find_registers(self) -> None:
        """The REG buffers that are live in more than one region, or in several runs of one: each
        work item has its own."""
        uses: dict[SSAValue, set[_Region | None]] = defaultdict(set)
        for access in accesses(self._ops):
            if place(access.memory).addrspace is AddrSpace.REG:
                uses[access.memory].add(self._region.get(access.op))
        positions: dict[_Region, list[int]] = defaultdict(list)
        for position, op in enumerate(self._ops):
            if (region := self._region.get(op)) is not None:
                positions[region].append(position)
        live = live_ranges(self._linear) if uses else {}
        for memory, regions in uses.items():
            inside = [region for region in regions if region is not None]
            if len(inside) < len(regions):
                continue
            whole = positions[inside[0]]
            start, end = live[memory]
            if len(inside) == 1 and whole[0] <= start and end <= whole[-1]:
                continue
            nests = [region.ranges for region in inside]
            common = tuple(r for r in nests[0] if all(r in nest for nest in nests))
            shape = tensor(memory).get_shape()
            self._cells[memory] = self._buffer(memory, (self._items(common, memory), *shape))
            self._rows[memory] = common

    def _find_values(self) -> None:
        """The values of a region that others use and that do not depend on indices alone."""
        across = [
            operand
            for op in self._ops
            if op not in self._split
            for operand in op.operands
            if operand.type != VOID and self._home(operand) not in (None, self._region.get(op))
        ]
        seen: set[SSAValue] = set()
        while across:
            value = across.pop()
            if value in seen or (home := self._home(value)) is None:
                continue
            seen.add(value)
            if self._is_again(value):
                across.extend(operand for operand in _owner(value).operands)
                continue
            count = math.prod(tensor(value).get_shape()) * self._items(home.ranges, value)
            self._cells[value] = self._buffer(value, (count,))
            home.has_effect = True

    def _is_again(self, value: SSAValue) -> bool:
        """Whether a value is computed again where it is needed: a movement, or index arithmetic."""
        return isinstance(value.owner, MovementOp) or self._is_index(value)

    def _is_index(self, value: SSAValue) -> bool:
        def compute(value: SSAValue) -> bool:
            op = value.owner
            if isinstance(op, RangeOp | ConstOp | VConstOp) or not isinstance(op, Operation):
                return True
            is_pure = type(op) in _ELEMENTWISE or isinstance(op, MovementOp)
            return is_pure and all(self._indices[operand] for operand in op.operands)

        def sources(value: SSAValue) -> Iterable[SSAValue]:
            return () if isinstance(value.owner, RangeOp) else operands_of(value)

        return computed(value, self._indices, sources, compute)

    def _items(self, ranges: Sequence[RangeOp], value: SSAValue) -> int:
        """How many iterations ranges have at most."""
        count = math.prod(int(self._intervals[range.bound].hi) for range in ranges)
        if count > MOST_WORK_ITEMS:
            numbers = ", ".join(str(range.axis.data) for range in ranges)
            message = (
                f"this lives across a barrier, and needs a cell for each iteration of range "
                f"{numbers}, of which there may be {count}, more than {MOST_WORK_ITEMS}"
            )
            raise locate(PassFailedException(message), _owner(value))
        return count

    def _buffer(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        type = tensor_type(tensor(value).element_type, tuple(shape), _REGISTER)
        buffer = BufferOp(next(self._slots), type)
        buffer.location = _owner(value).location
        buffer.result.name_hint = value.name_hint
        self._front.append(buffer)
        return buffer.result

    # -- the loops of a region

    def _emit(self) -> None:
        open: _Region | None = None
        for op in self._ops:
            if _is_leaf(op):
                continue
            region = self._region.get(op)
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

    def _open(self, region: _Region) -> None:
        for range in region.ranges:
            bound = self._same_for_all(range)
            new = OpBuilder.at_end(self._block, range.location).put(
                RangeOp(next(self._axes), range.axis_type.data, bound)
            )
            new.name_hint = range.result.name_hint
            region.known[range.result] = new

    def _close(self, region: _Region) -> None:
        for range in reversed(region.ranges):
            last = self._block.last_op
            assert last is not None
            end = EndOp(last.results[0], [region.known[range.result]])
            OpBuilder.at_end(self._block, range.location).insert(end)

    def _place(self, op: Operation, region: _Region) -> None:
        """An op in the nest of its region, and the STORE of its value if that lives across."""
        self._block.add_op(op)
        region.start = region.start or op
        op.operands = [self._taken(operand, region) for operand in op.operands]
        (result,) = op.results
        if result in self._cells:
            store = StoreOp(self._cell(region, result), result)
            OpBuilder.at_end(self._block, op.location).insert(store)

    def _place_outside(self, op: Operation) -> None:
        """An op that is in no region: it is outside work-item loops, or ends a region."""
        if isinstance(op, BarrierOp) or (op in self._split and _is_work_item(op)):
            self._gone[op] = None
        elif isinstance(op, EndOp):
            if op.ranges[0].owner in self._gone:
                self._gone[op] = None
                return
            if op.body.owner in self._gone:
                last = self._block.last_op
                assert last is not None
                op.operands = (last.results[0], *op.ranges)
            self._block.add_op(op)
        else:
            if isinstance(op, RangeOp) and op in self._split:
                op.operands = (self._same_for_all(op),)
            elif isinstance(op, SinkOp):
                op.operands = self._effects(op)
            self._block.add_op(op)

    def _effects(self, sink: SinkOp) -> Sequence[SSAValue]:
        """What a SINK collects: the last effect stands for those that are gone."""
        last = next((op for op in reversed(list(self._block.ops)) if _is_effect(op)), None)
        found: dict[SSAValue, None] = {}
        for effect in sink.effects:
            if effect.owner not in self._gone:
                found[effect] = None
            elif last is not None:
                found[last.results[0]] = None
        return tuple(found)

    def _same_for_all(self, range: RangeOp) -> SSAValue:
        """The bound of a loop, outside of the work-item loops that it is in.

        Raises PassFailedException unless it depends on no work item and on no memory.
        """

        def sources(value: SSAValue) -> Sequence[SSAValue]:
            return () if self._home(value) is None else self._operands[_owner(value)]

        def compute(value: SSAValue) -> SSAValue:
            if self._home(value) is None and value.owner not in self._gone:
                return value
            if value.owner in self._gone or not self._is_again(value):
                message = (
                    f"a barrier is in the loop of range {range.axis.data}, whose bound may differ "
                    "between the threads of a workgroup: not all of them may reach it"
                )
                raise locate(PassFailedException(message), range)
            op = _owner(value)
            assert isinstance(op, TgOp)
            again = op.rebuild([known[o] for o in self._operands[op]])
            return OpBuilder.at_end(self._block).put(again)

        known: dict[SSAValue, SSAValue] = {}
        return computed(range.bound, known, sources, compute)

    # -- values in a region

    def _taken(self, value: SSAValue, region: _Region) -> SSAValue:
        """A value as a region has it: its own, loaded from its cells, or computed again."""

        def is_again(value: SSAValue) -> bool:
            """Whether the op of a value is rebuilt in the region."""
            if value in self._cells or value.type == VOID:
                return False
            home = self._home(value)
            return home is not region if home else self._is_view_of_row(value)

        def sources(value: SSAValue) -> Sequence[SSAValue]:
            return self._operands[_owner(value)] if is_again(value) else ()

        def compute(value: SSAValue) -> SSAValue:
            if (ranges := self._rows.get(value)) is not None:
                row = IndexOp(self._cells[value], [self._number(region, ranges, value)])
                return self._before(region, row, value)
            if value in self._cells and self._home(value) is not region:
                return self._before(region, LoadOp(self._cell(region, value)), value)
            if not is_again(value):
                return value
            op = _owner(value)
            assert isinstance(op, TgOp)
            operands = [region.known[operand] for operand in self._operands[op]]
            return self._before(region, op.rebuild(operands), value)

        return computed(value, region.known, sources, compute)

    def _is_view_of_row(self, value: SSAValue) -> bool:
        return is_memory(value) and memory_of(value) in self._rows

    def _cell(self, region: _Region, value: SSAValue) -> SSAValue:
        """Where a value that lives across is kept: a cell, or neighbours for the lanes of one."""
        home = self._home(value)
        assert home is not None
        at = self._number(region, home.ranges, value)
        if shape := tensor(value).get_shape():
            (lanes,) = shape
            at = self._before(region, MulOp(at, self._constant(lanes)), value)
            neighbours = self._before(region, VConstOp(range(lanes)), value)
            at = self._before(region, AddOp(neighbours, at), value)
        return self._before(region, IndexOp(self._cells[value], [at]), value)

    def _number(self, region: _Region, ranges: Sequence[RangeOp], at: SSAValue) -> SSAValue:
        """The number of a work item among those of some ranges, the last range fastest."""
        if (known := region.numbers.get(tuple(ranges))) is not None:
            return known
        number: SSAValue | None = None
        for each in ranges:
            index = region.known[each.result]
            if number is not None:
                extent = self._constant(self._items([each], at))
                scaled = self._before(region, MulOp(number, extent), at)
                index = self._before(region, AddOp(scaled, index), at)
            number = index
        assert number is not None
        region.numbers[tuple(ranges)] = number
        return number

    def _before(self, region: _Region, op: TgOp, like: SSAValue) -> SSAValue:
        """Put an op before all that a region does, where no inner loop has begun."""
        assert region.start is not None
        value = OpBuilder(InsertPoint.before(region.start), _owner(like).location).put(op)
        value.name_hint = like.name_hint
        return value

    def _constant(self, value: int) -> SSAValue:
        self._front.append(constant := ConstOp(value, INDEX))
        return constant.result


def _is_leaf(op: Operation) -> bool:
    return isinstance(op, _LEAVES) and not op.operands


def _is_effect(op: Operation) -> bool:
    return op.results[0].type == VOID


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, Operation)
    return owner
