"""A collective as messages of MPI.

The values of all members come with one call if they are small, and each process computes its result
from them; large ones take the calls that move the fewest bytes.

Every call is non-blocking. A process has one collective after the other, in the order of the
program, so that a communicator for each set of processes is enough. Whether all want the same is
found beside (`agreement.py`): until it is known, nothing may use a result.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tgdialect.analysis.communication import Collective
from tgdialect.runtime.distributed.communicator import check_value
from tgdialect.runtime.distributed.exchange import TO_ROOT, Exchange, completion, reducer
from tgdialect.runtime.memory import POOL
from tgdialect.runtime.program import Array

_SMALL_BYTES = 1 << 14
"""The greatest value of a member, in bytes, that all members get. It trades bytes for a quicker
call, an allgather by a persistent request. docs/notes/distributed.md has the times on both sides of
the limit."""
_MOST_SMALL_BYTES = 80 << 10
"""Of the values of all members together: up to there MPICH gathers them by one algorithm of few
messages."""
_TWO_PARTS_BYTES = 1 << 19
"""From this size on `all_reduce` is an exchange of parts, an addition and a gathering of sums:
MPICH 5's own Iallreduce of 64 MiB took 1.2 to 1.3 times as long, with 2 and with 4 processes on
the machine of docs/notes/distributed.md. For smaller values its fewer messages are faster."""
_OF_ROOT = frozenset({Collective.BROADCAST, Collective.TRANSFER})
"""Kinds that give all the value of the root."""

Steps = Generator[Any, None, Array | None]
"""Yields each request of MPI that has to be complete before it goes on, and returns the result."""


class Group(NamedTuple):
    """The processes that take part in a collective.

    Attributes:
        members: their ranks.
        comm: a communicator of them alone.
        position: of this process among them.
    """

    mpi: Any
    members: tuple[int, ...]
    comm: Any
    position: int


class MpiExchange:
    """An exchange as a process takes part in it, any number of times."""

    def __init__(self, exchange: Exchange, group: Group) -> None:
        self.exchange, self.group = exchange, group
        self.bytes_sent = exchange.sent_by(group.position)
        self._n = len(exchange.members)
        self._is_root = group.position == exchange.root
        self._is_known = self._is_root and exchange.kind in _OF_ROOT
        """Whether the own value is the result."""
        self._gets_result = self._is_root or exchange.kind not in TO_ROOT
        self._comm, self._mpi = group.comm, group.mpi
        nbytes = exchange.operand_bytes
        self.is_small = nbytes <= _SMALL_BYTES and nbytes * self._n <= _MOST_SMALL_BYTES
        self._persistent: Any = None
        if self.is_small:
            self._own = np.empty(exchange.shape, exchange.dtype)
            everyone = np.empty((self._n, *exchange.shape), exchange.dtype)
            values = [everyone[i, ...] for i in range(self._n)]
            self._complete = completion(exchange, group.position, values)
            buffers = self._bytes(self._own), self._bytes(everyone)
            try:  # MPI has these since version 4.
                self._persistent = self._comm.Allgather_init(*buffers)
                self._begin = self._begin_persistent
            except NotImplementedError:
                self._begin = partial(self._comm.Iallgather, *buffers)
        self._native = self._find_native()
        self._reduced = reducer(exchange.dtype, exchange.reduction)

    def steps(self, value: Array | None) -> Steps:
        """The messages, and the result of this process, given its value."""
        if self.is_small:
            yield self.send(value)
            return self.result(value)
        given = None if value is None else check_value(self.exchange, value)
        large: Steps = getattr(self, f"_{self.exchange.kind.value}")(given)
        return (yield from large)

    def send(self, value: Array | None) -> Any:
        """Send a small value to all; returns the request."""
        if value is not None:
            assert value.shape == self.exchange.shape
            self._own[...] = value
        return self._begin()

    def result(self, value: Array | None) -> Array | None:
        """The result, when small values are there."""
        if self._is_known:
            return value
        return self._complete() if self._gets_result else None

    def free(self) -> None:
        """Give back what MPI keeps for this exchange, which is not in progress."""
        if self._persistent is not None:
            self._persistent.Free()

    def _begin_persistent(self) -> Any:
        self._persistent.Start()
        return self._persistent

    def _empty(self, *shape: int) -> Array:
        return POOL.empty(shape, self.exchange.dtype)

    def _bytes(self, array: Array | None) -> Any:
        """An array as MPI sends it, whatever its dtype."""
        return None if array is None else [array.reshape(-1).view(np.uint8), self._mpi.BYTE]

    def _find_native(self) -> tuple[Any, Any] | None:
        """The datatype and the operation of MPI; None where MPI has none with our semantics: it
        has no floats of 16 bits, and does not say what its maximum of NaN is."""
        mpi, exchange = self._mpi, self.exchange
        dtype = exchange.dtype
        is_float = dtype.char in "fd"
        if not (is_float or dtype.kind in "iu") or (is_float and exchange.reduction == "max"):
            return None
        operation = {"add": mpi.SUM, "mul": mpi.PROD, "max": mpi.MAX}[exchange.reduction]
        return mpi.Datatype.fromcode(dtype.char), operation

    # -- kinds

    def _all_gather(self, value: Array) -> Steps:
        found = self._empty(self._n, *self.exchange.shape)
        yield self._comm.Iallgather(self._bytes(value), self._bytes(found))
        return _joined(found, self.exchange.axis)

    def _all_to_all(self, value: Array) -> Steps:
        parts = _parted(value, self.exchange.axis, self._n)
        found = self._empty(*parts.shape)
        yield self._comm.Ialltoall(self._bytes(parts), self._bytes(found))
        return _joined(found, self.exchange.joined)

    def _reduce_scatter(self, value: Array) -> Steps:
        exchange = self.exchange
        parts = _parted(value, exchange.axis, self._n)
        if self._native is not None and value.nbytes < _TWO_PARTS_BYTES:
            datatype, operation = self._native
            total = self._empty(*exchange.result)
            yield self._comm.Ireduce_scatter_block(
                [parts, datatype], [total, datatype], op=operation
            )
            return total
        found = self._empty(*parts.shape)
        yield self._comm.Ialltoall(self._bytes(parts), self._bytes(found))
        return self._reduced(list(found), self._empty(*exchange.result))

    def _all_reduce(self, value: Array) -> Steps:
        exchange, n = self.exchange, self._n
        total = self._empty(*exchange.shape)
        if self._native is not None and value.nbytes < _TWO_PARTS_BYTES:
            datatype, operation = self._native
            yield self._comm.Iallreduce([value, datatype], [total, datatype], op=operation)
            return total
        # Exchange parts, add them, and gather the sums.
        size, item = value.size, value.dtype.itemsize
        starts = [size * i // n for i in range(n + 1)]
        counts = [b - a for a, b in pairwise(starts)]
        first, mine = starts[self.group.position], counts[self.group.position]
        parts = self._empty(n, mine)
        byte = self._mpi.BYTE
        sent = [c * item for c in counts], [s * item for s in starts[:-1]]
        got = [mine * item] * n, [i * mine * item for i in range(n)]
        yield self._comm.Ialltoallv(
            [self._bytes(value)[0], sent, byte], [self._bytes(parts)[0], got, byte]
        )
        self._reduced(list(parts), total.reshape(-1)[first : first + mine])
        flat = self._bytes(total)[0]
        yield self._comm.Iallgatherv(self._mpi.IN_PLACE, [flat, sent, byte])
        return total

    def _broadcast(self, value: Array | None) -> Steps:
        found = self._empty(*self.exchange.shape) if value is None else value
        yield self._comm.Ibcast(self._bytes(found), root=self.exchange.root)
        return found

    def _scatter(self, value: Array | None) -> Steps:
        exchange = self.exchange
        parts = None if value is None else _parted(value, exchange.axis, self._n)
        found = self._empty(*exchange.result)
        yield self._comm.Iscatter(self._bytes(parts), self._bytes(found), root=exchange.root)
        return found

    def _gather(self, value: Array) -> Steps:
        found = yield from self._collected(value)
        return None if found is None else _joined(found, self.exchange.axis)

    def _collected(self, value: Array) -> Steps:
        """All values along a leading axis, at the root."""
        exchange = self.exchange
        found = self._empty(self._n, *exchange.shape) if self._is_root else None
        yield self._comm.Igather(self._bytes(value), self._bytes(found), root=exchange.root)
        return found

    def _reduce(self, value: Array) -> Steps:
        exchange = self.exchange
        if self._native is None:
            found = yield from self._collected(value)
            return None if found is None else self._reduced(list(found))
        datatype, operation = self._native
        total = self._empty(*exchange.shape) if self._is_root else None
        yield self._comm.Ireduce(
            [value, datatype],
            None if total is None else [total, datatype],
            op=operation,
            root=exchange.root,
        )
        return total

    def _transfer(self, value: Array | None) -> Steps:
        other = 1 - self.group.position
        if value is not None:
            yield self._comm.Isend(self._bytes(value), other)
            return value
        found = self._empty(*self.exchange.shape)
        yield self._comm.Irecv(self._bytes(found), other)
        return found


def _parted(value: Array, axis: int, parts: int) -> Array:
    """An array with its parts along a new leading axis, each in row-major order."""
    before, (size, *after) = value.shape[:axis], value.shape[axis:]
    split = value.reshape(math.prod(before), parts, size // parts * math.prod(after))
    shape = parts, *before, size // parts, *after
    return np.ascontiguousarray(split.swapaxes(0, 1)).reshape(shape)


def _joined(parts: Array, axis: int) -> Array:
    """An array whose parts are along the leading axis of `parts`."""
    n, before, (size, *after) = parts.shape[0], parts.shape[1 : axis + 1], parts.shape[axis + 1 :]
    split = parts.reshape(n, math.prod(before), size * math.prod(after))
    return np.ascontiguousarray(split.swapaxes(0, 1)).reshape(*before, n * size, *after)
