"""Intrinsics of the `llvm` dialect that work on every element of a vector."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tgdialect.fast_xdsl.formats import op_definition
from tgdialect.llvm_dialect.types import AnyFloatLike, AnyIntegerLike


class IntegerIntrinsicOp(IRDLOperation, ABC):
    """An intrinsic on two integers, or vectors of them, of one type."""

    T: ClassVar = VarConstraint("T", AnyIntegerLike)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


class UnaryFloatIntrinsicOp(IRDLOperation, ABC):
    """An intrinsic on one float, or vector of floats."""

    T: ClassVar = VarConstraint("T", AnyFloatLike)
    arg = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, arg: SSAValue, fast_math: FastMathAttr | None = None):
        properties = {"fastmathFlags": fast_math or FastMathAttr(None)}
        super().__init__(operands=[arg], result_types=[arg.type], properties=properties)


class BinaryFloatIntrinsicOp(IRDLOperation, ABC):
    """An intrinsic on two floats, or vectors of them, of one type."""

    T: ClassVar = VarConstraint("T", AnyFloatLike)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, lhs: SSAValue, rhs: SSAValue, fast_math: FastMathAttr | None = None):
        properties = {"fastmathFlags": fast_math or FastMathAttr(None)}
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type], properties=properties)


@op_definition
class SMinOp(IntegerIntrinsicOp):
    name = "llvm.intr.smin"


@op_definition
class SMaxOp(IntegerIntrinsicOp):
    name = "llvm.intr.smax"


@op_definition
class UMinOp(IntegerIntrinsicOp):
    name = "llvm.intr.umin"


@op_definition
class UMaxOp(IntegerIntrinsicOp):
    name = "llvm.intr.umax"


@op_definition
class MinimumOp(BinaryFloatIntrinsicOp):
    """The smaller; NaN if either is NaN, and -0 < +0 (IEEE 754-2019 minimum)."""

    name = "llvm.intr.minimum"


@op_definition
class MaximumOp(BinaryFloatIntrinsicOp):
    """The greater; NaN if either is NaN, and -0 < +0 (IEEE 754-2019 maximum)."""

    name = "llvm.intr.maximum"


@op_definition
class FTruncOp(UnaryFloatIntrinsicOp):
    """Rounds towards zero to an integral value."""

    name = "llvm.intr.trunc"


@op_definition
class RintOp(UnaryFloatIntrinsicOp):
    """Rounds to an integral value in the current rounding mode."""

    name = "llvm.intr.rint"


@op_definition
class NearbyintOp(UnaryFloatIntrinsicOp):
    """Rounds to an integral value in the current rounding mode, never raising inexact."""

    name = "llvm.intr.nearbyint"


@op_definition
class RoundOp(UnaryFloatIntrinsicOp):
    """Rounds to the nearest integral value, halfway cases away from zero."""

    name = "llvm.intr.round"


@op_definition
class RoundEvenOp(UnaryFloatIntrinsicOp):
    """Rounds to the nearest integral value, halfway cases to even."""

    name = "llvm.intr.roundeven"


@op_definition
class FMulAddOp(IRDLOperation):
    """a * b + c, fused where the target does that faster: not exact, unlike `llvm.intr.fma`."""

    name = "llvm.intr.fmuladd"
    T: ClassVar = VarConstraint("T", AnyFloatLike)
    a = operand_def(T)
    b = operand_def(T)
    c = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self, a: SSAValue, b: SSAValue, c: SSAValue, fast_math: FastMathAttr | None = None
    ):
        properties = {"fastmathFlags": fast_math or FastMathAttr(None)}
        super().__init__(operands=[a, b, c], result_types=[a.type], properties=properties)


class FunnelShiftOp(IRDLOperation, ABC):
    """Shifts the concatenation a:b; with a = b, a rotation."""

    T: ClassVar = VarConstraint("T", AnyIntegerLike)
    a = operand_def(T)
    b = operand_def(T)
    c = operand_def(T)
    res = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, a: SSAValue, b: SSAValue, count: SSAValue):
        super().__init__(operands=[a, b, count], result_types=[a.type])


@op_definition
class FShlOp(FunnelShiftOp):
    name = "llvm.intr.fshl"


@op_definition
class FShrOp(FunnelShiftOp):
    name = "llvm.intr.fshr"
