"""The kernel of one task: every value broken down to shape ().

`KernelBuilder.cell` lowers one element of a value: the value at an index. Movement ops only change
the index; elementwise ops become scalar ops; REDUCE opens RANGEs; what is in memory is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.rangeify.indexing import (
    Index,
    broadcast,
    flipped,
    padded,
    permuted,
    reshaped,
    shifted,
)
from tgdialect.ops.attributes import AxisType, InvalidAttr, PlaceAttr, ReduceKind
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import KernelOp
from tgdialect.ops.dtypes import BOOL, DTYPES, INDEX, DType, number_attribute
from tgdialect.ops.elementwise import (
    AddOp,
    AndOp,
    CastOp,
    CmpLtOp,
    CmpNeOp,
    ElementwiseOp,
    IDivOp,
    ModOp,
    MulOp,
    NotOp,
    OrOp,
    ShlOp,
    ShrOp,
    SubOp,
    WhereOp,
)
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp, SinkOp, dependent_ranges
from tgdialect.ops.properties import (
    Dim,
    Shape,
    dtype_of,
    integers,
    is_memory,
    number,
    place,
    shape_of,
    tensor,
    tensor_type,
    window,
)
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BinaryDataOp, BufferOp, ConstOp, ParamOp


class Cell(NamedTuple):
    """One element: its value, and the condition for it to be valid (None: it always is)."""

    value: SSAValue
    valid: SSAValue | None


class Location(NamedTuple):
    """A cell of memory: the buffer it is in, its index, and the condition for it to exist."""

    buffer: SSAValue
    index: Index
    valid: SSAValue | None


Request = tuple[SSAValue, Index]
Lowering = Generator[Request, Cell, Cell]
"""A lowering in progress: it yields the cells it needs, is sent them, and returns its own."""


@dataclass(frozen=True)
class Realised:
    """The buffers that hold a realised value: its elements, and their validity if they need one."""

    data: SSAValue
    mask: SSAValue | None


def identity(kind: ReduceKind, dtype: DType) -> int | float:
    """What a reduction over nothing gives."""
    match kind:
        case ReduceKind.ADD:
            return 0
        case ReduceKind.MUL:
            return 1
        case ReduceKind.MAX:
            return dtype.low


def memory_leaf(value: SSAValue) -> SSAValue:
    """The buffer or argument that memory is, whichever version of it is read."""
    while isinstance(value.owner, AfterOp):
        value = value.owner.buffer
    return value


def is_host_scalar(value: SSAValue) -> bool:
    """Whether a value is an index scalar of the host function: an argument that is no memory."""
    return isinstance(value, BlockArgument) and not is_memory(value)


class KernelBuilder:
    """Builds one kernel. Equal ops are emitted once, and trivial index arithmetic not at all."""

    def __init__(self, realised: dict[Operation, Realised]) -> None:
        self.block = Block()
        self.realised = realised
        self.arguments: dict[SSAValue, SSAValue] = {}
        self.loads: dict[SSAValue, set[Index]] = {}
        self._emitted: dict[tuple[object, ...], SSAValue] = {}
        self._cells: dict[Request, Cell] = {}
        self._intervals = MinMax()
        self._axes = 0
        self._location = None

    # -- emitting

    def emit(
        self, kind: Callable[..., TgOp], *operands: SSAValue, argument: Attribute | None = None
    ) -> SSAValue:
        """The result of an op, a new one unless the kernel has it already."""
        key = (kind, operands, argument)
        if (known := self._emitted.get(key)) is None:
            op = kind(*operands) if argument is None else kind(*operands, argument)
            known = self._emitted[key] = self._append(op)
        return known

    def _append(self, op: TgOp) -> SSAValue:
        if self._location is not None:
            op.location = self._location
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, dtype: Attribute) -> SSAValue:
        return self.emit(ConstOp, argument=number_attribute(value, dtype))

    def dim(self, dim: Dim) -> SSAValue:
        """An extent: a constant, a value of this kernel, or an index scalar of the host."""
        if isinstance(dim, int):
            return self.constant(dim, INDEX)
        return dim if dim.owner is self.block or _in_block(dim, self.block) else self.parameter(dim)

    def parameter(self, host: SSAValue) -> SSAValue:
        """The PARAM for a buffer or index scalar of the host."""
        if (known := self.arguments.get(host)) is None:
            type = tensor(host)
            where = PlaceAttr.of(addrspace=place(host).addrspace)
            dims = [self.dim(d) for d in shape_of(host) if isinstance(d, SSAValue)]
            slot = len(self.arguments)
            known = self._append(
                ParamOp(slot, tensor_type(type.element_type, type.get_shape(), where), dims)
            )
            known.name_hint = host.name_hint
            self.arguments[host] = known
            self._emit_bounds(known, host)
        return known

    def _emit_bounds(self, parameter: SSAValue, host: SSAValue) -> None:
        """An index scalar keeps its bounds."""
        if is_memory(host) or not isinstance(parameter.owner, ParamOp):
            return
        interval = MinMax()[host]
        if not interval.within(-(2**62), 2**62):
            return
        parameter.owner.min = IntAttr(int(interval.lo))
        parameter.owner.max = IntAttr(int(interval.hi))

    # -- index arithmetic

    def _known(self, value: Dim) -> int | None:
        """The value of a constant."""
        if isinstance(value, int):
            return value
        interval = self._intervals[value]
        return int(interval.lo) if interval.is_constant else None

    def _fold(
        self,
        kind: Callable[..., TgOp],
        function: Callable[[int, int], int],
        a: Dim,
        b: Dim,
        neutral: int | None,
    ) -> SSAValue:
        """An index op; folded on constants, and gone where b is its neutral element."""
        x, y = self._known(a), self._known(b)
        if x is not None and y is not None:
            return self.constant(function(x, y), INDEX)
        if y is not None and y == neutral:
            return self.dim(a)
        return self.emit(kind, self.dim(a), self.dim(b))

    def add(self, a: Dim, b: Dim) -> SSAValue:
        if self._known(a) is not None:
            a, b = b, a
        return self._fold(AddOp, lambda x, y: x + y, a, b, 0)

    def sub(self, a: Dim, b: Dim) -> SSAValue:
        if (y := self._known(b)) is not None:
            return self.add(a, -y)
        return self._fold(SubOp, lambda x, y: x - y, a, b, 0)

    def mul(self, a: Dim, b: Dim) -> SSAValue:
        if self._known(a) is not None:
            a, b = b, a
        return (
            self.dim(0) if self._known(b) == 0 else self._fold(MulOp, lambda x, y: x * y, a, b, 1)
        )

    def idiv(self, a: Dim, b: Dim) -> SSAValue:
        n = self._known(b)
        if n is not None and n > 0 and self._intervals[self.dim(a)].within(0, n - 1):
            return self.dim(0)
        return self._fold(IDivOp, lambda x, y: x // y if y else 0, a, b, 1)

    def mod(self, a: Dim, b: Dim) -> SSAValue:
        n = self._known(b)
        if n is not None and n > 0 and self._intervals[self.dim(a)].within(0, n - 1):
            return self.dim(a)
        return self._fold(ModOp, lambda x, y: x % y if y else 0, a, b, None)

    def in_range(self, index: SSAValue, extent: Dim) -> SSAValue | None:
        interval, n = self._intervals[index], self._known(extent)
        result = None
        if interval.lo < 0:
            result = self.emit(NotOp, self.emit(CmpLtOp, index, self.dim(0)))
        if n is None or interval.hi >= n:
            result = self.both(result, self.emit(CmpLtOp, index, self.dim(extent)))
        return result

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        if a is None or b is None or a is b:
            return b if a is None else a
        return self.emit(AndOp, a, b)

    # -- ranges

    def ranges(self, shape: Shape, axis_type: AxisType) -> Index:
        """A new RANGE for each axis; axes of size 1 are at 0."""
        result: list[SSAValue] = []
        for extent in shape:
            if extent == 1:
                result.append(self.dim(0))
            else:
                result.append(self._append(RangeOp(self._axes, axis_type, self.dim(extent))))
                self._axes += 1
        return tuple(result)

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
                self._location = _location_of(key[0])
                try:
                    request = next(lowering) if reply is None else lowering.send(reply)
                except StopIteration as done:
                    reply = cells[key] = done.value
                    stack.pop()
                else:
                    break
            else:
                return cells[root]

    def materialised(self, cell: Cell) -> SSAValue:
        """A cell as memory holds it: 0 where it is invalid."""
        if cell.valid is None:
            return cell.value
        zero = self.constant(0, tensor(cell.value).element_type)
        return self.emit(WhereOp, cell.valid, cell.value, zero)

    def _lower(self, value: SSAValue, index: Index) -> Lowering:
        owner = value.owner
        if isinstance(owner, Operation) and (buffers := self.realised.get(owner)) is not None:
            data = self._load(buffers.data, index)
            mask = None if buffers.mask is None else self._load(buffers.mask, index)
            return _done(Cell(data, mask))
        leaf = memory_leaf(value)
        if is_memory(leaf) and isinstance(leaf.owner, BufferOp | Block):
            return _done(Cell(self._load(leaf, index), None))
        if is_host_scalar(value):
            return _done(Cell(self.parameter(value), None))
        assert isinstance(owner, Operation)
        for kind, rule in _RULES:
            if isinstance(owner, kind):
                return rule(self, owner, index)
        raise PassFailedException(f"{owner.name} does not belong in a function on memory")

    def _load(self, buffer: SSAValue, index: Index) -> SSAValue:
        self.loads.setdefault(buffer, set()).add(index)
        return self.emit(LoadOp, self._locate(buffer, index))

    def _locate(self, buffer: SSAValue, index: Index) -> SSAValue:
        parameter = self.parameter(buffer)
        return self.emit(_index_op, parameter, *index) if index else parameter

    def _const(self, op: ConstOp, index: Index) -> Lowering:
        dtype = tensor(op.result).element_type
        if isinstance(op.value, InvalidAttr):
            return _done(Cell(self.constant(0, dtype), self.constant(0, BOOL)))
        return _done(Cell(self.emit(ConstOp, argument=op.value), None))

    def _binary(self, op: BinaryDataOp, index: Index) -> Lowering:
        dtype = tensor(op.result).element_type
        result = self.constant(0, dtype)
        for position, byte in enumerate(op.bytes):
            other = self.emit(CmpNeOp, index[0], self.dim(position))
            result = self.emit(WhereOp, other, result, self.constant(byte, dtype))
        return _done(Cell(result, None))

    def _permute(self, op: PermuteOp, index: Index) -> Lowering:
        return (yield op.source, permuted(index, integers(op, "order")))

    def _flip(self, op: FlipOp, index: Index) -> Lowering:
        shape = shape_of(op.source)
        return (yield op.source, flipped(self, index, shape, integers(op, "flags")))

    def _reshape(self, op: ReshapeOp, index: Index) -> Lowering:
        return (yield op.source, reshaped(self, index, shape_of(op.result), shape_of(op.source)))

    def _expand(self, op: ExpandOp, index: Index) -> Lowering:
        return (yield op.source, broadcast(self, index, shape_of(op.result), shape_of(op.source)))

    def _shrink(self, op: ShrinkOp, index: Index) -> Lowering:
        return (yield op.source, shifted(self, index, window(op)[0]))

    def _pad(self, op: PadOp, index: Index) -> Lowering:
        inner, exists = padded(self, index, window(op)[0], shape_of(op.source))
        cell = yield op.source, inner
        if exists is None:
            return cell
        if op.fill is None:
            return Cell(cell.value, self.both(exists, cell.valid))
        fill = self.constant(number(op.fill), tensor(op.result).element_type)
        value = self.emit(WhereOp, exists, cell.value, fill)
        if cell.valid is None:
            return Cell(value, None)
        return Cell(value, self.emit(OrOp, self.emit(NotOp, exists), cell.valid))

    def _index(self, op: IndexOp, index: Index) -> Lowering:
        """Data-dependent indices; out of bounds, or through an invalid index, 0 is read."""
        inner, exists, rest = yield from self._indices(op, index)
        cell = yield op.source, (*inner, *rest)
        if exists is None:
            return cell
        zero = self.constant(0, tensor(op.result).element_type)
        value = self.emit(WhereOp, exists, cell.value, zero)
        if cell.valid is None:
            return Cell(value, None)
        return Cell(value, self.emit(OrOp, self.emit(NotOp, exists), cell.valid))

    def _indices(
        self, op: IndexOp, index: Index
    ) -> Generator[Request, Cell, tuple[Index, SSAValue | None, Index]]:
        """The values of an INDEX's operands, the condition for them, and the axes left over."""
        inner: list[SSAValue] = []
        exists: SSAValue | None = None
        position = 0
        for operand, extent in zip(op.indices, shape_of(op.source), strict=False):
            rank = len(tensor(operand).get_shape())
            cell = yield operand, index[position : position + rank]
            position += rank
            value = cell.value
            if tensor(value).element_type != INDEX:
                value = self.emit(CastOp, value, argument=INDEX)
            exists = self.both(exists, self.both(cell.valid, self.in_range(value, extent)))
            inner.append(value)
        return tuple(inner), exists, index[position:]

    def _stack(self, op: StackOp, index: Index) -> Lowering:
        which, inner = index[0], index[1:]
        known = self._known(which)
        if known is not None and 0 <= known < len(op.sources):
            return (yield op.sources[known], inner)
        result = yield op.sources[0], inner
        for position in range(1, len(op.sources)):
            cell = yield op.sources[position], inner
            result = self._select(self.emit(CmpNeOp, which, self.dim(position)), result, cell)
        return result

    def _select(self, condition: SSAValue, a: Cell, b: Cell) -> Cell:
        """WHERE on cells: only the branch that is taken need be valid."""
        value = self.emit(WhereOp, condition, a.value, b.value)
        if a.valid is None and b.valid is None:
            return Cell(value, None)
        true = self.constant(1, BOOL)
        valid = self.emit(
            WhereOp,
            condition,
            true if a.valid is None else a.valid,
            true if b.valid is None else b.valid,
        )
        return Cell(value, valid)

    def _where(self, op: WhereOp, index: Index) -> Lowering:
        shape = shape_of(op.result)
        condition = yield op.condition, broadcast(self, index, shape, shape_of(op.condition))
        a = yield op.lhs, broadcast(self, index, shape, shape_of(op.lhs))
        b = yield op.rhs, broadcast(self, index, shape, shape_of(op.rhs))
        result = self._select(condition.value, a, b)
        return Cell(result.value, self.both(condition.valid, result.valid))

    def _elementwise(self, op: ElementwiseOp, index: Index) -> Lowering:
        shape = shape_of(op.result)
        valid: SSAValue | None = None
        values: list[SSAValue] = []
        for operand in op.operands:
            cell = yield operand, broadcast(self, index, shape, shape_of(operand))
            values.append(cell.value)
            valid = self.both(valid, cell.valid)
        argument = op.dtype if isinstance(op, CastOp) else None
        return Cell(self.emit(type(op), *values, argument=argument), valid)

    def _bitcast(self, op: BitcastOp, index: Index) -> Lowering:
        source = tensor(op.source).element_type
        old, new = DTYPES[source].itemsize, DTYPES[op.dtype].itemsize
        if old == new:
            cell = yield op.source, index
            return Cell(self.emit(BitcastOp, cell.value, argument=op.dtype), cell.valid)
        narrow, wide = (_unsigned(8 * size) for size in sorted((old, new)))
        ratio = max(old, new) // min(old, new)
        if new < old:
            cell = yield op.source, (*index[:-1], self.idiv(index[-1], ratio))
            bits = self.emit(BitcastOp, cell.value, argument=wide)
            part = self.emit(MulOp, self.mod(index[-1], ratio), self.dim(8 * new))
            bits = self.emit(ShrOp, bits, part)
            value = self.emit(CastOp, bits, argument=narrow)
            return Cell(self.emit(BitcastOp, value, argument=op.dtype), cell.valid)
        bits: SSAValue | None = None
        valid: SSAValue | None = None
        for part in range(ratio):
            last = self.add(self.mul(index[-1], ratio), part)
            cell = yield op.source, (*index[:-1], last)
            valid = self.both(valid, cell.valid)
            piece = self.emit(BitcastOp, cell.value, argument=narrow)
            piece = self.emit(CastOp, piece, argument=wide)
            if part:
                piece = self.emit(ShlOp, piece, self.dim(8 * old * part))
            bits = piece if bits is None else self.emit(OrOp, bits, piece)
        assert bits is not None
        return Cell(self.emit(BitcastOp, bits, argument=op.dtype), valid)

    def _reduce(self, op: ReduceOp, index: Index) -> Lowering:
        """REDUCE over axes becomes REDUCE over ranges; an invalid cell counts as the identity."""
        axes, shape = integers(op, "axes"), shape_of(op.source)
        ranges = self.ranges(tuple(shape[a] for a in axes), AxisType.REDUCE)
        reduced = dict(zip(axes, ranges, strict=True))
        cell = yield op.source, tuple(reduced.get(a, i) for a, i in enumerate(index))
        dtype = tensor(op.result).element_type
        kind = op.kind.data
        neutral = self.constant(identity(kind, DTYPES[dtype]), dtype)
        value = cell.value
        if cell.valid is not None:
            value = self.emit(WhereOp, cell.valid, value, neutral)
        loops = [r for r in ranges if isinstance(r.owner, RangeOp)]
        if not loops:
            return Cell(value, None)
        dependent = dependent_ranges(value)
        for loop in loops:
            if loop.owner not in dependent:
                # The operand repeats along this range: a condition that always holds ties it in.
                inside = self.emit(CmpLtOp, loop, self.emit(AddOp, loop, self.dim(1)))
                value = self.emit(WhereOp, inside, value, neutral)
        result = ReduceOp(kind, value, (), loops, ordered=op.ordered is not None)
        return Cell(self._append(result), None)

    def _realised_load(self, op: LoadOp, index: Index) -> Lowering:
        """LOAD where it is realised: what is made into memory is valid from then on."""
        cell = yield op.buffer, index
        value = self.materialised(cell)
        if op.gate is None or op.alt is None:
            return Cell(value, None)
        gate = yield op.gate, index if tensor(op.gate).get_shape() else ()
        alt = yield op.alt, index
        condition = self.both(gate.value, gate.valid)
        assert condition is not None
        return Cell(self.emit(WhereOp, condition, value, self.materialised(alt)), None)

    # -- the root

    def root_cell(self, op: Operation, index: Index) -> Cell:
        """An element of a value that is being realised: its own rule, not a load of its buffer."""
        result = op.results[0]
        buffers = self.realised.pop(op)
        try:
            return self.cell(result, index)
        finally:
            self.realised[op] = buffers

    def location(self, target: SSAValue, index: Index) -> Location:
        """The cell of a buffer that an index into a view of it means."""
        valid: SSAValue | None = None
        while isinstance(op := target.owner, TgOp) and not self._is_leaf(target):
            match op:
                case AfterOp():
                    target = op.buffer
                case PermuteOp():
                    target, index = op.source, permuted(index, integers(op, "order"))
                case FlipOp():
                    flags = integers(op, "flags")
                    target, index = op.source, flipped(self, index, shape_of(op.source), flags)
                case ReshapeOp():
                    inner = reshaped(self, index, shape_of(op.result), shape_of(op.source))
                    target, index = op.source, inner
                case ShrinkOp():
                    target, index = op.source, shifted(self, index, window(op)[0])
                case ExpandOp():
                    inner = broadcast(self, index, shape_of(op.result), shape_of(op.source))
                    target, index = op.source, inner
                case PadOp():
                    index, exists = padded(self, index, window(op)[0], shape_of(op.source))
                    target, valid = op.source, self.both(valid, exists)
                case IndexOp():
                    inner, exists, rest = self._drive(self._indices(op, index))
                    target, index = op.source, (*inner, *rest)
                    valid = self.both(valid, exists)
                case BitcastOp() if _same_size(op):
                    target = op.source
                case _:
                    raise PassFailedException(f"a STORE cannot go through {op.name}")
        return Location(target, index, valid)

    def _is_leaf(self, value: SSAValue) -> bool:
        return value in self.arguments

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

    def store(self, where: Location, cell: Cell, gate: SSAValue | None = None) -> SSAValue:
        """Store a cell where it exists, is valid, and the gate is open."""
        condition = self.both(gate, self.both(where.valid, cell.valid))
        location = self._locate(where.buffer, where.index)
        value, dtype = cell.value, tensor(where.buffer).element_type
        if tensor(value).element_type != dtype:
            value = self.emit(BitcastOp, value, argument=dtype)
        return self._append(StoreOp(location, value, condition))

    def finish(self, name: str, stores: Sequence[SSAValue], ranges: Index) -> KernelOp:
        """Close the loops around the stores, the innermost first."""
        effect = stores[0] if len(stores) == 1 else self._append(GroupOp(stores))
        loops = [r for r in reversed(ranges) if isinstance(r.owner, RangeOp)]
        if loops:
            effect = self._append(EndOp(effect, loops))
        self._append(SinkOp([effect]))
        for op in reversed(list(self.block.ops)):
            if isinstance(op, ConstOp | IndexOp | ElementwiseOp) and not op.results[0].uses:
                self.block.erase_op(op)
        return KernelOp(name, Region(self.block))


