"""Tensor programs in the specification's primitives, with what NumPy says of them.

Convolution and pooling see their windows through EXPAND, RESHAPE and SHRINK; indices are one-hot
masks; sorting is a bitonic network. No op of the dialect says any of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from expression import Array, Expression, constant, function
from numpy.lib.stride_tricks import sliding_window_view
from programs import Program, counting
from xdsl.ir import Attribute

from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import F32, I32

Pair = tuple[int, int]


def _integers(rng: np.random.Generator, *shape: int) -> Array:
    """Floats whose sums and products are exact, so that results are compared to the bit."""
    return rng.integers(-8, 9, shape).astype(np.float32)


def replaced(shape: Sequence[int], axis: int, *extents: int) -> list[int]:
    """A shape with other extents in the place of one axis."""
    axis %= len(shape)
    return [*shape[:axis], *extents, *shape[axis + 1 :]]


def moved(rank: int, source: int, target: int) -> list[int]:
    """The permutation that moves an axis."""
    order = [axis for axis in range(rank) if axis != source % rank]
    order.insert(target % rank, source % rank)
    return order


# -- windows -------------------------------------------------------------------------------------


def windows(x: Expression, axis: int, size: int, stride: int = 1, dilation: int = 1) -> Expression:
    """The windows of an axis: in its place, the axis of windows and the axis in a window.

    The axis is repeated, and cut into rows of which each begins `dilation` cells later.
    """
    n = x.shape[axis]
    count = (n - dilation * (size - 1) - 1) // stride + 1
    row = n * (2 if count * stride > n + dilation else 1) + dilation
    times = -(-size * row // n)
    shape = x.shape

    def cut(x: Expression, *extents: int) -> Expression:
        return x.shrink_to(*replaced(shape, axis, *extents))

    x = x.reshape(*replaced(shape, axis, 1, n)).expand(*replaced(shape, axis, times, n))
    x = cut(x.reshape(*replaced(shape, axis, times * n)), size * row)
    x = cut(x.reshape(*replaced(shape, axis, size, row)), size, count * stride)
    x = cut(x.reshape(*replaced(shape, axis, size, count, stride)), size, count, 1)
    x = x.reshape(*replaced(shape, axis, size, count))
    return x.permute(*moved(len(x.shape), axis, axis + 1))


def padded(x: Expression, padding: Pair, fill: float = 0) -> Expression:
    """The last two axes padded on both sides."""
    widths = [(0, 0)] * (len(x.shape) - 2) + [(p, p) for p in padding]
    return x.pad(*widths, fill=fill) if any(padding) else x


def conv2d(
    batch: int,
    channels: Pair,
    image: Pair,
    kernel: Pair,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: Pair = (0, 0),
    groups: int = 1,
) -> Program:
    """The cross-correlation of networks; `channels` are those in and out."""
    rng = np.random.default_rng(1)
    c, o = channels
    inputs = _integers(rng, batch, c, *image), _integers(rng, o, c // groups, *kernel)

    def body(x: Expression, w: Expression) -> Expression:
        x = padded(x, padding)
        x = windows(x, 2, kernel[0], stride[0], dilation[0])
        x = windows(x, 4, kernel[1], stride[1], dilation[1])
        _, _, oh, kh, ow, kw = x.shape
        x = x.reshape(batch, groups, 1, c // groups, oh, kh, ow, kw)
        w = w.reshape(1, groups, o // groups, c // groups, 1, kh, 1, kw)
        return (x * w).sum(7).sum(5).sum(3).reshape(batch, o, oh, ow)

    x, w = (a.astype(np.float64) for a in inputs)
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    view = sliding_window_view(x, span, (2, 3))
    view = view[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    parts = [
        np.einsum("bchwij,ocij->bohw", xs, ws)
        for xs, ws in zip(np.split(view, groups, 1), np.split(w, groups), strict=True)
    ]
    module = function([(a.shape, F32) for a in inputs], body)
    return _exact(module, inputs, np.concatenate(parts, 1))


def _exact(module, inputs: Sequence[Array], expected: Array, dtype=np.float32) -> Program:
    return Program(module, tuple(inputs), expected.astype(dtype), exact=True)


def pool2d(
    kind: str, shape: Sequence[int], kernel: Pair, stride: Pair, padding: Pair = (0, 0)
) -> Program:
    """Maximum or average of windows of the last two axes; the average counts no padding."""
    x = _integers(np.random.default_rng(2), *shape)

    def windowed(x: Expression) -> Expression:
        x = windows(x, len(shape) - 2, kernel[0], stride[0])
        return windows(x, len(x.shape) - 1, kernel[1], stride[1])

    def reduced(x: Expression, kind: ReduceKind) -> Expression:
        x = windowed(x)
        total = x.reduce(kind, -1).reduce(kind, -3)
        return total.reshape(*x.shape[:-4], x.shape[-4], x.shape[-2])

    def body(x: Expression) -> Expression:
        if kind == "max":
            return reduced(padded(x, padding, -math.inf), ReduceKind.MAX)
        ones = constant(x.block, 1, F32).reshape(*(1 for _ in shape)).expand(*shape)
        count = reduced(padded(ones, padding), ReduceKind.ADD)
        return reduced(padded(x, padding), ReduceKind.ADD) / count

    fill = -np.inf if kind == "max" else np.nan
    widths = [(0, 0)] * (len(shape) - 2) + [(p, p) for p in padding]
    full = np.pad(x.astype(np.float64), widths, constant_values=fill)
    view = sliding_window_view(full, kernel, (-2, -1))[..., :: stride[0], :: stride[1], :, :]
    expected = view.max((-2, -1)) if kind == "max" else np.nanmean(view, (-2, -1))
    return Program(function([(shape, F32)], body), (x,), expected.astype(np.float64))


# -- cumulative sums -----------------------------------------------------------------------------


def cumulative(x: Expression, axis: int) -> Expression:
    """The specification's prefix sum along an axis of many."""
    rank, n = len(x.shape), x.shape[axis]
    if n == 0:
        return x
    x = x.permute(*moved(rank, axis, -1))
    lead = x.shape[:-1]
    x = x.pad(*[(0, 0)] * (rank - 1), (n - 1, 0))
    x = x.reshape(*lead, 1, 2 * n - 1).expand(*lead, n + 1, 2 * n - 1)
    x = x.reshape(*lead, (n + 1) * (2 * n - 1)).shrink_to(*lead, 2 * n * n)
    x = x.reshape(*lead, n, 2 * n).shrink_to(*lead, n, n).sum(-1)
    return x.permute(*moved(rank, -1, axis))


