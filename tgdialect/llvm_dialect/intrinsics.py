"""Intrinsics of the `llvm` dialect on every element of a vector, and those that reduce one."""

from abc import ABC

from xdsl import irdl
from xdsl.dialects.builtin import AnyFloatConstr, SignlessIntegerConstraint, VectorType
from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import SSAValue
from xdsl.traits import Pure

from tgdialect.fast_xdsl.formats import op_definition
from tgdialect.llvm_dialect.assembly import named
from tgdialect.llvm_dialect.types import AnyFloatLike, AnyIntegerLike

_INTEGER = irdl.VarConstraint("T", AnyIntegerLike)
_FLOAT = irdl.VarConstraint("T", AnyFloatLike)


class IntegerIntrinsicOp(irdl.IRDLOperation, ABC):
    """An intrinsic on integers, or vectors of them, of one type."""

    res = irdl.result_def(_INTEGER)
    traits = irdl.traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, *operands: SSAValue):
        super().__init__(operands=operands, result_types=[operands[0].type])


class BinaryIntegerIntrinsicOp(IntegerIntrinsicOp, ABC):
    """An intrinsic on two of them."""

    lhs = irdl.operand_def(_INTEGER)
    rhs = irdl.operand_def(_INTEGER)


class FloatIntrinsicOp(irdl.IRDLOperation, ABC):
    """An intrinsic on floats, or vectors of them, of one type."""

    res = irdl.result_def(_FLOAT)
    fastmathFlags = irdl.prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = irdl.traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    irdl_options = (irdl.ParsePropInAttrDict(),)


class UnaryFloatIntrinsicOp(FloatIntrinsicOp, ABC):
    """An intrinsic on one of them."""

    arg = irdl.operand_def(_FLOAT)


class BinaryFloatIntrinsicOp(FloatIntrinsicOp, ABC):
    """An intrinsic on two of them."""

    lhs = irdl.operand_def(_FLOAT)
    rhs = irdl.operand_def(_FLOAT)


SMinOp = named(BinaryIntegerIntrinsicOp, "SMinOp", "llvm.intr.smin")
SMaxOp = named(BinaryIntegerIntrinsicOp, "SMaxOp", "llvm.intr.smax")
UMinOp = named(BinaryIntegerIntrinsicOp, "UMinOp", "llvm.intr.umin")
UMaxOp = named(BinaryIntegerIntrinsicOp, "UMaxOp", "llvm.intr.umax")
MinimumOp = named(BinaryFloatIntrinsicOp, "MinimumOp", "llvm.intr.minimum")
"""The smaller; NaN if either is NaN, and -0 < +0 (IEEE 754-2019 minimum)."""
MaximumOp = named(BinaryFloatIntrinsicOp, "MaximumOp", "llvm.intr.maximum")
"""The greater; NaN if either is NaN, and -0 < +0 (IEEE 754-2019 maximum)."""
FTruncOp = named(UnaryFloatIntrinsicOp, "FTruncOp", "llvm.intr.trunc")
"""Rounds towards zero to an integral value."""
RintOp = named(UnaryFloatIntrinsicOp, "RintOp", "llvm.intr.rint")
"""Rounds to an integral value in the current rounding mode."""
NearbyintOp = named(UnaryFloatIntrinsicOp, "NearbyintOp", "llvm.intr.nearbyint")
"""Rounds to an integral value in the current rounding mode, never raising inexact."""
RoundOp = named(UnaryFloatIntrinsicOp, "RoundOp", "llvm.intr.round")
"""Rounds to the nearest integral value, halfway cases away from zero."""
RoundEvenOp = named(UnaryFloatIntrinsicOp, "RoundEvenOp", "llvm.intr.roundeven")
"""Rounds to the nearest integral value, halfway cases to even."""


@op_definition
class FMulAddOp(FloatIntrinsicOp):
    """a * b + c, fused where the target does that faster: not exact, unlike `llvm.intr.fma`."""

    name = "llvm.intr.fmuladd"
    a = irdl.operand_def(_FLOAT)
    b = irdl.operand_def(_FLOAT)
    c = irdl.operand_def(_FLOAT)


class FunnelShiftOp(IntegerIntrinsicOp, ABC):
    """Shifts the concatenation a:b; with a = b, a rotation."""

    a = irdl.operand_def(_INTEGER)
    b = irdl.operand_def(_INTEGER)
    c = irdl.operand_def(_INTEGER)


FShlOp = named(FunnelShiftOp, "FShlOp", "llvm.intr.fshl")
FShrOp = named(FunnelShiftOp, "FShrOp", "llvm.intr.fshr")


_SCALAR_INTEGER = irdl.VarConstraint("T", SignlessIntegerConstraint)
_SCALAR_FLOAT = irdl.VarConstraint("T", AnyFloatConstr)
_REDUCE = "llvm.intr.vector.reduce"


class VectorReduceIntegerOp(irdl.IRDLOperation, ABC):
    """Reduces a vector of integers to one. Upstream gives it the generic assembly only."""

    arg = irdl.operand_def(VectorType.constr(_SCALAR_INTEGER))
    res = irdl.result_def(_SCALAR_INTEGER)
    traits = irdl.traits_def(Pure())


class VectorReduceFloatOp(FloatIntrinsicOp, ABC):
    """Reduces a vector of floats to one by a minimum or maximum."""

    arg = irdl.operand_def(VectorType.constr(_SCALAR_FLOAT))
    res = irdl.result_def(_SCALAR_FLOAT)


VectorReduceAddOp = named(VectorReduceIntegerOp, "VectorReduceAddOp", f"{_REDUCE}.add")
VectorReduceMulOp = named(VectorReduceIntegerOp, "VectorReduceMulOp", f"{_REDUCE}.mul")
VectorReduceAndOp = named(VectorReduceIntegerOp, "VectorReduceAndOp", f"{_REDUCE}.and")
VectorReduceOrOp = named(VectorReduceIntegerOp, "VectorReduceOrOp", f"{_REDUCE}.or")
VectorReduceXorOp = named(VectorReduceIntegerOp, "VectorReduceXorOp", f"{_REDUCE}.xor")
VectorReduceSMaxOp = named(VectorReduceIntegerOp, "VectorReduceSMaxOp", f"{_REDUCE}.smax")
VectorReduceSMinOp = named(VectorReduceIntegerOp, "VectorReduceSMinOp", f"{_REDUCE}.smin")
VectorReduceUMaxOp = named(VectorReduceIntegerOp, "VectorReduceUMaxOp", f"{_REDUCE}.umax")
VectorReduceUMinOp = named(VectorReduceIntegerOp, "VectorReduceUMinOp", f"{_REDUCE}.umin")
VectorReduceFMaxOp = named(VectorReduceFloatOp, "VectorReduceFMaxOp", f"{_REDUCE}.fmax")
"""By maxnum: NaNs are ignored."""
VectorReduceFMinOp = named(VectorReduceFloatOp, "VectorReduceFMinOp", f"{_REDUCE}.fmin")
"""By minnum: NaNs are ignored."""
VectorReduceFMaximumOp = named(VectorReduceFloatOp, "VectorReduceFMaximumOp", f"{_REDUCE}.fmaximum")
"""By maximum: NaN if any element is NaN."""
VectorReduceFMinimumOp = named(VectorReduceFloatOp, "VectorReduceFMinimumOp", f"{_REDUCE}.fminimum")
"""By minimum: NaN if any element is NaN."""
