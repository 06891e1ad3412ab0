"""SHUFFLE by the instructions of NVIDIA and AMD, which move registers of 32 bits."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue

from tgdialect.gpu_dialect import nvvm, rocdl
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import is_integer
from tgdialect.ops import tg
from tgdialect.ops.dtypes import F32
from tgdialect.ops.properties import dtype_of

MoveWord = Callable[[LLVMEmitter, SSAValue, tg.ShuffleOp], SSAValue]
"""Appends the instruction on an i32 or f32, and gives what the other work item has."""

_WORD = 32
"""The bits of a register."""


def shuffle(e: LLVMEmitter, op: tg.ShuffleOp, value: SSAValue, move: MoveWord) -> SSAValue:
    """SHUFFLE of a scalar: narrow values are widened, and wide ones move as two words."""
    type = value.type
    if type in (i32, F32):
        return move(e, value, op)
    bits = type if is_integer(type) else IntegerType(dtype_of(op.value).bits)
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
