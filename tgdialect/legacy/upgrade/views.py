"""ShapeTrackers as movement ops, or as INDEX where no movements read the same elements; values in
other shapes, which stay as they are where they have the shape already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.legacy.attributes import ViewAttr
from tgdialect.ops import tg
from tgdialect.transforms.affine_views import permuted, reshaped

__all__ = ["all_of", "expanded", "filled", "permuted", "reshaped", "zeros_like"]


def expanded(builder: tg.OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A value with its axes of one element repeated."""
    if tg.tensor(value).get_shape() == tuple(shape):
        return value
    return builder.put(tg.ExpandOp(value, tuple(shape)))


def filled(builder: tg.OpBuilder, constant: tg.ConstOp, shape: Sequence[int]) -> SSAValue:
    """A constant in all elements of a shape."""
    scalar = builder.put(constant)
    if not shape:
        return scalar
    return builder.put(tg.ExpandOp(reshaped(builder, scalar, (1,) * len(shape)), tuple(shape)))


def zeros_like(builder: tg.OpBuilder, value: SSAValue) -> SSAValue:
    """Zeros of the dtype and shape of a value."""
    type = tg.tensor(value)
    zero = tg.ConstOp(tg.number_attribute(0, type.element_type))
    return filled(builder, zero, type.get_shape())


def all_of(builder: tg.OpBuilder, conditions: Sequence[SSAValue]) -> SSAValue | None:
    """Whether all conditions hold; None without any."""
    if not conditions:
        return None
    return reduce(lambda a, b: builder.put(tg.AndOp(a, b)), conditions)


class _Axis(NamedTuple):
    """An axis of a view: its position, extent and stride."""

    position: int
    extent: int
    stride: int


