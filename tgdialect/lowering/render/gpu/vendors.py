"""The instructions, intrinsics and attributes that the vendors of GPUs spell differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerType, StringAttr, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.gpu_dialect import nvvm, rocdl
from tgdialect.gpu_dialect.registers import SpecialRegisterOp
from tgdialect.gpu_dialect.target import ChipAttr, NVVMTargetAttr, ROCDLTargetAttr
from tgdialect.llvm_dialect.atomics import FenceOp
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import is_integer, lanes_of, vector_of
from tgdialect.lowering.render.ptx import (
    DESCRIBED,
    DESCRIPTOR_UNIT,
    descriptor_fields,
    multiply_local,
)
from tgdialect.ops import tg
from tgdialect.targets.matrix import MatrixInstruction

# -- WMMA by matrix instructions

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


def added_product(
    e: LLVMEmitter, instruction: MatrixInstruction, factors: Sequence[SSAValue], sums: SSAValue
) -> SSAValue:
    """Numbers plus a product of factors in LOCAL memory, by `ldmatrix` or `wgmma`. They are a
    struct: a vector would have to be taken apart and put together."""
    operands = _pointers(e, instruction, factors)
    return _added(e, multiply_local(instruction), operands, e.elements(sums))


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
    struct = llvm.LLVMStructType.from_type_list([tg.F32] * len(sums))
    values = *operands, *sums
    return e.put(llvm.InlineAsmOp(text, ties, values, [struct], 0, has_side_effects=True))


def _descriptor(e: LLVMEmitter, address: SSAValue, fields: int) -> SSAValue:
    """The matrix descriptor of a factor in LOCAL memory."""
    number = e.binary(llvm.AndOp, address, e.number(DESCRIBED - 1))
    number = e.binary(llvm.LShrOp, number, e.number(DESCRIPTOR_UNIT.bit_length() - 1))
    return e.binary(llvm.OrOp, number, e.number(fields))


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


# -- SHUFFLE, by instructions that move registers of 32 bits

MoveWord = Callable[[LLVMEmitter, SSAValue, tg.ShuffleOp], SSAValue]
"""Appends the instruction on an i32 or f32, and gives what the other work item has."""

_WORD = 32
"""The bits of a register."""


def shuffle(e: LLVMEmitter, op: tg.ShuffleOp, value: SSAValue, move: MoveWord) -> SSAValue:
    """SHUFFLE of a scalar: narrow values are widened, and wide ones move as two words."""
    type = value.type
    if type in (i32, tg.F32):
        return move(e, value, op)
    bits = type if is_integer(type) else IntegerType(tg.dtype_of(op.value).bits)
    word = value if bits == type else e.emit(llvm.BitcastOp, (value,), bits)
    if bits.bitwidth < _WORD:
        moved = move(e, e.emit(llvm.ZExtOp, (word,), i32), op)
        result = e.emit(llvm.TruncOp, (moved,), bits)
    else:
        shift = e.number(_WORD, i64)
        halves = [word, e.binary(llvm.LShrOp, word, shift)]
        moved = [move(e, e.emit(llvm.TruncOp, (half,), i32), op) for half in halves]
        low, high = (e.emit(llvm.ZExtOp, (half,), i64) for half in moved)
        result = e.binary(llvm.OrOp, low, e.binary(llvm.ShlOp, high, shift))
    return result if bits == type else e.emit(llvm.BitcastOp, (result,), type)


def move_nvidia(e: LLVMEmitter, value: SSAValue, op: tg.ShuffleOp) -> SSAValue:
    """`shfl.sync.bfly` of the work items that a warp has."""
    present = (1 << op.threads.data) - 1
    mask, distance, last = (
        e.number(number, i32) for number in (present, op.distance.data, _WORD - 1)
    )
    return e.put(nvvm.ShflOp(nvvm.ShflKind.BFLY, mask, value, distance, last))


def move_amd(e: LLVMEmitter, value: SSAValue, op: tg.ShuffleOp) -> SSAValue:
    """`ds_bpermute_b32`, which takes the number of a work item in its wave times 4."""
    word = value if value.type == i32 else e.emit(llvm.BitcastOp, (value,), i32)
    all, none = e.number(-1, i32), e.number(0, i32)
    number = e.put(rocdl.MbcntLoOp(all, none))
    if op.threads.data > _WORD:
        number = e.put(rocdl.MbcntHiOp(all, number))
    other = e.emit(llvm.XOrOp, (number, e.number(op.distance.data, i32)), i32)
    address = e.binary(llvm.ShlOp, other, e.number(2, i32))
    moved = e.put(rocdl.DsBpermuteOp(address, word))
    return moved if value.type == i32 else e.emit(llvm.BitcastOp, (moved,), value.type)


# -- the table

GLOBAL = LLVMPointerType(IntAttr(1))
"""The type of a pointer to memory that all workgroups share."""
LOCAL = LLVMPointerType(IntAttr(3))
"""The type of a pointer to memory that the work items of a workgroup share."""


@dataclass(frozen=True)
class Vendor:
    """The `gpu` dialect's companion for the GPUs of a vendor."""

    chip: type[ChipAttr]
    """The attribute that names a chip."""
    features: Mapping[str, str]
    """The features of a chip that LLVM does not assume, which a matrix instruction needs."""
    kernel: str
    """The unit attribute of a kernel."""
    workgroup: Callable[[Sequence[int]], tuple[str, Attribute]]
    """The attribute of a kernel that gives the extents of its workgroups: its name and value."""
    indices: dict[str, Sequence[type[SpecialRegisterOp]]]
    """The ops that read the index along x, y and z: `gidx` of the workgroup, `lidx` of the work
    item."""
    barrier: Callable[[], Sequence[Operation]]
    """Makes the ops that wait for the workgroup and make its accesses to memory visible."""
    stack: LLVMPointerType
    """The type of a pointer to memory of a work item."""
    multiply: Multiplier
    """The matrix instructions."""
    move: MoveWord
    """The shuffle of a register."""
    copy: Callable[[SSAValue, SSAValue, int, SSAValue | None], Operation] | None = None
    """Makes the op that starts to copy so many bytes to LOCAL memory from GLOBAL memory, where the
    last operand, if there is one, is how many of them are read: the others are zeros."""
    wait: Callable[[int], Sequence[Operation]] = lambda pending: ()
    """Makes the ops that wait for all groups of copies but so many."""


