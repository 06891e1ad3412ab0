"""ATen ops at positions that are computed: gather, scatter, embeddings."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype, in_rows

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
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if any(index.dtype.is_bool for _, index in given):
        if len(given) > 1:
            raise Refusal("a mask beside other positions is not translated")
        return _put_where(x, *given[0], values, accumulate)
    if accumulate:
        return _index_added(x, indices, values)
    result = Tensor(x)
    result[tuple(slice(None) if index is None else index for index in indices)] = values
    return result


def _put_where(x: Tensor, axis: int, mask: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """x with values where a mask of its axes from `axis` on is true. Raises Refusal for values of
    which there is one for each true cell."""
    rest = x.ndim - axis - mask.ndim
    if values.ndim > rest and values.shape[-rest - 1] != 1:
        raise Refusal("the number of values depends on the elements of a mask")
    if values.ndim > rest:
        shape = (*values.shape[: -rest - 1], *[1] * mask.ndim, *values.shape[values.ndim - rest :])
        values = values.reshape(shape)
    mask = mask.reshape((*mask.shape, *[1] * rest))
    return mask.where(x + values if accumulate else values.expand(x.shape), x)


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


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    by_frequency: bool = False,
    mode: int = 0,
    sparse: bool = False,
    weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor | None, ...]:
    """Rows of a table reduced by bags. The other results, which are for the gradient, are not
    computed."""
    count = offsets.shape[0] - int(include_last_offset)
    if not indices.numel():
        return Tensor.zeros((count, weight.shape[1]), dtype=weight.dtype), None, None, None
    rows = weight[indices]
    rows = rows if weights is None else rows * weights.unsqueeze(1)
    # The last bag has all that is left. Those that do not count are in one behind it.
    bag = _segments(offsets[1:count], indices.shape[0])
    bag = (indices == padding_idx).where(count, bag) if padding_idx >= 0 else bag
    empty = Tensor.zeros((count, weight.shape[1]), dtype=weight.dtype)
    reduce = ("sum", "mean", "amax")[mode]
    return _by_segment(empty, bag, rows, reduce, include_self=False), None, None, None


def _segments(ends: Tensor, count: Any) -> Tensor:
    """The numbers of the segments, which end there, that so many cells are in, one after the
    other; cells behind the last end have one number more."""
    return ends.cast("int64").searchsorted(Tensor.arange(count).cast("int64"), right=True)


def _by_segment(
    first: Tensor, segment: Tensor, rows: Tensor, reduce: Any, include_self: bool = True
) -> Tensor:
    """Rows reduced into that of their segment, with a first one for each; those of a segment beyond
    the last one are left out. Without `include_self` the first is that of segments without rows."""
    places = segment.cast("int64").reshape((-1, *[1] * (rows.ndim - 1))).expand(rows.shape)
    return first.scatter_reduce(0, places, rows, reduce, include_self)


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


def _put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """x with cells replaced, by their positions in row-major order."""
    if not index.numel():
        return x
    return _index_put(x.flatten(), [index.flatten()], source.flatten(), accumulate).reshape(x.shape)


def _index_reduced(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: Any, *, include_self: bool = True
) -> Tensor:
    """x with slices of a source reduced into those at positions along an axis."""
    line = x.reshape((-1,)) if not x.ndim else x
    source = source.reshape((-1,)) if not source.ndim else source
    index = index.reshape(tuple(-1 if a == dim % line.ndim else 1 for a in range(line.ndim)))
    index = index.expand(source.shape)
    reduce = {"add": "sum", "multiply": "prod"}.get(reduce, reduce)
    return line.scatter_reduce(dim, index, source, reduce, include_self).reshape(x.shape)


def _segments_reduced(
    x: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Runs of the first axis reduced, by their lengths or by where they begin and end. Without
    cells a mean is NaN, unless there is an initial value. Raises Refusal for other axes."""
    if axis:
        raise Refusal("segments of axes other than the first one are not translated")
    if offsets is None:
        assert lengths is not None  # PyTorch takes one of the two.
        ends = lengths.cumsum(0)
        starts = ends - lengths
    else:
        starts, ends = offsets[:-1], offsets[1:]
    count, number = ends.shape[0], x.shape[0]
    of_none = {"max": -math.inf, "min": math.inf, "prod": 1.0}
    value = of_none.get(reduce, 0.0) if initial is None else initial
    first = Tensor.full((count, *x.shape[1:]), value, dtype=x.dtype)
    if not number or not count:
        total = first
    else:
        segment = _segments(ends, number)
        segment = (Tensor.arange(number) < starts[0]).where(count, segment)
        kind = {"max": "amax", "min": "amin", "mean": "sum"}.get(reduce, reduce)
        total = _by_segment(first, segment, x, kind)
    if reduce != "mean":
        return total
    cells = (ends - starts).reshape((-1, *[1] * (x.ndim - 1)))
    empty = math.nan if initial is None else initial
    return (cells > 0).where(total / cells.maximum(1).cast(x.dtype), empty)


def _repeated(repeats: Tensor, *, output_size: Any = None) -> Tensor:
    """The positions of cells, each as often as said."""
    if output_size is None:
        raise Refusal("the size depends on the numbers of repeats: give output_size")
    ends = repeats.cast("int64").cumsum(0)
    return ends.searchsorted(Tensor.arange(output_size).cast("int64"), right=True)


def _positions(size: Sequence[Any], stride: Sequence[Any], offset: Any = None) -> Tensor:
    """The positions in memory of the cells of a strided tensor, as one axis."""
    place = Tensor.full(tuple(size), offset or 0, dtype="int64")
    for axis, (extent, step) in enumerate(zip(size, stride, strict=True)):
        line = Tensor.arange(extent).cast("int64") * step
        place = place + line.reshape(tuple(-1 if a == axis else 1 for a in range(len(size))))
    return place.flatten()


def _strided(x: Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    return x.flatten()[_positions(size, stride, storage_offset)].reshape(tuple(size))


def _strided_replaced(
    x: Tensor, source: Tensor, size: Any, stride: Any, storage_offset: Any = None
) -> Tensor:
    return _put(x, _positions(size, stride, storage_offset), source)


INDEXING: Table = {
    **in_own_dtype(
        {
            aten.index.Tensor: _index,
            aten.index_put.default: _index_put,
            aten.nonzero_static.default: lambda x, *, size, fill_value=-1: x.nonzero(
                size, fill_value
            ),
            aten.put.default: _put,
            aten.index_reduce.default: _index_reduced,
            aten.segment_reduce.default: _segments_reduced,
            aten.repeat_interleave.Tensor: _repeated,
            aten.gather.default: lambda x, dim, index, sparse_grad=False: x.gather(dim, index),
            aten.index_select.default: lambda x, dim, index: x.index_select(dim, index),
            aten.embedding.default: lambda weight, indices, *_: weight[indices],
            aten._embedding_bag_forward_only.default: _embedding_bag,
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
            aten.scatter_add.default: lambda x, dim, index, src: x.scatter_add(dim, index, src),
        }
    ),
    **in_rows(
        {
            aten.as_strided.default: _strided,
            aten.as_strided_copy.default: _strided,
            aten.as_strided_scatter.default: _strided_replaced,
        }
    ),
}
