"""Assembly-format pieces shared by all ops."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects import builtin
from xdsl.dialects.utils import dynamic_index_list
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    FunctionalTypeDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl import unchecked
from tgdialect.ops.attributes import DataAttr, InvalidAttr, NumberAttr, is_tensor
from tgdialect.ops.dtypes import bits_of_nan, number_attribute
from tgdialect.ops.properties.values import index_array


@irdl_custom_directive
class Signature(CustomDirective):
    """Operand and result types in the shortest unambiguous form.

    `T` where every type is T; `A -> R` for one operand; `(A, B) -> R` otherwise. Used as
    `custom<Signature>(functional-type(operands, results))`.
    """

    types: FunctionalTypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands = self.types.operand_typeable_directive
        results = self.types.result_typeable_directive
        n_operands = sum(len(o) for o in state.operands if o is not None)
        position = parser.pos
        if parser.parse_optional_punctuation("("):
            types = self._parse_list(parser)
            parser.parse_punctuation(")")
        else:
            types = self._parse_list(parser)
        if parser.parse_optional_punctuation("->"):
            result = parser.parse_type()
        else:
            if len(types) != 1:
                parser.raise_error("expected '->' and a result type")
            result, types = types[0], types * n_operands
        try:
            operands.set_types(state, types)
            if len(types) != n_operands:
                raise VerifyException(f"{n_operands} operands but {len(types)} operand types")
        except VerifyException as e:
            parser.raise_error(str(e), at_position=position, end_position=parser.pos)
        results.set_types(state, (result,))

    @staticmethod
    def _parse_list(parser: Parser) -> tuple[Attribute, ...]:
        types = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_type, parser.parse_type
        )
        return tuple(types or ())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        operands = self.types.operand_typeable_directive.get_types(op)
        (result,) = self.types.result_typeable_directive.get_types(op)
        if all(type == result for type in operands):
            printer.print_attribute(result)
        else:
            with nullcontext() if len(operands) == 1 else printer.in_parens():
                printer.print_list(operands, printer.print_attribute)
            printer.print_string(" -> ")
            printer.print_attribute(result)


_INDICES = re.compile(r"\[\s*+(?:[0-9]{1,18}+\s*+(?:,\s*+[0-9]{1,18}+\s*+){0,31}+)?\]", re.ASCII)
"""A list of up to 32 numbers that are certainly less than 2^63. Longer lists are rare, and would
make the cache of `_index_array` large."""


@lru_cache(maxsize=1024)
def _index_array(text: str) -> builtin.DenseArrayBase[builtin.IntegerType]:
    numbers = text[1:-1].strip()
    return index_array([int(n) for n in numbers.split(",")] if numbers else [])


def parse_optional_index_array(
    parser: Parser,
) -> builtin.DenseArrayBase[builtin.IntegerType] | None:
    """A short bracketed list of numbers, such as a shape: `[1, 0, 2]`. None, with nothing parsed,
    if there is something else.

    Programs have the same few lists again and again. Token by token each takes 50 µs.
    """
    found = _INDICES.match(parser.lexer.input.content, parser.pos)
    if found is None:
        return None
    parser._resume_from(found.end())  # pyright: ignore[reportPrivateUsage]
    return _index_array(found[0])


@irdl_custom_directive
class DynamicIndexList(dynamic_index_list.DynamicIndexList):
    """xDSL's list of indices and operands, `[1, %n, 2]`; it parses one without operands at once."""

    dynamic_position: VariadicOperandVariable
    static_position: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if (indices := parse_optional_index_array(parser)) is None:
            super().parse(parser, state)
        else:
            self.dynamic_position.set(state, [])
            self.static_position.set(state, indices)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if self.dynamic_position.get(op):
            super().print(printer, state, op)
            return
        state.print_whitespace(printer)
        _print_numbers(
            printer, cast("builtin.DenseArrayBase[builtin.I64]", self.static_position.get(op))
        )


class OptionalDirective(CustomDirective):
    """The argument of an op, which may be missing: a group of its format may depend on it."""

    value: AttributeVariable

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.get(op) is not None

    def is_anchorable(self) -> bool:
        return True


