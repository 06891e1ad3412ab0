"""The work items of a warp: neighbours in a workgroup, which exchange values by SHUFFLE and WMMA.

Values have an axis for each loop, and then those of their shape. `threads` are the axes that number
the work items of a workgroup, the fastest first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.values import MaskedArray
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array


def check_warps(op: Operation, size: int, shape: Sequence[int], threads: Sequence[int]) -> None:
    """Refuse an op of warps where a workgroup is not made of whole ones."""
    count = math.prod(shape[axis] for axis in threads)
    if count == 0 or count % size:
        raise InterpretationError(f"{op.name} of {size} threads in a workgroup of {count} threads")


def shuffle(
    op: tg.ShuffleOp, value: MaskedArray, lanes: int, threads: Sequence[int]
) -> MaskedArray:
    """The result of a SHUFFLE, of a value that has all work items of its workgroup."""
    data, size = value.materialised(), op.threads.data
    outer = data.shape[:lanes]
    check_warps(op, size, outer, threads)
    warps = by_warp(data.reshape((*outer, -1)), threads, size)
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
