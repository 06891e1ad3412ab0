"""Arrays with cells that may be missing: what the interpreter computes with.

Inside a kernel every array has one leading axis per loop that is run all at once (a *lane* axis, of
extent 1 where the value does not vary along it), then the axes of its shape. Elsewhere it has none.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from tgdialect.ops.numpy_dtypes import Array


@dataclass(frozen=True, slots=True)
class MaskedArray:
    """Data, and which cells are there: `valid` is of the data's shape, None if all are.

    What `data` holds in an invalid cell means nothing.
    """

    data: Array
    valid: Array | None = None

    def materialised(self) -> Array:
        """The data as memory has it: 0 in invalid cells."""
        if self.valid is None:
            return self.data
        return np.where(self.valid, self.data, np.zeros((), self.data.dtype))

    def rearranged(self, function: Callable[[Array], Array]) -> MaskedArray:
        """One rearrangement of both the data and the mask."""
        return MaskedArray(
            function(self.data), None if self.valid is None else function(self.valid)
        )


def aligned(data: Array, lanes: int, rank: int) -> Array:
    """An array of fewer axes than `rank`, its shape right-aligned behind its lane axes."""
    missing = lanes + rank - data.ndim
    if missing <= 0 or lanes == 0:
        return data
    return data.reshape(data.shape[:lanes] + (1,) * missing + data.shape[lanes:])


def all_valid(masks: Sequence[Array | None]) -> Array | None:
    """Where every mask is true; None stands for a mask that is true everywhere."""
    result: Array | None = None
    for mask in masks:
        if mask is not None:
            result = mask if result is None else np.logical_and(result, mask)
    return result


def broadcast(mask: Array | None, shape: Sequence[int]) -> Array | None:
    """A mask of exactly that shape, or None."""
    return None if mask is None else np.broadcast_to(mask, shape)


_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_size(shape: Sequence[int], itemsize: int) -> None:
    """Refuse to make an array that this machine's memory does not hold."""
    if (size := math.prod(shape) * itemsize) > _BYTES:
        text = "x".join(str(d) for d in shape)
        raise InterpretationError(f"an array of {text} takes {size} bytes; there are {_BYTES}")


def broadcast_shape(arrays: Sequence[Array]) -> tuple[int, ...]:
    """The shape that arrays broadcast to; an error where they do not or it is too great."""
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError as e:
        shapes = " and ".join("x".join(str(d) for d in a.shape) or "()" for a in arrays)
        raise InterpretationError(f"shapes {shapes} do not broadcast") from e
    check_size(shape, max(a.dtype.itemsize for a in arrays))
    return shape


def lifted(array: MaskedArray, lanes: int) -> MaskedArray:
    """An array without lane axes as one with `lanes` of them, along which it does not vary."""
    return array.rearranged(lambda x: x.reshape((1,) * lanes + x.shape))
