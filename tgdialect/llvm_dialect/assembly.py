"""Pieces of upstream's assembly that several operations share."""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.formats import op_definition

OpT = TypeVar("OpT", bound=IRDLOperation)

ATOMIC_ORDERINGS = {0: "not_atomic", **llvm.ATOMIC_ORDERING_KEYWORDS}
ATOMIC_ORDERING_BY_KEYWORD = {keyword: value for value, keyword in ATOMIC_ORDERINGS.items()}


ATOMIC_RMW_KINDS = (
    *("xchg", "add", "sub", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin"),
    *("fadd", "fsub", "fmax", "fmin", "uinc_wrap", "udec_wrap"),
)
"""Upstream's `bin_op` keywords, at the index that the property holds."""

_KINDS = {keyword: index for index, keyword in enumerate(ATOMIC_RMW_KINDS)}

SYNCSCOPE = "(`syncscope` `(` $syncscope^ `)`)?"
"""The piece of an assembly format for the threads that an atomic access is ordered with."""
ATOMIC = f"(`atomic` {SYNCSCOPE} custom<Keyword>($ordering)^)?"
"""The piece for the ordering of an access that may be atomic."""


def named(base: type[OpT], class_name: str, name: str) -> type[OpT]:
    """The op of a name that has the fields of a base, and no others."""
    fields = {"name": name, "__module__": base.__module__}
    return op_definition(cast("type[OpT]", type(class_name, (base,), fields)))


def parse_keyword(parser: Parser, what: str, table: Mapping[str, int]) -> int:
    position = parser.pos
    keyword = parser.parse_identifier()
    if keyword not in table:
        parser.raise_error(f"unknown {what} '{keyword}'", position)
    return table[keyword]


@irdl_custom_directive
class Keyword(CustomDirective):
    """The keyword of the number that a property holds; if it is left out the number is 0."""

    number: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        what, table = "atomic ordering", ATOMIC_ORDERING_BY_KEYWORD
        if self.number.name == "bin_op":
            what, table = "atomic operation", _KINDS
        self.number.set(state, IntegerAttr(parse_keyword(parser, what, table), i64))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        number, is_kind = self._number(op), self.number.name == "bin_op"
        state.print_whitespace(printer)
        printer.print_string(ATOMIC_RMW_KINDS[number] if is_kind else ATOMIC_ORDERINGS[number])

    def _number(self, op: IRDLOperation) -> int:
        return cast("IntegerAttr[IntegerType]", self.number.get(op)).value.data

    def is_present(self, op: IRDLOperation) -> bool:
        return self._number(op) != 0

    def is_anchorable(self) -> bool:
        return True

    def set_empty(self, state: ParsingState) -> None:
        self.number.set(state, IntegerAttr(0, i64))


def verify_ordering(attribute: IntegerAttr[IntegerType], least: str = "not_atomic") -> None:
    """Raise VerifyException for a number that is no atomic ordering, or one weaker than `least`."""
    ordering = attribute.value.data
    if ordering not in ATOMIC_ORDERINGS:
        raise VerifyException(f"{ordering} is no atomic ordering")
    if ordering < ATOMIC_ORDERING_BY_KEYWORD[least]:
        raise VerifyException(f"expected an ordering of at least '{least}'")


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
