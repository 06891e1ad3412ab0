"""Work in a process of its own, which may crash or hang."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from tgdialect.diagnostics import exception_text
from tgdialect.forking import end_without_handlers, no_warnings_of_forks


class ChildFailed(Exception):
    """The work raised an exception, ended its process, or took too long."""


def in_child(work: Callable[[], Any], timeout: float | None = None) -> Any:
    """The result of work in a child of `fork`, whose effects on memory are lost.

    Raises ChildFailed, with one line that says why, if there is no result after `timeout` seconds.
    """
    context = get_context("fork")
    results, sink = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(work, sink), daemon=True)
    with no_warnings_of_forks():
        child.start()
    sink.close()
    try:
        if not results.poll(timeout):
            raise ChildFailed(f"it takes more than {timeout:g} seconds")
        is_result, value = results.recv()
    except EOFError:
        child.join()
        raise ChildFailed(_ended(child.exitcode or 0)) from None
    finally:
        child.kill()
        child.join()
        results.close()
    if not is_result:
        raise ChildFailed(value)
    return value


def _ended(code: int) -> str:
    """How a process has ended without a result."""
    if code < 0:
        return f"the process ended by {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}"


def _work(work: Callable[[], Any], sink: Connection) -> None:
    """The main function of the child, which prints nothing."""
    end_without_handlers()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    try:
        answer = True, work()
    except Exception as error:
        answer = False, exception_text(error)
    sink.send(answer)
