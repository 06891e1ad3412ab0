"""ATen's histograms."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Table, in_own_dtype

aten = torch.ops.aten

Bounds = Sequence[float] | None
"""The least and the greatest value along each axis, one after the other."""


def _edges(x: Tensor, bins: Sequence[int], bounds: Bounds) -> list[Tensor]:
    """The edges of equal bins along each of the last axis' coordinates, as `torch.linspace` rounds
    them. Without bounds, they are the least and the greatest coordinate, which are finite in
    PyTorch; it raises an error for others, and here the edges are NaN."""
    found: list[Tensor] = []
    points = x.reshape((-1, x.shape[-1]))
    for i, count in enumerate(bins):
        if bounds is not None:
            low, high = (Tensor(float(b), x.dtype) for b in bounds[2 * i : 2 * i + 2])
        elif points.numel() == 0:
            low, high = (Tensor(b, x.dtype) for b in (0.0, 1.0))
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


HISTOGRAMS: Table = in_own_dtype(
    {
        aten.histc.default: lambda x, bins=100, min=0, max=0: x.histc(bins, min, max),
        aten.histogram.bin_ct: _of_line,
        aten.histogram.bins_tensor: _of_line,
        aten._histogramdd_bin_edges.default: lambda x, bins, **options: _of_counts(
            x, bins, **options
        )[1],
        aten._histogramdd_from_bin_cts.default: lambda x, bins, **options: _of_counts(
            x, bins, **options
        )[0],
        aten._histogramdd_from_bin_tensors.default: _histogram,
    }
)
