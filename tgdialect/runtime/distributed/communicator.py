"""The interface to what executes collectives, on the side of one device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.program import Array


class RankError(RuntimeError):
    """Another device of a program failed, or runs another program."""


class Pending(ABC):
    """A collective that has been started."""

    @abstractmethod
    def wait(self) -> Array | None:
        """The result of this device; None if it has none.

        Raises RankError if another device has failed.
        """


class Finished(Pending):
    """A collective that needed no exchange."""

    def __init__(self, result: Array | None) -> None:
        self.result = result

    def wait(self) -> Array | None:
        return self.result


class Communicator(ABC):
    """One device's connection to the others.

    Attributes:
        rank: the number of the device.
        size: how many devices there are.
        bytes_sent: how many bytes this device has sent to others so far.
    """

    rank: int
    size: int
    bytes_sent: int

    @abstractmethod
    def start(self, exchange: Exchange, value: Array | None) -> Pending:
        """Start a collective on this device's value, which may not change until it is done.

        All members start the same ones in the same order. `value` is None where a device only gets.
        """

    @abstractmethod
    def begin(self, program: str) -> None:
        """Begin a call of a program. Devices that call another one raise RankError, here or in a
        `wait` of the call."""

    def progress(self) -> None:  # noqa: B027
        """Let collectives that have been started go on."""

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
