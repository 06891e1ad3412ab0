"""The gradient of overlapping windows of a product: a sum for each cell, of all windows that have
it.

Op by op, the gradient of a convolution with respect to its input is a product with all cells of all
windows as its result (the columns of im2col), whose cells are then added where windows overlap. But
a gradient with respect to windows is nearly always a product of a factor that depends on the window
and one that depends on the cell of a window. Cell i of the input is cell k of window p where
`i = stride * p + dilation * k - padding`, so that its gradient is a sum over k of products: a
convolution of the first factor, with `stride - 1` zeros between its cells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as choices
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import axis_groups
from tgdialect.analysis.affine.views import AffineView, AxisView, affine_views
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.elementwise import MulOp
from tgdialect.ops.movement import ExpandOp, MovementOp, PermuteOp, ReshapeOp
from tgdialect.ops.properties import integers, is_memory, place, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.transforms.affine_views import cropped, emit_view, permuted, reshaped
from tgdialect.transforms.gradient.builder import Builder

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

    None unless the value is moved from one whose windows overlap, and `gradient` is a product of a
    factor for windows and one for their cells.
    """
    if not isinstance(windows.owner, MovementOp) or not _is_plain(windows):
        return None
    if (view := _source(windows, ends)) is None:
        return None
    product = _Product.of(builder, gradient)
    if product is None or (sides := _sides(builder, view, product)) is None:
        return None
    return view.source, _sum_over_windows(builder, view, product, *sides)


def _is_plain(value: SSAValue) -> bool:
    """Whether a value is no memory, not on several devices, and of static shape."""
    is_static = DYNAMIC_INDEX not in tensor(value).get_shape()
    return is_static and not is_memory(value) and not isinstance(place(value).device, tuple)


def _source(windows: SSAValue, ends: Collection[SSAValue]) -> AffineView | None:
    """The furthest value that `windows` shows overlapping windows of."""
    found: AffineView | None = None
    shape, between = tensor(windows).get_shape(), windows
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


def _is_window(axis: AxisView, extent: int, shape: Sequence[int]) -> bool:
    return len(axis.terms) == 2 and not axis.is_split(extent, shape)


def _is_invertible(view: AffineView, shape: Sequence[int]) -> bool:
    """Whether each axis of the source is read in windows, split, or read in order."""
    return all(
        axis.divisor == 1
        and (
            _is_window(axis, extent, shape)
            or axis.is_split(extent, shape)
            or [*axis.terms.values()] in ([], [1])
        )
        for axis, extent in zip(view.axes, tensor(view.source).get_shape(), strict=True)
    )


@dataclass
class _Product:
    """The sum over the last axes of a product of factors. Each factor has all axes; one on which it
    does not depend has extent 1."""

    factors: list[SSAValue]
    shape: tuple[int, ...]
    """The extents of all axes."""

    @classmethod
    def of(cls, builder: Builder, value: SSAValue) -> _Product | None:
        """A value as a product. None if it is changed on the way by more than RESHAPEs, PERMUTEs
        and sums."""
        # Walk up to the product, and apply what was done to it to its factors.
        above: list[Operation] = []
        while isinstance(op := value.owner, ReshapeOp | PermuteOp | ReduceOp):
            if isinstance(op, ReduceOp) and (op.kind.data is not ReduceKind.ADD or op.ranges):
                break
            above.append(op)
            value = op.operands[0]
        shape = tensor(value).get_shape()
        operands = value.owner.operands if isinstance(value.owner, MulOp) else [value]
        if DYNAMIC_INDEX in shape:
            return None
        product = cls([_narrow(builder, each, len(shape)) for each in operands], shape)
        rank = len(shape)
        for op in reversed(above):
            if isinstance(op, ReduceOp):
                product.reduce(builder, rank, integers(op, "axes"))
            elif isinstance(op, PermuteOp):
                order = [*integers(op, "order"), *range(rank, len(product.shape))]
                product.permute(builder, order)
            else:
                rank = product.reshape(builder, rank, tensor(op.results[0]).get_shape())
        return product

    def permute(self, builder: Builder, order: Sequence[int]) -> None:
        self.factors = [permuted(builder, factor, order) for factor in self.factors]
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

        self.factors = [
            reshaped(builder, factor, with_ones(tensor(factor).get_shape()))
            for factor in self.factors
        ]
        self.shape = with_ones(self.shape)

    def reshape(self, builder: Builder, rank: int, new: Sequence[int]) -> int:
        """Split and merge the first axes; returns how many there are then."""
        old, summed = self.shape[:rank], self.shape[rank:]
        groups = axis_groups(tuple(new), tuple(old))

        def split(factor: SSAValue) -> SSAValue:
            extents = list(tensor(factor).get_shape())
            result = [1] * len(new)
            for into, axes in groups:
                if all(extents[axis] == 1 for axis in axes):
                    continue
                for axis in axes:
                    extents[axis] = old[axis]
                for axis in into:
                    result[axis] = new[axis]
            return reshaped(
                builder, builder.expanded(factor, tuple(extents)), [*result, *extents[rank:]]
            )

        self.factors = [split(factor) for factor in self.factors]
        self.shape = (*new, *summed)
        return len(new)


