"""Atomic read-modify-write, compare-exchange and fence of the `llvm` dialect."""

from typing import ClassVar

from xdsl import irdl
from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, UnitAttr, i1, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.formats import op_definition
from tgdialect.llvm_dialect.assembly import (
    ATOMIC_ORDERING_BY_KEYWORD,
    ATOMIC_ORDERINGS,
    ATOMIC_RMW_KINDS,
    SYNCSCOPE,
    Keyword,
    parse_attributes,
    parse_flags,
    parse_keyword,
    print_attributes,
    verify_ordering,
)


@op_definition
class AtomicRMWOp(irdl.IRDLOperation):
    """Applies `bin_op` to memory and returns the old value."""

    name = "llvm.atomicrmw"
    T: ClassVar = irdl.VarConstraint("T", irdl.AnyAttr())
    ptr = irdl.operand_def(LLVMPointerType)
    val = irdl.operand_def(T)
    res = irdl.result_def(T)
    bin_op = irdl.prop_def(IntegerAttr[I64])
    ordering = irdl.prop_def(IntegerAttr[I64])
    syncscope = irdl.opt_prop_def(StringAttr)
    alignment = irdl.opt_prop_def(IntegerAttr[I64])
    volatile_ = irdl.opt_prop_def(UnitAttr)

    assembly_format = (
        f"(`volatile` $volatile_^)? custom<Keyword>($bin_op) $ptr `,` $val {SYNCSCOPE} "
        "custom<Keyword>($ordering) attr-dict `:` type($ptr) `,` type($val)"
    )
    custom_directives = (Keyword,)
    irdl_options = (irdl.ParsePropInAttrDict(),)

    def __init__(self, kind: str, ptr: SSAValue, val: SSAValue, ordering: str = "monotonic"):
        properties: dict[str, Attribute] = {
            "bin_op": IntegerAttr(ATOMIC_RMW_KINDS.index(kind), i64),
            "ordering": IntegerAttr(ATOMIC_ORDERING_BY_KEYWORD[ordering], i64),
        }
        super().__init__(operands=[ptr, val], result_types=[val.type], properties=properties)

    def verify_(self) -> None:
        if not 0 <= self.bin_op.value.data < len(ATOMIC_RMW_KINDS):
            raise VerifyException(f"bin_op {self.bin_op.value.data} is not an atomic operation")
        verify_ordering(self.ordering, "monotonic")


@op_definition
class AtomicCmpXchgOp(irdl.IRDLOperation):
    """Stores `val` if memory holds `cmp`; returns (the old value, whether it stored)."""

    name = "llvm.cmpxchg"
    T: ClassVar = irdl.VarConstraint("T", irdl.AnyAttr())
    ptr = irdl.operand_def(LLVMPointerType)
    cmp = irdl.operand_def(T)
    val = irdl.operand_def(T)
    res = irdl.result_def(LLVMStructType)
    success_ordering = irdl.prop_def(IntegerAttr[I64])
    failure_ordering = irdl.prop_def(IntegerAttr[I64])
    syncscope = irdl.opt_prop_def(StringAttr)
    alignment = irdl.opt_prop_def(IntegerAttr[I64])
    weak = irdl.opt_prop_def(UnitAttr)
    volatile_ = irdl.opt_prop_def(UnitAttr)

    def verify_(self) -> None:
        verify_ordering(self.success_ordering, "monotonic")
        verify_ordering(self.failure_ordering, "monotonic")

    @classmethod
    def parse(cls, parser: Parser) -> "AtomicCmpXchgOp":
        properties = parse_flags(parser, weak="weak", volatile="volatile_")
        names = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        if len(names) != 3:
            parser.raise_error(f"expected a pointer and two values, got {len(names)} operands")
        if parser.parse_optional_keyword("syncscope") is not None:
            with parser.in_parens():
                properties["syncscope"] = StringAttr(parser.parse_str_literal())
        for name in ("success_ordering", "failure_ordering"):
            ordering = parse_keyword(parser, "atomic ordering", ATOMIC_ORDERING_BY_KEYWORD)
            properties[name] = IntegerAttr(ordering, i64)
        attributes = parse_attributes(parser, ("alignment",), properties)
        pointer_type = parser.parse_type()
        parser.parse_punctuation(",")
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(names, [pointer_type, type, type], parser.pos),
            result_types=[LLVMStructType.from_type_list([type, i1])],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" weak" if self.weak is not None else "")
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_list(self.operands, printer.print_ssa_value)
        if self.syncscope is not None:
            printer.print_string(f" syncscope({self.syncscope})")
        printer.print_string(f" {ATOMIC_ORDERINGS[self.success_ordering.value.data]}")
        printer.print_string(f" {ATOMIC_ORDERINGS[self.failure_ordering.value.data]}")
        print_attributes(self, printer, ("alignment",))
        printer.print_list((self.ptr.type, self.val.type), printer.print_attribute)


@op_definition
class FenceOp(irdl.IRDLOperation):
    """Orders the memory accesses on either side."""

    name = "llvm.fence"
    ordering = irdl.prop_def(IntegerAttr[I64])
    syncscope = irdl.opt_prop_def(StringAttr)

    assembly_format = f"{SYNCSCOPE} custom<Keyword>($ordering) attr-dict"
    custom_directives = (Keyword,)

    def __init__(self, ordering: str = "seq_cst", syncscope: str | None = None):
        properties: dict[str, Attribute] = {
            "ordering": IntegerAttr(ATOMIC_ORDERING_BY_KEYWORD[ordering], i64)
        }
        if syncscope is not None:
            properties["syncscope"] = StringAttr(syncscope)
        super().__init__(properties=properties)

    def verify_(self) -> None:
        verify_ordering(self.ordering, "acquire")
