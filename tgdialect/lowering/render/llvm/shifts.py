"""SHL and SHR: a count that is negative or not less than the width shifts everything out.

LLVM's result is poison then; SELECT does not look at the operand that it does not take.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.lowering.render.llvm.emitter import Emitted, LLVMEmitter
from tgdialect.lowering.render.llvm.types import element_of, is_integer
from tgdialect.ops.dtypes import Kind


def shift_left(of: Emitted) -> SSAValue:
    return _or_zero(of, llvm.ShlOp)


def shift_right(of: Emitted) -> SSAValue:
    """Arithmetic on signed dtypes, where shifting everything out leaves the sign."""
    if of.source.kind is Kind.UNSIGNED:
        return _or_zero(of, llvm.LShrOp)
    e, (value, count), width = of.function, of.operands, of.source.bits
    distance = _resized(e, count, value.type)
    if not _is_proven(of):
        last = e.number(width - 1, value.type)
        distance = e.select(_is_in_width(e, count, width), distance, last)
    return e.binary(llvm.AShrOp, value, distance)


def _or_zero(of: Emitted, kind: type[Operation]) -> SSAValue:
    e, (value, count), width = of.function, of.operands, of.source.bits
    distance = _resized(e, count, value.type)
    if _is_proven(of):
        return e.binary(kind, value, distance)
    if e.masks_counts and width > 32:
        distance = e.binary(llvm.AndOp, distance, e.number(width - 1, value.type))
    result = e.binary(kind, value, distance)
    return e.select(_is_in_width(e, count, width), result, e.number(0, value.type))


def _is_proven(of: Emitted) -> bool:
    return of.interval_of(1).within(0, of.source.bits - 1)


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
