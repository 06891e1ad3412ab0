"""The interface to what executes collectives, on the side of one device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.distributed.exchange import Exchange

T = TypeVar("T")


class RankError(RuntimeError):
    """Another device of a program failed, or does something else."""


class Intent(NamedTuple):
    """A call of a program, or another exchange, that all devices are to do together.

    Attributes:
        text: says it after "rank 1": "reads a tensor".
        key: what it is, as a hash.
        numbers: sizes, and which arrays are read.
        groups: the members of the exchanges that come.
    """

    text: Callable[[], str]
    key: bytes
    numbers: tuple[object, ...] = ()
    groups: frozenset[tuple[int, ...]] = frozenset()


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
        lock: held during a call, where threads of a process share the connection.
    """

    takes_device_arrays = False
    """Whether values stay in the memory of the device."""

    lock: AbstractContextManager[object] = nullcontext()

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._sent = 0

    def call(self, intent: Intent, run: Callable[[], T]) -> T:
        """The result of a function that all devices run together. Others get to know its error."""
        with self.lock:
            try:
                self.begin(intent)
                found = run()
                self.end()
            except BaseException as error:
                self.fail(error)
                raise
            return found

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
    def begin(self, intent: Intent) -> None:
        """Begin a call. If devices do not all begin the same one, each raises RankError, here or in
        a `wait` or the `end` of the call."""

    def settle(self) -> None:  # noqa: B027
        """Wait until all devices are known to have begun the same call. Raises RankError if they
        have not."""

    def progress(self) -> None:  # noqa: B027
        """Let collectives that have been started go on."""

    def check(self) -> None:  # noqa: B027
        """Raise RankError if another device has failed."""

    def end(self) -> None:  # noqa: B027
        """End a call. Raises RankError if another device does something else."""

    def refuse(self, error: Exception) -> None:  # noqa: B027
        """Tell the others that this device refuses the arguments of a call. Raises RankError if
        some accept theirs; if none does, nothing has happened."""

    @abstractmethod
    def fail(self, error: BaseException) -> None:
        """Tell the others that this device has failed."""


def check_value(exchange: Exchange, value: Any) -> Array:
    """A value to send, in row-major order."""
    array = np.require(value, requirements="C")
    assert array.shape == exchange.shape
    assert array.dtype == exchange.dtype
    return array
