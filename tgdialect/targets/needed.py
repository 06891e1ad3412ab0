"""The features that intrinsics of LLVM and lines of assembly need, as far as names tell.

LLVM ends the process for an intrinsic whose feature a CPU lacks, and its assembler takes the
instructions of all CPUs of an architecture: the process is ended when it executes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_INTRINSICS = {
    "llvm.x86.": {
        **{"sse": "sse", "sse2": "sse2", "sse3": "sse3", "ssse3": "ssse3", "sse41": "sse4.1"},
        **{"sse42": "sse4.2", "avx": "avx", "avx2": "avx2", "avx512": "avx512f", "fma": "fma"},
        **{"avx512bf16": "avx512bf16", "avx512fp16": "avx512fp16", "vcvtps2ph": "f16c"},
        **{"aesni": "aes", "pclmulqdq": "pclmul"},
        **dict.fromkeys(("ldtilecfg", "sttilecfg", "tileloadd64", "tilestored64"), "amx-tile"),
        **dict.fromkeys(("tilezero", "tilerelease"), "amx-tile"),
        **{"tdpbf16ps": "amx-bf16", "tdpfp16ps": "amx-fp16"},
        **dict.fromkeys(("tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"), "amx-int8"),
    },
    "llvm.aarch64.": {"neon": "neon", "sve": "sve"},
}
"""By the prefix of an architecture, the first part of the names behind it, and the feature."""
_SHORTER = re.compile(r"\.avx512\w*\..*\.(?:128|256)\b")
"""Intrinsics on vectors that are shorter than those of the feature by itself."""

_ASSEMBLY: dict[str, tuple[str, ...]] = {
    "amx-tile": (r"%tmm\d", r"\b(?:ld|st)tilecfg\b", r"\btile(?:load|store|zero|release)"),
    "amx-bf16": (r"\btdpbf16ps\b",),
    "amx-fp16": (r"\btdpfp16ps\b",),
    "amx-int8": (r"\btdpb[su][su]d\b",),
    "avx512f": (r"%zmm", r"%[xy]mm(?:1[6-9]|2\d|3[01])\b", r"%k\d\b"),
    "avx512bf16": (r"\bvdpbf16ps\b", r"\bvcvtne2?ps2bf16\b"),
    "avx512vnni": (r"\bvpdp[bw] %zmm",),
    "avxvnni avx512vnni": (r"\bvpdp[bw] %[xy]mm",),
    "avx512fp16": (r"\bv\w+[ps]h\b(?<!ps2ph)",),
    "gfni": (r"\bv?gf2p8",),
    "vaes": (r"\bvaes(?:enc|dec) %[yz]mm",),
    "sha": (r"\bsha(?:1|256)",),
    "bmi2": (r"\b(?:pdep|pext|mulx|rorx|sarx|shlx|shrx|bzhi)[lq]?\b",),
    "avx2": (r"\bv(?:pbroadcast|perm)", r"\bvp %ymm"),
    "fma": (r"\bvfn?m(?:add|sub)",),
    "f16c": (r"\bvcvt(?:ph2ps|ps2ph)\b",),
    "avx": (r"%ymm", r"\bv[a-z]\w %xmm"),
}
"""The features of x86 of which one is enough, and patterns of instructions that need it. A space
stands between two parts that an instruction has both, its name and an operand: one expression for
both would take the square of the length of a line."""
_ENDS = re.compile(r"[\n;]")
"""The ends of instructions."""


def features_of_intrinsic(name: str) -> Iterator[str]:
    """The features that an intrinsic needs."""
    for prefix, features in _INTRINSICS.items():
        if name.startswith(prefix):
            if feature := features.get(name.removeprefix(prefix).partition(".")[0]):
                yield feature
            if _SHORTER.search(name):
                yield "avx512vl"


def features_of_assembly(text: str) -> Iterator[str]:
    """The features that inline assembly needs; one of several that stand between spaces."""
    instructions = _ENDS.split(text)
    for feature, patterns in _ASSEMBLY.items():
        if any(_has(i, pattern) for i in instructions for pattern in patterns):
            yield feature


def _has(instruction: str, pattern: str) -> bool:
    return all(re.search(part, instruction) for part in pattern.split(" "))
