"""Constraints that many operations share: scalars, or vectors of them."""

from xdsl.dialects.builtin import I1, AnyFloatConstr, SignlessIntegerConstraint, VectorType

AnyFloatLike = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
AnyIntegerLike = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
BoolLike = I1 | VectorType[I1]
