"""The `img` dialect: filters on grey images, which are tensors of f32 from 0 to 1, rows first."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, FloatAttr, IntegerType, TensorType, f32
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

IMAGE = base(TensorType[Float32Type])


def image_shape(value: SSAValue) -> tuple[int, ...]:
    """Height and width; raises VerifyException for a tensor that is no image."""
    type = value.type
    assert isinstance(type, TensorType)
    if len(shape := type.get_shape()) != 2:
        raise VerifyException(f"an image has two axes, height and width, got {type}")
    return shape


def check_fraction(name: str, value: FloatAttr) -> None:
    if not 0 <= value.value.data <= 1:
        raise VerifyException(f"the {name} is between 0 and 1, got {value.value.data}")


@irdl_op_definition
class BlendOp(IRDLOperation):
    """(1 - weight) a + weight b.

    `%2 = img.blend %0, %1, 0.5 : tensor<480x640xf32>`
    """

    name = "img.blend"
    T: ClassVar = VarConstraint("T", IMAGE)

    a = operand_def(T)
    b = operand_def(T)
    weight = prop_def(FloatAttr[Float32Type])
    result = result_def(T)

    assembly_format = "$a `,` $b `,` $weight attr-dict `:` type($result)"

    def verify_(self) -> None:
        image_shape(self.a)
        check_fraction("weight", self.weight)


@irdl_op_definition
class Blur3x3Op(IRDLOperation):
    """The mean of the 3 x 3 pixels around each pixel that is not on the border.

    `%1 = img.blur3x3 %0 : tensor<480x640xf32> -> tensor<478x638xf32>`
    """

    name = "img.blur3x3"

    image = operand_def(IMAGE)
    result = result_def(IMAGE)

    assembly_format = "$image attr-dict `:` type($image) `->` type($result)"

    def verify_(self) -> None:
        shape = image_shape(self.image)
        if any(0 <= extent < 3 for extent in shape):
            raise VerifyException(f"the image is smaller than 3 x 3, got {self.image.type}")
        inner = TensorType(f32, [extent - 2 if extent >= 0 else extent for extent in shape])
        if self.result.type != inner:
            raise VerifyException(f"the result is {inner}, got {self.result.type}")


@irdl_op_definition
class ThresholdOp(IRDLOperation):
    """1 where a pixel is brighter than `level`, else 0.

    `%1 = img.threshold %0, 0.5 : tensor<480x640xf32>`
    """

    name = "img.threshold"
    T: ClassVar = VarConstraint("T", IMAGE)

    image = operand_def(T)
    level = prop_def(FloatAttr[Float32Type])
    result = result_def(T)

    assembly_format = "$image `,` $level attr-dict `:` type($result)"

    def verify_(self) -> None:
        image_shape(self.image)
        check_fraction("level", self.level)


@irdl_op_definition
class HistogramOp(IRDLOperation):
    """How many pixels fall into each of n intervals of equal length.

    `%1 = img.histogram %0 : tensor<480x640xf32> -> tensor<16xi32>`
    """

    name = "img.histogram"

    image = operand_def(IMAGE)
    result = result_def(base(TensorType[IntegerType]))

    assembly_format = "$image attr-dict `:` type($image) `->` type($result)"

    def verify_(self) -> None:
        image_shape(self.image)
        type = self.result.type
        if type.element_type != IntegerType(32) or len(type.get_shape()) != 1:
            raise VerifyException(f"a histogram is a vector of i32, got {type}")
        if type.get_shape()[0] < 1:
            raise VerifyException("a histogram has at least one interval, and a static number")


OPS: list[type[Operation]] = [BlendOp, Blur3x3Op, ThresholdOp, HistogramOp]

IMG = Dialect("img", OPS)
