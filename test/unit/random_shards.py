"""Random tensor programs on several devices, or on none in particular. They are exact: their
elements are integers, or f64 that begin as such."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import Device, PlaceAttr, ReduceKind
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import number_attribute
from tgdialect.ops.elementwise import AddOp, CmpLtOp, MaxOp, MulOp, NegOp, WhereOp
from tgdialect.ops.marker import ContiguousOp
from tgdialect.ops.memory import CopyOp
from tgdialect.ops.movement import (
    ExpandOp,
    FlipOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.multi import ReplicatedOp
from tgdialect.ops.properties import place, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.transforms.gradient import GradientPass

_EXTENTS = (1, 2, 3, 4, 6, 8)
_MAX_CELLS = 4096


@dataclass
class RandomShards:
    """A generator of programs on `devices`, by a seed. Without devices no type names one."""

    seed: int
    devices: tuple[str, ...] = ("A", "B")
    dtypes: tuple[Attribute, ...] = (i32, i32, f32)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.block = Block()
        self.builder = OpBuilder.at_end(self.block)
        self.values: list[SSAValue] = []

    def module(self, ops: int = 12) -> ModuleOp:
        """A program of about so many ops, with the function `main`."""
        for _ in range(self.random.randint(2, 3)):
            self.values.append(self._argument())
        for _ in range(ops):
            self._extend()
        unused = [v for v in self.values if not v.uses and isinstance(v.owner, Operation)]
        results = unused[-3:] or self.values[-1:]
        self.builder.insert(ReturnOp(*results))
        types = list(self.block.arg_types), [v.type for v in results]
        return ModuleOp([FuncOp("main", types, Region(self.block))])

    def inputs(self) -> list[np.ndarray]:
        """Small integers for each argument of the program."""
        return integers_for(self.block.args, self.seed)

    # -- values

    def _place(self, shape: tuple[int, ...]) -> PlaceAttr:
        if not self.devices:
            return PlaceAttr.of()
        n = len(self.devices)
        axes = [i for i, extent in enumerate(shape) if extent % n == 0]
        places: list[tuple[Device, int | None]] = [(None, None), (self.devices, None)]
        places += [(self.devices, axis) for axis in axes * 3]
        places += [(self.random.choice(self.devices), None)]
        device, axis = self.random.choice(places)
        return PlaceAttr.of(device, None, axis)

    def _argument(self) -> SSAValue:
        shape = tuple(self.random.choice(_EXTENTS) for _ in range(self.random.randint(1, 3)))
        dtype = self.random.choice(self.dtypes)
        type = tensor_type(dtype, shape, self._place(shape))
        return self.block.insert_arg(type, len(self.block.args))

    def _extend(self) -> None:
        """Add an op. One that breaks a rule of sharding is not added."""
        make = self.random.choice(
            [
                *(self._unary, self._binary, self._binary, self._where, self._reduce),
                *(self._reshape, self._permute, self._expand, self._window, self._stack),
                *([self._copy, self._copy, self._broadcast, self._collective] * bool(self.devices)),
                *([self._split] * bool(self.devices)),
            ]
        )
        last = self.block.last_op
        try:
            found = make(self.random.choice(self.values[-6:]))
            for op in self._since(last):
                op.verify()
        except VerifyException:
            for op in reversed(self._since(last)):
                self.block.erase_op(op)
            return
        if found is not None and np.prod(tensor(found).get_shape()) <= _MAX_CELLS:
            self.values.append(found)

    def _since(self, last: Operation | None) -> list[Operation]:
        ops = list(self.block.ops)
        return ops if last is None else ops[ops.index(last) + 1 :]

    def _put(self, op: Operation) -> SSAValue:
        return self.builder.put(op)

    # -- ops

    def _unary(self, x: SSAValue) -> SSAValue:
        if self.random.random() < 0.3:
            return self._put(ContiguousOp(x))
        return self._put(NegOp(x))

    def _binary(self, x: SSAValue) -> SSAValue | None:
        others = [v for v in self.values if tensor(v).element_type == tensor(x).element_type]
        return self._combined(x, self.random.choice(others))

    def _combined(self, x: SSAValue, y: SSAValue) -> SSAValue:
        is_exact = tensor(x).element_type != f32
        return self._put(self.random.choice((AddOp, MaxOp, *[MulOp] * is_exact))(x, y))

    def _split(self, x: SSAValue) -> SSAValue | None:
        """A value that meets an argument of its shape, which is split among the devices."""
        shape = tensor(x).get_shape()
        axes = [i for i, extent in enumerate(shape) if extent % len(self.devices) == 0]
        if not axes:
            return None
        where = PlaceAttr.of(self.devices, None, self.random.choice(axes))
        type = tensor_type(tensor(x).element_type, shape, where)
        return self._combined(x, self.block.insert_arg(type, len(self.block.args)))

    def _where(self, x: SSAValue) -> SSAValue:
        others = [v for v in self.values if v.type == x.type]
        y = self.random.choice(others)
        return self._put(WhereOp(self._put(CmpLtOp(x, y)), y, x))

    def _reduce(self, x: SSAValue) -> SSAValue:
        rank = len(tensor(x).shape)
        axes = sorted(self.random.sample(range(rank), self.random.randint(0, rank)))
        kind = self.random.choice((ReduceKind.ADD, ReduceKind.MAX))
        return self._put(ReduceOp(kind, x, axes))

    def _reshape(self, x: SSAValue) -> SSAValue:
        shape = list(tensor(x).get_shape())
        axis = self.random.randrange(len(shape) + 1)
        match self.random.randrange(3):
            case 0:
                shape.insert(axis, 1)
            case 1 if axis + 1 < len(shape):
                shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
            case _ if axis < len(shape):
                divisors = [d for d in range(1, shape[axis] + 1) if shape[axis] % d == 0]
                outer = self.random.choice(divisors or [1])
                shape[axis : axis + 1] = [outer, shape[axis] // outer]
            case _:
                pass
        return self._put(ReshapeOp(x, shape))

    def _permute(self, x: SSAValue) -> SSAValue:
        order = list(range(len(tensor(x).shape)))
        self.random.shuffle(order)
        return self._put(PermuteOp(x, order))

    def _expand(self, x: SSAValue) -> SSAValue:
        shape = tensor(x).get_shape()
        return self._put(
            ExpandOp(x, [self.random.choice((1, 2, 4)) if d == 1 else d for d in shape])
        )

    def _window(self, x: SSAValue) -> SSAValue:
        shape = tensor(x).get_shape()
        where = place(x)
        axis = self.random.randrange(max(len(shape), 1))
        if axis == where.axis or not shape:
            return self._put(FlipOp(x, [i != where.axis for i in range(len(shape))]))
        start, new = [0] * len(shape), list(shape)
        start[axis] = self.random.randint(0, 2)
        if self.random.random() < 0.5:
            new[axis] = shape[axis] + start[axis] + self.random.randint(0, 1)
            one = number_attribute(1, tensor(x).element_type)
            return self._put(PadOp(x, start, new, self.random.choice((None, one))))
        start[axis] = self.random.randint(0, shape[axis] - 1)
        new[axis] = self.random.randint(1, shape[axis] - start[axis])
        return self._put(ShrinkOp(x, start, new))

    def _copy(self, x: SSAValue) -> SSAValue:
        target = self.random.choice((self.devices, self.devices, *self.devices))
        return self._put(CopyOp(x, target))

    def _broadcast(self, x: SSAValue) -> SSAValue:
        shape = tensor(x).get_shape()
        row = self._put(ReshapeOp(x, (1, *shape)))
        copies = self._put(ExpandOp(row, (len(self.devices), *shape)))
        return self._put(ReplicatedOp(self._put(CopyOp(copies, self.devices)), 0))

    def _stack(self, x: SSAValue) -> SSAValue:
        others = [v for v in self.values if v.type == x.type]
        return self._put(StackOp([x, self.random.choice(others)]))

    def _collective(self, x: SSAValue) -> SSAValue:
        """Parts of the sum of parts, as `reduce_scatter` in the specification."""
        size, *rest = tensor(x).get_shape()
        n = len(self.devices)
        parts = self._put(ReshapeOp(x, (n, n, size // n // n, *rest)))
        order = (1, 0, *range(2, len(rest) + 3))
        moved = self._put(CopyOp(self._put(PermuteOp(parts, order)), self.devices))
        total = self._put(ReduceOp(ReduceKind.ADD, moved, [1]))
        return self._put(ReshapeOp(total, (size // n, *rest)))


def integers_for(values: Iterable[SSAValue], seed: int) -> list[np.ndarray]:
    """Small integers for each of some arguments, in its dtype."""
    rng = np.random.default_rng(seed)
    dtypes = {i32: np.int32, f32: np.float32, f64: np.float64}
    return [
        rng.integers(-3, 4, tensor(v).get_shape()).astype(dtypes[tensor(v).element_type])
        for v in values
    ]


def with_gradient(module: ModuleOp, seed: int) -> tuple[ModuleOp, list[np.ndarray]]:
    """A program that has `main_gradient`, too, and arguments of that, which depend on the shapes of
    its arguments and results alone."""
    module = module.clone()
    GradientPass().apply(Context(), module)
    module.verify()
    return module, integers_for(cast(FuncOp, module.body.block.last_op).args, seed)


def unplaced(module: ModuleOp) -> ModuleOp:
    """A program of `RandomShards` without devices: a COPY is its operand, and what is REPLICATED
    is the first of the copies."""
    function = cast(FuncOp, module.body.block.first_op)
    types = [tensor_type(tensor(a).element_type, tensor(a).get_shape()) for a in function.args]
    block = Block(arg_types=types)
    builder = OpBuilder.at_end(block)
    values = dict[SSAValue, SSAValue](zip(function.args, block.args, strict=True))
    for op in function.body.block.ops:
        operands = [values[operand] for operand in op.operands]
        match op:
            case ReturnOp():
                builder.insert(ReturnOp(*operands))
                types = [a.type for a in block.args], [v.type for v in operands]
                return ModuleOp([FuncOp("main", types, Region(block))])
            case CopyOp():
                values[op.result] = operands[0]
            case ReplicatedOp():
                shape, axis = list(tensor(op.source).get_shape()), op.axis.data
                shape[axis] = 1
                first = builder.put(ShrinkOp(operands[0], [0] * len(shape), shape))
                values[op.result] = builder.put(
                    ReshapeOp(first, [*shape[:axis], *shape[axis + 1 :]])
                )
            case _:
                values[op.results[0]] = builder.put(cast(TgOp, op).rebuild(operands))
    raise AssertionError("a function ends with a return")
