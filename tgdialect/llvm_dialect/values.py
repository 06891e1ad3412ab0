"""Casts, comparison, selection and values of the `llvm` dialect."""

from abc import ABC
from typing import ClassVar

from xdsl import irdl
from xdsl.dialects import llvm
from xdsl.dialects.builtin import I64, IntegerAttr, SignlessIntegerConstraint, VectorType, i1, i64
from xdsl.dialects.llvm import FastMathAttr, FCmpPredicateFlag, LLVMPointerType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.formats import WidenedOp, op_definition
from tgdialect.llvm_dialect.assembly import named, parse_attributes, print_attributes
from tgdialect.llvm_dialect.types import AnyFloatLike, AnyIntegerLike, BoolLike


class FloatToIntegerOp(irdl.IRDLOperation, ABC):
    """Rounds towards zero; poison when the value does not fit (saturate first, or use
    `llvm.call_intrinsic "llvm.fptosi.sat..."`)."""

    arg = irdl.operand_def(AnyFloatLike)
    result = irdl.result_def(AnyIntegerLike)
    traits = irdl.traits_def(NoMemoryEffect())
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"


FPToSIOp = named(FloatToIntegerOp, "FPToSIOp", "llvm.fptosi")
FPToUIOp = named(FloatToIntegerOp, "FPToUIOp", "llvm.fptoui")


@op_definition
class UIToFPOp(irdl.IRDLOperation):
    name = "llvm.uitofp"
    arg = irdl.operand_def(AnyIntegerLike)
    result = irdl.result_def(AnyFloatLike)
    traits = irdl.traits_def(NoMemoryEffect())
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"


@op_definition
class AddrSpaceCastOp(irdl.IRDLOperation):
    name = "llvm.addrspacecast"
    arg = irdl.operand_def(LLVMPointerType)
    res = irdl.result_def(LLVMPointerType)
    traits = irdl.traits_def(NoMemoryEffect())
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($res)"


@op_definition
class FreezeOp(irdl.IRDLOperation):
    """The operand, or some fixed value when the operand is undef or poison."""

    name = "llvm.freeze"
    T: ClassVar = irdl.VarConstraint("T", irdl.AnyAttr())
    val = irdl.operand_def(T)
    res = irdl.result_def(T)
    traits = irdl.traits_def(NoMemoryEffect())
    assembly_format = "$val attr-dict `:` type($val)"


@op_definition
class PoisonOp(irdl.IRDLOperation):
    name = "llvm.mlir.poison"
    res = irdl.result_def()
    traits = irdl.traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"


@op_definition
class ZeroOp(WidenedOp, llvm.ZeroOp):
    """Zero of any type (xDSL's has no integers, floats and vectors)."""

    name = "llvm.mlir.zero"
    res = irdl.result_def()
    traits = irdl.traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"


@op_definition
class FCmpOp(WidenedOp, llvm.FCmpOp):
    """Compares floats or vectors of floats (xDSL's has no vectors and drops fast-math flags)."""

    name = "llvm.fcmp"
    T: ClassVar = irdl.VarConstraint("T", AnyFloatLike)
    lhs = irdl.operand_def(T)
    rhs = irdl.operand_def(T)
    res = irdl.result_def(BoolLike)
    predicate = irdl.prop_def(IntegerAttr[I64])
    fastmathFlags = irdl.prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = irdl.traits_def(Pure())

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        predicate: FCmpPredicateFlag | str,
        fast_math: FastMathAttr | None = None,
    ):
        flag = FCmpPredicateFlag(predicate)
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(flag.to_int(), i64)}
        properties["fastmathFlags"] = fast_math or FastMathAttr(None)
        irdl.IRDLOperation.__init__(
            self, operands=[lhs, rhs], result_types=[_bool_like(lhs.type)], properties=properties
        )

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(FCmpPredicateFlag):
            raise VerifyException(f"{self.predicate.value.data} is no predicate of a comparison")
        if self.res.type != _bool_like(self.lhs.type):
            raise VerifyException(f"a comparison of {self.lhs.type} does not give {self.res.type}")

    @classmethod
    def parse(cls, parser: Parser) -> "FCmpOp":
        predicate = parser.parse_str_literal()
        if predicate not in set(FCmpPredicateFlag):
            parser.raise_error(f"unknown predicate '{predicate}'")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        attributes = parse_attributes(parser, ("fastmathFlags",), properties)
        type = parser.parse_type()
        op = cls(parser.resolve_operand(lhs, type), parser.resolve_operand(rhs, type), predicate)
        op.properties |= properties
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{FCmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_list(self.operands, printer.print_ssa_value)
        print_attributes(self, printer, ("fastmathFlags",) if self.fastmathFlags.data else ())
        printer.print_attribute(self.lhs.type)


def _bool_like(type: Attribute) -> Attribute:
    return VectorType(i1, type.shape) if isinstance(type, VectorType) else i1


@op_definition
class SelectOp(WidenedOp, llvm.SelectOp):
    """`cond ? lhs : rhs`, per element if `cond` is a vector (xDSL's takes a scalar only)."""

    name = "llvm.select"
    T: ClassVar = irdl.VarConstraint("T", irdl.AnyAttr())
    cond = irdl.operand_def(BoolLike)
    lhs = irdl.operand_def(T)
    rhs = irdl.operand_def(T)
    res = irdl.result_def(T)
    fastmathFlags = irdl.prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = irdl.traits_def(Pure())
    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($res)"


@op_definition
class ExtractElementOp(irdl.IRDLOperation):
    name = "llvm.extractelement"
    T: ClassVar = irdl.VarConstraint("T", irdl.AnyAttr())
    vector = irdl.operand_def(VectorType.constr(T))
    position = irdl.operand_def(SignlessIntegerConstraint)
    res = irdl.result_def(T)
    traits = irdl.traits_def(Pure())
    assembly_format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"
