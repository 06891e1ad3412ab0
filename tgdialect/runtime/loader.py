"""Loads object code into this process."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if sys.platform == "linux":
    from tgdialect.runtime.elf import ElfImage, UnsupportedError

if TYPE_CHECKING:
    from tgdialect.runtime.jit import JitLibrary


def load(object_code: bytes, functions: Mapping[str, int] = {}) -> ElfImage | JitLibrary:
    """Loads position-independent object code for this machine.

    Names need only be unique within one object; symbols that it does not define are those of
    `functions`, at these addresses, the process's (as `memcpy`), and the parallel runtime's. LLVM
    is imported only where the system is not Linux on x86-64, and for object code of kinds that are
    not ours. Raises OSError for bytes that cannot be loaded.
    """
    symbols = functions
    if b"tg_parallel" in object_code:
        # Only programs with threads need it, and those from the cache are to start quickly.
        from tgdialect.runtime.threads import parallel_runtime

        symbols = {**functions, **parallel_runtime().symbols}
    if sys.platform == "linux":
        try:
            return ElfImage(object_code, symbols)
        except UnsupportedError:
            pass
    from tgdialect.runtime.jit import JitLibrary

    return JitLibrary(object_code, symbols)
