"""Sums over dilated values without the zeros between their cells.

A transposed convolution with a stride multiplies windows of its input, which has `stride - 1` zeros
between its cells, with weights. Which weights meet cells, and not zeros, depends on the position of
the result modulo the stride alone. So the results are divided by that residue. Those of one residue
are a sum over the weights that they need, of windows without zeros in between. The same holds for
the gradients of strided and transposed convolutions, where the other axes are summed over, and for
other sums whose terms are 0 where a dilated value is: the gradient of a maximum of windows is a sum
of `where(x == maximum, g, 0)`, in which the maximum and `g` are dilated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.affine.views import AffineView, AxisView, affine_views
from tgdialect.analysis.sparsity import elementwise_leaves, is_zero_where
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.movement import ExpandOp, MovementOp, PadOp, ReshapeOp, StackOp
from tgdialect.ops.properties import integers, place, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp
from tgdialect.ops.walk import computed, operands_of
from tgdialect.transforms.affine_views import cropped, emit_view, permuted, reshaped

MANY_SUMS = 9
"""The greatest number of sums that one becomes: each is compiled for itself. Along the axes for
which there would be more, zeros are multiplied. Two axes with a stride of 3, or three with one of
2, are within it."""


def split_residues(block: Block) -> set[Operation]:
    """Divide sums over a dilated value by the residues of their results; returns the sums for
    several residues of one value, each of which is to have a kernel of its own.

    rewrite: `reduce (mul (windows (dilate %x)), %w) [k]` ->
        `stack (reduce (mul (windows %x), %w0) [k]), (reduce (mul (windows %x), %w1) [k])`,
        with the weights `%w0` and `%w1` at even and odd places, and a RESHAPE that interleaves them
    """
    apart: set[Operation] = set()
    for op in list(block.ops):
        if isinstance(op, ReduceOp) and _is_plain(op) and (found := _find(op)) is not None:
            Rewriter.replace_op(op, (), [found.emit()])
            if len(found.sums) > 1:
                apart.update(found.sums)
    return apart


def _is_plain(op: ReduceOp) -> bool:
    """Whether a REDUCE is a sum in any order, of static shape."""
    return (
        op.kind.data is ReduceKind.ADD
        and not op.ranges
        and op.ordered is None
        and DYNAMIC_INDEX not in tensor(op.source).get_shape()
        and not isinstance(place(op.source).device, tuple)
    )


@dataclass(frozen=True)
class _Residues:
    """An axis that is read at `(a * o + b * k + constant) / stride`: o is an axis of the results,
    and k one that is summed over."""

    o: int
    k: int
    a: int
    b: int
    constant: int
    stride: int
    steps: int
    """The extent of k."""
    may_share: bool = field(default=False, compare=False)
    """Whether the other leaves are the same for all o, so that one sum may have all residues."""

    @property
    def period(self) -> int:
        """The distance of the steps along k that meet cells, for one result."""
        return self.stride // math.gcd(self.b, self.stride)

    def first(self, residue: int) -> int | None:
        """The first step that meets a cell, for results of a residue; None if none does."""
        steps = range(min(self.period, self.steps))
        shift = self.a * residue + self.constant
        return next((k for k in steps if (shift + self.b * k) % self.stride == 0), None)

    def count(self, first: int) -> int:
        """The number of steps that meet cells, from the first on."""
        return -(-(self.steps - first) // self.period)

    def parts(self) -> list[_Part | None]:
        """The residues, all in one part if they read the same cells at the same step; None for a
        residue for which no step meets a cell."""
        parts: list[_Part | None] = []
        for residue in range(self.stride):
            first = self.first(residue)
            if first is None:
                parts.append(None)
                continue
            start = (self.a * residue + self.b * first + self.constant) // self.stride
            parts.append(_Part(residue, 1, first, 0, self.count(first), start))
        known = [part for part in parts if part is not None]
        if (
            self.may_share
            and len(known) == self.stride
            and len({(p.steps, p.start) for p in known}) == 1
        ):
            slopes = {b.first - a.first for a, b in pairwise(known)}
            if slopes in ({1}, {-1}):
                (slope,) = slopes
                return [replace(known[0], width=self.stride, slope=slope)]
        return parts


@dataclass(frozen=True)
class _Part:
    """Results of one residue, or of all."""

    residue: int
    width: int
    """The number of residues."""
    first: int
    """The first step that meets a cell, for the first residue."""
    slope: int
    """How much later it is for the next residue."""
    steps: int
    start: int
    """The cell that the first step of the first result meets."""


def _find(op: ReduceOp) -> _Split | None:
    """A sum whose terms are zero where views of a dilated value, or of several, are."""
    source = op.source
    # Values that depend on no dilated one are taken as they are.
    leaves = elementwise_leaves(source, lambda _: True)
    is_inner = {leaf: _may_be_dilated(leaf) for leaf in leaves}
    if not any(is_inner.values()):
        return None
    computed(
        source,
        is_inner,
        operands_of,
        lambda value: any(is_inner[operand] for operand in operands_of(value)),
    )
    leaves = elementwise_leaves(source, lambda value: is_inner.get(value, False))
    views = {leaf: _dilated_views(op, leaf) for leaf in leaves if is_inner.get(leaf, False)}
    for first, found in views.items():
        for dilated in reversed(found):
            alike = {first: dilated} | {
                leaf: other
                for leaf, others in views.items()
                for other in others
                if leaf is not first and [*other.residues] == [*dilated.residues]
            }
            if not is_zero_where(source, alike):
                continue
            others = [_extents(leaf, op) for leaf in leaves if leaf not in alike]
            residues = [
                replace(each, may_share=all(extents[each.o] == 1 for extents in others))
                for each in dilated.residues
            ]
            if residues := _few(residues):
                return _Split(op, leaves, alike, residues)
    return None


def _dilated_views(op: ReduceOp, leaf: SSAValue) -> list[_Dilated]:
    """The views that a leaf of the terms of a sum is of dilated values, nearest first."""
    summed = {*integers(op, "axes")}
    own = tensor(leaf).get_shape()
    missing = len(tensor(op.source).get_shape()) - len(own)
    found: list[_Dilated] = []
    for view in affine_views(leaf):
        residues: dict[_Residues, int] = {}
        for at, axis in enumerate(view.axes):
            pair = sorted(axis.terms, key=lambda a: a + missing in summed)
            if axis.divisor == 1 or len(pair) != 2:
                continue
            (o, k), (a, b) = pair, (axis.terms[each] for each in pair)
            if o + missing in summed or k + missing not in summed:
                continue
            where = o + missing, k + missing
            residues[_Residues(*where, a, b, axis.constant, axis.divisor, own[k])] = at
        if residues and view.has_zeros and all(len(axis.terms) <= 2 for axis in view.axes):
            found.append(_Dilated(view, missing, residues))
    return found


def _may_be_dilated(value: SSAValue) -> bool:
    """Whether zeros are put between cells on the way to a value: a PAD of an axis of one cell."""
    while isinstance(op := value.owner, MovementOp):
        value = op.operands[0]
        if isinstance(op, PadOp):
            pairs = zip(tensor(value).get_shape(), tensor(op.result).get_shape(), strict=True)
            if any(old == 1 and new > 1 for old, new in pairs):
                return True
    return False


def _extents(leaf: SSAValue, op: ReduceOp) -> tuple[int, ...]:
    """The extents of the axes of a leaf, those that it does not have included."""
    shape = tensor(leaf).get_shape()
    return (*(1,) * (len(tensor(op.source).get_shape()) - len(shape)), *shape)


def _few(residues: Sequence[_Residues]) -> list[_Residues]:
    """The axes, from the first on, that make at most MANY_SUMS sums of one."""
    count, kept = 1, list[_Residues]()
    for each in residues:
        parts = sum(part is not None for part in each.parts())
        if count * parts <= MANY_SUMS:
            count *= parts
            kept.append(each)
    return kept


@dataclass(frozen=True)
class _Dilated:
    """A leaf of the terms of a sum, as a view of a dilated value."""

    view: AffineView
    missing: int
    """The leading axes that the leaf does not have."""
    residues: Mapping[_Residues, int]
    """The axes that are read with a stride: how, and which of the value's."""


