"""Work in a process of its own, which may crash or hang."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from tgdialect.diagnostics import exception_text
from tgdialect.forking import end_without_handlers, no_warnings_of_forks


class ChildFailed(Exception):
    """The work raised an exception, ended its process, or took too long."""


class ChildDied(ChildFailed):
    """The work ended its process, or took too long."""


Tell = Callable[[Any], None]
"""A function that a child tells something to its parent by."""


def in_child(
    work: Callable[[Tell], Any],
    timeout: float | None = None,
    heard: Callable[[Any], object] = lambda _: None,
    *,
    grace: float = 0.0,
) -> Any:
    """The result of work in a child of `fork`, whose effects on memory are lost. `heard` gets what
    the work tells before it ends.

    Raises ChildFailed, with one line that says why, if there is no result after `timeout` seconds,
    and `grace` for work that has a time limit itself.
    """
    limit = None if timeout is None else time.monotonic() + timeout + grace
    context = get_context("fork")
    results, sink = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(work, sink), daemon=True)
    with no_warnings_of_forks():
        child.start()
    sink.close()
    try:
        kind, value = _TOLD, None
        while kind == _TOLD:
            left = None if limit is None else max(0.0, limit - time.monotonic())
            if not results.poll(left):
                raise ChildDied(f"it takes more than {timeout:g} seconds")
            kind, value = results.recv()
            if kind == _TOLD:
                heard(value)
    except EOFError:
        child.join()
        raise ChildDied(_ended(child.exitcode or 0)) from None
    finally:
        child.kill()
        child.join()
        results.close()
    if kind == _RAISED:
        raise ChildFailed(value)
    return value


_TOLD, _RESULT, _RAISED = "told", "result", "raised"
"""The kinds of messages from a child."""


def _ended(code: int) -> str:
    """How a process has ended without a result."""
    if code < 0:
        return f"the process ended by {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}"


def _work(work: Callable[[Tell], Any], sink: Connection) -> None:
    """The main function of the child, which prints nothing."""
    end_without_handlers()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    try:
        answer = _RESULT, work(lambda value: sink.send((_TOLD, value)))
    except Exception as error:
        answer = _RAISED, exception_text(error)
    sink.send(answer)
