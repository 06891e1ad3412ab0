"""The parallel runtime of compiled code: OpenMP's, from whichever library is there.

A program with a THREAD axis calls through the variables `tg_parallel`, a function with the
interface of `GOMP_parallel`, and `tg_threads`, how many threads it asks for. Which chunk of the
work a thread does next it finds from a counter, so that any number of threads does all of it.

The library is the one that the process has loaded already, if any (PyTorch brings one): two pools
of threads would spin on each other's cores. Without any, an executor of Python's takes its place,
and so it does in a child after `fork`, where the threads of the parent's pool are gone.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from tgdialect.analysis.machine import thread_count

_MAPS = Path("/proc/self/maps")
_LOADED = re.compile(r"\s(/\S*/lib(?:gomp|omp|iomp5)[-.\w]*)$", re.MULTILINE)
_LIBRARIES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so", "libomp.dylib")

_BODY: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_PARALLEL: Any = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint
)


class ParallelRuntime:
    """The variables that compiled code calls through."""

    def __init__(self) -> None:
        self.threads = ctypes.c_int32(thread_count())
        self._executor = _ExecutorRuntime()
        self._library, function = _openmp() or (None, 0)
        self._parallel = ctypes.c_void_p(function or self._executor.address)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_parent)

    @property
    def name(self) -> str:
        """The path of the OpenMP library, or "executor"."""
        return "executor" if self._library is None else self._library._name

    @property
    def symbols(self) -> Mapping[str, int]:
        """The addresses of the variables, by their names in compiled code."""
        return {
            "tg_parallel": ctypes.addressof(self._parallel),
            "tg_threads": ctypes.addressof(self.threads),
        }

    def _leave_parent(self) -> None:
        self._library = None
        self._executor = _ExecutorRuntime()
        self._parallel.value = self._executor.address


class _ExecutorRuntime:
    """`GOMP_parallel` by threads of Python's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pool: tuple[int, Executor] | None = None
        self._callback = _PARALLEL(self._run)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _run(self, body: int, context: int, threads: int, flags: int) -> None:
        function = _BODY(body)
        with self._lock:
            if self._pool is None or self._pool[0] < threads:
                self._pool = threads, ThreadPoolExecutor(threads - 1, "tgdialect")
            _, executor = self._pool
        waiting = [executor.submit(function, context) for _ in range(threads - 1)]
        function(context)
        for future in waiting:
            # One that has not begun finds nothing left to do, but `context` is gone then.
            if not future.cancel():
                future.result()


def _openmp() -> tuple[ctypes.CDLL, int] | None:
    """The library that exports GOMP_parallel, and its address there."""
    for path in (*_loaded_libraries(), *_LIBRARIES):
        try:
            library = ctypes.CDLL(path)
            function = ctypes.cast(library.GOMP_parallel, ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
        if function:
            return library, function
    return None


def _loaded_libraries() -> Iterator[str]:
    try:
        yield from dict.fromkeys(_LOADED.findall(_MAPS.read_text()))
    except OSError:
        return


@cache
def parallel_runtime() -> ParallelRuntime:
    """The one of this process, which begins when a program first needs it."""
    return ParallelRuntime()
