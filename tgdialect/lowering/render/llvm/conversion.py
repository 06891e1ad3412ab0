"""CAST and BITCAST of scalars and vectors."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from tgdialect.llvm_dialect.values import UIToFPOp
from tgdialect.lowering.render.llvm.emitter import Emitted, LLVMEmitter
from tgdialect.lowering.render.llvm.types import lanes_of, register_type, vector_of
from tgdialect.ops.dtypes import DType, Kind


def convert(of: Emitted) -> SSAValue:
    """CAST between any two dtypes."""
    e, (value,), source, result = of.function, of.operands, of.source, of.dtype
    if result.is_bool:
        return _to_bool(e, value, source)
    write = _to_float if result.is_float else _to_integer
    return write(e, value, source, result)


def _to_bool(e: LLVMEmitter, value: SSAValue, source: DType) -> SSAValue:
    """x != 0; true for NaN."""
    if source.is_bool:
        return value
    if source.is_float:
        return e.compare_floats("une", value, e.number(0, value.type))
    return e.compare("ne", value, e.number(0, value.type))


def _to_float(e: LLVMEmitter, value: SSAValue, source: DType, result: DType) -> SSAValue:
    type = vector_of(register_type(result), lanes_of(value.type))
    if not source.is_float:
        kind = llvm.SIToFPOp if source.kind is Kind.SIGNED else UIToFPOp
        return e.emit(kind, (value,), type)
    if type == value.type:
        return value
    kind = llvm.FPExtOp if result.bits > source.bits else llvm.FPTruncOp
    return e.emit(kind, (value,), type)


def _to_integer(e: LLVMEmitter, value: SSAValue, source: DType, result: DType) -> SSAValue:
    """Floats truncate, saturate, and NaN becomes 0; integers wrap."""
    type = vector_of(register_type(result), lanes_of(value.type))
    if source.is_float:
        sign = "s" if result.kind is Kind.SIGNED else "u"
        return e.intrinsic(f"llvm.fpto{sign}i.sat", (value,), type)
    width = 1 if source.is_bool else source.bits
    if result.bits == width:
        return value
    if result.bits > width:
        extend = llvm.SExtOp if source.kind is Kind.SIGNED else llvm.ZExtOp
        return e.emit(extend, (value,), type)
    return e.emit(llvm.TruncOp, (value,), type)


def bitcast(of: Emitted) -> SSAValue:
    """BITCAST to a dtype of the same size; integers have no sign here, and fp8 is its bits."""
    (value,), dtype = of.operands, of.dtype
    if dtype.is_float and dtype.bits == 8:
        return value
    type = vector_of(register_type(dtype), lanes_of(value.type))
    return value if value.type == type else of.function.emit(llvm.BitcastOp, (value,), type)
