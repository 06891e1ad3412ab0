"""Events and streams of a GPU, and copies of the host's arrays."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.cuda_context import CudaContext
from tgdialect.runtime.devices.driver import Span, address_of

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
        start, copy = address_of(target), self._driver.api.cuMemcpyHtoDAsync
        with self._driver.current, self._lock:
            for piece in self._pieces(target.nbytes):
                offset, nbytes, pinned = piece
                ctypes.memmove(pinned, array.ctypes.data + offset, nbytes)
                mark = self._queued(piece, copy, start + offset, pinned)
                self._used.append((pinned, mark))

    def read(self, source: Span, array: Array) -> None:
        """Copy from the device, and wait for that."""
        start, copy = address_of(source), self._driver.api.cuMemcpyDtoHAsync
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
                    mark = self._queued(piece, copy, piece.pinned, start + piece.offset)
                    reads.append((piece, mark))
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
            made = driver.checked(driver.api.cuMemHostAlloc(_PIECE, _PORTABLE))
            self._free.append(int(made))
            self._made += 1
        if not self._free:
            self._used[0][1].wait()
            self._free.append(self._used.popleft()[0])
        return self._free.pop()
