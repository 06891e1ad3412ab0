"""The `nvvm` dialect: the special registers, synchronisation and shuffles of NVIDIA's GPUs."""

from __future__ import annotations

from xdsl import irdl
from xdsl.dialects.builtin import I32, Float32Type, IntegerAttr, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Dialect, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tgdialect.fast_xdsl.formats import op_definition
from tgdialect.gpu_dialect.registers import indices
from tgdialect.gpu_dialect.target import NVVMTargetAttr

KERNEL = "nvvm.kernel"
"""The unit attribute of a function that the host can launch."""
REQUIRED_THREADS = "nvvm.reqntid"
"""The attribute of a kernel with the extents of its blocks: `array<i32: x, y, z>`."""


THREAD_INDICES = indices("nvvm.read.ptx.sreg.tid", "the thread in its block")
BLOCK_INDICES = indices("nvvm.read.ptx.sreg.ctaid", "the block in the grid")


@op_definition
class Barrier0Op(irdl.IRDLOperation):
    """Waits until all threads of the block are here; their memory accesses before are visible."""

    name = "nvvm.barrier0"
    assembly_format = "attr-dict"


class LoadCacheModifier(StrEnum):
    """Which caches hold what is loaded: `ca` all, `cg` L2 only."""

    CA = "ca"
    CG = "cg"


@irdl.irdl_attr_definition
class LoadCacheModifierAttr(EnumAttribute[LoadCacheModifier], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<load_cache_modifier cg>`"""

    name = "nvvm.load_cache_modifier"


@op_definition
class CpAsyncOp(irdl.IRDLOperation):
    """Starts a copy of 4, 8 or 16 bytes from global to shared memory; both are aligned to that.
    Where a last operand says how many bytes are read, the others are zeros.

    `nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>`
    `nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %n : !llvm.ptr<3>, !llvm.ptr<1>, i32`
    """

    name = "nvvm.cp.async.shared.global"

    dst = irdl.operand_def(LLVMPointerType)
    src = irdl.operand_def(LLVMPointerType)
    cp_size = irdl.opt_operand_def(i32)
    size = irdl.prop_def(IntegerAttr[I32])
    modifier = irdl.prop_def(LoadCacheModifierAttr)

    assembly_format = (
        "$dst `,` $src `,` $size `,` `cache` `=` $modifier (`,` $cp_size^)? attr-dict `:` "
        "type(operands)"
    )

    def __init__(
        self, dst: SSAValue, src: SSAValue, size: int, cp_size: SSAValue | None = None
    ) -> None:
        # PTX has `cg` for 16 bytes only.
        modifier = LoadCacheModifier.CG if size == 16 else LoadCacheModifier.CA
        super().__init__(
            operands=[dst, src, [cp_size] if cp_size is not None else []],
            properties={
                "size": IntegerAttr(size, i32),
                "modifier": LoadCacheModifierAttr(modifier),
            },
        )

    def verify_(self) -> None:
        if (size := self.size.value.data) not in (4, 8, 16):
            raise VerifyException(f"a copy is of 4, 8 or 16 bytes, not {size}")


@op_definition
class CpAsyncCommitGroupOp(irdl.IRDLOperation):
    """Makes a group of the copies that the thread has started since the last one."""

    name = "nvvm.cp.async.commit.group"
    assembly_format = "attr-dict"


@op_definition
class CpAsyncWaitGroupOp(irdl.IRDLOperation):
    """Waits until all but the last `n` groups of the thread have been copied."""

    name = "nvvm.cp.async.wait.group"
    n = irdl.prop_def(IntegerAttr[I32])
    assembly_format = "$n attr-dict"

    def __init__(self, n: int) -> None:
        super().__init__(properties={"n": IntegerAttr(n, i32)})


class ShflKind(StrEnum):
    """Which thread of the warp a value comes from: the one with the number `idx`, so many threads
    `up` or `down`, or with the number XOR the offset (`bfly`)."""

    BFLY = "bfly"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


@irdl.irdl_attr_definition
class ShflKindAttr(EnumAttribute[ShflKind], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<shfl_kind bfly>`"""

    name = "nvvm.shfl_kind"


@op_definition
class ShflOp(irdl.IRDLOperation):
    """The value of another thread of the warp, an i32 or f32. The threads of a mask, which has a
    bit for each, wait for each other.

    `%0 = nvvm.shfl.sync bfly %mask, %value, %offset, %clamp : f32 -> f32`
    """

    name = "nvvm.shfl.sync"

    thread_mask = irdl.operand_def(i32)
    val = irdl.operand_def(I32 | Float32Type)
    offset = irdl.operand_def(i32)
    mask_and_clamp = irdl.operand_def(i32)
    kind = irdl.prop_def(ShflKindAttr)
    res = irdl.result_def(I32 | Float32Type)

    assembly_format = (
        "$kind $thread_mask `,` $val `,` $offset `,` $mask_and_clamp attr-dict "
        "`:` type($val) `->` type($res)"
    )

    def __init__(
        self, kind: ShflKind, mask: SSAValue, value: SSAValue, offset: SSAValue, clamp: SSAValue
    ) -> None:
        super().__init__(
            operands=[mask, value, offset, clamp],
            properties={"kind": ShflKindAttr(kind)},
            result_types=[value.type],
        )


NVVM = Dialect(
    "nvvm",
    [
        *(Barrier0Op, CpAsyncCommitGroupOp, CpAsyncOp, CpAsyncWaitGroupOp, ShflOp),
        *(*BLOCK_INDICES, *THREAD_INDICES),
    ],
    [LoadCacheModifierAttr, NVVMTargetAttr, ShflKindAttr],
)
