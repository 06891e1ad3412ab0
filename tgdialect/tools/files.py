"""The files that the tools write."""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import BinaryIO

from tgdialect.tools.console import ToolError, tool_errors


def write_files(paths: Sequence[str], writers: Sequence[Callable[[BinaryIO], object]]) -> None:
    """Have each writer write its file, all or none: all write under temporary names first, which
    are then renamed. A path may also name a pipe or a device, which is written directly.

    Raises `CompilationError` if a file cannot be written, and for two with one name.
    """
    # The link of a pipe, as /dev/stdout may be, leads to a name that is no file's.
    places = [os.path.realpath(path) if _is_file(path) else path for path in paths]
    files = [place for place in places if _is_file(place)]
    if len(set(files)) < len(files):
        raise ToolError(f"several results for one file: {', '.join(paths)}")
    with ExitStack() as cleanup:
        renames: list[tuple[str, str, str]] = []
        for number, (path, place, write) in enumerate(zip(paths, places, writers, strict=True)):
            with tool_errors(OSError, context=f"cannot write {path}: "):
                if not _is_file(place):
                    with open(place, "wb") as file:
                        write(file)
                    continue
                mode = _mode(place)
                temporary = os.path.join(os.path.dirname(place), f".{os.getpid()}-{number}.tmp")
                with open(temporary, "xb") as file:
                    cleanup.callback(_delete, temporary)
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    write(file)
                renames.append((path, temporary, place))
        for path, temporary, place in renames:
            with tool_errors(OSError, context=f"cannot write {path}: "):
                os.replace(temporary, place)


def _mode(place: str) -> int | None:
    """The permissions of the file of a name, if there is one. Raises OSError if it cannot be
    written, or there cannot be one."""
    try:
        mode = stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        return None
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return mode


def _is_file(place: str) -> bool:
    """Whether a path names a regular file, or nothing yet."""
    return os.path.isfile(place) or not os.path.exists(place)


def _delete(temporary: str) -> None:
    """Delete a file that was not renamed. Its name was free before."""
    if os.path.lexists(temporary):
        os.unlink(temporary)
