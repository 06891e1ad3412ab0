"""Random programs that mix what is hard to get right together.

A program grows one op at a time, as those of `random_programs.py`, with any of these features: it
is a gradient, its dtypes are narrow, it writes memory in place through views, its extents are
arguments, and its values and FUNCTIONs are used many times. Results may depend on the order of a
sum: `slack.py` finds by how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from random import Random
from typing import Any, TypeVar

import numpy as np
from expression import Array
from random_arrays import interesting_numbers, random_array
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    DenseArrayBase,
    DictionaryAttr,
    Float16Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.interpreter import run
from tgdialect.ops import elementwise as ew
from tgdialect.ops import marker
from tgdialect.ops import movement as mv
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.attributes import AddrSpace, PlaceAttr, ReduceKind
from tgdialect.ops.call import FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.dtypes import (
    BOOL,
    DTYPES,
    F32,
    F64,
    I32,
    I64,
    INDEX,
    TYPES,
    UI8,
    UI64,
    DType,
    number_attribute,
)
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import Shape, is_memory, shape_of, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp
from tgdialect.transforms.gradient import GradientPass

T = TypeVar("T")


class Feature(Flag):
    """The ingredients of a mixture."""

    GRADIENT = auto()
    NARROW = auto()
    IN_PLACE = auto()
    SYMBOLIC = auto()
    SHARED = auto()


MOST = 9
"""The upper bound of the index arguments; the lower one is 1, or 0 in some programs."""
MAX_RANK = 4
MAX_CELLS = 400
"""Cells of the largest value, where every dynamic extent is at its greatest."""
MAX_DYNAMIC = 2
"""Dynamic axes of one value."""

_NARROW_FLOATS = (BFloat16Type(), Float16Type(), TYPES["f8E4M3FN"], TYPES["f8E5M2"])
_NARROW = (*_NARROW_FLOATS, IntegerType(8), UI8, IntegerType(16), BOOL)
_WIDE = (F32, F64, I32, I64, IntegerType(32, Signedness.UNSIGNED), UI64, BOOL)
_UNARY = tuple(op for op in (*ew.PRIMITIVES, *ew.DECOMPOSED) if issubclass(op, ew.UnaryOp))
_ARITHMETIC = (ew.AddOp, ew.MulOp, ew.SubOp, ew.MaxOp)
_OTHER = (
    *(ew.DivOp, ew.PowOp, ew.ModOp, ew.IDivOp, ew.XorOp, ew.OrOp, ew.AndOp),
    *(ew.CmpLtOp, ew.CmpNeOp, ew.CmpGtOp, ew.CmpGeOp, ew.CmpLeOp, ew.CmpEqOp),
)
_ADDED = (*_ARITHMETIC, ew.XorOp)
"""Ops that combine views of one value."""


@dataclass(frozen=True)
class Mixture:
    """A module with one function, and for each size to run it for its arguments."""

    module: ModuleOp
    runs: tuple[tuple[Array, ...], ...]
    features: Feature
    entry: str = "main"
    primal: ModuleOp | None = None
    """The program that this one is the gradient of: its arguments come first."""


@dataclass
class _Grower:
    """Grows a block. A step returns the value it has made, or None."""

    random: Random
    block: Block
    features: Feature
    sizes: Sequence[SSAValue] = ()
    least: int = 1
    """The lower bound of sizes."""
    dtypes: Sequence[Attribute] = _WIDE
    pool: list[SSAValue] = field(default_factory=list)
    memories: list[SSAValue] = field(default_factory=list)
    """The newest version of each buffer."""
    buffers: int = 0
    greatest: dict[SSAValue, int] = field(default_factory=dict)
    """The greatest number that a dynamic extent is."""
    sums: dict[tuple[SSAValue, int], SSAValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.greatest.update(dict.fromkeys(self.sizes, MOST))

    # -- decisions

    def choose(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, accept: Callable[[SSAValue], bool] = lambda v: True) -> SSAValue | None:
        """A value of the pool: the newest preferred, unless values are shared."""
        found = [v for v in self.pool if accept(v)]
        if Feature.SHARED not in self.features:
            found = found[-5:]
        return self.choose(found) if found else None

    def of_dtype(self, accept: Callable[[DType], bool]) -> SSAValue | None:
        return self.pick(lambda v: accept(_row(v)))

    # -- building

    def add(self, make: Callable[..., Operation], *arguments: Any) -> SSAValue:
        """Append a new op that its verifier accepts. Raises VerifyException for another one."""
        op = make(*arguments)
        op.verify()
        if math.prod(map(self.most, shape_of(op.results[0]))) > MAX_CELLS:
            raise VerifyException("the result is too large")
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, dtype: Attribute) -> SSAValue:
        return self.add(ConstOp, number_attribute(value, dtype))

    def number(self, dtype: Attribute) -> SSAValue:
        """Some small number, or seldom a special one."""
        row = DTYPES[dtype]
        if self.chance(0.1):
            return self.constant(self.choose(interesting_numbers(row)), dtype)
        least = 0 if row.low == 0 else -3
        value = self.random.randint(least, 1 if row.is_bool else 4)
        return self.constant(value / 2 if row.is_float else value, dtype)

    def value(self, memory: SSAValue) -> SSAValue:
        """The contents of memory, as a value; a value as it is."""
        return self.add(LoadOp, memory) if is_memory(memory) else memory

    def enlarged(self, extent: Any, more: int) -> Any:
        """An extent and a number; dynamic ones are computed once, so that shapes can be equal."""
        if isinstance(extent, int) or more == 0:
            return extent + more if isinstance(extent, int) else extent
        if (extent, more) not in self.sums:
            total = self.add(ew.AddOp, extent, self.constant(more, INDEX))
            self.sums[extent, more] = total
            self.greatest[total] = self.most(extent) + more
        return self.sums[extent, more]

    def product(self, extents: Sequence[Any]) -> Any:
        """The product of extents."""
        static = math.prod(e for e in extents if isinstance(e, int))
        dynamic = [e for e in extents if not isinstance(e, int)]
        if not dynamic:
            return static
        result = self.constant(static, INDEX)
        for extent in dynamic:
            result = self.add(ew.MulOp, result, extent)
        self.greatest[result] = math.prod(map(self.most, extents))
        return result

    def most(self, extent: Any) -> int:
        """The greatest number that an extent is."""
        return extent if isinstance(extent, int) else self.greatest.get(extent, MAX_CELLS)

    def broadcasts(self, shape: Shape, value: SSAValue) -> bool:
        """Whether a value broadcasts with a shape to something not too large."""
        other = shape_of(value)
        rank = max(len(shape), len(other))
        left = (1,) * (rank - len(shape)) + tuple(shape)
        right = (1,) * (rank - len(other)) + tuple(other)
        pairs = list(zip(left, right, strict=True))
        together = [b if _same(a, 1) else a for a, b in pairs]
        return (
            all(_same(a, b) or _same(a, 1) or _same(b, 1) for a, b in pairs)
            and sum(not isinstance(e, int) for e in together) <= MAX_DYNAMIC
            and math.prod(map(self.most, together)) <= MAX_CELLS
        )

    # -- steps: elementwise

    def unary(self) -> SSAValue | None:
        op = self.choose(_UNARY)
        x = self.of_dtype(lambda row: row in op.DOMAIN)
        if x is None:
            return None
        if op in (ew.Log2Op, ew.SqrtOp, ew.RecipOp) and self.chance(0.7):
            # Stay inside of the domain.
            one = self.constant(1, _element(x))
            x = self.add(ew.AddOp, self.add(ew.MulOp, x, x), one)
        elif op is ew.Exp2Op and self.chance(0.7):
            x = self.add(ew.SubOp, x, self.add(ew.MaxOp, x, self.constant(2, _element(x))))
        return self.add(op, x)

    def beside(self, x: SSAValue) -> SSAValue:
        """An operand of the same dtype that broadcasts with x."""
        dtype, shape = _element(x), shape_of(x)
        if self.chance(0.15):
            return self.number(dtype)
        if Feature.SHARED in self.features and self.chance(0.3):
            return self.view(x)
        y = self.pick(lambda v: _element(v) == dtype and self.broadcasts(shape, v))
        return x if y is None else y

    def binary(self) -> SSAValue | None:
        op = self.choose(_ARITHMETIC if self.chance(0.7) else _OTHER)
        x = self.of_dtype(lambda row: row in op.DOMAIN)
        if x is None:
            return None
        y = self.beside(x)
        return self.add(op, *((x, y) if self.chance(0.5) else (y, x)))

    def shift(self) -> SSAValue | None:
        x = self.of_dtype(lambda row: row.is_integer)
        if x is None:
            return None
        return self.add(self.choose((ew.ShlOp, ew.ShrOp)), x, self.beside(x))

    def multiply_accumulate(self) -> SSAValue | None:
        x = self.of_dtype(lambda row: row in ew.MulAccOp.DOMAIN)
        return None if x is None else self.add(ew.MulAccOp, x, self.beside(x), self.beside(x))

    def where(self) -> SSAValue | None:
        condition = self.of_dtype(lambda row: row.is_bool)
        if condition is None:
            return None
        shape = shape_of(condition)
        a = self.pick(lambda v: self.broadcasts(shape, v))
        if a is None:
            return None
        both = [a, self.beside(a)]
        self.random.shuffle(both)
        return self.add(ew.WhereOp, condition, *both)

    def compare(self) -> SSAValue | None:
        """A relu, or a mask."""
        if (x := self.pick()) is None:
            return None
        if self.chance(0.5):
            return self.add(ew.CmpLtOp, x, self.beside(x))
        mask = self.add(ew.CmpLtOp, self.constant(0, _element(x)), x)
        return self.add(ew.WhereOp, mask, x, self.number(_element(x)))

    def cast(self) -> SSAValue | None:
        x = self.pick()
        return None if x is None else self.add(ew.CastOp, x, self.choose(self.dtypes))

    def bitcast(self) -> SSAValue | None:
        """Integers to integers: the bits of a NaN are not fixed."""
        x = self.of_dtype(lambda row: row.is_integer and row.name != "index")
        if x is None:
            return None
        fitting = [
            d
            for d in self.dtypes
            if DTYPES[d].is_integer and DTYPES[d].itemsize == _row(x).itemsize
        ]
        return self.add(mv.BitcastOp, x, self.choose(fitting)) if fitting else None

    def mark(self) -> SSAValue | None:
        op = self.choose((marker.ContiguousOp, marker.DetachOp, marker.ContiguousBackwardOp))
        x = self.pick()
        return None if x is None else self.add(op, x)

    # -- steps: movement

    def view(self, x: SSAValue) -> SSAValue:
        """A view of x that has its shape."""
        rank = len(shape_of(x))
        kind = self.random.randrange(4)
        if kind == 0 or rank == 0:
            return self.add(mv.FlipOp, x, [self.chance(0.5) for _ in range(rank)])
        axis = self.random.randrange(rank)
        if kind == 1 and rank > 1:
            # As its own transpose, where that has the same shape.
            other = self.random.randrange(rank)
            if _same(shape_of(x)[axis], shape_of(x)[other]):
                order = list(range(rank))
                order[axis], order[other] = other, axis
                return self.add(mv.PermuteOp, x, order)
        if kind == 2 and self.broadcasts((), x):
            # Reduced to one cell along an axis, and repeated.
            reduced = self.add(ReduceOp, self.choose(tuple(ReduceKind)[:2]), x, [axis])
            return self.add(mv.ExpandOp, reduced, shape_of(x))
        # Moved by one along an axis.
        shape = list(shape_of(x))
        larger = [self.enlarged(e, 1) if a == axis else e for a, e in enumerate(shape)]
        at, back = [0] * rank, [0] * rank
        (at if self.chance(0.5) else back)[axis] = 1
        fill = number_attribute(1, _element(x)) if self.chance(0.5) else None
        return self.add(mv.ShrinkOp, self.add(mv.PadOp, x, at, larger, fill), back, shape)

    def permute(self) -> SSAValue | None:
        if (x := self.pick()) is None:
            return None
        rank = len(shape_of(x))
        return self.add(mv.PermuteOp, x, self.random.sample(range(rank), rank))

    def flip(self) -> SSAValue | None:
        if (x := self.pick()) is None:
            return None
        return self.add(mv.FlipOp, x, [self.chance(0.5) for _ in shape_of(x)])

    def pad(self) -> SSAValue | None:
        if (x := self.pick()) is None:
            return None
        before = [self.random.randrange(3) for _ in shape_of(x)]
        after = [self.random.randrange(3) for _ in shape_of(x)]
        shape = [
            self.enlarged(e, b + a) for e, b, a in zip(shape_of(x), before, after, strict=True)
        ]
        fill = number_attribute(1, _element(x)) if self.chance(0.5) else None
        return self.add(mv.PadOp, x, before, shape, fill)

    def shrink(self) -> SSAValue | None:
        x = self.pick(lambda v: shape_of(v) != ())
        return None if x is None else self.add(mv.ShrinkOp, x, *self.window(shape_of(x)))

    def window(self, shape: Shape) -> tuple[list[Any], list[Any]]:
        """Offsets and extents of a part of a shape: of one axis, or of several if static."""
        offsets: list[Any] = [0] * len(shape)
        extents: list[Any] = list(shape)
        for axis, extent in enumerate(shape):
            if self.chance(0.4):
                continue
            less = [e for (e, more), s in self.sums.items() if s is extent and more > 0]
            if isinstance(extent, int):
                extents[axis] = self.random.randint(min(1, extent), extent)
                offsets[axis] = self.random.randint(0, extent - extents[axis])
            elif less:
                offsets[axis], extents[axis] = self.random.randint(0, 1), less[0]
            elif self.least > 0:
                extents[axis] = 1
                if self.chance(0.5):
                    offsets[axis] = self.add(ew.SubOp, extent, self.constant(1, INDEX))
        return offsets, extents

    def expand(self) -> SSAValue | None:
        x = self.pick(lambda v: 1 in shape_of(v) and _dynamic(v) < MAX_DYNAMIC)
        if x is None:
            return None
        shape = list(shape_of(x))
        axis = self.choose([a for a, e in enumerate(shape) if _same(e, 1)])
        shape[axis] = self.choose((*self.sizes, *self.sizes, 2, 3, 4))
        return self.add(mv.ExpandOp, x, shape)

    def reshape(self) -> SSAValue | None:
        """Add an axis of 1, split an axis, or merge two."""
        if (x := self.pick()) is None:
            return None
        return self.reshaped(x)

    def reshaped(self, x: SSAValue) -> SSAValue:
        shape = list(shape_of(x))
        axis = self.random.randrange(len(shape) + 1)
        if self.chance(0.5) and axis < len(shape) - 1:
            shape[axis : axis + 2] = [self.product(shape[axis : axis + 2])]
        elif axis < len(shape) and isinstance(extent := shape[axis], int) and extent > 1:
            divisor = self.choose([d for d in range(1, extent + 1) if extent % d == 0])
            shape[axis : axis + 1] = [extent // divisor, divisor]
        elif len(shape) < MAX_RANK:
            shape.insert(axis, 1)
        if len(shape) > MAX_RANK:
            raise VerifyException("too many axes")
        return self.add(mv.ReshapeOp, x, shape)

    def turned(self) -> SSAValue | None:
        """Two axes merged, turned around, and apart again: the index goes through a division."""
        x = self.pick(lambda v: len(shape_of(v)) >= 2)
        if x is None:
            return None
        shape = list(shape_of(x))
        axis = self.random.randrange(len(shape) - 1)
        merged = [*shape[:axis], self.product(shape[axis : axis + 2]), *shape[axis + 2 :]]
        flat = self.add(mv.ReshapeOp, x, merged)
        flat = self.add(mv.FlipOp, flat, [a == axis for a in range(len(merged))])
        first, second = shape[axis : axis + 2]
        return self.add(mv.ReshapeOp, flat, [*shape[:axis], second, first, *shape[axis + 2 :]])

    def index(self) -> SSAValue | None:
        """Indices are constants, in range or just out of it, or integers of the pool."""
        x = self.pick(lambda v: shape_of(v) != ())
        if x is None:
            return None
        indices: list[SSAValue] = []
        for extent in shape_of(x)[: self.random.randint(1, len(shape_of(x)))]:
            vector = self.pick(lambda v: _row(v).is_integer and len(shape_of(v)) <= 1)
            if vector is None or self.chance(0.3):
                indices.append(self.constant(self.random.randint(-1, self.most(extent)), INDEX))
                continue
            if self.chance(0.7):
                bound = self.constant(min(self.most(extent), 100), _element(vector))
                vector = self.add(ew.ModOp, vector, bound)
            indices.append(vector)
        return self.add(mv.IndexOp, x, indices)

    def stack(self) -> SSAValue | None:
        x = self.pick(lambda v: len(shape_of(v)) < MAX_RANK)
        if x is None:
            return None
        x = self.value(x)
        others = [self.view(x) for _ in range(self.random.randint(0, 2))]
        return self.add(mv.StackOp, [x, *others])

    # -- steps: reductions

    def reduce(self) -> SSAValue | None:
        x = self.pick(lambda v: shape_of(v) != ())
        if x is None:
            return None
        kind = self.choose((ReduceKind.ADD, ReduceKind.ADD, ReduceKind.MAX, ReduceKind.MUL))
        axes = [axis for axis in range(len(shape_of(x))) if self.chance(0.6)]
        return self.add(ReduceOp, kind, x, axes or [0])

    def contract(self) -> SSAValue | None:
        """A sum of products along an axis: of a value and one that broadcasts with it."""
        x = self.pick(lambda v: shape_of(v) != ())
        if x is None:
            return None
        product = self.add(ew.MulOp, x, self.beside(x))
        axis = self.random.randrange(len(shape_of(product)))
        return self.add(ReduceOp, ReduceKind.ADD, product, [axis])

    def matrix_product(self) -> SSAValue | None:
        """A matrix times its transpose."""
        x = self.pick(lambda v: len(shape_of(v)) == 2 and not _row(v).is_bool)
        if x is None:
            return None
        rows, columns = shape_of(x)
        a = self.add(mv.ReshapeOp, x, [rows, columns, 1])
        b = self.add(mv.ReshapeOp, self.add(mv.PermuteOp, x, [1, 0]), [1, columns, rows])
        product = self.add(ReduceOp, ReduceKind.ADD, self.add(ew.MulOp, a, b), [1])
        return self.add(mv.ReshapeOp, product, [rows, rows])

    def normalise(self) -> SSAValue | None:
        """Softmax along an axis, or the same with squares."""
        x = self.pick(lambda v: _row(v).is_float and shape_of(v) != ())
        if x is None:
            return None
        axis = self.random.randrange(len(shape_of(x)))
        if self.chance(0.5):
            shifted = self.add(ew.SubOp, x, self.add(ReduceOp, ReduceKind.MAX, x, [axis]))
            terms = self.add(ew.Exp2Op, shifted)
        else:
            terms = self.add(ew.AddOp, self.add(ew.MulOp, x, x), self.constant(1, _element(x)))
        return self.add(ew.DivOp, terms, self.add(ReduceOp, ReduceKind.ADD, terms, [axis]))

    def scan(self) -> SSAValue | None:
        """The cumulative sum of a vector as the specification writes it."""
        x = self.pick(lambda v: len(shape_of(v)) == 1 and not _row(v).is_bool)
        if x is None:
            return None
        (n,) = shape_of(x)
        if n == 0 or (self.least == 0 and not isinstance(n, int)):
            return None
        less, more = self.enlarged(n, -1), self.enlarged(n, 1)
        double = self.product([2, n])
        row = self.enlarged(double, -1)
        fill = number_attribute(0, _element(x)) if self.chance(0.5) else None
        x = self.add(mv.ReshapeOp, self.add(mv.PadOp, x, [less], [row], fill), [1, row])
        x = self.add(mv.ExpandOp, x, [more, row])
        x = self.add(mv.ReshapeOp, x, [self.product([more, row])])
        x = self.add(mv.ShrinkOp, x, [0], [self.product([double, n])])
        x = self.add(mv.ShrinkOp, self.add(mv.ReshapeOp, x, [n, double]), [0, 0], [n, n])
        return self.add(mv.ReshapeOp, self.add(ReduceOp, ReduceKind.ADD, x, [1]), [n])

    # -- steps: values that are used many times

    def double(self) -> SSAValue | None:
        """A chain of ops each of which uses the one before twice."""
        if (x := self.pick()) is None:
            return None
        for _ in range(self.random.randint(2, 3)):
            op = self.choose([op for op in _ADDED if _row(x) in op.DOMAIN])
            x = self.add(op, x, self.view(x))
        return x

    def index_itself(self) -> SSAValue | None:
        x = self.pick(lambda v: _row(v).is_integer and len(shape_of(v)) == 1)
        if x is None:
            return None
        for _ in range(self.random.randint(1, 2)):
            bound = self.constant(min(self.most(shape_of(x)[0]), 100), _element(x))
            x = self.add(mv.IndexOp, x, [self.add(ew.ModOp, x, bound)])
        return x

    def views(self) -> SSAValue | None:
        """A value in several views, beside one of their sum."""
        if (x := self.pick()) is None:
            return None
        total = x
        for _ in range(self.random.randint(2, 3)):
            total = self.add(ew.AddOp, total, self.view(x))
        return self.add(ew.MulOp, self.view(total), x)

    def function(self) -> SSAValue | None:
        """A FUNCTION of one or two arguments, called once or several times."""
        if self.memories and self.block.parent_op() is None and not self.pool:
            return None
        known = {*self.sizes, *(s for (e, _), s in self.sums.items() if e in self.sizes)}
        arguments = [
            self.pick(lambda v: all(isinstance(e, int) or e in known for e in shape_of(v)))
            for _ in range(self.random.randint(1, 2))
        ]
        given = [self.value(a) for a in arguments if a is not None]
        if not given:
            return None
        body = Block()
        features = self.features & ~Feature.IN_PLACE
        inner = _Grower(self.random, body, features, least=self.least, dtypes=self.dtypes)
        inner.sizes = [
            inner.add(lambda slot=slot: ParamOp(slot, tensor_type(INDEX), min=self.least, max=MOST))
            for slot in range(len(self.sizes))
        ]
        inner.__post_init__()

        def inside(extent: Any) -> Any:
            if isinstance(extent, int):
                return extent
            if extent in self.sizes:
                return inner.sizes[self.sizes.index(extent)]
            ((of, more),) = (key for key, s in self.sums.items() if s is extent)
            return inner.enlarged(inside(of), more)

        for slot, argument in enumerate(given, len(self.sizes)):
            extents = map(inside, shape_of(argument))
            dims = [e for e in extents if not isinstance(e, int)]
            inner.pool.append(inner.add(ParamOp, slot, _anonymous(argument), dims))
        inner.grow(self.random.randint(1, 3), _INNER)
        outside = set(inner.sizes)
        results = [inner.returned(v, outside) for v in inner.pool[-self.random.randint(1, 2) :]]
        body.add_op(TupleOp(results))
        picked = self.random.randrange(len(results))
        outlined = self.chance(0.5)

        def called(arguments: Sequence[SSAValue], region: Region) -> SSAValue:
            function = FunctionOp([*self.sizes, *arguments], region)
            if outlined:
                function.attributes["tg.outline"] = UnitAttr()
            self.block.add_op(function)
            return self.add(GetTupleOp, function.results[0], picked)

        region = Region(body)
        times = self.choose((1, 2)) if Feature.SHARED in self.features else self.choose((0, 0, 1))
        copies = [region.clone() for _ in range(times)]
        result = called(given, region)
        for copy in copies:
            first = given[0]
            if result.type == first.type and all(map(_same, shape_of(result), shape_of(first))):
                first = result
            else:
                first = self.value(self.view(first))
            again = called([first, *given[1:]], copy)
            dtype_ops = [op for op in _ADDED if _row(result) in op.DOMAIN]
            if self.broadcasts(shape_of(result), again):
                result = self.add(self.choose(dtype_ops), result, again)
        return result

    # -- steps: memory

    def buffer(self) -> SSAValue | None:
        """A new BUFFER of the shape of a value, which is zero."""
        x = self.pick(lambda v: not is_memory(v) and all(e != 0 for e in shape_of(v)))
        if x is None or self.buffers == 3:
            return None
        dims = [e for e in shape_of(x) if not isinstance(e, int)]
        if any(e not in self.sizes for e in dims):
            return None
        memory = self.add(BufferOp, self.buffers, _in_memory(x), dims)
        self.buffers += 1
        self.memories.append(memory)
        return self.written(memory, x) if self.chance(0.7) else None

    def write(self) -> SSAValue | None:
        """Write a part of memory, seen through views: a value, or what another view shows."""
        if not self.memories:
            return self.buffer()
        memory = self.choose(self.memories)
        target = memory
        for _ in range(self.random.randint(0, 3)):
            target = self.place(target)
        shape = shape_of(target)
        source = self.choose(("pool", "pool", "itself", "shifted", "number"))
        dtype = _element(target)
        value: SSAValue | None = None
        if source == "pool":
            value = self.pick(
                lambda v: (
                    _element(v) == dtype
                    and len(shape_of(v)) <= len(shape)
                    and self.broadcasts(shape, v)
                    and all(_same(a, b) or _same(b, 1) for a, b in _aligned(shape, shape_of(v)))
                )
            )
        elif source == "itself":
            value = self.add(self.choose(_ADDED[:2]), self.view(target), self.number(dtype))
        elif source == "shifted":
            value = self.view(target)
        if value is None:
            value = self.number(dtype)
        if len(shape_of(value)) < len(shape):
            missing = len(shape) - len(shape_of(value))
            value = self.add(mv.ReshapeOp, value, [1] * missing + list(shape_of(value)))
        if not all(map(_same, shape_of(value), shape)):
            value = self.add(mv.ExpandOp, value, shape)
        return self.written(memory, value, target, gated=self.chance(0.2))

    def place(self, memory: SSAValue) -> SSAValue:
        """Some cells of memory, seen through a movement."""
        shape = shape_of(memory)
        match self.random.randrange(6):
            case 0:
                return self.add(mv.FlipOp, memory, [self.chance(0.5) for _ in shape])
            case 1:
                order = self.random.sample(range(len(shape)), len(shape))
                return self.add(mv.PermuteOp, memory, order)
            case 2:
                return self.reshaped(memory)
            case 3 if shape:
                number = self.random.randrange(-1, self.most(shape[0]))
                return self.add(mv.IndexOp, memory, [self.constant(number, INDEX)])
            case _:
                return self.add(mv.ShrinkOp, memory, *self.window(shape))

    def written(
        self,
        memory: SSAValue,
        value: SSAValue,
        target: SSAValue | None = None,
        *,
        gated: bool = False,
    ) -> SSAValue:
        """The next version of memory."""
        gate: list[SSAValue] = []
        if gated:
            shape = shape_of(value)
            found = self.pick(
                lambda v: (
                    _row(v).is_bool
                    and len(shape_of(v)) in (0, len(shape))
                    and all(map(_same, shape_of(v), shape))
                )
            )
            gate = [] if found is None else [found]
        store = StoreOp(memory if target is None else target, value, *gate)
        store.verify()
        self.block.add_op(store)
        new = self.add(AfterOp, memory, [store.result])
        self.memories[self.memories.index(memory)] = new
        # The version before may still be read, as a value that is loaded first.
        self.pool = [v for v in self.pool if v is not memory or self.chance(0.1)]
        return new

    def read(self) -> SSAValue | None:
        """The present contents of memory, whatever is stored later."""
        if not self.memories:
            return None
        memory = self.choose(self.memories)
        for _ in range(self.random.randint(0, 2)):
            memory = self.place(memory)
        return self.add(LoadOp, memory) if self.chance(0.5) else memory

    # -- the whole

    def grow(self, steps: int, kinds: Sequence[Callable[[_Grower], SSAValue | None]]) -> None:
        for _ in range(steps):
            try:
                made = self.choose(kinds)(self)
            except VerifyException:  # The op needs other operands.
                continue
            if made is not None and len(shape_of(made)) <= MAX_RANK:
                self.pool.append(made)

    def returned(self, value: SSAValue, sizes: Any) -> SSAValue:
        """A value that a function may return: its dynamic extents are arguments themselves."""
        value = self.value(value)
        for axis, extent in enumerate(shape_of(value)):
            if not isinstance(extent, int) and extent not in sizes:
                value = self.add(ReduceOp, ReduceKind.MAX, value, [axis])
        return value


_ELEMENTWISE = (
    *(_Grower.unary, _Grower.unary, *(_Grower.binary,) * 5),
    *(_Grower.where, _Grower.cast, _Grower.compare),
)
_MOVEMENT = (
    *(_Grower.permute, _Grower.flip, _Grower.pad, _Grower.shrink),
    *(_Grower.expand, _Grower.reshape, _Grower.turned, _Grower.index),
)
_REDUCTIONS = (_Grower.reduce, _Grower.reduce, _Grower.contract)
_INNER = (*_ELEMENTWISE, *_MOVEMENT, *_REDUCTIONS)
_STEPS = (
    *(*_ELEMENTWISE, *_MOVEMENT, *_REDUCTIONS, _Grower.shift, _Grower.multiply_accumulate),
    *(_Grower.stack, _Grower.bitcast, _Grower.mark, _Grower.expand, _Grower.function),
    *(_Grower.matrix_product, _Grower.normalise, _Grower.scan),
)
_EXTRA: dict[Feature, Sequence[Callable[[_Grower], SSAValue | None]]] = {
    Feature.NARROW: (_Grower.cast,) * 4,
    Feature.IN_PLACE: (*(_Grower.write,) * 12, *(_Grower.read,) * 3, _Grower.buffer),
    Feature.SHARED: (_Grower.double, _Grower.views, _Grower.index_itself, *(_Grower.function,) * 3),
}
"""The steps that a feature adds."""


def _element(value: SSAValue) -> Attribute:
    return tensor(value).element_type


def _row(value: SSAValue) -> DType:
    return DTYPES[_element(value)]


def _same(a: Any, b: Any) -> bool:
    """Whether two extents are known to be equal."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def _aligned(shape: Shape, other: Shape) -> list[tuple[Any, Any]]:
    return list(zip(shape[len(shape) - len(other) :], other, strict=True))


