"""Values that a process makes once, whichever thread asks first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """A function that returns the same value on every call and every thread.

    With `functools.cache`, threads that call for the first time at the same time each get a value
    of their own. All but one are freed, although compiled code may have their addresses. Here all
    get the first value that is stored. There is no lock, which a child of `fork` could inherit
    locked.
    """
    made: list[T] = []

    @wraps(make)
    def get() -> T:
        if not made:
            made.append(make())
        return made[0]

    return get
