"""Reproducers: after a failure of the compiler, one file from which it happens again.

A file has the module, and after it the resources of `mlir_reproducer` as mlir-opt writes them: the
pipeline. Those of `tg_reproducer` are ours: the entry, the target, the schedule, and inputs where
they are small. The first lines say what failed, and the command that runs it again (`tg-opt` or
`tg-run` with `--run-reproducer`). Weights of files stay references.

They are left in the folder of `TG_REPRODUCER_DIR`, by default `tg-reproducers` beside the object
cache. Whatever is wrong with that folder, the failure that is reported stays the first one.
"""

from __future__ import annotations

import os
import platform
import re
import stat
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

from xdsl.utils.exceptions import DiagnosticException

from tgdialect.backends.guarded import LLVMAbort
from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    InternalError,
    Severity,
    exception_text,
    external_resources_start,
    one_line,
    printable,
)
from tgdialect.environment import REPRODUCER_DIR, SettingError
from tgdialect.ops.numpy_dtypes import NUMPY_NAMES, Array
from tgdialect.runtime.aborts import ABORTED, before_abort
from tgdialect.runtime.cache import object_cache, write_file
from tgdialect.runtime.devices.driver import DeviceError

MOST = 20
"""The most reproducers in a folder; the oldest are deleted. More: more memory on disk; fewer: a
series of failures leaves less of the first ones."""
MOST_BYTES = 1 << 26
"""The largest reproducer, in bytes. Larger: weights within a text fill the disk, 20 times; smaller:
failures of large programs leave nothing."""
MOST_ELEMENTS = 1 << 12
"""The most elements of all inputs in a reproducer, each of up to 25 characters. Fewer: more
failures depend on inputs that have to be found; more: files that nobody reads."""
_LONGEST_ERROR = 2000
"""The most characters of the error in the first lines."""
_STALE_SECONDS = 3600.0
"""The age of an unfinished file, in seconds, of a process that was killed."""
FOLDER = "tg-reproducers"
"""The name of the folder beside the object cache."""
_OWN = re.compile(r"tg-[a-z]+-[0-9a-f]{16}\.mlir(\.[0-9a-f]{16}\.tmp)?")
"""The names of reproducers, and of unfinished ones. No other file is deleted."""
RUN = "--run-reproducer"
"""The flag of `tg-opt` and `tg-run` that runs a reproducer."""
MLIR = "mlir_reproducer"
"""The name of upstream's resources: `pipeline`, `disable_threading` and `verify_each`."""
OURS = "tg_reproducer"
"""The name of ours: `entry`, `target`, `opt`, and `input_0`, ... as `tg-run` takes them."""

_OF_THE_USER = (
    CompilationError,
    DiagnosticException,
    SettingError,
    DeviceError,
    MemoryError,
    OSError,
    ImportError,
)
"""Errors of programs, of their environment or of the system."""


def leave(
    kind: str,
    module: str | Callable[[], str],
    *,
    pipeline: str | None = None,
    target: str | None = None,
    options: Mapping[str, str] = {},
    inputs: Sequence[Array] | None = None,
    error: BaseException | str,
    command: str | None = None,
) -> Path | None:
    """Leave a reproducer, and return its path; None if it cannot be written, or is not wanted.

    Args:
        kind: what failed, in lower case: "pass", "compile", "llvm", "beam" or "check".
        module: the text of the program, or a function that prints it.
        pipeline: the passes to run, as `builtin.module(...)`; None for a program to execute.
        target: the target of the compilation.
        options: further options of it by their names in `tg-run`: `entry`, `opt`.
        inputs: arrays for the arguments of the entry, which are left out if they are large.
        error: what happened.
        command: what runs the file again, up to its name; by default `tg-opt --run-reproducer`, or
            `tg-run --run-reproducer`.
    """
    try:
        if (folder := _folder()) is None:
            return None
        tool = "tg-run" if pipeline is None else "tg-opt"
        text = module if isinstance(module, str) else module()
        about = dict(options) | ({} if target is None else {"target": target})
        facts: dict[str, Any] = {
            "pipeline": pipeline,
            "options": about | input_options(inputs or ()),
            "error": error,
            "command": command or f"{tool} {RUN}",
        }
        digest = sha256(repr((text, facts)).encode()).hexdigest()[:16]
        path = folder / f"tg-{kind}-{digest}.mlir"
        whole = reproducer_text(kind, text, file=str(path), **facts)
        data = whole.encode("utf-8", "backslashreplace")
        if len(data) > MOST_BYTES:
            return None
        _write(path, data)
        return path
    except Exception:
        return None  # The failure that the file is about is reported, and not this one.


