"""LLVM in a child of `fork`, for modules and processors that it may end the process for.

LLVM reports what it cannot translate by ending the process: an intrinsic of a feature that the
processor lacks, operands that inline assembly cannot have, a processor without the architecture.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import re
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from tempfile import TemporaryFile
from typing import IO, TypeVar

from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.forking import end_without_handlers, no_warnings_of_forks
from tgdialect.targets.needed import features_of_intrinsic

T = TypeVar("T")

_UNKNOWN = re.compile(r"'(\S+)' is not a recognized (processor|feature)")
_FATAL = re.compile(
    r"^(?:LLVM ERROR|fatal error|error|<inline asm>:\S* error): *(.*)$", re.MULTILINE
)
_INTRINSIC = re.compile(r"@(llvm\.\w+\.[\w.]+)\(")


class LLVMAbort(LLVMTranslationException):
    """LLVM has ended the process that it was in."""


def guarded(work: Callable[[str], T], ir: str) -> T:
    """The result of `work` for a module of LLVM IR. It calls LLVM, and is executed in a child.

    Raises what `work` raises, LLVMAbort if LLVM ends the child, and LLVMTranslationException if it
    knows no processor or feature of a name. `work` is executed here if there can be no child.
    """
    # Files, since another child that is forked meanwhile would keep the ends of pipes open.
    with TemporaryFile() as said, TemporaryFile() as result:
        child = _forked()
        if child == 0:
            _work(lambda: work(ir), said, result)
        if child is None:
            return work(ir)
        status = _status(child)
        said.seek(0)
        text = said.read().decode(errors="replace")
        if (unknown := _UNKNOWN.search(text)) is not None:
            raise LLVMTranslationException(
                f"LLVM has no {unknown[2]} '{unknown[1]}' for this architecture"
            )
        if status or not result.seek(0, os.SEEK_END):
            raise LLVMAbort(f"LLVM generates no code: {_reason(text, status)}{_needed(ir)}")
        result.seek(0)
        returned, raised = pickle.load(result)
    if raised is not None:
        raise raised
    return returned


def _forked() -> int | None:
    """The number of a new process, 0 in it; None if there can be none. A child of
    `multiprocessing`'s would not do: its daemons may have none."""
    with no_warnings_of_forks(), suppress(OSError):
        # The child is no other program: hooks that refuse those are not asked.
        return Context().run(os.fork)
    return None


def _status(child: int) -> int:
    """The status of a child that ends, 0 if the caller has its children's ends ignored. An
    exception meanwhile ends it."""
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:
        return 0
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _work(work: Callable[[], object], said: IO[bytes], result: IO[bytes]) -> None:
    """Write the result of `work`, or the exception that it raises, and end this process: without a
    core file, and without a word."""
    try:
        faulthandler.disable()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        end_without_handlers()
        os.dup2(said.fileno(), 2)
        try:
            found = work(), None
        except Exception as error:
            found = None, error
        pickle.dump(found, result)
        result.flush()
        os._exit(0)
    finally:
        os._exit(1)


def _reason(text: str, status: int) -> str:
    """The last words of LLVM before it ended the process."""
    fatal = _FATAL.search(text)
    if fatal is not None:
        return fatal[1].strip()
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    return (number and signal.strsignal(number)) or "it ended"


def _needed(ir: str) -> str:
    """An intrinsic of the module that needs features."""
    for name in _INTRINSIC.findall(ir):
        if features := [*features_of_intrinsic(name)]:
            return f"; {name} needs the feature {' and '.join(features)}"
    return ""