def cumsum(shape: Sequence[int], axis: int) -> Program:
    x = _integers(np.random.default_rng(3), *shape)
    module = function([(shape, F32)], lambda x: cumulative(x, axis))
    return _exact(module, (x,), np.cumsum(x.astype(np.float64), axis))


def integral_image(shape: Sequence[int]) -> Program:
    """The sum of all cells before a cell on both axes, itself included (Crow 1984)."""
    x = _integers(np.random.default_rng(3), *shape)
    module = function([(shape, F32)], lambda x: cumulative(cumulative(x, 0), 1))
    return _exact(module, (x,), x.astype(np.float64).cumsum(0).cumsum(1))


def outer_of_sums(n: int) -> Program:
    """The products of all pairs of prefix sums: two accumulators in nested loops."""
    x = _integers(np.random.default_rng(3), n)

    def body(x: Expression) -> Expression:
        sums = cumulative(x, 0)
        return sums.reshape(n, 1) * sums.reshape(1, n)

    sums = np.cumsum(x.astype(np.float64))
    return _exact(function([((n,), F32)], body), (x,), np.outer(sums, sums))


# -- one-hot masks -------------------------------------------------------------------------------


def one_hot(index: Expression, n: int, axis: int) -> Expression:
    """A new axis of n cells: whether the index is there."""
    positions = counting(index.block, n) if n else None
    shape = replaced([1] * (len(index.shape) + 1), axis, n)
    wanted = index.reshape(*index.shape[:axis], 1, *index.shape[axis:])
    if positions is None:
        raise ValueError("there is nothing to index")
    return positions.reshape(*shape).equals(wanted)


def gather(shape: Sequence[int], axis: int, count: int) -> Program:
    """`np.take_along_axis`: the axis of the index has `count` cells."""
    rng = np.random.default_rng(4)
    x = _integers(rng, *shape)
    index = rng.integers(0, shape[axis], replaced(shape, axis, count), dtype=np.int32)
    axis %= len(shape)

    def body(x: Expression, index: Expression) -> Expression:
        mask = one_hot(index, shape[axis], axis).cast(F32)
        x = x.reshape(*shape[: axis + 1], 1, *shape[axis + 1 :])
        return (x * mask).sum(axis)

    module = function([(shape, F32), (index.shape, I32)], body)
    return _exact(module, (x, index), np.take_along_axis(x, index.astype(np.int64), axis))


