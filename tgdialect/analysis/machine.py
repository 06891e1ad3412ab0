"""The machine that schedules are made for: what `tg-optimize` asks of it.

Vectors, threads and caches are those of this machine, or are said for another one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tgdialect.analysis.features import cpu_features

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

_VECTORS = {"avx512f": (512, 32), "neon": (128, 32), "avx": (256, 16)} | dict.fromkeys(
    ("sse2", "sse"), (128, 16)
)
"""What a feature, in LLVM's spelling, brings: the bits of a vector register, and how many."""


def vector_registers(features: Collection[str]) -> tuple[int, int]:
    """The bits of the widest vector registers that features bring, with or without their `+`, and
    how many there are: (0, 0) of none."""
    names = {feature.removeprefix("+") for feature in features}
    return max([v for name, v in _VECTORS.items() if name in names], default=(0, 0))


THREADS_VARIABLE = "TG_NUM_THREADS"


@dataclass(frozen=True)
class Machine:
    """Registers and cache of a core, and how many cores there are."""

    vector_bits: int = 0
    """The width of a vector register; 0 where there are none."""
    vector_registers: int = 0
    l2: int = 512 << 10
    """The cache that a core has for itself, in bytes."""
    threads: int = 1

    def lanes(self, itemsize: int) -> int:
        """How many elements of that many bytes a vector has; 1 without vectors."""
        return max(self.vector_bits // (8 * itemsize), 1)


def machine_of(
    features: Collection[str], threads: int | None = None, l2: int | None = None
) -> Machine:
    """This machine, with vectors as the features of its CPU say, in LLVM's spelling; `threads` and
    `l2`, in bytes, are those of this machine unless given.

    Raises ValueError where one of them is no positive number, and for a feature that there is not.
    """
    for name, value in (("threads", threads), ("l2", l2)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}, not a positive number")
    if l2 is None:
        l2 = dict(_cache_sizes()).get(2, Machine.l2)
    registers = vector_registers(cpu_features(features))
    return Machine(*registers, l2, thread_count() if threads is None else threads)


CACHE_PER_CORE = 16 << 20
"""What a core has of the last cache at most: a larger one is shared with other machines' cores."""


def last_level_cache() -> int:
    """The bytes of the largest cache that are for this process; 16 MiB for each of its cores where
    the system says more, or nothing."""
    share = CACHE_PER_CORE * _cores()
    return min(max((size for _, size in _cache_sizes()), default=share), share)


def thread_count() -> int:
    """How many threads a kernel may use: `TG_NUM_THREADS`, or as many as this process has cores.

    Raises ValueError where the variable is no positive number.
    """
    if text := os.environ.get(THREADS_VARIABLE):
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise ValueError(f"{THREADS_VARIABLE} is {text!r}, not a positive number")
        return int(text)
    return _cores()


@cache
def _cores() -> int:
    # Before anything pins the main thread: a runtime of OpenMP may.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _cache_sizes() -> tuple[tuple[int, int], ...]:
    return tuple(_read_cache_sizes())


def _read_cache_sizes() -> Iterator[tuple[int, int]]:
    """(level, bytes) of the caches that hold data, where the system says."""
    for folder in _CACHES.glob("index*"):
        try:
            kind, level, size = (
                (folder / name).read_text().strip() for name in ("type", "level", "size")
            )
            if kind != "Instruction":
                yield int(level), int(size[:-1]) * _UNITS[size[-1]]
        except (OSError, ValueError, KeyError, IndexError):
            continue
