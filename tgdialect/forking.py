"""What a child of `fork` needs of this package while other threads import or compile.

The child has only the thread that forked: a module that another thread was importing would stay
half of one, and a lock that another thread held would stay held. Other locks are made anew, or
waited for, where they are: in `backends/llvmlite_gaps.py` and `runtime/memory.py`.
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
"""What this package imports. No import of these waits for LLVM, whose lock a fork may hold."""

_module_locks: dict[str, Any] = getattr(import_module("importlib._bootstrap"), "_module_locks", {})

_has_threads = False


def _before() -> None:
    """Wait for other threads' imports of what this package imports."""
    global _has_threads
    _has_threads = threading.active_count() > 1
    waited: set[str] = set()
    # While one import ends, another may begin.
    while _has_threads and (begun := set(_begun_imports()) - waited):
        for name in begun:
            with suppress(Exception):  # The thread that imports it is told.
                import_module(name)
        waited |= begun


def _begun_imports() -> Iterator[str]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _PACKAGES:
            spec = getattr(module, "__spec__", None)
            if getattr(spec, "_initializing", False):
                yield name


def _forget_import_locks() -> None:
    """A thread holds a module's lock before `sys.modules` has the module; the child has no such
    thread. Python makes a lock anew that is not in its table."""
    if _has_threads:
        _module_locks.clear()


def _renew_property_locks() -> None:
    """Python 3.11 locks each `cached_property` while a thread computes one of its values."""
    if not _has_threads:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("tgdialect", "xdsl"):
            continue
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name:
                for field in list(vars(kind).values()):
                    if isinstance(field, cached_property):
                        vars(field)["lock"] = threading.RLock()


def prepare_for_forks() -> None:
    """Have forks of this process take care of imports and property locks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_child=_forget_import_locks)
        if sys.version_info < (3, 12):
            os.register_at_fork(after_in_child=_renew_property_locks)
