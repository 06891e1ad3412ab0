"""WMMA by the matrix instructions of NVIDIA and AMD."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i16, i32, i64
from xdsl.ir import SSAValue

from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import lanes_of, vector_of
from tgdialect.lowering.render.ptx import (
    DESCRIBED,
    DESCRIPTOR_UNIT,
    PROXY_FENCE,
    descriptor_fields,
    multiply_local,
)
from tgdialect.ops.dtypes import F32
from tgdialect.targets.matrix import MatrixInstruction

Multiplier = Callable[[LLVMEmitter, MatrixInstruction, Sequence[SSAValue]], SSAValue]
"""Appends the instruction on the fragments of A, B and C, and gives that of the result."""


def multiply_nvidia(
    e: LLVMEmitter, instruction: MatrixInstruction, fragments: Sequence[SSAValue]
) -> SSAValue:
    """`ldmatrix` or `wgmma`, as inline assembly; `mma.sync` alone is an INS."""
    *factors, sums = fragments
    own = [e.lane(sums, i) for i in range(lanes_of(sums.type))]
    operands = _pointers(e, instruction, factors)
    return e.stack(e.elements(_added(e, multiply_local(instruction), operands, own)))


def multiply_in_memory(
    e: LLVMEmitter,
    instruction: MatrixInstruction,
    factors: Sequence[Sequence[SSAValue]],
    sums: SSAValue,
    count: int,
) -> None:
    """`ldmatrix`s or `wgmma`s that add to so many neighbours in the memory of a work item. They are
    loaded and stored as a struct: a vector would have to be taken apart and put together."""
    struct = llvm.LLVMStructType.from_type_list([F32] * count)
    result = e.load(sums, struct, 4)
    for pair in factors:
        operands, own = _pointers(e, instruction, pair), e.elements(result)
        result = _added(e, multiply_local(instruction), operands, own)
    e.store(result, sums, 4)


def _pointers(
    e: LLVMEmitter, instruction: MatrixInstruction, factors: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The operands of an instruction for its factors in LOCAL memory."""
    addresses = [e.emit(llvm.PtrToIntOp, (pointer,), i64) for pointer in factors]
    if instruction.is_asynchronous:
        fields = [descriptor_fields(instruction, side) for side in "ab"]
        return [_descriptor(e, *each) for each in zip(addresses, fields, strict=True)]
    return addresses


def _added(
    e: LLVMEmitter, text: str, operands: Sequence[SSAValue], sums: Sequence[SSAValue]
) -> SSAValue:
    """Inline assembly that changes its first operands in registers. Returns a struct of these.
    Side effects keep LLVM from moving it to where some lanes of a warp are not: it has no attribute
    for that alone."""
    ties = ",".join([*["=f"] * len(sums), *["l"] * len(operands), *map(str, range(len(sums)))])
    struct = llvm.LLVMStructType.from_type_list([F32] * len(sums))
    values = *operands, *sums
    return e.put(llvm.InlineAsmOp(text, ties, values, [struct], 0, has_side_effects=True))


def _descriptor(e: LLVMEmitter, address: SSAValue, fields: int) -> SSAValue:
    """The matrix descriptor of a factor in LOCAL memory."""
    number = e.binary(llvm.AndOp, address, e.number(DESCRIBED - 1))
    number = e.binary(llvm.LShrOp, number, e.number(DESCRIPTOR_UNIT.bit_length() - 1))
    return e.binary(llvm.OrOp, number, e.number(fields))


def show_to_matrix_instructions(e: LLVMEmitter) -> None:
    """Order writes of LOCAL memory before the reads of later `wgmma`s, which have a path of their
    own to it."""
    e.insert(llvm.InlineAsmOp(PROXY_FENCE, "", (), [], 0, has_side_effects=True))


def multiply_amd(
    e: LLVMEmitter, instruction: MatrixInstruction, fragments: Sequence[SSAValue]
) -> SSAValue:
    """`v_mfma` of CDNA or `v_wmma` of RDNA. The intrinsics take the bits of bf16."""
    a, b, sums = fragments
    kind, dims, dtype = instruction.name.split(".")
    if dtype == "bf16":
        bits = vector_of(i16, lanes_of(a.type))
        a, b = (e.emit(llvm.BitcastOp, (factor,), bits) for factor in (a, b))
    if kind == "wmma":
        return e.intrinsic(f"llvm.amdgcn.wmma.f32.{dims}.{dtype}", (a, b, sums), sums.type)
    # Neither broadcast nor permuted blocks: the instruction computes one.
    modifiers = (e.number(0, i32),) * 3
    name = f"llvm.amdgcn.mfma.f32.{dims}{dtype}" + ".1k" * (dtype == "bf16")
    return e.intrinsic(name, (a, b, sums, *modifiers), sums.type)
