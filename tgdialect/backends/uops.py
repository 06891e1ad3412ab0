"""The numbered listing that tinygrad prints of UOps: `tg-opt -t uops`.

@main_0
   0 Ops.PARAM            : dtypes.float.ptr (4, 8)   []               0
   1 Ops.CONST            : dtypes.index              []               4
   2 Ops.RANGE            : dtypes.index              [1]              0, loop
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import IO, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.utils.target import Target

from tgdialect.ops.attributes import AxisTypeAttr, ReduceKindAttr, VoidType
from tgdialect.ops.dtypes import DTYPES
from tgdialect.ops.properties import is_memory, number, tensor

TINYGRAD_NAMES = {
    "i1": "bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "ui8": "uchar",
    "ui16": "ushort",
    "ui32": "uint",
    "ui64": "ulong",
    "f8E4M3FN": "fp8e4m3",
    "f8E5M2": "fp8e5m2",
    "f16": "half",
    "bf16": "bfloat16",
    "f32": "float",
    "f64": "double",
}
"""tinygrad's names of dtypes, where they differ from ours."""


def show_dtype(value: SSAValue) -> str:
    """A value's dtype as tinygrad prints it, and its shape unless it is a scalar."""
    if isinstance(value.type, VoidType):
        return "dtypes.void"
    if not isinstance(value.type, TensorType):
        return str(value.type)
    type = tensor(value)
    name = DTYPES[type.element_type].name if type.element_type in DTYPES else str(type.element_type)
    pointer = ".ptr" if is_memory(value) else ""
    extents = ["?" if d == DYNAMIC_INDEX else str(d) for d in type.get_shape()]
    shape = f" ({', '.join(extents)}{',' if len(extents) == 1 else ''})" if extents else ""
    return f"dtypes.{TINYGRAD_NAMES.get(name, name)}{pointer}{shape}"


def show_argument(attribute: Attribute) -> str:
    """An argument of an op as Python would show it."""
    match attribute:
        case IntegerAttr() | FloatAttr():
            return str(number(attribute))
        case IntAttr(data=value):
            return str(value)
        case StringAttr(data=text):
            return repr(text)
        case AxisTypeAttr(data=keyword) | ReduceKindAttr(data=keyword):
            return keyword.value
        case DenseArrayBase():
            values = cast(DenseArrayBase[IntegerType], attribute).get_values()
            return f"({', '.join(str(v) for v in values)})"
        case ArrayAttr():
            elements = attribute.data
            return f"[{', '.join(show_argument(e) for e in elements)}]"
        case _:
            text = StringIO()
            Printer(text).print_attribute(attribute)
            return text.getvalue()


def arguments(op: Operation) -> str:
    """The arguments of an op; unit attributes by their names."""
    return ", ".join(
        name if isinstance(value, UnitAttr) else show_argument(value)
        for name, value in op.properties.items()
        if name != "operandSegmentSizes"
    )


def listing(values: Sequence[BlockArgument], ops: Iterator[Operation]) -> Iterator[str]:
    """The lines for a body: its arguments, then its ops, nested ones in place."""
    numbers: dict[SSAValue, int] = {}
    for value in values:
        numbers[value] = len(numbers)
        hint = value.name_hint or f"arg{value.index}"
        yield _line(numbers[value], "Ops.PARAM", show_dtype(value), "[]", f"{value.index}, {hint}")
    number = len(numbers)
    for op in ops:
        sources = ", ".join(str(numbers.get(o, "?")) for o in op.operands)
        name = op.name.removeprefix("tg.").upper()
        dtype = show_dtype(op.results[0]) if op.results else "dtypes.void"
        yield _line(number, f"Ops.{name}", dtype, f"[{sources}]", arguments(op))
        for result in op.results:
            numbers[result] = number
        number += 1


def _line(number: int, name: str, dtype: str, sources: str, argument: str) -> str:
    return f"{number:4d} {name:20s} : {dtype:28s} {sources:20s} {argument}".rstrip()


@dataclass(frozen=True)
class UopsTarget(Target):
    """Print each function, kernel and program as tinygrad's numbered listing."""

    name = "uops"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        for op in module.ops:
            symbol = op.properties.get("sym_name")
            title = symbol.data if isinstance(symbol, StringAttr) else op.name
            print(f"@{title}", file=output)
            blocks = [block for region in op.regions for block in region.blocks]
            values = blocks[0].args if blocks else ()
            inner = (nested for block in blocks for nested in block.walk())
            for line in listing(values, inner):
                print(line, file=output)
