"""LLVM's names of architectures, in triples and in intrinsics, and of GPU calling conventions."""

from __future__ import annotations

INTRINSICS = {
    **dict.fromkeys(("x86_64", "i386", "i686"), "llvm.x86."),
    **dict.fromkeys(("aarch64", "arm64"), "llvm.aarch64."),
    **dict.fromkeys(("riscv32", "riscv64"), "llvm.riscv."),
    "nvptx64": "llvm.nvvm.",
    "amdgcn": "llvm.amdgcn.",
}
"""The prefix of an architecture's intrinsics, by the first component of its triples."""

ALL_INTRINSICS = tuple(
    f"llvm.{architecture}."
    for architecture in (
        *("aarch64", "amdgcn", "arm", "bpf", "dx", "hexagon", "loongarch", "mips", "nvvm", "ppc"),
        *("r600", "riscv", "s390", "spv", "ve", "wasm", "x86", "xcore"),
    )
)
"""The prefixes of the intrinsics of all architectures."""

LIBRARY_INTRINSICS = tuple(
    f"llvm.{function}."
    for function in (
        *("acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "log", "log10", "log2"),
        *("pow", "powi", "sin", "sincos", "sinh", "tan", "tanh", "exp2.f64", "exp2.v"),
    )
)
"""The prefixes of intrinsics for which LLVM calls the C library, which GPUs do not have."""

GPU_CONVENTIONS = {
    "ptx_kernel": "nvptx64",
    "ptx_device": "nvptx64",
    "amdgpu_kernel": "amdgcn",
    "spir_kernel": "spirv64",
    "spir_func": "spirv64",
}
"""The calling conventions that only GPUs have, and the architecture that has each."""

MASKED_REGISTERS = {"x86_64": 32}
"""Architectures for which LLVM 22 selects wrong instructions for a masked load of several registers
of which one is off, and the bytes of those registers: those of AVX2. Masked loads of AVX-512's
registers are selected correctly."""

CHIPS: dict[str, dict[str, int]] = {
    "nvptx64": {
        **{"sm_70": 60, "sm_72": 61, "sm_75": 63, "sm_80": 70, "sm_86": 71, "sm_87": 74},
        **{"sm_89": 78, "sm_90": 78, "sm_90a": 80, "sm_100": 86, "sm_100a": 86},
        **{"sm_120": 87, "sm_120a": 87},
    },
    "amdgcn": dict.fromkeys(
        (
            *("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
            *("gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"),
        ),
        0,
    ),
}
"""The chips of a GPU architecture that code is generated for, in LLVM's spelling, and the first
version of PTX that has them: 78 is 7.8."""