def _narrow(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    """A value of some rank that broadcasts to `value`, with extent 1 where it was expanded."""
    while isinstance(op := value.owner, ExpandOp):
        value = op.source
    shape = tensor(value).get_shape()
    return reshaped(builder, value, ((1,) * (rank - len(shape)) + shape))


def _sides(
    builder: Builder, view: AffineView, product: _Product
) -> tuple[Pairs, SSAValue, SSAValue | None] | None:
    """The axes of windows and of their cells, the product of the factors that may depend on
    windows, and that of the others. Of the possible ways it is the one with the fewest cells."""
    shape = product.shape
    extents = tensor(view.source).get_shape()
    pairs = {
        at: sorted(axis.terms)
        for at, (axis, extent) in enumerate(zip(view.axes, extents, strict=True))
        if _is_window(axis, extent, shape)
    }

    def is_free(factor: SSAValue, axes: Iterator[int]) -> bool:
        return all(tensor(factor).get_shape()[axis] == 1 for axis in axes)

    best: Pairs | None = None
    fewest = 0
    for swaps in choices((False, True), repeat=len(pairs)):
        way = {
            at: (b, a) if swap else (a, b)
            for swap, (at, (a, b)) in zip(swaps, pairs.items(), strict=True)
        }
        if all(
            is_free(factor, (k for _, k in way.values()))
            or is_free(factor, (p for p, _ in way.values()))
            for factor in product.factors
        ):
            cells = math.prod(shape[k] for _, k in way.values())
            if best is None or cells < fewest:
                best, fewest = way, cells
    if best is None:
        return None
    sides: list[SSAValue | None] = [None, None]
    for factor in product.factors:
        side = 0 if is_free(factor, (k for _, k in best.values())) else 1
        known = sides[side]
        sides[side] = factor if known is None else builder.put(MulOp(known, factor))
    windows, cells_factor = sides
    if windows is None:
        one = builder.constant(1, product.factors[0])
        windows = builder.reshaped(one, (1,) * len(shape))
    return best, windows, cells_factor


def _sum_over_windows(
    builder: Builder,
    view: AffineView,
    product: _Product,
    pairs: Pairs,
    windows: SSAValue,
    cells: SSAValue | None,
) -> SSAValue:
    """The gradient with respect to the source of a view: for each cell the sum of the products of
    all windows that show it."""
    shape, extents = product.shape, tensor(view.source).get_shape()
    # The axes of the sum: those of the result first, with axes of the view for split axes of the
    # source; then all others, which are summed over.
    wide: list[int] = []
    place_of: dict[int, int] = {}
    place_of_cell: dict[int, int] = {}
    merged: list[int] = []
    for at, (axis, extent) in enumerate(zip(view.axes, extents, strict=True)):
        if at in pairs:
            place_of_cell[at] = len(wide)
            wide.append(extent)
            merged.append(extent)
            continue
        for a in sorted(axis.terms, key=axis.terms.__getitem__, reverse=True):
            place_of[a] = len(wide)
            wide.append(shape[a])
        merged.append(math.prod(shape[a] for a in axis.terms))
    kept = len(wide)
    skipped = {p for p, _ in pairs.values()}
    for a, extent in enumerate(shape):
        if a not in place_of and a not in skipped:
            place_of[a] = len(wide)
            wide.append(extent)
    # Cell i is cell k of window (i - dilation * k - constant) / stride.
    gathered: dict[int, AxisView] = {}
    for at, (p, k) in pairs.items():
        terms, constant = view.axes[at].terms, view.axes[at].constant
        gathered[p] = AxisView({place_of_cell[at]: 1, place_of[k]: -terms[k]}, -constant, terms[p])
        if terms[p] < 0:
            gathered[p] = AxisView(
                {place_of_cell[at]: -1, place_of[k]: terms[k]}, constant, -terms[p]
            )
    full = [
        shape[a] if a in skipped else extent for a, extent in enumerate(tensor(windows).get_shape())
    ]

    def arranged(factor: SSAValue) -> SSAValue:
        axes = [
            gathered[a]
            if a in gathered and factor is not cells
            else AxisView({place_of[a]: 1} if extent > 1 else {})
            for a, extent in enumerate(tensor(factor).get_shape())
        ]
        return emit_view(builder, AffineView(factor, tuple(axes), has_zeros=True), wide)

    total = arranged(builder.expanded(windows, tuple(full)))
    if cells is not None:
        total = builder.put(MulOp(total, arranged(cells)))
    total = builder.expanded(total, tuple(wide))
    if kept < len(wide):
        total = builder.put(ReduceOp(ReduceKind.ADD, total, range(kept, len(wide))))
    # Merge the axes of each axis of the source; outside of what is shown the gradient is 0.
    total = reshaped(builder, total, merged)
    starts = [
        0 if at in pairs or axis.is_split(extent, shape) else -axis.constant
        for at, (axis, extent) in enumerate(zip(view.axes, extents, strict=True))
    ]
    return cropped(builder, total, starts, extents)
