"""What a child of `fork` needs of this package while other threads import or compile.

The child has only the thread that forked: a module that another thread was importing would stay
half of one, and a lock that another thread held would stay held. Other locks are made anew, or
waited for, where they are: in `backends/llvm_cpu.py` and `runtime/memory.py`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from types import ModuleType

_PACKAGES = ("tgdialect", "xdsl")

_has_threads = False


def _before() -> None:
    """Wait for other threads' imports of this package, and so of all that it imports."""
    global _has_threads
    _has_threads = threading.active_count() > 1
    if not _has_threads:
        return
    for name, module in _modules():
        if getattr(module.__spec__, "_initializing", False):
            import_module(name)


def _renew_property_locks() -> None:
    """Python 3.11 locks each `cached_property` while a thread computes one of its values."""
    if not _has_threads:
        return
    for name, module in _modules():
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name:
                for field in list(vars(kind).values()):
                    if isinstance(field, cached_property):
                        vars(field)["lock"] = threading.RLock()


def _modules() -> Iterator[tuple[str, ModuleType]]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _PACKAGES:
            yield name, module


def prepare_for_forks() -> None:
    """Have forks of this process take care of imports and property locks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before)
        if sys.version_info < (3, 12):
            os.register_at_fork(after_in_child=_renew_property_locks)
