"""Collectives as data, what they compute on arrays of NumPy, and the interface to what executes
them, on the side of one device."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tgdialect.analysis.communication import Collective, bytes_sent
from tgdialect.ops.arrays import narrowed
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.distributed.array import own_part

FROM_ROOT = frozenset({Collective.BROADCAST, Collective.SCATTER, Collective.TRANSFER})
"""Kinds whose root alone has something to send."""
TO_ROOT = frozenset({Collective.GATHER, Collective.REDUCE})
"""Kinds whose root alone gets a result."""
OF_ROOT = frozenset({Collective.BROADCAST, Collective.TRANSFER})
"""Kinds that give the value of the root."""
SPLITS = frozenset({Collective.ALL_TO_ALL, Collective.REDUCE_SCATTER, Collective.SCATTER})
"""Kinds that give a device its part of each value."""
JOINS = frozenset({Collective.ALL_GATHER, Collective.ALL_TO_ALL, Collective.GATHER})
"""Kinds whose result has a part of each device."""
REDUCTIONS = frozenset({Collective.ALL_REDUCE, Collective.REDUCE, Collective.REDUCE_SCATTER})


class Exchange(NamedTuple):
    """A collective of a program.

    Attributes:
        kind: what it does.
        members: the numbers of the devices that take part, in the order of the parts.
        shape, dtype: of the value of one device.
        result: the shape of the result of one device.
        axis: the axis that is split, joined or scattered; for `all_to_all` the one that is split.
        joined: the axis that `all_to_all` joins.
        reduction: "add", "mul" or "max".
        root: for rooted kinds, the root's position in `members`; for a transfer, the source's. The
            destination of a transfer is the other one of two members.
    """

    kind: Collective
    members: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    result: tuple[int, ...]
    axis: int = 0
    joined: int = 0
    reduction: str = "add"
    root: int = 0

    @property
    def operand_bytes(self) -> int:
        """The size of the value of one device, with 1 for extents that are not known."""
        return math.prod(d for d in self.shape if d >= 0) * self.dtype.itemsize

    @property
    def bytes_sent(self) -> int:
        """The bytes that all members together send to others, by the textbook algorithm."""
        return bytes_sent(self.kind, self.operand_bytes, len(self.members))

    def sent_by(self, position: int) -> int:
        """The share of one member in `bytes_sent`."""
        is_root, others = position == self.root, len(self.members) - 1
        if self.kind in FROM_ROOT:
            return self.bytes_sent if is_root else 0
        if self.kind in TO_ROOT:
            return 0 if is_root else self.bytes_sent // others
        return self.bytes_sent // len(self.members)


Reducer = Callable[..., Array]
"""Takes arrays of one shape and dtype, and an array for the result or None, which is a new one."""


def reducer(dtype: np.dtype[Any], reduction: str) -> Reducer:
    """The reduction of arrays in their order. On bools add is or, and mul is and.

    Floats of 16 bits and fewer are added in f32, and rounded once.
    """
    function: Any = {"add": np.add, "mul": np.multiply, "max": np.maximum}[reduction]
    if dtype.kind == "b":
        function = np.logical_and if reduction == "mul" else np.logical_or

    def reduced(arrays: Sequence[Array], out: Array | None = None) -> Array:
        total = np.empty_like(arrays[0]) if out is None else out
        if len(arrays) == 1:
            total[...] = arrays[0]
            return total
        function(arrays[0], arrays[1], out=total)
        for array in arrays[2:]:
            function(total, array, out=total)
        return total

    def rounded(arrays: Sequence[Array], out: Array | None = None) -> Array:
        total = narrowed(reduced([array.astype(np.float32) for array in arrays]), dtype)
        if out is None:
            return total
        out[...] = total
        return out

    is_narrow = dtype.kind not in "biu" and dtype.itemsize <= 2
    return rounded if is_narrow and reduction != "max" else reduced


def completion(exchange: Exchange, position: int, values: Sequence[Any]) -> Callable[[], Array]:
    """Computes the result of the member at a position from the values of all, whenever it is
    called: these may have other contents then.

    The result has memory of its own. Of rooted kinds the root alone has a value, or gets a result.
    """
    n, axis, root = len(exchange.members), exchange.axis, exchange.root
    reduced = reducer(exchange.dtype, exchange.reduction)
    match exchange.kind:
        case Collective.ALL_REDUCE | Collective.REDUCE:
            return partial(reduced, values)
        case Collective.REDUCE_SCATTER:
            return partial(reduced, [own_part(v, axis, position, n) for v in values])
        case Collective.ALL_GATHER | Collective.GATHER:
            return partial(np.concatenate, values, axis)
        case Collective.ALL_TO_ALL:
            parts = [own_part(v, axis, position, n) for v in values]
            return partial(np.concatenate, parts, exchange.joined)
        case Collective.SCATTER:
            return own_part(values[root], axis, position, n).copy
        case _:
            return values[root].copy


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
