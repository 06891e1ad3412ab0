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
    text, clobbers = "\n".join(lines), ",".join([*constraints, "~{memory}"])
    return llvm.InlineAsmOp(text, clobbers, operands, [], 0, has_side_effects=True)


def begin_sums(e: LLVMEmitter, sums: SSAValue | None) -> None:
    """Load the tiles of sums, or make them 0."""
    if sums is None:
        e.insert(assembly(tile_assembly.clear_sums(), "", []))
    else:
        e.insert(assembly(tile_assembly.load_sums(), "rr", [sums, _stride(e)]))


def multiply_add(e: LLVMEmitter, factors: Sequence[Sequence[SSAValue]]) -> None:
    """Add the products of pairs of blocks to the tiles of sums."""
    strides = e.number(tile_assembly.A_STRIDE), e.number(tile_assembly.B_STRIDE)
    for pair in factors:
        e.insert(assembly(tile_assembly.multiply_add(), "rrrr", [*pair, *strides]))


def end_sums(e: LLVMEmitter, sums: SSAValue) -> None:
    """Store the tiles of sums."""
    e.insert(assembly(tile_assembly.store_sums(), "rr", [sums, _stride(e)]))


def _stride(e: LLVMEmitter) -> SSAValue:
    return e.number(tile_assembly.SUMS_STRIDE)
