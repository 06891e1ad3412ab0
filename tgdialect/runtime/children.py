"""Children of `fork` that share work with the caller: they need no copy of what they work on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from tgdialect.forking import no_warnings_of_forks
from tgdialect.runtime.speed import at_full_speed

T = TypeVar("T")
R = TypeVar("R")

_PATIENCE = 60.0
"""The longest time that the caller waits for the next result of a child, in seconds. Shorter: slow
kernels are compiled again; longer: a child that has stopped is noticed later. Locks that other
threads hold while a process is forked may stop it, although those that are known are waited for."""


def shared(items: Sequence[T], work: Callable[[T], R], most: int) -> Generator[tuple[T, R | None]]:
    """The results of `processes.spread`, with at most so many children working as well."""
    left = set(range(len(items)))
    with ExitStack() as opened:
        numbers: Iterator[int] = iter(())
        children: list[_Child[T, R]] = []
        with suppress(OSError, RuntimeError, MemoryError, AssertionError):
            # No memory, too many processes, or the caller is one that may have no children.
            numbers = opened.enter_context(closing(_Numbers(len(items))))
            for _ in range(most):
                children.append(_Child(items, work, numbers))
                opened.callback(children[-1].end)
        for number in numbers:
            yield from _results(items, children, left)
            left.remove(number)
            yield items[number], None
        while left and children and wait([child.results for child in children], _PATIENCE):
            yield from _results(items, children, left)
    for number in sorted(left):
        yield items[number], None


def _results(
    items: Sequence[T], children: list[_Child[T, R]], left: set[int]
) -> Iterator[tuple[T, R]]:
    """Each item that a child is done with, and its result. Children that have ended, and the
    numbers of these items, are removed."""
    for child in list(children):
        try:
            while child.results.poll():
                number, result = child.results.recv()
                left.remove(number)
                yield items[number], result
        except (EOFError, OSError):
            children.remove(child)
            child.end()


class _Numbers(Iterator[int]):
    """The numbers of items, in a pipe: each is taken once, by any process that has the pipe."""

    def __init__(self, count: int) -> None:
        """Raises OSError if there can be no pipe. The last numbers are missing if a pipe holds
        fewer: at most some whole pages, and so whole numbers."""
        self._source, sink = os.pipe()
        os.set_blocking(sink, False)
        os.write(sink, b"".join(number.to_bytes(_WIDTH) for number in range(count)))
        os.close(sink)

    def __next__(self) -> int:
        if not (taken := os.read(self._source, _WIDTH)):
            raise StopIteration
        return int.from_bytes(taken)

    def close(self) -> None:
        os.close(self._source)


_WIDTH = 4
"""The bytes of a number in a pipe."""


class _Child(Generic[T, R]):
    """A process that works on the items whose numbers it takes."""

    def __init__(self, items: Sequence[T], work: Callable[[T], R], numbers: Iterator[int]) -> None:
        """Raises OSError if there is no memory for a process, and AssertionError in a process that
        may have none (`multiprocessing`'s daemons)."""
        self.results, results = Pipe(duplex=False)
        """Gives numbers of items, each with its result."""
        child = get_context("fork").Process(
            target=_work, args=(items, work, numbers, results), daemon=True
        )
        with no_warnings_of_forks():
            child.start()
        self._process = child
        results.close()

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def _work(
    items: Sequence[Any],
    work: Callable[[Any], object],
    numbers: Iterable[int],
    results: Connection,
) -> None:
    """The main function of a child. Signal handlers of the caller's program are not run."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    try:
        with at_full_speed():  # That of the parent has ended at the fork.
            for number in numbers:
                results.send((number, work(items[number])))
    except BaseException:  # The caller does it again, and says what is wrong.
        pass
