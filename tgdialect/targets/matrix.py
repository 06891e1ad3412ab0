"""Matrix instructions: what a warp multiplies at once, and which elements each lane holds.

A layout lists, from the least significant bit up, which bit of the matrix coordinate each bit of
the lane and then of the element is (`WmmaAttr`). Sources: PTX ISA, "Matrix Fragments for mma.*";
AMD's Matrix Instruction Calculator for MFMA (CDNA) and WMMA (RDNA3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr

from tgdialect.ops.attributes import WmmaAttr
from tgdialect.targets.target import Target


@dataclass(frozen=True)
class Fragments:
    """The threads that hold the matrices of an instruction, and the layouts of A, B and C."""

    dims: tuple[int, int, int]
    """M, N and K of C[M, N] += A[M, K] @ B[K, N]."""
    threads: int
    a: str
    b: str
    c: str

    @cached_property
    def config(self) -> WmmaAttr:
        """The fragments as WMMA states them."""
        layouts = (
            ArrayAttr(StringAttr(bit) for bit in layout.split())
            for layout in (self.a, self.b, self.c)
        )
        return WmmaAttr(ArrayAttr(map(IntAttr, self.dims)), IntAttr(self.threads), *layouts)


@dataclass(frozen=True)
class MatrixInstruction:
    """One instruction: its fragments, and the dtypes of A and B, and of C."""

    name: str
    fragments: Fragments
    factor: str
    accumulator: str = "f32"
    rounds: bool = False
    """Whether it rounds A and B first, as to tf32: it has to be asked for by its index."""


_MMA_C = "n1 n2 m0 m1 m2 n0 m3"
MMA_16X8X16 = Fragments((16, 8, 16), 32, "k1 k2 m0 m1 m2 k0 m3 k3", "k1 k2 n0 n1 n2 k0 k3", _MMA_C)
_MMA_16X8X8_TF32 = Fragments((16, 8, 8), 32, "k0 k1 m0 m1 m2 m3 k2", "k0 k1 n0 n1 n2 k2", _MMA_C)
_MMA_16X8X32 = Fragments(
    (16, 8, 32), 32, "k2 k3 m0 m1 m2 k0 k1 m3 k4", "k2 k3 n0 n1 n2 k0 k1 k4", _MMA_C
)
_MFMA_16X16X16 = Fragments(
    *((16, 16, 16), 64, "m0 m1 m2 m3 k2 k3 k0 k1", "n0 n1 n2 n3 k2 k3 k0 k1"),
    "n0 n1 n2 n3 m2 m3 m0 m1",
)
_MFMA_32X32X8 = Fragments(
    *((32, 32, 8), 64, "m0 m1 m2 m3 m4 k2 k0 k1", "n0 n1 n2 n3 n4 k2 k0 k1"),
    "n0 n1 n2 n3 n4 m2 m0 m1 m3 m4",
)
_WMMA_16X16X16 = Fragments(
    *((16, 16, 16), 32, "m0 m1 m2 m3 - k0 k1 k2 k3", "n0 n1 n2 n3 - k0 k1 k2 k3"),
    "n0 n1 n2 n3 m0 m1 m2 m3",
)

_INSTRUCTIONS = (
    MatrixInstruction("mma.m16n8k16.f16", MMA_16X8X16, "f16"),
    MatrixInstruction("mma.m16n8k16.bf16", MMA_16X8X16, "bf16"),
    MatrixInstruction("mma.m16n8k32.e4m3", _MMA_16X8X32, "f8E4M3FN"),
    MatrixInstruction("mma.m16n8k32.e5m2", _MMA_16X8X32, "f8E5M2"),
    MatrixInstruction("mma.m16n8k8.tf32", _MMA_16X8X8_TF32, "f32", rounds=True),
    MatrixInstruction("mfma.16x16x16.f16", _MFMA_16X16X16, "f16"),
    MatrixInstruction("mfma.16x16x16.bf16", _MFMA_16X16X16, "bf16"),
    MatrixInstruction("mfma.32x32x8.f16", _MFMA_32X32X8, "f16"),
    MatrixInstruction("mfma.32x32x8.bf16", _MFMA_32X32X8, "bf16"),
    MatrixInstruction("wmma.16x16x16.f16", _WMMA_16X16X16, "f16"),
    MatrixInstruction("wmma.16x16x16.bf16", _WMMA_16X16X16, "bf16"),
)
"""All instructions; `Target.matrix` names those of a target."""


def matrix_instructions(target: Target) -> list[MatrixInstruction]:
    """The instructions of a target, in the order of their indices in OptOp TC."""
    return [each for each in _INSTRUCTIONS if each.name in target.matrix]


def instruction_of(
    target: Target, config: WmmaAttr, factor: str, accumulator: str
) -> MatrixInstruction | None:
    """The instruction of a target that computes a WMMA of these dtypes; None if it has none."""
    found: Iterable[MatrixInstruction] = matrix_instructions(target)
    wanted = factor, accumulator, config
    return next((i for i in found if (i.factor, i.accumulator, i.fragments.config) == wanted), None)
