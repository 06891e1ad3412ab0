"""Ops of warps, the neighbours in a workgroup that exchange values: SHUFFLE, and WMMA, which is
acc + A @ B of whole matrices or of the fragments that the threads of a warp hold.

Values have an axis for each loop, and then those of their shape. `threads` are the axes that number
the work items of a workgroup, the fastest first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.values import MaskedArray
from tgdialect.ops import tg
from tgdialect.ops.arrays import compute_dtype, convert, narrowed, numpy_dtype
from tgdialect.ops.attributes import own_bit
from tgdialect.ops.numpy_dtypes import Array


def check_warps(op: Operation, size: int, shape: Sequence[int], threads: Sequence[int]) -> None:
    """Refuse an op of warps where a workgroup is not made of whole ones."""
    count = math.prod(shape[axis] for axis in threads)
    if count == 0 or count % size:
        raise InterpretationError(f"{op.name} of {size} threads in a workgroup of {count} threads")


def of_warp(
    op: Operation, operands: Sequence[MaskedArray], lanes: int, threads: Sequence[int]
) -> MaskedArray:
    """The result of a SHUFFLE, or of a WMMA or INS of fragments, of values that have all work items
    of their workgroup."""
    if not isinstance(op, tg.ShuffleOp):
        return wmma(op, operands, lanes, threads)
    data, size = operands[0].materialised(), op.threads.data
    outer = data.shape[:lanes]
    check_warps(op, size, outer, threads)
    rows = data.reshape((*outer, math.prod(data.shape[lanes:])))
    warps = by_warp(rows, threads, size)
    moved = warps[..., np.arange(size) ^ op.distance.data, :]
    return MaskedArray(by_lane(moved, outer, threads).reshape(data.shape))


def by_warp(x: Array, threads: Sequence[int], size: int) -> Array:
    """(lanes..., elements) to (other lanes..., warps, threads of a warp, elements)."""
    slowest_first = list(reversed(threads))
    last = x.ndim - 1
    moved = np.moveaxis(x, slowest_first, range(last - len(threads), last))
    outer, split = moved.shape[: last - len(threads)], moved.shape[last - len(threads) : last]
    return moved.reshape((*outer, math.prod(split) // size, size, x.shape[-1]))


def by_lane(x: Array, shape: Sequence[int], threads: Sequence[int]) -> Array:
    """The inverse of `by_warp`."""
    slowest_first = list(reversed(threads))
    last = len(shape)
    kept = [size for axis, size in enumerate(shape) if axis not in threads]
    split = x.reshape((*kept, *(shape[axis] for axis in slowest_first), x.shape[-1]))
    return np.moveaxis(split, range(last - len(threads), last), slowest_first)


def multiply_accumulate(a: Array, b: Array, acc: Array, op: tg.WmmaOp | tg.InsOp) -> Array:
    """acc + A @ B on the last two axes, in acc's dtype (f32 where that is narrower)."""
    dtype, source = tg.dtype_of(op.operands[2]), tg.dtype_of(op.operands[0])
    wide = compute_dtype(dtype)

    def widened(x: Array) -> Array:
        if dtype.is_float and not source.is_float:
            return x.view(wide)  # The bits of tf32.
        exact = x.astype(compute_dtype(source), copy=False)
        return exact.astype(wide) if dtype.is_float else convert(x, source, dtype)

    total = np.add(acc.astype(wide), np.matmul(widened(a), widened(b)))
    return narrowed(total, numpy_dtype(dtype))


def coordinates(layout: ArrayAttr[StringAttr], row: str, threads: int) -> tuple[Array, Array]:
    """The row and the column of element e of thread t, arrays of shape (threads, elements).

    Bit i of the number `t + threads * e` is the bit of the row or column that `layout[i]` names;
    of neither where that is `-`.
    """
    names = [bit.data for bit in layout]
    number = np.arange(2 ** len(names), dtype=np.int64)
    result: dict[bool, Array] = {True: np.zeros_like(number), False: np.zeros_like(number)}
    bits = {name: (number >> position) & 1 for position, name in enumerate(names)}
    for name, bit in bits.items():
        if name == "-":
            continue
        own = own_bit(name, names)
        others = [bits[other] for other in name.split("^") if other != own]
        result[own[0] == row] |= reduce(np.bitwise_xor, others, bit) << int(own[1:])
    rows, columns = (result[is_row].reshape(-1, threads).T for is_row in (True, False))
    return rows, columns


def wmma(
    op: Operation, operands: Sequence[MaskedArray], lanes: int, threads: Sequence[int]
) -> MaskedArray:
    """The result of a WMMA, or of an INS of fragments."""
    assert isinstance(op, tg.WmmaOp | tg.InsOp)
    config = op.config
    assert config is not None
    a, b, acc = (x.materialised() for x in operands)
    if config.is_whole:
        return MaskedArray(multiply_accumulate(a, b, acc, op))
    m, n, k = config.m_n_k
    shape = np.broadcast_shapes(*(x.shape[:lanes] for x in (a, b, acc)))
    check_warps(op, config.threads, shape, threads)

    def matrix(x: Array, layout: ArrayAttr[StringAttr], rows: int, columns: int, row: str) -> Array:
        """The fragments of each warp, put together: (..., warps, rows, columns)."""
        warps = by_warp(np.broadcast_to(x, (*shape, x.shape[-1])), threads, config.threads)
        i, j = coordinates(layout, row, config.threads)
        result = np.zeros((*warps.shape[:-2], rows, columns), x.dtype)
        result[..., i, j] = warps
        return result

    total = multiply_accumulate(
        matrix(a, config.a, m, k, "m"),
        matrix(b, config.b, k, n, "k"),
        matrix(acc, config.c, m, n, "m"),
        op,
    )
    i, j = coordinates(config.c, "m", config.threads)
    return MaskedArray(by_lane(total[..., i, j], shape, threads))
