"""Collectives between processes, by MPI (`pip install 'tgdialect[mpi]'`).

Every call is non-blocking, and completed by polling: between two polls a process looks whether
another one has failed. `mpi_exchange.py` has the messages of each collective. A communicator of its
own is for what keeps the processes together: at each call of a program they compare its hash.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any

import numpy as np

from tgdialect.analysis.communication import Collective
from tgdialect.environment import decimal
from tgdialect.runtime.distributed.communicator import (
    Communicator,
    Finished,
    Pending,
    RankError,
)
from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.distributed.mpi_exchange import (
    DIGEST_BYTES,
    Group,
    MpiExchange,
    Steps,
    digest,
)
from tgdialect.runtime.program import Array

_LAUNCHERS = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS")
"""Variables that launchers of MPI programs set to the number of processes."""
_FAILED = 1
"""The tag of the message of a process that has failed."""
_TEXT_BYTES = 512
"""The length of that message."""
_SPIN_SECONDS = 0.05
"""How long a process that waits for another one to arrive polls without a pause. What arrives in
pieces is never paused for: each poll moves one."""
_PAUSE_SECONDS = 0.0005
_PATIENCE = 16
"""How many polls are made before the core is offered to other processes. With more ranks than cores
all wait for one another: until all have arrived, the core is offered after each poll."""
_TURNS_BETWEEN_CHECKS = 16
"""How often the core is offered before a process looks whether another one has failed."""
_MOST_EXCHANGES = 1024
"""How many collectives are remembered: those of dynamic extents have no end."""
_NOTICE_SECONDS = 3.0
"""How long a process that has failed leaves the others to say so themselves."""
_ENDED = "the end"
"""The program of a process that ends."""


def launched_size() -> int:
    """How many processes `mpiexec` has started together with this one; 1 without it."""
    return max(decimal(os.environ.get(name, "")) or 1 for name in _LAUNCHERS)


@cache
def mpi_communicator() -> MpiCommunicator:
    """This process's connection to the others. Raises RankError without mpi4py or MPI."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        message = f"pip install 'tgdialect[mpi]' to run programs by MPI ({reason})"
        raise RankError(message) from error
    return MpiCommunicator(MPI)


