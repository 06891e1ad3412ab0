"""The peak speeds of this machine, measured by kernels of our own: FMAs, and moving memory.

`native/peaks.ll` has them: independent chains of fused multiply-adds on vectors, and streams of
reads, and of reads with writes around the caches.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.loader import load
from tgdialect.runtime.native import native_ir
from tgdialect.targets import Target

CHAINS = 16
"""Chains of additions that do not wait for one another."""
STEPS = 2_000_000
"""The steps of the loop of FMAs. Fewer: starting threads counts; more: a longer measurement."""
_UNROLLED = 4
"""The vectors that a step of a loop over memory moves. Fewer: the loop itself takes time."""
BYTES = 1 << 28
"""The bytes that are read and copied: more than caches hold. Larger: more memory and a longer
measurement."""
_COUNT = 1 << 22
"""The additions by which the clock is measured, each of which takes a cycle."""


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


def measured_clock() -> float:
    """The clock of a core of this machine while it works, in Hz."""
    return _COUNT / _seconds("count", 1, _COUNT)


def measured_rates(target: Target) -> Mapping[str, int]:
    """Fields of a target, a CPU, that are measured on one core of this machine: those that the cost
    model reads of a core (`MEASURED` of `targets/calibrated.py`). Takes some seconds and 256 MiB.
    """
    lanes, size = max(target.vector_bits // 32, 1), max(target.vector_bits // 8, 4)
    clock = measured_clock()

    def read_rate(memory: int) -> int:
        """Bytes of a cycle, read again and again from so much memory."""
        step = _UNROLLED * size
        amount = memory // step
        times = max((1 << 24) // memory, 1)
        taken = _seconds("read", lanes, amount, _UNROLLED * lanes, memory, times)
        return max(round(amount * step / taken / clock), 1)

    fmas = CHAINS * STEPS / _seconds("fma", CHAINS * lanes, STEPS) / clock
    latency = _seconds("fma", lanes, STEPS) / STEPS * clock
    ports = max(round(fmas), 1)
    return {
        "vector_ports": ports,
        "datapath_bits": 2 ** round(math.log2(min(fmas / ports, 1) * max(target.vector_bits, 32))),
        "vector_loads": max(round(read_rate(target.l1 // 2) / size), 1),
        "mulacc_latency": max(round(latency), 1),
        "l2_bytes": read_rate(target.l2 // 2),
        "llc_bytes": read_rate(max(target.llc // 4, 2 * target.l2)),
        "bytes_per_cycle": read_rate(BYTES),
    }


def _seconds(
    name: str, wide: int, amount: int, unrolled: int = 1, memory: int = 1 << 10, times: int = 1
) -> float:
    """The time of a function of `native/peaks.ll` on one core, which reads so much memory: of the
    quickest of some runs of so many calls."""
    ir = native_ir("peaks", WIDE=wide, UNROLLED=unrolled)
    code = load(CpuTarget.host().object_code(ir))
    kind: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    function: Callable[[int, int, int], None] = kind(code.address(name))
    a, b = _aligned(memory), _aligned(4 << 10)
    a[:] = 0
    best = float("inf")
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(times):
            function(a.ctypes.data, b.ctypes.data, amount)
        best = min(best, time.perf_counter() - start)
    return best / times


def _aligned(size: int) -> np.ndarray[Any, Any]:
    raw = np.empty(size + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    return raw[start : start + size].view(np.float32)
