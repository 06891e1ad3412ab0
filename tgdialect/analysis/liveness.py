"""The live ranges of the buffers of a LINEAR: positions from the first write to the last read."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence, Set
from itertools import takewhile
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.lanes import lane_indices
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg


class LiveRange(NamedTuple):
    """Positions in a LINEAR, both included."""

    start: int
    end: int

    def overlaps(self, other: LiveRange) -> bool:
        return self.start <= other.end and other.start <= self.end


def live_ranges(linear: tg.LinearOp) -> dict[SSAValue, LiveRange]:
    """The live range of each buffer, parameter and argument that a LINEAR accesses.

    Memory that an iteration of a loop may read before it has written it carries a value from one
    iteration to the next. Such memory is live in the whole of the outermost loop around it.
    """
    return LinearAccesses(linear).live_ranges()


class _Site(NamedTuple):
    """An access, the op that makes it, the loops around that, and whether it is inside an IF."""

    access: MemoryAccess
    op: Operation
    loops: tuple[tg.RangeOp, ...]
    is_conditional: bool


class LinearAccesses:
    """The accesses of a LINEAR by the memory that they are to."""

    def __init__(self, linear: tg.LinearOp) -> None:
        ops = ops_of(linear.body.block)
        self.accesses: dict[SSAValue, list[_Site]] = defaultdict(list)
        self._starts = {op: position for position, op in enumerate(ops)}
        self._ends: dict[Operation | Block, int] = {}
        by_op: dict[object, list[MemoryAccess]] = defaultdict(list)
        for access in accesses(ops):
            by_op[access.op].append(access)
            if isinstance(access.op, tg.LoadOp):
                # A matrix instruction reads such a factor from memory by itself.
                for use in filter(tg.is_shared_factor, access.op.result.uses):
                    by_op[use.operation].append(access)
        for op, around in tg.nesting(ops).items():
            if type(op) is tg.EndOp:
                self._ends.update((range.owner, self._starts[op]) for range in op.ranges)
            elif op in by_op:
                loops = tuple(each for each in around if isinstance(each, tg.RangeOp))
                for access in by_op[op]:
                    site = _Site(access, op, loops, len(loops) < len(around))
                    self.accesses[access.memory].append(site)

    def live_ranges(self) -> dict[SSAValue, LiveRange]:
        """Those of all memory."""
        return {memory: self.live_range(memory) for memory in self.accesses}

    def common_loops(self, memory: SSAValue) -> Sequence[tg.RangeOp]:
        """The loops around all accesses to a memory, the outermost first."""
        levels = zip(*{site.loops for site in self.accesses[memory]}, strict=False)
        return [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]

    def live_range(self, memory: SSAValue) -> LiveRange:
        sites, common = self.accesses[memory], self.common_loops(memory)
        if common and _is_carried(memory, sites, len(common)):
            return self._span(common[0])
        # The positions of accesses, or of the whole inner loops that they are in.
        spans = [self._span((*site.loops, site.op)[len(common)]) for site in sites]
        return LiveRange(min(s.start for s in spans), max(s.end for s in spans))

    def _span(self, op: Operation) -> LiveRange:
        start = self._starts[op]
        return LiveRange(start, self._ends.get(op, start))


def _is_carried(memory: SSAValue, sites: Sequence[_Site], depth: int) -> bool:
    """Whether an iteration of the innermost of `depth` common loops may read an element before it
    has written it."""
    size = math.prod(tg.tensor(memory).get_shape())
    written: set[int] = set()
    for access, _, loops, is_conditional in sites:
        cells = _known_cells(access, size)
        if access.reads and len(written) < size and (cells is None or not cells <= written):
            return True
        is_gated = isinstance(access.op, tg.StoreOp) and access.op.gate is not None
        if access.writes and len(loops) == depth and not (is_conditional or is_gated):
            if cells is not None:
                written |= cells
            elif _is_whole(access.location):
                return False
    return False


def _known_cells(access: MemoryAccess, size: int) -> Set[int] | None:
    """The elements that an access touches, in row-major order, if constants say which."""
    if access.cell is not None:
        return {access.cell}
    # A vector of constant indices into a flat view.
    index = access.location.owner
    if not isinstance(index, tg.IndexOp) or len(index.indices) > 1 or not _is_flat(index.source):
        return None
    lanes = lane_indices(index.indices[0])
    if lanes is None or lanes.scalars.terms:
        return None
    return {number for number in lanes.numbers if 0 <= number < size}


def _is_flat(view: SSAValue) -> bool:
    """Whether element i of a view with one axis is element i of its memory."""
    has_one_axis = len(tg.tensor(view).get_shape()) == 1
    return has_one_axis and not isinstance(tg.behind(view, tg.ReshapeOp).owner, tg.MovementOp)


def _is_whole(location: SSAValue) -> bool:
    """Whether a location shows all elements of its memory."""
    whole = tg.ReshapeOp | tg.PermuteOp | tg.FlipOp | tg.BitcastOp
    return all(isinstance(view, whole) for view in tg.through(location, tg.MovementOp))
