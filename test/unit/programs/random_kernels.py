"""Random kernels: loop nests that a tensor program seldom becomes.

A kernel has one to three nests, one after the other. A nest computes values from loads, which may
be gated, out of bounds, in place or of a buffer that an earlier nest has filled, and from the
numbers of its iterations; it reduces some of them, and stores the rest. All results are exact, so
that executors agree to the bit: floats are added up only where they are small and whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from expression import Array
from random_arrays import interesting_numbers, random_array
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.ops import elementwise as ew
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr, ReduceKind
from tgdialect.ops.call import CallOp, KernelOp
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.dtypes import BOOL, DTYPES, F32, I32, INDEX, number_attribute
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import AfterOp, EndOp, GroupOp, RangeOp, SinkOp, dependent_ranges
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp

T = TypeVar("T")

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33, 64, 65)
MAX_CELLS = 600
"""Of a nest, reductions aside."""
STEPS_PER_CELL = 10
"""Of reductions, in a nest of as many cells as there may be."""

_UNARY = (ew.NegOp, ew.NotOp, ew.TruncOp)
_BINARY = (
    *(ew.AddOp, ew.MulOp, ew.MaxOp, ew.SubOp, ew.IDivOp, ew.ModOp, ew.XorOp, ew.OrOp, ew.AndOp),
    *(ew.ShrOp, ew.ShlOp, ew.CmpLtOp, ew.CmpNeOp, ew.CmpGeOp, ew.CmpEqOp),
)
_INDEX = (ew.AddOp, ew.MulOp, ew.XorOp, ew.ModOp, ew.IDivOp, ew.MaxOp, ew.ShrOp, ew.AndOp, ew.SubOp)


@dataclass(frozen=True)
class RandomKernel:
    """A module whose `@main` calls one kernel, and arrays for its arguments."""

    module: ModuleOp
    inputs: tuple[Array, ...]


@dataclass
class _Grower:
    random: Random
    block: Block
    max_cells: int
    params: list[SSAValue] = field(default_factory=list)
    ready: list[SSAValue] = field(default_factory=list)
    """Memory that may be read: what nothing writes, and what has been written as a whole."""
    numbers: int = 0
    """How many ranges there are."""
    buffers: int = 0

    def choose(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def add(self, op: Any) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, dtype: Attribute = INDEX) -> SSAValue:
        return self.add(ConstOp(number_attribute(value, dtype)))

    def range(self, extent: int, kind: AxisType) -> SSAValue:
        self.numbers += 1
        return self.add(RangeOp(self.numbers - 1, kind, self.constant(extent)))

    def shape(self) -> tuple[int, ...]:
        """One to three extents."""
        shape: list[int] = []
        for _ in range(self.random.randint(1, 3)):
            room = self.max_cells // math.prod(shape)
            shape.append(self.choose([extent for extent in EXTENTS if extent <= max(room, 1)]))
        return tuple(shape)

    # -- values in a nest

    def index(self, ranges: Sequence[SSAValue], pool: Sequence[SSAValue], extent: int) -> SSAValue:
        """An index into an axis; it may be out of bounds."""
        index = self.choose(ranges)
        kind = self.random.randrange(10)
        if kind < 4:
            return index
        if kind < 6:
            return self.add(ew.AddOp(index, self.constant(self.random.randint(-2, 2))))
        if kind == 6:
            return self.add(ew.SubOp(self.constant(extent - 1), index))
        if kind == 7 and (numbers := [v for v in pool if DTYPES[_dtype(v)].is_integer]):
            value = self.choose(numbers)
            value = value if _dtype(value) == INDEX else self.add(ew.CastOp(value, INDEX))
            return self.add(ew.ModOp(value, self.constant(extent)))
        other = self.choose([*ranges, self.constant(self.random.randint(0, 9))])
        return self.add(self.choose(_INDEX)(index, other))

    def location(
        self, memory: SSAValue, ranges: Sequence[SSAValue], pool: Sequence[SSAValue]
    ) -> SSAValue:
        shape = tensor(memory).get_shape()
        return self.add(IndexOp(memory, [self.index(ranges, pool, extent) for extent in shape]))

    def load(self, ranges: Sequence[SSAValue], pool: Sequence[SSAValue]) -> SSAValue:
        memory = self.choose(self.ready)
        location = self.location(memory, ranges, pool)
        gates = [v for v in pool if _dtype(v) == BOOL]
        if gates and self.chance(3):
            alt = self.constant(self.number(_dtype(location)), _dtype(location))
            return self.add(LoadOp(location, alt, self.choose(gates)))
        return self.add(LoadOp(location))

    def number(self, dtype: Attribute) -> int | float:
        return self.choose(interesting_numbers(DTYPES[dtype]))

    def computed(self, pool: Sequence[SSAValue]) -> SSAValue:
        """An op on values of the pool."""
        x = self.choose(pool[-6:])
        row = DTYPES[_dtype(x)]
        kind = self.random.randrange(10)
        if kind == 0:
            return self.add(ew.CastOp(x, self.choose(tuple(DTYPES))))
        if kind == 1 and (unary := [op for op in _UNARY if row in op.DOMAIN]):
            return self.add(self.choose(unary)(x))
        same = [v for v in pool if _dtype(v) == _dtype(x)]
        y = (
            self.choose(same)
            if self.chance(2)
            else self.constant(self.number(_dtype(x)), _dtype(x))
        )
        gates = [v for v in pool if _dtype(v) == BOOL]
        if kind < 4 and gates:
            return self.add(ew.WhereOp(self.choose(gates), x, y))
        binary = self.choose([op for op in _BINARY if row in op.DOMAIN])
        return self.add(binary(x, y))

    def grown(self, ranges: Sequence[SSAValue], pool: list[SSAValue], steps: int) -> None:
        """Add values to a pool."""
        for _ in range(steps):
            make = self.choose((self.load, None, None))
            pool.append(self.computed(pool) if make is None else make(ranges, pool))

    def reduced(self, ranges: Sequence[SSAValue], pool: Sequence[SSAValue], room: int) -> SSAValue:
        """A REDUCE over one or two ranges of something in the loops of some others."""
        loops: list[SSAValue] = []
        for _ in range(self.random.randint(1, 2)):
            extent = self.choose([e for e in EXTENTS if e <= max(room, 1)])
            loops.append(self.range(extent, AxisType.REDUCE))
            room //= extent
        inner = [self.choose(loops)]
        self.grown([*ranges, *loops], inner, self.random.randint(1, 4))
        value = self.choose([*inner[-3:], *(v for v in pool if self.chance(4))])
        if not (loops := _open(value, loops)):
            loops = [inner[0]]
            value = inner[0]
        kind, row = self.choose(tuple(ReduceKind)), DTYPES[_dtype(value)]
        if row.is_float and kind is not ReduceKind.MAX:
            value = self.add(ew.CastOp(value, I32))
            value = self.add(ew.AndOp(value, self.constant(3, I32)))
            if kind is ReduceKind.ADD:
                value = self.add(ew.CastOp(value, self.choose((F32, row_type(row.name)))))
        return self.add(ReduceOp(kind, value, [], ranges=loops))

    # -- nests

    def nest(self, memory: SSAValue) -> SSAValue:
        """Loops that store to each cell of some memory once; the END."""
        shape = tensor(memory).get_shape()
        loops = [self.range(extent, AxisType.LOOP) for extent in shape]
        order = self.random.sample(loops, len(loops))
        cell = self.add(IndexOp(memory, loops))
        pool = [self.choose(loops)]
        if self.chance(4):
            # Nothing else in the nest may be in place: iterations are in no order.
            pool.append(self.add(LoadOp(cell)))
        self.grown(loops, pool, self.random.randint(1, 5))
        room = self.max_cells * STEPS_PER_CELL // max(math.prod(shape), 1)
        for _ in range(self.random.randint(0, 2)):
            pool.append(self.reduced(loops, pool, room))
            if self.chance(2):
                pool.append(self.computed(pool))
        value = pool[-1]
        if _dtype(value) != _dtype(memory):
            value = self.add(ew.CastOp(value, _dtype(memory)))
        gates = [v for v in pool if _dtype(v) == BOOL]
        gate = self.choose(gates) if gates and self.chance(3) else None
        return self.add(EndOp(self.add(StoreOp(cell, value, gate)), order))

    def histogram(self, memory: SSAValue) -> SSAValue:
        """Loops that add to cells that data says; the END."""
        loops = [self.range(extent, AxisType.LOOP) for extent in self.shape()]
        pool = [self.choose(loops)]
        self.grown(loops, pool, self.random.randint(1, 4))
        cell = self.location(memory, loops, pool)
        value = self.choose(pool[-3:])
        if _dtype(value) != _dtype(memory):
            value = self.add(ew.CastOp(value, _dtype(memory)))
        added = self.add(AtomicAddOp(cell, value))
        return self.add(EndOp(added, _open(added, loops)[::-1]))


def _open(value: SSAValue, loops: Sequence[SSAValue]) -> list[SSAValue]:
    """The loops that a value is in."""
    around = dependent_ranges(value)
    return [loop for loop in loops if loop.owner in around]


def row_type(name: str) -> Attribute:
    """The dtype of a name."""
    return next(dtype for dtype, row in DTYPES.items() if row.name == name)


def _dtype(value: SSAValue) -> Attribute:
    return tensor(value).element_type


def random_kernel(seed: int, max_cells: int = MAX_CELLS) -> RandomKernel:
    """A kernel on up to three inputs, that stores to one or two parameters."""
    random = Random(seed)
    block = Block()
    g = _Grower(random, block, max_cells)
    where = PlaceAttr.of(addrspace=AddrSpace.GLOBAL)
    inputs: list[Array] = []
    favourite = g.choose(tuple(DTYPES))

    def parameter(dtype: Attribute, shape: tuple[int, ...]) -> SSAValue:
        inputs.append(random_array(dtype, shape, random.randrange(2**16)))
        return g.add(ParamOp(len(inputs) - 1, tensor_type(dtype, shape, where)))

    count = random.randint(1, 2)
    outputs = [
        parameter(favourite if g.chance(2) else g.choose(tuple(DTYPES)), g.shape())
        for _ in range(count)
    ]
    for _ in range(random.randint(1, 3)):
        dtype = favourite if g.chance(2) else g.choose(tuple(DTYPES))
        g.ready.append(parameter(dtype, g.shape()))
    done: list[SSAValue] = []
    if g.chance(3):
        place = PlaceAttr.of(addrspace=g.choose((AddrSpace.LOCAL, AddrSpace.REG)))
        buffer = g.add(BufferOp(0, tensor_type(g.choose(tuple(DTYPES)), g.shape(), place)))
        g.ready.append(g.add(AfterOp(buffer, [_filled(g, buffer)])))
    for memory in outputs:
        is_counted = DTYPES[_dtype(memory)].is_integer and not DTYPES[_dtype(memory)].is_bool
        is_counted = is_counted and _dtype(memory) != INDEX and g.chance(5)
        is_counted = is_counted and DTYPES[_dtype(memory)].bits >= 32
        end = (g.histogram if is_counted else g.nest)(memory)
        done.append(end)
        # A second nest may read what the first one has stored.
        g.ready.append(g.add(AfterOp(memory, [end])))
    g.add(SinkOp([done[0]] if len(done) == 1 else [g.add(GroupOp(done))]))
    return RandomKernel(_calling(KernelOp("k", Region(block)), inputs, count), tuple(inputs))


def _filled(g: _Grower, buffer: SSAValue) -> SSAValue:
    """A nest that stores to all cells of a buffer, which it does not read."""
    loops = [g.range(extent, AxisType.LOOP) for extent in tensor(buffer).get_shape()]
    pool = [g.choose(loops)]
    g.grown(loops, pool, g.random.randint(1, 4))
    value = pool[-1]
    if _dtype(value) != _dtype(buffer):
        value = g.add(ew.CastOp(value, _dtype(buffer)))
    store = g.add(StoreOp(g.add(IndexOp(buffer, loops)), value))
    return g.add(EndOp(store, g.random.sample(loops, len(loops))))


def _calling(kernel: KernelOp, inputs: Sequence[Array], count: int) -> ModuleOp:
    """A module with a `@main` that calls a kernel, and returns its first `count` parameters."""
    where = PlaceAttr.of("CPU", AddrSpace.GLOBAL)
    types = [
        tensor_type(_dtype(p.result), tensor(p.result).get_shape(), where) for p in kernel.params
    ]
    body = Block(arg_types=types)
    call = CallOp(kernel.sym_name.data, body.args)
    after = [AfterOp(argument, [call.result]) for argument in body.args[:count]]
    loads = [LoadOp(each.result) for each in after]
    body.add_ops([call, *after, *loads, ReturnOp(*(load.result for load in loads))])
    results = [load.result.type for load in loads]
    return ModuleOp([kernel, FuncOp("main", (types, results), Region(body))])
