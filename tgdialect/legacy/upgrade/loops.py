"""The reads, writes and accumulators of a listing's loops, found before they are rewritten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.legacy.ops.control import PhiOp
from tgdialect.legacy.ops.framework import AssignOp
from tgdialect.legacy.ops.memory import DefineAccOp, DefineLocalOp, LoadOp, StoreOp
from tgdialect.legacy.upgrade.accesses import Access, access_of, accesses, memory_of
from tgdialect.ops import tg
from tgdialect.ops.base import PureInGraph, TgOp
from tgdialect.ops.properties import known_index, place, tensor
from tgdialect.ops.walk import behind, nesting

Variable = tuple[SSAValue, int]
"""A scalar in registers: a DEFINE_ACC, or a cell of a BUFFER that is accessed at constants only."""


@dataclass
class LoopAccesses:
    """The effects of a loop on values that are defined before it, in inner loops too."""

    own: set[SSAValue] = field(default_factory=set[SSAValue])
    """The values that are defined in it: each iteration has another one."""
    reads: dict[SSAValue, list[Access]] = field(default_factory=dict[SSAValue, list[Access]])
    writes: dict[SSAValue, list[Access]] = field(default_factory=dict[SSAValue, list[Access]])
    assigned: dict[Variable, None] = field(default_factory=dict[Variable, None])
    """The accumulators that it changes."""

    def carried(self, iterator: SSAValue) -> list[SSAValue]:
        """The buffers of which an iteration may read what an earlier one wrote: all that are read
        and written, but those that are only accessed at the position of the iteration itself."""

        def is_own(access: Access) -> bool:
            return access.position is iterator and access.lanes == 1

        return [
            buffer
            for buffer, writes in self.writes.items()
            if buffer in self.reads and not all(map(is_own, (*writes, *self.reads[buffer])))
        ]


def variable_of(value: SSAValue) -> Variable | None:
    """The accumulator that a DEFINE_ACC, ASSIGN or PHI is; None for other values."""
    value = behind(value, AssignOp, PhiOp)
    return (value, 0) if isinstance(value.owner, DefineAccOp) else None


def constant_position(position: SSAValue | None) -> int | None:
    """The value of a position that is a constant, perhaps of another dtype."""
    while position is not None and isinstance(position.owner, tg.CastOp):
        position = position.owner.source
    return None if position is None else known_index(position)


def accumulators_first(ops: Sequence[Operation]) -> Sequence[Operation]:
    """The ops of a listing, each DEFINE_ACC before the loops that it names, with what its initial
    value needs.

    Raises PassFailedException, located, if an initial value changes within those loops.
    """
    places: dict[object, float] = {op: place for place, op in enumerate(ops)}
    for op in ops:
        if not isinstance(op, DefineAccOp) or not op.ranges:
            continue
        begin = min(places[loop.owner] for loop in op.ranges)
        if places[op] < begin:
            continue
        # Half a place before: the sort keeps the order of all that goes there.
        needed, places[op] = [op.initial.owner], begin - 0.5
        while needed:
            each = needed.pop()
            if places[each] < begin:
                continue
            if not isinstance(each, TgOp) or not each.has_trait(PureInGraph) or each.OPENS_BLOCK:
                message = "the initial value of an accumulator changes within the loops it names"
                raise locate(PassFailedException(message), op)
            places[each] = begin - 0.5
            needed += [operand.owner for operand in each.operands]
    return sorted(ops, key=lambda op: places[op])


def scalar_cells(ops: Iterable[Operation]) -> dict[SSAValue, int]:
    """The BUFFERs in registers each access of which is of one cell at a constant position, and how
    many cells they have: each cell is an accumulator."""
    sizes: dict[SSAValue, int] = {}
    for op in ops:
        if isinstance(op, tg.BufferOp) and place(op.result).addrspace is tg.AddrSpace.REG:
            sizes[op.result] = tensor(op.result).get_shape()[0]
        elif isinstance(op, LoadOp | StoreOp):
            access = access_of(op)
            cell = constant_position(access.position)
            if cell is None or access.lanes > 1 or access.conditions:
                sizes.pop(memory_of(access.buffer), None)
    return sizes


def updated_buffers(ops: Iterable[Operation]) -> set[SSAValue]:
    """The buffers that a kernel reads and writes, but those with all accesses at one position."""
    positions: dict[SSAValue, set[tuple[SSAValue | None, int]]] = defaultdict(set)
    kinds: dict[SSAValue, set[type[Operation]]] = defaultdict(set)
    for access in accesses(ops):
        buffer = memory_of(access.buffer)
        positions[buffer].add((access.position, access.lanes))
        kinds[buffer].add(type(access.op))
    return {b for b, found in kinds.items() if len(found) > 1 and len(positions[b]) > 1}


def cell_of(access: Access, cells: Mapping[SSAValue, int]) -> Variable | None:
    """The accumulator that an access is of."""
    buffer = memory_of(access.buffer)
    cell = constant_position(access.position)
    return None if buffer not in cells or cell is None else (buffer, cell)


def loop_bodies(
    ops: Sequence[Operation], cells: Mapping[SSAValue, int]
) -> dict[Operation, LoopAccesses]:
    """The effects of each loop, by the op that begins it."""
    bodies: dict[Operation, LoopAccesses] = {}
    for op, around in nesting(ops).items():
        if isinstance(op, TgOp) and op.OPENS_BLOCK:
            bodies[op], around = LoopAccesses(), (*around, op)
        for begin in around:
            _add(bodies[begin], op, cells)
    return bodies


def _add(body: LoopAccesses, op: Operation, cells: Mapping[SSAValue, int]) -> None:
    match op:
        case DefineAccOp() | DefineLocalOp() | tg.BufferOp():
            body.own.add(op.result)
        case AssignOp() | PhiOp():
            variable = variable_of(op.target)
            if variable is not None and variable[0] not in body.own:
                body.assigned[variable] = None
        case LoadOp() | StoreOp():
            access = access_of(op)
            buffer = memory_of(access.buffer)
            variable = cell_of(access, cells)
            if buffer in body.own:
                pass
            elif variable is None:
                kind = body.reads if isinstance(op, LoadOp) else body.writes
                kind.setdefault(buffer, []).append(access)
            elif isinstance(op, StoreOp):
                body.assigned[variable] = None
        case _:
            pass
