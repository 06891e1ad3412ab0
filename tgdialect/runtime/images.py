"""Object code as an image in this process's memory, whichever loader can make it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if sys.platform == "linux":
    from tgdialect.runtime.elf import ElfImage, UnsupportedError

if TYPE_CHECKING:
    from tgdialect.runtime.jit import JitLibrary


def load_image(object_code: bytes, symbols: Mapping[str, int] = {}) -> ElfImage | JitLibrary:
    """Loads position-independent object code for this machine.

    Names need only be unique within one object; symbols that it does not define are those of
    `symbols`, at these addresses, and the process's (as `memcpy`). LLVM is imported only where the
    system is not Linux on x86-64, and for object code of kinds that are not ours. Raises OSError
    for bytes that cannot be loaded.
    """
    if sys.platform == "linux":
        try:
            return ElfImage(object_code, symbols)
        except UnsupportedError:
            pass
    from tgdialect.runtime.jit import JitLibrary

    return JitLibrary(object_code, symbols)


def load_ir(ir: str, name: str, symbols: Mapping[str, int] = {}) -> ElfImage | JitLibrary:
    """Loads LLVM IR of the runtime's own, which the object cache keeps compiled under a name.

    `symbols` are addresses of what it needs besides the process's functions. Raises OSError as
    `load_image` does.
    """
    from tgdialect.runtime.cache import cache_key, object_cache

    cache = object_cache()
    key = "" if cache is None else cache_key(ir, name)
    code = None if cache is None else cache.get(key)
    if code is None:
        from tgdialect.backends.llvm_cpu import CpuTarget
        from tgdialect.runtime.codegen import generated

        code = generated(CpuTarget.host().object_code, ir)
        if cache is not None:
            cache.put(key, code)
    return load_image(code, symbols)
