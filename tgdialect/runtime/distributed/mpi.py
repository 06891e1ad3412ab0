"""Collectives between processes, by MPI (`pip install 'tgdialect[mpi]'`).

Every call is non-blocking, and completed by polling: between two polls a process looks whether
another one has failed. There are three communicators. One is for the first part of each collective,
and one for the second part of those in two parts, so that MPI matches the calls of all processes in
the same order. The third is for what keeps the processes together (`agreement.py`).
"""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from types import TracebackType
from typing import Any

import numpy as np

from tgdialect.analysis.communication import Collective
from tgdialect.environment import decimal
from tgdialect.runtime.distributed.agreement import Agreement
from tgdialect.runtime.distributed.communicator import (
    Communicator,
    Finished,
    Intent,
    Pending,
    RankError,
    check_value,
)
from tgdialect.runtime.distributed.exchange import Exchange, combined
from tgdialect.runtime.program import Array

_LAUNCHERS = (
    *("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS"),
    *("SLURM_STEP_NUM_TASKS", "WORLD_SIZE"),
)
"""Variables that launchers set to the number of processes."""
_NEEDED = {"WORLD_SIZE": "TORCHELASTIC_RUN_ID"}
"""What is set as well where a variable of a common name is the launcher's: torchrun's."""
_TWO_PARTS_BYTES = 1 << 18
"""From this size on `all_reduce` is an exchange of parts, an addition and a gathering of sums:
MPICH 5's own Iallreduce of 64 MiB took 1.2 to 1.3 times as long, with 2 and with 4 processes on one
machine. For small values its fewer messages are faster."""
_SPIN_SECONDS = 0.05
"""How long a process polls without a pause: longer waits yield the processor to others."""
_PAUSE_SECONDS = 0.0005
_POLLS_BETWEEN_YIELDS = 128
"""How many polls are made before the core is offered to other processes. More ranks than cores wait
for one another: without yielding, a training step of the GPT with many small collectives took 2.2
times as long on 4 ranks of 2 cores. Each poll moves a piece of a large value: yielding after every
32 polls or fewer, all_reduce of 64 MiB took 2 to 3 times as long, and from 64 on it did not."""


def launched_size() -> int:
    """How many processes have been started together with this one, as `mpiexec` does: MPI's number
    if it has been initialised, else that of the launcher's variables, else 1."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        return mpi.COMM_WORLD.Get_size()
    return _launcher()[1]


def _launcher() -> tuple[str, int]:
    """The variable that says how many processes were started together, and the number; 1 if none
    does."""
    named = [
        (name, decimal(os.environ.get(name, "")) or 1)
        for name in _LAUNCHERS
        if _NEEDED.get(name, name) in os.environ
    ]
    return max(named, key=lambda pair: pair[1], default=("", 1))


@cache
def mpi_communicator() -> MpiCommunicator:
    """This process's connection to the others.

    Raises RankError without mpi4py or MPI, or if MPI does not connect what was started together.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        message = f"pip install 'tgdialect[mpi]' to run programs by MPI ({reason})"
        raise RankError(message) from error
    name, size = _launcher()
    if size > MPI.COMM_WORLD.Get_size() == 1:
        raise RankError(
            f"{name} says that {size} processes were started together, and MPI knows one of them: "
            f"start them by the mpiexec of the MPI that mpi4py uses (or by srun --mpi=pmix)"
        )
    return MpiCommunicator(MPI)