@dataclass
class _Split:
    """A sum that is divided. Each axis o of its results becomes two: the results of one residue,
    and the residues."""

    op: ReduceOp
    leaves: Sequence[SSAValue]
    """What the tree of elementwise ops that is summed is made of."""
    dilated: Mapping[SSAValue, _Dilated]
    """The leaves that are read alike, as views of dilated values."""
    residues: list[_Residues]
    sums: list[ReduceOp] = field(default_factory=list[ReduceOp])
    """The sums that have been emitted."""

    def emit(self) -> SSAValue:
        """The results of all residues, interleaved."""
        builder = OpBuilder.before(self.op)
        shape = list(tensor(self.op.result).get_shape())
        groups = [each.parts() for each in self.residues]
        sums = [
            None if None in parts else self._sum(builder, cast("tuple[_Part, ...]", parts))
            for parts in product(*groups)
        ]
        made = [value for value in sums if value is not None]
        if not made:
            zero = builder.put(ConstOp(0, tensor(self.op.result).element_type))
            zero = builder.put(ReshapeOp(zero, [1] * len(shape)))
            return builder.put(ExpandOp(zero, shape))
        # The parts are axes before the others; each goes where the residues of its axis are.
        result, counts = made[0], [len(parts) for parts in groups]
        rank = len(shape) + len(self.residues)
        if len(sums) > 1:
            zero = builder.put(ConstOp(0, tensor(result).element_type))
            zero = builder.put(ReshapeOp(zero, [1] * rank))
            zero = builder.put(ExpandOp(zero, tensor(result).get_shape()))
            result = builder.put(StackOp([zero if value is None else value for value in sums]))
        extents = tensor(made[0]).get_shape()
        result = reshaped(builder, result, (*counts, *extents))
        order: list[int] = []
        whole = list(shape)
        for axis in range(len(shape)):
            order.append(len(counts) + self._place(axis))
            for i, each in enumerate(self.residues):
                if each.o == axis:
                    order += [i, order[-1] + 1]
                    whole[axis] = extents[self._place(axis)] * each.stride
        result = reshaped(builder, permuted(builder, result, order), whole)
        return cropped(builder, result, [0] * len(shape), shape)

    def _place(self, axis: int) -> int:
        """The position of an axis after those of residues are put in."""
        return axis + sum(each.o < axis for each in self.residues)

    def _sum(self, builder: OpBuilder, parts: Sequence[_Part]) -> SSAValue:
        """The sum for one part of the residues of each axis."""
        shape = list(tensor(self.op.source).get_shape())
        for each, part in zip(self.residues, parts, strict=True):
            shape[each.o] = -(-shape[each.o] // each.stride)
            shape[each.k] = part.steps
        for each, part in sorted(
            zip(self.residues, parts, strict=True), key=lambda pair: -pair[0].o
        ):
            shape.insert(each.o + 1, part.width)
        leaves = {
            leaf: self._windows(builder, self.dilated[leaf], parts, shape)
            if leaf in self.dilated
            else self._selected(builder, leaf, parts, shape)
            for leaf in self.leaves
        }
        total = builder.clone(self.op.source, leaves)
        axes = [self._place(axis) for axis in integers(self.op, "axes")]
        self.sums.append(builder.insert(ReduceOp(ReduceKind.ADD, total, axes)))
        return self.sums[-1].result

    def _windows(
        self,
        builder: OpBuilder,
        leaf: _Dilated,
        parts: Sequence[_Part],
        shape: Sequence[int],
    ) -> SSAValue:
        """The view of a value before it is dilated."""
        axes = [
            replace(axis, terms={self._place(a + leaf.missing): c for a, c in axis.terms.items()})
            for axis in leaf.view.axes
        ]
        for each, part in zip(self.residues, parts, strict=True):
            # One step is as many cells as the period has strides.
            step = each.b * each.period // each.stride
            terms = {self._place(each.o): each.a, self._place(each.k): step}
            axes[leaf.residues[each]] = AxisView(_long(terms, shape), part.start)
        return emit_view(builder, replace(leaf.view, axes=tuple(axes)), shape)

    def _selected(
        self, builder: OpBuilder, leaf: SSAValue, parts: Sequence[_Part], shape: Sequence[int]
    ) -> SSAValue:
        """What the steps and results of the parts read of another leaf."""
        extents = tensor(leaf).get_shape()
        missing = len(tensor(self.op.source).get_shape()) - len(extents)
        axes = [
            AxisView({self._place(a + missing): 1} if extent > 1 else {})
            for a, extent in enumerate(extents)
        ]
        for each, part in zip(self.residues, parts, strict=True):
            o, k = each.o - missing, each.k - missing
            if o >= 0 and extents[o] > 1:
                axes[o] = AxisView(_long({self._place(each.o): each.stride}, shape), part.residue)
            if k >= 0 and extents[k] > 1:
                terms = {self._place(each.k): each.period, self._place(each.o) + 1: part.slope}
                axes[k] = AxisView(_long(terms, shape), part.first)
        return emit_view(builder, AffineView(leaf, tuple(axes), has_zeros=True), shape)


def _long(terms: Mapping[int, int], shape: Sequence[int]) -> dict[int, int]:
    """The terms of axes that have more than one cell."""
    return {axis: c for axis, c in terms.items() if c and shape[axis] > 1}
