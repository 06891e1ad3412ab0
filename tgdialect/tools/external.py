"""Refuses passes that start other programs, also if they are run indirectly."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from xdsl.utils.exceptions import PassFailedException

EXTERNAL_PASSES = frozenset({"apply-eqsat-pdl", "mlir-opt"})
"""xDSL's passes that start another program (mlir-opt) each time they run."""

_PROCESS_EVENTS = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
"""Python's audit events for starting a process."""

_refusing: ContextVar[bool] = ContextVar("refusing", default=False)


def _refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _PROCESS_EVENTS and _refusing.get():
        program = f" '{arguments[0]}'" if arguments else ""
        raise PassFailedException(f"starts another program{program}: it needs --allow-external")


@cache
def _install_hook() -> None:
    sys.addaudithook(_refuse_processes)


@contextmanager
def no_external_programs() -> Generator[None, None, None]:
    """
    Within the context, starting a process raises `PassFailedException`. Refusing passes by name is
    not enough: the transform dialect, for example, runs any pass that the IR names.
    """
    _install_hook()
    token = _refusing.set(True)
    try:
        yield
    finally:
        _refusing.reset(token)
