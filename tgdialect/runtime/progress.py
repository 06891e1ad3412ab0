"""The line on a terminal that says how far long work is: `compiling main: 12 of 40 kernels,
tg-select of @main_12, 3.1 s`.

It appears after two seconds, is rewritten in place, and is gone when the work is done. Work may be
nested, as a search for schedules is in a compilation, and may go on in several threads: the line
has a part for each. `TG_PROGRESS=0`, or an output that is no terminal, means that there is no line.
Python's logger `tgdialect` gets one message of level INFO about each work that took so long.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread

from tgdialect.environment import PROGRESS

_DELAY = 2.0
"""The seconds after which work is shown."""
_PERIOD = 0.2
"""The time between two lines of progress, in seconds. Longer: stages are missed; shorter: a
terminal has more to draw."""
GENERATING = "generating code"
"""The note of a compilation that has to wait for the generator of machine code."""
_CLEAR = "\r\x1b[K"
"""Go to the start of the line, and erase it."""


class Progress:
    """Some work, and how much of it is done.

    `total` is the number of things to do, 0 if it is not known; `note` is anything else to show.
    """

    def __init__(self, what: str, total: int = 0, unit: str = "kernels") -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self.done = 0
        self.note = ""
        self._start = time.perf_counter()

    def step(self, _: object = None) -> None:
        """One more thing is done. It takes an argument, as callbacks of futures do."""
        self.done += 1

    @property
    def seconds(self) -> float:
        """How long the work has taken so far."""
        return time.perf_counter() - self._start

    def __str__(self) -> str:
        count = f"{self.done} of {self.total} {self.unit}" if self.total else ""
        return (
            f"{self.what}: {', '.join(filter(None, (count, self.note, f'{self.seconds:.1f} s')))}"
        )


class _Line:
    """The line, and a thread that rewrites it while there is work."""

    def __init__(self) -> None:
        self._works: list[Progress] = []
        self._lock = Lock()
        self._ended = Event()
        self._thread: Thread | None = None

    def add(self, work: Progress) -> None:
        is_shown = _is_shown()
        with self._lock:
            self._works.append(work)
            if self._thread is None and is_shown:
                self._ended = ended = Event()
                thread = Thread(target=self._rewrite, args=(ended,), name="tg-line", daemon=True)
                with suppress(RuntimeError, MemoryError):  # A thread that cannot start is no error.
                    thread.start()
                    self._thread = thread

    def remove(self, work: Progress) -> None:
        with self._lock:
            if work in self._works:  # A child of `fork` has removed it.
                self._works.remove(work)
            if self._works or self._thread is None:
                return
            thread, self._thread = self._thread, None
            self._ended.set()
        thread.join()

    def leave_parent(self) -> None:
        """Forget the work of the parent's threads in a child of `fork`, which has no others."""
        self.__init__()

    def _rewrite(self, ended: Event) -> None:
        shown, wait = "", _DELAY
        while not ended.wait(wait):
            wait = _PERIOD
            text = " | ".join(str(w) for w in tuple(self._works) if w.seconds >= _DELAY)
            if text:
                from tgdialect.diagnostics import printable  # Late: it imports xDSL.

                text = printable(text)
            if text or shown:
                _write(_CLEAR + text[: _columns() - 1])
            shown = text
        if shown:
            _write(_CLEAR)


_LINE = _Line()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LINE.leave_parent)


@contextmanager
def progress(what: str, total: int = 0, unit: str = "kernels") -> Generator[Progress]:
    """Show work on the line while this is entered, if it takes long.

    `what` is an activity, as "compiling main". The arguments are those of `Progress`.
    """
    work = Progress(what, total, unit)
    _LINE.add(work)
    try:
        yield work
    finally:
        _LINE.remove(work)
        if work.seconds >= _DELAY:
            import logging

            logging.getLogger("tgdialect").info("%s", work)


def _is_shown() -> bool:
    if not PROGRESS.get() or os.environ.get("TERM") == "dumb":
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # There is no stderr, or it is closed.
        return False


def _write(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (AttributeError, OSError, ValueError):
        return 80