@irdl_custom_directive
class Integers(OptionalDirective):
    """A bracketed list of integers, or of booleans for an `array<i1>`: `[1, 0, 2]`."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        position = parser.pos
        indices = None if self.value.name == "flags" else parse_optional_index_array(parser)
        if indices is not None:
            self.value.set(state, indices)
            return
        values = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=True)
        )
        for value in values:
            if not -(2**63) <= value < 2**63:
                message = f"{value} does not fit in 64 bits"
                parser.raise_error(message, at_position=position, end_position=parser.pos)
        element: builtin.IntegerType = builtin.i1 if self.value.name == "flags" else builtin.i64
        self.value.set(state, builtin.DenseArrayBase.from_list(element, values))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        array = cast("builtin.DenseArrayBase[builtin.IntegerType]", self.value.get(op))
        _print_numbers(printer, array)


def _print_numbers(printer: Printer, array: builtin.DenseArrayBase[Any]) -> None:
    """Print a list of integers, or of booleans, at once. xDSL's printer takes ten times as long."""
    values = array.get_values()
    words = (
        (str(bool(v)).lower() for v in values) if array.elt_type == builtin.i1 else map(str, values)
    )
    printer.print_string(f"[{', '.join(words)}]")


@irdl_custom_directive
class IntegerRuns(CustomDirective):
    """A bracketed list of integers and of ranges without their ends: `[0, 2]`, `[0 to 4096]`."""

    values: AttributeVariable

    SHORT = 32
    """Lists of neighbours up to this length are written out, as each lane of a CPU's vector is."""
    LONGEST = 1 << 20
    """The most elements of a range: text cannot make a program larger than memory."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        position = parser.pos

        def element() -> Sequence[int]:
            first = parser.parse_integer(allow_boolean=False)
            if parser.parse_optional_keyword("to") is None:
                return (first,)
            end = parser.parse_integer(allow_boolean=False)
            if not 0 < end - first <= self.LONGEST:
                message = f"a range has 1 to {self.LONGEST} elements, not {end - first}"
                parser.raise_error(message, at_position=position, end_position=parser.pos)
            return range(first, end)

        parts = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, element)
        values = [value for part in parts for value in part]
        if any(not -(2**63) <= value < 2**63 for value in values):
            message = "an element does not fit in 64 bits"
            parser.raise_error(message, at_position=position, end_position=parser.pos)
        self.values.set(state, builtin.DenseArrayBase.from_list(builtin.i64, values))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        values = cast(builtin.DenseArrayBase[builtin.IntegerType], self.values.get(op)).get_values()
        with printer.in_square_brackets():
            if len(values) > self.SHORT and values == tuple(range(values[0], values[-1] + 1)):
                printer.print_string(f"{values[0]} to {values[-1] + 1}")
            else:
                printer.print_list(values, lambda value: printer.print_string(str(value)))


@irdl_custom_directive
class Int(OptionalDirective):
    """A bare integer for an `NumberAttr`: `3`."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, NumberAttr.of(parser.parse_integer(allow_boolean=False)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(str(cast(NumberAttr, self.value.get(op)).data))


@irdl_custom_directive
class DataContents(CustomDirective):
    """A `DataAttr` without its name: digits, as `"7f45"`, or a file and the place of its bytes."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, DataAttr(DataAttr.parse_contents(parser)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        cast(DataAttr, self.value.get(op)).print_contents(printer)


_RESULTS = re.compile(r"%[^\s,=:]+(:\d+)?(\s*,\s*%[^\s,=:]+(:\d+)?)*\s*=")


@irdl_custom_directive
class Edges(CustomDirective):
    """A possibly empty list of operands: `%0, %1`. Results of the next op, which may follow, do not
    belong to it."""

    operands: VariadicOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands: list[UnresolvedOperand] | None = None
        if not _RESULTS.match(parser.lexer.input.content, parser.pos):
            operands = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
        self.operands.set(state, operands or [])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.operands.print(printer, state, op)


@irdl_custom_directive
class Name(CustomDirective):
    """An optional string literal: `"n"`."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if (name := parser.parse_optional_str_literal()) is not None:
            self.value.set(state, unchecked.text(name))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if isinstance(name := self.value.get(op), builtin.StringAttr):
            state.print_whitespace(printer)
            printer.print_attribute(name)


