"""The interface to what executes collectives, on the side of one device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.program import Array


class RankError(RuntimeError):
    """Another device of a program failed, or runs another program."""


class Pending:
    """A collective that has been started. (An abstract class would make `isinstance` slow.)"""

    def wait(self) -> Any:
        """The result of this device, in its memory if the communicator takes arrays there; None if
        it has none.

        Raises RankError if another device has failed.
        """
        raise NotImplementedError


class Finished(Pending):
    """A collective that needed no exchange."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def wait(self) -> Any:
        return self.result


class Communicator(ABC):
    """One device's connection to the others.

    Attributes:
        rank: the number of the device.
        size: how many devices there are.
    """

    takes_device_arrays = False
    """Whether values stay in the memory of the device."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._sent = 0

    @property
    def bytes_sent(self) -> int:
        """How many bytes this device has sent to others so far."""
        return self._sent

    def count(self, nbytes: int) -> None:
        """Note that bytes go to other devices."""
        self._sent += nbytes

    @abstractmethod
    def start(self, exchange: Exchange, value: Any) -> Pending:
        """Start a collective on this device's value, which may not change until it is done.

        All members start the same ones in the same order. `value` is None where a device only gets.
        """

    def execute(self, exchange: Exchange, value: Any) -> Any:
        """As `start`, and at once `wait`."""
        return self.start(exchange, value).wait()

    @abstractmethod
    def begin(self, program: str) -> None:
        """Begin a call of a program. Devices that call another one raise RankError, here or in a
        `wait` of the call."""

    def progress(self) -> None:  # noqa: B027
        """Let collectives that have been started go on."""

    def check(self) -> None:  # noqa: B027
        """Raise RankError if another device has failed."""

    def end(self) -> None:  # noqa: B027
        """End a call. Raises RankError if another device has called another program."""

    @abstractmethod
    def fail(self, error: BaseException) -> None:
        """Tell the others that this device has failed."""


def check_value(exchange: Exchange, value: Any) -> Array:
    """A value to send, in row-major order."""
    array = np.ascontiguousarray(value)
    assert array.shape == exchange.shape
    assert array.dtype == exchange.dtype
    return array
