"""How many processes share the work of a compilation, and which of it.

Compilers written in Python have the lock of the interpreter: threads do not share their work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from tgdialect.environment import COMPILE_PROCESSES
from tgdialect.targets.host import core_count

T = TypeVar("T")
R = TypeVar("R")

_MOST = 8
"""The most processes by default. More: more memory, as each one has its own copies of the pages
that it changes; fewer: longer compilation on machines of many cores."""
_SMALLEST = 4
"""The most kernels that the caller lowers alone. Larger: other cores are idle; smaller: forks that
do not pay. A fork takes 10 to 30 ms, with the pages that are copied afterwards, a kernel 50 to 200
ms."""
_SHARE = 2
"""The fewest kernels for each process: a child for fewer does not pay for its fork."""


def process_count() -> int:
    """How many processes may compile. Raises SettingError for a wrong number."""
    return COMPILE_PROCESSES.get() or min(core_count(), _MOST)


def spread(
    items: Sequence[T], work: Callable[[T], R], processes: int
) -> Generator[tuple[T, R | None]]:
    """Give each item with what `work` makes of it in a child, or with None: then the caller does it
    before it asks for the next.

    Each process, the caller included, takes the next item whenever it is free (self-scheduling).
    What a child cannot do, for whatever reason, the caller does after all others: it gets the error
    where it can be reported.
    """
    most = min(processes - 1, (len(items) - 1) // _SHARE) if len(items) > _SMALLEST else 0
    if most < 1 or sys.platform != "linux":
        yield from ((item, None) for item in items)
        return
    # Imported if it is used: a program of few kernels does without `multiprocessing`.
    from tgdialect.runtime.children import shared

    yield from shared(items, work, most)