class MpiCommunicator(Communicator):
    """One process's connection to the others."""

    def __init__(self, mpi: Any) -> None:
        world = mpi.COMM_WORLD
        super().__init__(world.Get_rank(), world.Get_size())
        self.mpi = mpi
        self.agreement = Agreement(mpi)
        self.lock = threading.RLock()
        pair = self.agreement.duplicate(world), self.agreement.duplicate(world)
        self._groups: dict[tuple[int, ...], tuple[Any, Any]] = {tuple(range(self.size)): pair}
        self._unfinished: deque[_Started] = deque()
        node = hashlib.sha256(mpi.Get_processor_name().encode()).digest()
        self.local_rank = self.agreement.gathered(node)[: self.rank].count(node)
        """The number of this process among those of its machine."""
        if self.size > 1:
            atexit.register(self._leave)
            self._hook = sys.excepthook
            sys.excepthook = self._uncaught
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self._leave_parent)

    # -- collectives

    def start(self, exchange: Exchange, value: Array | None) -> Pending:
        if len(exchange.members) == 1 and exchange.kind is not Collective.TRANSFER:
            assert value is not None
            return Finished(value)
        first, second = self._group(exchange.members)
        started = _Started(self, exchange, first, second)
        started.begin(None if value is None else check_value(exchange, value))
        self._unfinished.append(started)
        return started

    def _group(self, members: tuple[int, ...]) -> tuple[Any, Any]:
        """Two communicators of the processes that take part in a collective."""
        if members not in self._groups:
            world = self.mpi.COMM_WORLD
            group = world.Get_group().Incl(members)
            first = world.Create_group(group)
            self._groups[members] = first, first.Dup()
        return self._groups[members]

    def progress(self) -> None:
        if not self.agreement.is_settled():
            return  # Nobody sees a value before.
        # In order, since MPI matches the second parts by their order.
        for started in list(self._unfinished):
            if not started.advance():
                break
            self._unfinished.remove(started)

    def poll_until(self, is_done: Callable[[], bool]) -> None:
        """Let collectives go on until a condition holds. Raises RankError if a process fails."""
        begin = time.monotonic()
        polls = 0
        while not is_done():
            self.progress()
            polls += 1
            if polls % 16 == 0 or time.monotonic() - begin > _SPIN_SECONDS:
                self.agreement.check(time.monotonic() - begin)
            if time.monotonic() - begin > _SPIN_SECONDS:
                time.sleep(_PAUSE_SECONDS)
            elif polls % _POLLS_BETWEEN_YIELDS == 0:
                os.sched_yield()  # Another process may need the core for what this one waits for.

    # -- failures

    def begin(self, intent: Intent) -> None:
        if self.size == 1:
            return
        self.agreement.begin(intent)
        for members in sorted(intent.groups - self._groups.keys()):
            if self.rank in members:
                self.settle()  # To make communicators is blocking: all ranks have to be here.
                self._group(members)

    def settle(self) -> None:
        self.poll_until(self.agreement.is_settled)

    def end(self) -> None:
        # Others may wait for the part of this process in what it has no use for itself.
        self.poll_until(lambda: not self._unfinished and self.agreement.is_settled())

    def check(self) -> None:
        self.agreement.is_settled()
        self.agreement.check()

    def refuse(self, error: Exception) -> None:
        if self.size > 1 and not isinstance(error, RankError):
            text = f"refuses arguments: {type(error).__name__}: {error}"
            self.call(Intent(lambda: text, b"refuse"), lambda: None)

    def fail(self, error: BaseException) -> None:
        if self.size > 1:
            self.agreement.fail(error)

    def _uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        """End all processes after an error that nothing has caught, and some time in which they can
        say why."""
        self._hook(kind, error, trace)
        if not self.agreement.is_forked:
            self.fail(error)
            self._abort(is_urgent=True)

    def _leave(self) -> None:
        """At the end of the process: the others may be in a call."""
        if self.agreement.is_forked or self.mpi.Is_finalized():
            return
        if not self.agreement.is_broken:
            try:
                self.call(Intent(lambda: "ends", b"end"), lambda: None)
                return
            except RankError as error:
                print(f"error: {error}", file=sys.stderr)
        self._abort(is_urgent=False)

    def _leave_parent(self) -> None:
        self.lock = threading.RLock()  # A thread that is not in the child may have held it.

    def _abort(self, *, is_urgent: bool) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.agreement.end_together(is_urgent=is_urgent)
        self.mpi.COMM_WORLD.Abort(1)


