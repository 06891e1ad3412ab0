"""Bytes of files as contents of BINARYs: they stay outside of the text of a program.

A program names a file relative to a folder, which is that of its own text unless the caller names
another one. Nothing outside of that folder is opened. Files are mapped into memory, read only.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass, replace
from mmap import MADV_DONTNEED, PAGESIZE, mmap
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    import numpy as np

    from tgdialect.ops.numpy_dtypes import Array

Version = tuple[int, int, int]
"""A version of a file: its size in bytes, the time of its last change in nanoseconds, and its
number in the file system, which another file of the same time and size has not."""

_ELSEWHERE = "--data-folder and data_folder= name another folder"
"""The advice for a file that is not there."""

_CHANGED = "has changed since the program was read: read it again"

_MOST = (1 << 63) - 1
"""The greatest size of a file, as POSIX has sizes on machines of 64 bits."""


class DataFileError(OSError):
    """Bytes of a file that a program needs, and does not get. `data` says which."""

    def __init__(self, message: str, data: FileData) -> None:
        super().__init__(message)
        self.data = data


@dataclass(frozen=True, slots=True)
class FileData:
    """`length` bytes of the file `name` in `folder`, from byte `offset` on.

    Equal are those of the same version of the same file: `version` is that of the time when this
    was made, or None if there was no such file, or if any version will do. Contents are never
    compared, nor hashed.
    """

    folder: str
    """The absolute path of a folder, without links."""
    name: str
    """The path of a file in it, with `/` between folders."""
    offset: int
    length: int
    version: Version | None = None

    @classmethod
    def of(cls, folder: str | os.PathLike[str], name: str, offset: int, length: int) -> FileData:
        """A part of a file as it is now. The file is not opened, and need not be there.

        Raises ValueError for a name that is no path of a file inside of a folder, and for numbers
        that are negative or beyond any file.
        """
        if name.startswith("/"):
            raise ValueError(f"{name!r} is an absolute path: write the file's place in the folder")
        if not {"", ".", ".."}.isdisjoint(name.split("/")) or "\\" in name or "\0" in name:
            raise ValueError(
                f"{name!r} is no path of a file in the folder: write names with / between them, "
                "without . and .."
            )
        if min(offset, length, _MOST - offset - length) < 0:
            raise ValueError(f"no file has {length} bytes from byte {offset} on")
        made = cls(os.path.realpath(folder), name, offset, length)
        try:
            status = os.stat(made.path)
        except (OSError, ValueError):
            return made
        return replace(made, version=_version(status))

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self.folder, self.name)

    def __len__(self) -> int:
        return self.length

    def part(self, start: int, length: int) -> FileData:
        """So many of these bytes, from one on."""
        assert 0 <= start <= self.length - length
        return replace(self, offset=self.offset + start, length=length)

    @property
    def array(self) -> Array:
        """The bytes, read only: a view of the file, which is mapped once.

        Raises DataFileError if there is no such regular file in the folder, if it is too short, or
        if it has changed since this was made.
        """
        return self.of_file(self.file())

    @property
    def of_now(self) -> FileData:
        """This part of the version of the file that there is now, if any version will do."""
        if self.version is not None:
            return self
        return FileData.of(self.folder, self.name, self.offset, self.length)

    def check_unwritten(self) -> None:
        """Raise DataFileError if the file has been written to since this was made. Another file in
        its place is none: the old one stays mapped as it was."""
        try:
            status = os.stat(self.path)
        except OSError:
            return
        now = _version(status)
        if self.version is not None and now != self.version and now[-1] == self.version[-1]:
            raise self._error(_CHANGED)

    def of_file(self, whole: Array) -> Array:
        """The bytes of this part, of those of the whole file. Raises DataFileError if it is too
        short."""
        if self.offset + self.length > len(whole):
            wanted = f"{self.length} bytes from byte {self.offset} on are needed"
            raise self._error(f"is too short: it has {len(whole)} bytes, and {wanted}")
        return whole[self.offset : self.offset + self.length]

    def file(self) -> Array:
        """All bytes of the file, read only. Raises as `array`, but for a file that is too short."""
        import numpy as np  # Tools start without it.

        with ExitStack() as opened:
            opened.callback(os.close, file := self._opened())
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise self._error("is no regular file")
            if self.version is not None and self.version != _version(status):
                raise self._error(_CHANGED)
            if not status.st_size:
                return np.empty(0, np.uint8)  # Nothing can be mapped.
            key = status.st_dev, *_version(status)
            if (mapped := _mapped.get(key)) is None:
                try:
                    with os.fdopen(file, "rb", closefd=False) as reader:
                        mapped = _mapped[key] = np.memmap(reader, np.uint8, "r")
                except (OSError, ValueError) as error:
                    raise self._error(f"cannot be mapped into memory: {error}") from error
        # A plain array, whose views are as quick to make as any; they keep the map alive.
        return cast("Array", mapped.view(np.ndarray))

    def _opened(self) -> int:
        """A descriptor of the file. Raises DataFileError."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        here: int | None = None
        with ExitStack() as opened:
            try:
                real = os.path.realpath(self.path)
                if os.path.commonpath((self.folder, real)) != self.folder:
                    raise self._error("is a link that leaves the folder")
                # No link is followed from here on, whoever makes one meanwhile.
                *folders, last = os.path.relpath(real, self.folder).split(os.sep)
                for each in (self.folder, *folders):
                    here = os.open(each, flags | os.O_DIRECTORY, dir_fd=here)
                    opened.callback(os.close, here)
                # Opening a pipe would wait for a writer.
                return os.open(last, flags | os.O_NONBLOCK, dir_fd=here)
            except DataFileError:
                raise
            except (OSError, ValueError) as error:
                is_absent = isinstance(error, FileNotFoundError | NotADirectoryError)
                reason = getattr(error, "strerror", None) or str(error)
                what = f"is not there: {_ELSEWHERE}" if is_absent else f"cannot be read: {reason}"
                raise self._error(what) from None

    def _error(self, reason: str) -> DataFileError:
        return DataFileError(f"the file {self.name!r} of the folder {self.folder} {reason}", self)


