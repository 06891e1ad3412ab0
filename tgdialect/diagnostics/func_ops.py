"""`func.func` and `func.return` parsed as xDSL does, without a question to each of its classes."""

import re
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.utils.format import _parse_func_outputs  # pyright: ignore[reportPrivateUsage]
from xdsl.ir import Attribute, Operation, Region
from xdsl.parser import Parser

from tgdialect import unchecked


class _Return:
    """Parses a `func.return` as its format says. xDSL's constructor of ops asks all classes of ops
    whether a list is one."""

    dialect_name = ReturnOp.dialect_name

    @staticmethod
    def parse(parser: Parser) -> Operation:
        attributes = parser.parse_optional_attr_dict()
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        if not operands:
            return ReturnOp.create(attributes=attributes)
        parser.parse_punctuation(":")
        types = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_type, parser.parse_type
        )
        values = parser.resolve_operands(operands, types or (), parser.pos)
        return ReturnOp.create(operands=values, attributes=attributes)


_NAMED_ARGUMENTS = re.compile(r"(?:[a-z]++\s++)?@[\w$.-]++\s*+\(\s*+[%)]", re.ASCII)
"""A function with named arguments or none, from its visibility or name on."""


class _Function:
    """Parses a `func.func` with named arguments or none as xDSL does, and leaves others to it.
    xDSL asks all classes of attributes whether a pair of an argument and its attributes is one."""

    dialect_name = FuncOp.dialect_name

    @staticmethod
    def parse(parser: Parser) -> Operation:
        if not _NAMED_ARGUMENTS.match(parser.lexer.input.content, parser.pos):
            return FuncOp.parse(parser)
        visibility = parser.parse_optional_visibility_keyword()
        name = parser.parse_symbol_name()
        pairs = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _Function._argument(parser)
        )
        arguments, attributes = [argument for argument, _ in pairs], [each for _, each in pairs]
        types, result_attributes = _parse_func_outputs(parser)
        others = parser.parse_optional_attr_dict_with_keyword(
            ("sym_name", "function_type", "sym_visibility")
        )
        region = parser.parse_optional_region(arguments or None) or Region()
        properties: dict[str, Attribute | None] = {
            "sym_name": name,
            "function_type": unchecked.function_type([a.type for a in arguments], types),
            "sym_visibility": visibility,
            "arg_attrs": ArrayAttr(map(DictionaryAttr, attributes)) if any(attributes) else None,
            "res_attrs": result_attributes,
        }
        given = {key: value for key, value in properties.items() if value is not None}
        function = FuncOp.create(properties=given, regions=[region])
        if others is not None:
            function.attributes |= others.data
        return function

    @staticmethod
    def _argument(parser: Parser) -> tuple[Parser.Argument, dict[str, Attribute]]:
        if (argument := parser.parse_optional_argument()) is None:
            parser.raise_error("Expected all arguments to be named or all arguments to be unnamed.")
        attributes = parser.parse_optional_dictionary_attr_dict()
        argument.location = parser.parse_optional_location()
        return argument, attributes


QUICKER: dict[type[Operation], Any] = {ReturnOp: _Return, FuncOp: _Function}
"""The parsers of ops of xDSL's dialects in their own syntax, not the generic one."""
