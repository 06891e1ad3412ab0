"""Dependences through versioned memory that are not edges of the graph.

A LOAD sees the STOREs that it is AFTER, and no others: every other STORE to its buffer comes later.
Two STOREs to one cell without an order are a race.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.symbols import symbols_around
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.numbering import op_key
from tgdialect.ops.views import versions

Effects = Mapping[int, tuple[bool, bool]]
"""Whether a kernel reads, and whether it writes, the memory that is passed for each slot."""


class MemoryAccess(NamedTuple):
    """A read or write of a buffer, a parameter or an argument, at a location in it."""

    op: Operation
    location: SSAValue
    memory: SSAValue
    reads: bool
    writes: bool

    @property
    def cell(self) -> int | None:
        """The element in row-major order if the index is constant; None stands for any element."""
        return constant_cell(self.location)


def constant_cell(location: SSAValue) -> int | None:
    """The element at a location in row-major order, if its index is constant."""
    index = tg.behind(location, tg.AfterOp).owner
    if type(index) is not tg.IndexOp:
        return None
    memory, *indices = index.operands
    shape = tg.tensor(memory).get_shape()
    if len(indices) != len(shape):
        return None
    cell = 0
    for value, extent in zip(indices, shape, strict=True):
        constant = value.owner
        position = tg.number(constant.value) if isinstance(constant, tg.ConstOp) else -1
        if not 0 <= position < extent:
            return None
        cell = cell * extent + int(position)
    return (
        None
        if isinstance(tg.behind(memory, tg.ReshapeOp, tg.AfterOp).owner, tg.MovementOp)
        else cell
    )


def accesses(ops: Iterable[Operation]) -> Iterator[MemoryAccess]:
    """The reads and writes of the ops of a kernel, or of the CALLs of a function."""
    effects = _effects.get()
    effects = {} if effects is None else effects
    known: Mapping[str, Operation] | None = None
    for op in ops:
        if (kind := _ACCESS.get(type(op))) is not None:
            location, (reads, writes) = op.operands[0], kind
            if writes or tg.is_memory(location):
                yield MemoryAccess(op, location, tg.memory_of(location), reads, writes)
        elif op.name == tg.CallOp.name:
            assert isinstance(op, tg.CallOp)
            symbol = op.callee.string_value()
            if symbol not in effects:
                known = symbols_around(op) if known is None else known
                effects[symbol] = symbol_effects(known.get(symbol))
            effect = effects[symbol]
            for slot, argument in enumerate(op.arguments):
                if tg.is_memory(argument):
                    nothing = (False, False)
                    reads, writes = (True, True) if effect is None else effect.get(slot, nothing)
                    yield MemoryAccess(op, argument, tg.memory_of(argument), reads, writes)


@contextmanager
def kernels_unchanged() -> Generator[None]:
    """While this is entered, the kernels of the one module that is analysed stay as they are: what
    each of them accesses is found once."""
    token = _effects.set({})
    try:
        yield
    finally:
        _effects.reset(token)


_effects: ContextVar[dict[str, Effects | None] | None] = ContextVar("effects", default=None)
"""The effects of each kernel that are known, by its name, in `kernels_unchanged`."""

_ACCESS: Mapping[type[Operation], tuple[bool, bool]] = {
    tg.LoadOp: (True, False),
    tg.StoreOp: (False, True),
    tg.AtomicAddOp: (True, True),
}
"""The ops that access their first operand: whether they read, and whether they write it."""


def parameter_effects(call: tg.CallOp) -> Effects | None:
    """Which slots a kernel or program reads and writes; None where that is not known."""
    return symbol_effects(symbols_around(call).get(call.callee.string_value()))


def written_operands(op: tg.CallOp) -> list[SSAValue]:
    """The operands that a call writes; all of its memory where the callee is opaque."""
    effects = parameter_effects(op)
    return [
        argument
        for slot, argument in enumerate(op.arguments)
        if tg.is_memory(argument) and (effects is None or effects.get(slot, (False, False))[1])
    ]


def symbol_effects(callee: Operation | None) -> Effects | None:
    """Which slots a symbol reads and writes, as `parameter_effects`."""
    match callee:
        case tg.KernelOp():
            body = callee.body.block
        case tg.ProgramOp():
            body = callee.linear.body.block
        case FuncOp() if not callee.is_declaration:
            return _argument_effects(callee)
        case tg.CustomFunctionOp() if callee.reads is not None or callee.writes is not None:
            read, written = callee.effects(0)
            return {slot: (slot in read, slot in written) for slot in read | written}
        case _:
            return None
    effects: dict[int, tuple[bool, bool]] = {}
    for access in accesses(ops_of(body)):
        if isinstance(parameter := access.memory.owner, tg.ParamOp):
            slot = parameter.slot.data
            reads, writes = effects.get(slot, (False, False))
            effects[slot] = (reads or access.reads, writes or access.writes)
    return effects


def _argument_effects(function: FuncOp) -> Effects:
    """The slots that a function reads and writes: it may read all but its results."""
    written = {a.memory for a in accesses(ops_of(function.body.block)) if a.writes}
    return {
        argument.index: ("tg.output" not in tg.argument_attributes(argument), argument in written)
        for argument in function.args
        if tg.is_memory(argument)
    }


class MemoryOrder:
    """The accesses of a graph, and the order that they need."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self.ops = ops
        by_memory: dict[SSAValue, list[MemoryAccess]] = defaultdict(list)
        for access in accesses(ops):
            by_memory[access.memory].append(access)
        self._shared = [
            group for group in by_memory.values() if len(group) > 1 and any(a.writes for a in group)
        ]
        """The accesses of each memory that is written, and accessed more than once."""

    @property
    def is_shared(self) -> bool:
        """Whether some memory is written, and accessed more than once."""
        return bool(self._shared)

    @cached_property
    def _writes_before(self) -> dict[object, int]:
        """The shared writes that each op depends on, or is, as a set of bits."""
        bits = self._bits
        before: dict[object, int] = {}
        for op in self.ops if bits else ():
            mask = bits.get(op, 0)
            for operand in op.operands:
                mask |= before.get(operand.owner, 0)
            before[op] = mask
        return before

    @cached_property
    def _bits(self) -> dict[Operation, int]:
        writers = dict.fromkeys(a.op for group in self._shared for a in group if a.writes)
        return {op: 1 << i for i, op in enumerate(writers)}

    def depends(self, op: Operation, write: Operation) -> bool:
        """Whether an op is known to come after a write; never after one that is not shared."""
        return bool(self._writes_before[op] & self._bits.get(write, 0))

    def seen(self, read: MemoryAccess) -> int:
        """The shared writes that a read sees: those that its location is AFTER."""
        seen = 0
        for after in versions(read.location):
            for dependency in after.dependencies:
                seen |= self._writes_before.get(dependency.owner, 0)
        return seen

    def anti_dependences(self) -> Iterator[tuple[MemoryAccess, MemoryAccess]]:
        """Pairs of a read and a later write to its buffer, which it does not see.

        ATOMICADDs are in any order among themselves: nothing sees the values that they read.
        """
        for group in self._shared:
            by_cell: dict[int | None, list[MemoryAccess]] = defaultdict(list)
            for access in group:
                if access.writes:
                    by_cell[access.cell].append(access)
            everywhere = by_cell.pop(None, [])
            anywhere = [*everywhere, *(a for writes in by_cell.values() for a in writes)]
            for read in group:
                if not read.reads:
                    continue
                seen = self.seen(read)
                cell = read.cell
                for write in anywhere if cell is None else [*everywhere, *by_cell.get(cell, ())]:
                    if read.writes and write.reads:
                        continue
                    if write.op is not read.op and not seen & self._bits[write.op]:
                        yield read, write

    def check_races(self) -> None:
        """Raise PassFailedException for two unordered STOREs of different values to one location
        under one gate."""
        intervals = MinMax()
        numbering, values = LocationNumbering(intervals), _ValueNumbering(intervals)
        message = "a race: this STORE and another write one cell, and neither is AFTER the other"
        for group in self._shared:
            last: dict[object, tg.StoreOp] = {}
            for access in group:
                if not isinstance(op := access.op, tg.StoreOp):
                    continue
                location = tuple(numbering[o] for o in (op.buffer, op.gate) if o is not None)
                before = last.get(location)
                if (
                    before is not None
                    and not self.depends(op, before)
                    and values[op.value] != values[before.value]
                ):
                    raise locate(PassFailedException(message), op)
                last[location] = op


