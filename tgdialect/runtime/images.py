"""Object code in this process's memory, by the fastest loader that can load it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple, Protocol

if sys.platform == "linux":
    from tgdialect.runtime.elf import ElfImage, UnsupportedError


class Image(Protocol):
    """Object code in memory: an `ElfImage` or a `JitLibrary`. Its addresses are valid as long as
    this object lives."""

    def address(self, name: str) -> int:
        """The address of a function or variable. Raises OSError if there is none of that name."""
        ...


class NativeCode(NamedTuple):
    """Object code of LLVM IR of the runtime itself: its name, the hash of the IR, and the code."""

    name: str
    digest: str
    code: bytes


_provided: dict[tuple[str, str], bytes] = {}


def provide(native: Iterable[NativeCode]) -> None:
    """Have `load_ir` take this code, which a file has brought or another thread has made."""
    _provided.update((each[:2], each.code) for each in native)


def digest_of(ir: str) -> str:
    """The hash by which `NativeCode` names LLVM IR."""
    return sha256(ir.encode()).hexdigest()


def load_image(object_code: bytes, symbols: Mapping[str, int] = {}) -> Image:
    """Loads position-independent object code for this machine.

    Names need only be unique within one object. `symbols` has addresses of external symbols; the
    others are looked up in the process (as `memcpy`). LLVM is imported only if the system is not
    Linux on x86-64 or if our own loader cannot load the code. Raises OSError for bytes that cannot
    be loaded.
    """
    if sys.platform == "linux":
        try:
            return ElfImage(object_code, symbols)
        except UnsupportedError:
            pass
    from tgdialect.runtime.jit import JitLibrary

    return JitLibrary(object_code, symbols)


def load_ir(ir: str, name: str, symbols: Mapping[str, int] = {}) -> Image:
    """Compiles and loads LLVM IR of the runtime itself. The object cache keeps the object code;
    `name` is part of its key.

    `symbols` are addresses of external symbols, as in `load_image`, which may raise OSError.
    """
    code = _provided.get((name, digest_of(ir))) if _provided else None
    return load_image(code or code_for_here(ir, name).code, symbols)


def code_for_here(ir: str, name: str) -> NativeCode:
    """The object code of LLVM IR of the runtime itself, which the object cache keeps."""
    from tgdialect.runtime.cache import cached

    return NativeCode(name, digest_of(ir), cached(lambda: _generated(ir), ir, name))


def _generated(ir: str) -> bytes:
    from tgdialect.backends.llvm_cpu import CpuTarget
    from tgdialect.runtime.codegen import generated

    return generated(CpuTarget.host().object_code, ir)
