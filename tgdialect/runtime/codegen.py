"""LLVM's part of a compilation, on a thread of its own."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from tgdialect.backends.headroom import has_memory_for_thread
from tgdialect.backends.llvm_cpu import CpuTarget


class CodeGenerator:
    """Generates object code while the caller does other things.

    Where no thread can start, for want of memory or at the end of the interpreter, the caller
    generates the code itself.
    """

    def __init__(self, target: CpuTarget) -> None:
        self._target = target
        self._executor: ThreadPoolExecutor | None = None
        if has_memory_for_thread():
            self._executor = ThreadPoolExecutor(1, "tgdialect")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._executor is not None:
            # After an error, or Ctrl-C, nobody wants the kernels whose turn has not come.
            self._executor.shutdown(cancel_futures=kind is not None)

    def submit(self, ir: str) -> Future[bytes]:
        """The object code of LLVM IR, which comes as if from an executor."""
        if self._executor is not None:
            try:
                return self._executor.submit(self._target.object_code, ir)
            except (RuntimeError, MemoryError):
                self._executor = None  # It has no thread: the first one could not start.
        done: Future[bytes] = Future()
        done.set_result(self._target.object_code(ir))
        return done
