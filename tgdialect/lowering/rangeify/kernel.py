"""The kernel of one task: every value broken down to shape ().

`KernelBuilder.cell` computes one element of a value, `locate` finds the memory cells that a view
shows at an index, `store` writes an element to them, and `finish` closes the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.movement import moved
from tgdialect.analysis.affine.positions import Index, Position, interval_of
from tgdialect.diagnostics import kernel_location, locate, noted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import grouped, new_buffer
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
from tgdialect.lowering.rangeify.planning.padding import AxisPlace
from tgdialect.ops import tg
from tgdialect.ops.views import movements
from tgdialect.ops.walk import driven, needing

_T = TypeVar("_T")


class MemoryCell(NamedTuple):
    """A cell of a buffer, and the condition under which it exists (None: it always does)."""

    buffer: SSAValue
    position: Index
    valid: SSAValue | None
    dtype: Attribute | None = None
    """The dtype of the buffer's cells; None if it is the buffer's own."""


@dataclass(frozen=True)
class Realised:
    """The buffer that a value is stored in, and one for the validity of its cells if any may be
    invalid."""

    data: SSAValue
    mask: SSAValue | None
    order: tuple[int, ...] = ()
    """The axes of the value as the buffers have them, outermost first; empty if in order."""
    places: tuple[AxisPlace, ...] = ()
    """Where the value is along each axis of the buffer of a PAD; empty if it has one of its own."""

    def at(self, index: Index) -> Index:
        """The index in the buffers of an element of the value."""
        if self.places:
            index = tuple(place.at(index) for place in self.places)
        return tuple(index[axis] for axis in self.order) if self.order else index


class ClosedForm(NamedTuple):
    """An element of a value by its index: `value` is computed from RANGEs of another kernel, which
    stand for the index along an axis each."""

    axes: Mapping[SSAValue, int]
    value: SSAValue


class KernelBuilder(ScalarEmitter):
    """Builds one kernel."""

    def __init__(
        self,
        realised: dict[Operation, Realised],
        local_axes: Mapping[Operation, tuple[int, ...]],
        form: Callable[[SSAValue], ClosedForm | None],
        interval: Callable[[SSAValue], tg.Interval],
    ) -> None:
        """`realised` values are loaded from memory, and values of `local_axes` get a LOCAL buffer
        with these axes (`Fusion`). A REDUCE that has a closed `form` is computed by it. `interval`
        is that of a value of the function, which may be a realised one."""
        super().__init__(interval)
        self.form = form
        self.realised = realised
        self.local_axes = local_axes
        self.loads: dict[SSAValue, set[Index]] = {}
        """The indices at which each buffer is read."""
        self._cells: dict[Request, Cell] = {}
        self.given: Mapping[Operation, Callable[[Index], Lowering]] = {}
        """Rules for the elements of values that the kernel has computed otherwise."""
        self._rows: dict[tuple[Operation, Index], Realised] = {}
        """The filled LOCAL buffers, by their value and its index along the axes that they lack."""

    # -- cells

    def cell(self, value: SSAValue, index: Index) -> Cell:
        """One element of a value."""
        return self._driven(needing((value, index)))

    def _driven(self, lowering: Generator[Request, Cell, _T]) -> _T:
        """The result of a computation that needs cells."""
        return driven(lowering, self._cells, self._lower, self._resumed)

    def _resumed(self, request: Request) -> None:
        owner = request[0].owner
        if isinstance(owner, tg.TgOp):
            self.location = owner.location

    def _lower(self, request: Request) -> Lowering:
        value, index = request
        owner = value.owner
        if isinstance(owner, tg.TgOp) and (rule := self.given.get(owner)) is not None:
            return rule(index)
        # Values that are stored or known.
        if isinstance(owner, tg.TgOp) and (buffers := self.realised.get(owner)) is not None:
            at = buffers.at(index)
            data = self._load(buffers.data, at)
            mask = None if buffers.mask is None else self._load(buffers.mask, at)
            return done(Cell(data, mask))
        if isinstance(owner, tg.ReduceOp) and (form := self.form(value)) is not None:
            noted("closed form", owner)
            at = {loop: self.value(index[axis]) for loop, axis in form.axes.items()}
            return done(Cell(self.clone(form.value, at, everything=True), None))
        # Leaves.
        leaf = tg.behind(value, tg.AfterOp)
        if tg.is_memory(leaf) and isinstance(leaf.owner, tg.BufferOp | Block):
            return done(Cell(self._load(leaf, index), None))
        if leaf is not value:  # A version of a view: the order of tasks says which.
            return self._lower((leaf, index))
        if isinstance(value, BlockArgument) and not tg.is_memory(value):  # An index scalar.
            return done(Cell(self.parameter(value), None))
        # Values that this kernel computes.
        assert isinstance(owner, tg.TgOp)
        if owner in self.local_axes:
            return self._from_local_buffer(owner, index)
        return self._rule(owner, index)

    def _rule(self, op: Operation, index: Index) -> Lowering:
        for kind, rule in RULES:
            if isinstance(op, kind):
                noted(rule.__name__, op)
                return rule(self, op, index)
        message = f"{op.name} does not belong in a function on memory"
        raise locate(PassFailedException(message), op)

    # -- local values

    def _from_local_buffer(self, op: Operation, index: Index) -> Lowering:
        """Load an element from a LOCAL buffer, which loops of its own fill at its first use."""
        axes = self.local_axes[op]
        key = op, tuple(p for a, p in enumerate(index) if a not in axes)
        if (row := self._rows.get(key)) is None:
            shape = tg.tensor(op.results[0]).get_shape()
            inner, ranges = self.loops(tuple(shape[a] for a in axes), tg.AxisType.LOOP)
            at = dict(zip(axes, inner, strict=True))
            cell = yield from self._rule(op, tuple(at.get(a, p) for a, p in enumerate(index)))
            row = self._rows[key] = self._fill(cell, inner, ranges)
        inner = tuple(index[a] for a in axes)
        data = self.emit(tg.LoadOp, self._at(row.data, inner))
        mask = None if row.mask is None else self.emit(tg.LoadOp, self._at(row.mask, inner))
        return Cell(data, mask)

    def _fill(self, cell: Cell, index: Index, ranges: Sequence[SSAValue]) -> Realised:
        """Store a cell in a LOCAL buffer, in loops; returns the buffer after these."""
        parts = [cell.value] if cell.valid is None else [materialised(self, cell), cell.valid]
        shape = [int(interval_of(position).hi) + 1 for position in index]
        buffers = [self.local_buffer(tg.tensor(part).element_type, shape) for part in parts]
        stores = [
            self.put(tg.StoreOp(self._at(buffer, index), part))
            for buffer, part in zip(buffers, parts, strict=True)
        ]
        end = self.ended(stores, ranges)
        data, *mask = [self.put(tg.AfterOp(buffer, [end])) for buffer in buffers]
        return Realised(data, mask[0] if mask else None)

    def ended(self, effects: Sequence[SSAValue], ranges: Sequence[SSAValue]) -> SSAValue:
        """One effect for several in loops, after these; the outermost loop comes first."""
        effect = grouped(self, effects)
        return self.put(tg.EndOp(effect, ranges[::-1])) if ranges else effect

    def local_buffer(self, dtype: Attribute, shape: Sequence[int]) -> SSAValue:
        """A new LOCAL buffer."""
        return new_buffer(self, dtype, shape, tg.AddrSpace.LOCAL)

    def _load(self, buffer: SSAValue, index: Index) -> SSAValue:
        self.loads.setdefault(buffer, set()).add(index)
        return self.emit(tg.LoadOp, self._at(*self._viewed(self.parameter(buffer), index)))

    def _viewed(self, memory: SSAValue, index: Index) -> tuple[SSAValue, Index]:
        """A view with axes merged where one loop goes through all of their cells in order.

        `a[i // 4, i % 4]` of a `3x4` buffer is `a[i]` of 12 cells: no division is left.
        """
        extents: list[tg.Dim] = []
        positions: list[Position] = []
        for extent, position in zip(tg.shape_of(memory), index, strict=True):
            if positions and isinstance(extent, int) and isinstance(extents[-1], int):
                whole = self.add(positions[-1] * extent, position)
                if _is_digit(whole) and _is_digit(positions[-1]) and _is_digit(position):
                    extents[-1] = extents[-1] * extent
                    positions[-1] = whole
                    continue
            extents.append(extent)
            positions.append(position)
        if len(extents) == len(index):
            return memory, index
        return self.emit(tg.ReshapeOp, memory, tuple(extents)), tuple(positions)

    def _at(self, memory: SSAValue, index: Index) -> SSAValue:
        if not index:
            return memory
        return self.emit(tg.IndexOp, memory, tuple(map(self.value, index)))

    # -- the root

    def root_cell(self, op: Operation, index: Index) -> Cell:
        """An element of the value that this kernel realises: computed, and not loaded."""
        result = op.results[0]
        buffers = self.realised.pop(op)
        try:
            return self.cell(result, index)
        finally:
            self.realised[op] = buffers

    def locate(self, target: SSAValue, index: Index) -> Sequence[MemoryCell]:
        """The memory cells that a view shows at an index: one, unless a BITCAST on the way goes
        from smaller elements to larger ones."""
        size, unit = tg.dtype_of(target).itemsize, _smallest_element(target)
        return [self._piece(target, index, part, unit) for part in range(size // unit)]

    def _piece(self, target: SSAValue, index: Index, number: int, unit: int) -> MemoryCell:
        """The memory cell that has a part of an element: the n-th one of `unit` bytes."""
        valid: SSAValue | None = None
        part: Position = tg.Affine(constant=number)
        while isinstance(op := target.owner, tg.TgOp) and not isinstance(op, tg.BufferOp):
            noted("locate", op)
            match op:
                case tg.AfterOp():
                    target = op.buffer
                case tg.IndexOp():
                    inner, exists, rest = self._driven(indices(self, op, index))
                    target, index = op.source, (*inner, *rest)
                    valid = self.both(valid, exists)
                case tg.BitcastOp():
                    new, old = (tg.dtype_of(v).itemsize for v in (op.result, op.source))
                    target = op.source
                    if new == old:
                        continue
                    *outer, last = index
                    if new < old:
                        last, within = self.divided(last, tg.Affine(constant=old // new))
                        part = self.add(within * (new // unit), part)
                    else:
                        whole, part = self.divided(part, tg.Affine(constant=old // unit))
                        last = self.add(last * (new // old), whole)
                    index = (*outer, last)
                case tg.MovementOp() if (inner := moved(self, op, index)) is not None:
                    target, index = op.operands[0], inner
                    if isinstance(op, tg.PadOp):
                        valid = self.both(valid, self.inside(inner, tg.shape_of(target)))
                case _:
                    raise locate(PassFailedException(f"a STORE cannot go through {op.name}"), op)
        if (size := tg.dtype_of(target).itemsize) == unit:
            return MemoryCell(target, index, valid)
        *outer, last = index
        at = self.add(last * (size // unit), part)
        return MemoryCell(target, (*outer, at), valid, tg.unsigned(8 * unit))

    def store(
        self, where: Sequence[MemoryCell], cell: Cell, gate: SSAValue | None = None
    ) -> SSAValue:
        """Write a cell if the memory cells exist, the value is valid, and the gate is true."""
        values = [cell.value]
        if len(where) > 1:
            bits = 8 * tg.dtype_of(cell.value).itemsize
            whole, size = self.emit(tg.BitcastOp, cell.value, tg.unsigned(bits)), bits // len(where)
            values = [self.emit(tg.ShrOp, whole, self.constant(n)) for n in range(0, bits, size)]
            values = [self.emit(tg.CastOp, value, tg.unsigned(size)) for value in values]
        stores: list[SSAValue] = []
        for (buffer, position, exists, dtype), value in zip(where, values, strict=True):
            memory = self.parameter(buffer)
            if dtype is not None:
                memory = self.emit(tg.BitcastOp, memory, dtype)
            dtype = tg.tensor(memory).element_type
            if tg.tensor(value).element_type != dtype:
                value = self.emit(tg.BitcastOp, value, dtype)
            condition = self.both(gate, self.both(exists, cell.valid))
            stores.append(self.put(tg.StoreOp(self._at(memory, position), value, condition)))
        return grouped(self, stores)

    def finish(
        self, name: str, stores: Sequence[SSAValue], ranges: Sequence[SSAValue]
    ) -> tg.KernelOp:
        """Close the loops around the stores, the innermost first, and erase what is not used."""
        self.put(tg.SinkOp([self.ended(stores, ranges)]))
        for op in reversed(ops_of(self.block)):
            if (
                isinstance(op, tg.ConstOp | tg.IndexOp | tg.ElementwiseOp)
                and op.results[0].first_use is None
            ):
                Rewriter.erase_op(op)
        kernel = tg.KernelOp(name, Region(self.block))
        kernel.location = kernel_location(self.location, ops_of(self.block))
        return kernel


def _is_digit(position: Position) -> bool:
    """Whether a position is one digit of a loop variable."""
    return position.atom is not None and position.atom.kind == "digit"


def _smallest_element(target: SSAValue) -> int:
    """The bytes of an element of the views on the way from a view to its memory, where they have
    fewest."""
    views = (target, *(view.operands[0] for view in movements(target)))
    return min(tg.dtype_of(view).itemsize for view in views)
