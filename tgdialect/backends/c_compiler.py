"""The system's C compiler: from a translation unit to object code."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from tempfile import TemporaryDirectory

from xdsl.utils.exceptions import PassFailedException

FLAGS = (
    *("-std=c11", "-O2", "-fPIC", "-fno-stack-protector", "-fcf-protection=none", "-w"),
    *("-ffp-contract=off", "-fno-fast-math", "-fwrapv", "-fno-strict-aliasing"),
)
"""Floats stay exact and integers wrap. No strict aliasing: an arena holds values of any type."""


@cache
def compiler() -> str:
    """The path of the compiler that `CC` names, `cc` by default.

    Raises PassFailedException if there is none.
    """
    name = os.environ.get("CC") or "cc"
    if (path := shutil.which(name)) is None:
        raise PassFailedException(
            f"the target c needs a C compiler, and there is no {name!r}: CC may name one"
        )
    return path


@cache
def compiler_version() -> str:
    """What the compiler says about itself, for keys of the object cache."""
    return _run(compiler(), "--version")


def object_code(source: str, *, has_runtime: bool = False) -> bytes:
    """Position-independent object code of a translation unit of C11. It `has_runtime` functions of
    the compiler's own, which code for builtin functions may call, as `__popcountdi2`.

    Raises PassFailedException, with the compiler's message, if it rejects the source.
    """
    if has_runtime:
        return _compiled(source, "-r", "-nostdlib", after=[runtime_library()])
    return _compiled(source, "-c")


def assembly(source: str) -> str:
    """The same as text in the assembly language of this machine."""
    return _compiled(source, "-S").decode()


@cache
def runtime_library() -> str:
    """The archive of the compiler's own functions."""
    return _run(compiler(), "-print-libgcc-file-name").strip()


def _compiled(source: str, *mode: str, after: Sequence[str] = ()) -> bytes:
    with TemporaryDirectory() as folder:
        file, result = os.path.join(folder, "program.c"), os.path.join(folder, "result")
        with open(file, "w", encoding="utf-8") as text:
            text.write(source)
        _run(compiler(), *FLAGS, *mode, file, *after, "-o", result)
        with open(result, "rb") as code:
            return code.read()


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PassFailedException(f"the C compiler rejects the program: {done.stderr.strip()}")
    return done.stdout
