"""Releases that wait for a device: queued commands may still use what nothing else refers to."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol


class Fence(Protocol):
    """A place in a queue of commands."""

    def is_reached(self) -> bool:
        """Whether the commands before are done. Raises DeviceError if one has failed."""
        ...


class Deferred:
    """Actions of finalizers, which the next use of the device performs.

    The garbage collector runs finalizers in any thread, where another library's device may be
    current, and while commands are queued: they only note what is to be done.
    """

    def __init__(self, mark: Callable[[], Fence]) -> None:
        """`mark` returns the place after all commands so far."""
        self._mark = mark
        self._actions: deque[Callable[[], object]] = deque()
        self._unmarked: deque[Callable[[], object]] = deque()
        """Releases whose place in the queue is still to be marked."""
        self._marked: deque[tuple[Fence, list[Callable[[], object]]]] = deque()
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._actions or self._unmarked or self._marked)

    def at_end_of(self, owner: object, action: Callable[..., object], *arguments: object) -> None:
        """Perform an action in the first `run` after `owner` is gone, not at the process's end."""
        noted = partial(action, *arguments)
        weakref.finalize(owner, self._actions.append, noted).atexit = False

    def after_commands(self, release: Callable[..., object], *arguments: object) -> None:
        """Call `release` in a `run` after all commands so far are done; its arguments live until
        then."""
        self._unmarked.append(partial(release, *arguments))

    def run(self) -> None:
        """Perform what is due. Raises DeviceError if the device has failed."""
        if not self or not self._lock.acquire(blocking=False):
            return  # Another thread does it, or an action has come here.
        try:
            while self._actions:  # What fails is left to be done.
                self._actions[0]()
                self._actions.popleft()
            if count := len(self._unmarked):
                mark = self._mark()
                self._marked.append((mark, [self._unmarked.popleft() for _ in range(count)]))
            while self._marked and self._marked[0][0].is_reached():
                _, releases = self._marked.popleft()
                for release in releases:
                    release()
        finally:
            self._lock.release()