_NONFINITE = {"nan": math.nan, "inf": math.inf}
"""The words of floats that are no numbers."""
_BOOLS = {"true": True, "false": False}


@dataclass(frozen=True)
class WrittenNumber:
    """A number as it is written, which becomes an attribute when its dtype is known."""

    value: str | float
    negative: bool
    is_bits: bool

    @staticmethod
    def parse(parser: Parser) -> WrittenNumber:
        negative = parser.parse_optional_punctuation("-") is not None
        is_bits = parser.lexer.input.slice(parser.pos, parser.pos + 2) in ("0x", "0X")
        words = _NONFINITE if negative else (*_NONFINITE, *_BOOLS, "invalid")
        value = parser.parse_optional_keyword_in(words)
        if value is None:
            value = parser.parse_number(context_msg=", nan, inf or invalid")
        return WrittenNumber(value, negative, is_bits)

    def of_type(self, type: Attribute) -> Attribute:
        """The attribute for a dtype, or for that of a tensor."""
        dtype, value = type.element_type if is_tensor(type) else type, self.value
        if value == "invalid":
            return InvalidAttr(dtype)
        if isinstance(value, str) and value in _BOOLS:
            if dtype != builtin.i1:
                raise VerifyException(f"{value} is not representable in {dtype}")
            return number_attribute(_BOOLS[value], dtype)
        number = _NONFINITE[value] if isinstance(value, str) else value
        if number == math.inf and value != "inf":
            raise VerifyException(f"the number is too great for {dtype}")
        if self.is_bits and isinstance(number, int) and isinstance(dtype, builtin.AnyFloat):
            number = _from_bits(number, dtype)
        return number_attribute(-number if self.negative else number, dtype)


def print_number(printer: Printer, value: Attribute) -> None:
    """Print what `WrittenNumber` parses."""
    if isinstance(value, InvalidAttr):
        printer.print_string("invalid")
    elif isinstance(value, builtin.FloatAttr) and not math.isfinite(
        cast("builtin.FloatAttr", value).value.data
    ):
        # A NaN with a sign or a payload is its bits.
        bits, number = (
            bits_of_nan(cast("builtin.FloatAttr", value)),
            cast("builtin.FloatAttr", value),
        )
        text = number.value.data if bits is None else f"0x{bits:0{number.type.size * 2}x}"
        printer.print_string(str(text))
    elif isinstance(value, builtin.FloatAttr | builtin.IntegerAttr):
        cast("builtin.FloatAttr | builtin.IntegerAttr", value).print_without_type(printer)
    else:
        printer.print_attribute(value)


@irdl_custom_directive
class Constant(CustomDirective):
    """A number and a tensor type with its dtype: `1.5 : tensor<f32>`.

    Beside MLIR's spellings there are `nan`, `inf`, `-inf` and `invalid`. As in MLIR, a hexadecimal
    number for a float dtype is its bits, and `true` and `false` are of dtype i1.
    """

    value: AttributeVariable
    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        position = parser.pos
        number = WrittenNumber.parse(parser)
        end = parser.pos
        parser.parse_punctuation(":")
        self.type.parse(parser, state)
        ((type,),) = (t for t in state.result_types if t is not None)
        try:
            self.value.set(state, number.of_type(type))
        except VerifyException as e:
            parser.raise_error(str(e), at_position=position, end_position=end)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        print_number(printer, cast(Attribute, self.value.get(op)))
        printer.print_string(" :")
        self.type.print(printer, state, op)


def _from_bits(bits: int, dtype: builtin.AnyFloat) -> float:
    """The float with these bits."""
    size = dtype.compile_time_size
    if bits >> 8 * size:
        raise VerifyException(f"{bits:#x} has more than the {8 * size} bits of {dtype}")
    (value,) = dtype.unpack(bits.to_bytes(size, "little"), 1)
    return value
