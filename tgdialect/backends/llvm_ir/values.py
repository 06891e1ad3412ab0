"""Types, constants (without their type) and the names of values of the `llvm` dialect as text of
LLVM IR."""

import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any, cast

from xdsl.dialects import builtin
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.hints import isa

FLOAT_TYPES: dict[type[Attribute], tuple[str, str]] = {
    builtin.BFloat16Type: ("bfloat", "bf16"),
    builtin.Float16Type: ("half", "f16"),
    builtin.Float32Type: ("float", "f32"),
    builtin.Float64Type: ("double", "f64"),
    builtin.Float80Type: ("x86_fp80", "f80"),
    builtin.Float128Type: ("fp128", "f128"),
}
"""Spelling in LLVM IR, and in the name of an overloaded intrinsic."""


def type_text(type: Attribute) -> str:
    """LLVM IR's spelling of a type. Identified structures are spelled as their body.

    Raises LLVMTranslationException for a type that LLVM IR does not have.
    """
    if (float_type := FLOAT_TYPES.get(type.__class__)) is not None:
        return float_type[0]
    match type:
        case builtin.IntegerType() if type.signedness.data == builtin.Signedness.SIGNLESS:
            return f"i{type.bitwidth}"
        case LLVMPointerType(addr_space=space):
            number = space.data if isinstance(space, builtin.IntAttr) else 0
            return f"ptr addrspace({number})" if number else "ptr"
        case LLVMArrayType():
            return f"[{type.size.data} x {type_text(type.type)}]"
        case LLVMStructType():
            return f"{{ {', '.join(map(type_text, type.types))} }}" if type.types.data else "{}"
        case LLVMVoidType():
            return "void"
        case LLVMFunctionType():
            inputs = [*map(type_text, type.inputs), *(["..."] if type.is_variadic else [])]
            return f"{type_text(type.output)} ({', '.join(inputs)})"
        case builtin.VectorType() if isa(type, builtin.VectorType) and type.get_num_dims() == 1:
            count = f"{'vscale x ' * type.get_num_scalable_dims()}{type.get_shape()[0]}"
            return f"<{count} x {type_text(type.element_type)}>"
        case _:
            raise LLVMTranslationException(f"LLVM IR has no type {type}")


def overload_suffix(type: Attribute) -> str:
    """The spelling of a type in the name of an overloaded intrinsic, as `v8f32` or `p0`."""
    if (float_type := FLOAT_TYPES.get(type.__class__)) is not None:
        return float_type[1]
    match type:
        case builtin.IntegerType():
            return f"i{type.bitwidth}"
        case LLVMPointerType(addr_space=space):
            return f"p{space.data}" if isinstance(space, builtin.IntAttr) else "p0"
        case builtin.VectorType() if isa(type, builtin.VectorType) and type.get_num_dims() == 1:
            scalable = "nx" * type.get_num_scalable_dims()
            return f"{scalable}v{type.get_shape()[0]}{overload_suffix(type.element_type)}"
        case _:
            raise LLVMTranslationException(f"no intrinsic is overloaded on {type}")


_PLAIN_SYMBOL = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")


def quoted(data: bytes) -> str:
    """A string literal; LLVM IR escapes a byte as a backslash and two hexadecimal digits."""
    return (
        '"'
        + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
        + '"'
    )


def symbol_text(name: str) -> str:
    return f"@{name}" if _PLAIN_SYMBOL.fullmatch(name) else f"@{quoted(name.encode())}"


def integer_text(value: int, bitwidth: int) -> str:
    if bitwidth == 1:
        return "true" if value else "false"
    return str(value)


def float_text(value: float, type: Attribute) -> str:
    """The exact value: in decimal if seven digits hold it, else as LLVM's hexadecimal bits."""
    if math.isfinite(value) and float(decimal := f"{value:e}") == value:
        return decimal
    match type:
        case builtin.Float64Type() | builtin.Float32Type():
            # LLVM IR writes the bits of a float as those of the double of the same value.
            return f"0x{int.from_bytes(struct.pack('>d', value)):016X}"
        case builtin.Float16Type():
            return f"0xH{int.from_bytes(type.pack((value,)), 'little'):04X}"
        case builtin.BFloat16Type():
            return f"0xR{int.from_bytes(type.pack((value,)), 'little'):04X}"
        case _:
            raise LLVMTranslationException(f"no exact LLVM IR constant for {value} : {type}")


def zero_text(type: Attribute) -> str:
    match type:
        case builtin.IntegerType():
            return integer_text(0, type.bitwidth)
        case LLVMPointerType():
            return "null"
        case _ if type.__class__ in FLOAT_TYPES:
            return float_text(0.0, type)
        case _:
            return "zeroinitializer"


