"""The base class of the ops of `tg_legacy`, and the pieces of their assembly formats."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, result_def, traits_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.fast_xdsl.unchecked import segments
from tgdialect.legacy.attributes import integers_of, parse_integers
from tgdialect.legacy.table import LEGACY_TABLE
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, VOID_EDGE, Value
from tgdialect.ops.properties import Rules
from tgdialect.ops.syntax import (
    Constant,
    Edges,
    Int,
    Integers,
    Name,
    Signature,
    WrittenNumber,
    print_number,
)

Operands = Value | Sequence[Value] | None
"""The values of an operand of a definition: one, some, or none."""

SIGNATURE = "attr-dict `:` custom<Signature>(functional-type(operands, results))"
"""The end of an assembly format: the types of operands and results."""


@irdl_custom_directive
class AxisSizes(CustomDirective):
    """A list of axes, each its number and its size: `[[0, 4], [1, 2]]`."""

    axes: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.axes.set(state, parse_integers(parser, 2))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(str(integers_of(self.axes.get(op))))


@irdl_custom_directive
class Numbers(CustomDirective):
    """A list of numbers and the type of the vector that they make: `[1.0, 2.0] : tensor<2xf32>`."""

    values: AttributeVariable
    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        position = parser.pos
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: WrittenNumber.parse(parser)
        )
        end = parser.pos
        parser.parse_punctuation(":")
        self.type.parse(parser, state)
        ((type,),) = (t for t in state.result_types if t is not None)
        try:
            self.values.set(state, ArrayAttr(n.of_type(type) for n in numbers))
        except VerifyException as e:
            parser.raise_error(str(e), at_position=position, end_position=end)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        values = cast(ArrayAttr[Attribute], self.values.get(op))
        with printer.in_square_brackets():
            printer.print_list(values, lambda value: print_number(printer, value))
        printer.print_string(" :")
        self.type.print(printer, state, op)


class LegacyOp(tg.TgOp):
    """An op of an older vocabulary.

    It shares the hooks of the dialect's ops, and its derived properties have a table of their own.
    The docstring of each op gives its arguments, its sources, the stage that it belonged to, and
    what `tg-upgrade-legacy` makes of it; `docs/legacy.md` is made from these.
    """

    RULES: ClassVar[Rules] = LEGACY_TABLE

    def __init_subclass__(cls, op: str = "", syntax: str = "") -> None:
        """`op` is the name in the dialect, and `syntax` the assembly format: the types of operands
        and result follow it, unless it has `attr-dict` and so says what follows."""
        super().__init_subclass__()
        if op:
            cls.name = f"tg_legacy.{op}"
        if syntax:
            cls.assembly_format = syntax if "attr-dict" in syntax else f"{syntax} {SIGNATURE}"

    def __init__(self, *operands: Operands, type: Attribute | None = None, **fields: Any) -> None:
        """Operands are in the order of their definition, or have their names; those that may be
        absent may be left out. Properties are attributes, or Python's numbers, strings, flags and
        sequences. `type` is that of a result which no rule says."""
        definition = self.get_irdl_definition()
        names = [name for name, _ in definition.operands]
        by_name: dict[str, Operands] = dict(zip(names, operands, strict=False))
        by_name |= {name: fields.pop(name) for name in names if name in fields}
        values = [by_name.get(name) for name in names]
        given = [v if isinstance(v, Sequence) else () if v is None else (v,) for v in values]
        properties = {name: _attribute(value) for name, value in fields.items()}
        if definition.options:
            properties[SEGMENTS] = segments(*map(len, given))
        self.infer([value for each in given for value in each], properties, type=type)

    custom_directives = (Signature, Integers, Int, Name, Constant, Edges, AxisSizes, Numbers)


def _attribute(value: Any) -> Attribute | None:
    """A property as an attribute."""
    match value:
        case bool():
            return UnitAttr() if value else None
        case int():
            return tg.NumberAttr(value)
        case str():
            return StringAttr(value)
        case [int(), *_]:
            return DenseArrayBase.from_list(i64, value)
        case list() | tuple():
            return ArrayAttr(cast("Sequence[Attribute]", value))
        case _:
            return value


class PureOp(LegacyOp, ABC):
    """An op that computes a tensor and does nothing else."""

    result = result_def(TENSOR)

    traits = traits_def(tg.PureInGraph())


class EdgeOp(LegacyOp, ABC):
    """An op that says something of others and does nothing."""

    result = result_def(VOID_EDGE)

    traits = traits_def(tg.PureInGraph())


class AllocatingOp(LegacyOp, ABC):
    """An op whose result is memory of its own."""

    result = result_def(TENSOR)

    traits = traits_def(MemoryAllocEffect())


class EffectOp(LegacyOp, ABC):
    """An op with an effect alone."""

    result = result_def(VOID_EDGE)

    traits = traits_def(MemoryWriteEffect())
