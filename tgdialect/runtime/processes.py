"""Work that children of `fork` share with the caller: they need no copy of what they work on.

Compilers written in Python have the lock of the interpreter: threads do not share their work.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from tgdialect.runtime.speed import at_full_speed
from tgdialect.targets.host import core_count, positive_setting

T = TypeVar("T")
R = TypeVar("R")

VARIABLE = "TG_COMPILE_PROCESSES"
"""The number of processes that compile, the caller included; 1: no others. By default the number
of cores."""

_MOST = 8
"""The most processes by default: each one has its own copies of the pages that it changes."""
_SMALLEST = 4
"""How many kernels have to wait before a first child is started. A fork takes 10 to 30 ms, with the
pages that are copied afterwards, a kernel 50 to 200 ms."""
_PATIENCE = 60.0
"""For how many seconds the caller waits for the next result of a child. Locks that other threads
hold while a process is forked may stop a child, although those that are known are waited for."""


def process_count() -> int:
    """How many processes may compile. Raises ValueError if the variable is no positive number."""
    return positive_setting(VARIABLE) or min(core_count(), _MOST)


def spread(
    items: Sequence[T], work: Callable[[T], R], processes: int
) -> Generator[tuple[T, R | None]]:
    """Give each item with what `work` makes of it in a child, or with None: then the caller does it
    before it asks for the next.

    The items that wait are divided among the processes whenever one is free (guided
    self-scheduling; Polychronopoulos and Kuck, 1987). The last one is always the caller's, after
    the others. What a child cannot do, for whatever reason, the caller does: it gets the error
    where it can be reported.
    """
    waiting = deque(items)
    children: list[_Child[T, R]] = []
    most = processes - 1 if sys.platform == "linux" and len(items) > _SMALLEST else 0

    def start(count: int) -> None:
        nonlocal most
        batch = [waiting.popleft() for _ in range(count)]
        try:
            children.append(_Child(batch, work))
        except (OSError, RuntimeError, MemoryError, AssertionError):
            # No memory, too many processes, or the caller is a worker that may have no children.
            waiting.extendleft(reversed(batch))
            most = 0

    def made() -> Iterator[tuple[T, R | None]]:
        for child in list(children):
            yield from child.results()
            if not child.left:
                children.remove(child)
                child.end()

    try:
        while waiting or children:
            yield from made()
            while len(children) < most and len(waiting) > _SMALLEST // 2:
                start(max(_SMALLEST // 2, len(waiting) // (2 * processes)))
            if len(waiting) > 1 or (waiting and not children):
                yield waiting.popleft(), None
            elif not wait([child.connection for child in children], _PATIENCE):
                for child in children:
                    child.end()
    finally:
        for child in children:
            child.end()


class _Child(Generic[T, R]):
    """A process that works on some items."""

    def __init__(self, items: Sequence[T], work: Callable[[T], R]) -> None:
        """Raises OSError if there is no memory for a process, and AssertionError in a process that
        may have none (`multiprocessing`'s daemons)."""
        self.left = deque(items)
        """The items whose results have not been given."""
        self.connection, results = Pipe(duplex=False)
        child = get_context("fork").Process(target=_work, args=(items, work, results), daemon=True)
        with warnings.catch_warnings():
            # Python and JAX warn of forks beside other threads: `tgdialect/forking.py` is for that.
            warnings.simplefilter("ignore")
            child.start()
        self._process = child
        results.close()

    def results(self) -> Iterator[tuple[T, R | None]]:
        """Each item that is done, and its result. If the process has ended, the others and None."""
        try:
            while self.left and self.connection.poll():
                result: R = self.connection.recv()
                yield self.left.popleft(), result
        except (EOFError, OSError):
            while self.left:
                yield self.left.popleft(), None

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def _work(items: Iterable[Any], work: Callable[[Any], object], results: Connection) -> None:
    """What the child does. What the caller's program has registered for signals is not run."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    try:
        with at_full_speed():  # That of the parent has ended at the fork.
            for item in items:
                results.send(work(item))
    except BaseException:  # The caller does it again, and says what is wrong.
        pass
