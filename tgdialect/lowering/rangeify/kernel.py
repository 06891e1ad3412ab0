"""The kernel of one task: every value broken down to shape ().

`KernelBuilder.cell` lowers one element of a value, `locate` one cell of a view of memory; `store`
puts the one into the other, and `finish` closes the loops.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.indexing import moved
from tgdialect.analysis.positions import Index, Position
from tgdialect.diagnostics import locate
from tgdialect.lowering.rangeify.cells import (
    RULES,
    Cell,
    Lowering,
    Request,
    done,
    indices,
    materialised,
)
from tgdialect.lowering.rangeify.emitter import ScalarEmitter
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import KernelOp
from tgdialect.ops.elementwise import ElementwiseOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import (
    BitcastOp,
    IndexOp,
    MovementOp,
    PadOp,
    ReshapeOp,
)
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, SinkOp
from tgdialect.ops.properties import dtype_of, is_memory, place, shape_of, tensor, tensor_type
from tgdialect.ops.source import BufferOp, ConstOp


class MemoryCell(NamedTuple):
    """A cell of memory: the buffer it is in, its index, and the condition for it to exist."""

    buffer: SSAValue
    position: Index
    valid: SSAValue | None


@dataclass(frozen=True)
class Realised:
    """The buffers that hold a realised value: its elements, and their validity if they need one."""

    data: SSAValue
    mask: SSAValue | None


def memory_leaf(value: SSAValue) -> SSAValue:
    """The buffer or argument that memory is, whichever version of it is read."""
    while isinstance(value.owner, AfterOp):
        value = value.owner.buffer
    return value


def is_host_scalar(value: SSAValue) -> bool:
    """Whether a value is an index scalar of the host function: an argument that is no memory."""
    return isinstance(value, BlockArgument) and not is_memory(value)


class KernelBuilder(ScalarEmitter):
    """Builds one kernel."""

    def __init__(
        self,
        realised: dict[Operation, Realised],
        staged: Mapping[Operation, tuple[int, ...]] = {},
        constants: Mapping[Operation, Attribute] = {},
    ) -> None:
        super().__init__()
        self.constants = constants
        self.realised = realised
        self.staged = staged
        self.loads: dict[SSAValue, set[Index]] = {}
        """The indices at which each buffer is read."""
        self._cells: dict[Request, Cell] = {}
        self._buffers = 0
        self._rows: dict[tuple[Operation, Index], Realised] = {}
        """The buffers of staged values, filled, for each index of the axes that loops fix."""

    # -- cells

    def cell(self, value: SSAValue, index: Index) -> Cell:
        """One element of a value. Explicit stack: graphs can be as deep as they like."""
        cells = self._cells
        root = (value, index)
        stack: list[tuple[Request, Lowering]] = []
        request, reply = root, None
        while True:
            if (reply := cells.get(request)) is None:
                stack.append((request, self._lower(*request)))
            while stack:
                key, lowering = stack[-1]
                owner = key[0].owner
                self.location = owner.location if isinstance(owner, Operation) else None
                try:
                    request = next(lowering) if reply is None else lowering.send(reply)
                except StopIteration as done:
                    reply = cells[key] = done.value
                    stack.pop()
                else:
                    break
            else:
                return cells[root]

    def _lower(self, value: SSAValue, index: Index) -> Lowering:
        owner = value.owner
        if isinstance(owner, Operation) and (buffers := self.realised.get(owner)) is not None:
            data = self._load(buffers.data, index)
            mask = None if buffers.mask is None else self._load(buffers.mask, index)
            return done(Cell(data, mask))
        if isinstance(owner, Operation) and owner in self.constants:
            return done(Cell(self.emit(ConstOp, argument=self.constants[owner]), None))
        leaf = memory_leaf(value)
        if is_memory(leaf) and isinstance(leaf.owner, BufferOp | Block):
            return done(Cell(self._load(leaf, index), None))
        if is_host_scalar(value):
            return done(Cell(self.parameter(value), None))
        assert isinstance(owner, Operation)
        if owner in self.staged:
            return self._staged(owner, index)
        return self._rule(owner, index)

    def _rule(self, op: Operation, index: Index) -> Lowering:
        for kind, rule in RULES:
            if isinstance(op, kind):
                return rule(self, op, index)
        message = f"{op.name} does not belong in a function on memory"
        raise locate(PassFailedException(message), op)

    # -- staged values

    def _staged(self, op: Operation, index: Index) -> Lowering:
        """Read a buffer that a loop of its own has filled."""
        axes = self.staged[op]
        key = op, tuple(p for a, p in enumerate(index) if a not in axes)
        if (row := self._rows.get(key)) is None:
            shape = tensor(op.results[0]).get_shape()
            inner, ranges = self.loops(tuple(shape[a] for a in axes), AxisType.LOOP)
            at = dict(zip(axes, inner, strict=True))
            cell = yield from self._rule(op, tuple(at.get(a, p) for a, p in enumerate(index)))
            row = self._rows[key] = self._fill(cell, inner, ranges)
        inner = tuple(index[a] for a in axes)
        data = self.emit(LoadOp, self._at(row.data, inner))
        mask = None if row.mask is None else self.emit(LoadOp, self._at(row.mask, inner))
        return Cell(data, mask)

    def _fill(self, cell: Cell, index: Index, ranges: Sequence[SSAValue]) -> Realised:
        """Store a cell in a buffer of the kernel, in loops; the buffer as it is after them."""
        parts = [cell.value] if cell.valid is None else [materialised(self, cell), cell.valid]
        shape = [int(position.interval.hi) + 1 for position in index]
        buffers = [self.local(tensor(part).element_type, shape) for part in parts]
        stores = [
            self.append(StoreOp(self._at(buffer, index), part))
            for buffer, part in zip(buffers, parts, strict=True)
        ]
        effect = stores[0] if len(stores) == 1 else self.append(GroupOp(stores))
        end = self.append(EndOp(effect, ranges[::-1])) if ranges else effect
        versions = [self.append(AfterOp(buffer, [end])) for buffer in buffers]
        return Realised(versions[0], versions[1] if len(versions) > 1 else None)

    def local(self, dtype: Attribute, shape: Sequence[int]) -> SSAValue:
        """A new buffer of the kernel's own."""
        type = tensor_type(dtype, tuple(shape), PlaceAttr.of(addrspace=AddrSpace.LOCAL))
        self._buffers += 1
        return self.append(BufferOp(self._buffers - 1, type))

    def _load(self, buffer: SSAValue, index: Index) -> SSAValue:
        self.loads.setdefault(buffer, set()).add(index)
        return self.emit(LoadOp, self._at(*self._viewed(self.parameter(buffer), index)))

    def _viewed(self, memory: SSAValue, index: Index) -> tuple[SSAValue, Index]:
        """A view in which axes are one whose positions are digits of one loop, which goes through
        all of them in order."""
        extents: list[int] = []
        positions: list[Position] = []
        for extent, position in zip(tensor(memory).get_shape(), index, strict=True):
            if positions and DYNAMIC_INDEX not in (extent, extents[-1]):
                size = Position((), extent)
                whole = self.add(self.mul(positions[-1], size), position)
                if _is_digit(whole) and _is_digit(positions[-1]) and _is_digit(position):
                    extents[-1] *= extent
                    positions[-1] = whole
                    continue
            extents.append(extent)
            positions.append(position)
        if len(extents) == len(index):
            return memory, index
        type = tensor_type(tensor(memory).element_type, tuple(extents), place(memory))
        return self.emit(_view_op, memory, argument=type), tuple(positions)

    def _at(self, memory: SSAValue, index: Index) -> SSAValue:
        if not index:
            return memory
        return self.emit(_index_op, memory, *map(self.value, index))

    # -- the root

    def root_cell(self, op: Operation, index: Index) -> Cell:
        """An element of a value that is being realised: its own rule, not a load of its buffer."""
        result = op.results[0]
        buffers = self.realised.pop(op)
        try:
            return self.cell(result, index)
        finally:
            self.realised[op] = buffers

    def locate(self, target: SSAValue, index: Index) -> MemoryCell:
        """The cell of a buffer that an index into a view of it means."""
        valid: SSAValue | None = None
        while isinstance(op := target.owner, TgOp) and not isinstance(op, BufferOp):
            match op:
                case AfterOp():
                    target = op.buffer
                case IndexOp():
                    inner, exists, rest = self._drive(indices(self, op, index))
                    target, index = op.source, (*inner, *rest)
                    valid = self.both(valid, exists)
                case BitcastOp() if _same_size(op):
                    target = op.source
                case MovementOp() if (inner := moved(self, op, index)) is not None:
                    target, index = op.operands[0], inner
                    if isinstance(op, PadOp):
                        valid = self.both(valid, self.inside(inner, shape_of(target)))
                case _:
                    raise locate(PassFailedException(f"a STORE cannot go through {op.name}"), op)
        return MemoryCell(target, index, valid)

    def _drive(
        self, indices: Generator[Request, Cell, tuple[Index, SSAValue | None, Index]]
    ) -> tuple[Index, SSAValue | None, Index]:
        """Run a generator of requests to its end."""
        reply: Cell | None = None
        while True:
            try:
                request = next(indices) if reply is None else indices.send(reply)
            except StopIteration as done:
                return done.value
            reply = self.cell(*request)

    def store(self, where: MemoryCell, cell: Cell, gate: SSAValue | None = None) -> SSAValue:
        """Store a cell where it exists, is valid, and the gate is open."""
        condition = self.both(gate, self.both(where.valid, cell.valid))
        location = self._at(self.parameter(where.buffer), where.position)
        value, dtype = cell.value, tensor(where.buffer).element_type
        if tensor(value).element_type != dtype:
            value = self.emit(BitcastOp, value, argument=dtype)
        return self.append(StoreOp(location, value, condition))

    def finish(self, name: str, stores: Sequence[SSAValue], ranges: Sequence[SSAValue]) -> KernelOp:
        """Close the loops around the stores, the innermost first."""
        effect = stores[0] if len(stores) == 1 else self.append(GroupOp(stores))
        if ranges:
            effect = self.append(EndOp(effect, ranges[::-1]))
        self.append(SinkOp([effect]))
        for op in reversed(list(self.block.ops)):
            if isinstance(op, ConstOp | IndexOp | ElementwiseOp) and not op.results[0].uses:
                self.block.erase_op(op)
        kernel = KernelOp(name, Region(self.block))
        if self.location is not None:
            kernel.location = self.location
        return kernel


def _view_op(buffer: SSAValue, type: Attribute) -> ReshapeOp:
    assert isinstance(type, TensorType)
    return ReshapeOp(buffer, type.get_shape())


def _is_digit(position: Position) -> bool:
    """Whether a position is a digit of a loop variable and nothing else."""
    if len(position.terms) != 1 or position.constant:
        return False
    ((atom, factor),) = position.terms
    return atom.kind == "digit" and factor == 1


def _index_op(buffer: SSAValue, *index: SSAValue) -> IndexOp:
    return IndexOp(buffer, index)


def _same_size(op: BitcastOp) -> bool:
    return dtype_of(op.source).itemsize == dtype_of(op.result).itemsize
