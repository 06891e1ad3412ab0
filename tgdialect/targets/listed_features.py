"""Features of this CPU as Linux lists them in `/proc/cpuinfo`.

A program that was compiled ahead of time asks here whether this CPU can execute it: Python without
LLVM, and C (`runtime/shared_library.py`), which reads the same file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
LINE = "flags", "Features"
"""The labels of the line of features, on x86 and on AArch64."""

_NAMES = {
    # x86: arch/x86/include/asm/cpufeatures.h of Linux
    "64bit": "lm",
    **{f"amx-{name}": f"amx_{name}" for name in ("bf16", "fp16", "int8", "tile")},
    **{f"avx512{name}": f"avx512_{name}" for name in ("bf16", "bitalg", "fp16", "vbmi2", "vnni")},
    **{f"avx512{name}": f"avx512_{name}" for name in ("vp2intersect", "vpopcntdq")},
    "avxvnni": "avx_vnni",
    "bmi": "bmi1",
    "crc32": "sse4_2",
    "lzcnt": "abm",
    "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand",
    "sahf": "lahf_lm",
    "sha": "sha_ni",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    # AArch64: arch/arm64/kernel/cpuinfo.c of Linux
    "crc": "crc32",
    "dotprod": "asimddp",
    "fp-armv8": "fp",
    "fp16fml": "asimdfhm",
    "fullfp16": "asimdhp",
    "lse": "atomics",
    "neon": "asimd",
    "rdm": "asimdrdm",
}
"""Linux's names of features, in LLVM's spelling, that have another one there."""


def listed_name(feature: str) -> str:
    """Linux's name of a feature in LLVM's spelling."""
    return _NAMES.get(feature, feature)


def needs_tiles(features: Collection[str]) -> bool:
    """Whether a process with these features asks Linux for tile registers (`may_use_tiles`)."""
    return any(feature.startswith("amx") for feature in features)


@cache
def _listed() -> frozenset[str]:
    """The features of this CPU by Linux's names; empty where the system has no such list."""
    try:
        text = CPUINFO.read_text()
    except OSError:
        return frozenset()
    found = re.search(rf"^(?:{'|'.join(LINE)})\s*:(.*)$", text, re.MULTILINE)
    return frozenset(found[1].split() if found else ())


def listed_here(features: Collection[str]) -> list[str]:
    """The features that this CPU has of some: as Linux lists or, elsewhere, LLVM reports them."""
    if listed := _listed():
        return [feature for feature in features if listed_name(feature) in listed]
    from tgdialect.targets.host import host_features

    return [feature for feature in features if feature in host_features()]
