"""What the dtypes are in the `llvm` dialect."""

from __future__ import annotations

from typing import TypeGuard, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    i1,
    i8,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import PassFailedException

from tgdialect.ops.dtypes import F32, F64, DType
from tgdialect.ops.properties import number

POINTER = LLVMPointerType()

_FLOATS: dict[str, Attribute] = {
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": F32,
    "f64": F64,
}


def register_type(dtype: DType) -> Attribute:
    """The type of a value; integers have no sign. Raises for fp8, which LLVM does not have."""
    if dtype.is_bool:
        return i1
    if not dtype.is_float:
        return IntegerType(dtype.bits)
    if (type := _FLOATS.get(dtype.name)) is None:
        raise PassFailedException(f"the target cpu has no {dtype.name}: tg-select stores its bits")
    return type


def memory_type(dtype: DType) -> Attribute:
    """The type of an element in memory: a bool is a byte there."""
    return i8 if dtype.is_bool else register_type(dtype)


def is_integer(type: Attribute) -> TypeGuard[IntegerType]:
    """Whether a type is an integer."""
    return isinstance(type, IntegerType)


def literal(value: Attribute, type: Attribute) -> IntegerAttr | FloatAttr:
    """The number of a `tg.const` as a constant of this type."""
    return number_literal(number(value), type)


def number_literal(value: float, type: Attribute) -> IntegerAttr | FloatAttr:
    """A number as a constant of this type; integers are taken modulo 2^width, and have a sign."""
    if not is_integer(type):
        return FloatAttr(float(value), cast("Float64Type", type))
    if type.bitwidth == 1:
        return IntegerAttr.from_bool(bool(value))
    half = 1 << (type.bitwidth - 1)
    return IntegerAttr((int(value) + half) % (2 * half) - half, type)
