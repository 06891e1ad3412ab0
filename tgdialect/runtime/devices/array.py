"""`DeviceArray`: an array in the memory of a device."""

from __future__ import annotations

import math
from typing import Any
from weakref import getweakrefcount

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.driver import DeviceBlock, Driver, Span
from tgdialect.runtime.dlpack import DLPACK_HOST, SharedArray, capsule_of, consumed, host_capsule
from tgdialect.runtime.memory import Pool

_LEASED: set[DeviceBlock] = set()
"""The blocks of all leases, which keeps them reachable. The collector calls the weak reference by
which a block frees its memory before the `__del__` of what is in the same cycle of garbage: a lease
would give memory back to the pool that is freed already."""


class DeviceLease:
    """A block of a pool, which goes back when nothing refers to this object any more."""

    __slots__ = ("_pool", "block")

    def __init__(self, pool: Pool[DeviceBlock], block: DeviceBlock) -> None:
        self._pool = pool
        self.block = block
        _LEASED.add(block)

    @classmethod
    def of(cls, pool: Pool[DeviceBlock], nbytes: int) -> DeviceLease:
        """Raises MemoryError if the device has no so many bytes left."""
        return cls(pool, pool.take(nbytes))

    @property
    def span(self) -> Span:
        """The whole block."""
        return Span(self.block, 0, self.block.nbytes)

    def __del__(self) -> None:
        _LEASED.discard(self.block)
        self._pool.give(self.block)


class DeviceArray:
    """An array in the memory of a device, in row-major order.

    `numpy()` copies it to the host; `__dlpack__` shares it with other libraries. Programs read and
    write it without a copy.
    """

    __slots__ = ("__weakref__", "_owner", "driver", "dtype", "key", "shape", "span")

    def __init__(
        self,
        driver: Driver,
        span: Span,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        owner: object,
    ) -> None:
        """`owner` keeps the memory alive."""
        self.driver = driver
        self.span = span
        self.shape = shape
        self.dtype = dtype
        self._owner = owner
        self.key = span.block.handle, span.offset, shape, dtype, driver
        """All that a program with this argument depends on, besides the elements."""

    @classmethod
    def empty(cls, driver: Driver, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        """An array with anything in it. Raises MemoryError if the device has too little memory."""
        lease = DeviceLease.of(driver.pool, math.prod(shape) * dtype.itemsize)
        return cls(driver, lease.span, shape, dtype, lease)

    @classmethod
    def of(cls, driver: Driver, array: Array) -> DeviceArray:
        """A copy of an array of the host, in the byte order of the machine. Raises TypeError for
        an array of anything but numbers."""
        if array.dtype.hasobject or array.dtype.names or array.dtype.kind not in "biufcV":
            raise TypeError(f"a device has no arrays of {array.dtype}")
        array = np.require(array, array.dtype.newbyteorder("="), requirements=("C",))
        found = cls.empty(driver, array.shape, array.dtype)
        driver.write(found.span, array)
        return found

    @classmethod
    def from_dlpack(cls, driver: Driver, value: Any) -> DeviceArray:
        """An array of another library in the memory of this device, without a copy.

        Raises ValueError for an array of another device, or one that is not contiguous.
        """
        shared, owner = consumed(value.__dlpack__(**driver.dlpack_request))
        nbytes = math.prod(shared.shape) * shared.dtype.itemsize
        span = driver.adopt(shared.pointer, shared.offset, nbytes)
        found = cls(driver, span, shared.shape, shared.dtype, None)
        driver.deferred.at_end_of(found, driver.return_after_commands, owner.release)
        return found

    @property
    def device(self) -> str:
        """The name of the device, as "CL:0"."""
        return self.driver.name

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.span.nbytes

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def address(self) -> int:
        """Where it begins, on a device whose memory is known by addresses."""
        return self.span.address

    @property
    def owns_memory(self) -> bool:
        """Whether its memory was allocated for it. Other arrays on this memory refer to it."""
        return isinstance(self._owner, DeviceLease) and not getweakrefcount(self)

    def reshaped(self, shape: tuple[int, ...]) -> DeviceArray:
        """The same memory with other extents."""
        return DeviceArray(self.driver, self.span, shape, self.dtype, self)

    def numpy(self) -> Array:
        """A copy in the memory of the host. Waits for the commands before."""
        found = np.empty(self.shape, self.dtype)
        self.driver.read(self.span, found)
        return found

    def assign(self, value: Any) -> None:
        """Copy an array of this shape and dtype into this one. Raises ValueError for others."""
        array = np.asarray(value)
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(
                f"this array is {self.shape} of {self.dtype}, not {array.shape} of {array.dtype}"
            )
        self.driver.write(self.span, np.require(array, requirements=("C",)))

    def to(self, driver: Driver) -> DeviceArray:
        """A copy on another device; the array itself on its own. The copy goes by the host."""
        return self if driver is self.driver else DeviceArray.of(driver, self.numpy())

    def copy(self) -> DeviceArray:
        """A copy on the same device."""
        found = DeviceArray.empty(self.driver, self.shape, self.dtype)
        self.driver.copy(self.span, found.span)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError(f"an array on {self.device} is copied to become one of NumPy")
        return np.asarray(self.numpy(), dtype)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: object = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule that shares the memory. `stream` is the consumer's, which waits for ours, and
        which ours waits for once the consumer has let go of the array.

        `dl_device` may be the host, which gets a copy, and `copy` asks for one on this device.
        Raises BufferError for other devices, for the host if `copy` is False, and on an OpenCL
        device for consumers that do not name it.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            if tuple(dl_device) != DLPACK_HOST or copy is False:
                raise BufferError(f"the array is on {self.device}, and is shared only there")
            return host_capsule(self.numpy())
        if dl_device is None and not self.driver.is_shared_unasked:
            raise BufferError(
                f"the array is on {self.device}, whose memory PyTorch, NumPy and most libraries "
                "cannot use: pass them its numpy(), a copy; a library that can has to ask for "
                f"dl_device={self.__dlpack_device__()}"
            )
        if copy:
            return self.copy().__dlpack__(stream=stream, dl_device=dl_device)
        where = self.driver.dlpack_pointer(self.span, stream)
        owner = self.driver.lent(self, stream)
        return capsule_of(SharedArray(*where, self.shape, self.dtype), owner)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.driver.dlpack_device

    def __repr__(self) -> str:
        extents = "x".join(map(str, self.shape))
        return f"<DeviceArray {extents + ' ' if extents else ''}{self.dtype} on {self.device}>"
