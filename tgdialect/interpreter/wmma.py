"""WMMA: acc + A @ B, of whole matrices or of the fragments that the threads of a warp hold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.values import Array
from tgdialect.ops.arrays import Data, compute_dtype, convert, numpy_dtype
from tgdialect.ops.attributes import WmmaAttr
from tgdialect.ops.codegen import WmmaOp
from tgdialect.ops.dtypes import DType
from tgdialect.ops.properties import dtype_of


def multiply_accumulate(a: Data, b: Data, acc: Data, op: WmmaOp) -> Data:
    """acc + A @ B on the last two axes, in acc's dtype (f32 where that is narrower)."""
    dtype, source = dtype_of(op.accumulator), dtype_of(op.a)
    wide = compute_dtype(dtype)

    def widened(x: Data) -> Data:
        exact = x.astype(compute_dtype(source), copy=False)
        return exact.astype(wide) if dtype.is_float else convert(x, source, dtype)

    total = np.add(acc.astype(wide), np.matmul(widened(a), widened(b)))
    return _narrowed(total, dtype)


def _narrowed(x: Data, dtype: DType) -> Data:
    return x.astype(numpy_dtype(dtype), copy=False)


def coordinates(layout: ArrayAttr[StringAttr], row: str, threads: int) -> tuple[Data, Data]:
    """The row and the column of element e of thread t, arrays of shape (threads, elements).

    Bit i of the number `t + threads * e` is the bit of the row or column that `layout[i]` names;
    of neither where that is `-`.
    """
    names = [bit.data for bit in layout]
    number = np.arange(2 ** len(names), dtype=np.int64)
    result: dict[bool, Data] = {True: np.zeros_like(number), False: np.zeros_like(number)}
    for position, name in enumerate(names):
        if name == "-":
            continue
        result[name[0] == row] |= ((number >> position) & 1) << int(name[1:])
    rows, columns = (result[is_row].reshape(-1, threads).T for is_row in (True, False))
    return rows, columns


def wmma(op: WmmaOp, operands: Sequence[Array], lanes: int, threads: Sequence[int]) -> Array:
    """The result of a WMMA. `threads` are the lane axes of a workgroup's threads, fastest first."""
    config = op.config
    a, b, acc = (x.materialised() for x in operands)
    if config.threads == 1:
        return Array(multiply_accumulate(a, b, acc, op))
    m, n, k = config.m_n_k
    shape = np.broadcast_shapes(*(x.shape[:lanes] for x in (a, b, acc)))
    count = math.prod(shape[axis] for axis in threads)
    if count == 0 or count % config.threads:
        raise InterpretationError(
            f"a wmma of {config.threads} threads in a workgroup of {count} threads"
        )

    def matrix(x: Data, layout: ArrayAttr[StringAttr], rows: int, columns: int, row: str) -> Data:
        """The fragments of each warp, put together: (..., warps, rows, columns)."""
        warps = _by_warp(np.broadcast_to(x, (*shape, x.shape[-1])), threads, config)
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
    return Array(_by_lane(total[..., i, j], shape, threads))


def _by_warp(x: Data, threads: Sequence[int], config: WmmaAttr) -> Data:
    """(lanes..., elements) to (other lanes..., warps, threads of a warp, elements)."""
    slowest_first = list(reversed(threads))
    last = x.ndim - 1
    moved = np.moveaxis(x, slowest_first, range(last - len(threads), last))
    outer, split = moved.shape[: last - len(threads)], moved.shape[last - len(threads) : last]
    warps = math.prod(split) // config.threads
    return moved.reshape((*outer, warps, config.threads, x.shape[-1]))


def _by_lane(x: Data, shape: Sequence[int], threads: Sequence[int]) -> Data:
    """The inverse of `_by_warp`."""
    slowest_first = list(reversed(threads))
    last = len(shape)
    kept = [size for axis, size in enumerate(shape) if axis not in threads]
    split = x.reshape((*kept, *(shape[axis] for axis in slowest_first), x.shape[-1]))
    return np.moveaxis(split, range(last - len(threads), last), slowest_first)
