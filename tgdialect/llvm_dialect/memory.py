"""Loads, stores, block copies and prefetches of the `llvm` dialect."""

from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    I1,
    I32,
    I64,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from tgdialect.fast_xdsl.formats import WidenedOp, op_definition
from tgdialect.llvm_dialect.assembly import ATOMIC, Keyword, verify_ordering


@op_definition
class LoadOp(WidenedOp, llvm.LoadOp):
    """Loads (xDSL's has no volatile, invariant, nontemporal and syncscope)."""

    name = "llvm.load"
    ptr = operand_def(LLVMPointerType)
    alignment = opt_prop_def(IntegerAttr[I64])
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    invariant = opt_prop_def(UnitAttr)
    ordering = prop_def(IntegerAttr[I64], default_value=IntegerAttr(0, i64))
    syncscope = opt_prop_def(StringAttr)
    dereferenced_value = result_def()

    assembly_format = (
        f"(`volatile` $volatile_^)? $ptr {ATOMIC} (`invariant` $invariant^)? attr-dict `:` "
        "type($ptr) `->` type($dereferenced_value)"
    )
    custom_directives = (Keyword,)
    irdl_options = (ParsePropInAttrDict(),)

    def verify_(self) -> None:
        verify_ordering(self.ordering)


@op_definition
class StoreOp(WidenedOp, llvm.StoreOp):
    """Stores (xDSL's has no syncscope and does not print the ordering)."""

    name = "llvm.store"
    value = operand_def()
    ptr = operand_def(LLVMPointerType)
    alignment = opt_prop_def(IntegerAttr[I64])
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    ordering = prop_def(IntegerAttr[I64], default_value=IntegerAttr(0, i64))
    syncscope = opt_prop_def(StringAttr)

    assembly_format = (
        f"(`volatile` $volatile_^)? $value `,` $ptr {ATOMIC} attr-dict `:` "
        "type($value) `,` type($ptr)"
    )
    custom_directives = (Keyword,)
    irdl_options = (ParsePropInAttrDict(),)

    def verify_(self) -> None:
        verify_ordering(self.ordering)


@op_definition
class MaskedLoadOp(IRDLOperation):
    """Loads the lanes for which the mask is true; the others come from `pass_thru`."""

    name = "llvm.intr.masked.load"
    T: ClassVar = VarConstraint("T", base(VectorType[Attribute]))
    data = operand_def(LLVMPointerType)
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(T)
    res = result_def(T)
    alignment = prop_def(IntegerAttr[I32])
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, data: SSAValue, mask: SSAValue, pass_thru: SSAValue, alignment: int):
        super().__init__(
            operands=[data, mask, pass_thru],
            result_types=[pass_thru.type],
            properties={"alignment": IntegerAttr(alignment, i32)},
        )


@op_definition
class MaskedStoreOp(WidenedOp, llvm.MaskedStoreOp):
    """Stores the lanes for which the mask is true (xDSL's takes floats only)."""

    name = "llvm.intr.masked.store"
    value = operand_def(VectorType)
    data = operand_def(LLVMPointerType)
    mask = operand_def(VectorType[I1])
    alignment = prop_def(IntegerAttr[I32])
    assembly_format = "operands attr-dict `:` type($value) `,` type($mask) `into` type($data)"


@op_definition
class MemcpyOp(IRDLOperation):
    """Copies `len` bytes between areas that do not overlap."""

    name = "llvm.intr.memcpy"
    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    len = operand_def(SignlessIntegerConstraint)
    isVolatile = prop_def(IntegerAttr[I1])


@op_definition
class MemsetOp(IRDLOperation):
    """Sets `len` bytes to the i8 `val`."""

    name = "llvm.intr.memset"
    dst = operand_def(LLVMPointerType)
    val = operand_def(IntegerType(8))
    len = operand_def(SignlessIntegerConstraint)
    isVolatile = prop_def(IntegerAttr[I1])

    def __init__(self, dst: SSAValue, val: SSAValue, length: SSAValue, *, volatile: bool = False):
        super().__init__(
            operands=[dst, val, length], properties={"isVolatile": IntegerAttr(int(volatile), i1)}
        )


@op_definition
class PrefetchOp(IRDLOperation):
    """Prefetches a line: `rw` 0 read or 1 write, `hint` 0 (no locality) to 3, `cache` 1 data."""

    name = "llvm.intr.prefetch"
    addr = operand_def(LLVMPointerType)
    rw = prop_def(IntegerAttr[I32])
    hint = prop_def(IntegerAttr[I32])
    cache = prop_def(IntegerAttr[I32])

    def __init__(self, addr: SSAValue, *, write: bool = False, locality: int = 3):
        properties = {
            "rw": IntegerAttr(int(write), i32),
            "hint": IntegerAttr(locality, i32),
            "cache": IntegerAttr(1, i32),
        }
        super().__init__(operands=[addr], properties=properties)
