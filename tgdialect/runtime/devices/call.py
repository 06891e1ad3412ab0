"""The memory of one call of a program on a device: where each parameter is, and what is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.array import DeviceArray, DeviceLease
from tgdialect.runtime.devices.driver import Driver, Span


class CallMemory:
    """Memory for the parameters of a call, which lives until its commands are submitted.

    A program reads every input as it is before the call. So an input is copied if it shares memory
    with something that the program writes, and a result goes to memory of its own if the memory
    given for it is shared.
    """

    def __init__(self, driver: Driver, frame: list[Any]) -> None:
        """`frame` has the scalars by position; memory is added to it as spans."""
        self.frame = frame
        self._driver = driver
        self._held: list[object] = []
        self._used: list[Span] = []
        self._written: list[Span] = []
        self._written_here: list[Array] = []
        """The arrays of the host among these."""
        self._copies: list[Callable[[], None]] = []
        self._is_copied = False

    def write(self, position: int, array: Array | DeviceArray) -> None:
        """Place an array that the program writes; the host's is copied there and back.

        Raises ValueError for an array of the host that shares memory with another one: on the
        device they would be two.
        """
        if isinstance(array, DeviceArray):
            found = array if self._is_aligned(array) else array.copy()
            if found is not array:
                self._copies.append(lambda: self._driver.copy(found.span, array.span))
        else:
            if any(np.may_share_memory(array, other) for other in self._written_here):
                raise ValueError("two arguments that the program writes share memory")
            self._written_here.append(array)
            found = self._uploaded(array)
            self._copies.append(lambda: self._driver.read(found.span, array))
        self._place(position, found, is_written=True)

    def read(self, position: int, array: Array | DeviceArray) -> DeviceArray:
        """Place an array that the program only reads."""
        if isinstance(array, DeviceArray):
            is_free = self._is_aligned(array) and not _overlaps(array.span, self._written)
            found = array if is_free else array.copy()
            self._is_copied |= not is_free
        else:
            found = self._uploaded(array)
        self._place(position, found)
        return found

    def result(
        self, position: int, shape: tuple[int, ...], dtype: Any, given: Any, is_cleared: bool
    ) -> DeviceArray:
        """Place a result in the memory given for it, an array of the host or of the device, or in
        new memory."""
        is_free = (
            isinstance(given, DeviceArray)
            and self._is_aligned(given)
            and not _overlaps(given.span, self._used)
        )
        found: DeviceArray = given if is_free else DeviceArray.empty(self._driver, shape, dtype)
        if given is not None and not is_free:
            self._copies.append(lambda: _copy(found, given))
        if is_cleared:
            self._driver.clear(found.span)
        self._place(position, found, is_written=True)
        return found

    def scratch(self, position: int, nbytes: int) -> None:
        """Place memory with anything in it, which is free after the call."""
        lease = DeviceLease.of(self._driver.pool, nbytes)
        self._held.append(lease)
        self.frame[position] = Span(lease.block, 0, nbytes)

    @property
    def is_plain(self) -> bool:
        """Whether everything is where the caller has it, or wants it: nothing has been copied."""
        return not self._is_copied and not self._copies

    def finish(self) -> None:
        """Copy results to where the caller wants them, after the program was submitted."""
        for copy in self._copies:
            copy()

    def _is_aligned(self, array: DeviceArray) -> bool:
        """Whether kernels can access an array by vectors; memory of the device always is."""
        alignment, start = self._driver.argument_alignment, array.span.block.handle
        return alignment == 1 or (start + array.span.offset) % alignment == 0

    def _uploaded(self, array: Array) -> DeviceArray:
        self._is_copied = True
        return DeviceArray.of(self._driver, array)

    def _place(self, position: int, array: DeviceArray, *, is_written: bool = False) -> None:
        self._held.append(array)
        self.frame[position] = array.span
        self._used.append(array.span)
        if is_written:
            self._written.append(array.span)


def _copy(source: DeviceArray, target: Any) -> None:
    """Copy a result to memory of the caller, of the host or the device."""
    if isinstance(target, DeviceArray):
        source.driver.copy(source.span, target.span)
    elif target.flags.carray:
        source.driver.read(source.span, target)
    else:
        target[...] = source.numpy()


def _overlaps(span: Span, others: Iterable[Span]) -> bool:
    return any(span.overlaps(other) for other in others)
