"""Random listings: ops in order, on memory whose cells they access again and again.

Every position is in range: each integer has an interval, and a position is made of what has one, or
masked. Floats are small whole numbers, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tgdialect.legacy.attributes import integers_attribute
from tgdialect.legacy.ops import compute, control, framework, indexing, memory, vectors
from tgdialect.ops import codegen
from tgdialect.ops import elementwise as e
from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.dtypes import BOOL, F32, I32, INDEX, number_attribute
from tgdialect.ops.ordering import EndOp, LinearOp, RangeOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.source import BufferOp, ConstOp

T = TypeVar("T")
Interval = tuple[int, int]

UNSIZED_CELLS = 64
"""What a DEFINE_GLOBAL without size points to: more than is accessed."""

_BINARY = {
    I32: (
        *(e.AddOp, e.SubOp, e.MulOp, e.MaxOp, e.AndOp, e.OrOp, e.XorOp),
        *(compute.IDivOp, compute.ModOp),
    ),
    F32: (e.AddOp, e.SubOp, e.MaxOp, e.MulOp),
    BOOL: (e.AndOp, e.OrOp, e.XorOp),
}
_NAMED = {
    I32: ("ADD", "SUB", "MUL", "MAX", "XOR", "IDIV", "MOD"),
    F32: ("ADD", "SUB", "MUL", "MAX"),
    BOOL: ("AND", "OR"),
}


@dataclass(frozen=True)
class Memory:
    """Memory that a listing may access: of a work item, the cells from `base` on."""

    value: SSAValue
    dtype: Attribute
    cells: int
    base: SSAValue | None = None
    is_written: bool = True
    is_shared: bool = False
    """Whether it is a DEFINE_GLOBAL."""


@dataclass(frozen=True)
class Listing:
    """A module with one program, and what it is called with."""

    module: ModuleOp
    buffers: dict[str, tuple[Attribute, int | None]]
    """The dtype and size of each DEFINE_GLOBAL; no size where it states none."""
    variables: dict[str, int]


@dataclass
class Scope:
    """The values and accumulators of an open block."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    accumulators: list[SSAValue] = field(default_factory=list[SSAValue])


