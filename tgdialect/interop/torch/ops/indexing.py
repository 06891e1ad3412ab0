"""ATen ops at positions that are computed: gather, scatter, embeddings."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype

aten = torch.ops.aten


def _index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Raises Refusal for a mask, whose number of cells is not known."""
    for index in indices:
        if index is not None and index.dtype.is_bool:
            raise Refusal("the size of the result depends on the elements of a mask")
    # PyTorch's ops name an axis that is not indexed by None, which is a new axis in an index.
    return x[tuple(slice(None) if index is None else index for index in indices)]


def _index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    if accumulate:
        return _index_added(x, indices, values)
    result = Tensor(x)
    result[tuple(slice(None) if index is None else index for index in indices)] = values
    return result


def _index_added(x: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> Tensor:
    """x with values added at positions. Raises Refusal for a mask."""
    shape = _index(x, indices).shape
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    others = [axis for axis in range(x.ndim) if axis not in axes]
    # The cells of the indexed axes as one axis, the first one; the position of each value in it.
    order, rest = [*axes, *others], [x.shape[axis] for axis in others]
    cells = x.permute(order).reshape((math.prod(x.shape[axis] for axis in axes), *rest))
    position: Any = 0
    for axis in axes:
        index = cast(Tensor, indices[axis]).cast("int64")
        index = (index < 0).where(index + x.shape[axis], index)
        position = index + position * x.shape[axis]
    # Values have the axes of the positions where the indexed axes are, if these are neighbours.
    count = len(shape) - len(others)
    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    places = list(range(first, first + count))
    moved = values.expand(shape).permute(places + [a for a in range(len(shape)) if a not in places])
    added = cells.index_add(0, position.reshape((-1,)), moved.reshape((position.numel(), *rest)))
    result = added.reshape(tuple(x.shape[axis] for axis in order))
    return result.permute([order.index(axis) for axis in range(x.ndim)])


def _embedding_gradient(
    gradient: Tensor, indices: Tensor, count: int, padding_idx: int, by_frequency: bool
) -> Tensor:
    if by_frequency:
        raise Refusal("embedding gradients scaled by frequency are not translated")
    size = gradient.shape[-1]
    rows = indices.reshape((-1,))
    kept = gradient.reshape((rows.shape[0], size))
    if padding_idx >= 0:
        kept = (rows == padding_idx).unsqueeze(1).where(0, kept)
    return Tensor.zeros((count, size), dtype=gradient.dtype).index_add(0, rows, kept)


def _masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """x with the elements of a source, one after another, where a mask is true."""
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    x, mask, line = x.expand(shape), mask.expand(shape), source.flatten()
    if line.numel() == 0:
        return x
    place = (mask.flatten().cast("int64").cumsum(0) - 1).clamp(0, line.shape[0] - 1)
    return mask.where(line[place].reshape(shape), x)


def _found(
    line: Tensor,
    values: Any,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """The positions of values in sorted rows."""
    return line.searchsorted(values, right or side == "right", None, sorter)


Bounds = Sequence[float] | None


def _edges(x: Tensor, bins: Sequence[int], bounds: Bounds) -> list[Tensor]:
    """The edges of equal bins along each of the last axis' coordinates, as `torch.linspace` rounds
    them. Without bounds, they are the least and the greatest coordinate, which are finite in
    PyTorch; it raises an error for others, and here the edges are NaN."""
    found: list[Tensor] = []
    points = x.reshape((-1, x.shape[-1]))
    for i, count in enumerate(bins):
        if bounds is not None:
            low, high = (Tensor(float(b)).cast(x.dtype) for b in bounds[2 * i : 2 * i + 2])
        elif points.numel() == 0:
            low, high = (Tensor(b).cast(x.dtype) for b in (0.0, 1.0))
        else:
            low, high = points[:, i].min(), points[:, i].max()
        is_one = low == high
        low, high = is_one.where(low - 0.5, low), is_one.where(high + 0.5, high)
        step, place = (high - low) / count, Tensor.arange(count + 1)
        is_below = place < (count + 1) // 2
        at = place.cast(x.dtype)
        found.append(is_below.where(low + step * at, high - step * (count - at)))
    return found


def _histogram(
    x: Tensor, edges: Sequence[Tensor], weight: Tensor | None = None, density: bool = False
) -> Tensor:
    """The number of points, or the sum of their weights, in each box; the last axis of x has the
    coordinates of points. Points outside are not counted, and the last bin has both its edges."""
    shape = tuple(each.shape[0] - 1 for each in edges)
    points = x.reshape((-1, x.shape[-1]))
    total: Any = 0
    is_inside: Any = True
    for i, (line, count) in enumerate(zip(edges, shape, strict=True)):
        at = points[:, i]
        is_inside = (at >= line[0]) & (at <= line[-1]) & is_inside
        place = (line.searchsorted(at, right=True) - 1).clamp(0, count - 1)
        total = total * count + place.cast("int64")
    weights = Tensor.full(is_inside.shape, 1, x.dtype) if weight is None else weight.flatten()
    cells = Tensor.zeros((math.prod(shape),), dtype=x.dtype)
    found = cells.index_add(0, is_inside.where(total, 0), is_inside.where(weights, 0))
    found = found.reshape(shape)
    if density:
        found = found / found.sum()
        for axis, line in enumerate(edges):
            width = line[1:] - line[:-1]
            found = found / width.reshape((*[1] * axis, -1, *[1] * (len(shape) - axis - 1)))
    return found


def _of_counts(
    x: Tensor, bins: Sequence[int], *, range: Bounds = None, **options: Any
) -> tuple[Tensor, list[Tensor]]:
    edges = _edges(x, bins, range)
    return _histogram(x, edges, **options), edges


def _of_line(x: Tensor, bins: Any = 100, **options: Any) -> tuple[Tensor, Tensor]:
    """The histogram of all elements, and the edges of its bins: their number, or the edges."""
    points = x.reshape((-1, 1))
    if isinstance(bins, Tensor):
        return _histogram(points, [bins], **options), bins
    found, (edges,) = _of_counts(points, [bins], **options)
    return found, edges


INDEXING: Table = in_own_dtype(
    {
        aten.index.Tensor: _index,
        aten.index_put.default: _index_put,
        aten.gather.default: lambda x, dim, index, sparse_grad=False: x.gather(dim, index),
        aten.index_select.default: lambda x, dim, index: x.index_select(dim, index),
        aten.embedding.default: lambda weight, indices, *_: weight[indices],
        aten.embedding_dense_backward.default: _embedding_gradient,
        aten.scatter.src: lambda x, dim, index, src: x.scatter(dim, index, src),
        aten.scatter.value: lambda x, dim, index, value: x.scatter(dim, index, value),
        aten.scatter.reduce: lambda x, dim, index, src, *, reduce: x.scatter(
            dim, index, src, reduce
        ),
        aten.scatter.value_reduce: lambda x, dim, index, value, *, reduce: x.scatter(
            dim, index, value, reduce
        ),
        aten.scatter_reduce.two: lambda x, dim, index, src, reduce, *, include_self=True: (
            x.scatter_reduce(dim, index, src, reduce, include_self)
        ),
        aten.masked_scatter.default: _masked_scatter,
        aten.searchsorted.Tensor: lambda line, values, *, out_int32=False, **options: _found(
            line, values, **options
        ),
        aten.searchsorted.Scalar: lambda line, value, *, out_int32=False, **options: _found(
            line, value, **options
        ),
        aten.bucketize.Tensor: lambda values, line, *, out_int32=False, right=False: _found(
            line, values, right
        ),
        aten.histogram.bin_ct: _of_line,
        aten.histogram.bins_tensor: _of_line,
        aten._histogramdd_bin_edges.default: lambda x, bins, **options: _of_counts(
            x, bins, **options
        )[1],
        aten._histogramdd_from_bin_cts.default: lambda x, bins, **options: _of_counts(
            x, bins, **options
        )[0],
        aten._histogramdd_from_bin_tensors.default: _histogram,
        aten.histc.default: lambda x, bins=100, min=0, max=0: x.histc(bins, min, max),
        aten.scatter_add.default: lambda x, dim, index, src: x.scatter_add(dim, index, src),
    }
)
