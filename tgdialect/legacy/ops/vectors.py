"""Constants, vectors, and axes that are unrolled."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute
from xdsl.irdl import AnyAttr, operand_def, prop_def, var_operand_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import PureOp
from tgdialect.legacy.ops.indexing import ViewOp
from tgdialect.legacy.rules import made_by, producer, require
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, VOID_EDGE
from tgdialect.ops.dtypes import check_representable


@op_definition
class ConstOp(PureOp, op="const"):
    """CONST (view), value: a constant of a shape, on a device.

    Arguments: the value.
    Sources: a VIEW of a DEVICE. A CONST without a source is `tg.const`.
    Stage: all.
    Becomes: `tg.const`, expanded to the shape of the view, and copied to the device.

    `%2 = tg_legacy.const 1.5 : tensor<4x4xf32, #tg.place<"CPU">> on %view`
    """

    value = prop_def(AnyAttr())
    view = operand_def(VOID_EDGE)

    assembly_format = "custom<Constant>($value, type($result)) `on` $view attr-dict"

    def verify_rule(self) -> None:
        rule = "the source of a CONST is a VIEW of a DEVICE, not "
        view = made_by(self.view, ViewOp, rule)
        require(view.device is not None, f"{rule}{producer(self.view)}")
        check_representable(tg.dtype_of(self.result), tg.number(self.value))


@op_definition
class VConstOp(PureOp, op="vconst", syntax="custom<Numbers>($values, type($result)) attr-dict"):
    """VCONST (), values: a vector of constants.

    Arguments: the values.
    Sources: none.
    Stage: all.
    Becomes: `tg.stack` of constants; `tg.vconst` for a vector of indices.

    `%0 = tg_legacy.vconst [1.0, 2.0] : tensor<2xf32>`
    """

    values = prop_def(ArrayAttr[Attribute])

    def verify_rule(self) -> None:
        for value in self.values:
            check_representable(tg.dtype_of(self.result), tg.number(value))


AxesAttr = ArrayAttr[ArrayAttr[tg.NumberAttr]]


class VectorOp(PureOp, ABC):
    """An op whose sources are values of one dtype."""

    def verify_rule(self) -> None:
        for operand in self.operands:
            require(
                not tg.is_memory(operand), f"{self.name} takes values, not memory: {operand.type}"
            )
        require(bool(self.operands), f"{self.name} has at least one source")
        first, *others = (tg.dtype_of(operand).name for operand in self.operands)
        for dtype in others:
            require(dtype == first, f"operands have different dtypes: {first} and {dtype}")


@op_definition
class VectorizeOp(VectorOp, op="vectorize", syntax="$scalars"):
    """VECTORIZE (u0, u1, ...): the vector of some scalars.

    Arguments: none.
    Sources: scalars of one dtype.
    Stage: codegen.
    Becomes: `tg.stack`.

    `%2 = tg_legacy.vectorize %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<2xf32>`
    """

    scalars = var_operand_def(TENSOR)

    def verify_rule(self) -> None:
        super().verify_rule()
        for scalar in self.scalars:
            is_scalar = not tg.tensor(scalar).get_shape()
            require(is_scalar, f"VECTORIZE takes scalars, not {scalar.type}")


@op_definition
class CatOp(VectorOp, op="cat", syntax="$vectors"):
    """CAT (u0, u1, ...): the vector that joins some vectors.

    Arguments: none.
    Sources: vectors of one dtype.
    Stage: expansion.
    Becomes: `tg.stack` and `tg.reshape`; of vectors that differ in length, `tg.stack` of lanes.

    `%2 = tg_legacy.cat %0, %1 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>`
    """

    vectors = var_operand_def(TENSOR)


@op_definition
class UnrollOp(VectorOp, op="unroll", syntax="$vector custom<AxisSizes>($axes)"):
    """UNROLL (vector,), axes: a scalar for each iteration of loops that are unrolled.

    What is computed from it is there once for each iteration, up to a CONTRACT of its axes. The
    last axis is that of neighbouring lanes.

    Arguments: the number and the size of each axis.
    Sources: the vector of the values in all iterations.
    Stage: codegen, expansion.
    Becomes: an axis of the shape for each of its axes, as after `tg-expand`.

    `%1 = tg_legacy.unroll %0 [[0, 4]] : tensor<4xf32> -> tensor<f32>`
    """

    vector = operand_def(TENSOR)
    axes = prop_def(AxesAttr)


@op_definition
class ContractOp(VectorOp, op="contract", syntax="$scalar custom<AxisSizes>($axes)"):
    """CONTRACT (u,), axes: the vector of the values of an unrolled scalar in all iterations.

    It undoes UNROLL. A scalar that does not depend on an axis is repeated along it.

    Arguments: the number and the size of each axis.
    Sources: a scalar.
    Stage: expansion.
    Becomes: the shape that has these axes last, as one.

    `%1 = tg_legacy.contract %0 [[0, 4]] : tensor<f32> -> tensor<4xf32>`
    """

    scalar = operand_def(TENSOR)
    axes = prop_def(AxesAttr)
