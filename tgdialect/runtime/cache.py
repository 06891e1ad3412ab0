"""The object cache: compiled programs on disk, across processes.

An entry is a file of its own, named by the hash of all that the program was compiled from. It is
written whole under another name and then renamed, so that processes that write at the same time do
not see half of one, and it begins with a checksum: one that is damaged counts as absent. Entries
are bytes that only `Program.from_bytes` reads; nothing is unpickled.

`TG_CACHE_DIR` names the folder, by default `tgdialect` in the user's cache folder; if it is empty,
nothing is cached. `TG_CACHE_MIB` bounds the size of the folder, by default 1024: what was not used
for longest goes first.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import get_ident

_MAGIC = b"tgdialect cache 1\n"
_HEADER = len(_MAGIC) + sha256().digest_size
_SUFFIX = ".tgo"
_UNFINISHED = ".tmp"
_PUTS_BETWEEN_SWEEPS = 64
_STALE_SECONDS = 3600.0


class ObjectCache:
    """A folder of entries."""

    def __init__(self, folder: Path, limit: int) -> None:
        """`limit` is in bytes; the folder is made when the first entry is."""
        self.folder = folder
        self._limit = limit
        self._puts = 0

    def get(self, key: str) -> bytes | None:
        """The payload of an entry, if there is one and it is whole."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            os.utime(path)  # The time of the last use, for `_sweep`.
        except OSError:
            return None
        payload = data[_HEADER:]
        return payload if data[:_HEADER] == _header(key, payload) else None

    def put(self, key: str, payload: bytes) -> None:
        """Make an entry, or replace it. A folder that cannot be written gives a warning."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished = self.folder / f"{key}.{os.getpid()}.{get_ident()}{_UNFINISHED}"
            try:
                handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with open(handle, "wb") as file:
                    file.write(_header(key, payload) + payload)
                os.replace(unfinished, self._path(key))
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        except OSError as error:
            warnings.warn(
                f"compiled programs are not cached: {self.folder}: {error.strerror}", stacklevel=2
            )
            return
        if self._puts % _PUTS_BETWEEN_SWEEPS == 0:
            self._sweep()
        self._puts += 1

    def _path(self, key: str) -> Path:
        return self.folder / (key + _SUFFIX)

    def _sweep(self) -> None:
        """Delete what was not used for longest until the folder is within its limit."""
        entries: list[tuple[float, int, str]] = []
        now = time.time()
        with os.scandir(self.folder) as files:
            for file in files:
                try:
                    status = file.stat()
                except FileNotFoundError:
                    continue  # Another process deletes as well.
                if file.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, file.path))
                elif file.name.endswith(_UNFINISHED) and now - status.st_mtime > _STALE_SECONDS:
                    Path(file.path).unlink(missing_ok=True)
        excess = sum(size for _, size, _ in entries) - self._limit
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            Path(path).unlink(missing_ok=True)
            excess -= size


def _header(key: str, payload: bytes) -> bytes:
    digest = sha256(key.encode())
    digest.update(payload)
    return _MAGIC + digest.digest()


def object_cache() -> ObjectCache | None:
    """The cache that the environment asks for; None if it asks for none.

    Raises ValueError if `TG_CACHE_MIB` is not a number.
    """
    folder, limit = os.environ.get("TG_CACHE_DIR"), os.environ.get("TG_CACHE_MIB", "1024")
    if folder == "":
        return None
    if not limit.isdecimal():
        raise ValueError(f"TG_CACHE_MIB is a number of MiB, got {limit!r}")
    return _cache_in(folder or _default_folder(), int(limit) << 20)


@cache
def _cache_in(folder: str, limit: int) -> ObjectCache:
    return ObjectCache(Path(folder), limit)


def _default_folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tgdialect")


def cache_key(*parts: str) -> str:
    """The name of the entry that is made of these texts, by this version of the compiler."""
    digest = sha256(_compiler_version().encode())
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@cache
def _compiler_version() -> str:
    """Changes when any file of this package does, or a package that it compiles with."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # A version takes long to ask for, and a package to import; installing another one replaces
    # this file.
    specs = [find_spec(name) for name in ("xdsl", "llvmlite")]
    installed = [os.stat(spec.origin) for spec in specs if spec and spec.origin]
    files = sorted(_source_files(package))
    return repr(([(s.st_size, s.st_mtime_ns) for s in installed], files))


def _source_files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of each file of Python below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _source_files(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
