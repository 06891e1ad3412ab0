"""LLVM's part of a compilation, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, ParamSpec, Self, TypeVar

from tgdialect.backends.headroom import has_memory_for_thread

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