# -- the text --------------------------------------------------------------------------------------


def reproducer_text(
    kind: str,
    module: str,
    *,
    file: str,
    pipeline: str | None,
    options: Mapping[str, str] = {},
    error: BaseException | str,
    command: str,
) -> str:
    """The text of a reproducer, which is to be written to a file: comments, the module, and its
    resources. The arguments are `leave`'s."""
    shown = error if isinstance(error, str) else exception_text(error)
    comments = (
        f"{_TITLE} {kind}",
        f"{command} {quote(file)}",
        one_line(shown)[:_LONGEST_ERROR],
        _versions(),
    )
    resources: list[str] = []
    if pipeline is not None:
        own = {"pipeline": pipeline, "disable_threading": True, "verify_each": True}
        resources.append(_resource(MLIR, own))
    if options:
        resources.append(_resource(OURS, options))
    lines = [*(f"// {printable(comment)}" for comment in comments)]
    lines += [without_resources(module).rstrip(), ""]
    if resources:
        lines += ["{-#", "  external_resources: {", ",\n".join(resources), "  }", "#-}", ""]
    return "\n".join(lines)


_TITLE = "tgdialect reproducer:"
_COMMENTS = re.compile(rf"\A// {_TITLE}.*\n(?://.*\n){{3}}")
"""The first lines of a reproducer."""


def without_resources(text: str) -> str:
    """A text without the resources, and the comments, of the reproducer that it is."""
    start = external_resources_start(text)
    if start is None or not re.search(rf"\b({MLIR}|{OURS}):", text[start:]):
        return text
    return _COMMENTS.sub("", text[:start])


def _resource(name: str, fields: Mapping[str, str | bool]) -> str:
    shown = (
        f"      {key}: {str(value).lower() if isinstance(value, bool) else _literal(value)}"
        for key, value in fields.items()
    )
    return f"    {name}: {{\n" + ",\n".join(shown) + "\n    }"


def _literal(text: str) -> str:
    """A text as a string literal of MLIR."""
    data = text.encode("utf-8", "backslashreplace")
    plain = {ord('"'): '\\"', ord("\\"): "\\\\"}
    return (
        '"'
        + "".join(
            plain.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:02X}") for byte in data
        )
        + '"'
    )


def _versions() -> str:
    """The versions of the compiler and of what it stands on."""
    from importlib.metadata import version

    names = "tgdialect", "xdsl", "numpy", "llvmlite"
    found: list[str] = []
    for name in names:
        with suppress(Exception):
            found.append(f"{name} {version(name)}")
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return ", ".join((*found, system))


def input_options(inputs: Sequence[Array]) -> dict[str, str]:
    """Arrays as `tg-run --input` takes them, by their names among the options of a reproducer; none
    if they are large together."""
    if sum(array.size for array in inputs) > MOST_ELEMENTS:
        return {}
    return {f"input_{i}": _spec(array) for i, array in enumerate(inputs)}


def _spec(array: Array) -> str:
    """An array as `tg-run --input` takes it. A scalar has no dtype: NumPy has none for an index."""
    values = ",".join(str(value).lower() for value in array.ravel().tolist())
    kind = "x".join([*map(str, array.shape), _DTYPES[array.dtype.name]])
    return f"{kind}={values}" if array.shape else values


_DTYPES = {numpy: name for name, numpy in NUMPY_NAMES.items() if name != "index"}
"""The dialect's dtypes by the names of NumPy's."""


