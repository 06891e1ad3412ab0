"""Random programs whose extents are arguments: one compilation, run for several sizes.

Two index arguments, `n` and `m`, are the dynamic dimensions; shapes are sums and products of them
and of integers. All results are exact: integers, or floats that are only moved and selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import numpy as np
from expression import Array
from random_arrays import random_array
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.ops import elementwise as ew
from tgdialect.ops import movement as mv
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import BOOL, F32, I32, INDEX, number_attribute
from tgdialect.ops.properties import Shape, shape_of, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp

T = TypeVar("T")

LEAST, MOST = 1, 9
"""The bounds of `n` and `m`."""
MAX_RANK = 4
MAX_DYNAMIC = 2
"""Dynamic axes of one value: what is reduced or repeated stays small."""

_INTEGER_OPS = (ew.AddOp, ew.MulOp, ew.SubOp, ew.MaxOp, ew.XorOp, ew.ModOp, ew.IDivOp)
_COMPARISONS = (ew.CmpLtOp, ew.CmpEqOp, ew.CmpNeOp)
_DTYPES = (I32, F32, BOOL)


@dataclass(frozen=True)
class DynamicProgram:
    """A module with a `@main`, and for each size to run it for its arguments."""

    module: ModuleOp
    runs: tuple[tuple[Any, ...], ...]


@dataclass
class _Grower:
    random: Random
    block: Block
    sizes: Sequence[SSAValue]
    pool: list[SSAValue] = field(default_factory=list)
    sums: dict[tuple[SSAValue, int], SSAValue] = field(default_factory=dict)

    def choose(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def add(self, op: Any) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, dtype: Attribute) -> SSAValue:
        return self.add(ConstOp(number_attribute(value, dtype)))

    def pick(self, accept: Callable[[SSAValue], bool] = lambda v: True) -> SSAValue | None:
        found = [v for v in self.pool if accept(v)]
        return found[-1 - self.random.randrange(min(len(found), 5))] if found else None

    def enlarged(self, extent: Any, more: int) -> Any:
        """An extent and a number; dynamic ones are computed once, so that shapes can be equal."""
        if isinstance(extent, int):
            return extent + more
        if (extent, more) not in self.sums:
            one = self.constant(more, INDEX)
            self.sums[extent, more] = self.add(ew.AddOp(extent, one))
        return self.sums[extent, more]

    def returned(self, value: SSAValue) -> SSAValue:
        """What a function may return: its dynamic extents are arguments themselves."""
        for axis, extent in enumerate(shape_of(value)):
            if isinstance(extent, SSAValue) and extent not in self.sizes:
                value = self.add(ReduceOp(ReduceKind.MAX, value, [axis]))
        return value

    # -- steps

    def binary(self) -> SSAValue | None:
        x = self.pick()
        if x is None:
            return None
        dtype = tensor(x).element_type
        y = self.pick(lambda v: tensor(v).element_type == dtype and _broadcast(shape_of(x), v))
        if y is None:
            return None
        ops = _INTEGER_OPS if dtype == I32 else _COMPARISONS if dtype == F32 else (ew.XorOp,)
        return self.add(self.choose(ops)(x, y))

    def where(self) -> SSAValue | None:
        condition = self.pick(lambda v: tensor(v).element_type == BOOL)
        if condition is None:
            return None
        a = self.pick(lambda v: _broadcast(shape_of(condition), v))
        if a is None:
            return None
        element = tensor(a).element_type
        return self.add(ew.WhereOp(condition, a, self.constant(1, element)))

    def cast(self) -> SSAValue | None:
        x = self.pick(lambda v: tensor(v).element_type != F32)
        return None if x is None else self.add(ew.CastOp(x, I32))

    def permute(self) -> SSAValue | None:
        x = self.pick()
        if x is None:
            return None
        rank = len(shape_of(x))
        return self.add(mv.PermuteOp(x, self.random.sample(range(rank), rank)))

    def flip(self) -> SSAValue | None:
        x = self.pick()
        if x is None:
            return None
        return self.add(mv.FlipOp(x, [self.choose((True, False)) for _ in shape_of(x)]))

    def pad(self) -> SSAValue | None:
        x = self.pick()
        if x is None:
            return None
        before = [self.random.randrange(3) for _ in shape_of(x)]
        after = [self.random.randrange(3) for _ in shape_of(x)]
        shape = [
            self.enlarged(extent, b + a)
            for extent, b, a in zip(shape_of(x), before, after, strict=True)
        ]
        fill = number_attribute(1, tensor(x).element_type)
        return self.add(mv.PadOp(x, before, shape, fill))

    def shrink(self) -> SSAValue | None:
        """Cut off one cell, of axes that have been padded, or all but one."""
        x = self.pick(lambda v: shape_of(v) != ())
        if x is None:
            return None
        axis = self.random.randrange(len(shape_of(x)))
        offsets, shape = [0] * len(shape_of(x)), list(shape_of(x))
        larger = [e for (e, more), s in self.sums.items() if s is shape[axis] and more > 0]
        if larger:
            offsets[axis], shape[axis] = 1, larger[0]
        elif isinstance(shape[axis], SSAValue) or shape[axis] > 0:
            shape[axis] = 1
        return self.add(mv.ShrinkOp(x, offsets, shape))

    def expand(self) -> SSAValue | None:
        x = self.pick(lambda v: 1 in shape_of(v) and _dynamic(v) < MAX_DYNAMIC)
        if x is None:
            return None
        shape = list(shape_of(x))
        shape[shape.index(1)] = self.choose((*self.sizes, 2, 3))
        return self.add(mv.ExpandOp(x, shape))

    def unsqueeze(self) -> SSAValue | None:
        x = self.pick(lambda v: len(shape_of(v)) < MAX_RANK)
        if x is None:
            return None
        shape = list(shape_of(x))
        shape.insert(self.random.randrange(len(shape) + 1), 1)
        return self.add(mv.ReshapeOp(x, shape))

    def merge(self) -> SSAValue | None:
        """Two axes into one, and apart again: the index goes through a division."""
        x = self.pick(lambda v: len(shape_of(v)) >= 2)
        if x is None:
            return None
        shape = list(shape_of(x))
        axis = self.random.randrange(len(shape) - 1)
        two = [e if isinstance(e, SSAValue) else self.constant(e, INDEX) for e in shape[axis:][:2]]
        product = self.add(ew.MulOp(*two))
        merged = self.add(mv.ReshapeOp(x, [*shape[:axis], product, *shape[axis + 2 :]]))
        if self.choose((True, False)):
            merged = self.add(mv.FlipOp(merged, [a == axis for a in range(len(shape) - 1)]))
        return self.add(mv.ReshapeOp(merged, shape))

    def reduce(self) -> SSAValue | None:
        x = self.pick(lambda v: shape_of(v) != ())
        if x is None:
            return None
        is_float = tensor(x).element_type == F32
        kind = ReduceKind.MAX if is_float else self.choose((ReduceKind.ADD, ReduceKind.MAX))
        axis = self.random.randrange(len(shape_of(x)))
        return self.add(ReduceOp(kind, x, [axis]))

    def scan(self) -> SSAValue | None:
        """The cumulative sum of a vector of `n` as the specification writes it, on `?`."""
        x = self.pick(lambda v: tensor(v).element_type == I32 and shape_of(v) == (self.sizes[0],))
        if x is None:
            return None
        n = self.sizes[0]
        one, two = self.constant(1, INDEX), self.constant(2, INDEX)
        less, more = self.add(ew.SubOp(n, one)), self.add(ew.AddOp(n, one))
        double = self.add(ew.MulOp(n, two))
        row = self.add(ew.SubOp(double, one))
        x = self.add(mv.ReshapeOp(self.add(mv.PadOp(x, [less], [row])), [1, row]))
        x = self.add(mv.ExpandOp(x, [more, row]))
        x = self.add(mv.ReshapeOp(x, [self.add(ew.MulOp(more, row))]))
        x = self.add(mv.ShrinkOp(x, [0], [self.add(ew.MulOp(double, n))]))
        x = self.add(mv.ShrinkOp(self.add(mv.ReshapeOp(x, [n, double])), [0, 0], [n, n]))
        return self.add(mv.ReshapeOp(self.add(ReduceOp(ReduceKind.ADD, x, [1])), [n]))


_STEPS = (
    *(_Grower.binary, _Grower.binary, _Grower.binary, _Grower.where, _Grower.cast),
    *(_Grower.permute, _Grower.flip, _Grower.pad, _Grower.shrink, _Grower.expand, _Grower.expand),
    *(_Grower.unsqueeze, _Grower.merge, _Grower.reduce, _Grower.reduce, _Grower.scan),
)


def _dynamic(value: SSAValue) -> int:
    return tensor(value).get_shape().count(DYNAMIC_INDEX)


def _broadcast(shape: Shape, value: SSAValue) -> bool:
    """Whether a value broadcasts with a shape, without having more dynamic axes together."""
    other = shape_of(value)
    rank = max(len(shape), len(other))
    left = (1,) * (rank - len(shape)) + tuple(shape)
    right = (1,) * (rank - len(other)) + tuple(other)
    pairs = list(zip(left, right, strict=True))
    dynamic = sum(isinstance(a, SSAValue) or isinstance(b, SSAValue) for a, b in pairs)
    return dynamic <= MAX_DYNAMIC and all(a is b or a == b or 1 in (a, b) for a, b in pairs)


def dynamic_program(seed: int, steps: int) -> DynamicProgram:
    """A program of so many steps on two inputs of dynamic shape, and three sizes for it."""
    random = Random(seed)
    index = tensor_type(INDEX)
    block = Block(arg_types=[index, index])
    n, m = block.args
    bounds = {"tg.min": IntegerAttr(LEAST, i64), "tg.max": IntegerAttr(MOST, i64)}
    attributes: list[dict[str, Attribute]] = [dict(bounds), dict(bounds)]
    shapes: list[list[Any]] = []
    dtypes: list[Attribute] = []
    for _ in range(2):
        shape = random.choice([[n], [m, n], [n, 3], [2, m], [n, m], [1, n]])
        dtype = random.choice(_DTYPES)
        static = tuple(DYNAMIC_INDEX if isinstance(e, SSAValue) else e for e in shape)
        block.insert_arg(tensor_type(dtype, static), len(block.args))
        positions = [0 if e is n else 1 for e in shape if isinstance(e, SSAValue)]
        attributes.append({"tg.dims": DenseArrayBase.from_list(i64, positions)})
        shapes.append(shape)
        dtypes.append(dtype)
    function = FuncOp("main", ([a.type for a in block.args], []), Region(block))
    function.arg_attrs = ArrayAttr(DictionaryAttr(a) for a in attributes)
    grower = _Grower(random, block, (n, m), list(block.args[2:]))
    for _ in range(steps):
        if (made := random.choice(_STEPS)(grower)) is not None:
            grower.pool.append(made)
    results = [grower.returned(v) for v in grower.pool[-random.randint(1, 2) :]]
    block.add_op(ReturnOp(*results))
    function.function_type = function.function_type.from_lists(
        [a.type for a in block.args], [r.type for r in results]
    )

    def arguments(size: tuple[int, int]) -> tuple[Any, ...]:
        known: dict[SSAValue, int] = {n: size[0], m: size[1]}
        arrays: list[Array] = []
        for shape, dtype in zip(shapes, dtypes, strict=True):
            extents = tuple(known[e] if isinstance(e, SSAValue) else e for e in shape)
            arrays.append(random_array(dtype, extents, random.randrange(2**16)))
        return (np.array(size[0]), np.array(size[1]), *arrays)

    sizes = [(LEAST, MOST), (MOST, LEAST), (random.randint(2, 8), random.randint(2, 8))]
    return DynamicProgram(ModuleOp([function]), tuple(arguments(size) for size in sizes))
