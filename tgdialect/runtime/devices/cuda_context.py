"""The context of a GPU: its errors, the threads that it is current in, events and streams, and
copies of the host's arrays."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.driver import (
    Command,
    DeviceError,
    DeviceMemoryError,
    Driver,
    Limits,
    Span,
)
from tgdialect.runtime.devices.program import DeviceKernel

_NAME_BYTES = 256
"""The bytes for the name of a device, which is cut off beyond."""
_CAPABILITY = "COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"
_QUEUED = 32
"""The number of programs, the last ones, whose kernels an error names: with more, memory and the
error grow; with fewer, the one that failed may not be among them."""
_FATAL = frozenset(
    f"CUDA_ERROR_{name}"
    for name in (
        *("ILLEGAL_ADDRESS", "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE", "INVALID_PC"),
        *("ILLEGAL_INSTRUCTION", "HARDWARE_STACK_ERROR", "ASSERT", "TENSOR_MEMORY_LEAK"),
        *("LAUNCH_FAILED", "LAUNCH_TIMEOUT", "CONTAINED", "ECC_UNCORRECTABLE"),
        *("NVLINK_UNCORRECTABLE", "EXTERNAL_DEVICE", "MPS_CLIENT_TERMINATED"),
        "CONTEXT_IS_DESTROYED",
    )
)
"""Errors after which every call of the driver fails in this process."""


def target_for(major: int, minor: int) -> str:
    """The target for a compute capability. Instructions of sm_90a run on 9.0 alone.

    Raises DeviceError for a GPU that is too old.
    """
    if (major, minor) == (9, 0):
        return "nvidia:sm_90a"
    if major >= 8:
        return "nvidia:sm_80" if major == 8 else "nvidia:sm_90"
    raise DeviceError(f"GPUs of compute capability {major}.{minor} are too old: 8.0 is the least")


class CudaContext(Driver):
    """A GPU's primary context, its main stream, and what its errors mean."""

    def __init__(self, name: str, number: int, api: Any) -> None:
        """`api` is the driver API."""
        self.api = api
        self.name = name
        self.success = self.api.CUresult.CUDA_SUCCESS
        self.fatal: str | None = None
        """The error that has ended the use of the device by this process."""
        self.queued: deque[Sequence[str]] = deque(maxlen=_QUEUED)
        """The kernels of each program since the device was last waited for: a failure shows in a
        later command."""
        self.checked(self.api.cuInit(0))
        self._device = self.checked(self.api.cuDeviceGet(number))
        memory = self.checked(self.api.cuDeviceTotalMem(self._device))

        def attribute(name: str) -> int:
            kind = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
            return self.checked(self.api.cuDeviceGetAttribute(kind, self._device))

        def axes(name: str) -> tuple[int, int, int]:
            return attribute(f"{name}_X"), attribute(f"{name}_Y"), attribute(f"{name}_Z")

        self.capability = tuple(map(attribute, _CAPABILITY))
        super().__init__(
            name,
            target_for(*self.capability),
            Limits(
                memory=memory,
                allocation=memory,
                local=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
                workgroup=attribute("MAX_THREADS_PER_BLOCK"),
                workgroup_axes=axes("MAX_BLOCK_DIM"),
                groups=axes("MAX_GRID_DIM"),
                units=attribute("MULTIPROCESSOR_COUNT"),
                alignment=1,
            ),
        )
        self.context = self.checked(self.api.cuDevicePrimaryCtxRetain(self._device))
        self.current = Current(self)
        self.lock = threading.RLock()
        """Held while commands are submitted: one thread at a time records a graph."""
        self.stream = self.new_stream()
        self.recording_stream = self.new_stream()
        """Commands are recorded from it, and never run on it."""
        self.events: list[Any] = []
        """Events that no `Mark` has."""

    def checked(self, result: tuple[Any, ...]) -> Any:
        """The values of a function of the API besides its status. Raises DeviceError for any other
        status than success, and DeviceMemoryError if memory is lacking."""
        error, *values = result
        if error == self.success:
            return values[0] if len(values) == 1 else tuple(values) or None
        if error == self.api.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise DeviceMemoryError(self.explained(error))
        raise self.failed(error)

    def failed(self, error: Any) -> DeviceError:
        """The error for a status, which an earlier command may have caused. After some of them the
        device is unusable."""
        if error.name not in _FATAL:
            return DeviceError(self.explained(error))
        if self.fatal is None:
            self.fatal = f"{self.explained(error)}{self._suspects()}"
        return self.unusable()

    def unusable(self) -> DeviceError:
        """The error for any use after a fatal one."""
        return DeviceError(
            f"{self.fatal}. {self.name} is of no use to this process any more: restart it"
        )

    def _suspects(self) -> str:
        """The kernels of which one may have failed, those of the last program first."""
        if not self.queued:
            return ""
        last, *earlier = (list(dict.fromkeys(names)) for names in reversed(self.queued))
        others = [name for name in dict.fromkeys(chain(*earlier)) if name not in last]
        before = f", or in one queued before them: {_named(others)}" if others else ""
        return f", in a kernel of the last program ({_named(last)}){before}"

    def explained(self, error: Any) -> str:
        """The device, and the driver's words for a status."""
        _, text = self.api.cuGetErrorString(error)
        return f"{self.name}: {text.decode() if isinstance(text, bytes) else str(error)}"

    def refused(self, kernel: DeviceKernel, command: Command, error: Any) -> DeviceError:
        """The error for a launch with a status other than success."""
        if error.name in _FATAL:
            return self.failed(error)
        return self.failure(kernel, command, self.explained(error))

    def new_stream(self) -> Any:
        """A queue of commands that waits for no other one."""
        non_blocking = self.api.CUstream_flags.CU_STREAM_NON_BLOCKING
        with self.current:
            return self.checked(self.api.cuStreamCreate(int(non_blocking)))

    @property
    def identity(self) -> Sequence[str]:
        name = self.checked(self.api.cuDeviceGetName(_NAME_BYTES, self._device))
        text = bytes(name).partition(b"\0")[0].decode(errors="replace")
        return text, str(self.checked(self.api.cuDriverGetVersion()))

    @cached_property
    def uuid(self) -> bytes:
        """The UUID of the GPU, or of a part of one. Names do not tell GPUs apart: each process
        counts those that it sees."""
        return bytes(self.checked(self.api.cuDeviceGetUuid(self._device)).bytes)

    def free_after_commands(
        self, owner: object, free: Callable[..., object], *arguments: object
    ) -> None:
        """Call a function of the driver once `owner` is gone and the commands so far are done."""
        self.deferred.at_end_of(owner, self.deferred.after_commands, free, *arguments)

    def synchronize(self) -> None:
        with self.current:
            count = len(self.queued)
            self.checked(self.api.cuStreamSynchronize(self.stream))
            for _ in range(min(count, len(self.queued))):
                self.queued.popleft()
            self.deferred.run()


