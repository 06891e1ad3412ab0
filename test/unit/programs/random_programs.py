"""Random well-typed programs at the tensor level.

A program grows one op at a time, out of a pool of the values made so far. What a program computes
must be the same on every executor, so each value knows how far two right executors may differ:

* by nothing, for all integers and bools, and for floats out of correctly rounded ops;
* by some ulps, for floats out of transcendental ops, and whatever only moves or selects them;
* by the error of a sum or product in any order, for floats out of REDUCE: these are outputs only.

A value that may differ is never compared, converted or computed with: the difference could grow.
MULACC is drawn on integers only, since floats may be rounded once or twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from expression import Array, Expression
from random_arrays import interesting_numbers, random_array
from random_idioms import IDIOMS
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import elementwise as ew
from tgdialect.ops import marker
from tgdialect.ops import movement as mv
from tgdialect.ops.attributes import AddrSpace, PlaceAttr, ReduceKind
from tgdialect.ops.call import FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.dtypes import DTYPES, INDEX, DType, number_attribute
from tgdialect.ops.memory import CopyOp, LoadOp, StoreOp
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import broadcast_shapes, is_memory, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp

T = TypeVar("T")

ALL_DTYPES = tuple(DTYPES)
MAX_ELEMENTS = 240
MAX_RANK = 4

UNARY = tuple(op for op in (*ew.PRIMITIVES, *ew.DECOMPOSED) if issubclass(op, ew.UnaryOp))
BINARY = (
    *(ew.AddOp, ew.MulOp, ew.MaxOp, ew.SubOp, ew.DivOp, ew.PowOp),
    *(ew.ModOp, ew.IDivOp, ew.XorOp, ew.OrOp, ew.AndOp, ew.ShrOp, ew.ShlOp),
    *(ew.CmpLtOp, ew.CmpNeOp, ew.CmpGtOp, ew.CmpGeOp, ew.CmpLeOp, ew.CmpEqOp),
)
ULPS = 6
"""Two results within the 3 ulp that docs/semantics.md allows differ by 6 at most."""


@dataclass(frozen=True)
class Value:
    """A value of the program. `ulps`: how far executors may differ; `invalid`: cells may be so."""

    expression: Expression
    ulps: int = 0
    invalid: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.expression.shape

    @property
    def row(self) -> DType:
        return DTYPES[self.expression.dtype]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Reduction:
    """What a float output is the sum or product of: another output, along axes."""

    kind: ReduceKind
    source: int
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Output:
    """One result, and how it may differ between executors."""

    value: Value
    reduction: Reduction | None = None


@dataclass(frozen=True)
class RandomProgram:
    """A module with a `@main`, arrays for its arguments, and what is known of its results."""

    module: ModuleOp
    inputs: tuple[Array, ...]
    outputs: tuple[Output, ...]
    values: tuple[Value, ...]

    def exposing_everything(self) -> ModuleOp:
        """The same function, returning every value it has instead."""
        everything = self.module.clone()
        old_entry, entry = self.module.ops.first, everything.ops.first
        assert isinstance(entry, FuncOp)
        assert isinstance(old_entry, FuncOp)
        counterpart = dict(zip(old_entry.args, entry.args, strict=True))
        for old, new in zip(old_entry.body.block.ops, entry.body.block.ops, strict=True):
            counterpart.update(zip(old.results, new.results, strict=True))
        return returning(entry, [counterpart[v.expression.value] for v in self.values])


def returning(entry: FuncOp, values: Sequence[Any]) -> ModuleOp:
    """The module of an entry that returns these values."""
    block = entry.body.block
    last = block.last_op
    assert last is not None
    last.detach()
    last.erase()
    block.add_op(ReturnOp(*values))
    body = entry.detach_region(0)
    types = ([a.type for a in body.block.args], [v.type for v in values])
    return ModuleOp([FuncOp("main", types, body)])


@dataclass
class Generator:
    """Grows a block, deterministically by the state of `random`."""

    random: Random
    block: Block
    pool: list[Value] = field(default_factory=list)
    everything: list[Value] = field(default_factory=list)
    reductions: list[tuple[Value, Value, ReduceKind, tuple[int, ...]]] = field(default_factory=list)
    buffers: int = 0

    # -- decisions -------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def boolean(self) -> bool:
        return self.integer(0, 1) == 1

    def choose(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def pick(
        self, accept: Callable[[Value], bool] = lambda v: True, *, exact: bool = True
    ) -> Value:
        """A value of the pool, the newest preferred; a constant if there is none that will do."""
        if (found := self.find(accept, exact=exact)) is not None:
            return found
        dtypes = [d for d in ALL_DTYPES if accept(self._example(d))]
        return self.constant(self.choose(dtypes))

    def find(self, accept: Callable[[Value], bool], *, exact: bool = True) -> Value | None:
        """A value of the pool, the newest preferred."""
        found = [v for v in self.pool if (v.ulps == 0 or not exact) and accept(v)]
        return found[-1 - self.integer(0, min(len(found) - 1, 5))] if found else None

    def _example(self, dtype: Attribute) -> Value:
        """A scalar of the dtype that is not in the program, to try a condition on."""
        block = Block(arg_types=[tensor_type(dtype)])
        return Value(Expression(block.args[0], block))

    def constant(self, dtype: Attribute) -> Value:
        number = self.choose(interesting_numbers(DTYPES[dtype]))
        op = ConstOp(number_attribute(number, dtype))
        self.block.add_op(op)
        return Value(Expression(op.result, self.block))

    def add(self, op: Any, *sources: Value, ulps: int = 0, invalid: bool | None = None) -> Value:
        """Append an op. What its sources say of differences and invalid cells holds for it too."""
        self.block.add_op(op)
        value = Value(
            Expression(op.results[0], self.block),
            max((ulps, *(s.ulps for s in sources))),
            any(s.invalid for s in sources) if invalid is None else invalid,
        )
        self.everything.append(value)
        return value

    def derived(self, expression: Expression, *sources: Value) -> Value:
        """The value of an expression whose ops are in the block already."""
        value = Value(expression, max(s.ulps for s in sources), any(s.invalid for s in sources))
        self.everything.append(value)
        return value

    # -- steps -----------------------------------------------------------------------------------

    def unary(self) -> Value:
        op = self.choose(UNARY)
        x = self.pick(lambda v: v.row in op.DOMAIN)
        return self.add(op(x.expression.value), x, ulps=ULPS if op in ew.TRANSCENDENTAL else 0)

    def beside(self, x: Value, accept: Callable[[Value], bool]) -> Value:
        """An operand whose shape broadcasts with that of x."""
        return self.pick(lambda v: accept(v) and fits(x, v)) if self.integer(0, 4) else x

    def binary(self) -> Value:
        op = self.choose(BINARY)
        x = self.pick(lambda v: v.row in op.DOMAIN)
        if issubclass(op, ew.ShiftOp):
            y = self.pick(lambda v: v.row.is_integer and fits(x, v))
        else:
            y = self.beside(x, lambda v: v.row == x.row)
        if self.boolean() and not issubclass(op, ew.ShiftOp):
            x, y = y, x
        ulps = ULPS if op in ew.TRANSCENDENTAL else 0
        return self.add(op(x.expression.value, y.expression.value), x, y, ulps=ulps)

    def where(self) -> Value:
        condition = self.pick(lambda v: v.row.is_bool)
        a = self.pick(lambda v: fits(condition, v), exact=False)
        shape = broadcast_shapes([condition.shape, a.shape])
        b = self.pick(lambda v: v.row == a.row and fits_shape(shape, v), exact=False)
        op = ew.WhereOp(condition.expression.value, a.expression.value, b.expression.value)
        return self.add(op, condition, a, b)

    def multiply_accumulate(self) -> Value:
        a = self.pick(lambda v: v.row.is_integer)
        b = self.beside(a, lambda v: v.row == a.row)
        shape = broadcast_shapes([a.shape, b.shape])
        c = self.pick(lambda v: v.row == a.row and fits_shape(shape, v))
        op = ew.MulAccOp(a.expression.value, b.expression.value, c.expression.value)
        return self.add(op, a, b, c)

    def threefry(self) -> Value:
        x = self.pick(lambda v: v.row.name == "ui64")
        key = self.beside(x, lambda v: v.row.name == "ui64")
        return self.add(ew.ThreefryOp(x.expression.value, key.expression.value), x, key)

    def cast(self) -> Value:
        x = self.pick()
        return self.add(ew.CastOp(x.expression.value, self.choose(ALL_DTYPES)), x)

    def permute(self) -> Value:
        x = self.pick(exact=False)
        order = self.random.sample(range(len(x.shape)), len(x.shape))
        return self.add(mv.PermuteOp(x.expression.value, order), x)

    def flip(self) -> Value:
        x = self.pick(exact=False)
        return self.add(mv.FlipOp(x.expression.value, [self.boolean() for _ in x.shape]), x)

    def reshape(self) -> Value:
        """Split an axis, merge two, or add or drop an axis of 1."""
        x = self.pick(exact=False)
        shape = list(x.shape)
        axis = self.integer(0, len(shape))
        if self.boolean() and axis < len(shape) - 1:
            shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        elif axis < len(shape) and shape[axis] == 1 and self.boolean():
            del shape[axis]
        elif len(shape) < MAX_RANK:
            extent = shape[axis] if axis < len(shape) else 1
            divisors = [d for d in range(1, extent + 1) if extent % d == 0] or [1]
            divisor = self.choose(divisors)
            shape[axis : axis + 1] = [extent // divisor, divisor]
        return self.add(mv.ReshapeOp(x.expression.value, shape), x)

    def expand(self) -> Value:
        x = self.pick(exact=False)
        room = max(MAX_ELEMENTS // max(x.size, 1), 1)
        shape = list(x.shape)
        for axis, extent in enumerate(shape):
            if extent == 1 and self.boolean():
                shape[axis] = self.integer(0 if self.integer(0, 9) == 9 else 1, min(room, 4))
                room = max(room // max(shape[axis], 1), 1)
        return self.add(mv.ExpandOp(x.expression.value, shape), x)

    def pad(self) -> Value:
        x = self.pick(exact=False)
        before = [self.integer(0, 2) for _ in x.shape]
        shape = [o + s + self.integer(0, 2) for o, s in zip(before, x.shape, strict=True)]
        if math.prod(shape) > MAX_ELEMENTS:
            before, shape = [0] * len(shape), list(x.shape)
        fill = None
        if self.boolean():
            number = self.choose(interesting_numbers(x.row))
            fill = number_attribute(number, x.expression.dtype)
        op = mv.PadOp(x.expression.value, before, shape, fill)
        return self.add(op, x, invalid=x.invalid or fill is None)

    def window(self, shape: Sequence[int]) -> tuple[list[int], list[int]]:
        """Offsets and extents of a part of a shape."""
        extents = [self.integer(min(1, s), s) for s in shape]
        return [self.integer(0, s - e) for s, e in zip(shape, extents, strict=True)], extents

    def shrink(self) -> Value:
        x = self.pick(exact=False)
        return self.add(mv.ShrinkOp(x.expression.value, *self.window(x.shape)), x)

    def index(self) -> Value:
        """Indices are constants, in range or just out of it, or integers of the pool."""
        x = self.pick(exact=False)
        indices: list[Value] = []
        room = max(MAX_ELEMENTS // max(x.size, 1), 1)
        for extent in x.shape[: self.integer(0, len(x.shape))]:
            if self.boolean():
                index = self.pick(vector_of_integers(room))
            else:
                number = self.integer(-1, extent)
                index = self.add(ConstOp(number, INDEX))
            room = max(room // max(index.size, 1), 1)
            indices.append(index)
        # An index that is invalid reads a valid 0.
        op = mv.IndexOp(x.expression.value, [i.expression.value for i in indices])
        return self.add(op, x, invalid=x.invalid)

    def stack(self) -> Value:
        x = self.pick(
            lambda v: len(v.shape) < MAX_RANK and v.size <= MAX_ELEMENTS // 3, exact=False
        )
        type = x.expression.value.type
        sources = [x]
        for _ in range(self.integer(0, 2)):
            same = [v for v in self.pool if v.expression.value.type == type]
            sources.append(self.choose(same) if same else x)
        return self.add(mv.StackOp([s.expression.value for s in sources]), *sources)

    def bitcast(self) -> Value:
        """To a dtype that the bytes are a multiple of. The bits of a computed NaN are not fixed."""
        known = MinMax()

        def fixed(v: Value) -> bool:
            return not v.row.is_float or not known[v.expression.value].nan

        x = self.pick(fixed)
        bytes = (x.shape[-1] if x.shape else 1) * x.row.itemsize
        fitting = [
            d
            for d, row in DTYPES.items()
            if not row.is_bool
            and (row.itemsize == x.row.itemsize or (x.shape and bytes % row.itemsize == 0))
            and x.size * x.row.itemsize // row.itemsize <= max(MAX_ELEMENTS, x.size)
        ]
        return self.add(mv.BitcastOp(x.expression.value, self.choose(fitting)), x)

    def mark(self) -> Value:
        x = self.pick(exact=False)
        op = self.choose((marker.ContiguousOp, marker.DetachOp, marker.ContiguousBackwardOp))
        invalid = x.invalid and op is not marker.ContiguousOp
        return self.add(op(x.expression.value), x, invalid=invalid)

    def copy(self) -> Value:
        x = self.pick(exact=False)
        clone = self.choose((False, True))
        return self.add(CopyOp(x.expression.value, "CPU", clone=clone), x, invalid=False)

    def load(self) -> Value:
        x = self.pick(exact=False)
        if self.boolean():
            return self.add(LoadOp(x.expression.value), x, invalid=False)
        alt, gate = self.filling(x.expression.dtype, x.shape), self.gate(x.shape)
        op = LoadOp(x.expression.value, alt.expression.value, gate.expression.value)
        return self.add(op, x, alt, invalid=False)

    def gate(self, shape: tuple[int, ...]) -> Value:
        """A bool of this shape or a scalar."""
        return self.pick(lambda v: v.row.is_bool and v.shape in ((), shape))

    def reduce(self) -> Value | None:
        kind = self.choose(tuple(ReduceKind))
        x = self.pick(exact=kind is not ReduceKind.MAX)
        axes = tuple(a for a in range(len(x.shape)) if self.boolean())
        result = self.add(ReduceOp(kind, x.expression.value, axes), x, invalid=False)
        if x.row.is_float and kind is not ReduceKind.MAX:
            self.reductions.append((result, x, kind, axes))
            return None
        return result

    def assign(self) -> Value:
        """A buffer that is written as a whole and then, perhaps, in part: STORE and AFTER."""
        x = self.pick(exact=False)
        dtype, shape = x.expression.dtype, x.shape
        type = tensor_type(dtype, shape, PlaceAttr.of("CPU", AddrSpace.GLOBAL))
        buffer = BufferOp(self.buffers, type)
        self.buffers += 1
        # What is stored decides: invalid cells are not written, so the buffer must hold something.
        zero = self.add(ConstOp(number_attribute(0, dtype)))
        cleared = self.add(mv.ReshapeOp(zero.expression.value, [1] * len(shape)), zero)
        cleared = self.add(mv.ExpandOp(cleared.expression.value, shape), cleared)
        self.block.add_op(buffer)
        current = self.store(buffer.result, cleared)
        current = self.store(current.expression.value, x)
        if self.boolean() and shape:
            target = self.part(current.expression.value)
            part = self.filling(dtype, tensor(target).get_shape())
            gate = self.gate(part.shape).expression.value if self.boolean() else None
            store = StoreOp(target, part.expression.value, gate)
            self.block.add_op(store)
            after = AfterOp(current.expression.value, [store.result])
            current = self.add(after, x, part, invalid=False)
        return current

    def part(self, memory: SSAValue) -> SSAValue:
        """Some cells of memory, seen through one or two movements."""
        shape = tensor(memory).get_shape()
        if self.boolean():
            index = ConstOp(self.integer(0, shape[0]), INDEX)
            view: mv.MovementOp = mv.IndexOp(memory, [index])
            self.block.add_ops((index, view))
            return view.result
        view = mv.ShrinkOp(memory, *self.window(shape))
        self.block.add_op(view)
        if self.boolean():
            view = mv.FlipOp(view, [self.boolean() for _ in shape])
            self.block.add_op(view)
        return view.result

    def filling(self, dtype: Attribute, shape: tuple[int, ...]) -> Value:
        """A value of exactly this type: one of the pool, or a constant everywhere."""
        same = [v for v in self.pool if v.shape == shape and v.expression.dtype == dtype]
        if same:
            return self.choose(same)
        number = self.constant(dtype)
        single = self.add(mv.ReshapeOp(number.expression.value, [1] * len(shape)), number)
        return self.add(mv.ExpandOp(single.expression.value, shape), single)

    def store(self, buffer: Any, value: Value) -> Value:
        store = StoreOp(buffer, value.expression.value)
        self.block.add_op(store)
        return self.add(AfterOp(buffer, [store.result]), value, invalid=False)

    def function(self) -> Value:
        """A FUNCTION of one or two arguments, with a body of a few steps."""
        arguments = [self.pick() for _ in range(self.integer(1, 2))]
        arguments = [self.value(a) for a in arguments]
        body = Block()
        inner = Generator(self.random, body)
        for slot, argument in enumerate(arguments):
            param = inner.add(ParamOp(slot, argument.expression.value.type), argument)
            inner.pool.append(param)
        inner.grow(self.integer(1, 3), INNER_STEPS)
        results = inner.pool[-self.integer(1, 2) :]
        body.add_op(TupleOp([r.expression.value for r in results]))
        function = FunctionOp([a.expression.value for a in arguments], Region(body))
        if self.boolean():
            function.attributes["tg.outline"] = UnitAttr()
        self.block.add_op(function)
        picked = self.integer(0, len(results) - 1)
        return self.add(GetTupleOp(function.result, picked), results[picked])

    def value(self, memory: Value) -> Value:
        """What memory holds, as a value; a value as it is."""
        if not is_memory(memory.expression.value):
            return memory
        return self.add(LoadOp(memory.expression.value), memory, invalid=False)

    def grow(self, steps: int, kinds: Sequence[Callable[[Generator], Value | None]]) -> None:
        for _ in range(steps):
            made = self.choose(kinds)(self)
            if made is not None:
                self.pool.append(made)


INNER_STEPS = (
    *(Generator.unary, Generator.binary, Generator.binary, Generator.where, Generator.cast),
    *(Generator.permute, Generator.pad, Generator.shrink, Generator.flip, Generator.reshape),
)
STEPS = (
    *(Generator.unary, Generator.unary, Generator.unary, *(Generator.binary,) * 7),
    *(Generator.where, Generator.cast, Generator.cast, Generator.reduce, Generator.reduce),
    *(Generator.permute, Generator.reshape, Generator.expand, Generator.pad, Generator.shrink),
    *(Generator.flip, Generator.index, Generator.stack, Generator.bitcast, Generator.mark),
    *(Generator.threefry, Generator.multiply_accumulate, Generator.assign, Generator.function),
    *(Generator.load, Generator.copy, *IDIOMS),
)


def fits_shape(shape: Sequence[Any], value: Value) -> bool:
    """Whether a value broadcasts with a shape to something not too large."""
    rank = max(len(shape), len(value.shape))
    left = (1,) * (rank - len(shape)) + tuple(shape)
    right = (1,) * (rank - len(value.shape)) + value.shape
    pairs = list(zip(left, right, strict=True))
    return all(a == b or 1 in (a, b) for a, b in pairs) and (
        math.prod(b if a == 1 else a for a, b in pairs) <= max(MAX_ELEMENTS, math.prod(shape))
    )


def vector_of_integers(limit: int) -> Callable[[Value], bool]:
    """Whether a value can be an index, of at most so many elements."""
    return lambda v: v.row.is_integer and len(v.shape) <= 1 and v.size <= limit


def fits(x: Value, value: Value) -> bool:
    return fits_shape(x.shape, value)


def random_program(seed: int, steps: int) -> RandomProgram:
    """A program of so many steps on up to three inputs. Fewer steps are the beginning of more."""
    block = Block()
    generator = Generator(Random(seed), block)
    base = [generator.choose((2, 3, 1, 4, 5, 7)) for _ in range(generator.integer(1, 3))]
    if generator.integer(0, 19) == 19:
        base[0] = 0
    inputs: list[Array] = []
    favourite = generator.choose(ALL_DTYPES)
    for _ in range(generator.integer(1, 3)):
        dtype = favourite if generator.boolean() else generator.choose(ALL_DTYPES)
        kept = base[generator.integer(0, len(base)) :] if generator.boolean() else base
        shape = tuple(
            1 if extent > 1 and generator.integer(0, 4) == 4 else extent for extent in kept
        )
        argument = block.insert_arg(tensor_type(dtype, shape), len(block.args))
        inputs.append(random_array(dtype, shape, generator.integer(0, 2**16)))
        generator.pool.append(Value(Expression(argument, block)))
    returned = generator.integer(1, 3)
    generator.grow(steps, STEPS)

    outputs = [Output(v) for v in generator.pool[-returned:]]
    for result, source, kind, axes in generator.reductions[-2:]:
        outputs.append(Output(source))
        outputs.append(Output(result, Reduction(kind, len(outputs) - 1, axes)))
    outputs = [replace(o, value=generator.value(o.value)) for o in outputs]
    values = [o.value.expression.value for o in outputs]
    block.add_op(ReturnOp(*values))
    types = ([a.type for a in block.args], [v.type for v in values])
    module = ModuleOp([FuncOp("main", types, Region(block))])
    return RandomProgram(module, tuple(inputs), tuple(outputs), tuple(generator.everything))
