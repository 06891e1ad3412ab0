"""One kernel: every value becomes a list of scalars, in row-major order.

A single walk over the ops in the order of the block, which dispatches on their types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import islice
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.lowering.select.bounds import Bounds
from tgdialect.lowering.select.lanes import broadcast, cells, moved
from tgdialect.lowering.select.locations import Locations
from tgdialect.lowering.select.narrow import EXACT, NarrowFloats
from tgdialect.lowering.select.scalars import TYPES, Index, Scalars, dtype_name
from tgdialect.lowering.select.targets import TargetOps
from tgdialect.ops.attributes import VOID, InvalidAttr, ReduceKind
from tgdialect.ops.base import TgOp
from tgdialect.ops.codegen import AtomicAddOp, BarrierOp, EndIfOp, IfOp, WmmaOp
from tgdialect.ops.dtypes import DTYPES, F32
from tgdialect.ops.elementwise import CastOp, ElementwiseOp
from tgdialect.ops.memory import LoadOp, StoreOp, segments
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp, SinkOp
from tgdialect.ops.properties import is_memory, number, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.soft_float import NARROW_FORMATS

Lanes = Sequence[SSAValue]
"""The elements of a value; the one edge that an op in order is."""


class KernelSelector:
    """The new block of a kernel, and what became of the values of the old one."""

    def __init__(self, target: TargetOps) -> None:
        self.block = Block()
        self.scalars = Scalars(self.block, target)
        self.narrow = NarrowFloats(self.scalars)
        self.bounds = Bounds(self.scalars)
        self._lanes: dict[SSAValue, Lanes] = {}
        self.locations = Locations(self.scalars, self.narrow, self.lane, self._lanes)

    def run(self, ops: Sequence[Operation]) -> Block:
        """The block that `ops`, those of a kernel in order, become."""
        for op in ops:
            self.scalars.location = op.location
            try:
                result = self._selected(op)
            except PassFailedException as error:
                raise locate(error, op) from error
            if result is not None:
                self._lanes[op.results[0]] = result
                if len(result) == 1 and result[0].name_hint is None:
                    result[0].name_hint = op.results[0].name_hint
        self._remove_unused()
        return self.block

    def _selected(self, op: Operation) -> Lanes | None:
        handler = _HANDLERS.get(type(op))
        if handler is None and isinstance(op, ElementwiseOp):
            handler = KernelSelector.elementwise
        if handler is None:
            raise PassFailedException(f"the target {self.scalars.target.name} has no {op.name}")
        return handler(self, op)

    def _remove_unused(self) -> None:
        """The form of a narrow value that nobody asked for, and what only it used."""
        for op in reversed(list(self.block.ops)):
            if isinstance(op, _REMOVABLE) and not op.results[0].uses:
                self.block.erase_op(op)

    # -- values

    def lanes(self, value: SSAValue) -> Lanes:
        """The elements of a value; memory is read."""
        if value not in self._lanes and is_memory(value):
            shape = static_shape(value)
            self._lanes[value] = [self.load_cell(value, cell, None, None) for cell in cells(shape)]
        return self._lanes[value]

    def aligned(self, value: SSAValue, shape: tuple[int, ...]) -> Lanes:
        """The elements of a value that broadcasts to a shape."""
        lanes = self.lanes(value)
        return [lanes[i] for i in broadcast(static_shape(value), shape)]

    def lane(self, value: SSAValue, position: Index) -> SSAValue:
        """The element of a value of one axis, or of none."""
        lanes = self.lanes(value)
        if isinstance(position, int):
            return lanes[position]
        result = lanes[0]
        for i, lane in islice(enumerate(lanes), 1, None):
            here = self.scalars.compare("cmpeq", position, i)
            result = self.scalars.apply("where", (here, lane, result), dtype_name(lane))
        return result

    def rebuilt(self, op: TgOp) -> Lanes:
        """The op on what became of its operands."""
        operands = [o for operand in op.operands for o in self._waited_for(operand)]
        return (self.scalars.append(op.rebuild(operands)),)

    def _waited_for(self, value: SSAValue) -> Lanes:
        known = self._lanes.get(value)
        if known is None and is_memory(value):
            return (self.locations.version(value),)
        return self.lanes(value)

    # -- source, movement and ordering

    def param(self, op: ParamOp) -> Lanes | None:
        if is_memory(op.result):
            return self.locations.add_param(op)
        return self.rebuilt(op)

    def buffer(self, op: BufferOp) -> None:
        self.locations.add_buffer(op)

    def const(self, op: ConstOp) -> Lanes:
        if isinstance(op.value, InvalidAttr):
            raise PassFailedException("an invalid constant in a kernel: tg-rangeify removes them")
        dtype = dtype_name(op.result)
        if dtype in NARROW_FORMATS:
            return (self.scalars.constant(number(op.value), "f32"),)
        return (self.scalars.literal(op.value),)

    def movement(self, op: Operation) -> Lanes | None:
        if is_memory(op.operands[0]):
            return None
        _ = static_shape(op.results[0])
        lanes = self.lanes(op.operands[0])
        return [lanes[i] for i in moved(op)]

    def stack(self, op: StackOp) -> Lanes:
        return [lane for source in op.sources for lane in self.lanes(source)]

    def index(self, op: IndexOp) -> Lanes | None:
        """INDEX of a value: by constants, or by choosing among the elements."""
        if is_memory(op.source):
            return None
        shape = static_shape(op.source)
        indexed = shape[: len(op.indices)]
        lanes = self.lanes(op.source)
        inner = len(lanes) // max(len(list(cells(indexed))), 1) if lanes else 0
        rows = [lanes[i : i + inner] for i in range(0, len(lanes), inner or 1)]
        axes = [[self.scalars.known_index(i) for i in self.lanes(index)] for index in op.indices]
        picks = cells(tuple(len(axis) for axis in axes))
        zero = self.zero(dtype_name(op.result), computed=True)
        result: list[SSAValue] = []
        for pick in picks:
            cell = [axis[i] for axis, i in zip(axes, pick, strict=True)]
            result += self._row(cell, indexed, rows, [zero] * _inner_size(shape, op))
        return result

    def _row(
        self, cell: Sequence[Index], shape: tuple[int, ...], rows: Sequence[Lanes], zero: Lanes
    ) -> Lanes:
        """The row at a cell, or `zero` out of bounds."""
        result = zero
        for row, candidate in zip(rows, cells(shape), strict=True):
            pairs = list(zip(cell, candidate, strict=True))
            if any(isinstance(i, int) and i != c for i, c in pairs):
                continue
            conditions = [
                self.scalars.compare("cmpeq", i, c) for i, c in pairs if not isinstance(i, int)
            ]
            here = self.scalars.all_of(conditions)
            if here is None:
                return row
            result = [
                self.scalars.apply("where", (here, a, b), dtype_name(a))
                for a, b in zip(row, result, strict=True)
            ]
        return result

    def range(self, op: RangeOp) -> Lanes:
        bound = self.scalars.index(self.scalars.known_index(self.lanes(op.bound)[0]))
        return (self.scalars.append(RangeOp(op.axis.data, op.axis_type.data, bound)),)

    def nothing(self, op: Operation) -> None:
        """A view of memory: what accesses it looks through it."""

    # -- memory

    def load(self, op: LoadOp) -> Lanes:
        if op.addrspace is not None:
            raise PassFailedException("a load into memory: it is a BUFFER and a STORE in a kernel")
        if not is_memory(op.buffer):
            return self.lanes(op.buffer)
        shape = static_shape(op.result)
        alts = None if op.alt is None else self.aligned(op.alt, shape)
        gates = None if op.gate is None else self.aligned(op.gate, shape)
        return [
            self.load_cell(op.buffer, cell, alts and alts[i], gates and gates[i])
            for i, cell in enumerate(cells(shape))
        ]

    def load_cell(
        self,
        buffer: SSAValue,
        cell: Sequence[int],
        alt: SSAValue | None,
        gate: SSAValue | None,
    ) -> SSAValue:
        """The register form of a cell; `alt`, else 0, where it is gated off or does not exist."""
        dtype = dtype_name(buffer)
        where = self.locations.locate(buffer, cell)
        gate = self.bounds.gate(where.checks, gate)
        operands = [where.reference]
        if gate is not None:
            alt = self.zero(dtype) if alt is None else self.stored(alt, dtype)
            operands += [alt, gate]
        count = int(gate is not None)
        stored = self.scalars.emit(
            LoadOp,
            operands,
            {"operandSegmentSizes": segments(1, count, count)},
            tensor_type(TYPES[self.narrow.stored_dtype(dtype)]),
        )
        return self.narrow.computed(stored, dtype) if dtype in NARROW_FORMATS else stored

    def stored(self, value: SSAValue, dtype: Dtype) -> SSAValue:
        return self.narrow.stored(value, dtype) if dtype in NARROW_FORMATS else value

    def zero(self, dtype: Dtype, *, computed: bool = False) -> SSAValue:
        form = self.narrow.computed_dtype if computed else self.narrow.stored_dtype
        return self.scalars.constant(0, form(dtype))

    def store(self, op: StoreOp) -> Lanes:
        shape, dtype = static_shape(op.value), dtype_name(op.value)
        gates = None if op.gate is None else self.aligned(op.gate, shape)
        stores: list[SSAValue] = []
        for i, (cell, value) in enumerate(zip(cells(shape), self.lanes(op.value), strict=True)):
            where = self.locations.locate(op.buffer, cell)
            gate = self.bounds.gate(where.checks, gates and gates[i])
            stored = self.stored(value, dtype)
            stores.append(self.scalars.append(StoreOp(where.reference, stored, gate)))
        return stores if len(stores) == 1 else (self.scalars.append(GroupOp(stores)),)

    def atomic_add(self, op: AtomicAddOp) -> Lanes:
        """An add that is gated off adds the neutral element to cell 0 instead."""
        shape, dtype = static_shape(op.value), dtype_name(op.value)
        if dtype in NARROW_FORMATS:
            raise PassFailedException(f"the target {self.scalars.target.name} has no atomic {dtype}")
        neutral = self.scalars.constant(-0.0 if DTYPES[TYPES[dtype]].is_float else 0, dtype)
        adds: list[SSAValue] = []
        for cell, value in zip(cells(shape), self.lanes(op.value), strict=True):
            where = self.locations.locate(op.location_, cell)
            adds.append(where.reference)
        return adds

    # -- arithmetic

    def elementwise(self, op: Operation) -> Lanes:
        shape = static_shape(op.results[0])
        operands = [self.aligned(operand, shape) for operand in op.operands]
        name, dtype = op.name.removeprefix("tg."), dtype_name(op.results[0])
        function = self._exact if dtype in NARROW_FORMATS else self._plain
        return [function(name, lane, dtype) for lane in zip(*operands, strict=True)]

    def _plain(self, name: str, operands: Sequence[SSAValue], dtype: Dtype) -> SSAValue:
        return self.scalars.apply(name, operands, dtype)

    def _exact(self, name: str, operands: Sequence[SSAValue], dtype: Dtype) -> SSAValue:
        """An op on narrow floats: computed in f32, and rounded."""
        wide = self.scalars.apply(name, operands, "f32")
        if name == "where":
            condition, a, b = operands
            self.narrow.chosen(condition, a, b, wide, dtype)
        return wide if name in EXACT else self.narrow.rounded(wide, dtype)

    def cast(self, op: CastOp) -> Lanes:
        source, dtype = dtype_name(op.source), dtype_name(op.result)
        lanes = self.lanes(op.source)
        if dtype in NARROW_FORMATS:
            return [self.narrow.converted(lane, source, dtype) for lane in lanes]
        computed = self.narrow.computed_dtype(source)
        if computed == dtype:
            return lanes
        return [self.scalars.apply("cast", (lane,), dtype) for lane in lanes]

    def bitcast(self, op: BitcastOp) -> Lanes | None:
        """BITCAST of values, through unsigned integers of the same size; a bool is a byte."""
        if is_memory(op.source):
            return None
        _ = static_shape(op.result)
        source, dtype = dtype_name(op.source), dtype_name(op.result)
        lanes = self.lanes(op.source)
        if source == dtype:
            return lanes
        old, new = DTYPES[TYPES[source]].itemsize, DTYPES[TYPES[dtype]].itemsize
        if old == new and not {source, dtype} & {"i1", *NARROW_FORMATS}:
            return [self.scalars.apply("bitcast", (lane,), dtype) for lane in lanes]
        bits = [self._bits(lane, source) for lane in lanes]
        if new < old:
            bits = [self._part(word, i, new) for word in bits for i in range(old // new)]
        elif new > old:
            ratio = new // old
            bits = [self._joined(bits[i : i + ratio], new) for i in range(0, len(bits), ratio)]
        return [self._from_bits(word, dtype) for word in bits]

    def _bits(self, value: SSAValue, dtype: Dtype) -> SSAValue:
        unsigned = _unsigned(DTYPES[TYPES[dtype]].itemsize)
        name = "cast" if dtype == "i1" else "bitcast"
        return self.scalars.apply(name, (self.stored(value, dtype),), unsigned)

    def _from_bits(self, bits: SSAValue, dtype: Dtype) -> SSAValue:
        if dtype == "i1":
            return self.scalars.apply("cast", (bits,), dtype)
        stored = self.scalars.apply("bitcast", (bits,), self.narrow.stored_dtype(dtype))
        return self.narrow.computed(stored, dtype) if dtype in NARROW_FORMATS else stored

    def _part(self, word: SSAValue, i: int, size: int) -> SSAValue:
        """The i-th part of so many bytes, the lowest first."""
        wide = dtype_name(word)
        shift = self.scalars.constant(8 * size * i, wide)
        return self.scalars.apply(
            "cast", (self.scalars.apply("shr", (word, shift), wide),), _unsigned(size)
        )

    def _joined(self, parts: Lanes, size: int) -> SSAValue:
        """The word of so many bytes that parts make up, the lowest first."""
        wide = _unsigned(size)
        words = [
            self.scalars.apply(
                "shl",
                (
                    self.scalars.apply("cast", (part,), wide),
                    self.scalars.constant(8 * size // len(parts) * i, wide),
                ),
                wide,
            )
            for i, part in enumerate(parts)
        ]
        return reduce(lambda a, b: self.scalars.apply("or", (a, b), wide), words)

    def reduce(self, op: ReduceOp) -> Lanes:
        """A chain in the order of the axes; narrow floats are rounded at the end."""
        if op.ranges:
            raise PassFailedException("a REDUCE over ranges: tg-expand makes loops of them")
        shape, result = static_shape(op.source), static_shape(op.result)
        dtype = dtype_name(op.result)
        kind = op.kind.data
        chains: list[SSAValue | None] = [None] * len(broadcast(result, result))
        for lane, i in zip(self.lanes(op.source), broadcast(result, shape), strict=True):
            chain = chains[i]
            chains[i] = lane if chain is None else self.accumulated(kind, chain, lane)
        computed = self.narrow.computed_dtype(dtype)
        identity = self.scalars.constant(_identity(kind, TYPES[dtype]), computed)
        totals = [identity if chain is None else chain for chain in chains]
        if dtype in NARROW_FORMATS and kind is not ReduceKind.MAX and totals:
            return [self.narrow.rounded(total, dtype) for total in totals]
        return totals

    def accumulated(self, kind: ReduceKind, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.scalars.apply(kind.value, (a, b), dtype_name(a))

    def wmma(self, op: WmmaOp) -> Lanes:
        """WMMA of one thread: the products of two matrices, in the accumulator's dtype."""
        if op.config.threads > 1:
            raise PassFailedException(
                f"a wmma of {op.config.threads} threads: the target {self.scalars.target.name} "
                "has threads of one lane"
            )
        m, n, k = op.config.m_n_k
        dtype = dtype_name(op.result)
        computed = self.narrow.computed_dtype(dtype)
        a, b = ([self._widened(v, computed) for v in self.lanes(x)] for x in (op.a, op.b))
        result = list(self.lanes(op.accumulator))
        for i, (row, column) in enumerate(cells((m, n))):
            for step in builtin_range(k):
                factors = a[row * k + step], b[step * n + column]
                result[i] = self.scalars.apply("mulacc", (*factors, result[i]), computed)
        if dtype in NARROW_FORMATS:
            return [self.narrow.rounded(value, dtype) for value in result]
        return result

    def _widened(self, value: SSAValue, dtype: Dtype) -> SSAValue:
        return value if dtype_name(value) == dtype else self.scalars.apply("cast", (value,), dtype)
