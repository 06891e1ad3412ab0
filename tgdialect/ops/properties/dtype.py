"""The dtype column: rules from an op to the element type of its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Attribute, Operation

from tgdialect.ops.attributes import InvalidAttr
from tgdialect.ops.dtypes import DType, dtype_row
from tgdialect.ops.properties.values import dtype_of, tensor, type_of_number

DTypeRule = Callable[[Operation], Attribute]


def argument(op: Operation) -> Attribute:
    dtype = op.properties["dtype"]
    dtype_row(dtype)
    return dtype


def _operand(number: int) -> DTypeRule:
    return lambda op: tensor(op.operands[number]).element_type


source, second, third = map(_operand, range(3))


def written(op: Operation) -> Attribute:
    return tensor(op.results[0]).element_type


def constant(op: Operation) -> Attribute:
    value: Any = op.properties["value"]
    return value.dtype if value.__class__ is InvalidAttr else type_of_number(value)


def always(dtype: Attribute) -> DTypeRule:
    return lambda op: dtype


def result(op: Operation) -> DType:
    """The row of the dtype table for an op's result, which the min_max rules read."""
    return dtype_of(op.results[0])