def scatter(shape: Sequence[int], axis: int, count: int, add: bool) -> Program:
    """`np.add.at`, or `np.put_along_axis` with indices that differ, along an axis.

    Indices outside of the axis change nothing.
    """
    rng = np.random.default_rng(5)
    n = shape[axis]
    axis %= len(shape)
    places = replaced(shape, axis, count)
    x, values = _integers(rng, *shape), _integers(rng, *places)
    if add:
        index = rng.integers(-2, n + 2, places)
    else:
        index = rng.permuted(
            np.broadcast_to(np.arange(n + 2) - 1, [*places[:axis], *places[axis + 1 :], n + 2]),
            axis=-1,
        )
        index = np.moveaxis(index[..., :count], -1, axis)
    index = np.ascontiguousarray(index, np.int32)

    def body(x: Expression, index: Expression, values: Expression) -> Expression:
        mask = one_hot(index, n, axis)
        wide = values.reshape(*places[:axis], 1, *places[axis:])
        total = (mask.cast(F32) * wide).sum(axis + 1)
        if add:
            return x + total
        return mask.reduce(ReduceKind.MAX, axis + 1).reshape(*shape).where(total, x)

    expected = x.astype(np.float64)
    for at in np.ndindex(*places):
        if 0 <= index[at] < n:
            to = (*at[:axis], index[at], *at[axis + 1 :])
            expected[to] = expected[to] + values[at] if add else values[at]
    module = function([(shape, F32), (places, I32), (places, F32)], body)
    return _exact(module, (x, index, values), expected)


# -- sorting -------------------------------------------------------------------------------------


