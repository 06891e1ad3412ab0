"""SHL and SHR: a count that is negative or not less than the width shifts everything out.

LLVM's result is poison then; SELECT does not look at the operand that it does not take.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import element_of, is_integer
from tgdialect.ops.dtypes import Kind
from tgdialect.ops.properties import dtype_of


def shift_left(
    e: LLVMEmitter, op: Operation, values: Sequence[SSAValue], intervals: MinMax
) -> SSAValue:
    return _or_zero(e, llvm.ShlOp, op, values, intervals)


def shift_right(
    e: LLVMEmitter, op: Operation, values: Sequence[SSAValue], intervals: MinMax
) -> SSAValue:
    """Arithmetic on signed dtypes, where shifting everything out leaves the sign."""
    dtype = dtype_of(op.operands[0])
    if dtype.kind is Kind.UNSIGNED:
        return _or_zero(e, llvm.LShrOp, op, values, intervals)
    value, count = values
    distance = _resized(e, count, value.type)
    if not _is_proven(op, intervals):
        last = e.number(dtype.bits - 1, value.type)
        distance = e.select(_is_in_width(e, count, dtype.bits), distance, last)
    return e.binary(llvm.AShrOp, value, distance)


def _or_zero(
    e: LLVMEmitter,
    kind: type[Operation],
    op: Operation,
    values: Sequence[SSAValue],
    intervals: MinMax,
) -> SSAValue:
    value, count = values
    width = dtype_of(op.operands[0]).bits
    distance = _resized(e, count, value.type)
    if _is_proven(op, intervals):
        return e.binary(kind, value, distance)
    if e.masks_counts and width > 32:
        distance = e.binary(llvm.AndOp, distance, e.number(width - 1, value.type))
    result = e.binary(kind, value, distance)
    return e.select(_is_in_width(e, count, width), result, e.number(0, value.type))


def _is_proven(op: Operation, intervals: MinMax) -> bool:
    return intervals[op.operands[1]].within(0, dtype_of(op.operands[0]).bits - 1)


def _is_in_width(e: LLVMEmitter, count: SSAValue, width: int) -> SSAValue:
    """A negative count is a great unsigned one."""
    return e.compare("ult", count, e.number(width, count.type))


def _resized(e: LLVMEmitter, count: SSAValue, type: Attribute) -> SSAValue:
    """A count that is less than the width, as an integer of this type."""
    if count.type == type:
        return count
    source, wanted = element_of(count.type), element_of(type)
    assert is_integer(source)
    assert is_integer(wanted)
    if source.bitwidth < wanted.bitwidth:
        return e.emit(llvm.ZExtOp, (count,), type)
    return e.emit(llvm.TruncOp, (count,), type)
