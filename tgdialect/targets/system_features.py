"""Features of AArch64 that LLVM does not report, although the architecture or the system has them.

LLVM reads `/proc/cpuinfo` on Linux, whose list of features leaves some out, and nothing on macOS.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from typing import Any, NamedTuple

from tgdialect.targets.processor import HARDWARE, auxiliary_value

_ARCHITECTURE = ("fp-armv8", "neon")
"""The features that every processor has which runs a system of ours."""


class _Place(NamedTuple):
    """Where systems say whether the processor has a feature."""

    vector: int
    """The entry of Linux's auxiliary vector, AT_HWCAP or AT_HWCAP2, and a bit of it."""
    bit: int
    key: str
    """The name in macOS's `hw.optional.arm`."""


_PLACES = {
    "fullfp16": _Place(HARDWARE[0], 10, "FEAT_FP16"),
    "dotprod": _Place(HARDWARE[0], 20, "FEAT_DotProd"),
    "i8mm": _Place(HARDWARE[1], 13, "FEAT_I8MM"),
    "bf16": _Place(HARDWARE[1], 14, "FEAT_BF16"),
}
"""Sources: Linux, arch/arm64/include/uapi/asm/hwcap.h (asimdhp, asimddp, i8mm, bf16); Apple,
Determining Instruction Set Characteristics."""


def system_features() -> Iterator[str]:
    """The features of this machine, in LLVM's spelling, if it is one of AArch64."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return
    yield from _ARCHITECTURE
    reports = {"Linux": _linux_reports, "Darwin": _macos_reports}.get(platform.system())
    if reports is not None:
        yield from (name for name, place in _PLACES.items() if reports(place))


def _linux_reports(place: _Place) -> bool:
    return bool(auxiliary_value(place.vector) >> place.bit & 1)


def _macos_reports(place: _Place) -> bool:
    value, size = ctypes.c_int(), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
    name = f"hw.optional.arm.{place.key}".encode()
    ask: Any = ctypes.CDLL(None).sysctlbyname
    failed = ask(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t())
    return not failed and bool(value.value)
