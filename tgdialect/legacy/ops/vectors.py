"""Vectors, and axes that are unrolled."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.irdl import operand_def, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.attributes import axes_attribute
from tgdialect.legacy.base import SIGNATURE, LegacyOp, PureOp
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, Value
from tgdialect.ops.properties import dtype_of, is_memory, tensor

AxesAttr = ArrayAttr[ArrayAttr[tg.NumberAttr]]


def _verify_values(op: LegacyOp) -> None:
    """Raise unless the sources are values of one dtype."""
    for operand in op.operands:
        if is_memory(operand):
            raise VerifyException(f"{op.name} takes values, not memory: {operand.type}")
    if not op.operands:
        raise VerifyException(f"{op.name} has at least one source")
    dtypes = [dtype_of(operand).name for operand in op.operands]
    for dtype in dtypes[1:]:
        if dtype != dtypes[0]:
            raise VerifyException(f"operands have different dtypes: {dtypes[0]} and {dtype}")


@op_definition
class VectorizeOp(PureOp):
    """VECTORIZE (u0, u1, ...): the vector of some scalars.

    Arguments: none.
    Sources: scalars of one dtype.
    Stage: codegen.
    Becomes: `tg.stack`.

    `%2 = tg_legacy.vectorize %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<2xf32>`
    """

    name = "tg_legacy.vectorize"

    scalars = var_operand_def(TENSOR)

    assembly_format = f"$scalars {SIGNATURE}"

    def verify_rule(self) -> None:
        _verify_values(self)
        for scalar in self.scalars:
            if tensor(scalar).get_shape():
                raise VerifyException(f"VECTORIZE takes scalars, not {scalar.type}")


@op_definition
class CatOp(PureOp):
    """CAT (u0, u1, ...): the vector that joins some vectors.

    Arguments: none.
    Sources: vectors of one dtype.
    Stage: expansion.
    Becomes: `tg.stack` and `tg.reshape`; of vectors that differ in length, `tg.stack` of lanes.

    `%2 = tg_legacy.cat %0, %1 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>`
    """

    name = "tg_legacy.cat"

    vectors = var_operand_def(TENSOR)

    assembly_format = f"$vectors {SIGNATURE}"

    def verify_rule(self) -> None:
        _verify_values(self)


@op_definition
class UnrollOp(PureOp):
    """UNROLL (vector,), axes: a scalar for each iteration of loops that are unrolled.

    What is computed from it is there once for each iteration, up to a CONTRACT of its axes. The
    last axis is that of neighbouring lanes.

    Arguments: the number and the size of each axis.
    Sources: the vector of the values in all iterations.
    Stage: codegen, expansion.
    Becomes: an axis of the shape for each of its axes, as after `tg-expand`.

    `%1 = tg_legacy.unroll %0 [[0, 4]] : tensor<4xf32> -> tensor<f32>`
    """

    name = "tg_legacy.unroll"

    vector = operand_def(TENSOR)
    axes = prop_def(AxesAttr)

    assembly_format = f"$vector custom<AxisSizes>($axes) {SIGNATURE}"

    def __init__(self, vector: Value, axes: Sequence[tuple[int, int]]):
        self.infer((vector,), {"axes": axes_attribute(axes)})

    def verify_rule(self) -> None:
        _verify_values(self)


@op_definition
class ContractOp(PureOp):
    """CONTRACT (u,), axes: the vector of the values of an unrolled scalar in all iterations.

    It undoes UNROLL. A scalar that does not depend on an axis is repeated along it.

    Arguments: the number and the size of each axis.
    Sources: a scalar.
    Stage: expansion.
    Becomes: the shape that has these axes last, as one.

    `%1 = tg_legacy.contract %0 [[0, 4]] : tensor<f32> -> tensor<4xf32>`
    """

    name = "tg_legacy.contract"

    scalar = operand_def(TENSOR)
    axes = prop_def(AxesAttr)

    assembly_format = f"$scalar custom<AxisSizes>($axes) {SIGNATURE}"

    def __init__(self, scalar: Value, axes: Sequence[tuple[int, int]]):
        self.infer((scalar,), {"axes": axes_attribute(axes)})

    def verify_rule(self) -> None:
        _verify_values(self)
