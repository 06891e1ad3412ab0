"""Passes that start other programs: refuses them, also if they are run indirectly, and says what is
wrong with the program."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, PassFailedException

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


def mlir_opt_pass() -> type[ModulePass]:
    """xDSL's pass `mlir-opt`, with errors that say what the program said, or which one there is."""
    from xdsl.transforms.mlir_opt import MLIROptPass

    @dataclass(frozen=True)
    class MlirOptPass(MLIROptPass):
        def apply(self, ctx: Context, op: ModuleOp) -> None:
            if shutil.which(self.executable) is None:
                raise PassFailedException(_missing(self.executable))
            try:
                super().apply(ctx, op)
            except OSError as error:
                message = f"cannot start '{self.executable}': {error.strerror}"
                raise PassFailedException(message) from error
            except DiagnosticException as error:
                cause = error.__cause__
                if not isinstance(cause, subprocess.CalledProcessError):
                    raise
                said = str(cause.stderr).strip().partition("\n")[0] or "no message"
                message = f"'{self.executable}' ended with {cause.returncode}: {said}"
                raise PassFailedException(message) from error

    MlirOptPass.__doc__ = MLIROptPass.__doc__
    return MlirOptPass


def _missing(executable: str) -> str:
    """The error for a program that is not there, with those of other versions."""
    versioned = re.compile(re.escape(os.path.basename(executable)) + r"-[0-9.]+")
    found = {
        name
        for folder in os.get_exec_path()
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if versioned.fullmatch(name)
    }
    hint = f"there is {', '.join(sorted(found))}: write" if found else "install it, or write"
    example = min(found, default="mlir-opt-19")
    return f"there is no program '{executable}'; {hint} '{example}[PASSES]', or set XDSL_MLIR_OPT"
