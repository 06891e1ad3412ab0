"""Matrix instructions: what a warp multiplies at once, and which elements each lane holds.

A layout lists, from the least significant bit up, which bit of the matrix coordinate each bit of
the lane and then of the element is (`WmmaAttr`); `k3^m0` is the exclusive or of two. Sources: PTX
ISA, "Matrix Fragments for mma.*" and those of `local_factors.py`; AMD's Matrix Instruction
Calculator for MFMA (CDNA) and WMMA (RDNA3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr

from tgdialect.ops import tg
from tgdialect.targets.local_factors import (
    CORE_BYTES,
    CORE_ROWS,
    WARP,
    WARP_SHAPES,
    WARPGROUP,
    WARPGROUP_SHAPES,
    LocalShape,
)
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
    def config(self) -> tg.WmmaAttr:
        """The fragments as WMMA states them."""
        layouts = (
            ArrayAttr(StringAttr(bit) for bit in layout.split())
            for layout in (self.a, self.b, self.c)
        )
        return tg.WmmaAttr(ArrayAttr(map(IntAttr, self.dims)), IntAttr(self.threads), *layouts)

    @cached_property
    def reads_local(self) -> bool:
        """`WmmaAttr.is_shared` of A and of B, without the attribute: there are many instructions,
        and a kernel has one."""
        lanes = self.threads.bit_length() - 1
        return all({*layout.split()[:lanes]} <= {"-"} for layout in (self.a, self.b))


@dataclass(frozen=True)
class MatrixInstruction:
    """One instruction: its fragments, and the dtypes of A and B, and of C."""

    name: str
    fragments: Fragments
    factor: str
    accumulator: str = "f32"
    rounds: bool = False
    """Whether it rounds A and B first, as to tf32: it has to be asked for by its index."""
    unrolled: int = 1
    """The most instructions in an iteration of the loop over steps, on a CPU. More: longer code;
    fewer: the loop's own instructions take a greater part of the time. With 32 of 32x32x32
    256x512x512 and 256x1024x1024 took the same, with 2 or 4 of 8x32x2 512x512x512."""

    @property
    def reads_local(self) -> bool:
        """Whether it reads A and B from LOCAL memory: it has to be asked for by its index, and is
        used where STAGE has copied both factors to the order of its layouts."""
        return self.fragments.reads_local

    @property
    def mnemonic(self) -> str | None:
        """The name by which INS has it, if it is one instruction on registers, without state or
        hazards that software has to know of; None if not."""
        kind, dims, *_, factor = self.name.split(".")
        return mma_mnemonic(dims, factor) if kind == "mma" else None

    @property
    def has_tiles(self) -> bool:
        """Whether its sums are in tile registers (`tile_assembly.py`), of one of a CPU."""
        return self.name.startswith("amx")

    def major(self, side: str) -> str:
        """Along which axis the rows of A or B lie in LOCAL memory, if it reads them there."""
        return self.name[-2:]["ab".index(side)]

    def runs(self, side: str) -> int:
        """The number of runs of 16 bytes in a row of A or B in LOCAL memory, if it reads them
        there."""
        return 1 << sum("^" in bit for bit in self.fragments.config.layout(side))

    @property
    def is_asynchronous(self) -> bool:
        """Whether it reads LOCAL memory by a path of its own, as `wgmma` does."""
        return self.fragments.threads == WARPGROUP


def mma_mnemonic(dims: str, factor: str) -> str:
    """PTX's name of a product of registers of 32 bits, in f32."""
    return f"mma.sync.aligned.{dims}.row.col.f32.{factor}.{factor}.f32"


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


def _bits(letter: str, start: int, end: int) -> list[str]:
    """The names of bits of a coordinate, for the elements from `start` to `end`, powers of two."""
    return [f"{letter}{i}" for i in range(start.bit_length() - 1, end.bit_length() - 1)]


