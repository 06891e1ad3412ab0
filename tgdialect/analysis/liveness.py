"""The live ranges of the buffers of a LINEAR: positions from the first write to the last read."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.lanes import lane_indices
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops.codegen import EndIfOp, IfOp, is_shared_factor
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import (
    BitcastOp,
    FlipOp,
    IndexOp,
    MovementOp,
    PermuteOp,
    ReshapeOp,
)
from tgdialect.ops.ordering import EndOp, LinearOp, RangeOp
from tgdialect.ops.properties import tensor


class LiveRange(NamedTuple):
    """Positions in a LINEAR, both included."""

    start: int
    end: int

    def overlaps(self, other: LiveRange) -> bool:
        return self.start <= other.end and other.start <= self.end


def live_ranges(linear: LinearOp) -> dict[SSAValue, LiveRange]:
    """The live range of each buffer, parameter and argument that a LINEAR accesses.

    Memory that an iteration of a loop may read before it has written it carries a value from one
    iteration to the next. Such memory is live in the whole of the outermost loop around it.
    """
    code = _LinearAccesses(linear)
    return {memory: code.live_range(memory) for memory in code.accesses}


@dataclass(eq=False)
class _LoopSpan:
    """A RANGE and its END, by position; the whole LINEAR is one too."""

    start: int
    end: int
    parent: _LoopSpan | None

    def around(self) -> list[_LoopSpan]:
        """This loop and those around it, the outermost first."""
        loops: list[_LoopSpan] = []
        loop: _LoopSpan | None = self
        while loop is not None:
            loops.append(loop)
            loop = loop.parent
        return loops[::-1]


class _Site(NamedTuple):
    """An access, its position, the loop around it, and whether it is inside an IF."""

    access: MemoryAccess
    position: int
    loop: _LoopSpan
    is_conditional: bool


class _LinearAccesses:
    """The accesses of a LINEAR by the memory that they are to."""

    def __init__(self, linear: LinearOp) -> None:
        ops = ops_of(linear.body.block)
        self.accesses: dict[SSAValue, list[_Site]] = defaultdict(list)
        by_op: dict[object, list[MemoryAccess]] = defaultdict(list)
        for access in accesses(ops):
            by_op[access.op].append(access)
            if isinstance(access.op, LoadOp):
                # A matrix instruction reads such a factor from memory by itself.
                for use in filter(is_shared_factor, access.op.result.uses):
                    by_op[use.operation].append(access)
        loop, conditions = _LoopSpan(0, len(ops), None), 0
        for position, op in enumerate(ops):
            kind = type(op)
            if kind is RangeOp:
                loop = _LoopSpan(position, position, loop)
            elif kind is EndOp:
                for _ in op.operands[1:]:
                    loop.end = position
                    assert loop.parent is not None
                    loop = loop.parent
            elif kind is IfOp or kind is EndIfOp:
                conditions += 1 if kind is IfOp else -1
            for access in by_op.get(op, ()):
                site = _Site(access, position, loop, conditions > 0)
                self.accesses[access.memory].append(site)

    def live_range(self, memory: SSAValue) -> LiveRange:
        sites = self.accesses[memory]
        common = _common_loop(site.loop for site in sites)
        depth = len(common.around())
        if depth > 1 and _is_carried(memory, sites, common):
            outermost = common.around()[1]
            return LiveRange(outermost.start, outermost.end)
        spans = [_span(site, depth) for site in sites]
        return LiveRange(min(s.start for s in spans), max(s.end for s in spans))


def _common_loop(loops: Iterable[_LoopSpan]) -> _LoopSpan:
    """The innermost loop around all."""
    nests = [loop.around() for loop in set(loops)]
    common = nests[0][0]
    for level in zip(*nests, strict=False):
        if any(loop is not level[0] for loop in level):
            break
        common = level[0]
    return common


def _span(site: _Site, depth: int) -> LiveRange:
    """The position of an access, or of the whole inner loop that it is in."""
    around = site.loop.around()
    if len(around) == depth:
        return LiveRange(site.position, site.position)
    return LiveRange(around[depth].start, around[depth].end)


def _is_carried(memory: SSAValue, sites: Sequence[_Site], common: _LoopSpan) -> bool:
    """Whether an iteration of the common loop may read an element before it has written it."""
    size = math.prod(tensor(memory).get_shape())
    written: set[int] = set()
    for access, _, loop, is_conditional in sites:
        cells = _known_cells(access, size)
        if access.reads and len(written) < size and (cells is None or not cells <= written):
            return True
        is_gated = isinstance(access.op, StoreOp) and access.op.gate is not None
        if access.writes and loop is common and not (is_conditional or is_gated):
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
    if not isinstance(index, IndexOp) or len(index.indices) > 1 or not _is_flat(index.source):
        return None
    lanes = lane_indices(index.indices[0])
    if lanes is None or lanes.scalars.terms:
        return None
    return {number for number in lanes.numbers if 0 <= number < size}


def _is_flat(view: SSAValue) -> bool:
    """Whether element i of a view with one axis is element i of its memory."""
    has_one_axis = len(tensor(view).get_shape()) == 1
    while isinstance(op := view.owner, ReshapeOp):
        view = op.source
    return has_one_axis and not isinstance(op, MovementOp)


def _is_whole(location: SSAValue) -> bool:
    """Whether a location shows all elements of its memory."""
    while isinstance(view := location.owner, MovementOp):
        if not isinstance(view, ReshapeOp | PermuteOp | FlipOp | BitcastOp):
            return False
        location = view.operands[0]
    return True
