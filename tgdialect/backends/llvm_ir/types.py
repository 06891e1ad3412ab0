"""The types of the `llvm` dialect as LLVM IR text."""

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IntAttr,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.hints import isa

FLOAT_TYPES: dict[type[Attribute], tuple[str, str]] = {
    BFloat16Type: ("bfloat", "bf16"),
    Float16Type: ("half", "f16"),
    Float32Type: ("float", "f32"),
    Float64Type: ("double", "f64"),
    Float80Type: ("x86_fp80", "f80"),
    Float128Type: ("fp128", "f128"),
}
"""Spelling in LLVM IR, and in the name of an overloaded intrinsic."""


def type_text(type: Attribute) -> str:
    """LLVM IR's spelling of a type. Identified structures are spelled as their body.

    Raises LLVMTranslationException for a type that LLVM IR does not have.
    """
    if (float_type := FLOAT_TYPES.get(type.__class__)) is not None:
        return float_type[0]
    match type:
        case IntegerType() if type.signedness.data == Signedness.SIGNLESS:
            return f"i{type.bitwidth}"
        case LLVMPointerType(addr_space=space):
            number = space.data if isinstance(space, IntAttr) else 0
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
        case VectorType() if isa(type, VectorType) and type.get_num_dims() == 1:
            count = f"{'vscale x ' * type.get_num_scalable_dims()}{type.get_shape()[0]}"
            return f"<{count} x {type_text(type.element_type)}>"
        case _:
            raise LLVMTranslationException(f"LLVM IR has no type {type}")


def overload_suffix(type: Attribute) -> str:
    """The spelling of a type in the name of an overloaded intrinsic, as `v8f32` or `p0`."""
    if (float_type := FLOAT_TYPES.get(type.__class__)) is not None:
        return float_type[1]
    match type:
        case IntegerType():
            return f"i{type.bitwidth}"
        case LLVMPointerType(addr_space=space):
            return f"p{space.data}" if isinstance(space, IntAttr) else "p0"
        case VectorType() if isa(type, VectorType) and type.get_num_dims() == 1:
            scalable = "nx" * type.get_num_scalable_dims()
            return f"{scalable}v{type.get_shape()[0]}{overload_suffix(type.element_type)}"
        case _:
            raise LLVMTranslationException(f"no intrinsic is overloaded on {type}")
