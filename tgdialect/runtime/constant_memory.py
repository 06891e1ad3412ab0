"""Memory for what a program derives from constants, as packed weights, which another thread uses
for the first time while the program is compiled.

Its size is known when the program is compiled. But a program that has been edited usually packs as
much as before, so the object cache has the size for the last program with constants of the same
types. A wrong size costs some work of that thread, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tgdialect.runtime.cache import ObjectCache, cache_key
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.memory import PIECE, Ahead, Block
from tgdialect.runtime.program import Program
from tgdialect.targets import Target

P = TypeVar("P", bound=Program | DeviceProgram)

PREFIX = "memory-"
"""The prefix of these entries' names."""

_CONSTANT = "tg.constant"


def with_constant_memory(
    cache: ObjectCache, text: str, target: Target, compiled: Callable[[], P]
) -> tuple[P, Block | None]:
    """The program that `compiled` makes of a text, and memory for the values that are derived from
    its constants, if it was known how much that would be."""
    if _CONSTANT not in text:
        return compiled(), None
    constants = [line for line in text.splitlines() if _CONSTANT in line]
    key = PREFIX + cache_key(str(target), *constants)
    known = int(cache.get(key) or 0)
    with Ahead(known) as ahead:
        program = compiled()
    nbytes = max((p.nbytes for p in program.parameters if p.role == "persistent"), default=0)
    if nbytes >= PIECE and nbytes != known:
        cache.put(key, str(nbytes).encode())
    return program, ahead.block
