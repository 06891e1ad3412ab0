"""The parallel runtime of compiled code: a pool of threads, or OpenMP's.

A program with a THREAD axis uses two variables: `tg_parallel` is the address of a function with the
interface of `GOMP_parallel`, and `tg_threads` the number of threads to ask for. Each thread takes
its next chunk of iterations from a shared counter, so that any number of threads does all of them.

If the process has loaded an OpenMP library already (PyTorch brings one), that one is used: its
threads wait for their next loop by spinning for milliseconds, on the cores that others need. A
child of `fork` has none of its parent's threads, and uses a new pool.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tgdialect.environment import OPENMP
from tgdialect.runtime.images import load_ir
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.once import once
from tgdialect.targets.host import pause_instruction, thread_count

_MAPS = Path("/proc/self/maps")
_LOADED = re.compile(r"\s(/\S*/lib(?:gomp|omp|iomp5)[-.\w]*)$", re.MULTILINE)

SPINS = 10_000
"""The looks for work of a thread of the pool before it sleeps. More: an idle thread keeps its core
from other processes for longer; fewer: it sleeps between two calls from Python, and the first
kernel of each call runs on one thread. A look takes 10 to 40 ns, as long as the processor pauses:
100 to 400 microseconds in all; waking a thread takes some 50. With 2000, programs of 0.05 to 1
millisecond took 1.08 times as long (docs/notes/memory-and-threads.md); with 20,000 they take as
long as with 10,000."""

JOBS = 64
"""The threads that may use the pool at the same time; others do their loops alone. Larger: more
memory; workers look at as many places as have been used."""

POOL_LINES = JOBS + 5
"""The parts of the pool."""
_LINE = 64
"""The bytes of a part of the pool in `native/pool.ll`: a cache line on most CPUs, and enough for a
mutex or a condition variable."""


def pool_ir() -> str:
    """The LLVM IR of the pool."""
    return native_ir("pool", SPINS=SPINS, JOBS=JOBS, PAUSE=pause_instruction())


def openmp_ir() -> str:
    """The LLVM IR that calls an OpenMP library."""
    return native_ir("openmp")


class ParallelRuntime:
    """The variables that compiled code reads, and the code of `native/`."""

    def __init__(self) -> None:
        self.threads = ctypes.c_int32(thread_count())
        self._pool = ctypes.c_void_p()
        self._pool_code = load_ir(pool_ir(), "pool", {"tg_pool": ctypes.addressof(self._pool)})
        self._parallel = ctypes.c_void_p()
        self.use_pool()
        if (found := _openmp()) is not None:
            self._use_openmp(*found)

    @property
    def name(self) -> str:
        """The path of the OpenMP library, or "threads"."""
        return "threads" if self._library is None else self._library._name

    @property
    def symbols(self) -> Mapping[str, int]:
        """The addresses of the variables, by their names in compiled code."""
        return {
            "tg_parallel": ctypes.addressof(self._parallel),
            "tg_threads": ctypes.addressof(self.threads),
        }

    def use_pool(self) -> None:
        """Use a new pool. A child of `fork` has no threads of its parent's."""
        self._library: ctypes.CDLL | None = None
        memory = ctypes.create_string_buffer(_LINE * POOL_LINES)
        self._pool_memory = memory
        start = -(-ctypes.addressof(memory) // _LINE) * _LINE
        _process.pthread_mutex_init(ctypes.c_void_p(start + _LINE), None)
        _process.pthread_cond_init(ctypes.c_void_p(start + 2 * _LINE), None)
        _process.pthread_cond_init(ctypes.c_void_p(start + 3 * _LINE), None)
        self._pool.value = start
        self._parallel.value = self._pool_code.address("tg_run_pool")

    def _use_openmp(self, library: ctypes.CDLL, function: int) -> None:
        self._team = ctypes.c_uint64()
        if _process.pthread_key_create(ctypes.byref(self._team), None) != 0:
            return
        self._library = library
        self._openmp = ctypes.c_void_p(function)
        symbols = {
            "tg_openmp": ctypes.addressof(self._openmp),
            "tg_team": ctypes.addressof(self._team),
        }
        self._openmp_code = load_ir(openmp_ir(), "openmp", symbols)
        self._parallel.value = self._openmp_code.address("tg_run_openmp")


_process: Any = ctypes.CDLL(None)


def _openmp() -> tuple[ctypes.CDLL, int] | None:
    """The loaded library that exports GOMP_parallel, and the address of that."""
    if not OPENMP.get():
        return None
    for path in _loaded_libraries():
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


@once
def parallel_runtime() -> ParallelRuntime:
    """The runtime of this process, made when a program first needs it.

    It is never freed: when Python ends, other threads may still run compiled code that reads its
    variables.
    """
    runtime = ParallelRuntime()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(runtime))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=runtime.use_pool)
    return runtime
