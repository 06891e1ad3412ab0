"""Processes that share the work of a compilation: how many, which of it, and the children of `fork`
that do it with the caller. They need no copy of what they work on.

Compilers written in Python have the lock of the interpreter: threads do not share their work.
`multiprocessing` is imported if it is used: a program of few kernels does without.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from tgdialect.environment import COMPILE_PROCESSES
from tgdialect.forking import end_without_handlers, no_warnings_of_forks
from tgdialect.runtime.speed import at_full_speed
from tgdialect.targets.host import core_count

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")

_MOST = 8
"""The most processes by default. More: more memory, as each one has its own copies of the pages
that it changes; fewer: longer compilation on machines of many cores."""
_SMALLEST = 4
"""The most kernels that the caller lowers alone. Larger: other cores are idle; smaller: forks that
do not pay. A fork takes 10 to 30 ms, with the pages that are copied afterwards, a kernel 50 to 200
ms."""
_SHARE = 2
"""The fewest kernels for each process: a child for fewer does not pay for its fork."""
_PATIENCE = 60.0
"""The longest time that the caller waits for the next result of a child, in seconds. Shorter: slow
kernels are compiled again; longer: a child that has stopped is noticed later. Locks that other
threads hold while a process is forked may stop it, although those that are known are waited for."""
_LAST_WORDS = 1.0
"""The longest time from the end of a child's results to its own, in seconds. Shorter: its crash is
not seen."""
_ENDED = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
"""Exit codes of children that somebody has ended: they have not crashed."""
ENDED = "a process that compiles ended with {}"
"""The reason that a caller gets."""
_WIDTH = 4
"""The bytes of a number in a pipe."""


def process_count() -> int:
    """How many processes may compile. Raises SettingError for a wrong number."""
    return COMPILE_PROCESSES.get() or min(core_count(), _MOST)


def spread(
    items: Sequence[T],
    work: Callable[[T], R],
    processes: int,
    crashed: Callable[[str], None] = lambda _: None,
) -> Generator[tuple[T, R | None]]:
    """Give each item with what `work` makes of it in a child, or with None: then the caller does it
    before it asks for the next.

    Each process, the caller included, takes the next item whenever it is free (self-scheduling).
    What a child cannot do, for whatever reason, the caller does after all others: it gets the error
    where it can be reported. `crashed` is called before, for each child that has crashed, with the
    reason.
    """
    most = min(processes - 1, (len(items) - 1) // _SHARE) if len(items) > _SMALLEST else 0
    if most < 1 or sys.platform != "linux":
        yield from ((item, None) for item in items)
        return
    from multiprocessing.connection import wait

    left = set(range(len(items)))
    with ExitStack() as opened:
        numbers: Iterator[int] = iter(())
        children: dict[Connection, BaseProcess] = {}
        with suppress(OSError, RuntimeError, MemoryError, AssertionError):
            # No memory, too many processes, or the caller is one that may have no children.
            numbers = _numbers(len(items), opened)
            for _ in range(most):
                results, child = _started(items, work, numbers)
                children[results] = child
                opened.callback(_end, child)
        for number in numbers:
            yield from _results(items, children, left, crashed)
            left.remove(number)
            yield items[number], None
        while left and children and wait([*children], _PATIENCE):
            yield from _results(items, children, left, crashed)
    for number in sorted(left):
        yield items[number], None


def _numbers(count: int, opened: ExitStack) -> Iterator[int]:
    """The numbers of items, in a pipe: each is taken once, by any process that has the pipe.

    Raises OSError if there can be no pipe. The last numbers are missing if a pipe holds fewer: at
    most some whole pages, and so whole numbers.
    """
    source, sink = os.pipe()
    opened.callback(os.close, source)
    os.set_blocking(sink, False)
    os.write(sink, b"".join(number.to_bytes(_WIDTH) for number in range(count)))
    os.close(sink)
    return map(int.from_bytes, iter(partial(os.read, source, _WIDTH), b""))


def _results(
    items: Sequence[T],
    children: dict[Connection, BaseProcess],
    left: set[int],
    crashed: Callable[[str], None],
) -> Iterator[tuple[T, Any]]:
    """Each item that a child is done with, and its result. Children that have ended, and the
    numbers of these items, are removed."""
    for results, child in list(children.items()):
        try:
            while results.poll():
                number, result = results.recv()
                left.remove(number)
                yield items[number], result
        except (EOFError, OSError):
            del children[results]
            child.join(_LAST_WORDS)
            if (code := child.exitcode) and code not in _ENDED:
                crashed(ENDED.format(_ending(code)))
            _end(child)


def _started(
    items: Sequence[T], work: Callable[[T], object], numbers: Iterator[int]
) -> tuple[Connection, BaseProcess]:
    """A process that works on the items whose numbers it takes, and the connection that gives these
    numbers, each with its result.

    Raises OSError if there is no memory for a process, and AssertionError in a process that may
    have none (`multiprocessing`'s daemons).
    """
    from multiprocessing import Pipe, get_context

    results, sink = Pipe(duplex=False)
    child = get_context("fork").Process(
        target=_work, args=(items, work, numbers, sink), daemon=True
    )
    with no_warnings_of_forks():
        child.start()
    sink.close()
    return results, child


def _ending(code: int) -> str:
    """An exit code in words."""
    return (signal.strsignal(-code) if code < 0 else None) or f"exit code {code}"


def _end(child: BaseProcess) -> None:
    child.kill()
    child.join()


def _work(
    items: Sequence[Any], work: Callable[[Any], object], numbers: Iterable[int], results: Connection
) -> None:
    """The main function of a child. Signal handlers of the caller's program are not run."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    try:
        end_without_handlers()
        with at_full_speed():  # That of the parent has ended at the fork.
            for number in numbers:
                results.send((number, work(items[number])))
    except BaseException:  # The caller does it again, and says what is wrong.
        pass