NVIDIA = Vendor(
    chip=NVVMTargetAttr,
    features=dict.fromkeys(("sm_90", "sm_90a"), "+ptx84"),  # mma.sync of fp8
    kernel=nvvm.KERNEL,
    workgroup=lambda extents: (nvvm.REQUIRED_THREADS, DenseArrayBase.from_list(i32, extents)),
    indices={"gidx": nvvm.BLOCK_INDICES, "lidx": nvvm.THREAD_INDICES},
    barrier=lambda: [nvvm.Barrier0Op()],
    stack=LLVMPointerType(),
    multiply=multiply_nvidia,
    move=move_nvidia,
    copy=nvvm.CpAsyncOp,
    wait=lambda pending: [nvvm.CpAsyncCommitGroupOp(), nvvm.CpAsyncWaitGroupOp(pending)],
)


def _flat_size(extents: Sequence[int]) -> tuple[str, Attribute]:
    x, y, z = extents
    return rocdl.GROUP_SIZE, StringAttr(f"{x * y * z},{x * y * z}")


def _fenced_barrier() -> Sequence[Operation]:
    before, after = (FenceOp(ordering, "workgroup") for ordering in ("release", "acquire"))
    return [before, rocdl.SBarrierOp(), after]


AMD = Vendor(
    chip=ROCDLTargetAttr,
    features={},
    kernel=rocdl.KERNEL,
    workgroup=_flat_size,
    indices={"gidx": rocdl.WORKGROUP_INDICES, "lidx": rocdl.WORK_ITEM_INDICES},
    barrier=_fenced_barrier,
    stack=LLVMPointerType(IntAttr(5)),
    multiply=multiply_amd,
    move=move_amd,
)

VENDORS = {"nvidia": NVIDIA, "amd": AMD}
"""By the part of a target's name before the colon; the part after it is the chip."""
