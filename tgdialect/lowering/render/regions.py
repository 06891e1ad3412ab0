"""The regions of a work-group loop nest, and the values that live across its barriers.

A *region* is the code between two BARRIERs. A value that lives across a BARRIER is recomputed in
its later region if it depends on indices alone. Any other is spilled: it gets a REG buffer with a
cell for each work item, and so does each REG buffer that lives across a BARRIER.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import count, dropwhile

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.liveness import live_ranges
from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.lowering.kernel_memory import buffer_type
from tgdialect.ops import tg
from tgdialect.ops.attributes import VOID
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.base import TgOp
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.numbering import next_slot
from tgdialect.ops.properties import place, tensor
from tgdialect.ops.walk import Walk, computed, nesting, operands_of

MOST_WORK_ITEMS = 1 << 20
"""More work items than any workgroup has: an extent beyond this counts as unbounded."""

_LEAVES = (tg.ConstOp, tg.VConstOp, tg.ParamOp, tg.BufferOp)
_ELEMENTWISE = frozenset({*PRIMITIVES, *DECOMPOSED})


def split_blocks(ops: Iterable[Operation]) -> set[Operation]:
    """The work-item loops that have a BARRIER inside, and the loops and IFs with one inside
    these."""
    return {
        each
        for op, around in nesting(ops).items()
        if isinstance(op, tg.BarrierOp)
        for each in dropwhile(lambda block: not is_work_item(block), around)
    }


def is_work_item(op: Operation) -> bool:
    return isinstance(op, tg.RangeOp) and op.axis_type.data in WORK_ITEMS


@dataclass(eq=False)
class BarrierRegion:
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


class Regions:
    """The regions of a LINEAR, of which the loops and IFs in `split` have a BARRIER inside."""

    def __init__(
        self, linear: tg.LinearOp, ops: Sequence[Operation], split: Set[Operation]
    ) -> None:
        self.split = split
        self.of: dict[Operation, BarrierRegion] = {}
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
        region: BarrierRegion | None = None
        for op, around in nesting(self._ops).items():
            ranges = tuple(
                e
                for e in around
                if isinstance(e, tg.RangeOp) and is_work_item(e) and e in self.split
            )
            if not ranges or self._ends_region(op):
                region = None
            elif not is_leaf(op):
                region = region or BarrierRegion(ranges)
                region.has_effect |= is_effect(op)
                self.of[op] = region

    def _ends_region(self, op: Operation) -> bool:
        if isinstance(op, tg.EndOp | tg.EndIfOp):
            return op.closed_blocks[0].owner in self.split
        return isinstance(op, tg.BarrierOp) or op in self.split

    def home(self, value: SSAValue) -> BarrierRegion | None:
        owner = value.owner
        return self.of.get(owner) if isinstance(owner, TgOp) else None

    # -- what lives across a barrier

    def _find_registers(self) -> None:
        """Give each work item its own copy of the REG buffers that live across a barrier.

        Such a buffer is accessed in more than one region, or is live beyond the region: a serial
        loop around it carries its value.
        """
        # The regions that access each buffer, and where these are.
        uses: dict[SSAValue, set[BarrierRegion | None]] = defaultdict(set)
        for access in accesses(self._ops):
            if place(access.memory).addrspace is tg.AddrSpace.REG:
                uses[access.memory].add(self.of.get(access.op))
        positions: dict[BarrierRegion, list[int]] = defaultdict(list)
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
            shape = tensor(memory).get_shape()
            self.spills[memory] = self._buffer(memory, (self.items(common, memory), *shape))
            self.rows[memory] = common

    def _find_values(self) -> None:
        """Spill the values that other regions use, but for those that these can recompute."""
        across = [
            operand
            for op in self._ops
            if op not in self.split
            for operand in op.operands
            if operand.type != VOID and self.home(operand) not in (None, self.of.get(op))
        ]
        walk = Walk(across)
        for value in walk:
            if (home := self.home(value)) is None:
                continue
            if self.is_recomputed(value):
                walk.add(operands_of(value))
                continue
            count = math.prod(tensor(value).get_shape()) * self.items(home.ranges, value)
            self.spills[value] = self._buffer(value, (count,))
            home.has_effect = True

    def is_recomputed(self, value: SSAValue) -> bool:
        """Whether other regions recompute a value: a movement op, or index arithmetic."""
        return isinstance(value.owner, MovementOp) or self._is_index(value)

    def _is_index(self, value: SSAValue) -> bool:
        """Whether a value depends on RANGEs, scalar PARAMs and constants alone."""

        def compute(value: SSAValue) -> bool:
            op = value.owner
            if isinstance(op, tg.RangeOp | tg.ConstOp | tg.VConstOp | tg.ParamOp) or not isinstance(
                op, Operation
            ):
                return True
            is_pure = type(op) in _ELEMENTWISE or isinstance(op, MovementOp)
            return is_pure and all(self._indices[operand] for operand in op.operands)

        def sources(value: SSAValue) -> Iterable[SSAValue]:
            return () if isinstance(value.owner, tg.RangeOp) else operands_of(value)

        return computed(value, self._indices, sources, compute)

    def items(self, ranges: Sequence[tg.RangeOp], value: SSAValue) -> int:
        """The greatest number of work items of some ranges; refused if it is not bounded."""
        count = math.prod(int(self._intervals[range.bound].hi) for range in ranges)
        if count > MOST_WORK_ITEMS:
            numbers = ", ".join(str(range.axis.data) for range in ranges)
            message = (
                f"this lives across a barrier, and needs a cell for each iteration of range "
                f"{numbers}, of which there may be {count}, more than {MOST_WORK_ITEMS}"
            )
            raise locate(PassFailedException(message), owner_of(value))
        return count

    def _buffer(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A new REG buffer for the copies of a value."""
        type = buffer_type(tensor(value).element_type, shape, tg.AddrSpace.REG)
        buffer = tg.BufferOp(next(self._slots), type)
        buffer.location = owner_of(value).location
        buffer.result.name_hint = value.name_hint
        self.buffers.append(buffer)
        return buffer.result


def is_leaf(op: Operation) -> bool:
    return isinstance(op, _LEAVES) and not op.operands


def is_effect(op: Operation) -> bool:
    return op.results[0].type == VOID


def owner_of(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, TgOp)
    return owner
