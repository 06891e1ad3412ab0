"""Methods of dataclasses that Python compiles when they are first called."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

_PACKAGES = ("tgdialect", "xdsl")
"""The packages whose dataclasses are made so: who asks for signatures of others' finds them."""

_CREATE = "_create_fn"
"""The function of Python's library that makes all methods of dataclasses. Versions that have none
of this name, as Python 3.13, make them at once."""


@contextmanager
def compiled_later() -> Generator[None]:
    """Leave methods of the dataclasses that are defined meanwhile uncompiled until their first call.

    The compiler and xDSL have 400 dataclasses with 1,900 methods, which Python writes as texts and
    compiles: a third of the time that the import of the compiler takes. A compilation calls a tenth
    of them.
    """
    create = getattr(dataclasses, _CREATE, None)
    if create is None:
        yield
        return
    setattr(dataclasses, _CREATE, partial(_create_later, create))
    try:
        yield
    finally:
        setattr(dataclasses, _CREATE, create)


def _create_later(
    create: Callable[..., Callable[..., Any]], name: str, *arguments: Any, **others: Any
) -> Callable[..., Any]:
    """A method that makes itself in its first call, and takes its own place in the classes that
    have it."""
    if others["globals"]["__name__"].partition(".")[0] not in _PACKAGES:
        return create(name, *arguments, **others)
    made: Callable[..., Any] | None = None

    def method(self: object, *given: Any, **named: Any) -> Any:
        nonlocal made
        if made is None:
            created = create(name, *arguments, **others)
            created.__qualname__ = method.__qualname__
            made = created
            for owner in type(self).__mro__:
                if owner.__dict__.get(name) is method:
                    setattr(owner, name, made)
        return made(self, *given, **named)

    method.__name__ = name
    return method
