"""Settings of the interpreter while a program is compiled."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

_SWITCH_SECONDS = 2e-4


class _Settings(NamedTuple):
    """Whether garbage is collected, and how long a thread keeps the interpreter."""

    collects: bool
    interval: float

    @classmethod
    def now(cls) -> _Settings:
        return cls(gc.isenabled(), sys.getswitchinterval())

    def restore(self) -> None:
        if self.interval > _SWITCH_SECONDS:
            sys.setswitchinterval(self.interval)
        if self.collects:
            gc.enable()


_compilations: list[_Settings] = []
"""The settings before each compilation that is under way."""


@contextmanager
def at_full_speed() -> Generator[None]:
    """Collect no garbage: a compiler makes so many objects, and drops so few in cycles, that a
    third of its time would be spent on looking for some. And have a thread wait for the
    interpreter no longer than it takes LLVM to do something: it asks after each call.

    What another compilation has set already is left to that one.
    """
    before = _Settings.now()
    _compilations.append(before)
    try:
        gc.disable()
        if before.interval > _SWITCH_SECONDS:
            sys.setswitchinterval(_SWITCH_SECONDS)
        yield
    finally:
        before.restore()
        if before in _compilations:  # Not after a fork meanwhile.
            _compilations.remove(before)


def _leave_parent() -> None:
    """Restore the settings in a child of `fork`, where other threads' compilations never end."""
    while _compilations:
        _compilations.pop().restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_parent)
