"""Values in other shapes. A value that has the shape already stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import number_attribute
from tgdialect.ops.properties import tensor
from tgdialect.transforms.affine_views import permuted, reshaped

__all__ = ["all_of", "expanded", "filled", "permuted", "reshaped", "zeros_like"]


def expanded(builder: OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A value with its axes of one element repeated."""
    if tensor(value).get_shape() == tuple(shape):
        return value
    return builder.put(tg.ExpandOp(value, tuple(shape)))


def filled(builder: OpBuilder, constant: tg.ConstOp, shape: Sequence[int]) -> SSAValue:
    """A constant in all elements of a shape."""
    scalar = builder.put(constant)
    if not shape:
        return scalar
    return builder.put(tg.ExpandOp(reshaped(builder, scalar, (1,) * len(shape)), tuple(shape)))


def zeros_like(builder: OpBuilder, value: SSAValue) -> SSAValue:
    """Zeros of the dtype and shape of a value."""
    type = tensor(value)
    zero = tg.ConstOp(number_attribute(0, type.element_type))
    return filled(builder, zero, type.get_shape())


def all_of(builder: OpBuilder, conditions: Sequence[SSAValue]) -> SSAValue | None:
    """Whether all conditions hold; None without any."""
    if not conditions:
        return None
    return reduce(lambda a, b: builder.put(tg.AndOp(a, b)), conditions)
