"""Inline assembly of PTX in LLVM's spelling, which the gpu dialect and CUDA C++ share."""

from __future__ import annotations

from itertools import product

from tgdialect.ops import tg
from tgdialect.targets.local_factors import CORE_BYTES, CORE_ROWS, WARP
from tgdialect.targets.matrix import MatrixInstruction, mma_mnemonic

# -- factors in LOCAL memory -----------------------------------------------------------------------

_CORE = CORE_ROWS * CORE_BYTES
_STEP = 32
"""The bytes along k that one `wgmma` or `mma.sync` multiplies: two core matrices."""


def multiply_local(instruction: MatrixInstruction) -> str:
    """The assembly of an instruction that reads both factors from LOCAL memory. Operands: the
    registers of C, which are also the result; then those of A and B, which are matrix descriptors
    for `wgmma`, and otherwise 64-bit addresses in shared memory."""
    return (_wgmma if instruction.is_asynchronous else _ldmatrix_mma)(instruction)


def _ldmatrix_mma(instruction: MatrixInstruction) -> str:
    """For each step, `ldmatrix` of all fragments and the `mma.sync`s on them. An `ldmatrix` loads
    four core matrices, and each lane has the address of one of their rows: in A, the next core
    matrix is the one along the rows, in B the one along k. It transposes those that do not lie
    along k. Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix"."""
    m, n, _ = instruction.fragments.dims
    *_, factor, majors = instruction.name.split(".")
    itemsize = tg.DTYPES[tg.TYPES[instruction.factor]].itemsize
    pitch = _CORE * _core_columns(instruction)
    first = m * n // WARP
    lines = [
        f"{{ .reg .b32 l, r, p, q, a<{m // 4}>, b<{n // 4}>; mov.u32 l, %laneid;",
        f"cvt.u32.u64 p, ${first}; cvt.u32.u64 q, ${first + 1};",
        f"and.b32 r, l, {CORE_ROWS - 1}; mad.lo.u32 p, r, {CORE_BYTES}, p;",
        f"mad.lo.u32 q, r, {CORE_BYTES}, q; bfe.u32 r, l, 3, 1; bfe.u32 l, l, 4, 1;",
        f"mad.lo.u32 p, r, {pitch}, p; mad.lo.u32 p, l, {_CORE}, p;",
        f"mad.lo.u32 q, r, {_CORE}, q; mad.lo.u32 q, l, {pitch}, q;",
    ]
    for step in range(_core_columns(instruction) // 2):
        for letter, pointer, major, extent in zip("ab", "pq", majors, (m, n), strict=True):
            for i in range(extent // 16):
                registers = ", ".join(f"{letter}{r}" for r in range(4 * i, 4 * i + 4))
                at = 2 * i * pitch + 2 * step * _CORE
                trans = "" if major == "k" else ".trans"
                name = f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16"
                lines.append(f"{name} {{{registers}}}, [{pointer}+{at}];")
        for i, j in product(range(m // 16), range(n // 8)):
            c = 4 * (i * (n // 8) + j)
            c, a, b = (
                "{" + ", ".join(f"{prefix}{r}" for r in range(start, start + count)) + "}"
                for prefix, start, count in (("$", c, 4), ("a", 4 * i, 4), ("b", 2 * j, 2))
            )
            name = mma_mnemonic(f"m16n8k{_STEP // itemsize}", factor)
            lines.append(f"{name} {c}, {a}, {b}, {c};")
    return " ".join([*lines, "}"])


# -- wgmma. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions" -------------------

PROXY_FENCE = "fence.proxy.async.shared::cta;"
"""Orders writes of shared memory before the accesses of `wgmma`."""
DESCRIPTOR_UNIT = 16
"""The bytes that 1 stands for in an address or offset of a matrix descriptor."""
DESCRIBED = 1 << 18
"""A matrix descriptor has the address in shared memory modulo this, which is more than its size."""


_SWIZZLE_MODES = {8: 1, 4: 2}
"""By the runs of 16 bytes in a row of a swizzled block, what a matrix descriptor says."""


def descriptor_fields(instruction: MatrixInstruction, side: str) -> int:
    """A matrix descriptor of A or B without its address: the offset from one row of blocks to the
    next, the one from a block of 8 rows to the next, and how runs are swizzled. Rows along k are
    one block wide, so that there is no first offset: 1 is what the ISA wants then."""
    runs = instruction.runs(side)
    block = _CORE * runs
    is_along_k = instruction.major(side) == "k"
    beside = DESCRIPTOR_UNIT if is_along_k else block * instruction.fragments.dims[2] // CORE_ROWS
    mode = _SWIZZLE_MODES[runs]
    return beside // DESCRIPTOR_UNIT << 16 | block // DESCRIPTOR_UNIT << 32 | mode << 62


def _wgmma(instruction: MatrixInstruction) -> str:
    """The `wgmma`s of an instruction, and the wait for them."""
    *_, c = instruction.fragments.config.operand_shapes
    registers = "{" + ", ".join(f"${i}" for i in range(c[0])) + "}"
    m, n, _ = instruction.fragments.dims
    *_, factor, majors = instruction.name.split(".")
    itemsize = tg.DTYPES[tg.TYPES[instruction.factor]].itemsize
    name = f"wgmma.mma_async.sync.aligned.m{m}n{n}k{_STEP // itemsize}.f32.{factor}.{factor}"
    # 16-bit factors say whether their rows lie along the rows of A and the columns of B.
    flags = ["1", "1", *(str(int(major != "k")) for major in majors if itemsize == 2)]
    lines = [
        "{ .reg .pred p; .reg .b64 a, b; setp.ne.b32 p, 1, 0;",
        f"mov.b64 a, ${c[0]}; mov.b64 b, ${c[0] + 1}; wgmma.fence.sync.aligned;",
    ]
    a, b = (_advance(instruction, side) // DESCRIPTOR_UNIT for side in "ab")
    for step in range(_core_columns(instruction) // 2):
        if step:
            lines.append(f"add.s64 a, a, {a}; add.s64 b, b, {b};")
        lines.append(f"{name} {registers}, a, b, p, {', '.join(flags)};")
    lines.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }")
    return " ".join(lines)


def _advance(instruction: MatrixInstruction, side: str) -> int:
    """The bytes from what one `wgmma` reads of a factor to what the next one does: in rows along k
    the swizzling is of addresses, so that it is what it would be without; else blocks of 8 rows."""
    if instruction.major(side) == "k":
        return _STEP
    itemsize = tg.DTYPES[tg.TYPES[instruction.factor]].itemsize
    return _CORE * instruction.runs(side) * (_STEP // itemsize // CORE_ROWS)


def _core_columns(instruction: MatrixInstruction) -> int:
    """The core matrices along k: 16 bytes of each row, or 8 rows where they lie along k."""
    itemsize = tg.DTYPES[tg.TYPES[instruction.factor]].itemsize
    return instruction.fragments.dims[2] * itemsize // CORE_BYTES