class MpiCommunicator(Communicator):
    """One process's connection to the others."""

    def __init__(self, mpi: Any) -> None:
        world = mpi.COMM_WORLD
        super().__init__(world.Get_rank(), world.Get_size())
        self.mpi = mpi
        node = world.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_rank: int = node.Get_rank()
        """The number of this process among those of its machine."""
        is_crowded = node.Get_size() > (os.cpu_count() or 1)
        self._patience = 1 if is_crowded else _PATIENCE
        self._control = world.Dup()
        self._groups: dict[tuple[int, ...], Group] = {}
        self._exchanges: dict[Exchange, MpiExchange] = {}
        self._program = digest("")
        self._calls = 0
        self._unfinished: deque[_Started] = deque()
        self._steps: Steps | None = None
        """Of the last `execute`: MPI uses its memory even after a failure."""
        self._comparisons: deque[tuple[Any, Array, Array]] = deque()
        self._has_begun = False
        """Whether all processes have begun the first collective that is not done."""
        self._is_failed = False
        self._failure: str | None = None
        self._message = np.zeros(_TEXT_BYTES, np.uint8)
        if self.size > 1:
            everyone = tuple(range(self.size))
            self._groups[everyone] = Group(mpi, everyone)
            atexit.register(self._leave)
            self._hook = sys.excepthook
            sys.excepthook = self._uncaught

    # -- collectives

    def start(self, exchange: Exchange, value: Array | None) -> Pending:
        if len(exchange.members) == 1 and exchange.kind is not Collective.TRANSFER:
            assert value is not None
            return Finished(value)
        known = self._exchanges.get(exchange) or self._new_exchange(exchange)
        self.count(known.bytes_sent)
        started = _Started(self, known.steps(value, self._program, self._calls))
        self._unfinished.append(started)
        self.progress()
        return started

    def execute(self, exchange: Exchange, value: Array | None) -> Array | None:
        known = self._exchanges.get(exchange)
        if known is None or self._unfinished or self._failure is not None:
            return self.start(exchange, value).wait()
        self._sent += known.bytes_sent
        self._has_begun = False
        try:
            if known.is_small:
                self.poll_until(known.send_card(value, self._program, self._calls).Test)
                return known.read_cards(value)
            self._steps = known.steps(value, self._program, self._calls)
            while True:
                self.poll_until(next(self._steps).Test)
                self._has_begun = True
        except StopIteration as end:
            return end.value
        except (RankError, self.mpi.Exception) as error:
            raise self._failed(error) from None

    def _failed(self, error: BaseException) -> RankError:
        """The error of all collectives from now on: those that others have begun do not end."""
        self._failure = str(error)
        if not isinstance(error, RankError):  # It sends what this one does not expect.
            self._failure = f"another rank executes another collective than rank {self.rank}"
        return RankError(self._failure)

    def _new_exchange(self, exchange: Exchange) -> MpiExchange:
        members = exchange.members
        if (group := self._groups.get(members)) is None:
            group = self._groups[members] = Group(self.mpi, members)
        if len(self._exchanges) >= _MOST_EXCHANGES:
            self._exchanges.clear()
        found = self._exchanges[exchange] = MpiExchange(exchange, group)
        return found

    def progress(self) -> None:
        if self._failure is not None:
            raise RankError(self._failure)
        try:
            while self._unfinished:
                self._has_begun = self._unfinished[0].has_begun
                if not self._unfinished[0].advance():
                    break
                self._unfinished.popleft()
        except (RankError, self.mpi.Exception) as error:
            raise self._failed(error) from None

    def poll_until(self, is_done: Callable[[], bool]) -> None:
        """Poll until a condition holds. Raises RankError if a process fails."""
        waits_since = time.monotonic()
        turns = 0
        while True:
            for _ in range(_PATIENCE if self._has_begun else self._patience):
                if is_done():
                    return
            os.sched_yield()  # Another process may need the core for what this one waits for.
            turns += 1
            if turns % _TURNS_BETWEEN_CHECKS:
                continue
            self.check()
            if self._has_begun:
                waits_since = time.monotonic()
            elif time.monotonic() - waits_since > _SPIN_SECONDS:
                time.sleep(_PAUSE_SECONDS)

    # -- failures

    def begin(self, program: str) -> None:
        if self.size == 1:
            return
        self._program = digest(program)
        self._calls += 1
        for group in self._groups.values():
            group.number = 0
        mine = np.frombuffer(self._program, np.uint8)
        all_of_them = np.empty((self.size, DIGEST_BYTES), np.uint8)
        request = self._control.Iallgather(mine, all_of_them)
        self._comparisons.append((request, mine, all_of_them))

    def end(self) -> None:
        # Others may wait for the part of this process in what it has no use for itself.
        self._has_begun = False
        self.poll_until(self._has_ended)
        self._program = digest("")

    def _has_ended(self) -> bool:
        self.progress()
        return not self._unfinished and not self._compared()

    def _compared(self) -> int:
        """Complete comparisons of programs, and return how many are not complete.

        Raises RankError if a process has called another program.
        """
        while self._comparisons:
            request, mine, found = self._comparisons[0]
            if not request.Test():
                break
            self._comparisons.popleft()
            others = [i for i, other in enumerate(found) if (other != mine).any()]
            if others:
                has_ended = bytes(found[others[0]]) == digest(_ENDED)
                what = "has ended before" if has_ended else "runs another program than"
                raise RankError(f"rank {others[0]} {what} rank {self.rank}")
        return len(self._comparisons)

    def check(self) -> None:
        """Raise RankError if another process has failed, or runs another program."""
        self._compared()
        if self._failure is None and self._control.Iprobe(self.mpi.ANY_SOURCE, _FAILED):
            status = self.mpi.Status()
            text = np.zeros(_TEXT_BYTES, np.uint8)
            self._control.Recv(text, self.mpi.ANY_SOURCE, _FAILED, status)
            reason = bytes(text).rstrip(b"\0").decode(errors="replace")
            self._failure = f"rank {status.Get_source()} failed: {reason}"
        if self._failure is not None:
            raise RankError(self._failure)

    def fail(self, error: BaseException) -> None:
        if self._is_failed or self.size == 1:
            return
        self._is_failed = True
        text = f"{type(error).__name__}: {error}".encode()[:_TEXT_BYTES]
        self._message[: len(text)] = np.frombuffer(text, np.uint8)
        for other in range(self.size):
            if other != self.rank:
                self._control.Isend(self._message, other, _FAILED)

    def _uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        """End all processes after an error that nothing has caught."""
        self._hook(kind, error, trace)
        sys.stderr.flush()
        self.abort(error)

    def abort(self, error: BaseException) -> None:
        """End all processes, after some time in which they can say why."""
        self.fail(error)
        end = time.monotonic() + _NOTICE_SECONDS
        while time.monotonic() < end:
            self._control.Iprobe(self.mpi.ANY_SOURCE, _FAILED)  # Lets messages go on.
            time.sleep(_PAUSE_SECONDS)
        self.mpi.COMM_WORLD.Abort(1)

    def _leave(self) -> None:
        """At the end of the process: tell the others, which may be in a call."""
        if self._is_failed or self.mpi.Is_finalized():
            return
        try:
            self.begin(_ENDED)
            self.end()
        except RankError as error:
            print(f"error: {error}", file=sys.stderr, flush=True)
            self.abort(error)


class _Started(Pending):
    """A collective in progress, or one that waits for those before."""

    _request: Any = None
    _is_done = False
    _result: Array | None = None
    has_begun = False
    """Whether all processes have begun it, so that what is missing is on its way."""

    def __init__(self, here: MpiCommunicator, steps: Steps) -> None:
        self._here, self._steps = here, steps

    def wait(self) -> Array | None:
        if not self._is_done:
            self._here.poll_until(self._progress)
        return self._result

    def _progress(self) -> bool:
        self._here.progress()
        return self._is_done

    def advance(self) -> bool:
        """Go on if MPI has; returns whether all is done."""
        try:
            while self._request is None or self._request.Test():
                self.has_begun = self._request is not None
                self._request = next(self._steps)
        except StopIteration as end:
            self._result = end.value
            self._is_done = True
        return self._is_done
