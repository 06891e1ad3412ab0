"""LLVM's names of architectures, in triples and in intrinsics, and of GPU calling conventions."""

from __future__ import annotations

INTRINSICS = {
    **dict.fromkeys(("x86_64", "i386", "i686"), "llvm.x86."),
    **dict.fromkeys(("aarch64", "arm64"), "llvm.aarch64."),
    **dict.fromkeys(("riscv32", "riscv64"), "llvm.riscv."),
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

GPU_CONVENTIONS = ("ptx_kernel", "ptx_device", "amdgpu_kernel", "spir_kernel", "spir_func")
"""The calling conventions that only GPUs have."""
