"""Flags and attributes of operations of the `llvm` dialect as LLVM IR text."""

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr
from xdsl.dialects.llvm import FastMathAttr, OverflowAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

_OVERFLOW = ("", "nsw ", "nuw ", "nuw nsw ")
_CALLING_CONVENTIONS = {
    "ccc": "",
    "amdgpu_kernelcc": "amdgpu_kernel ",
    "ptx_devicecc": "ptx_device ",
    "ptx_kernelcc": "ptx_kernel ",
    "spir_funccc": "spir_func ",
    "spir_kernelcc": "spir_kernel ",
}
"""The calling conventions that LLVM IR spells differently from the dialect."""

_fast_math_texts: dict[frozenset[FastMathFlag], str] = {
    frozenset(): "",
    frozenset(FastMathFlag): "fast ",
}


def fast_math(op: Operation) -> str:
    flags = op.properties.get("fastmathFlags")
    if not isinstance(flags, FastMathAttr):
        return ""
    if (text := _fast_math_texts.get(flags.data)) is None:
        text = "".join(f"{flag.value} " for flag in FastMathFlag if flag in flags.data)
        _fast_math_texts[flags.data] = text
    return text


def overflow(op: Operation) -> str:
    flags = op.properties.get("overflowFlags")
    if isinstance(flags, IntegerAttr):
        return _OVERFLOW[flags.value.data]
    return _OVERFLOW[flags.to_int()] if isinstance(flags, OverflowAttr) else ""


def calling_convention(op: Operation) -> str:
    convention = op.properties.get("CConv")
    if not isinstance(convention, llvm.CallingConventionAttr):
        return ""
    name = convention.cconv_name
    return _CALLING_CONVENTIONS.get(name, f"{name} ")


def has(op: Operation, name: str) -> bool:
    return name in op.properties or name in op.attributes


def integer(op: Operation, name: str, default: int = 0) -> int:
    """The value of an integer property; xDSL's parsers leave some of them in the attributes."""
    value = op.properties.get(name) or op.attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else default


def integers(op: Operation, name: str) -> Sequence[int]:
    value = op.properties[name]
    assert isinstance(value, DenseArrayBase)
    return tuple(map(int, value.iter_values()))


def string(op: Operation, name: str) -> str:
    value = op.properties[name]
    assert isinstance(value, StringAttr)
    return value.data


LOOP_MARK = "!llvm.loop !unrolled"
"""A placeholder for the metadata of a branch whose loop is to be unrolled, until the loops of the
module have numbers."""