def _index_op(buffer: SSAValue, *index: SSAValue) -> IndexOp:
    return IndexOp(buffer, index)


def _same_size(op: BitcastOp) -> bool:
    return dtype_of(op.source).itemsize == dtype_of(op.result).itemsize


def _unsigned(bits: int) -> Attribute:
    return next(
        type for type, row in DTYPES.items() if row.bits == bits and row.name == f"ui{bits}"
    )


def _done(cell: Cell) -> Lowering:
    """A lowering that needs nothing."""
    return cell
    yield


def _in_block(value: SSAValue, block: Block) -> bool:
    return isinstance(value.owner, Operation) and value.owner.parent is block


def _location_of(value: SSAValue) -> Any:
    return value.owner.location if isinstance(value.owner, Operation) else None


_RULES: tuple[tuple[type[Operation], Callable[[KernelBuilder, Any, Index], Lowering]], ...] = (
    (WhereOp, KernelBuilder._where),
    (ElementwiseOp, KernelBuilder._elementwise),
    (ConstOp, KernelBuilder._const),
    (PermuteOp, KernelBuilder._permute),
    (FlipOp, KernelBuilder._flip),
    (ReshapeOp, KernelBuilder._reshape),
    (ExpandOp, KernelBuilder._expand),
    (PadOp, KernelBuilder._pad),
    (ShrinkOp, KernelBuilder._shrink),
    (IndexOp, KernelBuilder._index),
    (StackOp, KernelBuilder._stack),
    (BitcastOp, KernelBuilder._bitcast),
    (ReduceOp, KernelBuilder._reduce),
    (LoadOp, KernelBuilder._realised_load),
    (BinaryDataOp, KernelBuilder._binary),
)
"""How each op is lowered at an index."""
