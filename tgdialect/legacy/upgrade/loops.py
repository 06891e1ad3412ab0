"""The memory that ops and loops of a listing access, sizes of pointers that it does not state, and
loops that reduce."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.legacy.ops.control import PhiOp
from tgdialect.legacy.ops.framework import AssignOp
from tgdialect.legacy.ops.indexing import IndexOp
from tgdialect.legacy.ops.memory import (
    CastOp,
    DefineAccOp,
    DefineGlobalOp,
    DefineLocalOp,
    LoadOp,
    StoreOp,
)
from tgdialect.ops import tg
from tgdialect.ops.reduce import ALU

LARGEST = 2**31 - 1
"""The greatest position that an access may have to say a size: that of 32-bit integers of which
nothing else is known."""


class Access(NamedTuple):
    """An access of elements from a position on, where the conditions hold."""

    op: Operation
    buffer: SSAValue
    position: SSAValue | None
    lanes: int
    """The number of neighbouring elements; 1 for a vector of positions."""
    conditions: tuple[SSAValue, ...]


def access_of(op: LoadOp | StoreOp) -> Access:
    """The access of a LOAD or STORE, through INDEX and CAST of its location."""
    value = op.result if isinstance(op, LoadOp) else op.value
    lanes = tg.tensor(value).get_shape()
    gates = [] if op.gate is None else [op.gate]
    buffer, position = op.buffer, op.at
    if position is None:
        location = buffer.owner
        if isinstance(location, CastOp):
            location = location.element.owner
        if not isinstance(location, IndexOp):
            return Access(op, buffer, None, 1, tuple(gates))
        buffer, position = location.buffer, location.position
        gates += [] if location.valid is None else [location.valid]
    is_vector = tg.is_tensor(position.type) and lanes != tg.tensor(position).get_shape()
    count = lanes[0] if is_vector else 1
    return Access(op, buffer, position, count, tuple(gates))


def accesses(ops: Iterable[Operation]) -> Iterator[Access]:
    """The accesses of ops."""
    return (access_of(op) for op in ops if isinstance(op, LoadOp | StoreOp))


def memory_of(buffer: SSAValue) -> SSAValue:
    """The memory that an AFTER, or several, passes on."""
    return tg.behind(buffer, tg.AfterOp)


def pointer_sizes(ops: Iterable[Operation], intervals: MinMax) -> dict[SSAValue, int]:
    """The number of elements of each DEFINE_GLOBAL: what it states, else one more than the greatest
    position that is accessed.

    Accesses without a condition decide where there are any, since a condition may exclude what the
    interval of a position has. Raises PassFailedException where nothing bounds the positions.
    """
    ops = list(ops)
    found: dict[SSAValue, dict[bool, int]] = defaultdict(dict)
    for access in accesses(ops):
        if access.position is not None and tg.is_tensor(access.position.type):
            sizes = found[memory_of(access.buffer)]
            gated = bool(access.conditions)
            size = int(intervals[access.position].hi) + access.lanes
            sizes[gated] = max(sizes.get(gated, 1), size)
    result: dict[SSAValue, int] = {}
    for op in ops:
        if isinstance(op, DefineGlobalOp):
            (stated,) = tg.tensor(op.result).get_shape()
            sizes = found[op.result]
            size = sizes.get(False, sizes.get(True, 1)) if stated == DYNAMIC_INDEX else stated
            if size > LARGEST:
                rule = f"nothing bounds the positions at which argument {op.slot.data} is accessed"
                advice = "write its dtype with a size, as dtypes.float.ptr(16)"
                message = f"{rule}, and it does not state its size: {advice}"
                raise locate(PassFailedException(message), op)
            result[op.result] = size
    return result


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
        found: list[SSAValue] = []
        for buffer in filter(self.reads.__contains__, self.writes):
            accesses = (*self.writes[buffer], *self.reads[buffer])
            if any(a.position is not iterator or a.lanes != 1 for a in accesses):
                found.append(buffer)
        return found


def variable_of(value: SSAValue) -> Variable | None:
    """The accumulator that a DEFINE_ACC, ASSIGN or PHI is; None for other values."""
    value = tg.behind(value, AssignOp, PhiOp)
    return (value, 0) if isinstance(value.owner, DefineAccOp) else None


def constant_position(position: SSAValue | None) -> int | None:
    """The value of a position that is a constant, perhaps of another dtype."""
    while position is not None and isinstance(position.owner, tg.CastOp):
        position = position.owner.source
    return None if position is None else tg.known_index(position)


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
            if (
                not isinstance(each, tg.TgOp)
                or not each.has_trait(tg.PureInGraph)
                or each.OPENS_BLOCK
            ):
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
        if isinstance(op, tg.BufferOp) and tg.place(op.result).addrspace is tg.AddrSpace.REG:
            sizes[op.result] = tg.tensor(op.result).get_shape()[0]
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
    for op, around in tg.nesting(ops).items():
        if isinstance(op, tg.TgOp) and op.OPENS_BLOCK:
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


KINDS: Mapping[object, tg.ReduceKind] = {
    tg.AddOp: tg.ReduceKind.ADD,
    tg.MulOp: tg.ReduceKind.MUL,
    tg.MaxOp: tg.ReduceKind.MAX,
    tg.MulAccOp: tg.ReduceKind.ADD,
}
"""The reduction that a chain of an op computes."""


Loops = Callable[[SSAValue], frozenset[tg.RangeOp]]
"""Which loops a value is in."""


def reduced(
    b: tg.OpBuilder,
    loops: Sequence[tg.RangeOp],
    initial: SSAValue,
    old: SSAValue,
    new: SSAValue,
    loops_of: Loops,
) -> SSAValue | None:
    """The value of an accumulator after loops, as a REDUCE; None if they do not reduce.

    `old` is its value at the beginning of an iteration and `new` that at the end. The loops reduce
    if `new` is a chain of one operation, `(old + a) + b` say, whose other operands depend on the
    loops but not on `old`, nor on what the loops store: a REDUCE is a loop of its own.
    """
    kind = KINDS.get(type(new.owner))
    if kind is None or tg.tensor(new).get_shape():
        return None
    if (chain := _chain(kind, old, new)) is None:
        return None
    # The summands that the ops of the chain add to the accumulator.
    terms = [
        b.put(tg.MulOp(*op.operands[:2])) if isinstance(op, tg.MulAccOp) else op.operands[1 - link]
        for op, link in chain
    ]
    term = reduce(lambda a, c: b.put(ALU[kind](a, c)), reversed(terms))
    if not loops_of(term).issuperset(loops) or _reads_stores(term, loops, loops_of):
        return None
    ranges = [loop.result for loop in loops]
    inner = term.owner
    if isinstance(inner, tg.ReduceOp) and inner.kind.data is kind and term.first_use is None:
        # The loop of a loop that reduces: one REDUCE over both.
        term, ranges = inner.source, [*ranges, *inner.ranges]
    for loop in loops:
        loop.properties["axis_type"] = tg.AxisTypeAttr(tg.AxisType.REDUCE)
    result = b.put(tg.ReduceOp(kind, term, (), ranges))
    constant = initial.owner.value if isinstance(initial.owner, tg.ConstOp) else None
    if constant is not None and tg.number(constant) == tg.identity(kind, tg.dtype_of(initial)):
        return result
    return b.put(ALU[kind](initial, result))


def _chain(kind: tg.ReduceKind, old: SSAValue, new: SSAValue) -> list[tuple[Operation, int]] | None:
    """The ops from `new` down to `old`, each with the position of the operand on the way; None if
    something else depends on `old`."""
    path: list[tuple[Operation, int]] = []
    value = old
    while value is not new:
        uses = list(value.uses)
        if len(uses) != 1:
            return None
        op, position = uses[0].operation, uses[0].index
        if KINDS.get(type(op)) is not kind or (isinstance(op, tg.MulAccOp) and position != 2):
            return None
        path.append((op, position))
        (value,) = op.results
    return None if new.first_use is not None else path[::-1]


def _reads_stores(term: SSAValue, loops: Sequence[tg.RangeOp], loops_of: Loops) -> bool:
    """Whether a value depends on versions of memory that loops make."""
    walk = tg.Walk([term])
    for value in walk:
        if isinstance(value.owner, tg.AfterOp):
            return True
        walk.add(o for o in tg.operands_of(value) if not loops_of(o).isdisjoint(loops))
    return False