def _in_local_memory(side: str, extent: int, shape: LocalShape, major: str) -> str:
    """The layout of A or B in LOCAL memory: blocks of 8 rows that lie along the `major` axis, those
    along k next to each other, then those along the rows of A or the columns of B. All threads read
    the same elements: no bit of a layout is of a lane."""
    minor, run = side if major == "k" else "k", CORE_BYTES // shape.itemsize
    row = run * shape.runs(major)
    rows, chunks = _bits(minor, 1, CORE_ROWS), _bits(major, run, row)
    swizzled = ["^".join(sorted(pair)) for pair in zip(chunks[::-1], rows[::-1], strict=False)]
    k, others = (row, CORE_ROWS) if major == "k" else (CORE_ROWS, row)
    blocks = [*_bits("k", k, shape.steps), *_bits(side, others, extent)]
    lanes = ["-"] * (shape.threads.bit_length() - 1)
    return " ".join([*lanes, *_bits(major, 1, run), *swizzled[::-1], *rows, *blocks])


REPEAT = 1024
"""The bytes after which the order of the runs in a block repeats, for any `wgmma`: blocks begin at
multiples of it."""


def _local_instruction(shape: LocalShape) -> MatrixInstruction:
    """A group of `wgmma` that the warps wait for together, or of `mma.sync` of one warp."""
    a, b = shape.majors
    if shape.threads == WARP:
        c = [_MMA_C, *_bits("n", 8, shape.columns), *_bits("m", 16, shape.rows)]
    else:
        c = ["n1 n2 m0 m1 m2 m4 m5 n0 m3", *_bits("n", 8, shape.columns)]
    fragments = Fragments(
        (shape.rows, shape.columns, shape.steps),
        shape.threads,
        _in_local_memory("m", shape.rows, shape, a),
        _in_local_memory("n", shape.columns, shape, b),
        " ".join(c),
    )
    return MatrixInstruction(shape.name, fragments, shape.dtype)


LOCAL_INSTRUCTIONS = tuple(map(_local_instruction, (*WARPGROUP_SHAPES, *WARP_SHAPES)))
"""Instructions that read both factors from LOCAL memory."""


def _pairs(rows: int, columns: int, steps: int) -> Fragments:
    """Blocks in memory that one thread multiplies: A and C are row-major, and B has pairs of steps
    next to each other, which are a word of 32 bits."""
    k, m, n = _bits("k", 1, steps), _bits("m", 1, rows), _bits("n", 1, columns)
    layouts = ([*k, *m], ["k0", *n, *k[1:]], [*n, *m])
    return Fragments((rows, columns, steps), 1, *map(" ".join, layouts))


_AMX_BF16 = _pairs(32, 32, 32)
"""A square of 2 x 2 tiles of 16 rows, of which each is used twice. The sums take four of the eight
tile registers."""
_DOTS_BF16 = _pairs(8, 32, 2)
"""Two vectors of sums for each of 8 rows, 16 of 32 registers: more than the latency of a sum needs.
A word of A is used twice, a vector of B 8 times. With 16 rows and a vector of sums for each
512x512x512 took 1.5 times as long, with 4 rows and four 1.15 times, and with 4 steps, of which a
row has two words next to each other, 1.02 times (AMD EPYC, Zen 4)."""

MATRIX_INSTRUCTIONS = (
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
    *LOCAL_INSTRUCTIONS,
    MatrixInstruction("amx.m32n32k32.bf16", _AMX_BF16, "bf16", unrolled=8),
    MatrixInstruction("dots.m8n32k2.bf16", _DOTS_BF16, "bf16"),
)
"""All instructions; `Target.matrix` names those of a target."""


def matrix_instructions(target: Target) -> list[MatrixInstruction]:
    """The instructions of a target, in the order of their indices in OptOp TC."""
    return [each for each in MATRIX_INSTRUCTIONS if each.name in target.matrix]


def instruction_of(
    target: Target, config: tg.WmmaAttr, factor: str, accumulator: str
) -> MatrixInstruction | None:
    """The instruction of a target that computes a WMMA of these dtypes; None if it has none."""
    wanted, dims = (factor, accumulator), tuple(dim.data for dim in config.dims)
    return next(
        (
            i
            for i in matrix_instructions(target)
            if (i.factor, i.accumulator) == wanted
            and i.fragments.dims == dims
            and i.fragments.config == config
        ),
        None,
    )