def attribute_text(value: Attribute, type: Attribute) -> str:
    """The constant `value` of type `type`.

    Raises LLVMTranslationException for a pair that LLVM IR has no constant for.
    """
    if isinstance(value, builtin.IntegerAttr) and isinstance(type, builtin.IntegerType):
        return integer_text(value.value.data, type.bitwidth)
    if isinstance(value, builtin.FloatAttr) and type.__class__ in FLOAT_TYPES:
        return float_text(value.value.data, type)
    if isinstance(value, builtin.StringAttr) and isinstance(type, LLVMArrayType):
        return f"c{quoted(value.data.encode())}"
    if isinstance(value, builtin.DenseIntOrFPElementsAttr) and isinstance(
        type, LLVMArrayType | builtin.VectorType
    ):
        dense = cast("builtin.DenseIntOrFPElementsAttr[Any]", value)
        if dense.get_element_type().__class__ in (builtin.IntegerType, *FLOAT_TYPES):
            return _dense_text(dense, cast(Attribute, type))
    raise LLVMTranslationException(f"{value} is not an LLVM IR constant of type {type}")


_MOST_REPEATED = 1 << 16
"""The most elements of a repeated value that are written one by one, at each use of the constant,
and the most lanes of a vector of one value, which LLVM keeps one by one."""


def _dense_text(value: builtin.DenseIntOrFPElementsAttr[Any], type: Attribute) -> str:
    elements, each = value.get_values(), value.get_element_type()
    count = _cells(type)
    if count != math.prod(value.get_shape()):
        raise LLVMTranslationException(f"{value} has not the {count} elements of {type}")
    if not any(value.data.data):
        return "zeroinitializer"
    if len(elements) < count and count > _MOST_REPEATED:
        message = f"a constant of {count} equal elements, more than {_MOST_REPEATED}"
        raise LLVMTranslationException(message)
    if value.is_splat() and isinstance(type, builtin.VectorType):
        return f"splat ({type_text(each)} {_element_text(elements[0], each)})"
    texts = [_element_text(element, each) for element in elements]
    # The parser keeps one of many equal elements.
    return _aggregate_text(type, iter(texts if len(texts) == count else texts * count))


def _cells(type: Attribute) -> int:
    match type:
        case LLVMArrayType():
            return type.size.data * _cells(type.type)
        case builtin.VectorType():
            return math.prod(type.get_shape())
        case _:
            return 1


def _element_text(value: Any, type: Attribute) -> str:
    if isinstance(type, builtin.IntegerType):
        return integer_text(value, type.bitwidth)
    return float_text(value, type)


def _aggregate_text(type: Attribute, elements: Iterator[str]) -> str:
    """Nested arrays (and a vector innermost), taking the elements in row-major order."""
    match type:
        case LLVMArrayType():
            count, inner, brackets = type.size.data, type.type, "[]"
        case builtin.VectorType() if isa(type, builtin.VectorType) and type.get_num_dims() == 1:
            count, inner, brackets = type.get_shape()[0], type.element_type, "<>"
        case _:
            return next(elements)
    prefix = type_text(inner)
    items = ", ".join(f"{prefix} {_aggregate_text(inner, elements)}" for _ in range(count))
    return f"{brackets[0]}{items}{brackets[1]}"


def _address(op: Operation) -> str:
    name = op.properties["global_name"]
    assert isinstance(name, builtin.SymbolRefAttr)
    return symbol_text(name.string_value())


CONSTANTS: dict[str, Callable[[Operation], str]] = {
    "llvm.mlir.addressof": _address,
    "llvm.mlir.constant": lambda op: attribute_text(op.properties["value"], op.results[0].type),
    "llvm.mlir.poison": lambda op: "poison",
    "llvm.mlir.undef": lambda op: "undef",
    "llvm.mlir.zero": lambda op: zero_text(op.results[0].type),
}
"""Operations whose result LLVM IR writes in place, at each use."""


class Names:
    """Numbers the values of one function, in the order in which they are defined.

    Types are cached by identity: hashing one costs more than spelling it. The operations that
    are written keep them alive.
    """

    name: dict[SSAValue, str]
    """The text of an operand, as `%3` or `1.0`."""
    typed: dict[SSAValue, str]
    """The same after its type, as `float %3`."""

    def __init__(self) -> None:
        self.name = {}
        self.typed = {}
        self._count = 0
        self._types: dict[int, str] = {}
        self._suffixes: dict[int, str] = {}

    def type(self, type: Attribute) -> str:
        if (text := self._types.get(id(type))) is None:
            text = self._types[id(type)] = type_text(type)
        return text

    def suffix(self, type: Attribute) -> str:
        """The type as it appears in the name of an overloaded intrinsic."""
        if (text := self._suffixes.get(id(type))) is None:
            text = self._suffixes[id(type)] = overload_suffix(type)
        return text

    def define(self, value: SSAValue, text: str | None = None) -> None:
        """Give a value the next number, or the text of a constant."""
        if text is None:
            text = f"%{self._count}"
            self._count += 1
        self.name[value] = text
        self.typed[value] = f"{self.type(value.type)} {text}"

    def define_results(self, op: Operation) -> None:
        """Numbers the result; a constant's name is its text."""
        if (constant := CONSTANTS.get(op.name)) is not None:
            self.define(op.results[0], constant(op))
        elif len(op.results) == 1:
            self.define(op.results[0])
        elif op.results:
            raise LLVMTranslationException(f"'{op.name}' has {len(op.results)} results")
