"""Random tensor programs on several devices, or on none in particular. They are exact: their
elements are integers."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import Device, PlaceAttr, ReduceKind
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

_EXTENTS = (1, 2, 3, 4, 6, 8)
_MAX_CELLS = 4096


@dataclass
class RandomShards:
    """A generator of programs on `devices`, by a seed. Without devices no type names one."""

    seed: int
    devices: tuple[str, ...] = ("A", "B")

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
        rng = np.random.default_rng(self.seed)
        return [
            rng.integers(-3, 4, tensor(a).get_shape()).astype(
                np.float32 if tensor(a).element_type == f32 else np.int32
            )
            for a in self.block.args
        ]

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
        dtype = self.random.choice((i32, i32, f32))
        type = tensor_type(dtype, shape, self._place(shape))
        return self.block.insert_arg(type, len(self.block.args))

    def _extend(self) -> None:
        """Add an op. One that breaks a rule of sharding is not added."""
        make = self.random.choice(
            [
                *(self._unary, self._binary, self._binary, self._where, self._reduce),
                *(self._reshape, self._permute, self._expand, self._window, self._stack),
                *([self._copy, self._copy, self._broadcast, self._collective] * bool(self.devices)),
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
        kind = self.random.choice((AddOp, MaxOp, MulOp) if self._is_integer(x) else (AddOp, MaxOp))
        return self._put(kind(x, self.random.choice(others)))

    def _where(self, x: SSAValue) -> SSAValue:
        others = [v for v in self.values if v.type == x.type]
        y = self.random.choice(others)
        return self._put(WhereOp(self._put(CmpLtOp(x, y)), y, x))

    @staticmethod
    def _is_integer(x: SSAValue) -> bool:
        return tensor(x).element_type == i32

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
