"""Loads object code of programs: an image, and the parallel runtime if the code calls it."""

from __future__ import annotations

from collections.abc import Mapping

from tgdialect.runtime.images import Image, load_image
from tgdialect.targets.host import may_use_tiles


def load(object_code: bytes, functions: Mapping[str, int] = {}) -> Image:
    """Loads position-independent object code for this machine.

    External symbols are looked up in `functions`, which has their addresses, in the parallel
    runtime and in the process (as `memcpy`). Raises OSError for bytes that cannot be loaded.
    """
    may_use_tiles()  # Code from the cache may use them, and was made by another process.
    symbols = functions
    if b"tg_parallel" in object_code:
        # Only programs with threads need it; importing it would slow down the start of others.
        from tgdialect.runtime.threads import parallel_runtime

        symbols = {**functions, **parallel_runtime().symbols}
    return load_image(object_code, symbols)
