"""Loads object code of programs: an image, and the parallel runtime if the code calls it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tgdialect.runtime.images import load_image

if TYPE_CHECKING:
    from tgdialect.runtime.elf import ElfImage
    from tgdialect.runtime.jit import JitLibrary


def load(object_code: bytes, functions: Mapping[str, int] = {}) -> ElfImage | JitLibrary:
    """Loads position-independent object code for this machine.

    Symbols that it does not define are those of `functions`, at these addresses, the process's (as
    `memcpy`), and the parallel runtime's. Raises OSError for bytes that cannot be loaded.
    """
    symbols = functions
    if b"tg_parallel" in object_code:
        # Only programs with threads need it, and those from the cache are to start quickly.
        from tgdialect.runtime.threads import parallel_runtime

        symbols = {**functions, **parallel_runtime().symbols}
    return load_image(object_code, symbols)
