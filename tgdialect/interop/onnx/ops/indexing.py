"""Gathers, scatters, one-hot, NonZero, Unique, TopK."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import NodeCall, Rules, known, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor, dims
from tgdialect.ops.numpy_dtypes import Array

# -- gathers ---------------------------------------------------------------------------------------


def _gather(_: NodeCall, x: Value, indices: Value, *, axis: int = 0) -> Tensor:
    """Cells of an axis; those at one known position are a view."""
    tensor = as_tensor(x)
    if isinstance(indices, np.ndarray) and indices.ndim == 0:
        picked: Any = dims(indices)[0]
    else:
        picked = as_tensor(indices)
    return tensor[(*(slice(None),) * axis_of(tensor, axis), picked)]


def _places(indices: Tensor) -> list[Tensor]:
    """The positions along each axis, from tuples in the last axis."""
    return [indices[..., i] for i in range(int(indices.shape[-1]))]


def _gather_nd(x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    lines = [
        Tensor.arange(d).reshape((-1, *(1,) * (indices.ndim - 2 - i)))
        for i, d in enumerate(x.shape[:batch_dims])
    ]
    return x[(*lines, *_places(indices))]


# -- scatters --------------------------------------------------------------------------------------

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
"""The names of `Tensor` for reductions."""


def _scatter(
    x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Tensor:
    if reduction == "none":
        return x.scatter(axis, indices, updates)
    return x.scatter_reduce(axis, indices, updates, _reduction(reduction))


def _reduction(name: str) -> Any:
    if name not in _REDUCTIONS:
        raise Refused(f"reduction is none, {', '.join(_REDUCTIONS)}, not {name!r}")
    return _REDUCTIONS[name]


def _scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    places = _places(indices)
    if reduction == "none":
        found = x.clone()
        found[tuple(places)] = updates
        return found
    # The indexed axes are one.
    linear = Tensor.full((), 0, "int64")
    for place, extent in zip(places, x.shape, strict=False):
        linear = linear * extent + (place < 0).where(place + extent, place)
    lead, rest = x.shape[: len(places)], x.shape[len(places) :]
    cells = math.prod(rest)
    rows = x.reshape((math.prod(lead), cells))
    values = updates.reshape((-1, cells)) if cells != 0 else updates.reshape((0, cells))
    index = linear.reshape((-1, 1)).expand((-1, cells))
    return rows.scatter_reduce(0, index, values, _reduction(reduction)).reshape(x.shape)


def _tensor_scatter(
    cache: Tensor, update: Tensor, starts: Tensor | None = None, *, axis: int, mode: str = "linear"
) -> Tensor:
    """Each batch's update at its place along an axis, beyond the end from the front if circular."""
    axis = axis_of(cache, axis)
    extent, count = cache.shape[axis], update.shape[axis]
    shape = [1] * cache.ndim
    shape[axis] = -1
    place = Tensor.arange(extent).reshape(shape)
    if starts is not None:
        place = place - starts.reshape((-1, *(1,) * (cache.ndim - 1)))
    if mode == "circular":
        place = (place < 0).where(place + extent, place)
    is_new = (place >= 0) & (place < count)
    wide = place.clamp(0, count - 1).expand(cache.shape)
    return is_new.where(update.gather(axis, wide), cache)


def _one_hot(indices: Tensor, depth: Array, values: Tensor, *, axis: int = -1) -> Tensor:
    (count,) = dims(depth)
    axis = axis_of(indices, axis, 1)
    line = Tensor.arange(count).reshape((-1, *(1,) * (indices.ndim - axis)))
    places = indices.cast("int64").unsqueeze(axis)
    places = (places < 0).where(places + count, places)
    return places.eq(line).where(values[1], values[0])


# -- numbers of results that depend on elements ----------------------------------------------------


