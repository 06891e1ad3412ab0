"""The environment variables of this package: one table, by which they are read and documented.

All are read alike: an empty value counts as absent, except for folders. A wrong one raises
`SettingError`, which says what is expected, where it is needed. A name `TG_*` that is in no table
may be a mistake: it gives a warning, once per process.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

_PREFIX = "TG_"
_OF_TESTS = re.compile("TG_(?:RANDOM_|TEST_|OUTCOMES$|TINYGRAD_REPO$)")
"""Variables that only the tests read (CONTRIBUTING.md)."""
_DECIMAL = re.compile("[0-9]{1,9}")
"""A whole number of 32 bits, which is enough for each variable and any field of a program."""
_NUMBER = re.compile(
    r"(?:[0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]{1,3})?|inf", re.ASCII | re.IGNORECASE
)
_DEVICE = re.compile("(?:CPU|CL|CUDA|MPI)(?::[0-9]{1,9})?", re.ASCII | re.IGNORECASE)


class SettingError(ValueError):
    """A variable has a value that is none of those it may have."""


@dataclass(frozen=True)
class Setting(Generic[T]):
    """A row of the table."""

    name: str
    parse: Callable[[str], T | None]
    """The value of a text; None if it is wrong."""
    expected: str
    """The values that it may have, for the error and the documentation."""
    default: T
    shown_default: str
    about: str
    may_be_empty: bool = False

    def get(self) -> T:
        """The value. Raises SettingError if it is wrong."""
        _warn_of_unknown()
        text = os.environ.get(self.name)
        if text is None or not (text or self.may_be_empty):
            return self.default
        value = self.parse(text)
        if value is None:
            raise SettingError(f"{self.name} is {text!r}, not {self.expected}")
        return value


def decimal(text: str) -> int | None:
    """A number of at most nine digits; None for any other text."""
    return int(text) if _DECIMAL.fullmatch(text) else None


def _positive(text: str) -> int | None:
    return decimal(text) or None


def _seconds(text: str) -> float | None:
    return (float(text) if _NUMBER.fullmatch(text) else 0.0) or None


def _switch(text: str) -> bool | None:
    return {"0": False, "1": True}.get(text)


def _device(text: str) -> str | None:
    return text if _DEVICE.fullmatch(text) else None


def _folder(text: str) -> str | None:
    """An absolute path: the process may change its folder. `~` and `~name` are homes."""
    path = os.path.expanduser(text)
    if path.startswith("~"):
        return None  # There is no such user.
    return os.path.abspath(path) if path else ""


# Kinds of values: the parser of the text, and the expectation that an error names.
_WHOLE = decimal, "a whole number from 0 to 999999999"
_POSITIVE = _positive, "a whole number from 1 to 999999999"
_SECONDS = _seconds, "a positive number of seconds"
_SWITCH = _switch, "0 or 1"

CACHE_DIR: Setting[str | None] = Setting(
    "TG_CACHE_DIR",
    _folder,
    "a folder, or empty for none",
    None,
    "`tgdialect` in `XDG_CACHE_HOME` or `~/.cache`",
    "The folder with the compiled programs, in a folder `tg-objects` of it. Empty: no cache.",
    may_be_empty=True,
)
CACHE_MIB = Setting(
    "TG_CACHE_MIB",
    *_WHOLE,
    1024,
    "1024",
    "The most MiB in the cache; what was not used for longest is deleted. 0: no cache.",
)
TARGET_FILE: Setting[str | None] = Setting(
    "TG_TARGET_FILE",
    _folder,
    "a file, or empty for none",
    None,
    "`target.json` in `TG_CACHE_DIR`, if there is a cache",
    "The file with the rates of this machine, which `python -m tgdialect.calibrate` writes "
    "(docs/schedules.md). Empty: none.",
    may_be_empty=True,
)
REPRODUCER_DIR: Setting[str | None] = Setting(
    "TG_REPRODUCER_DIR",
    _folder,
    "a folder, or empty for none",
    None,
    "`tg-reproducers` in `TG_CACHE_DIR`, if there is a cache",
    "The folder in which a failure of the compiler leaves a file that reproduces it, 20 at most "
    "(docs/debugging.md). Empty: none.",
    may_be_empty=True,
)
NUM_THREADS: Setting[int | None] = Setting(
    "TG_NUM_THREADS",
    *_POSITIVE,
    None,
    "the cores of the process and its CPU quota",
    "How many threads a kernel uses.",
)
COMPILE_PROCESSES: Setting[int | None] = Setting(
    "TG_COMPILE_PROCESSES",
    *_POSITIVE,
    None,
    "the cores of the process and its CPU quota, at most 8",
    "How many processes compile a program of many kernels, the caller included (Linux).",
)
BEAM_SECONDS = Setting(
    "TG_BEAM_SECONDS",
    *_SECONDS,
    20.0,
    "20",
    'How long `opt="beam:N"` may search for each kernel\'s schedule.',
)
DEVICE = Setting(
    "TG_DEVICE",
    _device,
    "a device, as CPU, CL:0, CUDA:0 or MPI:0",
    "CPU",
    "CPU",
    "The device of tensors and programs that name none (docs/devices.md).",
)
RANK_SECONDS = Setting(
    "TG_RANK_SECONDS",
    *_SECONDS,
    300.0,
    "300",
    "How long a rank of MPI waits for the others; the error then says which do not answer.",
)
RANK_KIB = Setting(
    "TG_RANK_KIB",
    decimal,
    "a whole number of KiB",
    256,
    "256",
    "The memory of each rank of MPI that others on its machine read pieces of values from, twice; "
    "0: values are messages.",
)
OPENMP = Setting(
    "TG_OPENMP",
    *_SWITCH,
    True,
    "1",
    "0: kernels use their own threads also beside PyTorch, and not its OpenMP library.",
)
PROGRESS = Setting(
    "TG_PROGRESS",
    *_SWITCH,
    True,
    "1",
    "0: a terminal shows nothing while something long is compiled.",
)
DEBUG = Setting(
    "TG_DEBUG",
    *_SWITCH,
    False,
    "0",
    "1: `tg-opt` and `tg-run` print the traceback of an error.",
)

TABLE = cast("list[Setting[Any]]", [v for v in globals().values() if isinstance(v, Setting)])
"""All variables, in the order of the documentation."""


# -- names ---------------------------------------------------------------------------------------


def unknown_names() -> str | None:
    """A warning about the variables `TG_*` that are in no table; None if there are none, and from
    the second call on."""
    global _is_checked
    if _is_checked:
        return None
    _is_checked = True
    known = {variable.name for variable in TABLE}
    unknown = sorted(
        name
        for name in os.environ
        if name.startswith(_PREFIX) and name not in known and not _OF_TESTS.match(name)
    )
    if not unknown:
        return None
    from difflib import get_close_matches

    nearest = {name: get_close_matches(name, known, 1) for name in unknown}
    shown = (name + "".join(f" (did you mean {n}?)" for n in nearest[name]) for name in unknown)
    return f"nothing reads the environment's {', '.join(shown)}"


_is_checked = False


def _warn_of_unknown() -> None:
    if not _is_checked and (text := unknown_names()) is not None:
        warnings.warn(text, stacklevel=3)