class _Started(Pending):
    """A collective in one or two parts, each of which is a call of MPI."""

    def __init__(self, here: MpiCommunicator, exchange: Exchange, first: Any, second: Any) -> None:
        self._here, self._exchange = here, exchange
        self._first, self._second = first, second
        self._position = exchange.members.index(here.rank)
        self._request: Any = None
        self._finish: Callable[[], Array | None] = lambda: None
        self._keep: list[object] = []
        """What MPI reads and writes until the request is complete."""
        self._next: Callable[[], None] | None = None
        self._is_done = False
        self._result: Array | None = None

    def wait(self) -> Array | None:
        self._here.poll_until(lambda: self._is_done)
        return self._result

    def advance(self) -> bool:
        """Go on if MPI has; returns whether all is done."""
        while not self._is_done:
            if self._request is not None and not self._request.Test():
                return False
            if self._next is not None:
                begin, self._next = self._next, None
                begin()
                continue
            self._result = self._finish()
            self._is_done = True
            self._keep.clear()
        return True

    def begin(self, value: Array | None) -> None:
        """Start the first part."""
        kind = self._exchange.kind
        getattr(self, f"_{kind.value}")(value)

    def _empty(self, *shape: int) -> Array:
        self._keep.append(found := np.empty(shape, self._exchange.dtype))
        return found

    def _bytes(self, array: Array | None) -> Any:
        """An array as MPI sends it, whatever its dtype."""
        if array is None:
            return None
        self._keep.append(array)
        return [array.reshape(-1).view(np.uint8), self._here.mpi.BYTE]

    # -- kinds

    def _all_gather(self, value: Array) -> None:
        exchange = self._exchange
        n = len(exchange.members)
        found = self._empty(n, *exchange.shape)
        self._request = self._first.Iallgather(self._bytes(value), self._bytes(found))
        self._finish = lambda: _joined(found, exchange.axis)
        self._here.count((n - 1) * value.nbytes)

    def _all_to_all(self, value: Array) -> None:
        exchange = self._exchange
        n = len(exchange.members)
        parts = _parted(value, exchange.axis, n)
        found = self._empty(*parts.shape)
        self._request = self._first.Ialltoall(self._bytes(parts), self._bytes(found))
        self._finish = lambda: _joined(found, exchange.joined)
        self._here.count(value.nbytes - value.nbytes // n)

    def _reduce_scatter(self, value: Array) -> None:
        exchange = self._exchange
        n = len(exchange.members)
        parts = _parted(value, exchange.axis, n)
        self._here.count(value.nbytes - value.nbytes // n)
        if (how := self._native()) is not None and value.nbytes < _TWO_PARTS_BYTES:
            sum_of_mine = self._empty(*exchange.result)
            self._keep.append(parts)
            self._request = self._first.Ireduce_scatter_block(
                [parts, how[0]], [sum_of_mine, how[0]], op=how[1]
            )
            self._finish = lambda: sum_of_mine
            return
        found = self._empty(*parts.shape)
        self._request = self._first.Ialltoall(self._bytes(parts), self._bytes(found))
        self._finish = lambda: combined(list(found), exchange.reduction)

    def _all_reduce(self, value: Array) -> None:
        exchange = self._exchange
        n = len(exchange.members)
        self._here.count(2 * (value.nbytes - value.nbytes // n))
        how = self._native()
        if how is not None and value.nbytes < _TWO_PARTS_BYTES:
            total = self._empty(*exchange.shape)
            self._keep.append(value)
            self._request = self._first.Iallreduce([value, how[0]], [total, how[0]], op=how[1])
            self._finish = lambda: total
            return
        # Exchange parts, and add them.
        size, item = value.size, value.dtype.itemsize
        starts = [size * i // n for i in range(n + 1)]
        counts = [b - a for a, b in pairwise(starts)]
        mine = counts[self._position]
        parts = self._empty(n, mine)
        byte = self._here.mpi.BYTE
        sent = [c * item for c in counts], [s * item for s in starts[:-1]]
        got = [mine * item] * n, [i * mine * item for i in range(n)]
        self._request = self._first.Ialltoallv(
            [self._bytes(value)[0], sent, byte], [self._bytes(parts)[0], got, byte]
        )
        total = self._empty(*exchange.shape)

        def gather() -> None:
            own = total.reshape(-1)[starts[self._position] : starts[self._position + 1]]
            combined(list(parts), exchange.reduction, own)
            flat = total.reshape(-1).view(np.uint8)
            self._request = self._second.Iallgatherv(self._here.mpi.IN_PLACE, [flat, sent, byte])

        self._next = gather
        self._finish = lambda: total

    def _broadcast(self, value: Array | None) -> None:
        exchange = self._exchange
        is_root = self._position == exchange.root
        found = value if is_root and value is not None else self._empty(*exchange.shape)
        self._request = self._first.Ibcast(self._bytes(found), root=exchange.root)
        self._finish = lambda: found
        self._here.count((len(exchange.members) - 1) * found.nbytes if is_root else 0)

    def _scatter(self, value: Array | None) -> None:
        exchange = self._exchange
        n = len(exchange.members)
        is_root = self._position == exchange.root
        parts = _parted(value, exchange.axis, n) if is_root and value is not None else None
        found = self._empty(*exchange.result)
        self._request = self._first.Iscatter(
            self._bytes(parts), self._bytes(found), root=exchange.root
        )
        self._finish = lambda: found
        self._here.count((n - 1) * found.nbytes if is_root else 0)

    def _gather(self, value: Array) -> None:
        axis = self._exchange.axis
        self._collect(value, lambda found: _joined(found, axis))

    def _collect(self, value: Array, finish: Callable[[Array], Array]) -> None:
        """Bring all values to the root, along a leading axis."""
        exchange = self._exchange
        is_root = self._position == exchange.root
        found = self._empty(len(exchange.members), *exchange.shape) if is_root else None
        self._request = self._first.Igather(
            self._bytes(value), self._bytes(found), root=exchange.root
        )
        self._finish = lambda: None if found is None else finish(found)
        self._here.count(0 if is_root else value.nbytes)

    def _reduce(self, value: Array) -> None:
        exchange = self._exchange
        if (how := self._native()) is None:
            self._collect(value, lambda found: combined(list(found), exchange.reduction))
            return
        datatype, operation = how
        is_root = self._position == exchange.root
        total = self._empty(*exchange.shape) if is_root else None
        self._keep.append(value)
        self._request = self._first.Ireduce(
            [value, datatype],
            None if total is None else [total, datatype],
            op=operation,
            root=exchange.root,
        )
        self._finish = lambda: total
        self._here.count(0 if is_root else value.nbytes)

    def _transfer(self, value: Array | None) -> None:
        exchange = self._exchange
        is_source = self._position == exchange.root
        other = 1 - self._position
        if is_source:
            assert value is not None
            self._request = self._first.Isend(self._bytes(value), other)
            self._finish = lambda: value
            self._here.count(value.nbytes)
        else:
            found = self._empty(*exchange.shape)
            self._request = self._first.Irecv(self._bytes(found), other)
            self._finish = lambda: found

    def _native(self) -> tuple[Any, Any] | None:
        """The datatype and the operation of MPI; None where MPI has none with our semantics: it
        has no floats of 16 bits, and does not say what its maximum of NaN is."""
        mpi, exchange = self._here.mpi, self._exchange
        dtype = exchange.dtype
        is_float = dtype.char in "fd"
        if not (is_float or dtype.kind in "iu") or (is_float and exchange.reduction == "max"):
            return None
        operation = {"add": mpi.SUM, "mul": mpi.PROD, "max": mpi.MAX}[exchange.reduction]
        return mpi.Datatype.fromcode(dtype.char), operation


def _parted(value: Array, axis: int, parts: int) -> Array:
    """An array with its parts along a new leading axis, each in row-major order."""
    shape = value.shape
    split = value.reshape(*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :])
    return np.ascontiguousarray(np.moveaxis(split, axis, 0))


def _joined(parts: Array, axis: int) -> Array:
    """An array whose parts are along the leading axis of `parts`."""
    n, *shape = parts.shape
    moved = np.moveaxis(parts, 0, axis)
    return np.ascontiguousarray(moved).reshape(*shape[:axis], n * shape[axis], *shape[axis + 1 :])