def sort(shape: Sequence[int], axis: int, dtype: Attribute = F32) -> Program:
    """A bitonic network (Batcher 1968), on a power of two of cells: the others are the greatest."""
    rng = np.random.default_rng(6)
    x = rng.integers(-50, 50, shape).astype(np.float32 if dtype == F32 else np.int32)
    greatest = math.inf if dtype == F32 else 2**31 - 1

    def exchange(x: Expression, half: int, mirrored: bool) -> Expression:
        """Order cells of the two halves of each block of 2 half: opposite, or mirrored ones."""
        lead, n = x.shape[:-1], x.shape[-1]
        x = x.reshape(*lead, n // (2 * half), 2, half)
        all_of = [(0, k) for k in x.shape]
        low, high = (x.shrink(*all_of[:-2], (i, i + 1), all_of[-1]) for i in (0, 1))
        high = high.flip(-1) if mirrored else high
        swap = high.less(low)
        low, high = swap.where(high, low), swap.where(low, high)
        high = high.flip(-1) if mirrored else high
        low, high = (y.reshape(*lead, n // (2 * half), half) for y in (low, high))
        both = low.stack(high)
        return both.permute(*moved(len(both.shape), 0, -2)).reshape(*lead, n)

    def body(x: Expression) -> Expression:
        rank, n = len(shape), shape[axis]
        x = x.permute(*moved(rank, axis, -1))
        power = 1 << max(n - 1, 0).bit_length()
        if power > n:
            x = x.pad(*[(0, 0)] * (rank - 1), (0, power - n), fill=greatest)
        size = 2
        while size <= power:
            half = size // 2
            x = exchange(x, half, mirrored=True)
            while half > 1:
                half //= 2
                x = exchange(x, half, mirrored=False)
            size *= 2
        return x.shrink_to(*x.shape[:-1], n).permute(*moved(rank, -1, axis))

    module = function([(shape, dtype)], body)
    return _exact(module, (x,), np.sort(x, axis), x.dtype)


# -- images --------------------------------------------------------------------------------------


def resize(shape: Sequence[int], size: Pair, align_corners: bool = False) -> Program:
    """Bilinear interpolation of the last two axes."""
    x = np.random.default_rng(7).standard_normal(shape).astype(np.float32)

    def along(x: Expression, axis: int, m: int) -> Expression:
        """Each new cell between two old ones, which one-hot masks select."""
        n = x.shape[axis]
        i = counting(x.block, m).cast(F32)
        if align_corners:
            at = i * ((n - 1) / max(m - 1, 1))
        else:
            at = ((i + 0.5) * (n / m) - 0.5).maximum(0)
        low = at.trunc().cast(I32)
        part = (at - at.trunc()).reshape(*replaced([1] * len(x.shape), axis, m))
        high = (low + 1).less(n).where(low + 1, low)

        def take(index: Expression) -> Expression:
            ones = [1] * len(x.shape)
            mask = one_hot(index, n, 0).reshape(*replaced(ones, axis, n, m)).cast(F32)
            return (x.reshape(*replaced(x.shape, axis, n, 1)) * mask).sum(axis)

        below, above = take(low), take(high)
        return below + (above - below) * part

    def body(x: Expression) -> Expression:
        rank = len(shape)
        return along(along(x, rank - 2, size[0]), rank - 1, size[1])

    expected = x.astype(np.float64)
    for axis, m in zip((-2, -1), size, strict=True):
        n = shape[axis]
        i = np.arange(m)
        at = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
        interpolated = np.apply_along_axis(
            lambda row, at=at, n=n: np.interp(at, np.arange(n), row), axis, expected
        )
        expected = interpolated
    return Program(function([(shape, F32)], body), (x,), expected)


# -- products ------------------------------------------------------------------------------------


def product(a: Expression, b: Expression) -> Expression:
    """A[..., M, K] @ B[..., K, N] with leading axes that broadcast; a vector is a row or column."""
    row, column = len(a.shape) == 1, len(b.shape) == 1
    a = a.reshape(1, *a.shape) if row else a
    b = b.reshape(*b.shape, 1) if column else b
    m, k = a.shape[-2:]
    n = b.shape[-1]
    result = (a.reshape(*a.shape[:-2], m, k, 1) * b.reshape(*b.shape[:-2], 1, k, n)).sum(-2)
    shape = [*result.shape[:-2], *([] if row else [m]), *([] if column else [n])]
    return result.reshape(*shape)


def matmul(left: Sequence[int], right: Sequence[int]) -> Program:
    rng = np.random.default_rng(8)
    a, b = _integers(rng, *left), _integers(rng, *right)
    module = function([(left, F32), (right, F32)], product)
    return _exact(module, (a, b), np.matmul(a.astype(np.float64), b.astype(np.float64)))


def diagonal(x: Expression, first: int, second: int) -> Expression:
    """Cells whose positions on two axes are equal; their axis is the last one."""
    rank, n = len(x.shape), x.shape[first]
    x = x.permute(*(a for a in range(rank) if a not in (first, second)), first, second)
    lead = x.shape[:-2]
    x = x.reshape(*lead, n * n).pad(*[(0, 0)] * len(lead), (0, n))
    return x.reshape(*lead, n, n + 1).shrink_to(*lead, n, 1).reshape(*lead, n)


def einsum(equation: str, *shapes: Sequence[int]) -> Program:
    """`np.einsum` with letters, repeated ones included."""
    terms, _, result = equation.partition("->")
    rng = np.random.default_rng(9)
    arrays = [_integers(rng, *shape) for shape in shapes]

    def spread(x: Expression, letters: list[str], every: list[str]) -> Expression:
        """An operand with an axis for every letter, in order; 1 where it has none."""
        while (twice := next((c for c in letters if letters.count(c) > 1), None)) is not None:
            first = letters.index(twice)
            second = letters.index(twice, first + 1)
            x = diagonal(x, first, second)
            letters = [c for i, c in enumerate(letters) if i not in (first, second)] + [twice]
        order = sorted(range(len(letters)), key=lambda i: every.index(letters[i]))
        x = x.permute(*order)
        extents = {letters[i]: n for i, n in zip(order, x.shape, strict=True)}
        return x.reshape(*(extents.get(c, 1) for c in every))

    def body(*operands: Expression) -> Expression:
        names = terms.split(",")
        every = [*result, *sorted(set(terms) - set(result) - {","})]
        parts = [spread(x, list(n), every) for x, n in zip(operands, names, strict=True)]
        total = parts[0]
        for part in parts[1:]:
            total = total * part
        for _ in range(len(every) - len(result)):
            total = total.sum(-1)
        return total

    module = function([(shape, F32) for shape in shapes], body)
    return _exact(module, arrays, np.einsum(equation, *(a.astype(np.float64) for a in arrays)))
