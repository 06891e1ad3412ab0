"""The calls of compiled programs that a random test makes.

Where such a test fails, and the code of one of its last programs does otherwise than the
interpreter, the failure is said as the reproducer of that program (`programs/reproduced.py`).
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

MOST = 12
"""The calls that are kept. More: more of those that a test compares with each other; fewer:
failures are judged sooner."""
MOST_ELEMENTS = 1 << 16
"""The elements of the arguments of a call that is kept, which are copied."""
MOST_LINES = 40
"""The lines of a failure that are shown."""

Call = tuple[Any, list[np.ndarray[Any, Any]]]


@contextmanager
def recorded() -> Generator[deque[Call]]:
    """Within the context, the last calls are kept."""
    from tgdialect.runtime.host_executable import HostExecutable

    calls = deque[Call](maxlen=MOST)

    def recording(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *arrays: Any, **how: Any) -> Any:
            given = [np.asarray(array) for array in arrays]
            if sum(array.size for array in given) <= MOST_ELEMENTS:
                calls.append((self, [array.copy() for array in given]))
            return method(self, *arrays, **how)

        return call

    methods = {name: recording(vars(HostExecutable)[name]) for name in ("__call__", "resident")}
    with patch.multiple(HostExecutable, **methods):
        yield calls


def reproducer(calls: deque[Call], test: str) -> str | None:
    """The text of the reproducer of the last call that is wrong; None if all are right."""
    here = str(Path(__file__).parent / "programs")
    if here not in sys.path:
        sys.path.append(here)
    from reproduced import Failed

    from tgdialect.targets.cpu import PORTABLE

    for executable, arrays in reversed(calls):
        with suppress(Exception):  # It is the failure of the test that is to be said.
            build = executable._build()
            is_portable = build.described_target().name == PORTABLE.name
            name = "c" if is_portable else f"cpu-{'none' if build.opt == 'none' else 'heuristic'}"
            failed = Failed.on(name, test, build.source, arrays, "")
            if failed.shows():
                return failed.reproducer()
    return None


def commented(error: Exception) -> str:
    """The message of a test that fails, as comments of a reproducer."""
    lines = f"{type(error).__name__}: {error}".splitlines()[:MOST_LINES]
    return "".join(f"// {line}\n" for line in lines)
