"""Values that a process makes once, whichever of its threads asks first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """A function that returns what its first call made, on every thread.

    `functools.cache` hands each of several first callers a value of its own, of which all but one
    die, with the memory that compiled code may have the address of. Here the first value to be
    stored is everybody's. There is no lock, which a child of `fork` could find held.
    """
    made: list[T] = []

    @wraps(make)
    def get() -> T:
        if not made:
            made.append(make())
        return made[0]

    return get
