"""Loads, stores, block copies and prefetches of the `llvm` dialect."""

from typing import ClassVar

from xdsl import irdl
from xdsl.dialects import builtin, llvm
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, SSAValue

from tgdialect.fast_xdsl.formats import WidenedOp, op_definition
from tgdialect.llvm_dialect.assembly import ATOMIC, Keyword, verify_ordering


@op_definition
class LoadOp(WidenedOp, llvm.LoadOp):
    """Loads (xDSL's has no volatile, invariant, nontemporal and syncscope)."""

    name = "llvm.load"
    ptr = irdl.operand_def(LLVMPointerType)
    alignment = irdl.opt_prop_def(builtin.IntegerAttr[builtin.I64])
    volatile_ = irdl.opt_prop_def(builtin.UnitAttr)
    nontemporal = irdl.opt_prop_def(builtin.UnitAttr)
    invariant = irdl.opt_prop_def(builtin.UnitAttr)
    ordering = irdl.prop_def(
        builtin.IntegerAttr[builtin.I64], default_value=builtin.IntegerAttr(0, builtin.i64)
    )
    syncscope = irdl.opt_prop_def(builtin.StringAttr)
    dereferenced_value = irdl.result_def()

    assembly_format = (
        f"(`volatile` $volatile_^)? $ptr {ATOMIC} (`invariant` $invariant^)? attr-dict `:` "
        "type($ptr) `->` type($dereferenced_value)"
    )
    custom_directives = (Keyword,)
    irdl_options = (irdl.ParsePropInAttrDict(),)

    def verify_(self) -> None:
        verify_ordering(self.ordering)


@op_definition
class StoreOp(WidenedOp, llvm.StoreOp):
    """Stores (xDSL's has no syncscope and does not print the ordering)."""

    name = "llvm.store"
    value = irdl.operand_def()
    ptr = irdl.operand_def(LLVMPointerType)
    alignment = irdl.opt_prop_def(builtin.IntegerAttr[builtin.I64])
    volatile_ = irdl.opt_prop_def(builtin.UnitAttr)
    nontemporal = irdl.opt_prop_def(builtin.UnitAttr)
    ordering = irdl.prop_def(
        builtin.IntegerAttr[builtin.I64], default_value=builtin.IntegerAttr(0, builtin.i64)
    )
    syncscope = irdl.opt_prop_def(builtin.StringAttr)

    assembly_format = (
        f"(`volatile` $volatile_^)? $value `,` $ptr {ATOMIC} attr-dict `:` "
        "type($value) `,` type($ptr)"
    )
    custom_directives = (Keyword,)
    irdl_options = (irdl.ParsePropInAttrDict(),)

    def verify_(self) -> None:
        verify_ordering(self.ordering)


@op_definition
class MaskedLoadOp(irdl.IRDLOperation):
    """Loads the lanes for which the mask is true; the others come from `pass_thru`."""

    name = "llvm.intr.masked.load"
    T: ClassVar = irdl.VarConstraint("T", irdl.base(builtin.VectorType[Attribute]))
    data = irdl.operand_def(LLVMPointerType)
    mask = irdl.operand_def(builtin.VectorType[builtin.I1])
    pass_thru = irdl.operand_def(T)
    res = irdl.result_def(T)
    alignment = irdl.prop_def(builtin.IntegerAttr[builtin.I32])
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    irdl_options = (irdl.ParsePropInAttrDict(),)

    def __init__(self, data: SSAValue, mask: SSAValue, pass_thru: SSAValue, alignment: int):
        super().__init__(
            operands=[data, mask, pass_thru],
            result_types=[pass_thru.type],
            properties={"alignment": builtin.IntegerAttr(alignment, builtin.i32)},
        )


@op_definition
class MaskedStoreOp(WidenedOp, llvm.MaskedStoreOp):
    """Stores the lanes for which the mask is true (xDSL's takes floats only)."""

    name = "llvm.intr.masked.store"
    value = irdl.operand_def(builtin.VectorType)
    data = irdl.operand_def(LLVMPointerType)
    mask = irdl.operand_def(builtin.VectorType[builtin.I1])
    alignment = irdl.prop_def(builtin.IntegerAttr[builtin.I32])
    assembly_format = "operands attr-dict `:` type($value) `,` type($mask) `into` type($data)"


@op_definition
class MemcpyOp(irdl.IRDLOperation):
    """Copies `len` bytes between areas that do not overlap."""

    name = "llvm.intr.memcpy"
    dst = irdl.operand_def(LLVMPointerType)
    src = irdl.operand_def(LLVMPointerType)
    len = irdl.operand_def(builtin.SignlessIntegerConstraint)
    isVolatile = irdl.prop_def(builtin.IntegerAttr[builtin.I1])


@op_definition
class MemsetOp(irdl.IRDLOperation):
    """Sets `len` bytes to the i8 `val`."""

    name = "llvm.intr.memset"
    dst = irdl.operand_def(LLVMPointerType)
    val = irdl.operand_def(builtin.IntegerType(8))
    len = irdl.operand_def(builtin.SignlessIntegerConstraint)
    isVolatile = irdl.prop_def(builtin.IntegerAttr[builtin.I1])

    def __init__(self, dst: SSAValue, val: SSAValue, length: SSAValue, *, volatile: bool = False):
        super().__init__(
            operands=[dst, val, length],
            properties={"isVolatile": builtin.IntegerAttr(int(volatile), builtin.i1)},
        )


@op_definition
class PrefetchOp(irdl.IRDLOperation):
    """Prefetches a line: `rw` 0 read or 1 write, `hint` 0 (no locality) to 3, `cache` 1 data."""

    name = "llvm.intr.prefetch"
    addr = irdl.operand_def(LLVMPointerType)
    rw = irdl.prop_def(builtin.IntegerAttr[builtin.I32])
    hint = irdl.prop_def(builtin.IntegerAttr[builtin.I32])
    cache = irdl.prop_def(builtin.IntegerAttr[builtin.I32])

    def __init__(self, addr: SSAValue, *, write: bool = False, locality: int = 3):
        properties = {
            "rw": builtin.IntegerAttr(int(write), builtin.i32),
            "hint": builtin.IntegerAttr(locality, builtin.i32),
            "cache": builtin.IntegerAttr(1, builtin.i32),
        }
        super().__init__(operands=[addr], properties=properties)