class Viewer:
    """Builds what views read.

    A masked element reads 0, so that a reduction adds it; where a STORE goes through the view,
    nothing is written (`writes`).
    """

    def __init__(self, builder: tg.OpBuilder, *, writes: bool = False) -> None:
        self.builder = builder
        self.writes = writes

    def viewed(self, source: SSAValue, views: Sequence[ViewAttr]) -> SSAValue:
        """The elements of memory or of a value through some views, the innermost first."""
        for view in views:
            source = self._masked(self.reshaped(source, (-1,)), view)
        return source

    def valid(self, views: Sequence[ViewAttr]) -> SSAValue:
        """For each element of some views whether it is valid: true with false around it for the
        first mask, seen through the views after it."""
        masked = (i for i, view in enumerate(views) if view.mask is not None)
        first = next(masked, len(views) - 1)
        spans, shape = views[first].spans, views[first].shape
        true = self.reshaped(self.builder.put(tg.ConstOp(1, tg.BOOL)), (1,) * len(spans))
        extents = tuple(end - start for start, end in spans)
        true = expanded(self.builder, true, extents)
        mask = self._padded(true, [start for start, _ in spans], shape)
        return self.viewed(mask, views[first + 1 :])

    def reshaped(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """RESHAPE; (-1,) is all elements in a row. Of a RESHAPE that nothing else uses, one is made
        of its source."""
        wanted = (prod(tg.tensor(value).get_shape()),) if -1 in shape else tuple(shape)
        if tg.tensor(value).get_shape() == wanted:
            return value
        if isinstance(inner := value.owner, tg.ReshapeOp) and value.first_use is None:
            value = inner.source
            Rewriter.erase_op(inner)
            return self.reshaped(value, wanted)
        return self.builder.put(tg.ReshapeOp(value, wanted))

    def _shrunk(self, value: SSAValue, offsets: Sequence[int], shape: Sequence[int]) -> SSAValue:
        if tg.tensor(value).get_shape() == tuple(shape):
            return value
        return self.builder.put(tg.ShrinkOp(value, tuple(offsets), tuple(shape)))

    def _padded(self, value: SSAValue, offsets: Sequence[int], shape: Sequence[int]) -> SSAValue:
        if tg.tensor(value).get_shape() == tuple(shape):
            return value
        dtype = tg.tensor(value).element_type
        fill = None if self.writes else tg.number_attribute(0, dtype)
        return self.builder.put(tg.PadOp(value, tuple(offsets), tuple(shape), fill))

    def _masked(self, flat: SSAValue, view: ViewAttr) -> SSAValue:
        """A view of memory of one axis: that of the valid elements, with zeros around it."""
        starts = [first for first, _ in view.spans]
        shape = [end - first for first, end in view.spans]
        if 0 in shape:
            nothing = self.reshaped(self._shrunk(flat, (0,), (0,)), shape)
            return self._padded(nothing, starts, view.shape)
        offset = view.offset + sum(s * n for s, n in zip(starts, view.strides, strict=True))
        return self._padded(self._strided(flat, shape, view.strides, offset), starts, view.shape)

    def _strided(
        self, flat: SSAValue, shape: Sequence[int], strides: Sequence[int], offset: int
    ) -> SSAValue:
        """The elements at offset + sum(index * stride)."""
        pairs = zip(shape, strides, strict=True)
        axes = [_Axis(i, n, s) for i, (n, s) in enumerate(pairs) if n > 1 and s]
        backward = [axis for axis in axes if axis.stride < 0]
        offset += sum(axis.stride * (axis.extent - 1) for axis in backward)
        forward = [axis._replace(stride=abs(axis.stride)) for axis in axes]
        forward.sort(key=lambda axis: -axis.stride)
        value = self._blocks(flat, forward, offset) or self._gathered(flat, forward, offset)
        # From the order of the strides to that of the axes, then axes that repeat.
        order = sorted(range(len(forward)), key=lambda i: forward[i].position)
        value = permuted(self.builder, value, order)
        kept = {axis.position for axis in axes}
        value = self.reshaped(value, [n if i in kept else 1 for i, n in enumerate(shape)])
        value = expanded(self.builder, value, shape)
        if backward:
            flipped = {axis.position for axis in backward}
            value = self.builder.put(tg.FlipOp(value, [i in flipped for i in range(len(shape))]))
        return value

    def _blocks(self, flat: SSAValue, axes: Sequence[_Axis], offset: int) -> SSAValue | None:
        """Axes by falling stride, each within one step of the axis before it, as blocks of blocks:
        RESHAPE and SHRINK. None if two axes overlap, or if a step is no multiple of the next."""
        steps = [axis.stride for axis in axes] or [1]
        for axis, inner in pairwise(axes):
            if axis.stride % inner.stride or inner.extent * inner.stride > axis.stride:
                return None
        extents = [axis.extent for axis in axes]
        blocks = [*extents[:1], *(a // b for a, b in pairwise(steps))]
        starts, rest = [0] * len(axes), offset % steps[0]
        for number, axis in enumerate(axes[1:], 1):
            starts[number], rest = divmod(rest, axis.stride)
        if all(map(lambda first, n, block: first + n <= block, starts, extents, blocks)):
            # The blocks are whole rows: the offset is a position in each.
            offset -= offset % steps[0]
        else:
            starts, rest = [0] * len(axes), 0
        total = steps[0] * (extents[0] if axes else 1)
        (size,) = tg.tensor(flat).get_shape()
        if offset + total > size:
            # The last block is not whole: what is padded is not read.
            flat = self._padded(flat, (0,), (offset + total,))
        flat = self._shrunk(flat, (offset,), (total,))
        if not axes:
            return self.reshaped(flat, ())
        if steps[-1] > 1:
            blocks, starts, extents = [*blocks, steps[-1]], [*starts, rest], [*extents, 1]
        value = self._shrunk(self.reshaped(flat, blocks), starts, extents)
        return self.reshaped(value, [axis.extent for axis in axes])

    # -- index arithmetic ------------------------------------------------------------------------

    def _gathered(self, flat: SSAValue, axes: Sequence[_Axis], offset: int) -> SSAValue:
        """The elements at computed positions, with an axis for each in `axes`."""
        shape = [axis.extent for axis in axes]
        counts = {n: self._count(n) for n in dict.fromkeys(shape)}
        positions: SSAValue | None = self._constant(offset) if offset else None
        for number, axis in enumerate(axes):
            steps = counts[axis.extent]
            if axis.stride != 1:
                steps = self.builder.put(tg.MulOp(steps, self._constant(axis.stride)))
            steps = self.reshaped(steps, [n if i == number else 1 for i, n in enumerate(shape)])
            positions = steps if positions is None else self.builder.put(tg.AddOp(positions, steps))
        assert positions is not None
        flat_positions = self.reshaped(positions, (-1,))
        return self.reshaped(self.builder.put(tg.IndexOp(flat, (flat_positions,))), shape)

    def _constant(self, value: int) -> SSAValue:
        return self.builder.put(tg.ConstOp(value, tg.INDEX))

    def _count(self, n: int) -> SSAValue:
        """0, 1, ..., n - 1 as the specification writes arange: prefix sums of ones, less 1."""
        put = self.builder.put
        one = self._constant(1)
        ones = put(tg.ExpandOp(self.reshaped(one, (1,)), (n,)))
        row = self.reshaped(put(tg.PadOp(ones, (n - 1,), (2 * n - 1,))), (1, 2 * n - 1))
        # Rows of 2n - 1 cells, read as rows of 2n: each begins one cell later than that above it.
        tiled = self.reshaped(put(tg.ExpandOp(row, (n + 1, 2 * n - 1))), (-1,))
        sliding = self.reshaped(self._shrunk(tiled, (0,), (2 * n * n,)), (n, 2 * n))
        windows = self._shrunk(sliding, (0, 0), (n, n))
        sums = self.reshaped(put(tg.ReduceOp(tg.ReduceKind.ADD, windows, (1,))), (n,))
        return put(tg.SubOp(sums, one))
