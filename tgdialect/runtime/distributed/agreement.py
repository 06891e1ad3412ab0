"""How the processes of MPI make sure that all of them do the same.

Before each call of a program, each read of a split array, and at their end, all ranks compare a
digest of what they are about to do, by one small non-blocking allgather that runs beside the
exchange of the values; no value is used before it is complete. From the first difference, failure
or time limit on nothing is exchanged any more: each rank sends the others a notice in words, and
raises an error that has all of them.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tgdialect.environment import RANK_SECONDS
from tgdialect.runtime.distributed.exchange import Intent, RankError

_NOTICE, _ENDED = 1, 2
"""The tags of the messages of a rank that has come apart from others, and of its end after that."""
_TEXT_BYTES = 1024
"""The length of a notice."""
_MOST_CHARACTERS = 200
"""The most of what a rank wanted, or of its error, that a notice has."""
_DIGEST_BYTES = 16
"""The length of the hash by which ranks compare their calls. Longer: more bytes for each call; 128
bits make an equal hash of different calls improbable."""
_NOTICE_SECONDS = 3.0
"""The time that a rank waits for the notices of others, in seconds. Longer: errors come later;
shorter: they name fewer of the ranks that have come apart."""
_LAST_SECONDS = 5.0
"""The time that a rank whose error nothing has caught leaves the others to say so themselves, in
seconds, before it ends all: longer than they wait for notices."""
_PAUSE_SECONDS = 0.0005
"""The time between two looks at messages, in seconds. Larger: calls begin later; smaller: a rank
that waits takes more of a core."""
_MOST_LINES = 8
"""The most ranks, or groups of ranks with one notice, that an error tells apart."""
_PACKAGE = str(Path(__file__).parents[2]) + os.sep


class Agreement:
    """A process's part in the comparisons of what all do, and its knowledge of the others.

    Attributes:
        number: how many calls, reads and ends have been begun.
        is_broken: whether the ranks have come apart, so that nothing is exchanged any more.
    """

    def __init__(self, mpi: Any) -> None:
        """All processes come here at once."""
        self.mpi = mpi
        self.limit = RANK_SECONDS.get()
        world = mpi.COMM_WORLD
        self.rank, self.size = world.Get_rank(), world.Get_size()
        self.number = 0
        self._process = os.getpid()
        self._intent: Intent | None = None
        self._request: Any = None
        self._found = np.empty((self.size, _DIGEST_BYTES), np.uint8)
        self._mine = np.empty(_DIGEST_BYTES, np.uint8)
        self.is_broken = False
        self._failure: str | None = None
        self._notices: dict[int, str] = {}
        self._is_in_call = False
        self._last = math.inf
        """The number of the call that the first rank that came apart was in. All ranks have what
        they need to complete the calls before."""
        self._sent: list[object] = []
        """The requests and messages of notices, which MPI may still send."""
        self._control = self.duplicate(world)

    @property
    def is_forked(self) -> bool:
        """Whether this process is a child of `fork`, which MPI does not know."""
        return os.getpid() != self._process

    def duplicate(self, communicator: Any) -> Any:
        """A copy of a communicator of all processes, which make it at once. Raises RankError if
        some do not come."""
        copy, request = communicator.Idup()
        self._await(request)
        return copy

    def gathered(self, mine: bytes, comm: Any = None) -> Sequence[bytes]:
        """The bytes of all processes, or those of a communicator, which call this at once with as
        many."""
        comm = comm or self._control
        found = np.empty((comm.Get_size(), len(mine)), np.uint8)
        sent = np.frombuffer(mine, np.uint8)  # MPI reads it until all is done.
        self._await(comm.Iallgather(sent, found))
        return [bytes(row) for row in found]

    def _await(self, request: Any) -> None:
        start = time.monotonic()
        while not request.Test():
            if time.monotonic() - start > self.limit:
                message = f"not all {self.size} ranks have begun to use MPI within {self.limit:g} s"
                raise RankError(f"{message} ({RANK_SECONDS.name})")
            time.sleep(_PAUSE_SECONDS)

    # -- comparisons

    def begin(self, intent: Intent) -> None:
        """Tell the others what this rank does next. Raises RankError if they have come apart."""
        if self.is_forked:
            raise RankError(
                f"this process is a child of `fork` of rank {self.rank}: only the rank itself "
                "exchanges values with others"
            )
        self.number += 1
        self._intent = intent
        self._is_in_call = True
        if self.is_broken or self.number > self._last:
            raise self._apart()
        stated = hashlib.blake2b(intent.key, digest_size=_DIGEST_BYTES)
        stated.update(repr((self.number, intent.numbers)).encode())
        self._mine[:] = np.frombuffer(stated.digest(), np.uint8)
        self._request = self._control.Iallgather(self._mine, self._found)

    def is_settled(self) -> bool:
        """Whether all ranks are known to do the same. Raises RankError if they do not."""
        if self._request is None:
            return True
        if not self._request.Test():
            return False
        self._request = None
        if (self._found != self._mine).any():
            raise self._apart()
        return True

    def end(self) -> None:
        """Note that the call is complete."""
        self._is_in_call = False

    def check(self, waited: float = 0.0) -> None:
        """Raise RankError if another rank has failed, or this one has waited too long."""
        self._receive()
        if self.is_broken or self.number >= self._last:
            raise self._apart()
        if waited > self.limit:
            raise self._apart(f": rank {self.rank} has waited {waited:.0f} s ({RANK_SECONDS.name})")

    # -- coming apart

    def fail(self, error: BaseException) -> None:
        """Tell the others that this rank has failed, unless it has told them what is wrong."""
        self._tell(f"{type(error).__name__}: {error}")

    def end_together(self, *, is_urgent: bool) -> None:
        """Wait, after the ranks have come apart, until all end; if it is urgent, not for long."""
        self._send(_ENDED, "")
        end = time.monotonic() + (_LAST_SECONDS if is_urgent else self.limit)
        missing = set(range(self.size)) - {self.rank}
        while missing and time.monotonic() < end:
            if self._control.Iprobe(self.mpi.ANY_SOURCE, _ENDED):
                missing.discard(self._received(_ENDED)[0])
            else:
                time.sleep(_PAUSE_SECONDS)

    def _tell(self, text: str) -> None:
        if self.is_broken or self.is_forked:
            return
        self.is_broken = True
        [first, *_] = text.splitlines() or [""]
        shown = first if len(first) <= _MOST_CHARACTERS else f"{first[:_MOST_CHARACTERS]}..."
        self._notices[self.rank] = text = f"{shown} (call {self.number}{_caller()})"
        self._send(_NOTICE, f"{self.number + (not self._is_in_call)} {text}")

    def _send(self, tag: int, text: str) -> None:
        encoded = text.encode(errors="replace")[:_TEXT_BYTES]
        message = np.zeros(_TEXT_BYTES, np.uint8)
        message[: len(encoded)] = np.frombuffer(encoded, np.uint8)
        self._sent.append(message)
        for other in range(self.size):
            if other != self.rank:
                self._sent.append(self._control.Isend(message, other, tag))

    def _receive(self) -> bool:
        """Take a notice of another rank; returns whether there was one."""
        if not self._control.Iprobe(self.mpi.ANY_SOURCE, _NOTICE):
            return False
        rank, text = self._received(_NOTICE)
        number, _, self._notices[rank] = text.partition(" ")
        self._last = min(self._last, int(number))
        return True

    def _received(self, tag: int) -> tuple[int, str]:
        status = self.mpi.Status()
        text = np.zeros(_TEXT_BYTES, np.uint8)
        self._control.Recv(text, self.mpi.ANY_SOURCE, tag, status)
        return status.Get_source(), bytes(text).rstrip(b"\0").decode(errors="replace")

    def _apart(self, why: str = "") -> RankError:
        """The error that this rank raises from now on."""
        self._tell(self._intent.text() if self._intent is not None else "nothing yet")
        if self._failure is None:
            end = time.monotonic() + _NOTICE_SECONDS
            while len(self._notices) < self.size and time.monotonic() < end:
                if not self._receive():
                    time.sleep(_PAUSE_SECONDS)
            self._failure = "\n".join((f"the ranks of MPI have come apart{why}", *self._lines()))
        return RankError(self._failure)

    def _lines(self) -> Sequence[str]:
        """A line for each rank, or for several whose notices are alike, and advice."""
        silent = f"no answer for {_NOTICE_SECONDS:g} s, so it is stopped, busy or has ended"
        by_text: dict[str, list[int]] = {}
        for rank in range(self.size):
            by_text.setdefault(self._notices.get(rank, silent), []).append(rank)
        lines = [f"  {_ranks(ranks)}: {text}" for text, ranks in by_text.items()]
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES:] = [f"  and {len(lines) - _MOST_LINES} more do something else"]
        advice = "All ranks make the same calls in the same order; numpy() of a tensor on several"
        return [*lines, f"{advice} ranks is one. Nothing is exchanged any more."]


def _ranks(ranks: Sequence[int]) -> str:
    """`rank 3` or `rank 0, 1, 2`, of which many are cut short."""
    more = [f"and {len(ranks) - _MOST_LINES} others"] if len(ranks) > _MOST_LINES else []
    return "rank " + ", ".join([*map(str, ranks[:_MOST_LINES]), *more])


def _caller() -> str:
    """Where the program has come into this package, as `, file.py:12`."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    return f", {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
