"""The object cache: compiled programs on disk, across processes.

Each entry is a file, named by the hash of everything that the program was compiled from. It is
written under a temporary name and then renamed, so that no process reads a partial entry. It begins
with a checksum; a damaged entry counts as absent. Entries are bytes that only `Program.from_bytes`
reads; nothing is unpickled. Since they are machine code, a folder or an entry that another user
owns or may write is not used.

`TG_CACHE_DIR` names a folder, by default `tgdialect` in the user's cache folder; if it is empty,
nothing is cached. Entries are in its folder `tg-objects`, which the cache makes together with a
`CACHEDIR.TAG` (bford.info/cachedir) and does not use without that: only regular files there, with
names as the cache writes them, are read, counted or deleted. `TG_CACHE_MIB` bounds their size, by
default 1024; the least recently used entries are deleted first (0: nothing is cached).

Processes that need the same absent entry at the same time, as the ranks of a program do, compile it
once: the first one locks the entry, and the others wait for it.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from errno import EPERM
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from tgdialect.environment import CACHE_DIR, CACHE_MIB

_MAGIC = b"tgdialect cache 1\n"
_HEADER = len(_MAGIC) + sha256().digest_size
_SUFFIX = ".tgo"
_UNFINISHED = ".tmp"
_LOCK = ".lock"
FOLDER = "tg-objects"
"""The name of the folder of entries."""
_MARKER = "CACHEDIR.TAG"
_SIGNATURE = b"""\
Signature: 8a477f597d28d172789f06886806bc55
# Object code that tgdialect has compiled. This folder may be deleted.
"""
_OWN = re.compile(r"(?:[a-z]+-)?[0-9a-f]{64}(?:\.tgo(?:\.[0-9a-f]{16}\.tmp)?|\.lock)")
"""The names that the cache writes: of an entry, of one that is being written, and of a lock."""
_PUTS_BETWEEN_SWEEPS = 64
"""The new entries after which a process looks whether the folder is too large. Larger: the folder
exceeds its limit by more entries; smaller: the folder is listed more often. An order of
magnitude."""
_STALE_SECONDS = 3600.0
"""The age, in seconds, of unfinished files and locks that a sweep removes. Smaller: a slow process
loses its own; larger: those of processes that were killed take space for longer."""
_WAIT_SECONDS = 60.0
"""The longest time that a process waits for one that compiles the same program, in seconds, before
it compiles by itself. Shorter: large programs are compiled twice; longer: a suspended process stops
others, as it keeps its lock. A process that ends gives it up."""
_POLL_SECONDS = 0.01
"""The time between two looks at a lock that another process has, in seconds. Larger: its program is
found later; smaller: more system calls."""


class ObjectCache:
    """A folder of entries, whose keys are made by `cache_key`."""

    def __init__(self, parent: Path, limit: int) -> None:
        """`limit` is in bytes. The folder is created in `parent` with the first entry."""
        self.folder = parent / FOLDER
        self.limit = limit
        self._puts = 0
        self._has_warned = False

    def get(self, key: str) -> bytes | None:
        """The payload of an entry; None if it is absent, damaged or another user's."""
        try:
            with self._opened() as folder:
                data = _read_own(key + _SUFFIX, folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(error)
            return None
        payload = data[_HEADER:]
        return payload if data[:_HEADER] == _header(key, payload) else None

    def put(self, key: str, payload: bytes) -> None:
        """Write an entry, or replace it. A folder that cannot be used gives a warning."""
        try:
            self._make_folder()
            with self._opened() as folder:
                write_file(key + _SUFFIX, _header(key, payload) + payload, folder)
                if self._puts % _PUTS_BETWEEN_SWEEPS == 0:
                    self._sweep(folder)
        except OSError as error:
            self._warn(error)
            return
        self._puts += 1

    @contextmanager
    def locked(self, key: str) -> Generator[None]:
        """Compile an absent entry within this: one process or thread at a time, for some time.

        Who has waited should look for the entry again. A folder that cannot be used is no error.
        """
        name, lock = key + _LOCK, None
        try:
            self._make_folder()
            with self._opened() as folder:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                lock = os.open(name, flags, 0o600, dir_fd=folder)
            _wait_for_lock(lock)
        except OSError as error:
            self._warn(error)
        try:
            yield
        finally:
            if lock is not None:
                with suppress(OSError), self._opened() as folder:
                    _delete(name, folder)
                fcntl.flock(lock, fcntl.LOCK_UN)  # A child of `fork` may have the file as well.
                os.close(lock)

    def _make_folder(self) -> None:
        """Create the folder and its parents. It never exists without its marker: it is made under
        another name first. Raises OSError."""
        if os.path.lexists(self.folder):
            return
        parent = self.folder.parent
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = parent / f".{FOLDER}.{os.urandom(8).hex()}"
        unfinished.mkdir(mode=0o700)
        marker = unfinished / _MARKER
        try:
            marker.write_bytes(_SIGNATURE)
            marker.chmod(0o600)
            os.rename(unfinished, self.folder)
        except OSError:
            marker.unlink(missing_ok=True)
            unfinished.rmdir()
            if not self.folder.is_dir():  # Another process has not made it meanwhile.
                raise

    @contextmanager
    def _opened(self) -> Generator[int]:
        """A descriptor of the folder, so that a rename meanwhile cannot exchange it. Raises
        PermissionError unless this user owns it, nobody else may write it, since entries are
        executed, and it has the marker, since entries are deleted."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _check_own("the folder", os.fstat(folder))
            if not _is_marked(folder):
                raise PermissionError(EPERM, f"the folder lacks the cache's {_MARKER}")
            yield folder
        finally:
            os.close(folder)

    def _warn(self, error: OSError) -> None:
        """Warn once per process. The program is compiled and runs all the same."""
        if not self._has_warned:
            self._has_warned = True
            text = f"compiled programs are not cached: {self.folder}: {error.strerror}"
            warnings.warn(text, stacklevel=3)

    def usage(self) -> tuple[int, int]:
        """The number of entries, and their bytes. Raises OSError if the folder cannot be used; one
        that does not exist yet has none."""
        sizes: list[int] = []
        with suppress(FileNotFoundError), self._opened() as folder:
            sizes = [size for _, size, name in _files(folder) if name.endswith(_SUFFIX)]
        return len(sizes), sum(sizes)

    def _sweep(self, folder: int) -> None:
        """Delete the least recently used entries until the folder is within its limit."""
        files, now = sorted(_files(folder)), time.time()
        excess = sum(size for _, size, name in files if name.endswith(_SUFFIX)) - self.limit
        for used, size, name in files:
            if name.endswith(_SUFFIX) and excess > 0:
                _delete(name, folder)
                excess -= size
            elif name.endswith((_UNFINISHED, _LOCK)) and now - used > _STALE_SECONDS:
                _delete(name, folder)


def _files(folder: int) -> Iterator[tuple[float, int, str]]:
    """Time of last use, size and name of each file of a folder that the cache has written."""
    with os.scandir(folder) as files:
        for file in files:
            if not _OWN.fullmatch(file.name):
                continue
            try:
                status = file.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # Another process has deleted it.
            if stat.S_ISREG(status.st_mode):
                yield status.st_mtime, status.st_size, file.name


def _check_own(what: str, status: os.stat_result) -> None:
    """Raise PermissionError for a file or folder that another user owns or may write."""
    if status.st_uid != os.geteuid():
        raise PermissionError(EPERM, f"{what} belongs to user {status.st_uid}, not {os.geteuid()}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(status.st_mode)
        raise PermissionError(EPERM, f"others may write {what} (its mode is {mode:o})")


_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Opening a pipe would wait for a writer."""


def _is_marked(folder: int) -> bool:
    """Whether a folder has the file that the cache has put there."""
    try:
        with open(os.open(_MARKER, _READ, dir_fd=folder), "rb") as file:
            return file.read(len(_SIGNATURE) + 1) == _SIGNATURE
    except FileNotFoundError:
        return False


def _read_own(name: str, folder: int) -> bytes:
    """The bytes of a file of this user, whose time of last use is set. Raises OSError."""
    with open(os.open(name, _READ, dir_fd=folder), "rb") as file:
        status = os.fstat(file.fileno())
        _check_own(name, status)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(EPERM, f"{name} is no file")
        os.utime(file.fileno())  # The time of the last use, for `_sweep`.
        return file.read()


def write_file(name: str, data: bytes, folder: int) -> None:
    """Create or replace a file of a folder, which is open, atomically. Raises OSError."""
    unfinished = f"{name}.{os.urandom(8).hex()}{_UNFINISHED}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(unfinished, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
        os.replace(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _delete(unfinished, folder)
        raise


def _wait_for_lock(file: int) -> None:
    """Lock a file. Returns without the lock if somebody keeps it for too long."""
    end = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < end:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_POLL_SECONDS)
        else:
            return


def _delete(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _header(key: str, payload: bytes) -> bytes:
    digest = sha256(key.encode())
    digest.update(payload)
    return _MAGIC + digest.digest()


_cache_in = cache(ObjectCache)


def object_cache() -> ObjectCache | None:
    """The cache that the environment describes; None if it is switched off.

    Raises SettingError if the environment is wrong.
    """
    folder, limit = CACHE_DIR.get(), CACHE_MIB.get()
    if folder == "" or not limit:
        return None
    return _cache_in(Path(folder or _default_folder()), limit << 20)


def cached(make: Callable[[], bytes], *parts: str) -> bytes:
    """The result of `make`, which the object cache keeps for these texts and this compiler."""
    if (store := object_cache()) is None:
        return make()
    key = cache_key(*parts)
    if (data := store.get(key)) is None:
        store.put(key, data := make())
    return data


def _default_folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # The specification has it ignored then.
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tgdialect")


def cache_key(*parts: str) -> str:
    """The name of the entry for these texts and this version of the compiler."""
    digest = sha256(_compiler_version().encode())
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@cache
def _compiler_version() -> str:
    """A text that changes with any source file of this package, of xDSL or of llvmlite."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Importing a package, or asking for its version, is slow. Installing another version replaces
    # its `__init__.py`.
    specs = [find_spec(name) for name in ("xdsl", "llvmlite")]
    installed = [os.stat(spec.origin) for spec in specs if spec and spec.origin]
    return repr(([(s.st_size, s.st_mtime_ns) for s in installed], sorted(_source_files(package))))


def _source_files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of each file of code, names or coefficients below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _source_files(entry.path)
            elif entry.name.endswith((".py", ".json", ".ll", ".c", ".txt")):
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
