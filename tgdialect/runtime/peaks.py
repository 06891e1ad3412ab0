"""The peak speeds of this machine, measured by kernels of our own: FMAs, and moving memory.

As LLVM IR: independent chains of fused multiply-adds on vectors, and streams of reads, of writes
around the caches, and of both.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.loader import load

CHAINS = 16
"""Chains of additions that do not wait for one another."""
STEPS = 2_000_000
"""The steps of the loop of FMAs. Fewer: starting threads counts; more: a longer measurement."""
BYTES = 1 << 28
"""The bytes that are read and copied: more than caches hold. Larger: more memory and a longer
measurement."""


def _lanes(target: CpuTarget) -> int:
    return max(target.vector_bits // 32, 1)


def _ir(lanes: int) -> str:
    v = f"<{lanes} x float>"
    phis = [f"%a{i} = phi {v} [ zeroinitializer, %0 ], [ %b{i}, %l ]" for i in range(CHAINS)]
    fmas = [
        f"%b{i} = call {v} @llvm.fma.v{lanes}f32({v} %x, {v} %x, {v} %a{i})" for i in range(CHAINS)
    ]
    sums = [f"%s{i} = fadd {v} %{'b0' if i == 1 else f's{i - 1}'}, %b{i}" for i in range(1, CHAINS)]
    unroll = 4
    loads = [
        f"%p{i} = getelementptr {v}, ptr %in, i64 %j{i}\n%v{i} = load {v}, ptr %p{i}, align 64\n"
        f"%t{i} = fadd {v} %r{i}, %v{i}"
        for i in range(unroll)
    ]
    moves = [
        f"%p{i} = getelementptr {v}, ptr %in, i64 %j{i}\n%v{i} = load {v}, ptr %p{i}, align 64\n"
        f"%q{i} = getelementptr {v}, ptr %out, i64 %j{i}\n"
        f"store {v} %v{i}, ptr %q{i}, align 64, !nontemporal !0"
        for i in range(unroll)
    ]
    positions = [f"%j{i} = add i64 %i, {i}" for i in range(unroll)]
    totals = [f"%r{i} = phi {v} [ zeroinitializer, %0 ], [ %t{i}, %l ]" for i in range(unroll)]

    def loop(step: int, bound: str, *body: str, phis: tuple[str, ...] = ()) -> str:
        lines = "\n".join((*phis, *body))
        return (
            f"br label %l\nl:\n%i = phi i64 [ 0, %0 ], [ %n, %l ]\n{lines}\n"
            f"%n = add i64 %i, {step}\n"
            f"%c = icmp ult i64 %n, {bound}\nbr i1 %c, label %l, label %e\ne:\n"
        )

    return f"""
declare {v} @llvm.fma.v{lanes}f32({v}, {v}, {v})
define void @fma(ptr %in, ptr %out, i64 %count) {{
%x = load {v}, ptr %in, align 64
{loop(1, "%count", *fmas, phis=tuple(phis))}
{chr(10).join(sums)}
store {v} %s{CHAINS - 1}, ptr %out, align 64
ret void
}}
define void @read(ptr %in, ptr %out, i64 %count) {{
{loop(unroll, "%count", *positions, *loads, phis=tuple(totals))}
%u = fadd {v} %t0, %t1
%w = fadd {v} %t2, %t3
%y = fadd {v} %u, %w
store {v} %y, ptr %out, align 64
ret void
}}
define void @copy(ptr %in, ptr %out, i64 %count) {{
{loop(unroll, "%count", *positions, *moves)}
ret void
}}
!0 = !{{i32 1}}
"""


class Peaks(NamedTuple):
    """Floating-point operations per second of f32, of which an FMA is two, and bytes per second of
    reading and of copying."""

    flops: float
    read: float
    copy: float = 0.0


def measured_peaks(threads: int) -> Peaks:
    """The peak speeds of so many threads on this CPU. Takes about a second, and 512 MiB."""
    target = CpuTarget.host()
    lanes = _lanes(target)
    code = load(target.object_code(_ir(lanes)))
    buffers = [_aligned(BYTES // threads) for _ in range(2 * threads)]
    for buffer in buffers:
        buffer[:] = 0
    count = BYTES // threads // (4 * lanes)

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
