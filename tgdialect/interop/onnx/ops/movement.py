"""Shapes, transpositions, slices, joins and pads."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tgdialect.frontend.symbolic import SymInt, is_undecided, larger, smaller
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.rules import NodeCall, Rules, known, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor, dims, sizes
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import broadcast_shapes


def axis_of(x: Tensor | Array, axis: Any, more: int = 0) -> int:
    """An axis counted from the front. Raises IndexError."""
    count = x.ndim + more
    if not -count <= int(axis) < count:
        raise IndexError(f"axis {axis} of a tensor of {count} axes")
    return int(axis) % count


def division_of(x: Tensor, axis: Any) -> int:
    """The axis before which the axes are divided in two; their number leaves none behind. Raises
    IndexError."""
    return x.ndim if axis == x.ndim else axis_of(x, axis)


# -- shapes ----------------------------------------------------------------------------------------


def _shape(_: NodeCall, x: Value, *, start: int = 0, end: int | None = None) -> Array:
    if x is None or isinstance(x, list):
        raise Refused("a sequence has no shape")
    return sizes(*x.shape[start:end])


def _size(_: NodeCall, x: Value) -> Array:
    if x is None or isinstance(x, list):
        raise Refused("a sequence has no size")
    return sizes(math.prod(x.shape)).reshape(())


def _reshape(x: Tensor, shape: Array, *, allowzero: int = 0) -> Tensor:
    wanted = dims(shape)
    if not allowzero:
        wanted = [x.shape[i] if isinstance(d, int) and d == 0 else d for i, d in enumerate(wanted)]
    return x.reshape(wanted)


def _flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    axis = division_of(x, axis)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _squeeze(call: NodeCall, x: Value, axes: Value = None) -> Tensor:
    """Whether a symbolic extent is 1 is a question."""
    tensor = as_tensor(x)
    extents: tuple[Any, ...] = tensor.shape
    if axes is None:
        gone = {i for i, d in enumerate(extents) if call.sign(d, 1) == 0}
    else:
        gone = {axis_of(tensor, a) for a in dims(call.known(axes, "axes"))}
        if wrong := [extents[a] for a in gone if call.sign(extents[a], 1) != 0]:
            raise ValueError(f"an axis of extent {wrong[0]} is no axis of 1")
    for axis in gone:
        if isinstance(extents[axis], SymInt):  # It is 1 for the present sizes only: no view.
            tensor = tensor.index_select(axis, Tensor.zeros(1, dtype="int32"))
    return tensor.reshape([d for i, d in enumerate(extents) if i not in gone])


def _unsqueeze(x: Tensor, axes: Array) -> Tensor:
    new = {axis_of(x, a, np.size(axes)) for a in dims(axes)}
    rest = iter(x.shape)
    return x.reshape([1 if i in new else next(rest) for i in range(x.ndim + len(new))])


def broadcast(x: Tensor, shape: Sequence[Any]) -> Tensor:
    """A tensor and a shape broadcast to a common shape. Raises ValueError."""
    shapes: list[Any] = [x.shape, tuple(shape)]
    return x.expand(broadcast_shapes(shapes))


# -- parts and joins -------------------------------------------------------------------------------


def _slice(
    x: Tensor,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Tensor:
    cut: list[slice] = [slice(None)] * x.ndim
    count = len(dims(starts))
    for axis, start, end, step in zip(
        range(count) if axes is None else dims(axes),
        dims(starts),
        dims(ends),
        [1] * count if steps is None else dims(steps),
        strict=True,
    ):
        cut[axis_of(x, axis)] = slice(start, end, step)
    return x[tuple(cut)]


def _split(
    call: NodeCall,
    x: Value,
    split: Value = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
    **given: Any,
) -> tuple[Tensor, ...]:
    tensor, count = as_tensor(x), len(call.node.output)
    if num_outputs not in (None, count):
        raise Refused(f"num_outputs is {num_outputs}, and there are {count} results")
    axis = axis_of(tensor, axis)
    extent: Any = tensor.shape[axis]
    if "split" in given:
        parts: list[Any] = list(given["split"])
    elif split is not None:
        parts = dims(call.known(split, call.node.input[1]))
    elif isinstance(extent, SymInt) and call.opset < 18:
        parts = [extent // count] * count
    else:
        whole = tensor.shape[axis]
        ends = [smaller(-(-whole // count) * i, whole) for i in range(count + 1)]
        parts = [b - a for a, b in pairwise(ends)]
    return tensor.split(parts, axis)


def _attribute_split(call: NodeCall, x: Value, *, split: Any = None, axis: int = 0) -> Any:
    return _split(call, x, axis=axis, **({} if split is None else {"split": split}))


# -- pads ------------------------------------------------------------------------------------------


def _pad(
    call: NodeCall,
    x: Value,
    pads: Value,
    value: Value = None,
    axes: Value = None,
    *,
    mode: str = "constant",
) -> Tensor:
    tensor = as_tensor(x)
    given = dims(call.known(pads, "pads"))
    count = len(given) // 2
    where = range(tensor.ndim) if axes is None else dims(call.known(axes, "axes"))
    pairs: list[tuple[Any, Any]] = [(0, 0)] * tensor.ndim
    for axis, before, after in zip(where, given[:count], given[count:], strict=True):
        pairs[axis_of(tensor, axis)] = before, after
    return padded(tensor, pairs, mode, value)


_MODES = {"edge": "replicate", "wrap": "circular"}
"""The names of `Tensor` for modes."""


def padded(x: Tensor, pairs: Sequence[tuple[Any, Any]], mode: str, value: Value = None) -> Tensor:
    """Cells before and after each axis; negative numbers cut cells off. The value of new cells may
    be computed by the program."""
    if mode != "constant":
        for axis, (before, after) in enumerate(pairs):
            x = _pad_axis(x, axis, before, after, mode)
        return x
    if not isinstance(value, Tensor):
        number = 0 if value is None else np.ravel(np.asarray(value))[0].item()
        return x.pad(list(pairs), value=number)
    is_old = x.full(x.shape, True, "bool").pad(list(pairs), value=False)
    return is_old.where(x.pad(list(pairs)), value.reshape(()).cast(x.dtype))


def _pad_axis(x: Tensor, axis: int, before: Any, after: Any, mode: str) -> Tensor:
    extent: Any = x.shape[axis]
    numbers = (before, after, extent)
    modes: Any = mode
    if not any(isinstance(n, SymInt) for n in numbers):
        if before == after == 0:
            return x
        places = np.arange(max(-before, 0), extent - max(-after, 0))
        if max(before, after) > len(places) - 1:  # More than once over the cells that are left.
            places = np.pad(places, (max(before, 0), max(after, 0)), modes)
            return x.index_select(axis, Tensor(places.astype(np.int32)))
    pairs: list[tuple[Any, Any] | None] = [None] * x.ndim
    pairs[axis] = before, after
    return x.pad(pairs, mode=_MODES.get(mode, mode))


def _center_crop_pad(x: Tensor, shape: Array, *, axes: Sequence[int] | None = None) -> Tensor:
    """Axes cut or padded by zeros on both sides, of which the second one has the odd cell."""
    where = range(x.ndim) if axes is None else axes
    pairs: list[tuple[Any, Any]] = [(0, 0)] * x.ndim
    for axis, wanted in zip(where, dims(shape), strict=True):
        axis = axis_of(x, axis)
        more: Any = wanted - x.shape[axis]
        if is_undecided(more, 0):
            raise ValueError(f"whether {x.shape[axis]} cells are cut to {wanted} depends on sizes")
        is_cut = larger(more, 0) == 0
        # A crop begins at (extent - wanted) // 2, a pad at (wanted - extent) // 2.
        before = -(-more // 2) if is_cut else more // 2
        pairs[axis] = before, more - before
    return x.pad(pairs)


# -- blocks ----------------------------------------------------------------------------------------


def _depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, *space = x.shape
    block = [blocksize] * len(space)
    depth = c // blocksize ** len(space)
    k = len(space)
    if mode == "DCR":
        wide = x.reshape((n, *block, depth, *space))
        blocks, channels = [*range(1, k + 1)], k + 1
    else:
        wide = x.reshape((n, depth, *block, *space))
        blocks, channels = [*range(2, k + 2)], 1
    order = [i for pair in zip(range(k + 2, 2 * k + 2), blocks, strict=True) for i in pair]
    extents = [d * blocksize for d in space]
    return wide.permute((0, channels, *order)).reshape((n, depth, *extents))


def _space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, *space = x.shape
    k = len(space)
    parts = [e for d in space for e in (d // blocksize, blocksize)]
    wide = x.reshape((n, c, *parts))
    blocks, rest = [*range(3, 2 * k + 2, 2)], [*range(2, 2 * k + 2, 2)]
    order = (*blocks, 1) if mode == "DCR" else (1, *blocks)
    extents = [d // blocksize for d in space]
    return wide.permute((0, *order, *rest)).reshape((n, c * blocksize**k, *extents))


def _reverse_sequence(x: Tensor, lengths: Tensor, *, batch_axis: int, time_axis: int) -> Tensor:
    """The first cells of each sequence in the other order."""
    batch, time = axis_of(x, batch_axis), axis_of(x, time_axis)
    shape = [1] * x.ndim
    shape[batch] = -1
    lengths = lengths.reshape(shape)
    shape = [1] * x.ndim
    shape[time] = -1
    line = Tensor.arange(x.shape[time]).reshape(shape)
    places = (line < lengths).where(lengths - 1 - line, line)
    return x.gather(time, places.expand(x.shape))


def _trilu(x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    """The triangle on and above a diagonal, or on and below it; its number may be computed."""
    rows = Tensor.arange(x.shape[-2]).reshape((-1, 1))
    distance = Tensor.arange(x.shape[-1]) - rows
    diagonal = Tensor.full((), 0, "int64") if k is None else k.reshape(())
    is_kept = distance >= diagonal if upper else distance <= diagonal
    return is_kept.where(x, Tensor.zeros(dtype=x.dtype))


def _col2im(
    x: Tensor,
    image: Array,
    block: Array,
    *,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Tensor:
    """Sums of the cells of windows at their places: for each cell of a window, the windows' cells
    are spread by the strides and moved to their place."""
    extents, block_sizes = dims(image), [int(b) for b in dims(block)]
    k = len(extents)
    dilations, strides = dilations or (1,) * k, strides or (1,) * k
    pads = pads or (0,) * 2 * k
    counts = [
        (e + pads[i] + pads[k + i] - dilations[i] * (block_sizes[i] - 1) - 1) // strides[i] + 1
        for i, e in enumerate(extents)
    ]
    n, columns, _ = x.shape
    channels = columns // math.prod(block_sizes)
    wide = x.reshape((n, channels, *block_sizes, *counts))
    total: Tensor | None = None
    for cell in np.ndindex(*block_sizes):
        part = wide[(slice(None), slice(None), *cell)]._dilated(strides)  # pyright: ignore[reportPrivateUsage]
        pairs: list[tuple[Any, Any]] = [(0, 0), (0, 0)]
        for i, at in enumerate(cell):
            first = at * dilations[i] - pads[i]
            pairs.append((first, extents[i] - first - part.shape[2 + i]))
        moved = part.pad(pairs)
        total = moved if total is None else total + moved
    assert total is not None
    return total


def _tile(x: Tensor, repeats: Array) -> Tensor:
    return x.repeat(dims(repeats))


RULES: Rules = {
    "CenterCropPad": {18: known(_center_crop_pad, 1)},
    "Col2Im": {18: known(_col2im, 1, 2)},
    "Concat": {4: lambda *xs, axis: Tensor.cat(*xs, dim=axis)},
    "DepthToSpace": {1: _depth_to_space},
    "Expand": {8: known(lambda x, shape: broadcast(x, dims(shape)), 1)},
    "Flatten": {1: _flatten},
    "Pad": {
        2: lambda x, *, pads, mode, value: padded(
            x, list(zip(pads[: x.ndim], pads[x.ndim :], strict=True)), mode, np.array(value)
        ),
        11: raw(_pad),
    },
    "Reshape": {5: known(_reshape, 1)},
    "ReverseSequence": {10: _reverse_sequence},
    "Shape": {1: raw(_shape)},
    "Size": {1: raw(_size)},
    "Slice": {
        1: lambda x, *, starts, ends, axes=None: _slice(
            x, np.array(starts), np.array(ends), None if axes is None else np.array(axes)
        ),
        10: known(_slice, 1, 2, 3, 4),
    },
    "SpaceToDepth": {1: _space_to_depth},
    "Split": {2: raw(_attribute_split), 13: raw(_split)},
    "Squeeze": {
        1: raw(
            lambda call, x, *, axes=None: _squeeze(
                call, x, None if axes is None else np.array(axes)
            )
        ),
        13: raw(_squeeze),
    },
    "Tile": {6: known(_tile, 1)},
    "Transpose": {1: lambda x, *, perm=None: x.permute(perm or tuple(range(x.ndim))[::-1])},
    "Trilu": {14: _trilu},
    "Unsqueeze": {
        1: lambda x, *, axes: _unsqueeze(x, np.array(axes)),
        13: known(_unsqueeze, 1),
    },
}
