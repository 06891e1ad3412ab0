"""Movement ops on arrays.

The same functions move data, masks and the cell numbers of a memory. A STORE through a view finds
the cells that it writes by moving cell numbers (`memory.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.values import MaskedArray, all_valid, check_size
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import negative_extent, window_misfit


@dataclass(frozen=True, slots=True)
class AppliedMovement:
    """A movement op with the values of its operands, ready to be applied to a source.

    `operands` are the operands after the source: extents, offsets or indices. `lanes` is the number
    of leading lane axes, which are not part of the shape.
    """

    op: Operation
    operands: Sequence[MaskedArray]
    lanes: int = 0

    def of(self, source: MaskedArray, *, cells: bool = False) -> MaskedArray:
        """The result for a source. With `cells`, the source holds cell numbers, and 0 is no
        cell."""
        return _MOVEMENTS[self.op.name](self, source, cells)


def extent(value: MaskedArray) -> int:
    """A scalar as a Python integer. Raises InterpretationError if it differs between lanes."""
    values = value.materialised()
    if values.size == 0:
        return 0
    first = int(values.flat[0])
    if values.size > 1 and not bool((values == first).all()):
        raise InterpretationError("an extent or offset differs between iterations of a loop")
    return first


def extents(static: Sequence[int], dynamic: Sequence[MaskedArray]) -> tuple[int, ...]:
    """A list of extents, in which values from `dynamic` replace the dynamic entries."""
    result = _numbers(static, dynamic)
    for axis, size in enumerate(result):
        if (message := negative_extent(axis, size)) is not None:
            raise InterpretationError(message)
    return result


def _numbers(static: Sequence[int], dynamic: Sequence[MaskedArray]) -> tuple[int, ...]:
    values = iter(dynamic)
    return tuple(extent(next(values)) if d == DYNAMIC_INDEX else d for d in static)


def _permute(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    lanes = move.lanes
    order = (*range(lanes), *(lanes + axis for axis in tg.integers(move.op, "order")))
    return source.rearranged(lambda x: x.transpose(order))


def _flip(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    axes = tuple(move.lanes + i for i, flag in enumerate(tg.integers(move.op, "flags")) if flag)
    return source.rearranged(lambda x: np.flip(x, axes))


def _reshape(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    shape = extents(tg.integers(move.op, "shape"), move.operands)
    old, lane_shape = source.data.shape[move.lanes :], source.data.shape[: move.lanes]
    if np.prod(old, dtype=object) != np.prod(shape, dtype=object):
        raise InterpretationError(f"reshape from {old} to {shape} changes the number of elements")
    return source.rearranged(lambda x: x.reshape(lane_shape + shape))


def _expand(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    shape = extents(tg.integers(move.op, "shape"), move.operands)
    for axis, (old, new) in enumerate(zip(source.data.shape[move.lanes :], shape, strict=True)):
        if old not in (1, new):
            raise InterpretationError(f"axis {axis}: {old} does not expand to {new}")
    lane_shape = source.data.shape[: move.lanes]
    return source.rearranged(lambda x: np.broadcast_to(x, lane_shape + shape))


def _window(
    move: AppliedMovement, inner_is_source: bool, source: MaskedArray
) -> tuple[tuple[int, ...], tuple[slice, ...]]:
    """The new shape of a PAD or SHRINK, and the slices of the outer array that are the inner one.
    The source is the inner array of a PAD and the outer array of a SHRINK."""
    static = tg.integers(move.op, "offsets")
    dynamic = static.count(DYNAMIC_INDEX)
    offsets = _numbers(static, move.operands[:dynamic])
    shape = _numbers(tg.integers(move.op, "shape"), move.operands[dynamic:])
    old = source.data.shape[move.lanes :]
    inner, outer = (old, shape) if inner_is_source else (shape, old)
    for axis, bounds in enumerate(zip(offsets, inner, outer, strict=True)):
        if (message := window_misfit(axis, *bounds)) is not None:
            raise InterpretationError(message)
    inside = tuple(slice(o, o + size) for o, size in zip(offsets, inner, strict=True))
    return shape, (slice(None),) * move.lanes + inside


def _pad(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    shape, inside = _window(move, True, source)
    shape = source.data.shape[: move.lanes] + shape
    check_size(shape, source.data.dtype.itemsize)
    data = np.zeros(shape, source.data.dtype)
    fill = move.op.fill if isinstance(move.op, tg.PadOp) else None
    if fill is not None and not cells:
        data[...] = tg.number(fill)
    data[inside] = source.data
    if source.valid is None and fill is not None:
        return MaskedArray(data)
    valid = np.full(shape, fill is not None)
    valid[inside] = True if source.valid is None else source.valid
    return MaskedArray(data, valid)


def _shrink(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    _, inside = _window(move, False, source)
    return source.rearranged(lambda x: x[inside])


def _index(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    """INDEX of the leading axes. An index that is out of bounds or invalid reads 0."""
    lanes, shape = move.lanes, source.data.shape
    if not move.operands:
        return source
    lane_rank = [index.data.ndim - lanes for index in move.operands]
    rest = shape[lanes + len(move.operands) :]
    rank = sum(lane_rank) + len(rest)

    def on_axis(values: Array, axis: int) -> Array:
        """Values shaped to lie along one axis of the result, behind the lane axes."""
        own_lanes = values.shape[:-1] if values.ndim > 1 else (1,) * lanes
        after = rank - axis - 1
        return values.reshape(own_lanes + (1,) * axis + values.shape[-1:] + (1,) * after)

    # Build one array of positions per axis of the source; together they broadcast to the result.
    # The lane axes select themselves.
    selectors: list[Array] = []
    inside: list[Array | None] = []
    for axis in range(lanes):
        own = np.arange(shape[axis], dtype=np.int64)
        selectors.append(own.reshape((1,) * axis + (-1,) + (1,) * (lanes - axis - 1 + rank)))
    # The indexed axes. An index out of bounds selects 0 for now.
    position = 0
    for axis, (index, own_rank) in enumerate(zip(move.operands, lane_rank, strict=True)):
        at = partial(on_axis, axis=position) if own_rank else partial(_behind, rank=rank)
        position += bool(own_rank)
        values, bound = at(index.data), shape[lanes + axis]
        within: Array = (values >= 0) & (values < bound)
        inside += [within, None if index.valid is None else at(index.valid)]
        selectors.append(np.where(within, values, values.dtype.type(0)).astype(np.int64))
    # The other axes are kept whole.
    for axis, size in enumerate(rest):
        selectors.append(on_axis(np.arange(size, dtype=np.int64), position + axis))
    # Read the cells, then put 0 where an index was out of bounds or invalid.
    reads = all_valid(inside)
    if reads is None or bool(reads.all()):
        return source.rearranged(lambda x: _take(x, selectors))
    result_shape = np.broadcast_shapes(*(s.shape for s in selectors))
    check_size(result_shape, source.data.dtype.itemsize)
    if 0 in shape:
        return MaskedArray(np.zeros(result_shape, source.data.dtype))
    data = np.where(reads, _take(source.data, selectors), np.zeros((), source.data.dtype))
    if source.valid is None:
        return MaskedArray(data)
    return MaskedArray(data, np.logical_or(~reads, _take(source.valid, selectors)))


def _behind(x: Array, rank: int) -> Array:
    """An array with so many axes more behind its own."""
    return x.reshape(x.shape + (1,) * rank)


def _take(x: Array, selectors: Sequence[Array]) -> Array:
    check_size(np.broadcast_shapes(*(s.shape for s in selectors)), x.dtype.itemsize)
    return np.asarray(x[tuple(selectors)])


def _bitcast(move: AppliedMovement, source: MaskedArray, cells: bool) -> MaskedArray:
    """BITCAST: reinterpret storage. If the element size changes, a new element is invalid where any
    of its bytes is."""
    old, new = tg.dtype_of(move.op.operands[0]), tg.dtype_of(move.op.results[0])
    if old == new:
        return source
    target: np.dtype[Any] = np.dtype((np.void, _CELL * new.itemsize)) if cells else numpy_dtype(new)
    if cells and old.itemsize == new.itemsize:
        return source
    # A bool in memory is the byte 0 or 1; every byte other than 0 is read as true.
    via = np.dtype(np.uint8) if new.is_bool and not cells else target
    data = _reinterpret(source.data, via)
    if new.is_bool and not cells:
        data = data != 0
    if source.valid is None or old.itemsize == new.itemsize:
        return MaskedArray(data, source.valid)
    if old.itemsize > new.itemsize:
        return MaskedArray(data, np.repeat(source.valid, old.itemsize // new.itemsize, axis=-1))
    joined = source.valid.reshape((*data.shape, new.itemsize // old.itemsize))
    return MaskedArray(data, np.asarray(joined.all(axis=-1)))


_CELL = 8
"""The size of a cell number in bytes."""


def _reinterpret(data: Array, dtype: np.dtype[Any]) -> Array:
    """`data.view(dtype)`, after a copy if the last axis is not contiguous, which NumPy requires."""
    if data.dtype.itemsize == dtype.itemsize:
        return data.view(dtype)
    last = data.shape[-1] * data.dtype.itemsize // dtype.itemsize
    if data.size == 0:
        return np.zeros((*data.shape[:-1], last), dtype)
    if data.strides[-1] != data.dtype.itemsize:
        data = np.ascontiguousarray(data)
    return data.view(dtype)


_MOVEMENTS: dict[str, Callable[[AppliedMovement, MaskedArray, bool], MaskedArray]] = {
    "tg.permute": _permute,
    "tg.flip": _flip,
    "tg.reshape": _reshape,
    "tg.expand": _expand,
    "tg.pad": _pad,
    "tg.shrink": _shrink,
    "tg.index": _index,
    "tg.bitcast": _bitcast,
}

MOVEMENTS: frozenset[str] = frozenset(_MOVEMENTS)
"""The movement ops with one source. STACK has several, so its result is a new value."""


def stack(sources: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """STACK: join along a new leading axis of the shape."""
    if len({s.data.shape[lanes:] for s in sources}) > 1:
        shapes = " and ".join(str(s.data.shape[lanes:]) for s in sources)
        raise InterpretationError(f"shapes {shapes} do not stack")
    shape = np.broadcast_shapes(*(s.data.shape for s in sources))
    check_size((len(sources), *shape), sources[0].data.dtype.itemsize)
    data = np.stack([np.broadcast_to(s.data, shape) for s in sources], axis=lanes)
    if all(s.valid is None for s in sources):
        return MaskedArray(data)
    masks = [
        np.ones(shape, np.bool_) if s.valid is None else np.broadcast_to(s.valid, shape)
        for s in sources
    ]
    return MaskedArray(data, np.stack(masks, axis=lanes))
