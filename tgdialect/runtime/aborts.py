"""The end of this process by `abort()`: LLVM calls it for what it cannot translate."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

from tgdialect.runtime.processes import ENDED

ABORTED = ENDED.format(signal.strsignal(signal.SIGABRT))
"""The error of such an end, in this process or a child."""
_SIZE = 256
"""More bytes than C's `struct sigaction` has, which begins with the handler."""

_actions: list[Callable[[], object]] = []
"""Those of all threads; the last is the innermost."""
_before: Any = ctypes.create_string_buffer(_SIZE)
"""The `struct sigaction` that was there before."""


@contextmanager
def before_abort(action: Callable[[], object]) -> Generator[None]:
    """Within the context, `action` is called before `abort()` ends the process, on the thread that
    ends it. If it returns a path or a text, that is written to stderr as a note.

    There is no lock, which a child of `fork` could inherit locked: if threads begin and end at the
    same time, an action may be missed.
    """
    _actions.append(action)
    if not _is_ours(found := _current()):
        _before[:] = found[:]
        _libc.signal(signal.SIGABRT, _ours)
    try:
        yield
    finally:
        _actions.remove(action)
        if not _actions and _is_ours(_current()):
            _restore()


def _current() -> Any:
    """The `struct sigaction` that C has now."""
    found = ctypes.create_string_buffer(_SIZE)
    _libc.sigaction(signal.SIGABRT, None, found)
    return found


def _is_ours(found: Any) -> bool:
    return ctypes.c_void_p.from_buffer(found).value == _ours.value


def _restore() -> None:
    _libc.sigaction(signal.SIGABRT, _before, None)


def _at_abort(number: int) -> None:
    """C's handler. The signal that it raises comes after it returns: the handler before gets it,
    and `abort()` goes on to end the process."""
    for action in reversed(_actions):
        with suppress(Exception):
            if (said := action()) is not None:
                os.write(2, f"note: {said}\n".encode(errors="backslashreplace"))
    _restore()
    _libc["raise"](number)


_libc = ctypes.CDLL(None)
_libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
_libc.signal.restype = ctypes.c_void_p
_handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(_at_abort)
_ours = ctypes.cast(_handler, ctypes.c_void_p)
"""The handler's address in C. Its code lives as long as `_handler`."""