def true_cells(call: NodeCall, mask: Tensor, name: str) -> Tensor | None:
    """The positions where a mask is true, one row each, as i64; None if there are none."""
    count = call.count(mask.sum(), mask.numel(), f"the number of true elements of {name}")
    return None if count == 0 else mask.nonzero(size=count).cast("int64")


MOST_SORTED = 1 << 12
"""The greatest symbolic extent that is sorted: a sort takes the time of the greatest one. Larger:
slow sorts of a few cells; smaller: more programs for one size."""


def check_sorted(extent: Any) -> None:
    """Raise Refused for an axis that is sorted by programs for one size only."""
    if isinstance(extent, SymInt) and extent.max > MOST_SORTED:
        raise Refused(f"a sort of {extent} cells, up to {extent.max}")


def _nonzero(call: NodeCall, x: Value) -> Tensor:
    tensor = as_tensor(x)
    found = true_cells(call, tensor.ne(0), call.node.input[0])
    if found is None:
        return Tensor.zeros(tensor.ndim, 0, dtype="int64")
    return found.transpose()


def _compress(call: NodeCall, x: Value, condition: Value, *, axis: int | None = None) -> Tensor:
    tensor = as_tensor(x).flatten() if axis is None else as_tensor(x)
    axis = 0 if axis is None else axis_of(tensor, axis)
    if isinstance(condition, np.ndarray):
        places = np.flatnonzero(condition)
        return tensor.index_select(axis, Tensor(places.astype(np.int32)))
    found = true_cells(call, as_tensor(condition), call.node.input[1])
    if found is None:
        return tensor.shrink([(0, 0 if i == axis else d) for i, d in enumerate(tensor.shape)])
    return tensor.index_select(axis, found.flatten())


def _unique(
    call: NodeCall, x: Value, *, axis: int | None = None, sorted: int = 1
) -> tuple[Tensor, ...]:
    tensor = as_tensor(x)
    axis = None if axis is None else axis_of(tensor, axis)
    check_sorted(tensor.numel() if axis is None else tensor.shape[axis])
    most: Any = tensor.numel() if axis is None else tensor.shape[axis]
    found = tensor.unique(return_inverse=True, return_counts=True, dim=axis, size=most)
    values, inverse, counts = found
    inverse = inverse.flatten().contiguous()
    count = call.count(inverse.max() + 1, most, f"the number of different {call.node.input[0]}")
    at = 0 if axis is None else axis
    values = values.shrink([(0, count if i == at else d) for i, d in enumerate(values.shape)])
    counts = counts.shrink([(0, count)])
    # The first cell of each value: a sort keeps the order of equal ones.
    first = inverse.argsort(0).contiguous()[counts.cumsum(0) - counts]
    if not sorted:
        order = first.argsort(0).contiguous()
        values, counts, first = values.index_select(at, order), counts[order], first[order]
        inverse = order.argsort(0).contiguous()[inverse]
    return values, *(t.cast("int64") for t in (first, inverse, counts))


def _top_k(
    x: Tensor, k: Array, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[Tensor, Tensor]:
    (count,) = dims(k)
    check_sorted(x.shape[axis_of(x, axis)] if x.ndim else 1)
    values, places = x.topk(count, axis, bool(largest), bool(sorted))
    return values, places.cast("int64")


RULES: Rules = {
    "Compress": {9: raw(_compress)},
    "Gather": {1: raw(_gather)},
    "GatherElements": {11: lambda x, indices, *, axis: x.gather(axis, indices)},
    "GatherND": {11: _gather_nd},
    "NonZero": {9: raw(_nonzero)},
    "OneHot": {9: known(_one_hot, 1)},
    "Scatter": {9: _scatter},
    "ScatterElements": {11: _scatter},
    "ScatterND": {11: _scatter_nd},
    "TensorScatter": {24: _tensor_scatter},
    "TopK": {1: lambda x, *, axis, k: _top_k(x, np.array(k), axis=axis), 10: known(_top_k, 1)},
    "Unique": {11: raw(_unique)},
}
