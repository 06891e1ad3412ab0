"""When the buffers of a LINEAR are live: the positions from first to last use, loops counted in."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.ops.codegen import EndIfOp, IfOp
from tgdialect.ops.movement import BitcastOp, FlipOp, MovementOp, PermuteOp, ReshapeOp
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

    Memory that is read in a loop before an iteration has written it carries a value from one
    iteration to the next: it is live in the whole of the outermost loop around it.
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
    """Where an access is."""

    access: MemoryAccess
    position: int
    loop: _LoopSpan
    is_conditional: bool


class _LinearAccesses:
    def __init__(self, linear: LinearOp) -> None:
        ops = list(linear.body.block.ops)
        self.accesses: dict[SSAValue, list[_Site]] = defaultdict(list)
        by_op: dict[object, list[MemoryAccess]] = defaultdict(list)
        for access in accesses(ops):
            by_op[access.op].append(access)
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
    """Whether an iteration may read what it has not written itself."""
    size = math.prod(tensor(memory).get_shape())
    written: set[int] = set()
    for access, _, loop, is_conditional in sites:
        if access.reads and len(written) < size and access.cell not in written:
            return True
        if access.writes and loop is common and not is_conditional:
            if access.cell is not None:
                written.add(access.cell)
            elif _is_whole(access.location):
                return False
    return False


def _is_whole(location: SSAValue) -> bool:
    """Whether a location is all of its memory, in another shape perhaps."""
    while isinstance(view := location.owner, MovementOp):
        if not isinstance(view, ReshapeOp | PermuteOp | FlipOp | BitcastOp):
            return False
        location = view.operands[0]
    return True
