"""The intrinsics and attributes that the vendors of GPUs spell differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, StringAttr, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.gpu_dialect import nvvm, rocdl
from tgdialect.gpu_dialect.registers import SpecialRegisterOp
from tgdialect.gpu_dialect.target import ChipAttr, NVVMTargetAttr, ROCDLTargetAttr
from tgdialect.llvm_dialect.atomics import FenceOp
from tgdialect.lowering.render.gpu.matrix import Multiplier, multiply_amd, multiply_nvidia
from tgdialect.lowering.render.gpu.shuffles import MoveWord, move_amd, move_nvidia

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
