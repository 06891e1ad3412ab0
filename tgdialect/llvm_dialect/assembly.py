"""Pieces of upstream's assembly that several operations share."""

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

ATOMIC_ORDERINGS = {0: "not_atomic", **llvm.ATOMIC_ORDERING_KEYWORDS}
ATOMIC_ORDERING_BY_KEYWORD = {keyword: value for value, keyword in ATOMIC_ORDERINGS.items()}


def parse_keyword(parser: Parser, what: str, table: dict[str, int]) -> int:
    position = parser.pos
    keyword = parser.parse_identifier()
    if keyword not in table:
        parser.raise_error(f"unknown {what} '{keyword}'", position)
    return table[keyword]


def parse_syncscope(parser: Parser) -> StringAttr | None:
    if parser.parse_optional_keyword("syncscope") is None:
        return None
    with parser.in_parens():
        return StringAttr(parser.parse_str_literal())


def print_syncscope(printer: Printer, scope: StringAttr | None) -> None:
    if scope is not None:
        printer.print_string(" syncscope(")
        printer.print_string_literal(scope.data)
        printer.print_string(")")


def parse_ordering(parser: Parser) -> IntegerAttr[IntegerType]:
    return IntegerAttr(parse_keyword(parser, "atomic ordering", ATOMIC_ORDERING_BY_KEYWORD), i64)


def verify_ordering(attribute: IntegerAttr[IntegerType], least: str = "not_atomic") -> None:
    """Raise VerifyException for a number that is no atomic ordering, or one weaker than `least`."""
    ordering = attribute.value.data
    if ordering not in ATOMIC_ORDERINGS:
        raise VerifyException(f"{ordering} is no atomic ordering")
    if ordering < ATOMIC_ORDERING_BY_KEYWORD[least]:
        raise VerifyException(f"expected an ordering of at least '{least}'")


def parse_optional_atomic(parser: Parser) -> dict[str, Attribute]:
    """`atomic` (`syncscope("...")`)? ordering, as properties."""
    if parser.parse_optional_keyword("atomic") is None:
        return {"ordering": IntegerAttr(0, i64)}
    scope = parse_syncscope(parser)
    ordering = parse_ordering(parser)
    return {"ordering": ordering} if scope is None else {"ordering": ordering, "syncscope": scope}


def print_optional_atomic(
    printer: Printer, ordering: IntegerAttr[IntegerType], scope: StringAttr | None
) -> None:
    if ordering.value.data:
        printer.print_string(" atomic")
        print_syncscope(printer, scope)
        printer.print_string(f" {ATOMIC_ORDERINGS[ordering.value.data]}")


def parse_flags(parser: Parser, **names: str) -> dict[str, Attribute]:
    """The properties of the keywords that are there, each by its name."""
    found = (
        name for word, name in names.items() if parser.parse_optional_keyword(word) is not None
    )
    return {name: UnitAttr() for name in found}


def parse_attributes(
    parser: Parser, names: Sequence[str], properties: dict[str, Attribute]
) -> dict[str, Attribute]:
    """An attribute dictionary, and the colon before types. The entries of some names become
    properties."""
    attributes = parser.parse_optional_attr_dict()
    properties.update({name: attributes.pop(name) for name in names if name in attributes})
    parser.parse_punctuation(":")
    return attributes


def print_attributes(op: Operation, printer: Printer, names: Sequence[str]) -> None:
    """The dictionary, and the colon."""
    shown = {name: op.properties[name] for name in names if name in op.properties}
    printer.print_op_attributes(shown | op.attributes)
    printer.print_string(" : ")
