"""Collectives between processes, by MPI (`pip install 'tgdialect[mpi]'`).

Every call is non-blocking, and completed by polling: between two polls a process looks whether
another one has failed. `mpi_exchange.py` has the messages of each collective, and `agreement.py`
what keeps the processes together.
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
from contextlib import redirect_stderr
from functools import cache, partial
from io import StringIO
from types import TracebackType
from typing import Any

from tgdialect.analysis.communication import Collective
from tgdialect.environment import RANK_KIB, decimal
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.distributed.agreement import Agreement
from tgdialect.runtime.distributed.exchange import (
    Communicator,
    Exchange,
    Finished,
    Intent,
    Pending,
    RankError,
)
from tgdialect.runtime.distributed.mpi_exchange import (
    Group,
    MpiExchange,
    Steps,
    machine,
    shared_segment,
)

_LAUNCHERS = (
    *("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS"),
    *("SLURM_STEP_NUM_TASKS", "WORLD_SIZE"),
)
"""Variables that launchers set to the number of processes."""
_NEEDED = {"WORLD_SIZE": "TORCHELASTIC_RUN_ID"}
"""Of a variable with a common name, another one that its launcher, torchrun, sets as well."""
_SPIN_SECONDS = 0.05
"""The time that a process which waits for others to begin a call polls without a pause, in seconds.
Longer: it keeps its core; shorter: calls begin later. In a call there is no pause: what arrives in
pieces moves by one for each poll."""
_PAUSE_SECONDS = 0.0005
"""The time between two polls after `_SPIN_SECONDS`, in seconds. Larger: calls begin later; smaller:
a process that waits takes more of a core."""
_PATIENCE = 16
"""The polls before the core is offered to other processes. More: others wait longer for the core;
fewer: more system calls. With more ranks than cores all wait for one another: the core is offered
after each poll for values that come at once."""
_TURNS_BETWEEN_CHECKS = 16
"""The offers of the core before a process looks whether another one has failed. More: failures are
seen later; fewer: more looks."""
_MOST_EXCHANGES = 1024
"""The collectives that are remembered: those of dynamic extents have no end. Larger: more memory;
smaller: they are set up again."""


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
        node = hashlib.sha256(machine()).digest()
        self._nodes = nodes = self.agreement.gathered(node)
        self.local_rank = nodes[: self.rank].count(node)
        """The number of this process among those of its machine."""
        self._patience = 1 if nodes.count(node) > (os.cpu_count() or 1) else _PATIENCE
        everyone = tuple(range(self.size))
        self._groups = {everyone: self._new_group(everyone, self.agreement.duplicate(world))}
        self._exchanges: dict[Exchange, MpiExchange] = {}
        self._by_id: dict[int, MpiExchange] = {}
        """By the addresses of their exchanges, which they keep: a hash takes longer."""
        self._unfinished: deque[_Started] = deque()
        self._look_until = partial(self.poll_until, patience=1)
        """Polls by a function that offers the core itself."""
        self._steps: Steps | None = None
        """Of the last `execute`: MPI uses its memory even after a failure."""
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
        known = self._exchanges.get(exchange) or self._new_exchange(exchange)
        self.count(known.bytes_sent)
        started = _Started(self, known.steps(value))
        self._unfinished.append(started)
        self.progress()
        return started

    def execute(self, exchange: Exchange, value: Array | None) -> Array | None:
        known = self._by_id.get(id(exchange)) or self._exchanges.get(exchange)
        if known is None or self._unfinished or self.agreement.is_broken:
            return self.start(exchange, value).wait()
        self._sent += known.bytes_sent
        try:
            if (shared := known.shared) is not None:
                found = shared.execute(value, self._look_until)
            else:
                self._steps = known.steps(value)
                while True:
                    self.poll_until(next(self._steps).Test)
        except StopIteration as end:
            found = end.value
        except self.mpi.Exception as error:
            raise self._apart(error) from None
        if not self.agreement.is_settled():
            self.settle()
        return found

    def _apart(self, error: Exception) -> RankError:
        """The error of messages that do not match: that of the calls, if these differ."""
        self.settle()
        return RankError(f"another rank executes another collective than rank {self.rank}: {error}")

    def _new_exchange(self, exchange: Exchange) -> MpiExchange:
        if len(self._exchanges) >= _MOST_EXCHANGES and not self._unfinished:
            self._exchanges.clear()
            self._by_id.clear()
        found = MpiExchange(exchange, self._group(exchange.members))
        self._exchanges[exchange] = self._by_id[id(exchange)] = found
        return found

    def _group(self, members: tuple[int, ...]) -> Group:
        """The connection of the processes that take part in a collective, which make it at once."""
        if members not in self._groups:
            world = self.mpi.COMM_WORLD
            comm = world.Create_group(world.Get_group().Incl(members))
            self._groups[members] = self._new_group(members, comm)
        return self._groups[members]

    def _new_group(self, members: tuple[int, ...], comm: Any) -> Group:
        gathered = partial(self.agreement.gathered, comm=comm)
        position, n = members.index(self.rank), len(members)
        segment = None
        if len({self._nodes[rank] for rank in members}) == 1 < n:
            segment = shared_segment(gathered, n, position, RANK_KIB.get() << 10, self._patience)
        return Group(self.mpi, members, comm, position, segment)

    def progress(self) -> None:
        if not self.agreement.is_settled():
            return  # Nobody sees a value before.
        try:
            while self._unfinished and self._unfinished[0].advance():
                self._unfinished.popleft()
        except self.mpi.Exception as error:
            raise self._apart(error) from None

    def poll_until(self, is_done: Callable[[], bool], patience: int = _PATIENCE) -> None:
        """Poll until a condition holds, and offer the core to others after so many polls. Raises
        RankError if a process fails."""
        start = turns = 0
        while True:
            for _ in range(patience):
                if is_done():
                    return
            os.sched_yield()  # Another process may need the core for what this one waits for.
            start = start or time.monotonic()
            turns += 1
            if turns % _TURNS_BETWEEN_CHECKS:
                continue
            waited = time.monotonic() - start
            has_begun = self.agreement.is_settled()
            self.agreement.check(waited)
            if not has_begun and waited > _SPIN_SECONDS:
                time.sleep(_PAUSE_SECONDS)

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
        self.poll_until(self.agreement.is_settled, self._patience)

    def end(self) -> None:
        # Others may wait for the part of this process in what it has no use for itself.
        self.poll_until(self._has_ended)
        self.agreement.end()

    def _has_ended(self) -> bool:
        self.progress()
        return not self._unfinished and self.agreement.is_settled()

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
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """End all processes after an error that nothing has caught, and some time in which they can
        say why."""
        with redirect_stderr(StringIO()) as text:
            self._hook(kind, error, trace)
        print(text.getvalue(), end="", file=sys.stderr)  # At once: others may print as well.
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
    """A collective in progress, or one that waits for those before."""

    _request: Any = None
    _is_done = False
    _result: Array | None = None

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
                self._request = next(self._steps)
        except StopIteration as end:
            self._result = end.value
            self._is_done = True
        return self._is_done
