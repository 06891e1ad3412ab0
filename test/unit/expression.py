"""Tensor programs in Python: one method per op, so that a program reads as the specification does.

`function([((4, 8), F32)], lambda x: x.sum(1))` is a module whose `@main` computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.ops import elementwise as ew
from tgdialect.ops import movement as mv
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import DTYPES, number_attribute, round_to
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp

Array = NDArray[Any]
Operand = "Expression | int | float"


@dataclass(frozen=True, eq=False)
class Expression:
    """A value, and the block that ops on it are appended to."""

    value: SSAValue
    block: Block

    @property
    def shape(self) -> tuple[int, ...]:
        return tensor(self.value).get_shape()

    @property
    def dtype(self) -> Attribute:
        return tensor(self.value).element_type

    def apply(self, op: TgOp) -> Expression:
        """The result of a new op."""
        self.block.add_op(op)
        return Expression(op.results[0], self.block)

    def like(self, other: Operand) -> SSAValue:
        """An operand beside this one: a Python number is a constant of this dtype."""
        if isinstance(other, Expression):
            return other.value
        dtype = DTYPES[self.dtype]
        number = round_to(dtype, other) if dtype.is_float else other
        return self.apply(ConstOp(number_attribute(number, self.dtype))).value

    def binary(self, op: type[ew.BinaryOp], other: Operand) -> Expression:
        return self.apply(op(self.value, self.like(other)))

    # -- movement --------------------------------------------------------------------------------

    def permute(self, *order: int) -> Expression:
        return self.apply(mv.PermuteOp(self.value, order))

    def reshape(self, *shape: int) -> Expression:
        return self.apply(mv.ReshapeOp(self.value, shape))

    def expand(self, *shape: int) -> Expression:
        return self.apply(mv.ExpandOp(self.value, shape))

    def pad(self, *widths: tuple[int, int], fill: float | None = None) -> Expression:
        """Cells before and after, per axis: invalid ones, or with a value."""
        shape = [before + n + after for n, (before, after) in zip(self.shape, widths, strict=True)]
        value = None if fill is None else number_attribute(fill, self.dtype)
        return self.apply(mv.PadOp(self.value, [before for before, _ in widths], shape, value))

    def shrink(self, *ranges: tuple[int, int]) -> Expression:
        """Of each axis the cells from the first number to before the second."""
        shape = [end - begin for begin, end in ranges]
        return self.apply(mv.ShrinkOp(self.value, [begin for begin, _ in ranges], shape))

    def shrink_to(self, *shape: int) -> Expression:
        """The first cells of each axis."""
        return self.shrink(*((0, n) for n in shape))

    def flip(self, *axes: int) -> Expression:
        rank = len(self.shape)
        flipped = {axis % rank for axis in axes}
        return self.apply(mv.FlipOp(self.value, [axis in flipped for axis in range(rank)]))

    def stack(self, *others: Expression) -> Expression:
        """Joined with others along a new leading axis."""
        return self.apply(mv.StackOp([self.value, *(other.value for other in others)]))

    def bitcast(self, dtype: Attribute) -> Expression:
        return self.apply(mv.BitcastOp(self.value, dtype))

    # -- reductions ------------------------------------------------------------------------------

    def reduce(self, kind: ReduceKind, axis: int) -> Expression:
        """REDUCE itself: the axis becomes 1."""
        return self.apply(ReduceOp(kind, self.value, [axis % len(self.shape)]))

    def sum(self, axis: int) -> Expression:
        """The specification's `.sum`: the axis goes."""
        axis %= len(self.shape)
        shape = (*self.shape[:axis], *self.shape[axis + 1 :])
        return self.reduce(ReduceKind.ADD, axis).reshape(*shape)

    # -- elementwise -----------------------------------------------------------------------------

    def __add__(self, other: Operand) -> Expression:
        return self.binary(ew.AddOp, other)

    def __sub__(self, other: Operand) -> Expression:
        return self.binary(ew.SubOp, other)

    def __mul__(self, other: Operand) -> Expression:
        return self.binary(ew.MulOp, other)

    def __truediv__(self, other: Operand) -> Expression:
        return self.binary(ew.DivOp, other)

    def __or__(self, other: Operand) -> Expression:
        return self.binary(ew.OrOp, other)

    def __rshift__(self, other: Operand) -> Expression:
        return self.binary(ew.ShrOp, other)

    def equals(self, other: Operand) -> Expression:
        return self.binary(ew.CmpEqOp, other)

    def less(self, other: Operand) -> Expression:
        return self.binary(ew.CmpLtOp, other)

    def where(self, a: Expression, b: Operand) -> Expression:
        """`a` where this bool holds, else `b`."""
        return self.apply(ew.WhereOp(self.value, a.value, a.like(b)))

    def maximum(self, other: Operand) -> Expression:
        return self.binary(ew.MaxOp, other)

    def threefry(self, key: Expression) -> Expression:
        return self.binary(ew.ThreefryOp, key)

    def cast(self, dtype: Attribute) -> Expression:
        return self.apply(ew.CastOp(self.value, dtype))

    def exp2(self) -> Expression:
        return self.apply(ew.Exp2Op(self.value))

    def trunc(self) -> Expression:
        return self.apply(ew.TruncOp(self.value))

    def sqrt(self) -> Expression:
        return self.apply(ew.SqrtOp(self.value))


def constant(block: Block, value: float, dtype: Attribute) -> Expression:
    """A scalar without an operand to take the dtype from."""
    op = ConstOp(value, dtype)
    block.add_op(op)
    return Expression(op.result, block)


Parameter = tuple[Sequence[int], Attribute]
"""A shape and a dtype."""


def function(
    parameters: Sequence[Parameter],
    body: Callable[..., Expression | tuple[Expression, ...]],
) -> ModuleOp:
    """A module with a `func.func @main` of these parameters that returns what `body` does.

    A body without parameters gets the block.
    """
    block = Block(arg_types=[tensor_type(dtype, tuple(shape)) for shape, dtype in parameters])
    arguments = [Expression(argument, block) for argument in block.args]
    results = body(*arguments) if arguments else body(block)
    values = [r.value for r in (results if isinstance(results, tuple) else (results,))]
    block.add_op(ReturnOp(*values))
    types = ([a.type for a in block.args], [v.type for v in values])
    return ModuleOp([FuncOp("main", types, Region(block))])
