"""The system's C compiler: from a translation unit to object code, or to a shared library."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import cache

from xdsl.utils.exceptions import PassFailedException

from tgdialect.backends.commands import output_of, said_by

FLAGS = (
    *("-std=c11", "-O2", "-fPIC", "-fno-stack-protector", "-fcf-protection=none", "-w"),
    *("-ffp-contract=off", "-fno-fast-math", "-fwrapv", "-fno-strict-aliasing"),
)
"""Floats stay exact and integers wrap. No strict aliasing: an arena holds values of any type."""

_EXPORTED = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$]*")
"""The names that stand as they are in a version script of the linker."""


_MESSAGE = re.compile(r"^program\.c:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)


class SourceError(PassFailedException):
    """The C compiler rejects a source. `errors` are its messages, each with a line from 0 on."""

    def __init__(self, said: str) -> None:
        self.errors = [(int(line) - 1, text) for line, text in _MESSAGE.findall(said)]
        text = self.errors[0][1] if self.errors else said.strip()
        super().__init__(f"the C compiler rejects the program: {text}")


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
    """The version text of the compiler, for keys of the object cache."""
    return said_by([compiler(), "--version"], SourceError)


def object_code(source: str, *, has_runtime: bool = False) -> bytes:
    """Position-independent object code of a translation unit of C11. It `has_runtime` functions of
    the compiler's own, which code for builtin functions may call, as `__popcountdi2`.

    Raises SourceError, with the compiler's message, if it rejects the source.
    """
    if has_runtime:
        return _compiled(source, "-r", "-nostdlib", runtime_library())
    return _compiled(source, "-c")


def assembly(source: str) -> str:
    """The same as text in the assembly language of this machine."""
    return _compiled(source, "-S").decode()


@cache
def runtime_library() -> str:
    """The archive of the compiler's own functions."""
    return said_by([compiler(), "-print-libgcc-file-name"], SourceError).strip()


def shared_library(
    source: str, objects: Sequence[bytes], exported: Sequence[str], included: Mapping[str, bytes]
) -> bytes:
    """A shared library of a translation unit, and of object code. It exports the named functions
    alone, so that others in the process may have the same names. `included` are the files that the
    source includes, as text or as bytes (`.incbin`).

    Raises PassFailedException as `object_code` does, and for names that the linker's script would
    read as more than one.
    """
    if wrong := [name for name in exported if not _EXPORTED.fullmatch(name)]:
        raise PassFailedException(f"the linker exports no function that is called {wrong[0]!r}")
    script = f"{{ global: {' '.join(f'{name};' for name in exported)} local: *; }};\n"
    files = {**included, "exported": script.encode()}
    linked = [f"{number}.o" for number in range(len(objects))]
    files.update(zip(linked, objects, strict=True))
    # Threads of the library may still run when it would be unloaded.
    options = "-Wl,--version-script=exported", "-Wl,-z,nodelete", "-Wl,-z,noexecstack"
    return _compiled(source, "-shared", *linked, *options, "-pthread", "-lm", files=files)


def _compiled(source: str, *options: str, files: Mapping[str, bytes] = {}) -> bytes:
    """The output of the compiler for a source, in a folder with other files."""
    command = compiler(), *FLAGS, "program.c", *options
    return output_of(command, {"program.c": source.encode(), **files}, SourceError)
