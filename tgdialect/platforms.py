"""The platforms that this package runs on. Elsewhere importing it is an error of one sentence."""

from __future__ import annotations

import os
import sys

SUPPORTED = "tgdialect runs on Linux with glibc and on macOS, both of 64 bits on x86-64 or AArch64"

_MACHINES = ("x86_64", "aarch64", "arm64")


def check_platform() -> None:
    """Raises ImportError, which says what is supported, on a platform that is not."""
    if found := _unsupported(sys.platform, sys.maxsize):
        raise ImportError(f"{SUPPORTED}; {found}")


def _unsupported(system: str, largest: int) -> str | None:
    """The property of this platform that is not supported; None if all are."""
    if system in ("win32", "cygwin"):
        return "on Windows, use it in WSL2 (Windows Subsystem for Linux), which is such a Linux"
    if system not in ("linux", "darwin"):
        return f"this is {system!r}"
    if largest < 1 << 32:
        return "this is a Python of 32 bits"
    if (machine := os.uname().machine) not in _MACHINES:
        return f"this is {machine!r}"
    if system == "linux" and not _has_glibc():
        return "this Linux has another C library, such as musl"
    return None


def _has_glibc() -> bool:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (ValueError, OSError):  # A C library that does not know the name.
        return False