def _dynamic(value: SSAValue) -> int:
    return tensor(value).get_shape().count(DYNAMIC_INDEX)


def _anonymous(value: SSAValue) -> Any:
    return tensor_type(_element(value), tensor(value).get_shape())


def _in_memory(value: SSAValue) -> Any:
    place = PlaceAttr.of("CPU", AddrSpace.GLOBAL)
    return tensor_type(_element(value), tensor(value).get_shape(), place)


def _tame(dtype: Attribute, shape: tuple[int, ...], seed: int) -> Array:
    """Small numbers: floats that are multiples of 1/4, or have all their digits."""
    row, rng = DTYPES[dtype], np.random.default_rng(seed)
    if row.is_bool:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if row.is_float:
        values = rng.integers(-8, 9, shape) / 4 if rng.integers(2) else rng.normal(size=shape)
    else:
        values = rng.integers(0 if row.low == 0 else -8, 9, shape)
    return np.asarray(values).astype(numpy_dtype(row))


def features_of(seed: int) -> Feature:
    """The features of a seed: at least one."""
    return Feature(1 + seed % (2 ** len(Feature) - 1))


def mixture(
    seed: int,
    features: Feature | None = None,
    steps: int | None = None,
    *,
    differentiate: bool = True,
) -> Mixture:
    """A program of a seed, whose features are by default those of the seed. Fewer steps are the
    beginning of more."""
    features = features_of(seed) if features is None else features
    random = Random(seed)
    count = random.randint(1, 7)
    steps = count if steps is None else steps
    is_symbolic, is_narrow = Feature.SYMBOLIC in features, Feature.NARROW in features
    index = tensor_type(INDEX)
    block = Block(arg_types=[index, index] if is_symbolic else [])
    sizes = tuple(block.args)
    least = 0 if seed % 8 == 0 else 1
    bounds = {"tg.min": IntegerAttr(least, i64), "tg.max": IntegerAttr(MOST, i64)}
    attributes: list[dict[str, Attribute]] = [dict(bounds) for _ in sizes]
    dtypes: Sequence[Attribute] = (*_NARROW, F32, I32) if is_narrow else _WIDE
    if Feature.GRADIENT in features:
        dtypes = tuple(d for d in dtypes if DTYPES[d].is_float or random.random() < 0.4)
        if random.random() < 0.5 and not is_narrow:
            # For a comparison with finite differences.
            dtypes = tuple(d for d in dtypes if d != F32)
    favourite = random.choice(dtypes)
    base: list[Any] = [random.choice((2, 3, 4, 5, 7)) for _ in range(random.randint(1, 3))]
    if seed % 50 == 49:
        base[0] = 0
    if is_symbolic:
        n, m = sizes
        base = random.choice(([n], [m, n], [n, 3], [2, m], [n, m], [1, n], [n, n], [2, n, 3]))
    shapes: list[list[Any]] = []
    for position in range(random.randint(1, 3)):
        dtype = favourite if position == 0 or random.random() < 0.5 else random.choice(dtypes)
        if position == 0 and Feature.GRADIENT in features:
            dtype = random.choice([d for d in dtypes if DTYPES[d].is_float])
        shape = base[random.randint(0, len(base)) :] if random.random() < 0.3 else list(base)
        if random.random() < 0.15 and shape:
            shape[random.randrange(len(shape))] = 1
        static = tuple(DYNAMIC_INDEX if isinstance(e, SSAValue) else e for e in shape)
        in_memory = Feature.IN_PLACE in features and random.random() < 0.4
        place = [PlaceAttr.of("CPU", AddrSpace.GLOBAL)] if in_memory else []
        block.insert_arg(tensor_type(dtype, static, *place), len(block.args))
        known = [sizes.index(e) for e in shape if isinstance(e, SSAValue)]
        attributes.append({"tg.dims": DenseArrayBase.from_list(i64, known)} if known else {})
        shapes.append(shape)
    function = FuncOp("main", ([a.type for a in block.args], []), Region(block))
    function.arg_attrs = ArrayAttr(DictionaryAttr(a) for a in attributes)
    arguments = block.args[len(sizes) :]
    grower = _Grower(random, block, features, sizes, least, dtypes, list(arguments))
    grower.memories = [a for a in arguments if is_memory(a)]
    extra = [step for feature in features for step in _EXTRA.get(feature, ())]
    grower.grow(steps, (*_STEPS, *extra))

    chooser = Random(seed + 1)  # Whatever the steps have drawn.
    candidates = grower.pool
    if Feature.GRADIENT in features:
        candidates = [v for v in grower.pool if _row(v).is_float]
    results = [*candidates[-1 - (chooser.random() < 0.3) :], *grower.memories]
    returned = [grower.returned(v, sizes) for v in dict.fromkeys(results)]
    block.add_op(ReturnOp(*returned))
    function.function_type = function.function_type.from_lists(
        [a.type for a in block.args], [r.type for r in returned]
    )
    module = ModuleOp([function])
    wild = chooser.random() < 0.1

    def inputs(size: Sequence[int]) -> tuple[Array, ...]:
        known = dict(zip(sizes, size, strict=True))
        arrays: list[Array] = [np.array(extent) for extent in size]
        for argument, shape in zip(arguments, shapes, strict=True):
            extents = tuple(known[e] if isinstance(e, SSAValue) else e for e in shape)
            make = random_array if wild else _tame
            arrays.append(make(_element(argument), extents, chooser.randrange(2**16)))
        return tuple(arrays)

    of_runs = [(least, MOST), (chooser.randint(2, 8), chooser.randint(2, 8))]
    runs = [inputs(size) for size in (of_runs if is_symbolic else [()])]
    made = Mixture(module, tuple(runs), features)
    is_gradient = Feature.GRADIENT in features and differentiate
    return differentiated(made, seed) if is_gradient else made


def differentiated(program: Mixture, seed: int) -> Mixture:
    """The gradient of a program, with a gradient of each float result as a further argument.
    Raises PassFailedException where a gradient is refused."""
    module = program.module.clone()
    GradientPass(entry=program.entry).apply(Context(), module)
    primal, gradient = (op for op in module.ops if isinstance(op, FuncOp))
    results = list(primal.body.block.last_op.operands)  # type: ignore[union-attr]
    dtypes = {r: _element(r) for r in results if _row(r).is_float}
    primal.detach()
    primal.erase()
    gradient.sym_name = StringAttr("main")
    rng = Random(seed)
    runs: list[tuple[Array, ...]] = []
    for arrays in program.runs:
        values = run(program.module, program.entry, [a.copy() for a in arrays])
        shapes = dict(zip(results, values, strict=False))
        seeds = [
            _tame(dtype, np.shape(shapes[result]), rng.randrange(2**16))
            for result, dtype in dtypes.items()
        ]
        runs.append((*arrays, *seeds))
    return Mixture(module, tuple(runs), program.features, primal=program.module)
