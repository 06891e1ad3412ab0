"""Work that children of `fork` share with the caller: they need no copy of what they work on.

Compilers written in Python have the lock of the interpreter: threads do not share their work.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Generic, TypeVar

from tgdialect.targets.host import core_count

T = TypeVar("T")
R = TypeVar("R")

VARIABLE = "TG_COMPILE_PROCESSES"
"""The number of processes that compile, the caller included; 1: no others. By default the number
of cores."""

_MOST = 8
"""The most processes by default: each one has its own copies of the pages that it changes."""
_SMALLEST = 4
"""How many kernels have to wait before a child is started. A fork takes 10 to 30 ms, with the pages
that are copied afterwards, a kernel 50 to 200 ms."""
_PATIENCE = 60.0
"""For how many seconds the caller waits for the next result of a child. Locks that other threads
hold while a process is forked may stop a child, although those that are known are waited for."""
_POLL_SECONDS = 0.002


def process_count() -> int:
    """How many processes may compile. Raises ValueError if the variable is no positive number."""
    if text := os.environ.get(VARIABLE):
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise ValueError(f"{VARIABLE} is {text!r}, not a positive number")
        return int(text)
    return min(core_count(), _MOST)


def spread(
    items: Iterable[T], work: Callable[[T], R], processes: int
) -> Generator[tuple[T, R | None]]:
    """Give each item with what `work` makes of it in a child, or with None: then the caller does it
    before it asks for the next.

    The items that wait are divided among the processes whenever one is free (guided
    self-scheduling; Polychronopoulos and Kuck, 1987). The last one is always the caller's, after
    the others. What a child cannot do, for whatever reason, the caller does: it gets the error
    where it can be reported. Results are pickled. `items` may take long to make the next one, while
    children work on those before.
    """
    waiting: deque[T] = deque()
    children: list[_Child[T, R]] = []
    most = processes - 1 if sys.platform == "linux" else 0

    def start(count: int) -> None:
        nonlocal most
        batch = [waiting.popleft() for _ in range(count)]
        try:
            children.append(_Child(batch, work))
        except (OSError, RuntimeError, MemoryError):  # No memory, too many processes, ...
            waiting.extendleft(reversed(batch))
            most = 0

    def ended() -> Iterator[tuple[T, R | None]]:
        for child in list(children):
            if child.has_ended():
                children.remove(child)
                yield from child.results()

    try:
        for item in items:
            waiting.append(item)
            yield from ended()
            if len(waiting) > _SMALLEST and len(children) < most:
                start(max(_SMALLEST, len(waiting) // (2 * processes)))
        while waiting or children:
            yield from ended()
            while len(children) < most and len(waiting) > _SMALLEST // 2:
                start(max(_SMALLEST // 2, len(waiting) // (2 * processes)))
            if len(waiting) > 1 or (waiting and not children):
                yield waiting.popleft(), None
            elif children:
                children[0].wait()
    finally:
        for child in children:
            child.kill()


class _Child(Generic[T, R]):
    """A process that works on some items, and writes the results to a file without a name."""

    def __init__(self, items: Sequence[T], work: Callable[[T], R]) -> None:
        """Raises OSError if there is no memory for a process, or no file."""
        self._items = items
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self._has_ended = False
        with warnings.catch_warnings():
            # Python and JAX warn of forks beside other threads: `tgdialect/forking.py` is for that.
            warnings.simplefilter("ignore")
            self._pid = os.fork()
        if self._pid == 0:
            _work(items, work, self._file)

    def has_ended(self) -> bool:
        if not self._has_ended:
            try:
                self._has_ended = os.waitpid(self._pid, os.WNOHANG)[0] != 0
            except ChildProcessError:  # The caller's program has waited for it.
                self._has_ended = True
        return self._has_ended

    def wait(self) -> None:
        """Wait until the process has ended, or until it has written nothing for a long time."""
        size, since = -1, 0.0
        while not self.has_ended():
            if (now := os.fstat(self._file.fileno()).st_size) != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > _PATIENCE:
                self.kill()
                return
            time.sleep(_POLL_SECONDS)

    def results(self) -> Iterator[tuple[T, R | None]]:
        """Each item and its result; None where the process has come to no result."""
        with self._file as file:
            file.seek(0)
            for item in self._items:
                try:
                    result: R | None = pickle.load(file)
                except Exception:  # The end of the file, or of what was written of a result.
                    result = None
                yield item, result

    def kill(self) -> None:
        if not self.has_ended():
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
        self._has_ended = True


def _work(items: Iterable[T], work: Callable[[T], object], file: IO[bytes]) -> None:
    """What the child does. It does not return, and runs nothing that the caller's program has
    registered for signals or for its end."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        gc.disable()  # It was collected in `at_full_speed`, which ends in a child.
        for item in items:
            pickle.dump(work(item), file)
            file.flush()
    except BaseException:  # The caller does it again, and says what is wrong.
        pass
    finally:
        os._exit(0)
