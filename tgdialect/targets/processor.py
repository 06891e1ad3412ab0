"""The features of the CPU for this process, as LLVM sees them, without importing LLVM; and those
that LLVM does not see.

The system's files describe the machine. An emulator or a virtual machine may give a process less:
so the instruction CPUID is asked, or what the kernel tells each process about its CPU.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CPUINFO = Path("/proc/cpuinfo")

_CPUID = bytes.fromhex("53 4989d0 89f8 89f1 0fa2 418900 41895804 41894808 4189500c 5b c3")
"""A function of a leaf, a subleaf and a pointer to four words, for the registers A, B, C and D."""
_XGETBV = bytes.fromhex("31c9 0f01d0 48c1e220 4809d0 c3")
"""A function that returns XCR0: the registers that the system saves."""

_LEAVES = (
    *((0, 0, "abcd"), (1, 0, "acd"), (7, 0, "abcd"), (7, 1, "abcd"), (7, 2, "abcd")),
    *((0xD, 1, "a"), (0x14, 0, "b"), (0x19, 0, "b"), (0x1E, 1, "a"), (0x24, 0, "b")),
    *((0x80000000, 0, "a"), (0x80000001, 0, "cd"), (0x80000008, 0, "b")),
)
"""Each leaf and subleaf that describes instructions, and the registers that are the same on all
cores. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, CPUID; AMD64
Architecture Programmer's Manual, volume 3, appendix E."""
_SAVES_MORE = 27
"""The bit of register C of leaf 1 that says that there is XCR0."""

HARDWARE = 16, 26
"""The entries of the auxiliary vector with the features of the CPU: AT_HWCAP and AT_HWCAP2."""
_NAMED = ("CPU implementer", "CPU part", "CPU variant", "Features")
"""The lines of `/proc/cpuinfo` by which LLVM recognises a CPU of AArch64."""


def processor_words() -> str | None:
    """A text that differs for CPUs for which LLVM generates different code; None if this system has
    no way to ask."""
    machine, system = platform.machine().lower(), platform.system()
    if machine in ("x86_64", "amd64") and system in ("Linux", "Darwin"):
        try:
            return repr([*_cpuid_words()])
        except OSError:  # No memory may be executed.
            return None
    if machine == "aarch64" and system == "Linux":
        return repr([*_hardware_words()])
    return None


def _cpuid_words() -> Iterator[int]:
    """The registers of `_LEAVES`, and XCR0. Raises OSError if no memory may be executed."""
    rights = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    with mmap.mmap(-1, mmap.PAGESIZE, prot=rights) as memory:
        memory.write(_CPUID.ljust(64) + _XGETBV)
        at = ctypes.addressof(start := ctypes.c_char.from_buffer(memory))
        del start
        word = ctypes.c_uint32
        cpuid: Any = ctypes.CFUNCTYPE(None, word, word, ctypes.c_void_p)(at)
        words: Any = (word * 4)()
        most: dict[int, int] = {}
        for leaf, subleaf, registers in _LEAVES:
            kind = leaf >> 31
            if leaf & 0x7FFFFFFF and leaf > most[kind]:
                continue
            cpuid(leaf, subleaf, words)
            most.setdefault(kind, words[0])
            yield from (words["abcd".index(register)] for register in registers)
            if leaf == 1 and words[2] >> _SAVES_MORE & 1:
                xgetbv: Any = ctypes.CFUNCTYPE(ctypes.c_uint64)(at + 64)
                yield xgetbv()


def _hardware_words() -> Iterator[int | str]:
    yield from map(auxiliary_value, HARDWARE)
    try:
        lines = _CPUINFO.read_text().splitlines()
    except OSError:
        return
    yield from sorted({line for line in lines if line.startswith(_NAMED)})


def auxiliary_value(entry: int) -> int:
    """An entry of the auxiliary vector that Linux gives a process."""
    read: Any = ctypes.CDLL(None).getauxval
    read.restype, read.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
    return read(entry)


# -- features of AArch64 that LLVM does not report -------------------------------------------------
#
# LLVM reads `/proc/cpuinfo` on Linux, whose list of features leaves some out, and nothing on macOS.

_ARCHITECTURE = ("fp-armv8", "neon")
"""The features that every processor has which runs a system of ours."""


_PLACES = {
    "fullfp16": (HARDWARE[0], 10, "FEAT_FP16"),
    "dotprod": (HARDWARE[0], 20, "FEAT_DotProd"),
    "i8mm": (HARDWARE[1], 13, "FEAT_I8MM"),
    "bf16": (HARDWARE[1], 14, "FEAT_BF16"),
}
"""Where systems say whether the processor has a feature: the entry of Linux's auxiliary vector,
AT_HWCAP or AT_HWCAP2, and a bit of it; and the name in macOS's `hw.optional.arm`. Sources: Linux,
arch/arm64/include/uapi/asm/hwcap.h (asimdhp, asimddp, i8mm, bf16); Apple, Determining Instruction
Set Characteristics."""


def system_features() -> Iterator[str]:
    """The features of this machine, in LLVM's spelling, if it is one of AArch64."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return
    yield from _ARCHITECTURE
    reports = {"Linux": _linux_reports, "Darwin": _macos_reports}.get(platform.system())
    if reports is not None:
        yield from (name for name, place in _PLACES.items() if reports(*place))


def _linux_reports(entry: int, bit: int, key: str) -> bool:
    return bool(auxiliary_value(entry) >> bit & 1)


def _macos_reports(entry: int, bit: int, key: str) -> bool:
    value, size = ctypes.c_int(), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
    name = f"hw.optional.arm.{key}".encode()
    ask: Any = ctypes.CDLL(None).sysctlbyname
    failed = ask(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t())
    return not failed and bool(value.value)
