"""Intrinsics of the `llvm` dialect that work on every element of a vector."""

from abc import ABC

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

_INTEGER = VarConstraint("T", AnyIntegerLike)
_FLOAT = VarConstraint("T", AnyFloatLike)


class IntegerIntrinsicOp(IRDLOperation, ABC):
    """An intrinsic on integers, or vectors of them, of one type."""

    res = result_def(_INTEGER)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, *operands: SSAValue):
        super().__init__(operands=operands, result_types=[operands[0].type])


class BinaryIntegerIntrinsicOp(IntegerIntrinsicOp, ABC):
    """An intrinsic on two of them."""

    lhs = operand_def(_INTEGER)
    rhs = operand_def(_INTEGER)


class FloatIntrinsicOp(IRDLOperation, ABC):
    """An intrinsic on floats, or vectors of them, of one type."""

    res = result_def(_FLOAT)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)


class UnaryFloatIntrinsicOp(FloatIntrinsicOp, ABC):
    """An intrinsic on one of them."""

    arg = operand_def(_FLOAT)


class BinaryFloatIntrinsicOp(FloatIntrinsicOp, ABC):
    """An intrinsic on two of them."""

    lhs = operand_def(_FLOAT)
    rhs = operand_def(_FLOAT)


@op_definition
class SMinOp(BinaryIntegerIntrinsicOp):
    name = "llvm.intr.smin"


@op_definition
class SMaxOp(BinaryIntegerIntrinsicOp):
    name = "llvm.intr.smax"


@op_definition
class UMinOp(BinaryIntegerIntrinsicOp):
    name = "llvm.intr.umin"


@op_definition
class UMaxOp(BinaryIntegerIntrinsicOp):
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
class FMulAddOp(FloatIntrinsicOp):
    """a * b + c, fused where the target does that faster: not exact, unlike `llvm.intr.fma`."""

    name = "llvm.intr.fmuladd"
    a = operand_def(_FLOAT)
    b = operand_def(_FLOAT)
    c = operand_def(_FLOAT)


class FunnelShiftOp(IntegerIntrinsicOp, ABC):
    """Shifts the concatenation a:b; with a = b, a rotation."""

    a = operand_def(_INTEGER)
    b = operand_def(_INTEGER)
    c = operand_def(_INTEGER)


@op_definition
class FShlOp(FunnelShiftOp):
    name = "llvm.intr.fshl"


@op_definition
class FShrOp(FunnelShiftOp):
    name = "llvm.intr.fshr"
