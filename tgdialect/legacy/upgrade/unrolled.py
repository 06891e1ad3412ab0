"""UNROLL and CONTRACT as shape: a value has an axis for each unrolled axis that it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.legacy.attributes import UnrolledAxes, axes_of
from tgdialect.legacy.ops.vectors import ContractOp, UnrollOp
from tgdialect.legacy.upgrade.shapes import expanded, permuted, reshaped
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import tensor


class Unrolled:
    """The unrolled axes of values of the older vocabulary, in the order of their numbers.

    They are the first axes of the shape of what a value becomes; the lanes of a vector are last.
    """

    def __init__(self, builder: OpBuilder) -> None:
        self.builder = builder
        self.axes: dict[SSAValue, UnrolledAxes] = {}

    def axes_of(self, value: SSAValue) -> UnrolledAxes:
        """The numbers and sizes of the unrolled axes that a value depends on."""
        return self.axes.get(value, ())

    def aligned(self, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operands of an elementwise op, with all of their unrolled axes; and records those of
        its result."""
        if not any(map(self.axes_of, op.operands)):
            return operands
        union = self.union(op.operands)
        rank = max(len(tensor(o).get_shape()) for o in op.operands)
        self.axes[op.results[0]] = union
        return [
            self._with_axes(old, new, union, rank)
            for old, new in zip(op.operands, operands, strict=True)
        ]

    def union(self, values: Iterable[SSAValue]) -> UnrolledAxes:
        """The unrolled axes that any of some values depends on.

        Raises PassFailedException if one has two sizes.
        """
        axes = sorted({axis for value in values for axis in self.axes_of(value)})
        for (axis, size), (other, other_size) in pairwise(axes):
            if axis == other:
                raise PassFailedException(f"axis {axis} has {size} and {other_size} iterations")
        return tuple(axes)

    def spread(
        self, old: SSAValue, new: SSAValue, axes: UnrolledAxes, lanes: Sequence[int]
    ) -> SSAValue:
        """A value repeated along unrolled axes, and along the lanes of a vector."""
        if not axes:
            return new
        value = self._with_axes(old, new, axes, len(lanes))
        return expanded(self.builder, value, (*(size for _, size in axes), *lanes))

    def _with_axes(self, old: SSAValue, new: SSAValue, axes: UnrolledAxes, rank: int) -> SSAValue:
        """A value reshaped so that it broadcasts along axes that it does not depend on."""
        own, lanes = self.axes_of(old), tensor(old).get_shape()
        extents = [size if (axis, size) in own else 1 for axis, size in axes]
        shape = (*extents, *(1,) * (rank - len(lanes)), *lanes)
        return reshaped(self.builder, new, shape)

    def stacked(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """VECTORIZE: the lanes become the last axis."""
        operands = self.aligned(op, operands)
        axes = self.axes_of(op.results[0])
        if not axes:
            return self.builder.put(tg.StackOp(operands))
        sizes = tuple(size for _, size in axes)
        stack = self.builder.put(tg.StackOp([expanded(self.builder, o, sizes) for o in operands]))
        return self.builder.put(tg.PermuteOp(stack, (*range(1, len(sizes) + 1), 0)))

    def lanes_first(self, op: Operation, vectors: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operands of GEP or CAT, their lanes before the unrolled axes of all of them."""
        axes = self.union(op.operands)
        if not axes:
            return vectors
        pairs = zip(op.operands, vectors, strict=True)
        spread = [self.spread(old, new, axes, tensor(old).get_shape()) for old, new in pairs]
        return [permuted(self.builder, value, (len(axes), *range(len(axes)))) for value in spread]

    def lanes_last(self, op: Operation, value: SSAValue) -> SSAValue:
        """The result of GEP or CAT, from what it is of `lanes_first`; and records its axes."""
        axes = self.union(op.operands)
        if not axes:
            return value
        self.axes[op.results[0]] = axes
        lanes = tensor(op.results[0]).get_shape()
        return permuted(self.builder, value, (*range(1, len(axes) + 1), 0)) if lanes else value

    def unrolled(self, op: UnrollOp, vector: SSAValue) -> SSAValue:
        """UNROLL: the lanes of a vector become axes. The last of them is that of neighbours."""
        own, axes = self.axes_of(op.vector), axes_of(op.axes)
        if both := {axis for axis, _ in own} & {axis for axis, _ in axes}:
            raise PassFailedException(f"axis {min(both)} is unrolled already")
        every = (*own, *axes)
        split = reshaped(self.builder, vector, [size for _, size in every])
        self.axes[op.result] = tuple(sorted(every))
        return permuted(self.builder, split, [every.index(axis) for axis in sorted(every)])

    def contracted(self, op: ContractOp, scalar: SSAValue) -> SSAValue:
        """CONTRACT: axes become the lanes of a vector; along axes that it lacks a value repeats."""
        axes = axes_of(op.axes)
        own = self.axes_of(op.scalar)
        kept = tuple(axis for axis in own if axis not in axes)
        every = tuple(sorted({*own, *axes}))
        value = self._with_axes(op.scalar, scalar, every, 0)
        value = expanded(self.builder, value, [size for _, size in every])
        value = permuted(self.builder, value, [every.index(axis) for axis in (*kept, *axes)])
        self.axes[op.result] = kept
        return reshaped(self.builder, value, (*(s for _, s in kept), prod(s for _, s in axes)))