def _named(kernels: Sequence[str]) -> str:
    return ", ".join(f"@{name}" for name in kernels)


class Current:
    """`with` it the device's context is that of this thread, and afterwards that of before."""

    def __init__(self, driver: CudaContext) -> None:
        self._driver = driver
        self._push, self._pop = driver.api.cuCtxPushCurrent, driver.api.cuCtxPopCurrent

    def __enter__(self) -> None:
        """Release what is due, too. Raises DeviceError for a device that has failed."""
        driver = self._driver
        if driver.fatal is not None:
            raise driver.unusable()
        (error,) = self._push(driver.context)
        if error != driver.success:
            raise driver.failed(error)
        if driver.deferred:
            try:
                driver.deferred.run()
            except BaseException:
                self._pop()
                raise

    def __exit__(self, *_: object) -> None:
        self._pop()


_PIECE, _PIECES = 4 << 20, 4
"""The bytes of one pinned block, and how many there are: a copy of one overlaps with the host's
copies of others. Transfers of less than a piece leave the rest of its block unused. Not measured:
there was no GPU."""
_PORTABLE = 1
"""`CU_MEMHOSTALLOC_PORTABLE`: memory that is pinned for all contexts."""
_NO_TIMING = 2
"""`CU_EVENT_DISABLE_TIMING`: a quicker event."""


class Mark:
    """A place in a stream: an event."""

    def __init__(self, driver: CudaContext, stream: Any) -> None:
        """After all that `stream` has so far."""
        self._driver, api = driver, driver.api
        with driver.current, driver.lock:
            try:
                self._event = driver.events.pop()
            except IndexError:
                self._event = driver.checked(api.cuEventCreate(_NO_TIMING))
            # Who waits for it does so for this place, also after it was recorded elsewhere.
            weakref.finalize(self, driver.events.append, self._event).atexit = False
            driver.checked(api.cuEventRecord(self._event, stream))

    def precede(self, stream: Any = None) -> None:
        """Let later commands of a stream, by default that of the kernels, wait for this place."""
        driver = self._driver
        with driver.current, driver.lock:
            target = driver.stream if stream is None else stream
            driver.checked(driver.api.cuStreamWaitEvent(target, self._event, 0))

    def is_reached(self) -> bool:
        """Whether the commands before are done. Raises DeviceError if one has failed."""
        driver, api = self._driver, self._driver.api
        with driver.current:
            result = api.cuEventQuery(self._event)
            if result[0] == api.CUresult.CUDA_ERROR_NOT_READY:
                return False
            driver.checked(result)
            return True

    def wait(self) -> None:
        """Wait until it is reached. Raises DeviceError if a command before has failed."""
        with self._driver.current:
            self._driver.checked(self._driver.api.cuEventSynchronize(self._event))


