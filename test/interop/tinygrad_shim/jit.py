"""`TinyJit` and `tinygrad.function`: both are `@tg.function`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tgdialect as tg
from tgdialect.frontend.function import SignatureError
from tinygrad_shim.helpers import VARIABLES
from tinygrad_shim.internals import Refused

JitError = SignatureError
"""Of what tinygrad refuses to capture, our functions refuse other arguments."""


class Jit:
    """A traced function with the methods of tinygrad's. It has one signature, and is traced in the
    second call, as tinygrad captures."""

    captured = Refused("TinyJit.captured")

    def __init__(self, fxn: Callable[..., Any], prune: bool = False) -> None:
        self.fxn = fxn
        self.reset()

    def reset(self) -> None:
        """Forget what was traced."""
        self.function = tg.function(self.fxn, max_signatures=1)
        self.cnt = 0

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self.__call__, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.cnt += 1
        is_traced = VARIABLES["JIT"] and self.cnt > 1
        return (self.function if is_traced else self.fxn)(*args, **kwargs)


def TinyJit(fxn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """With or without options."""
    return functools.partial(Jit, **options) if fxn is None else Jit(fxn, **options)


def function(fxn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`tg.function`. When tinygrad compiles it, and what it captures, is up to ours."""
    if fxn is None:
        return functools.partial(function, **options)
    traced = tg.function(fxn)

    @functools.wraps(fxn)
    def call(*args: Any, **kwargs: Any) -> Any:
        for argument in (*args, *kwargs.values()):  # Any tensor may be differentiated by.
            if isinstance(argument, tg.Tensor) and argument.dtype.is_float:
                argument.node.is_tracked = True
        return traced(*args, **kwargs)

    return call
