"""`TinyJit` and `tinygrad.function`: both are `@tg.function`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tgdialect as tg
from tinygrad_shim.helpers import VARIABLES
from tinygrad_shim.internals import Refused


class JitError(Exception):
    """What tinygrad refuses to capture."""


class Jit:
    """A traced function with the methods of tinygrad's."""

    captured = Refused("TinyJit.captured")

    def __init__(self, fxn: Callable[..., Any], prune: bool = False) -> None:
        self.fxn = fxn
        self.reset()

    def reset(self) -> None:
        """Forget what was traced."""
        self.function = tg.function(self.fxn)
        self.cnt = 0

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self.__call__, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.cnt += 1
        return (self.function if VARIABLES["JIT"] else self.fxn)(*args, **kwargs)


def TinyJit(fxn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """With or without options."""
    return functools.partial(Jit, **options) if fxn is None else Jit(fxn, **options)


def function(fxn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`tg.function`. When tinygrad compiles it, and what it captures, is up to ours."""
    return functools.partial(function, **options) if fxn is None else tg.function(fxn)