class SideStream:
    """A second queue of commands of a GPU, executed beside its kernels."""

    def __init__(self, driver: CudaContext) -> None:
        self._driver = driver
        self.handle = driver.new_stream()

    def follow(self) -> None:
        """Let later commands wait for those that the kernels' stream has so far."""
        Mark(self._driver, self._driver.stream).precede(self.handle)

    def mark(self) -> Mark:
        """The place after all commands so far."""
        return Mark(self._driver, self.handle)

    def copy_rows(
        self, source: tuple[int, int], target: tuple[int, int], width: int, rows: int
    ) -> None:
        """Copy rows of `width` bytes. Each side is the address of its first row, and the bytes from
        one row to the next."""
        driver, api = self._driver, self._driver.api
        copy = api.CUDA_MEMCPY2D()
        copy.srcMemoryType = copy.dstMemoryType = api.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice, copy.srcPitch = source
        copy.dstDevice, copy.dstPitch = target
        copy.WidthInBytes, copy.Height = width, rows
        with driver.current:
            driver.checked(api.cuMemcpy2DAsync(copy, self.handle))


class _Piece(NamedTuple):
    """A part of a transfer, and the pinned block that it goes through."""

    offset: int
    nbytes: int
    pinned: int


class Staging:
    """Copies between arrays of the host and a device, by a few blocks of pinned memory: the GPU
    reads and writes those at the speed of the bus, while other commands run."""

    def __init__(self, driver: CudaContext) -> None:
        self._driver = driver
        self._free: list[int] = []
        self._used: deque[tuple[int, Mark]] = deque()
        """The blocks that queued copies use."""
        self._made = 0
        self._lock = threading.Lock()

    def write(self, target: Span, array: Array) -> None:
        """Copy to the device. The array may change afterwards; the copy may still be queued."""
        start, copy = target.address, self._driver.api.cuMemcpyHtoDAsync
        with self._driver.current, self._lock:
            for piece in self._pieces(target.nbytes):
                offset, nbytes, pinned = piece
                ctypes.memmove(pinned, array.ctypes.data + offset, nbytes)
                self._used.append((pinned, self._queued(piece, copy, start + offset, pinned)))

    def read(self, source: Span, array: Array) -> None:
        """Copy from the device, and wait for that."""
        start, copy = source.address, self._driver.api.cuMemcpyDtoHAsync
        reads: deque[tuple[_Piece, Mark]] = deque()

        def finish() -> None:
            (offset, nbytes, pinned), mark = reads[0]
            mark.wait()
            ctypes.memmove(array.ctypes.data + offset, pinned, nbytes)
            self._free.append(pinned)
            reads.popleft()

        with self._driver.current, self._lock:
            try:
                for piece in self._pieces(source.nbytes):
                    place = start + piece.offset
                    reads.append((piece, self._queued(piece, copy, piece.pinned, place)))
                    if len(reads) == _PIECES:
                        finish()
                while reads:
                    finish()
            finally:
                self._used.extend((piece.pinned, mark) for piece, mark in reads)

    def _queued(self, piece: _Piece, copy: Any, target: int, source: int) -> Mark:
        """The place after the copy of a piece."""
        driver = self._driver
        try:
            driver.checked(copy(target, source, piece.nbytes, driver.stream))
            return Mark(driver, driver.stream)
        except BaseException:
            self._free.append(piece.pinned)
            raise

    def _pieces(self, nbytes: int) -> Iterator[_Piece]:
        for offset in range(0, nbytes, _PIECE):
            yield _Piece(offset, min(_PIECE, nbytes - offset), self._block())

    def _block(self) -> int:
        """A block that nothing uses. Raises DeviceMemoryError if the host has no more."""
        driver = self._driver
        while self._used and self._used[0][1].is_reached():
            self._free.append(self._used.popleft()[0])
        if not self._free and self._made < _PIECES:
            self._free.append(int(driver.checked(driver.api.cuMemHostAlloc(_PIECE, _PORTABLE))))
            self._made += 1
        if not self._free:
            self._used[0][1].wait()
            self._free.append(self._used.popleft()[0])
        return self._free.pop()
