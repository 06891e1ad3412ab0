"""LLVM's first code, made on a thread while the compiler is imported."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.headroom import has_memory_for_thread
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.environment import SettingError
from tgdialect.runtime.images import code_for_here, provide
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.once import once
from tgdialect.runtime.threads import pool_ir
from tgdialect.targets.host import core_count, thread_count


@once
def warm_up_llvm() -> None:
    """Generate code on a thread, while the caller imports the compiler: some that nobody calls, and
    the pool of threads, which the first parallel program calls.

    The first code of a process takes LLVM longer than the next: it fills its tables, and the system
    maps its pages. On a thread of its own that is over before the first program comes, which saves
    it 6 to 9 ms, and 12 more if it is parallel. A process with one core would only do more.
    """
    if core_count() > 1 and has_memory_for_thread():
        with suppress(RuntimeError, MemoryError):  # No thread, or no memory for it.
            Thread(target=_generate_ahead, name="tgdialect-warm-up").start()


def _generate_ahead() -> None:
    """Code for `native/trial.ll`, with and without optimisation, as small programs need both, and
    for the pool of threads if there are several."""
    with suppress(LLVMTranslationException, MemoryError, SettingError):
        for level in (0, 2):
            CpuTarget.host().object_code(native_ir("trial"), opt=level)
        if thread_count() > 1:
            provide([code_for_here(pool_ir(), "pool")])