class LocationNumbering(tg.Computed[int]):
    """Value numbering of locations. Equal pure ops have one number, values that intervals prove
    constant have that of the constant, and an AFTER has that of its buffer."""

    def __init__(self, intervals: MinMax) -> None:
        super().__init__()
        self._intervals = intervals
        self._numbers: dict[object, int] = {}

    def _sources(self, value: SSAValue) -> Iterable[SSAValue]:
        return tg.operands_of(value) if self._is_known(value) else ()

    def _is_known(self, value: SSAValue) -> bool:
        """Whether a value is determined by its op and operands."""
        return isinstance(value.owner, Operation) and value.owner.has_trait(Pure)

    def _compute(self, value: SSAValue) -> int:
        owner = value.owner
        if (
            value.type == tg.tensor_type(tg.INDEX)
            and (interval := self._intervals[value]).is_constant
        ):
            return self._number(interval.lo)
        if not isinstance(owner, Operation) or not self._is_known(value):
            return self._number(value)
        if isinstance(owner, tg.AfterOp):
            return self._after(owner)
        return self._number(op_key(owner, [self._known[o] for o in owner.operands]))

    def _after(self, op: tg.AfterOp) -> int:
        return self._known[op.buffer]

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


class _ValueNumbering(LocationNumbering):
    """Value numbering of stored values: LOADs of one location AFTER the same writes are equal."""

    def _is_known(self, value: SSAValue) -> bool:
        return isinstance(value.owner, tg.LoadOp) or super()._is_known(value)

    def _after(self, op: tg.AfterOp) -> int:
        return self._number((tg.AfterOp.name, self._known[op.buffer], op.dependencies))
