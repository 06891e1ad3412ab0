"""Methods of dataclasses that Python compiles when they are first called."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

_PACKAGES = ("tgdialect", "xdsl")
"""The packages whose dataclasses are made so: signatures of others' methods stay as they are."""

_PROCESS, _CREATE = "_process_class", "_create_fn"
"""The functions of Python's library that make a dataclass, and the text of a method a function.
Versions that have no such functions, as Python 3.13, compile all methods at once."""

_process: Callable[..., type] | None = getattr(dataclasses, _PROCESS, None)
_create: Callable[..., Callable[..., Any]] | None = getattr(dataclasses, _CREATE, None)


@contextmanager
def compiled_later() -> Generator[None]:
    """Leave methods of dataclasses that are defined meanwhile uncompiled until their first call.

    The compiler and xDSL have 400 dataclasses with 1,900 methods, which Python writes as texts and
    compiles: a quarter of the time that the import of the compiler takes. A compilation calls 200.
    """
    if _process is None or _create is None:
        yield
        return
    setattr(dataclasses, _PROCESS, _process_later)
    try:
        yield
    finally:
        setattr(dataclasses, _PROCESS, _process)


def _process_later(cls: type, *arguments: Any, **options: Any) -> type:
    assert _process is not None
    if cls.__module__.partition(".")[0] not in _PACKAGES:
        return _process(cls, *arguments, **options)
    if not cls.__doc__:
        cls.__doc__ = cls.__name__  # Python would write its signature there.
    setattr(dataclasses, _CREATE, _create_later)
    try:
        return _process(cls, *arguments, **options)
    finally:
        setattr(dataclasses, _CREATE, _create)


def _create_later(name: str, *arguments: Any, **others: Any) -> Callable[..., Any]:
    """A method that makes itself in its first call, and takes its own place in the classes that
    have it."""
    made: Callable[..., Any] | None = None

    def method(self: object, /, *given: Any, **named: Any) -> Any:
        nonlocal made
        if made is None:
            assert _create is not None
            created = _create(name, *arguments, **others)
            created.__qualname__ = method.__qualname__
            made = created
            for owner in type(self).__mro__:
                if owner.__dict__.get(name) is method:
                    setattr(owner, name, made)
        return made(self, *given, **named)

    method.__name__ = name
    return method
