"""Affine views as chains of movement ops, the inverse of `analysis/affine/views.py`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.views import AffineView, AxisView, span
from tgdialect.ops import tg


def reshaped(builder: tg.OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A value of another shape; itself if it has the shape."""
    if tg.tensor(value).get_shape() == tuple(shape):
        return value
    return builder.put(tg.ReshapeOp(value, shape))


def permuted(builder: tg.OpBuilder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """A value with its axes in another order."""
    if list(order) == list(range(len(order))):
        return value
    return builder.put(tg.PermuteOp(value, order))


def cropped(
    builder: tg.OpBuilder, value: SSAValue, starts: Sequence[int], shape: Sequence[int]
) -> SSAValue:
    """The cells from `starts` on, which may be outside of the value: there they are 0."""
    extents = tg.tensor(value).get_shape()
    first = [min(max(a, 0), n) for a, n in zip(starts, extents, strict=True)]
    last = [min(max(a + e, b), n) for a, e, b, n in zip(starts, shape, first, extents, strict=True)]
    inside = [b - a for a, b in zip(first, last, strict=True)]
    if tuple(inside) != extents:
        value = builder.put(tg.ShrinkOp(value, first, inside))
    if inside != list(shape):
        # An axis of which nothing is left is padding alone, wherever it is put.
        offsets = [
            a - start if extent else 0
            for a, start, extent in zip(first, starts, inside, strict=True)
        ]
        fill = tg.number_attribute(0, tg.tensor(value).element_type)
        value = builder.put(tg.PadOp(value, offsets, shape, fill))
    return value


def dilated(builder: tg.OpBuilder, value: SSAValue, steps: Sequence[int]) -> SSAValue:
    """With step - 1 zeros between the cells of each axis."""
    if all(step == 1 for step in steps):
        return value
    extents = tg.tensor(value).get_shape()
    pairs = [(n, step) for n, step in zip(extents, steps, strict=True)]
    value = builder.put(tg.ReshapeOp(value, [e for n, _ in pairs for e in (n, 1)]))
    shape = [e for pair in pairs for e in pair]
    value = cropped(builder, value, [0] * len(shape), shape)
    value = builder.put(tg.ReshapeOp(value, [n * step for n, step in pairs]))
    return cropped(builder, value, [0] * len(pairs), [(n - 1) * step + 1 for n, step in pairs])


def emit_view(builder: tg.OpBuilder, view: AffineView, shape: Sequence[int]) -> SSAValue:
    """A view by movement ops. It has extent 1 along the axes of `shape` that the view does not
    name; the others have the extents of `shape`."""
    value = dilated(builder, view.source, [axis.divisor for axis in view.axes])
    extents = tg.tensor(value).get_shape()
    # Flips: a negative coefficient counts from the other end.
    flipped = {a for axis in view.axes for a, coefficient in axis.terms.items() if coefficient < 0}
    axes = [
        axis
        if axis.is_split(n, shape)
        else AxisView({a: abs(c) for a, c in axis.terms.items()}, span(axis, shape)[0])
        for axis, n in zip(view.axes, extents, strict=True)
    ]
    # The cells that are read, then each axis by itself, from the last one on.
    bounds = [
        (0, n - 1) if axis.is_split(n, shape) else span(axis, shape)
        for axis, n in zip(axes, extents, strict=True)
    ]
    value = cropped(builder, value, [a for a, _ in bounds], [b - a + 1 for a, b in bounds])
    order: list[int] = []
    for at in reversed(range(len(axes))):
        names = list(axes[at].terms)
        if axes[at].is_split(extents[at], shape):
            names.sort(key=axes[at].terms.__getitem__, reverse=True)
            value = _divided(builder, value, at, [shape[a] for a in names])
        elif not names:
            value = _divided(builder, value, at, [])
        else:
            # An axis with fewer cells counts windows, whose cells are the axes with more.
            names.sort(key=lambda a: shape[a])
            terms = [(shape[a], axes[at].terms[a]) for a in names]
            for i, term in enumerate(terms[:-2]):
                cells = 1 + sum((count - 1) * step for count, step in terms[i + 1 :])
                value = _windows(builder, value, at + i, term, (cells, 1))
            *_, outer, inner = (1, 1), *terms
            value = _windows(builder, value, at + max(len(names) - 2, 0), outer, inner)
            if len(names) == 1:
                value = _divided(builder, value, at, [])
        order = names + order
    value = permuted(builder, value, sorted(range(len(order)), key=order.__getitem__))
    named = {*order}
    value = reshaped(builder, value, [n if a in named else 1 for a, n in enumerate(shape)])
    if flipped:
        value = builder.put(tg.FlipOp(value, [a in flipped for a in range(len(shape))]))
    return value


def _divided(builder: tg.OpBuilder, value: SSAValue, at: int, parts: Sequence[int]) -> SSAValue:
    """An axis split into others; one of extent 1 may be split into none."""
    extents = tg.tensor(value).get_shape()
    return reshaped(builder, value, (*extents[:at], *parts, *extents[at + 1 :]))


def _windows(
    builder: tg.OpBuilder, value: SSAValue, at: int, outer: tuple[int, int], inner: tuple[int, int]
) -> SSAValue:
    """Windows of an axis, by the count and the step of each of the two new axes: cell (w, i) is
    cell `outer_step * w + inner_step * i`.

    The axis is repeated, and cut into rows. A row is longer than a multiple of the axis by a step,
    so that each row begins a step later.
    """
    extents = tg.tensor(value).get_shape()
    before, width, after = extents[:at], extents[at], extents[at + 1 :]
    (count, step), (cells, stride) = outer, inner
    length, none = cells * stride, [0] * len(extents)
    rows = length if count == 1 else width * max(-(-(length - step) // width), 1) + step
    if (copies := -(-count * rows // width)) > 1:
        value = builder.put(tg.ReshapeOp(value, (*before, 1, width, *after)))
        value = builder.put(tg.ExpandOp(value, (*before, copies, width, *after)))
        value = builder.put(tg.ReshapeOp(value, (*before, copies * width, *after)))
    value = cropped(builder, value, none, (*before, count * rows, *after))
    value = reshaped(builder, value, (*before, count, rows, *after))
    value = cropped(builder, value, [*none, 0], (*before, count, length, *after))
    if stride > 1:
        value = reshaped(builder, value, (*before, count, cells, stride, *after))
        value = cropped(builder, value, [*none, 0, 0], (*before, count, cells, 1, *after))
        value = reshaped(builder, value, (*before, count, cells, *after))
    return value
