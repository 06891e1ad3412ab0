"""Random programs on memory that read what they write, through views.

A program has a few buffers and arguments, and stores to views of them one after the other: windows,
transposed, flipped, reshaped, reinterpreted and padded views, rows by numbers, views of views. What
it stores is computed from the same view, from others of the same memory as it is or as it was
before, and from other memory. All arithmetic is on integers, so that executors agree to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from expression import Array
from random_arrays import random_array
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, IntegerType, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tgdialect.ops import elementwise as ew
from tgdialect.ops.arguments import ANY_RESULT
from tgdialect.ops.attributes import AddrSpace, PlaceAttr, ReduceKind
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import BOOL, DTYPES, I32, I64, INDEX, number_attribute, unsigned
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
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp

T = TypeVar("T")

SHAPES = ((6,), (12,), (2, 6), (6, 2), (3, 4), (4, 4), (2, 3, 4), (1, 6), (5, 7), (3, 1, 2), (36,))
LARGE_SHAPES = ((97, 96), (9216,), (48, 2, 96))
"""With these, loops are split where their conditions change, and threads share them."""
_DTYPES = (I32, I32, unsigned(32), I64)
_WIDTHS = (unsigned(8), IntegerType(16), unsigned(32), I32, I64)
_BINARY = (ew.AddOp, ew.AddOp, ew.MulOp, ew.SubOp, ew.MaxOp, ew.XorOp)


@dataclass(frozen=True)
class RandomInPlace:
    """A module whose `@main` stores to memory in place, and arrays for its arguments."""

    module: ModuleOp
    inputs: tuple[Array, ...]


@dataclass
class _Memory:
    """A buffer or an argument: its first version, and the latest."""

    first: SSAValue
    latest: SSAValue


@dataclass
class _Grower:
    random: Random
    builder: OpBuilder
    memories: list[_Memory]
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    """Values that have been computed from what memory was at some time."""

    def choose(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    # -- views

    def view(self, value: SSAValue, *, is_target: bool) -> SSAValue:
        """A random view of memory, or of a value. A STORE goes to each cell of a `target` once, but
        for rows by numbers, which may be equal."""
        for _ in range(self.choose((0, 1, 1, 1, 2, 2, 3))):
            if (new := self.moved(value, is_target=is_target)) is not None:
                value = new
        return value

    def moved(self, value: SSAValue, *, is_target: bool) -> SSAValue | None:
        shape = _shape(value)
        put = self.builder.put
        match self.random.randrange(9 if is_target else 11):
            case 0 | 1 if shape:
                offsets, sizes = self.window(shape)
                return put(ShrinkOp(value, offsets, sizes))
            case 2 | 3 if shape:
                return put(ReshapeOp(value, self.other_shape(math.prod(shape))))
            case 4 if len(shape) > 1:
                order = list(range(len(shape)))
                self.random.shuffle(order)
                return put(PermuteOp(value, order))
            case 5 if shape:
                return put(FlipOp(value, [self.chance(2) for _ in shape]))
            case 6 if shape and math.prod(shape) > 1:
                return self.strided(value)
            case 7 if shape and self.chance(2):
                return self.rows(value, is_target=is_target)
            case 8 if shape and is_target is False and self.chance(3):
                offsets = [self.random.randrange(3) for _ in shape]
                sizes = [
                    o + n + self.random.randrange(3) for o, n in zip(offsets, shape, strict=True)
                ]
                fill = self.choose((None, number_attribute(3, tensor(value).element_type)))
                return put(PadOp(value, offsets, sizes, fill))
            case 9 if shape:
                axis = self.random.randrange(len(shape))
                kind = self.choose((ReduceKind.ADD, ReduceKind.MAX))
                return put(ReduceOp(kind, value, [axis]))
            case 10 if shape and 1 in shape:
                return put(ExpandOp(value, [n if n != 1 else self.choose((1, 3)) for n in shape]))
            case _:
                return None

    def window(self, shape: Sequence[int]) -> tuple[list[int], list[int]]:
        sizes = [n if self.chance(3) else self.random.randint(min(n, 1), n) for n in shape]
        return [self.random.randint(0, n - s) for n, s in zip(shape, sizes, strict=True)], sizes

    def other_shape(self, cells: int) -> list[int]:
        """A random shape of as many cells."""
        shape: list[int] = []
        left = cells
        while left > 1 and not self.chance(3):
            factor = self.choose([n for n in range(1, left + 1) if left % n == 0][:12])
            shape.append(factor)
            left //= factor
        shape.append(left)
        self.random.shuffle(shape)
        return shape

    def strided(self, value: SSAValue) -> SSAValue | None:
        """Each n-th cell along an axis, as slices with a step are: by SHRINKs and a RESHAPE."""
        shape = list(_shape(value))
        axis = self.random.randrange(len(shape))
        step = self.random.randint(2, 3)
        if (count := shape[axis] // step) == 0:
            return None
        put = self.builder.put
        shape[axis] = count * step
        value = put(ShrinkOp(value, [0] * len(shape), shape))
        split = [*shape[:axis], count, step, *shape[axis + 1 :]]
        value = put(ReshapeOp(value, split))
        offsets = [0] * len(split)
        offsets[axis + 1] = self.random.randrange(step)
        split[axis + 1] = 1
        value = put(ShrinkOp(value, offsets, split))
        return put(ReshapeOp(value, [*shape[:axis], count, *shape[axis + 1 :]]))

    def rows(self, value: SSAValue, *, is_target: bool) -> SSAValue:
        """Rows by their numbers, or one of them. Those of a target are different ones."""
        count = _shape(value)[0]
        if self.chance(2):
            return self.builder.put(IndexOp(value, [self.constant(self.random.randrange(count))]))
        picks = list(range(count))
        self.random.shuffle(picks)
        picks = picks[: self.random.randint(1, min(count, 4))]
        if not is_target:
            picks = [self.choose(picks) for _ in picks]
        stack = self.builder.put(StackOp([self.constant(pick) for pick in picks]))
        return self.builder.put(IndexOp(value, [stack]))

    def constant(self, number: int) -> SSAValue:
        return self.builder.put(ConstOp(number_attribute(number, INDEX)))

    # -- values

    def like(self, target: SSAValue) -> SSAValue:
        """A random value with the shape and the dtype of a view of memory."""
        value, shape = self.leaf(target), _shape(target)
        if shape and 1 < shape[0] <= 4 and self.chance(5):
            rows = [self.builder.put(IndexOp(target, [self.constant(i)])) for i in range(shape[0])]
            picked = [self.fitted(self.choose(rows), row) for row in rows]
            value = self.builder.put(StackOp([self.expression(each) for each in picked]))
        for _ in range(self.choose((0, 1, 1, 2, 3))):
            other = self.leaf(target)
            match self.random.randrange(8):
                case 0:
                    value = self.builder.put(ew.WhereOp(self.mask(target), value, other))
                case 1:
                    value = self.builder.put(ew.WhereOp(self.mask(target), other, value))
                case _:
                    value = self.builder.put(self.choose(_BINARY)(value, other))
        if self.chance(4):
            self.values.append(value)
        return value

    def expression(self, value: SSAValue) -> SSAValue:
        """A value that is computed from another one."""
        return self.builder.put(self.choose(_BINARY)(value, value)) if self.chance(2) else value

    def mask(self, target: SSAValue) -> SSAValue:
        """A condition with the shape of a view: a comparison, or a window."""
        put, shape = self.builder.put, _shape(target)
        if shape and self.chance(2):
            offsets, sizes = self.window(shape)
            true = put(ConstOp(number_attribute(1, BOOL)))
            ones = put(ExpandOp(put(ReshapeOp(true, [1] * len(shape))), sizes))
            return put(PadOp(ones, offsets, list(shape), number_attribute(0, BOOL)))
        return put(ew.CmpLtOp(self.leaf(target), self.leaf(target)))

    def leaf(self, target: SSAValue) -> SSAValue:
        put, dtype = self.builder.put, tensor(target).element_type
        match self.random.randrange(9):
            case 0 | 1 | 2:
                return target
            case 3:
                number = number_attribute(self.random.randint(1, 5), dtype)
                return put(ConstOp(number))
            case 4 if self.values:
                return self.fitted(self.choose(self.values), target)
            case 5 | 6:
                root = target
                while root.owner not in {m.latest.owner for m in self.memories} and isinstance(
                    op := root.owner,
                    IndexOp | ShrinkOp | ReshapeOp | PermuteOp | FlipOp | BitcastOp,
                ):
                    root = op.operands[0]
                return self.fitted(self.view(root, is_target=False), target)
            case _:
                memory = self.choose(self.memories)
                version = memory.first if self.chance(5) else memory.latest
                return self.fitted(self.view(version, is_target=False), target)

    def fitted(self, value: SSAValue, target: SSAValue) -> SSAValue:
        """A value as one of another shape and dtype: cut, padded, reduced or repeated."""
        put, shape = self.builder.put, _shape(target)
        dtype = tensor(target).element_type
        if tensor(value).element_type != dtype:
            size = [DTYPES[t].bits for t in (tensor(value).element_type, dtype)]
            kind = BitcastOp if size[0] == size[1] and self.chance(2) else ew.CastOp
            value = put(kind(value, dtype))
        if _shape(value) == shape:
            return value
        if math.prod(_shape(value)) == math.prod(shape):
            return put(ReshapeOp(value, shape))
        cells, wanted = math.prod(_shape(value)), math.prod(shape)
        flat = put(ReshapeOp(value, [cells]))
        if self.chance(4):
            total = put(ReduceOp(ReduceKind.ADD, flat, [0]))
            return put(ExpandOp(put(ReshapeOp(total, [1] * len(shape))), shape))
        if cells > wanted:
            flat = put(ShrinkOp(flat, [self.random.randint(0, cells - wanted)], [wanted]))
        else:
            offset = self.random.randint(0, wanted - cells)
            fill = None if self.chance(2) else number_attribute(0, dtype)
            flat = put(PadOp(flat, [offset], [wanted], fill))
        return put(ReshapeOp(flat, shape))

    # -- statements

    def store(self) -> None:
        """A STORE to a view of the latest version of some memory."""
        memory = self.choose(self.memories)
        target = self.view(memory.latest, is_target=True)
        put = self.builder.put
        if tensor(target).element_type == I32 and self.chance(8):
            target = put(BitcastOp(target, unsigned(32)))
        value = self.like(target)
        if not _shape(value) and _shape(target):
            value = put(ew.AddOp(value, target))
        gate = self.mask(target) if self.chance(8) else None
        if gate is not None and _shape(gate) != _shape(target):
            gate = None
        stored = put(StoreOp(target, value, gate))
        memory.latest = put(AfterOp(memory.latest, [stored]))

    def replace(self) -> None:
        """Another value in place of a donated one: of all cells, or of a window."""
        memory = self.choose(self.memories)
        put, old = self.builder.put, memory.latest
        shape, dtype = _shape(old), tensor(old).element_type
        if self.chance(3):
            memory.latest = self.like(old)
        else:
            offsets, sizes = self.window(shape)
            new = self.like(put(ShrinkOp(old, offsets, sizes)))
            if _shape(new) != (*sizes,):
                new = put(ExpandOp(put(ReshapeOp(new, [1] * len(shape))), sizes))
            true = put(ConstOp(number_attribute(1, BOOL)))
            ones = put(ExpandOp(put(ReshapeOp(true, [1] * len(shape))), sizes))
            mask = put(PadOp(ones, offsets, shape, number_attribute(0, BOOL)))
            padded = put(PadOp(new, offsets, shape, number_attribute(0, dtype)))
            memory.latest = put(ew.WhereOp(mask, padded, old))
        if _shape(memory.latest) != shape:
            one = put(ReshapeOp(memory.latest, [1] * len(shape)))
            memory.latest = put(ExpandOp(one, shape))


class _Reinterpreter(_Grower):
    """Some views have elements of another size."""

    def moved(self, value: SSAValue, *, is_target: bool) -> SSAValue | None:
        if not _shape(value) or not self.chance(3):
            return super().moved(value, is_target=is_target)
        old = DTYPES[tensor(value).element_type].bits
        size = _shape(value)[-1] * old
        fitting = [dtype for dtype in _WIDTHS if size % DTYPES[dtype].bits == 0]
        return self.builder.put(BitcastOp(value, self.choose(fitting)))


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(tensor(value).get_shape())


def random_in_place(seed: int, *, reinterprets: bool = False) -> RandomInPlace:
    """The program of a seed. If it `reinterprets`, it sees memory in elements of other sizes."""
    random = Random(seed)
    is_large, is_donating = random.randrange(8) == 0, random.randrange(4) == 0
    is_donating = is_donating and not reinterprets
    choices = LARGE_SHAPES if is_large else SHAPES
    shapes = [random.choice(choices) for _ in range(random.randint(1, 3))]
    dtypes = [random.choice(_DTYPES) for _ in shapes]
    where = None if is_donating else PlaceAttr.of("CPU", AddrSpace.GLOBAL)
    types = [tensor_type(d, s, where) for d, s in zip(dtypes, shapes, strict=True)]
    block = Block(arg_types=types)
    builder = OpBuilder.at_end(block)
    memories = [_Memory(argument, argument) for argument in block.args]
    if not is_donating and random.randrange(3) == 0:
        type = tensor_type(random.choice(_DTYPES), random.choice(choices), where)
        buffer = builder.put(BufferOp(0, type))
        memories.append(_Memory(buffer, buffer))
    kind = _Reinterpreter if reinterprets else _Grower
    grower = kind(random, builder, memories)
    for _ in range(random.randint(1, 4)):
        if is_donating:
            grower.replace()
        else:
            grower.store()
    results = [m.latest if is_donating else builder.put(LoadOp(m.latest)) for m in memories]
    block.add_op(ReturnOp(*results))
    function = FuncOp("main", (types, [r.type for r in results]), Region(block))
    if is_donating:
        function.arg_attrs = ArrayAttr(
            DictionaryAttr({"tg.donated": IntegerAttr(random.choice((i, ANY_RESULT)), i64)})
            for i in range(len(types))
        )
    inputs = tuple(
        random_array(dtype, shape, seed + i)
        for i, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True))
    )
    return RandomInPlace(ModuleOp([function]), inputs)
