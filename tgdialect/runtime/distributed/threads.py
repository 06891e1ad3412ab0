"""Collectives within one process: the thread of a device reads the values of the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.distributed.array import own_part
from tgdialect.runtime.distributed.exchange import (
    FROM_ROOT,
    OF_ROOT,
    SPLITS,
    TO_ROOT,
    Collective,
    Communicator,
    Exchange,
    Intent,
    Pending,
    RankError,
    completion,
    reducer,
)

_SHARED = frozenset({Collective.ALL_GATHER, Collective.ALL_REDUCE})
"""Kinds with the same result on all devices: it is one array."""


class Team:
    """The devices of one call of a program."""

    def __init__(self, size: int) -> None:
        self.condition = threading.Condition()
        self.meetings: dict[tuple[tuple[int, ...], int], _Meeting] = {}
        self.failure: tuple[int, BaseException] | None = None
        self.size = size

    def communicators(self) -> list[Communicator]:
        """The connection of each device."""
        return [ThreadCommunicator(self, rank) for rank in range(self.size)]

    def meeting(self, members: tuple[int, ...], number: int) -> _Meeting:
        """Where some devices meet for the collective of a number among them."""
        with self.condition:
            return self.meetings.setdefault((members, number), _Meeting())

    def wait_for(self, is_done: Callable[[], bool]) -> None:
        """Wait until a condition holds. Raises RankError if a device fails before."""
        with self.condition:
            self.condition.wait_for(lambda: is_done() or self.failure is not None)
            if not is_done():
                self.check()

    def check(self) -> None:
        """Raise RankError if a device has failed."""
        if self.failure is not None:
            rank, error = self.failure
            raise RankError(f"device {rank} failed: {type(error).__name__}: {error}") from error


class _Meeting:
    """The values of the members of one collective, and a result that they share."""

    def __init__(self) -> None:
        self.values: dict[int, Array | None] = {}
        self.shared: Array | None = None
        self.begun = 0
        """How many parts of the shared result are computed, or being computed."""
        self.done = 0


class ThreadCommunicator(Communicator):
    """One thread's connection to the others."""

    def __init__(self, team: Team, rank: int) -> None:
        super().__init__(rank, team.size)
        self.team = team
        self._numbers: dict[tuple[int, ...], int] = {}

    def begin(self, intent: Intent) -> None:
        pass  # All threads run the program of one call.

    def check(self) -> None:
        self.team.check()

    def start(self, exchange: Exchange, value: Array | None) -> Pending:
        members = exchange.members
        number = self._numbers[members] = self._numbers.get(members, -1) + 1
        meeting = self.team.meeting(members, number)
        with self.team.condition:
            meeting.values[self.rank] = value
            self.team.condition.notify_all()
        return _Started(self, exchange, meeting)

    def fail(self, error: BaseException) -> None:
        with self.team.condition:
            if self.team.failure is None and not isinstance(error, RankError):
                self.team.failure = self.rank, error
            self.team.condition.notify_all()


class _Started(Pending):
    def __init__(self, here: ThreadCommunicator, exchange: Exchange, meeting: _Meeting) -> None:
        self._here, self._exchange, self._meeting = here, exchange, meeting

    def wait(self) -> Array | None:
        here, exchange, meeting = self._here, self._exchange, self._meeting
        members = exchange.members
        position = members.index(here.rank)
        if exchange.kind in TO_ROOT and position != exchange.root:
            return None
        needed = [members[exchange.root]] if exchange.kind in FROM_ROOT else members
        here.team.wait_for(lambda: all(rank in meeting.values for rank in needed))
        values: list[Any] = [meeting.values.get(rank) for rank in members]
        result = self._shared if exchange.kind in _SHARED else self._own
        return result(values, position)

    def _shared(self, values: list[Array], position: int) -> Array:
        """A result that all members have. Whoever waits for it computes parts of it, so that it
        does not depend on members that wait for something else, or for nothing."""
        exchange, meeting, team = self._exchange, self._meeting, self._here.team
        n, reduced = len(exchange.members), reducer(exchange.dtype, exchange.reduction)
        while (chunk := self._next_chunk(meeting)) < n:
            assert meeting.shared is not None
            if exchange.kind is Collective.ALL_GATHER:
                own_part(meeting.shared, exchange.axis, chunk, n)[...] = values[chunk]
            else:
                size = values[0].size
                span = slice(size * chunk // n, size * (chunk + 1) // n)
                parts = [value.reshape(-1)[span] for value in values]
                reduced(parts, meeting.shared.reshape(-1)[span])
            with team.condition:
                meeting.done += 1
                team.condition.notify_all()
        own = values[position].nbytes
        total = 2 * (own - own // n) if exchange.kind is Collective.ALL_REDUCE else (n - 1) * own
        self._here.count(total)
        team.wait_for(lambda: meeting.done == n)
        assert meeting.shared is not None
        return meeting.shared

    def _next_chunk(self, meeting: _Meeting) -> int:
        """The number of the next part of a shared result that nobody computes yet."""
        exchange = self._exchange
        with self._here.team.condition:
            if meeting.shared is None:
                meeting.shared = np.empty(exchange.result, exchange.dtype)
            meeting.begun += 1
            return meeting.begun - 1

    def _own(self, values: list[Array], position: int) -> Array | None:
        """A result of this member alone."""
        exchange = self._exchange
        needed = [exchange.root] if exchange.kind in FROM_ROOT else range(len(values))
        read = sum(values[i].nbytes for i in needed if i != position)
        self._here.count(read // len(values) if exchange.kind in SPLITS else read)
        if exchange.kind in OF_ROOT:
            return values[exchange.root]
        return completion(exchange, position, values)()
