"""Intrinsics of the `llvm` dialect that reduce a vector to a scalar."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloatConstr, SignlessIntegerConstraint, VectorType
from xdsl.dialects.llvm import FastMathAttr
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


class VectorReduceIntegerOp(IRDLOperation, ABC):
    """Reduces a vector of integers to one. Upstream gives it the generic assembly only."""

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)
    arg = operand_def(VectorType.constr(T))
    res = result_def(T)
    traits = traits_def(Pure())


class VectorReduceFloatOp(IRDLOperation, ABC):
    """Reduces a vector of floats to one by a minimum or maximum."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)
    arg = operand_def(VectorType.constr(T))
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)


@op_definition
class VectorReduceAddOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.add"


@op_definition
class VectorReduceMulOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.mul"


@op_definition
class VectorReduceAndOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.and"


@op_definition
class VectorReduceOrOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.or"


@op_definition
class VectorReduceXorOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.xor"


@op_definition
class VectorReduceSMaxOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.smax"


@op_definition
class VectorReduceSMinOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.smin"


@op_definition
class VectorReduceUMaxOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.umax"


@op_definition
class VectorReduceUMinOp(VectorReduceIntegerOp):
    name = "llvm.intr.vector.reduce.umin"


@op_definition
class VectorReduceFMaxOp(VectorReduceFloatOp):
    """By maxnum: NaNs are ignored."""

    name = "llvm.intr.vector.reduce.fmax"


@op_definition
class VectorReduceFMinOp(VectorReduceFloatOp):
    """By minnum: NaNs are ignored."""

    name = "llvm.intr.vector.reduce.fmin"


@op_definition
class VectorReduceFMaximumOp(VectorReduceFloatOp):
    """By maximum: NaN if any element is NaN."""

    name = "llvm.intr.vector.reduce.fmaximum"


@op_definition
class VectorReduceFMinimumOp(VectorReduceFloatOp):
    """By minimum: NaN if any element is NaN."""

    name = "llvm.intr.vector.reduce.fminimum"