Contents = bytes | FileData
"""The contents of a BINARY: bytes in the text, or bytes of a file."""


def array_of(contents: Contents) -> Array:
    """Contents as a vector of bytes, read only. Raises DataFileError."""
    return DataReader().array(contents)


class DataReader:
    """Gives contents as arrays, and opens a file once for all parts of it."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, str, Version | None], Array] = {}

    def array(self, contents: Contents) -> Array:
        """Contents as a vector of bytes, read only. Raises DataFileError."""
        import numpy as np  # Tools start without it.

        if isinstance(contents, bytes):
            return np.frombuffer(contents, np.uint8)
        key = contents.folder, contents.name, contents.version
        if (whole := self._files.get(key)) is None:
            whole = self._files[key] = contents.file()
        return contents.of_file(whole)


def leave(array: Array) -> None:
    """Let go of the memory of an array on a file, as far as it is in pages of its own. The system
    reads the file again if the array is used again."""
    import numpy as np  # Tools start without it.

    base: Any = array
    while isinstance(base, np.ndarray):
        base = cast(Any, base).base
    if isinstance(base, mmap):
        start = array.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
        first, last = -(-start // PAGESIZE), (start + array.nbytes) // PAGESIZE
        if first < last:
            base.madvise(MADV_DONTNEED, first * PAGESIZE, (last - first) * PAGESIZE)


def _version(status: os.stat_result) -> Version:
    return status.st_size, status.st_mtime_ns, status.st_ino


_mapped: WeakValueDictionary[tuple[int, ...], np.memmap] = WeakValueDictionary()  # pyright: ignore
"""The files that are mapped, as long as somebody uses one: by device and version."""
