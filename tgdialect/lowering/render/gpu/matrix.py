"""WMMA by the matrix instructions of NVIDIA and AMD."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import lanes_of, vector_of
from tgdialect.lowering.render.ptx import (
    DESCRIBED,
    DESCRIPTOR_UNIT,
    PROXY_FENCE,
    descriptor_fields,
    mma_registers,
    mma_sync,
    multiply_local,
    to_tf32,
)
from tgdialect.ops.dtypes import F32
from tgdialect.targets.matrix import MatrixInstruction

Multiplier = Callable[[LLVMEmitter, MatrixInstruction, Sequence[SSAValue]], SSAValue]
"""Appends the instruction on the fragments of A, B and C, and gives that of the result."""


def multiply_nvidia(
    e: LLVMEmitter, instruction: MatrixInstruction, fragments: Sequence[SSAValue]
) -> SSAValue:
    """`mma.sync`, `ldmatrix` or `wgmma`, as inline assembly: LLVM 19 has no `mma.sync` of fp8."""
    *factors, sums = fragments
    if instruction.reads_local:
        text, operands = multiply_local(instruction), _pointers(e, instruction, factors)
        return _in_place(e, text, operands, ["l"] * 2, sums)
    registers: list[SSAValue] = []
    counts = mma_registers(instruction)
    for factor, size in zip(factors, counts, strict=False):
        if instruction.rounds:
            lanes = [e.lane(factor, i) for i in range(size)]
            registers += [_assembly(e, to_tf32(), "=r,f", [lane], i32) for lane in lanes]
        else:
            words = e.emit(llvm.BitcastOp, (factor,), vector_of(i32, size))
            registers += [e.lane(words, i) for i in range(size)]
    return _in_place(e, mma_sync(instruction), registers, ["r"] * len(registers), sums)


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
        operands, own = _pointers(e, instruction, pair), _elements(e, result, count)
        result = _added(e, multiply_local(instruction), operands, ["l"] * 2, own)
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


def _in_place(
    e: LLVMEmitter,
    text: str,
    operands: Sequence[SSAValue],
    constraints: Sequence[str],
    sums: SSAValue,
) -> SSAValue:
    """Inline assembly that changes the elements of a vector, its first operands, in registers."""
    own = [e.lane(sums, i) for i in range(lanes_of(sums.type))]
    return e.stack(_elements(e, _added(e, text, operands, constraints, own), len(own)))


def _added(
    e: LLVMEmitter,
    text: str,
    operands: Sequence[SSAValue],
    constraints: Sequence[str],
    sums: Sequence[SSAValue],
) -> SSAValue:
    """Inline assembly that changes its first operands in registers. Returns a struct of these."""
    ties = [*["=f"] * len(sums), *constraints, *map(str, range(len(sums)))]
    struct = llvm.LLVMStructType.from_type_list([F32] * len(sums))
    return _assembly(e, text, ",".join(ties), (*operands, *sums), struct)


def _elements(e: LLVMEmitter, struct: SSAValue, count: int) -> Sequence[SSAValue]:
    """The elements of a struct of floats."""
    positions = (DenseArrayBase.from_list(i64, [i]) for i in range(count))
    return [e.put(llvm.ExtractValueOp(position, struct, F32)) for position in positions]


def _assembly(
    e: LLVMEmitter, text: str, constraints: str, operands: Sequence[SSAValue], type: Attribute
) -> SSAValue:
    """Inline assembly. Side effects keep LLVM from moving it to where some lanes of a warp are not:
    it has no attribute for that alone."""
    return e.put(llvm.InlineAsmOp(text, constraints, operands, [type], 0, has_side_effects=True))


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
