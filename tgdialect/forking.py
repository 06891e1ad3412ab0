"""Makes `fork` safe while other threads import modules or compile.

The child has only the thread that forked. A module that another thread was importing would stay
incomplete, and a lock that another thread held would stay locked. So a fork waits for imports, and
the child replaces locks of imports and of cached properties. The locks of
`backends/llvmlite_gaps.py` and `runtime/memory.py` are handled there.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import Any

_PACKAGES = frozenset({"tgdialect", "xdsl", "numpy", "llvmlite"}) | sys.stdlib_module_names
"""The packages whose imports a fork waits for. None of them calls LLVM when it is imported: the
fork may hold LLVM's lock, and would wait forever."""

_LOCKED_PACKAGES = ("tgdialect", "xdsl")
"""The packages whose classes have cached properties that a child may use."""

_module_locks: dict[str, Any] = getattr(import_module("importlib._bootstrap"), "_module_locks", {})

_has_threads = False


def _before() -> None:
    """Wait until no other thread is importing one of `_PACKAGES`."""
    global _has_threads
    _has_threads = threading.active_count() > 1
    waited: set[str] = set()
    # While one import ends, another may begin.
    while _has_threads and (begun := set(_begun_imports()) - waited):
        for name in begun:
            with suppress(Exception):  # The importing thread gets the exception, too.
                import_module(name)
        waited |= begun


def _begun_imports() -> Iterator[str]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _PACKAGES:
            spec = getattr(module, "__spec__", None)
            if getattr(spec, "_initializing", False):
                yield name


def _forget_import_locks() -> None:
    """Drop Python's locks of modules, which it makes again on demand: a thread may have held one
    for a module that is not in `sys.modules` yet, for which `_before` did not wait."""
    if _has_threads:
        _module_locks.clear()


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


def prepare_for_forks() -> None:
    """Register the functions above with `fork`."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_child=_forget_import_locks)
        if sys.version_info < (3, 12):
            os.register_at_fork(after_in_child=_renew_property_locks)
