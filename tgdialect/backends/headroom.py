"""Checks that there is memory for LLVM, which ends the process if an allocation fails."""

import sys
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

_FIXED_BYTES = 32 << 20
"""Memory for a module whatever its length, in bytes. Larger: fewer programs compile under a limit
of memory; smaller: LLVM may run out of it, which ends the process."""
_BYTES_PER_CHARACTER = 128
"""Memory per character of a module's IR: twice what LLVM was measured to need."""
_LIBRARY_BYTES = 256 << 20
"""Address space for LLVM's code and a first module."""
_THREAD_BYTES = 256 << 20
"""Address space for the stack of a thread and its `malloc` arena."""


def has_memory(nbytes: int) -> bool:
    """Whether this process can map so many more bytes."""
    try:
        mmap(-1, nbytes, MAP_PRIVATE | MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


def has_memory_for_thread() -> bool:
    """Whether there is memory for a second thread, which runs LLVM."""
    return has_memory(_THREAD_BYTES)


def check_memory_for_library() -> None:
    """Raise MemoryError if LLVM is not loaded yet and there is no memory for it. Loading it would
    fail with a misleading error, that its file cannot be opened."""
    if "llvmlite.binding" not in sys.modules and not has_memory(_LIBRARY_BYTES):
        raise _memory_error(_LIBRARY_BYTES)


def check_memory_for(ir: str) -> None:
    """Raise MemoryError if LLVM is likely to run out of memory on a module."""
    needed = _FIXED_BYTES + _BYTES_PER_CHARACTER * len(ir)
    if not has_memory(needed):
        raise _memory_error(needed)


def _memory_error(nbytes: int) -> MemoryError:
    return MemoryError(f"LLVM may need {nbytes >> 20} MiB, which this process cannot get")
