"""Inline assembly of PTX, which the gpu dialect and CUDA C++ share."""

from __future__ import annotations

from itertools import accumulate, pairwise

from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.targets.matrix import MatrixInstruction


def mma_registers(instruction: MatrixInstruction) -> tuple[int, int, int]:
    """How many registers of 32 bits a lane has for A, B and C: neighbours along k share one."""
    dtypes = (instruction.factor, instruction.factor, instruction.accumulator)
    shapes = instruction.fragments.config.operand_shapes
    a, b, c = (
        shape[0] * DTYPES[TYPES[dtype]].bits // 32
        for shape, dtype in zip(shapes, dtypes, strict=True)
    )
    return a, b, c


def mma_sync(instruction: MatrixInstruction, mark: str) -> str:
    """`mma.sync` of operands that come after a mark: C, which is also the result, then A and B."""
    a, b, c = mma_registers(instruction)
    starts = [0, *accumulate((c, a, b))]
    groups = [
        "{" + ", ".join(f"{mark}{i}" for i in range(first, last)) + "}"
        for first, last in pairwise(starts)
    ]
    m, n, k = instruction.fragments.dims
    factor = instruction.name.rpartition(".")[2]
    name = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.f32.{factor}.{factor}.f32"
    return f"{name} {groups[0]}, {groups[1]}, {groups[2]}, {groups[0]};"


def to_tf32(mark: str) -> str:
    """A float rounded to tf32, to nearest with ties away from zero: `mma.sync` truncates."""
    return f"cvt.rna.tf32.f32 {mark}0, {mark}1;"
