"""Loads object code into this process, by LLVM's LLJIT."""

import itertools
import threading
from functools import cache

import llvmlite.binding as llvm
from xdsl.utils.exceptions import JITException

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.half_conversions import HALF_CONVERSION_NAMES, HALF_CONVERSIONS

_library_numbers = itertools.count()
_permanent_libraries: list[llvm.ResourceTracker] = []
_creation = threading.Lock()


@cache
def _lljit() -> llvm.LLJIT:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # JITLink relocates code of the small model, and is ten times as fast as LLJIT's default.
    return llvm.create_lljit_compiler(use_jit_link=True)


@cache
def _half_conversions() -> dict[str, int]:
    """Where the conversions are. They stay loaded once something needs them."""
    code = CpuTarget.host().object_code(HALF_CONVERSIONS)
    builder = llvm.JITLibraryBuilder().add_object_img(code)
    for name in HALF_CONVERSION_NAMES:
        builder.export_symbol(name)
    library = builder.link(_lljit(), "tgdialect.half_conversions")
    _permanent_libraries.append(library)
    return {name: library[name] for name in HALF_CONVERSION_NAMES}


class LoadedCode:
    """Object code in memory. The code stays there, and its addresses stay valid, for as long as
    this object lives."""

    def __init__(self, jit: llvm.LLJIT, library: llvm.ResourceTracker):
        self._jit = jit
        self._library = library
        # What a look-up returns owns the code as much as the library does: one that is dropped
        # unloads it.
        self._symbols: dict[str, llvm.ResourceTracker] = {}

    def address(self, name: str) -> int:
        """The address of a function or variable that the object code defines.

        Raises JITException if it does not, or if it needs a symbol that the process lacks.
        """
        if name not in self._symbols:
            try:
                self._symbols[name] = self._jit.lookup(self._library.name, name)
            except RuntimeError as error:
                raise JITException(f"cannot load '{name}': {error}") from error
        return self._symbols[name][name]


def load(object_code: bytes) -> LoadedCode:
    """Loads position-independent object code for this machine.

    Every call makes a library of its own, so names need only be unique within one; symbols that
    the code does not define (as `memcpy`) are the process's. Raises JITException for bytes that
    are not object code.
    """
    builder = llvm.JITLibraryBuilder().add_object_img(object_code)
    with _creation:
        jit = _lljit()
        for name in HALF_CONVERSION_NAMES:
            if name.encode() in object_code:
                builder.import_symbol(name, _half_conversions()[name])
    builder.add_current_process()
    try:
        library = builder.link(jit, f"tgdialect.{next(_library_numbers)}")
    except RuntimeError as error:
        raise JITException(f"cannot load object code: {error}") from error
    return LoadedCode(jit, library)
