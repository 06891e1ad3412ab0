"""WMMA by the matrix instructions of a CPU, on blocks in memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.targets import tile_assembly


def assembly(
    lines: Sequence[str], constraints: Sequence[str], operands: Sequence[SSAValue]
) -> llvm.InlineAsmOp:
    """Inline assembly that reads and writes memory, and that no other of its kind may pass."""
    how = ",".join([*constraints, "~{memory}"])
    return llvm.InlineAsmOp("\n".join(lines), how, operands, [], 0, has_side_effects=True)


def multiply_blocks(e: LLVMEmitter, factors: Sequence[Sequence[SSAValue]], sums: SSAValue) -> None:
    """Add the products of pairs of blocks to sums in memory, which are in tiles meanwhile."""
    stride = e.number(tile_assembly.SUMS_STRIDE)
    strides = e.number(tile_assembly.A_STRIDE), e.number(tile_assembly.B_STRIDE)
    e.insert(assembly(tile_assembly.load_sums("$"), "rr", [sums, stride]))
    for pair in factors:
        e.insert(assembly(tile_assembly.multiply_add("$"), "rrrr", [*pair, *strides]))
    e.insert(assembly(tile_assembly.store_sums("$"), "rr", [sums, stride]))
