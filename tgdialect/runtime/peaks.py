"""The peak speeds of this machine, measured by kernels of our own: FMAs, and moving memory.

`native/peaks.ll` has them: independent chains of fused multiply-adds on vectors, and streams of
reads, and of reads with writes around the caches.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.loader import load
from tgdialect.runtime.native import native_ir

CHAINS = 16
"""Chains of additions that do not wait for one another."""
STEPS = 2_000_000
"""The steps of the loop of FMAs. Fewer: starting threads counts; more: a longer measurement."""
_UNROLLED = 4
"""The vectors that a step of a loop over memory moves. Fewer: the loop itself takes time."""
BYTES = 1 << 28
"""The bytes that are read and copied: more than caches hold. Larger: more memory and a longer
measurement."""


class Peaks(NamedTuple):
    """Floating-point operations per second of f32, of which an FMA is two, and bytes per second of
    reading and of copying."""

    flops: float
    read: float
    copy: float = 0.0


@cache
def measured_peaks(threads: int) -> Peaks:
    """The peak speeds of so many threads on this CPU, measured once. Takes about a second, and 512
    MiB."""
    target = CpuTarget.host()
    lanes = max(target.vector_bits // 32, 1)
    ir = native_ir("peaks", WIDE=CHAINS * lanes, UNROLLED=_UNROLLED * lanes)
    code = load(target.object_code(ir))
    buffers = [_aligned(BYTES // threads) for _ in range(2 * threads)]
    for buffer in buffers:
        buffer[:] = 0
    count = BYTES // threads // (4 * _UNROLLED * lanes)

    def seconds(name: str, amount: int) -> float:
        kind: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        function: Callable[[int, int, int], None] = kind(code.address(name))

        def run(thread: int) -> None:
            a, b = buffers[2 * thread : 2 * thread + 2]
            function(a.ctypes.data, b.ctypes.data, amount)

        best = float("inf")
        with ThreadPoolExecutor(threads) as pool:
            for _ in range(7):
                start = time.perf_counter()
                list(pool.map(run, range(threads)))
                best = min(best, time.perf_counter() - start)
        return best

    return Peaks(
        flops=2 * lanes * CHAINS * STEPS * threads / seconds("fma", STEPS),
        read=BYTES / seconds("read", count),
        copy=2 * BYTES / seconds("copy", count),
    )


def _aligned(size: int) -> np.ndarray[Any, Any]:
    raw = np.empty(size + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    return raw[start : start + size].view(np.float32)