class Writer:
    """Writes a listing, statement by statement."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.block = Block()
        self.scopes = [Scope()]
        self.known: dict[SSAValue, Interval] = {}
        self.memories: list[Memory] = []
        self.buffers: dict[str, tuple[Attribute, int | None]] = {}
        self.variables: dict[str, int] = {}
        self.names = 0
        self.has_vectors = self.chance(0.35)
        self.depth = 0
        self.statements: Sequence[tuple[Callable[[], None], int]] = (
            (self.compute, 6),
            (self.load, 6),
            (self.store, 6),
            (self.loop, 4),
            (self.reduction, 3),
            (self.condition, 1),
            (self.define_accumulator, 1),
            (self.assign, 3),
            *(((self.vector, 3), (self.unroll, 2)) if self.has_vectors else ()),
        )

    # -- choices ---------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def number(self) -> int:
        self.names += 1
        return self.names

    # -- values ----------------------------------------------------------------------------------

    def emit(self, op: Operation, known: Interval | None = None) -> SSAValue:
        """Append an op whose result may be used up to the end of the block."""
        self.block.add_op(op)
        (result,) = op.results
        self.scopes[-1].values.append(result)
        if known is not None and -(2**31) <= known[0] <= known[1] < 2**31:
            self.known[result] = known
        return result

    def constant(self, value: float, dtype: Attribute = I32) -> SSAValue:
        known = (int(value), int(value)) if dtype == I32 else None
        return self.emit(ConstOp(number_attribute(value, dtype)), known)

    def some(self, dtype: Attribute, lanes: tuple[int, ...] = ()) -> SSAValue:
        """A value that there is, or a constant."""
        type = tensor_type(dtype, lanes)
        values = [v for scope in self.scopes for v in scope.values if v.type == type]
        values += [v for scope in self.scopes for v in scope.accumulators if v.type == type]
        if values and self.chance(0.85):
            recent = values[-6:] if self.chance(0.6) else values
            return self.choose(recent)
        if lanes:
            return self.emit(vectors.VectorizeOp([self.some(dtype) for _ in range(lanes[0])]))
        if dtype == BOOL:
            return self.emit(e.CmpLtOp(self.some(I32), self.some(I32)))
        if dtype == F32:
            return self.constant(self.random.randint(-3, 3), F32)
        large = self.choose((-(2**31), 2**31 - 1, 65537, 1103515245))
        return self.constant(large if self.chance(0.1) else self.random.randint(-5, 9))

    def add(self, x: SSAValue, n: int) -> SSAValue:
        if n == 0:
            return x
        low, high = self.known[x]
        return self.emit(e.AddOp(x, self.constant(n)), (low + n, high + n))

    # -- positions -------------------------------------------------------------------------------

    def position(self, memory: Memory, lanes: int = 1) -> SSAValue:
        """A position of a memory from which it has so many cells."""
        own = self.own_position(memory.cells - lanes)
        if memory.base is None:
            return own
        low, high = self.known[memory.base]
        known = low + self.known[own][0], high + self.known[own][1]
        return self.emit(e.AddOp(memory.base, own), known)

    def own_position(self, last: int) -> SSAValue:
        """An integer from 0 to `last`."""
        kind = self.random.random()
        if kind < 0.2 or last == 0:
            return self.constant(self.random.randint(0, last))
        if kind < 0.3:
            mask = (1 << (last + 1).bit_length() - 1) - 1
            return self.emit(e.AndOp(self.some(I32), self.constant(mask)), (0, mask))
        if kind < 0.35:
            low = self.emit(e.AndOp(self.some(I32), self.constant(0xFFF)), (0, 0xFFF))
            return self.emit(compute.ModOp(low, self.constant(last + 1)), (0, last))
        values = [v for scope in self.scopes for v in scope.values if v in self.known]
        widths = {v: self.known[v][1] - self.known[v][0] for v in values}
        fitting = [v for v in values if 0 < widths[v] <= last]
        if not fitting:
            return self.constant(self.random.randint(0, last))
        x = self.choose(fitting[-4:])
        low, high = self.known[x]
        if self.chance(0.15) and widths[x] <= last:
            # Backwards.
            x = self.emit(e.SubOp(self.constant(high), x), (0, high - low))
            low, high = 0, high - low
        steps = [k for k in (2, 3, 4) if (high - low) * k <= last]
        if steps and self.chance(0.5):
            k = self.choose(steps)
            x = self.emit(e.MulOp(x, self.constant(k)), (low * k, high * k))
            low, high = low * k, high * k
            inner = [v for v in fitting if v is not x and high - low + widths[v] <= last]
            if inner and self.chance(0.6):
                other = self.choose(inner)
                low, high = low + self.known[other][0], high + self.known[other][1]
                x = self.emit(e.AddOp(x, other), (low, high))
        shift = self.random.randint(-low, last - high)
        if 0 in range(-low, last - high + 1) and self.chance(0.5):
            shift = 0
        return self.add(x, shift)

    def gate(self) -> SSAValue | None:
        return self.some(BOOL) if self.chance(0.2) else None

    def location(self, of: Memory, lanes: tuple[int, ...]) -> dict[str, Any]:
        """The `buffer`, `at` and `gate` of an access, in one of the ways to write them."""
        count = lanes[0] if lanes else 1
        gate = self.gate()
        if of.base is None and count == 1 and of.cells < UNSIZED_CELLS and self.chance(0.1):
            # The gate keeps the position in range.
            position = self.own_position(2 * of.cells)
            below = self.emit(e.CmpLtOp(position, self.constant(of.cells)))
            gate = below if gate is None else self.emit(e.AndOp(gate, below))
        else:
            position = self.position(of, count)
        if lanes and self.chance(0.3):
            # Neighbours at a vector of positions.
            steps = [self.add(position, n) for n in range(count)]
            position = self.emit(vectors.VectorizeOp(steps))
            gate = None
            count = 1
        if self.chance(0.5) and (count == 1 or gate is None):
            index = indexing.IndexOp(of.value, position, gate)
            self.block.add_op(index)
            location = index.result
            if count > 1:
                cast = memory.CastOp(location, type=location_type(location, count))
                self.block.add_op(cast)
                location = cast.result
            return {"buffer": location, "at": None, "gate": None}
        return {"buffer": of.value, "at": position, "gate": None if lanes else gate}

    # -- statements ------------------------------------------------------------------------------

    def compute(self) -> None:
        dtype = self.choose((I32, I32, F32, BOOL))
        lanes = (self.choose((2, 4)),) if self.has_vectors and self.chance(0.3) else ()
        kind = self.random.random()
        if kind < 0.4:
            op = self.choose(_BINARY[dtype])(self.some(dtype, lanes), self.some(dtype, lanes))
        elif kind < 0.6:
            name = self.choose(_NAMED[dtype])
            operands = [self.some(dtype, lanes), self.some(dtype, lanes)]
            op = compute.AluOp(operands, operation=f"BinaryOps.{name}")
        elif kind < 0.75:
            op = e.WhereOp(self.some(BOOL, lanes), self.some(dtype, lanes), self.some(dtype, lanes))
        elif kind < 0.85:
            other = self.choose([d for d in (I32, F32, BOOL) if d != dtype])
            source = self.some(other, lanes)
            if other == I32 and dtype == F32 and not lanes:
                source = self.emit(e.AndOp(source, self.constant(3)), (0, 3))
            op = e.CastOp(source, dtype)
        elif dtype == BOOL:
            other = self.choose((I32, F32))
            op = self.choose((e.CmpLtOp, e.CmpNeOp))(
                self.some(other, lanes), self.some(other, lanes)
            )
        elif kind < 0.93:
            op = e.MulAccOp(*(self.some(dtype, lanes) for _ in range(3)))
        else:
            op = e.NegOp(self.some(dtype, lanes))
        self.emit(op)

    def load(self) -> None:
        of = self.choose(self.memories)
        lanes = self.lanes(of)
        location = self.location(of, lanes)
        alt = self.some(of.dtype, lanes) if self.chance(0.5) else None
        if location["gate"] is None and location["at"] is not None:
            alt = None
        self.emit(memory.LoadOp(type=tensor_type(of.dtype, lanes), alt=alt, **location))

    def store(self) -> None:
        written = [m for m in self.memories if m.is_written]
        of = self.choose(written)
        lanes = self.lanes(of)
        value = self.some(of.dtype, lanes)
        if of.dtype == F32 and self.chance(0.5):
            value = self.tame(value)
        self.block.add_op(memory.StoreOp(value=value, **self.location(of, lanes)))

    def tame(self, x: SSAValue) -> SSAValue:
        """A float, or 1 where it is not small."""
        if tensor(x).get_shape():
            return x
        small = self.emit(
            e.AndOp(
                self.emit(e.CmpLtOp(x, self.constant(8, F32))),
                self.emit(e.CmpLtOp(self.constant(-8, F32), x)),
            )
        )
        return self.emit(e.WhereOp(small, x, self.constant(1, F32)))

    def lanes(self, of: Memory) -> tuple[int, ...]:
        sizes = [n for n in (2, 4) if n <= of.cells]
        return (self.choose(sizes),) if sizes and self.has_vectors and self.chance(0.3) else ()

    def define_accumulator(self) -> None:
        dtype = self.choose((I32, I32, F32, BOOL))
        lanes = (4,) if self.has_vectors and dtype != BOOL and self.chance(0.3) else ()
        op = memory.DefineAccOp(self.some(dtype, lanes), number=self.number())
        self.block.add_op(op)
        self.scopes[-1].accumulators.append(op.result)

    def assign(self, value: SSAValue | None = None, target: SSAValue | None = None) -> None:
        accumulators = [a for scope in self.scopes for a in scope.accumulators]
        if target is None:
            if not accumulators:
                return
            target = self.choose(accumulators)
        type = tensor(target)
        if value is None:
            value = self.some(type.element_type, type.get_shape())
        new = self.choose((framework.AssignOp, control.PhiOp))(target, value)
        self.block.add_op(new)
        # What follows reads it by either name.
        for scope in self.scopes:
            if target in scope.accumulators and self.chance(0.5):
                scope.accumulators.append(new.result)

    # -- blocks ----------------------------------------------------------------------------------

    def bound(self) -> SSAValue:
        """An integer that is small, not negative and no constant."""
        values = [
            v
            for scope in self.scopes
            for v in scope.values
            if v in self.known and 0 <= self.known[v][0] <= self.known[v][1] <= 5
        ]
        return self.choose(values) if values else self.constant(3)

    def begin_loop(self) -> Operation:
        kind = self.random.random()
        if kind < 0.2:
            bound = self.choose((1, 2, 3, 4, 6))
            size = self.emit(ConstOp(bound, INDEX))
            op = RangeOp(self.number(), AxisType.LOOP, size)
            self.open(op)
            self.emit(e.CastOp(op.result, I32), (0, bound - 1))
            return op
        start = self.constant(0 if kind < 0.7 else self.choose((-2, 1, 2)))
        low = self.known[start][0]
        if kind > 0.85 or 0.4 < kind < 0.5:
            end = self.add(self.bound(), max(low, 0))
        else:
            end = self.constant(low + self.choose((0, 1, 2, 3, 4, 4, 5, 8)))
        high = self.known[end][1] - 1
        if self.chance(0.5):
            op = control.RangeOp(start, end, axis=self.number())
        else:
            op = control.LoopOp(start, end)
        self.open(op)
        self.scopes[-1].values.append(op.result)
        if high >= low:
            self.known[op.result] = low, high
        return op

    def open(self, op: Operation) -> None:
        self.block.add_op(op)
        self.scopes.append(Scope())
        self.depth += 1

    def close(self, op: Operation) -> None:
        match op:
            case control.RangeOp():
                end = control.EndRangeOp(op.result)
            case control.LoopOp():
                end = control.EndLoopOp(op.result)
            case RangeOp():
                end = EndOp(self.effect_in(op), [op.result])
            case _:
                end = control.EndIfOp(op.results[0])
        self.block.add_op(end)
        self.scopes.pop()
        self.depth -= 1

    def effect_in(self, op: RangeOp) -> SSAValue:
        """The last STORE of a loop; its iterator without one."""
        body = self.block.last_op
        while body is not op:
            if isinstance(body, memory.StoreOp):
                return body.result
            assert body is not None
            body = body.prev_op
        return op.result

    def loop(self) -> None:
        if self.depth >= 3:
            return
        if self.chance(0.3):
            self.define_accumulator()
        op = self.begin_loop()
        self.body(self.random.randint(1, 5))
        self.close(op)

    def reduction(self) -> None:
        """Loops that accumulate, with other ops in between."""
        if self.depth >= 3:
            return
        accumulators: list[SSAValue] = []
        for _ in range(self.random.randint(1, 3)):
            dtype = self.choose((I32, F32))
            initial = self.constant(self.choose((0, 0, 1, -2)), dtype)
            op = memory.DefineAccOp(initial, number=self.number())
            self.block.add_op(op)
            accumulators.append(op.result)
            self.scopes[-1].accumulators += [op.result] * self.chance(0.5)
        kinds = [
            self.choose((e.AddOp, e.AddOp, e.MaxOp, e.MulOp, e.MulAccOp)) for _ in accumulators
        ]
        loops: list[Operation] = []
        for _ in range(self.random.randint(1, min(2, 3 - self.depth))):
            loops.append(self.begin_loop())
            self.body(self.random.randint(0, 2))
        for target, kind in zip(accumulators, kinds, strict=True):
            dtype = tensor(target).element_type
            for _ in range(self.random.randint(1, 2)):
                self.accumulate(target, kind, dtype)
        for op in reversed(loops):
            self.close(op)
            self.body(self.random.randint(0, 1))
        self.scopes[-1].accumulators += accumulators
        self.use(accumulators)

    def accumulate(self, target: SSAValue, kind: type[Any], dtype: Attribute) -> None:
        if self.chance(0.7):
            self.load()
        term = self.some(dtype)
        if dtype == F32:
            term = self.tame(term)
        if kind is e.MulAccOp:
            new = self.emit(kind(term, self.some(I32) if dtype == I32 else term, target))
        else:
            operands = [target, term]
            self.random.shuffle(operands)
            new = self.emit(kind(*operands))
        self.assign(new, target)

    def use(self, accumulators: Sequence[SSAValue]) -> None:
        """Store what has been accumulated."""
        for value in accumulators:
            dtype = tensor(value).element_type
            of = [m for m in self.memories if m.is_written and m.dtype == dtype]
            if of and self.chance(0.8):
                location = self.location(self.choose(of), ())
                self.block.add_op(memory.StoreOp(value=value, **location))

    def condition(self) -> None:
        op = control.IfOp(self.some(BOOL))
        self.open(op)
        self.body(self.random.randint(1, 4))
        self.close(op)

    def body(self, count: int) -> None:
        statements, weights = zip(*self.statements, strict=True)
        for _ in range(count):
            self.random.choices(statements, weights)[0]()

    # -- vectors ---------------------------------------------------------------------------------

    def vector(self) -> None:
        dtype = self.choose((I32, F32))
        match self.random.randrange(4):
            case 0:
                self.emit(vectors.VectorizeOp([self.some(dtype) for _ in range(4)]))
            case 1:
                lanes = self.random.choices(range(4), k=self.choose((1, 1, 2, 4)))
                self.emit(indexing.GepOp(self.some(dtype, (4,)), lanes=lanes))
            case 2:
                self.emit(vectors.CatOp([self.some(dtype, (2,)), self.some(dtype, (2,))]))
            case _:
                values = [number_attribute(self.random.randint(-3, 3), dtype) for _ in range(4)]
                self.emit(vectors.VConstOp(values=values))

    def unroll(self) -> None:
        """Values of unrolled loops, from their UNROLL to a CONTRACT, or stored."""
        wide = [m for m in self.memories if m.cells >= 4 and m.is_written]
        if not wide:
            return
        axes = self.choose(([(0, 4)], [(1, 4)], [(0, 2), (1, 2)]))
        of = self.choose(wide)
        put = self.put
        numbers = put(vectors.VConstOp(values=[number_attribute(n, I32) for n in range(4)]))
        step = put(vectors.UnrollOp(numbers, axes=integers_attribute(axes)))
        source = self.choose([m for m in self.memories if m.cells >= 4])
        positions = put(e.AddOp(self.position(source, 4), step))
        x = put(memory.LoadOp(source.value, positions, type=tensor_type(source.dtype)))
        y = put(vectors.UnrollOp(self.some(source.dtype, (4,)), axes=integers_attribute(axes)))
        x = put(self.choose((e.AddOp, e.MaxOp))(x, self.choose((y, self.some(source.dtype)))))
        if self.chance(0.4):
            vector = put(vectors.ContractOp(x, axes=integers_attribute(axes)))
            self.scopes[-1].values.append(vector)
            if len(axes) > 1:
                half = put(vectors.ContractOp(x, axes=integers_attribute(axes[:1])))
                x = put(indexing.GepOp(half, lanes=[self.random.randrange(2)]))
                x = put(vectors.ContractOp(x, axes=integers_attribute(axes[1:])))
                self.scopes[-1].values.append(x)
            return
        if of.dtype != source.dtype:
            return
        gate = put(e.CmpLtOp(step, self.some(I32))) if self.chance(0.3) else None
        positions = put(e.AddOp(self.position(of, 4), step))
        self.block.add_op(memory.StoreOp(of.value, positions, x, gate))

    def put(self, op: Operation) -> SSAValue:
        """Append an op whose result only its statement uses."""
        self.block.add_op(op)
        return op.results[0]

    # -- the listing -----------------------------------------------------------------------------

    def arguments(self) -> None:
        items = self.choose((2, 3)) if self.chance(0.25) else None
        item = None
        if items is not None:
            bound = self.emit(ConstOp(items, INDEX))
            special = self.emit(codegen.SpecialOp("gidx0", bound))
            item = self.emit(e.CastOp(special, I32), (0, items - 1))
        for slot in range(self.random.randint(2, 4)):
            dtype = I32 if slot == 0 else self.choose((I32, F32))
            cells = self.choose((4, 6, 8, 12))
            is_written = slot < 2 or self.chance(0.5)
            count = cells * (items or 1) if is_written else cells
            is_sized = self.chance(0.7) or (is_written and items is not None)
            name = f"data{slot}"
            self.buffers[name] = dtype, count if is_sized else None
            type = tensor_type(dtype, (count if is_sized else DYNAMIC_INDEX,), _GLOBAL)
            value = self.put(
                memory.DefineGlobalOp(slot=slot, symbol=name, mutable=is_written, type=type)
            )
            base = None
            if is_written and item is not None:
                base = self.emit(e.MulOp(item, self.constant(cells)), (0, (items - 1) * cells))
            self.memories.append(Memory(value, dtype, cells, base, is_written, True))
            if not is_sized:
                # An access without a condition says the size.
                last = self.constant(count - 1)
                self.emit(memory.LoadOp(value, last, type=tensor_type(dtype)))
        for name in ("n", "m")[: self.random.randint(0, 2)]:
            low = self.random.randint(0, 2)
            high = self.random.randint(low, 5)
            self.variables[name] = self.random.randint(low, high)
            self.emit(
                framework.DefineVarOp(symbol=name, min=low, max=high, type=tensor_type(I32)),
                (low, high),
            )

    def own_memory(self) -> None:
        """Memory of a work item: each cell is written before it is read."""
        for _ in range(self.random.randint(0, 2)):
            dtype, cells = self.choose((I32, F32)), self.choose((1, 2, 4))
            space = self.choose((AddrSpace.REG, AddrSpace.LOCAL))
            type = tensor_type(dtype, (cells,), PlaceAttr.of(None, space))
            if space is AddrSpace.REG:
                value = self.put(BufferOp(self.number(), type))
            else:
                value = self.put(memory.DefineLocalOp(symbol=f"temp{self.number()}", type=type))
            if space is AddrSpace.REG and self.chance(0.5):
                positions = [self.constant(n) for n in range(cells)]
                for position in positions:
                    self.block.add_op(memory.StoreOp(value, position, self.some(dtype)))
            else:
                loop = control.LoopOp(self.constant(0), self.constant(cells))
                self.open(loop)
                self.block.add_op(memory.StoreOp(value, loop.result, self.some(dtype)))
                self.close(loop)
            self.memories.append(Memory(value, dtype, cells))


_GLOBAL = PlaceAttr.of(None, AddrSpace.GLOBAL)


def location_type(location: SSAValue, lanes: int) -> TensorType[Attribute]:
    """The type of the location of a vector that begins at that of an element."""
    type = tensor(location)
    return TensorType(type.element_type, [lanes], type.encoding)


def random_listing(seed: int) -> Listing:
    """The listing of a seed: it is always the same."""
    writer = Writer(seed)
    writer.arguments()
    writer.own_memory()
    writer.body(writer.random.randint(5, 16))
    for of in writer.memories:
        if of.is_shared and of.is_written:
            writer.put(memory.StoreOp(of.value, writer.position(of), writer.some(of.dtype)))
    linear = LinearOp(Region(writer.block))
    program = codegen.ProgramOp("k", Region(Block([linear])))
    module = ModuleOp([program])
    return Listing(module, writer.buffers, writer.variables)
