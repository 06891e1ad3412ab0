"""The parallel runtime of compiled code: OpenMP's thread pool, or threads of our own.

A program with a THREAD axis uses two variables: `tg_parallel` is the address of a function with the
interface of `GOMP_parallel`, and `tg_threads` the number of threads to ask for. Each thread takes
its next chunk of iterations from a shared counter, so that any number of threads does all of them.

If the process has loaded an OpenMP library already (PyTorch brings one), that one is used: two
pools of threads would compete for the same cores by busy waiting. Without a library, and in a child
of `fork`, which has no threads of the parent's pool, each loop starts threads of its own
(`native/threads.ll`).
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tgdialect.runtime.images import load_ir
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.once import once
from tgdialect.targets.host import thread_count

OPENMP_VARIABLE = "TG_OPENMP"
"""`0`: no OpenMP library is used."""

_MAPS = Path("/proc/self/maps")
_LOADED = re.compile(r"\s(/\S*/lib(?:gomp|omp|iomp5)[-.\w]*)$", re.MULTILINE)
_LIBRARIES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so", "libomp.dylib")


class ParallelRuntime:
    """The variables that compiled code reads, and the code of `native/threads.ll`."""

    def __init__(self) -> None:
        self.threads = ctypes.c_int32(thread_count())
        self._library, function = _openmp() or (None, None)
        self._team = ctypes.c_uint64()
        if _process.pthread_key_create(ctypes.byref(self._team), None) != 0:
            self._library, function = None, None
        self._openmp = ctypes.c_void_p(function)
        symbols = {
            "tg_openmp": ctypes.addressof(self._openmp),
            "tg_team": ctypes.addressof(self._team),
        }
        self._code = load_ir(native_ir("threads"), "threads", symbols)
        self._parallel = ctypes.c_void_p(self._code.address("tg_run"))

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

    def leave_parent(self) -> None:
        """Stop using OpenMP in a child of `fork`, which has no threads of the parent's pool."""
        self._library = None
        self._openmp.value = None


_process: Any = ctypes.CDLL(None)


def _openmp() -> tuple[ctypes.CDLL, int] | None:
    """The library that exports GOMP_parallel, and its address there."""
    if os.environ.get(OPENMP_VARIABLE) == "0":
        return None
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


@once
def parallel_runtime() -> ParallelRuntime:
    """The runtime of this process, made when a program first needs it.

    It is never freed: when Python ends, other threads may still run compiled code that reads its
    variables.
    """
    runtime = ParallelRuntime()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(runtime))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=runtime.leave_parent)
    return runtime
