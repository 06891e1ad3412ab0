"""The gradient of overlapping windows: a sum for each cell, of all windows that have it.

Op by op, the gradient of a convolution with respect to its input is a product with all cells of all
windows as its result (the columns of im2col), whose cells are then added where windows overlap. But
a gradient with respect to windows is nearly always made by elementwise ops of values that depend on
the window, on the place in a window, or on the windows themselves. Cell i of the input is cell k of
window p where `i = stride * p + dilation * k - padding`, so that its gradient is a sum over k. Of a
product, as for a convolution, it is a convolution of the first factor, with `stride - 1` zeros
between its cells. For a maximum it is `where(x[i] == maximum[p], g[p], 0)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product as choices
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import axis_groups
from tgdialect.analysis.affine.views import AffineView, AxisView, affine_views
from tgdialect.analysis.sparsity import elementwise_leaves, is_zero_where
from tgdialect.ops import tg
from tgdialect.transforms.affine_views import cropped, emit_view, permuted, reshaped
from tgdialect.transforms.builder import Builder

Pairs = Mapping[int, tuple[int, int]]
"""For axes of a source, two axes of a view: that of the windows, and that of the cells of each."""


def gradient_of_windows(
    builder: Builder, windows: SSAValue, gradient: SSAValue, ends: Collection[SSAValue]
) -> tuple[SSAValue, SSAValue] | None:
    """A value that `windows` is moved from, and the gradient with respect to it.

    Args:
        builder: emits the gradient.
        windows: any value.
        gradient: the gradient with respect to it.
        ends: values whose own gradients are wanted: no value behind them is returned.

    None unless the value is moved from one whose windows overlap, and `gradient` is made by
    elementwise ops of values for windows, for their cells, and of the windows.
    """
    if not isinstance(windows.owner, tg.MovementOp) or not _is_plain(windows):
        return None
    if (view := _source(windows, ends)) is None:
        return None
    terms = _Terms.of(builder, gradient)
    if terms is None or (pairs := _pairs(view, terms)) is None:
        return None
    return view.source, _Sum(builder, view, terms, pairs).emit()


def _is_plain(value: SSAValue) -> bool:
    """Whether a value is no memory, not on several devices, and of static shape."""
    is_static = DYNAMIC_INDEX not in tg.tensor(value).get_shape()
    return is_static and not tg.is_memory(value) and not isinstance(tg.place(value).device, tuple)


def _source(windows: SSAValue, ends: Collection[SSAValue]) -> AffineView | None:
    """The furthest value that `windows` shows overlapping windows of."""
    found: AffineView | None = None
    shape, between = tg.tensor(windows).get_shape(), windows
    for view in affine_views(windows):
        while between is not view.source:
            if between in ends:
                return found
            between = cast(Operation, between.owner).operands[0]
        if not _is_plain(view.source):
            return found
        if any(_overlap(axis, shape) for axis in view.axes) and _is_invertible(view, shape):
            found = view
    return found


def _overlap(axis: AxisView, shape: Sequence[int]) -> bool:
    """Whether an axis is read in windows that overlap."""
    if len(axis.terms) != 2:
        return False
    (a, far), (b, near) = sorted(axis.terms.items(), key=lambda term: -abs(term[1]))
    return shape[a] > 1 and abs(near) * (shape[b] - 1) >= abs(far)


def _is_invertible(view: AffineView, shape: Sequence[int]) -> bool:
    """Whether each axis of the source is read in windows, split, or read in order."""
    return all(
        axis.divisor == 1
        and (
            len(axis.terms) == 2
            or axis.is_split(extent, shape)
            or [*axis.terms.values()] in ([], [1])
        )
        for axis, extent in zip(view.axes, tg.tensor(view.source).get_shape(), strict=True)
    )


@dataclass
class _Terms:
    """The sum over the last axes of a tree of elementwise ops. Each leaf has all axes; one on which
    it does not depend has extent 1."""

    value: SSAValue
    """The root of the tree, before its leaves are moved."""
    leaves: dict[SSAValue, SSAValue]
    """The leaves of the tree, and what became of them when they were moved."""
    shape: tuple[int, ...]
    """The extents of all axes."""

    @classmethod
    def of(cls, builder: Builder, value: SSAValue) -> _Terms | None:
        """A value as a sum of terms. None if it is changed on the way by more than RESHAPEs,
        PERMUTEs and sums."""
        # Walk up to the tree, and apply what was done to it to its leaves.
        above: list[Operation] = []
        while isinstance(op := value.owner, tg.ReshapeOp | tg.PermuteOp | tg.ReduceOp):
            if isinstance(op, tg.ReduceOp) and (op.kind.data is not tg.ReduceKind.ADD or op.ranges):
                break
            above.append(op)
            value = op.operands[0]
        shape = tg.tensor(value).get_shape()
        if DYNAMIC_INDEX in shape:
            return None
        # A value of fewer cells than terms is computed before it is moved.
        leaves = elementwise_leaves(value, lambda inner: tg.tensor(inner).get_shape() == shape)
        if any(DYNAMIC_INDEX in tg.tensor(leaf).get_shape() for leaf in leaves):
            return None
        rank = len(shape)
        terms = cls(value, {leaf: _narrow(builder, leaf, rank) for leaf in leaves}, shape)
        for op in reversed(above):
            if isinstance(op, tg.ReduceOp):
                terms.reduce(builder, rank, tg.integers(op, "axes"))
            elif isinstance(op, tg.PermuteOp):
                order = [*tg.integers(op, "order"), *range(rank, len(terms.shape))]
                terms.permute(builder, order)
            else:
                rank = terms.reshape(builder, rank, tg.tensor(op.results[0]).get_shape())
        return terms

    def move(self, moved: Callable[[SSAValue], SSAValue]) -> None:
        self.leaves = {leaf: moved(value) for leaf, value in self.leaves.items()}

    def permute(self, builder: Builder, order: Sequence[int]) -> None:
        self.move(lambda leaf: permuted(builder, leaf, order))
        self.shape = tuple(self.shape[axis] for axis in order)

    def reduce(self, builder: Builder, rank: int, axes: Sequence[int]) -> None:
        """Move axes to the end; axes of extent 1 take their places."""
        kept = [axis for axis in range(len(self.shape)) if axis not in axes]
        self.permute(builder, [*kept, *axes])
        lead = len(kept) - (len(self.shape) - rank)

        def with_ones(shape: Sequence[int]) -> tuple[int, ...]:
            first = iter(shape[:lead])
            ones = [1 if axis in axes else next(first) for axis in range(rank)]
            return (*ones, *shape[lead:])

        self.move(lambda leaf: reshaped(builder, leaf, with_ones(tg.tensor(leaf).get_shape())))
        self.shape = with_ones(self.shape)

    def reshape(self, builder: Builder, rank: int, new: Sequence[int]) -> int:
        """Split and merge the first axes; returns how many there are then."""
        old, summed = self.shape[:rank], self.shape[rank:]
        groups = axis_groups(tuple(new), tuple(old))

        def split(leaf: SSAValue) -> SSAValue:
            extents = list(tg.tensor(leaf).get_shape())
            result = [1] * len(new)
            for into, axes in groups:
                if all(extents[axis] == 1 for axis in axes):
                    continue
                for axis in axes:
                    extents[axis] = old[axis]
                for axis in into:
                    result[axis] = new[axis]
            leaf = builder.expanded(leaf, tuple(extents))
            return reshaped(builder, leaf, [*result, *extents[rank:]])

        self.move(split)
        self.shape = (*new, *summed)
        return len(new)


def _narrow(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    """A value of some rank that broadcasts to `value`, with extent 1 where it was expanded."""
    value = tg.behind(value, tg.ExpandOp)
    shape = tg.tensor(value).get_shape()
    return reshaped(builder, value, ((1,) * (rank - len(shape)) + shape))


def _is_free(value: SSAValue, axes: Iterable[int]) -> bool:
    """Whether a value does not depend on axes."""
    return all(tg.tensor(value).get_shape()[axis] == 1 for axis in axes)


def _pairs(view: AffineView, terms: _Terms) -> Pairs | None:
    """The axes of windows and of their cells, so that each leaf depends on the ones or on the
    others, or is the view. Of the possible ways it is the one with the fewest cells."""
    shape = terms.shape
    extents = tg.tensor(view.source).get_shape()
    pairs = {
        at: sorted(axis.terms)
        for at, (axis, extent) in enumerate(zip(view.axes, extents, strict=True))
        if len(axis.terms) == 2 and not axis.is_split(extent, shape)
    }
    leaves = [leaf for leaf in terms.leaves.values() if not _shows(leaf, view)]
    best: Pairs | None = None
    fewest = 0
    for swaps in choices((False, True), repeat=len(pairs)):
        way = {
            at: (b, a) if swap else (a, b)
            for swap, (at, (a, b)) in zip(swaps, pairs.items(), strict=True)
        }
        windows = [p for p, _ in way.values()]
        places = [k for _, k in way.values()]
        if all(_is_free(leaf, places) or _is_free(leaf, windows) for leaf in leaves):
            cells = math.prod(shape[k] for k in places)
            if best is None or cells < fewest:
                best, fewest = way, cells
    return best


def _shows(value: SSAValue, view: AffineView) -> bool:
    """Whether a value is a view, as far as it is not padding."""
    return any(
        found.source is view.source and found.axes == view.axes for found in affine_views(value)
    )


class _Side(Enum):
    """The part of a window that a value in a tree depends on, and so which axes it has."""

    WINDOW = auto()
    CELL = auto()
    """The place of a cell in its window, or neither."""
    SUM = auto()
    """It has been moved to the axes of the sum."""


class _Sum:
    """The gradient with respect to the source of a view: for each cell the sum of the terms of all
    windows that show it.

    The axes of the sum are those of the result, with axes of the view for split axes of the source;
    then all others, which are summed over.
    """

    def __init__(self, builder: Builder, view: AffineView, terms: _Terms, pairs: Pairs) -> None:
        self.builder = builder
        self.view = view
        self.terms = terms
        self.pairs = pairs
        self.extents = tg.tensor(view.source).get_shape()
        shape = terms.shape
        self.wide: list[int] = []
        """The extents of the axes of the sum."""
        self.place_of: dict[int, int] = {}
        """The axis of the sum that an axis of the view becomes."""
        self.place_of_cell: dict[int, int] = {}
        """The axis of the sum for an axis of the source that is read in windows."""
        self.merged: list[int] = []
        """The extents of the result, as far as the view shows the source."""
        for at, (axis, extent) in enumerate(zip(view.axes, self.extents, strict=True)):
            if at in pairs:
                self.place_of_cell[at] = len(self.wide)
                self.wide.append(extent)
                self.merged.append(extent)
                continue
            for a in sorted(axis.terms, key=axis.terms.__getitem__, reverse=True):
                self.place_of[a] = len(self.wide)
                self.wide.append(shape[a])
            self.merged.append(math.prod(shape[a] for a in axis.terms))
        self.kept = len(self.wide)
        self.windows = {p: at for at, (p, _) in pairs.items()}
        """The axes of windows, and the axes of the source that these are of."""
        for a, extent in enumerate(shape):
            if a not in self.place_of and a not in self.windows:
                self.place_of[a] = len(self.wide)
                self.wide.append(extent)
        self.zeros: set[SSAValue] = set()
        """The values of the sum that are 0 where there is no window."""

    def emit(self) -> SSAValue:
        """The sum, and zeros for cells that no window shows."""
        builder = self.builder
        total = self.summand()
        if not is_zero_where(total, self.zeros):
            inside = builder.reshaped(
                builder.put(tg.ConstOp(1, tg.BOOL)), (1,) * len(self.terms.shape)
            )
            inside = self.moved(inside, _Side.WINDOW)
            total = builder.put(tg.WhereOp(inside, total, builder.constant(0, total)))
        total = builder.expanded(total, tuple(self.wide))
        if self.kept < len(self.wide):
            total = builder.put(
                tg.ReduceOp(tg.ReduceKind.ADD, total, range(self.kept, len(self.wide)))
            )
        # Merge the axes of each axis of the source; outside of what is shown the gradient is 0.
        total = reshaped(builder, total, self.merged)
        starts = [
            0 if at in self.pairs or axis.is_split(extent, self.terms.shape) else -axis.constant
            for at, (axis, extent) in enumerate(zip(self.view.axes, self.extents, strict=True))
        ]
        return cropped(builder, total, starts, self.extents)

    def summand(self) -> SSAValue:
        """The tree on the axes of the sum. Ops on values for windows, or for cells, are done
        before the values are moved to these axes."""
        leaves = self.terms.leaves
        places = [k for _, k in self.pairs.values()]
        known: dict[SSAValue, tuple[_Side, SSAValue]] = {}

        def operands(value: SSAValue) -> Sequence[SSAValue]:
            return () if value in leaves else cast(Operation, value.owner).operands

        def rebuilt(value: SSAValue) -> tuple[_Side, SSAValue]:
            if (leaf := leaves.get(value)) is not None:
                if _is_free(leaf, self.windows):
                    return _Side.CELL, leaf
                if _is_free(leaf, places):
                    return _Side.WINDOW, leaf
                return _Side.SUM, self.source()
            op = cast(tg.ElementwiseOp, value.owner)
            parts = [known[operand] for operand in op.operands]
            sides = {side for side, operand in parts if not _is_scalar(operand)}
            if not sides <= {_Side.CELL} and not sides <= {_Side.WINDOW}:
                values = [self.moved(operand, side) for side, operand in parts]
                return _Side.SUM, self.builder.put(op.rebuild(values))
            side = sides.pop() if sides else _Side.CELL
            return side, self.builder.put(op.rebuild([operand for _, operand in parts]))

        side, value = tg.computed(self.terms.value, known, operands, rebuilt)
        return self.moved(value, side)

    def source(self) -> SSAValue:
        """The cells of the source."""
        axes = [
            AxisView({self.place_of_cell[at]: 1})
            if at in self.pairs
            else AxisView({self.place_of[a]: c for a, c in axis.terms.items()}, axis.constant)
            for at, axis in enumerate(self.view.axes)
        ]
        shown = AffineView(self.view.source, tuple(axes), has_zeros=True)
        return emit_view(self.builder, shown, self.wide)

    def moved(self, value: SSAValue, side: _Side) -> SSAValue:
        """A value on the axes of the sum."""
        if side is _Side.SUM:
            return value
        if _is_scalar(value) and side is _Side.CELL:
            return reshaped(self.builder, value, (1,) * len(self.wide))
        extents = tg.tensor(value).get_shape()
        if side is _Side.WINDOW:
            # Each window is there, or it is padding.
            extents = tuple(
                self.terms.shape[a] if a in self.windows else extent
                for a, extent in enumerate(extents)
            )
            value = self.builder.expanded(value, extents)
        axes = [
            self.window_of(self.windows[a])
            if a in self.windows and side is _Side.WINDOW
            else AxisView({self.place_of[a]: 1} if extent > 1 else {})
            for a, extent in enumerate(extents)
        ]
        moved = AffineView(value, tuple(axes), has_zeros=True)
        value = emit_view(self.builder, moved, self.wide)
        if side is _Side.WINDOW:
            self.zeros.add(value)
        return value

    def window_of(self, at: int) -> AxisView:
        """The window of which cell i is cell k: `(i - dilation * k - constant) / stride`."""
        p, k = self.pairs[at]
        terms, constant = self.view.axes[at].terms, self.view.axes[at].constant
        sign = 1 if terms[p] > 0 else -1
        cells = {self.place_of_cell[at]: sign, self.place_of[k]: -sign * terms[k]}
        return AxisView(cells, -sign * constant, abs(terms[p]))


def _is_scalar(value: SSAValue) -> bool:
    """Whether a value has one cell, which all terms share."""
    return math.prod(tg.tensor(value).get_shape()) == 1
