"""Whether there is memory for LLVM, which ends the process where an allocation fails."""

from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

_FIXED_BYTES = 32 << 20
_BYTES_PER_CHARACTER = 128
"""Twice what LLVM takes for each character of a module's IR."""
_THREAD_BYTES = 256 << 20
"""The stack of a thread, and what `malloc` reserves for one."""


def has_memory(nbytes: int) -> bool:
    """Whether this process could map so many bytes now."""
    try:
        mmap(-1, nbytes, MAP_PRIVATE | MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


def has_memory_for_thread() -> bool:
    """Whether there is enough for a thread beside this one that runs LLVM."""
    return has_memory(_THREAD_BYTES)


def check_memory_for(ir: str) -> None:
    """Raise MemoryError where LLVM is likely to run out of memory on a module."""
    needed = _FIXED_BYTES + _BYTES_PER_CHARACTER * len(ir)
    if not has_memory(needed):
        raise MemoryError(f"LLVM may need {needed >> 20} MiB, which this process cannot get")
