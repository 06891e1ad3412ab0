"""Sums over dilated values without the zeros between their cells.

A transposed convolution with a stride multiplies windows of its input, which has `stride - 1` zeros
between its cells, with weights. Which weights meet cells, and not zeros, depends on the position of
the result modulo the stride alone. So the results are divided by that residue. Those of one residue
are a sum over the weights that they need, of windows without zeros in between. The same holds for
the gradient of a strided convolution with respect to its input, and for other sums whose terms are
0 where a dilated value is: the gradient of a maximum of windows is a sum of
`where(x == maximum, g, 0)`, in which the maximum and `g` are dilated.

The gradient of a transposed convolution with respect to its weights has few results, and sums over
all positions of the dilated value. There the sum goes over the cells of the value instead. Each is
multiplied with what the other factor has at its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.affine.views import AffineView, AxisView, affine_views
from tgdialect.analysis.sparsity import elementwise_leaves, is_zero_where
from tgdialect.diagnostics import begins
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.function_pass import FunctionPass
from tgdialect.lowering.rangeify.planning.plan import realise
from tgdialect.ops import tg
from tgdialect.transforms.affine_views import cropped, emit_view, permuted, reshaped

MANY_SUMS = 9
"""The most sums that one becomes. Larger: more kernels to compile; smaller: zeros are multiplied
along more axes. Two axes with a stride of 3, or three with one of 2, are within it."""

MORE_STEPS = 1.25
"""The most steps of a sum over cells, as a multiple of those of the sums for each residue. Larger:
more steps; smaller: more kernels to compile and to interleave. Where windows are cropped by the
padding of a convolution, a sum over cells has a few steps more. An order of magnitude: gradients of
4x4 weights took as long by both ways at a ratio of 1, and those of 3x3 half as long at 0.75."""


@dataclass(frozen=True)
class SplitResiduesPass(FunctionPass):
    """Divide sums over a dilated value by the residues of their results.

    The sums for several residues of one value are `tg.realised`: each has a kernel of its own.

    rewrite: `reduce (mul (windows (dilate %x)), %w) [k]` ->
    `stack (reduce (mul (windows %x), %w0) [k]), (reduce (mul (windows %x), %w1) [k])`,
    with the weights `%w0` and `%w1` at even and odd places, and a RESHAPE that interleaves them
    """

    name = "tg-split-residues"

    def rewrite(self, block: Block) -> None:
        for op in ops_of(block):
            found = _find(op) if isinstance(op, tg.ReduceOp) and _is_plain(op) else None
            if found is not None and begins("divide by residue", op):
                Rewriter.replace_op(op, (), [found.emit()])
                if len(found.sums) > 1:
                    realise(*found.sums)


def _is_plain(op: tg.ReduceOp) -> bool:
    """Whether a REDUCE is a sum in any order, of static shape."""
    return (
        op.kind.data is tg.ReduceKind.ADD
        and not op.ranges
        and op.ordered is None
        and DYNAMIC_INDEX not in tg.tensor(op.source).get_shape()
        and not isinstance(tg.place(op.source).device, tuple)
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
    results: int
    """The extent of o."""
    cells: int
    """The extent of the axis that is dilated."""
    may_share: bool = field(default=False, compare=False)
    """Whether the other leaves are the same for all o, so that one sum may have all residues."""
    is_selected: bool = field(default=False, compare=False)
    """Whether another leaf has k as an axis, and terms are 0 where that leaf is."""

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

    @property
    def goes_over_cells(self) -> bool:
        """Whether to sum over the cells of the axis, rather than over k for each residue."""
        firsts = [self.first(residue) for residue in range(self.stride)]
        steps = sum(self.count(first) for first in firsts if first is not None)
        steps *= -(-self.results // self.stride)
        return (
            abs(self.b) == 1
            and self.may_share
            and self.is_selected
            and self.cells * self.results <= MORE_STEPS * steps
        )

    def parts(self) -> list[_Part | None]:
        """The residues; None for one for which no step meets a cell. All are one part if they have
        as many steps, at distances that are equal from each residue to the next."""
        parts: list[_Part | None] = []
        for residue in range(self.stride):
            first = self.first(residue)
            if first is None:
                parts.append(None)
                continue
            start = (self.a * residue + self.b * first + self.constant) // self.stride
            parts.append(_Part(residue, 1, first, 0, self.count(first), start, 0))
        known = [part for part in parts if part is not None]
        if self.may_share and len(known) == self.stride and len({p.steps for p in known}) == 1:
            changes = {(b.first - a.first, b.start - a.start) for a, b in pairwise(known)}
            if len(changes) == 1:
                ((slope, shift),) = changes
                return [replace(known[0], width=self.stride, slope=slope, shift=shift)]
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
    """The cell that the first step of the first result meets, for the first residue."""
    shift: int
    """How far behind it that cell is for the next residue."""


def _find(op: tg.ReduceOp) -> _Split | None:
    """A sum whose terms are zero where views of a dilated value, or of several, are."""
    source = op.source
    # Values that depend on no dilated one are taken as they are.
    leaves = elementwise_leaves(source, lambda _: True)
    is_inner = {leaf: _may_be_dilated(leaf) for leaf in leaves}
    if not any(is_inner.values()):
        return None
    tg.computed(
        source,
        is_inner,
        tg.operands_of,
        lambda value: any(is_inner[operand] for operand in tg.operands_of(value)),
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
            others = {leaf: _extents(leaf, op) for leaf in leaves if leaf not in alike}
            residues = [
                replace(
                    each,
                    may_share=all(extents[each.o] == 1 for extents in others.values()),
                    is_selected=any(
                        extents[each.k] > 1 and is_zero_where(source, [leaf])
                        for leaf, extents in others.items()
                    ),
                )
                for each in dilated.residues
            ]
            over_cells = [each for each in residues if each.goes_over_cells]
            few = _few([each for each in residues if not each.goes_over_cells])
            if few or over_cells:
                return _Split(op, leaves, alike, few, over_cells)
    return None


def _dilated_views(op: tg.ReduceOp, leaf: SSAValue) -> list[_Dilated]:
    """The views that a leaf of the terms of a sum is of dilated values, nearest first."""
    summed, shape = {*tg.integers(op, "axes")}, tg.tensor(op.source).get_shape()
    own = tg.tensor(leaf).get_shape()
    missing = len(shape) - len(own)
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
            terms = o + missing, k + missing, a, b, axis.constant, axis.divisor
            extents = own[k], shape[o + missing], tg.tensor(view.source).get_shape()[at]
            residues[_Residues(*terms, *extents)] = at
        if residues and view.has_zeros and all(len(axis.terms) <= 2 for axis in view.axes):
            found.append(_Dilated(view, missing, residues))
    return found


def _may_be_dilated(value: SSAValue) -> bool:
    """Whether zeros are put between cells on the way to a value: a PAD of an axis of one cell."""
    return any(
        old == 1 and new > 1
        for op in tg.through(value, tg.MovementOp)
        if isinstance(op, tg.PadOp)
        for old, new in zip(
            tg.tensor(op.source).get_shape(), tg.tensor(op.result).get_shape(), strict=True
        )
    )


def _extents(leaf: SSAValue, op: tg.ReduceOp) -> tuple[int, ...]:
    """The extents of the axes of a leaf. They are 1 where it lacks an axis, or repeats a cell."""
    shape = tg.tensor(tg.behind(leaf, tg.ExpandOp)).get_shape()
    return (*(1,) * (len(tg.tensor(op.source).get_shape()) - len(shape)), *shape)


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

    op: tg.ReduceOp
    leaves: Sequence[SSAValue]
    """The leaves of the tree of elementwise ops that is summed."""
    dilated: Mapping[SSAValue, _Dilated]
    """The leaves that are read alike, as views of dilated values."""
    residues: list[_Residues]
    over_cells: list[_Residues]
    """Axes along which the sum goes over the cells of the value. Their results are not divided."""
    sums: list[tg.ReduceOp] = field(default_factory=list[tg.ReduceOp])
    """The sums that have been emitted."""

    def emit(self) -> SSAValue:
        """The results of all residues, interleaved."""
        builder = tg.OpBuilder.before(self.op)
        shape = list(tg.tensor(self.op.result).get_shape())
        groups = [each.parts() for each in self.residues]
        sums = [
            None if None in parts else self._sum(builder, cast("tuple[_Part, ...]", parts))
            for parts in product(*groups)
        ]
        made = [value for value in sums if value is not None]

        def zeros(shape: Sequence[int]) -> SSAValue:
            zero = builder.put(tg.ConstOp(0, tg.tensor(self.op.result).element_type))
            zero = builder.put(tg.ReshapeOp(zero, [1] * len(shape)))
            return builder.put(tg.ExpandOp(zero, shape))

        if not made:
            return zeros(shape)
        # The parts are axes before the others; each goes where the residues of its axis are.
        result, counts = made[0], [len(parts) for parts in groups]
        extents = tg.tensor(result).get_shape()
        if len(sums) > 1:
            zero = zeros(extents)
            result = builder.put(tg.StackOp([zero if value is None else value for value in sums]))
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

    def _sum(self, builder: tg.OpBuilder, parts: Sequence[_Part]) -> SSAValue:
        """The sum for one part of the residues of each axis."""
        shape = list(tg.tensor(self.op.source).get_shape())
        for each, part in zip(self.residues, parts, strict=True):
            shape[each.o] = -(-shape[each.o] // each.stride)
            shape[each.k] = part.steps
        for each in self.over_cells:
            shape[each.k] = each.cells
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
        if tg.tensor(total).get_shape() != (*shape,):
            total = builder.put(tg.ExpandOp(total, shape))  # An axis that no leaf has.
        axes = [self._place(axis) for axis in tg.integers(self.op, "axes")]
        self.sums.append(builder.insert(tg.ReduceOp(tg.ReduceKind.ADD, total, axes)))
        return self.sums[-1].result

    def _windows(
        self, builder: tg.OpBuilder, leaf: _Dilated, parts: Sequence[_Part], shape: Sequence[int]
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
            terms[self._place(each.o) + 1] = part.shift
            axes[leaf.residues[each]] = AxisView(_long(terms, shape), part.start)
        for each in self.over_cells:
            axes[leaf.residues[each]] = AxisView(_long({self._place(each.k): 1}, shape))
        return emit_view(builder, replace(leaf.view, axes=tuple(axes)), shape)

    def _selected(
        self, builder: tg.OpBuilder, leaf: SSAValue, parts: Sequence[_Part], shape: Sequence[int]
    ) -> SSAValue:
        """The cells of another leaf that the steps and results of the parts read."""
        leaf = tg.behind(leaf, tg.ExpandOp)  # Elementwise ops repeat their operands by themselves.
        extents = tg.tensor(leaf).get_shape()
        missing = len(tg.tensor(self.op.source).get_shape()) - len(extents)
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
        for each in self.over_cells:
            if (k := each.k - missing) >= 0 and extents[k] > 1:
                # The cell is at (a * o + b * k + constant) / stride, and b is 1 or -1.
                terms = {self._place(each.k): each.b * each.stride}
                terms[self._place(each.o)] = -each.b * each.a
                axes[k] = AxisView(_long(terms, shape), -each.b * each.constant)
        return emit_view(builder, AffineView(leaf, tuple(axes), has_zeros=True), shape)


def _long(terms: Mapping[int, int], shape: Sequence[int]) -> dict[int, int]:
    """The terms of axes that have more than one cell."""
    return {axis: c for axis, c in terms.items() if c and shape[axis] > 1}
