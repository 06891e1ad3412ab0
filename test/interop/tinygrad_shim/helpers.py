"""`tinygrad.helpers`: settings, and small functions of Python."""

from __future__ import annotations

import functools
import math
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ContextDecorator
from pathlib import Path
from typing import Any, TypeVar
from unittest import SkipTest

from tgdialect.frontend import dtypes
from tgdialect.frontend.neural import Neural
from tinygrad_shim.internals import UsesInternals

T = TypeVar("T")
MISSING = "a file of the network is missing"
OSX = sys.platform == "darwin"
CI = os.getenv("CI", "") != ""


class ContextVar:
    """A setting of tinygrad with its default, which tests compare with numbers."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def __getattr__(self, name: str) -> Any:  # DEV.interface, DEV.device and so on.
        if name.startswith("_"):
            raise AttributeError(name)
        return ""

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return self.value == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __int__(self) -> int:
        return int(self.value)

    def __add__(self, other: Any) -> Any:
        return self.value + other

    __radd__ = __add__

    def __ge__(self, other: Any) -> bool:
        return self.value >= other

    def __gt__(self, other: Any) -> bool:
        return self.value > other

    def __lt__(self, other: Any) -> bool:
        return self.value < other

    def tolist(self, _: object = None) -> list[str]:
        return [part for part in str(self.value).split(",") if part]


class _Setting(ContextVar):
    """A setting that an attribute of ours holds."""

    def __init__(self, name: str, holder: Any, attribute: str, of: Any = lambda value: value):
        self.name, self.holder, self.attribute, self.of = name, holder, attribute, of

    @property
    def value(self) -> Any:
        return getattr(self.holder, self.attribute)

    @value.setter
    def value(self, value: Any) -> None:
        setattr(self.holder, self.attribute, self.of(value))


VARIABLES: dict[str, ContextVar] = {
    **{name: ContextVar(name, 0) for name in ("DEBUG", "BEAM", "NOOPT", "IMAGE", "WINO")},
    **{name: ContextVar(name, 0) for name in ("CHECK_OOB", "FUSE_OPTIM", "VIZ", "PCONTIG")},
    **{name: ContextVar(name, 0) for name in ("NOLOCALS", "RING", "TRACK_MATCH_STATS")},
    **{name: ContextVar(name, 1) for name in ("JIT", "CAPTURING", "SPEC", "SPLIT_REDUCEOP")},
    **{name: ContextVar(name, 1) for name in ("TRACEMETA", "SCACHE", "LRU", "TRANSCENDENTAL")},
    "JIT_BATCH_SIZE": ContextVar("JIT_BATCH_SIZE", 32),
    "DEV": ContextVar("DEV", ""),
    "EMULATED_DTYPES": ContextVar("EMULATED_DTYPES", ""),
    "TRAINING": _Setting("TRAINING", Neural, "training", bool),
    "DEFAULT_FLOAT": _Setting("DEFAULT_FLOAT", dtypes, "default_float", dtypes.to_dtype),
    "DEFAULT_INT": _Setting("DEFAULT_INT", dtypes, "default_int", dtypes.to_dtype),
}


def variable(name: str) -> ContextVar:
    """A setting by its name; those that steer tinygrad alone are 0."""
    return VARIABLES.setdefault(name, ContextVar(name, 0))


class Context(ContextDecorator):
    """Settings for the time of a `with` block."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def __enter__(self) -> None:
        self.before = {name: variable(name).value for name in self.values}
        for name, value in self.values.items():
            variable(name).value = value

    def __exit__(self, *_: object) -> None:
        for name, value in self.before.items():
            variable(name).value = value


class GlobalCounters:
    """tinygrad's counters, which count what its scheduler makes. Resetting them does nothing."""

    @staticmethod
    def reset() -> None: ...


def __getattr__(name: str) -> Any:
    if name.isupper():
        return variable(name)
    raise AttributeError(name)


def counters() -> type[GlobalCounters]:
    """`GlobalCounters` whose values are internal."""

    class Reading(type):
        def __getattr__(cls, name: str) -> Any:
            if name.startswith("_"):  # pytest looks for marks of its own.
                raise AttributeError(name)
            raise UsesInternals(f"GlobalCounters.{name}")

    return Reading("GlobalCounters", (GlobalCounters,), {})


def nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def fetch(*_: Any, **__: Any) -> Any:
    """A file of the network, which tests do without."""
    raise SkipTest(MISSING)


@functools.cache
def getenv(name: str, default: Any = 0) -> Any:
    """An environment variable, of the type of its default."""
    return type(default)(os.getenv(name, default))


def prod(numbers: Iterable[T]) -> Any:
    """The product; 1 of none."""
    return math.prod(numbers)  # pyright: ignore


def all_same(items: list[Any]) -> bool:
    """Whether all are equal."""
    return all(item == items[0] for item in items)


def flatten(lists: Iterable[Iterable[T]]) -> list[T]:
    """The members of lists in one."""
    return [item for inner in lists for item in inner]


def argfix(*args: Any) -> tuple[Any, ...]:
    """Arguments given one by one or as one sequence."""
    return tuple(args[0]) if args and isinstance(args[0], list | tuple) else args


def make_tuple(value: Any, count: int) -> tuple[Any, ...]:
    """A value for each axis."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * count


def temp(name: str, append_user: bool = False) -> str:
    """A path in the folder for temporary files."""
    return (Path(tempfile.gettempdir()) / name).as_posix()
