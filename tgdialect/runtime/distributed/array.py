"""`ShardedArray`: an array whose parts are on several devices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.dlpack import DLPACK_HOST, host_capsule


def own_part(array: Array, axis: int | None, position: int, parts: int) -> Array:
    """Part number `position` of an array along an axis, as a view; None is the whole."""
    if axis is None:
        return array
    size = array.shape[axis] // parts
    window = [slice(None)] * array.ndim
    window[axis] = slice(position * size, (position + 1) * size)
    return array[tuple(window)]


@dataclass(eq=False, repr=False, slots=True, weakref_slot=True)
class ShardedArray:
    """An array in equal parts along an axis, or as a copy on each of its devices.

    In a program of several processes each has the parts of its own devices, so that `numpy` is a
    collective: all processes have to call it.
    """

    shape: tuple[int, ...]
    """The extents of the whole."""
    dtype: np.dtype[Any]
    device: str | tuple[str, ...]
    """The names of the devices; one name for an array of one process among several."""
    axis: int | None
    """The axis that is split; None if each device has the whole."""
    shards: Mapping[str, Any]
    """The parts on the devices of this process, by their names."""
    _gather: Callable[[ShardedArray], Array] | None = None
    """Makes the whole of an array whose parts are in several processes."""
    origin: tuple[int, int] = (0, 0)
    """In a program of several processes, the number of the call of all that has written it last,
    and its number among the results: the same in each process."""

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of the devices."""
        return (self.device,) if isinstance(self.device, str) else self.device

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of the whole in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def numpy(self) -> Array:
        """The whole in the memory of the host."""
        if self._gather is not None:
            return self._gather(self)
        if self.axis is None:
            return np.asarray(next(iter(self.shards.values())))
        parts = [np.asarray(self.shards[device]) for device in self.devices]
        return np.concatenate(parts, self.axis)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return host_capsule(self.numpy(), **kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLPACK_HOST

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype, copy=copy)

    def __repr__(self) -> str:
        layout = "copies on" if self.axis is None else f"split along axis {self.axis} over"
        extents = "x".join(map(str, self.shape))
        return f"<ShardedArray {extents} {self.dtype}, {layout} {', '.join(self.devices)}>"
