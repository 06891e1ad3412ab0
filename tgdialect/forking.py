"""Makes `fork` safe while other threads import modules or compile.

The child has only the thread that forked. A module that another thread was importing would stay
incomplete, and a lock that another thread held would stay locked. So a fork waits for imports and
keeps new ones from beginning, and the child replaces locks of imports and of cached properties.
The locks of `backends/llvm_machine.py` and `runtime/memory.py` are handled there.
"""

from __future__ import annotations

import _imp
import os
import sys
import threading
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import Any

_PACKAGES = frozenset({"tgdialect", "xdsl", "numpy", "llvmlite"}) | sys.stdlib_module_names
"""The packages whose imports a fork waits for. None of them calls LLVM when it is imported: the
fork may hold LLVM's lock, and would wait forever."""

_LOCKED_PACKAGES = ("tgdialect", "xdsl")
"""The packages whose classes have cached properties that a child may use."""

_module_locks: dict[str, Any] = getattr(import_module("importlib._bootstrap"), "_module_locks", {})
"""Python's locks of modules, by name and weakly: one is alive as long as a thread imports it."""

_has_threads = False


def _before() -> None:
    """Wait until no other thread is importing one of `_PACKAGES`, and let none begin.

    Python's lock of imports, which a thread needs to begin one, is held from here until the fork
    is over. Otherwise an import could begin between the last look and the fork.
    """
    global _has_threads
    _has_threads = threading.active_count() > 1
    if not _has_threads:
        return
    waited: set[str] = set()
    while True:
        _imp.acquire_lock()
        if not (begun := set(_begun_imports()) - waited):
            return
        _imp.release_lock()
        for name in begun:
            with suppress(Exception):  # The importing thread gets the exception, too.
                import_module(name)
        waited |= begun


def _begun_imports() -> Iterator[str]:
    """The modules of `_PACKAGES` that other threads are looking for or executing."""
    for name, reference in _module_locks.copy().items():
        if name.partition(".")[0] in _PACKAGES:
            lock = reference()
            if lock is not None and lock.owner != threading.get_ident():
                yield name


def _after_in_parent() -> None:
    if _has_threads:
        _imp.release_lock()


def _after_in_child() -> None:
    """Drop Python's locks of modules, which it makes again on demand: threads that are not in the
    child may have held those of modules outside `_PACKAGES`."""
    if _has_threads:
        _module_locks.clear()
        _imp.release_lock()


def _renew_property_locks() -> None:
    """Replace the locks of cached properties, which Python 3.11 holds while it computes a value."""
    if not _has_threads:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in _LOCKED_PACKAGES:
            continue
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name:
                for field in list(vars(kind).values()):
                    if isinstance(field, cached_property):
                        vars(field)["lock"] = threading.RLock()


@contextmanager
def no_warnings_of_forks() -> Generator[None]:
    """Without the warnings of Python and JAX about forks beside other threads: this file makes them
    safe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def end_without_handlers() -> None:
    """Make `exit` of C, by which LLVM ends a process, `_exit` in this child: handlers of other
    libraries may wait for threads, which a child does not have (ONNX Runtime's do)."""
    import ctypes  # Late: programs that fork no child do without.

    libc = ctypes.CDLL(None)
    libc.__cxa_atexit(libc._exit, ctypes.c_void_p(1), None)  # The last one is called first.


def prepare_for_forks() -> None:
    """Register the functions above with `fork`."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_before,
            after_in_parent=_after_in_parent,
            after_in_child=_after_in_child,
        )
        if sys.version_info < (3, 12):
            os.register_at_fork(after_in_child=_renew_property_locks)
