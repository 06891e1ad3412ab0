"""Attributes that are known to be valid, made without xDSL's checks.

xDSL verifies each attribute that it makes: 2 to 20 µs, and as much again for the first one of a
class, for which it asks all classes of attributes whether they are a superclass. A program of seven
ops has 500 attributes. Tests compare what is made here with what xDSL makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from xdsl.dialects import builtin
from xdsl.ir import Attribute

AttributeT = TypeVar("AttributeT", bound=Attribute)

_VALUES = "kept_values"
"""Where a dense array keeps its values, as no field of xDSL's."""


def made(kind: type[AttributeT], **fields: object) -> AttributeT:
    """An attribute with these fields, which are valid."""
    made = object.__new__(kind)
    vars(made).update(fields)
    return made


@lru_cache(maxsize=4096)
def number(value: int) -> builtin.IntAttr:
    """An `IntAttr`, cached."""
    return made(builtin.IntAttr, data=value)


def text(value: str) -> builtin.StringAttr:
    """A `StringAttr`."""
    return made(builtin.StringAttr, data=value)


def array(elements: Sequence[AttributeT]) -> builtin.ArrayAttr[AttributeT]:
    """An `ArrayAttr`."""
    found: Any = made(builtin.ArrayAttr, data=tuple(elements))
    return found


def function_type(
    inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> builtin.FunctionType:
    """A function type."""
    return made(builtin.FunctionType, inputs=array(inputs), outputs=array(outputs))


def symbol(name: str) -> builtin.SymbolRefAttr:
    """A reference to a symbol."""
    return made(builtin.SymbolRefAttr, root_reference=text(name), nested_references=_NOTHING)


def integer(value: int, type: Attribute) -> builtin.IntegerAttr[Any]:
    """An `IntegerAttr` of a value that its type can have, as xDSL writes it: with a sign, unless
    the type has none."""
    return made(builtin.IntegerAttr, value=number(value), type=type)


_NOTHING: builtin.ArrayAttr[builtin.SymbolRefAttr] = array([])
_NO_ENCODING = made(builtin.NoneAttr)
_NOT_SCALABLE = array([integer(0, builtin.i1)])


def tensor_of(
    dtype: Attribute, shape: Sequence[int], encoding: Attribute = _NO_ENCODING
) -> builtin.TensorType[Any]:
    """A tensor type."""
    extents = array([number(extent) for extent in shape])
    return made(builtin.TensorType, shape=extents, element_type=dtype, encoding=encoding)


def vector_of(element: Attribute, lanes: int) -> builtin.VectorType[Any]:
    """A vector type of one dimension."""
    shape = array([number(lanes)])
    return made(builtin.VectorType, element_type=element, shape=shape, scalable_dims=_NOT_SCALABLE)


def dense(type: builtin.IntegerType, values: Sequence[int]) -> builtin.DenseArrayBase[Any]:
    """A dense array of integers. Raises `struct.error` for one that has more bits than the type."""
    data = made(builtin.BytesAttr, data=type.pack(values))
    array = made(builtin.DenseArrayBase, elt_type=type, data=data)
    vars(array)[_VALUES] = tuple(values)
    return array


def array_values(array: Attribute) -> tuple[Any, ...]:
    """The values of a dense array. They are kept in the attribute, which does not change: xDSL
    unpacks them from bytes anew."""
    kept: dict[str, Any] = vars(array)
    if (known := kept.get(_VALUES)) is None:
        known = kept[_VALUES] = cast(builtin.DenseArrayBase[Any], array).get_values()
    return known


@lru_cache(maxsize=1024)
def segments(*sizes: int) -> builtin.DenseArrayBase[builtin.IntegerType]:
    """The property with the number of operands of each variadic group, cached."""
    return dense(builtin.i32, sizes)
