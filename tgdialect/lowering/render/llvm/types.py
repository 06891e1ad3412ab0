"""The LLVM types of dtypes, and constants of these types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeGuard, cast

from xdsl.dialects import builtin
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import PassFailedException

from tgdialect.fast_xdsl import unchecked
from tgdialect.ops import tg

Literal = builtin.IntegerAttr | builtin.FloatAttr | builtin.DenseIntOrFPElementsAttr
"""The value of a constant."""

POINTER = LLVMPointerType()


def register_type(dtype: tg.DType) -> Attribute:
    """The type of a value; integers have no sign. Raises for fp8, which LLVM does not have."""
    if dtype.is_float and dtype.bits == 8:
        raise PassFailedException(f"LLVM has no {dtype.name}: tg-select stores its bits")
    if dtype.is_float:
        return tg.TYPES[dtype.name]
    return builtin.i1 if dtype.is_bool else tg.TYPES[f"i{dtype.bits}"]


def memory_type(dtype: tg.DType) -> Attribute:
    """The type of an element in memory: a bool is a byte there."""
    return builtin.i8 if dtype.is_bool else register_type(dtype)


def address_type(dtype: tg.DType) -> Attribute:
    """The type whose size neighbours are apart: of fp8, which only matrix instructions read, a
    byte."""
    return builtin.i8 if dtype.itemsize == 1 else memory_type(dtype)


def is_vector(type: Attribute) -> TypeGuard[builtin.VectorType[Attribute]]:
    """Whether a type is a vector."""
    return type.__class__ is builtin.VectorType


@lru_cache(maxsize=1024)
def vector_of(type: Attribute, lanes: int) -> Attribute:
    """The type of a register: a scalar, or a vector of some lanes."""
    return type if lanes == 1 else unchecked.vector_of(type, lanes)


def lanes_of(type: Attribute) -> int:
    """The lanes of a vector; 1 of a scalar."""
    return type.get_shape()[0] if is_vector(type) else 1


def element_of(type: Attribute) -> Attribute:
    """The type of one lane."""
    return type.element_type if is_vector(type) else type


def is_integer(type: Attribute) -> TypeGuard[builtin.IntegerType]:
    """Whether a type is an integer."""
    return type.__class__ is builtin.IntegerType


def number_literal(value: float, type: Attribute) -> Literal:
    """A number as a constant of this type, in every lane of a vector; integers are taken modulo
    2^width, and have a sign."""
    if is_vector(type):
        element = number_literal(value, type.element_type)
        return vector_literal([cast("builtin.IntegerAttr | builtin.FloatAttr", element)], type)
    if not is_integer(type):
        return builtin.FloatAttr(float(value), cast("builtin.Float64Type", type))
    if type.bitwidth == 1:
        return builtin.IntegerAttr.from_bool(bool(value))
    return _integer_literal(int(value), type)


@lru_cache(maxsize=4096)
def _integer_literal(value: int, type: builtin.IntegerType) -> builtin.IntegerAttr:
    half = 1 << (type.bitwidth - 1)
    return unchecked.integer((value + half) % (2 * half) - half, type)


def vector_literal(
    elements: Sequence[builtin.IntegerAttr | builtin.FloatAttr], type: Attribute
) -> Literal:
    """A vector constant of these elements; a single element is repeated in every lane."""
    values = [element.value.data for element in elements]
    return builtin.DenseIntOrFPElementsAttr.from_list(cast("Any", type), cast("Any", values))
