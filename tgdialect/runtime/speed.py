"""Settings of the Python interpreter while a program is traced or compiled, or the compiler
imported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

_SWITCH_SECONDS = 2e-4
"""The longest time that LLVM's thread waits for Python's lock after each of its 19 calls for a
kernel, in seconds. Longer: less of LLVM's work is done beside Python's; shorter: more switches.
Python's default is 5 ms; with 0.2 ms compiling ResNet-18 took 3.6 s instead of 4.3 s."""


class _Settings(NamedTuple):
    """Whether garbage is collected, and for how long a thread may keep Python's lock."""

    collects: bool
    interval: float

    def restore(self) -> None:
        if self.interval > _SWITCH_SECONDS:
            sys.setswitchinterval(self.interval)
        if self.collects:
            gc.enable()


_compilations: list[_Settings] = []
"""The settings before each compilation that is running."""


@contextmanager
def at_full_speed() -> Generator[None]:
    """Switch off garbage collection, and let threads exchange Python's lock more often.

    A compiler makes many objects and few cycles: the collector would take a third of the time.
    LLVM's thread needs Python's lock after each call of LLVM, for a moment only.

    If several compilations run at once, each one restores the settings that it has found.
    """
    before = _Settings(gc.isenabled(), sys.getswitchinterval())
    _compilations.append(before)
    try:
        gc.disable()
        if before.interval > _SWITCH_SECONDS:
            sys.setswitchinterval(_SWITCH_SECONDS)
        yield
    finally:
        before.restore()
        if before in _compilations:  # A child of `fork` has removed it.
            _compilations.remove(before)


def imported(name: str) -> ModuleType:
    """A module. If it has to be imported, no garbage is collected meanwhile.

    What modules make stays. The collector would look through it again and again: a twelfth of the
    time that the import of the compiler takes. Now it belongs to the oldest generation at once.
    """
    if name in sys.modules:
        return import_module(name)  # Waits for another thread that imports it.
    with at_full_speed():
        module = import_module(name)
        if not gc.get_freeze_count():  # What others have frozen would thaw.
            gc.freeze()
            gc.unfreeze()
        return module


def _leave_parent() -> None:
    """Restore the settings in a child of `fork`, where other threads' compilations never end.

    What the parent has made is no garbage of the child. To look for any took 0.15 s in each child
    of a ResNet-50's compilation, which then had copies of nearly all pages.
    """
    if _compilations:
        gc.freeze()
    while _compilations:
        _compilations.pop().restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_parent)