# -- the folder ------------------------------------------------------------------------------------


def _folder() -> Path | None:
    """The folder for reproducers; None if there is to be none."""
    if (given := REPRODUCER_DIR.get()) is not None:
        return Path(given) if given else None
    cache = object_cache()
    return None if cache is None else cache.folder.parent / FOLDER


def _write(path: Path, data: bytes) -> None:
    """Write a reproducer, under another name first, and delete the oldest beyond MOST. Raises
    OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        write_file(path.name, data, folder)
        _sweep(folder)
    finally:
        os.close(folder)


def _sweep(folder: int) -> None:
    """Delete the oldest reproducers of this user, but for the last MOST, and stale files."""
    finished: list[tuple[int, str]] = []
    with os.scandir(folder) as files:
        for file in files:
            if (own := _OWN.fullmatch(file.name)) is None:
                continue
            with suppress(FileNotFoundError):  # Another process has deleted it.
                status = file.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                    continue
                if own[1] is None:
                    finished.append((status.st_mtime_ns, file.name))
                elif time.time() - status.st_mtime > _STALE_SECONDS:
                    os.unlink(file.name, dir_fd=folder)
    for _, name in sorted(finished)[:-MOST]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


# -- failures --------------------------------------------------------------------------------------


def failure_of_compiler(error: BaseException) -> str | None:
    """The kind of reproducer for an error: "llvm" if LLVM has ended a process, "compile" for an
    internal error; None for an error of the user, and one that has left a reproducer."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__
    if any(_LEFT in vars(each) for each in chain) or not isinstance(error, Exception):
        return None
    if any(isinstance(each, LLVMAbort) for each in chain):
        return "llvm"
    is_internal = isinstance(error, InternalError) or not isinstance(error, _OF_THE_USER)
    return "compile" if is_internal else None


_LEFT = "reproducer"
"""The attribute of an error that has the path of its reproducer."""


def name_in(error: BaseException, path: str | Path | None) -> None:
    """Have an error say where its reproducer is."""
    if (note := noted(path)) is not None:
        vars(error)[_LEFT] = path
        note_in(error, note)


def noted(path: str | Path | None) -> str | None:
    """The line that says where a reproducer is; None if there is none."""
    return None if path is None else f"reproducer: {path}"


def note_in(error: BaseException, note: str) -> None:
    """Add a line to what an error says."""
    if isinstance(error, CompilationError):
        first, *rest = error.diagnostics
        notes = (*first.notes, Diagnostic(note, Severity.NOTE))
        error.diagnostics = (replace(first, notes=notes), *rest)
    elif isinstance(error, DiagnosticException):
        vars(error).setdefault("notes", []).append(Diagnostic(note, Severity.NOTE))
    else:
        error.add_note(note)


_leaving: ContextVar[Callable[[str, str], object] | None] = ContextVar("leaving", default=None)


@contextmanager
def reproducible(module: str | Callable[[], str], **about: Any) -> Generator[None]:
    """Within the context, an internal error and LLVM's end of a process leave a reproducer of a
    module, which the error names. `about` are `leave`'s arguments."""

    def left(kind: str, error: BaseException | str) -> Path | None:
        return leave(kind, module, error=error, **about)

    token = _leaving.set(left)
    try:
        with before_abort(lambda: noted(left("llvm", ABORTED))):
            yield
    except Exception as error:
        if (kind := failure_of_compiler(error)) is not None:
            name_in(error, left(kind, error))
        raise
    finally:
        _leaving.reset(token)


@contextmanager
def leaving_none() -> Generator[None]:
    """Within the context no reproducer is left, by this process or those that it starts: programs
    that are tried because they may fail would take the places of others."""
    name = REPRODUCER_DIR.name
    before = os.environ.get(name)
    os.environ[name] = ""
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def leave_current(kind: str, error: str) -> None:
    """Leave a reproducer of the module that is being compiled, if it is known."""
    if (left := _leaving.get()) is not None:
        left(kind, error)
