"""Loads object code into this process, by LLVM's LLJIT."""

import itertools
from collections.abc import Mapping
from typing import Any, cast

import llvmlite.binding as llvm

from tgdialect.runtime.once import once

_library_numbers = itertools.count()


@once
def _lljit() -> llvm.LLJIT:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # JITLink relocates code of the small model, and is ten times as fast as LLJIT's default.
    return llvm.create_lljit_compiler(use_jit_link=True)


class JitLibrary:
    """Object code in memory. Its addresses are valid as long as this object lives."""

    def __init__(self, object_code: bytes, symbols: Mapping[str, int] = {}) -> None:
        """`symbols` are addresses of external symbols; the others are looked up in the process.
        Raises OSError for bytes that are no object code."""
        builder = llvm.JITLibraryBuilder().add_object_img(object_code).add_current_process()
        for name, address in symbols.items():
            cast(Any, builder).import_symbol(name, address)  # Typed without it.
        self._jit = _lljit()
        try:
            self._library = builder.link(self._jit, f"tgdialect.{next(_library_numbers)}")
        except RuntimeError as error:
            raise OSError(f"cannot load object code: {error}") from error
        # Each result of a look-up owns the code, too: when one is dropped, LLVM unloads it.
        self._symbols: dict[str, llvm.ResourceTracker] = {}

    def address(self, name: str) -> int:
        """The address of a function or variable of the object code. Raises OSError if it has none
        of that name, or needs a function that the process lacks."""
        if name not in self._symbols:
            try:
                self._symbols[name] = self._jit.lookup(self._library.name, name)
            except RuntimeError as error:
                raise OSError(f"cannot load '{name}': {error}") from error
        return self._symbols[name][name]
