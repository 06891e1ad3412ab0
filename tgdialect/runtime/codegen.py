"""LLVM's part of a compilation, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import Generic, ParamSpec, Self, TypeVar

from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.headroom import has_memory_for_thread
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.environment import SettingError
from tgdialect.runtime.images import code_for_here, provide
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.once import once
from tgdialect.runtime.threads import pool_ir
from tgdialect.targets.host import core_count, thread_count

P = ParamSpec("P")
T = TypeVar("T")


class CodeGenerator(Generic[P, T]):
    """Generates code while the caller does other things.

    LLVM runs on a thread of its own even if the caller only waits. Python raises KeyboardInterrupt
    in the main thread, possibly just after llvmlite has acquired its lock, which would then never
    be released. If no thread can start, for lack of memory or at the end of the interpreter, the
    caller generates the code itself.
    """

    def __init__(self, generate: Callable[P, T]) -> None:
        """`generate` calls LLVM."""
        self._generate = generate
        self._executor: ThreadPoolExecutor | None = None
        if has_memory_for_thread():
            self._executor = ThreadPoolExecutor(1, "tgdialect")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._executor is not None:
            # After an error or Ctrl-C the kernels that are still queued are not needed.
            self._executor.shutdown(cancel_futures=kind is not None)

    def submit(self, *arguments: P.args, **options: P.kwargs) -> Future[T]:
        """A future of what LLVM generates."""
        if self._executor is not None:
            try:
                return self._executor.submit(self._generate, *arguments, **options)
            except (RuntimeError, MemoryError):
                self._executor = None  # Its thread could not start.
        done: Future[T] = Future()
        done.set_result(self._generate(*arguments, **options))
        return done


def generated(generate: Callable[[str], T], ir: str) -> T:
    """The code that LLVM generates for a module, by way of a `CodeGenerator`."""
    with CodeGenerator(generate) as llvm:
        return llvm.submit(ir).result()


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
