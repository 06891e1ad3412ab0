"""Compiles assembly formats when they are first used, in a tenth of the time that xDSL takes.

xDSL reads a format token by token, looks for seven keywords at each, and checks that the format is
complete and not ambiguous: 0.5 ms for each kind of op that a process parses first. Here a piece of
a format is one match, and a test compares the programs of all our ops with xDSL's, which makes the
checks. What our ops do not use, xDSL compiles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, TypeVar, cast

from xdsl import irdl
from xdsl.dialects.builtin import Builtin, DenseArrayBase, SymbolNameConstraint, UnitAttr
from xdsl.ir import Operation
from xdsl.irdl.constraints import VerificationContext
from xdsl.irdl.declarative_assembly_format import (
    AttrDictDirective,
    AttributeVariable,
    DenseArrayAttributeVariable,
    Directive,
    FormatDirective,
    FormatProgram,
    FunctionalTypeDirective,
    KeywordDirective,
    OperandsDirective,
    OperandVariable,
    OptionalGroupDirective,
    OptionalOperandVariable,
    OptionalUnitAttrVariable,
    PunctuationDirective,
    RegionVariable,
    ResultsDirective,
    ResultVariable,
    SymbolNameAttributeVariable,
    TypeDirective,
    UniqueBaseAttributeVariable,
    VariadicOperandVariable,
)
from xdsl.irdl.operations import (
    AttrSizedOperandSegments,
    AttrSizedSegments,
    OperandDef,
    OptPropertyDef,
    RegionDef,
    ResultDef,
    SingleBlockRegionDef,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING

OpT = TypeVar("OpT", bound=irdl.IRDLOperation)

_PIECE = re.compile(
    r"""\s*+(?:
    `(?P<literal>[^`\s]++)`|
    type\(\$(?P<typed>\w++)\)|
    \$(?P<variable>\w++)|
    (?P<dictionary>attr-dict(?:-with-keyword)?+)(?=\s|$)|
    custom<(?P<custom>\w++)>\(|
    (?P<types>functional-type\(operands,\ results\))|
    (?P<group>\()|
    (?P<anchor>\^)|
    (?P<separator>,)|
    (?P<end>\)\??+))""",
    re.VERBOSE,
)

_OPERANDS: dict[type, type[Any]] = {
    OperandDef: OperandVariable,
    irdl.VarOperandDef: VariadicOperandVariable,
    irdl.OptOperandDef: OptionalOperandVariable,
}
"""The directive of each kind of operand."""


class _UnknownError(Exception):
    """A format has a piece that is not one of ours."""


def compiled_format(text: str, definition: irdl.OpDef) -> FormatProgram:
    """The program of an assembly format. Raises ParseError for one that is not valid, which may
    also be found only by xDSL's compiler."""
    try:
        return _Compiler(text, definition).program()
    except _UnknownError:
        return FormatProgram.from_str(text, definition)


@cache
def _format_program(op_type: type[irdl.IRDLOperation]) -> FormatProgram:
    """The compiled format of an op."""
    assert op_type.assembly_format is not None
    return compiled_format(op_type.assembly_format, op_type.get_irdl_definition())


def op_definition(
    cls: type[OpT],
    parsed: Callable[[FormatProgram, Parser, type[OpT]], OpT] = FormatProgram.parse,
) -> type[OpT]:
    """`irdl_op_definition`, but the assembly format is compiled on first use.

    A dialect has a hundred ops, of which a program has few, and some are never parsed or printed.
    `parsed` makes an op of what its compiled format finds in a text.
    """
    assembly_format = cls.assembly_format
    if assembly_format is None:
        return irdl.irdl_op_definition(cls)
    cls.assembly_format = None
    op = irdl.irdl_op_definition(cls)
    op.assembly_format = assembly_format

    def parse(op_type: type[OpT], parser: Parser) -> OpT:
        return parsed(_format_program(op_type), parser, op_type)

    def print(self: irdl.IRDLOperation, printer: Printer) -> None:
        _format_program(type(self)).print(printer, self)

    # By name, since for type checkers neither has the declared signature.
    setattr(op, "parse", classmethod(parse))  # noqa: B010
    setattr(op, "print", print)  # noqa: B010
    return op


def operations_of(*files: ModuleType) -> list[type[Operation]]:
    """The ops that some files define, in order: their classes that have a name of their own."""
    return [
        each
        for file in files
        for each in vars(file).values()
        if isinstance(each, type) and each.__module__ == file.__name__ and "name" in vars(each)
        # Last: to see that a class is no op takes a look at all ops.
        if issubclass(each, Operation)
    ]


class WidenedOp(irdl.IRDLOperation):
    """First base of an op that takes the place of xDSL's op of that name, its second base.

    xDSL's passes and targets match on their class. The op declares all fields of that class again,
    and its own declarations alone verify it.
    """

    def verify_(self) -> None:
        pass


class _Compiler:
    def __init__(self, text: str, definition: irdl.OpDef) -> None:
        self._text = text
        self._definition = definition
        self._position = 0
        self._operands = {name: i for i, (name, _) in enumerate(definition.operands)}
        self._seen = set[str]()
        """The properties that are directives."""
        self._reserved = set[str]()

    def program(self) -> FormatProgram:
        elements, _ = self._elements("")
        missing = self._definition.properties.keys() - self._seen
        for option in self._definition.options:
            if isinstance(option, AttrSizedSegments) and option.as_property:
                missing.discard(option.attribute_name)
        for i, element in enumerate(elements):
            if type(element) is AttrDictDirective:
                elements[i] = AttrDictDirective(element.with_keyword, self._reserved, missing)
        return FormatProgram(tuple(elements))

    def _elements(self, end: str) -> tuple[list[FormatDirective], FormatDirective | None]:
        """The directives until the `end`, after which the position is, and the one with an
        anchor."""
        elements: list[FormatDirective] = []
        anchor: FormatDirective | None = None
        while self._position < len(self._text):
            kind, value = self._next()
            if kind == "end" and value == end:
                return elements, anchor
            if kind == "anchor" and elements:
                anchor = elements[-1]
            elif kind != "separator" or end != ")":
                elements.append(self._element(kind, value))
        if end:
            raise _UnknownError
        return elements, anchor

    def _next(self) -> tuple[str, str]:
        found = _PIECE.match(self._text, self._position)
        if found is None:
            raise _UnknownError
        self._position = found.end()
        kind: Any = found.lastgroup
        return kind, found[kind]

    def _element(self, kind: str, value: str) -> FormatDirective:
        match kind:
            case "literal" if value in KIND_BY_PUNCTUATION_SPELLING:
                return PunctuationDirective(cast(Any, value))
            case "literal" if value.isidentifier():
                return KeywordDirective(value)
            case "variable":
                return self._variable(value)
            case "typed":
                return TypeDirective(self._typed(value))
            case "dictionary":
                return AttrDictDirective(value != "attr-dict", set(), set())
            case "types":
                return FunctionalTypeDirective(OperandsDirective(), ResultsDirective())
            case "custom" if value in self._definition.custom_directives:
                arguments, _ = self._elements(")")
                return self._definition.custom_directives[value](*arguments)
            case "group":
                return self._group(*self._elements(")?"))
            case _:
                raise _UnknownError

    def _group(
        self, elements: Sequence[FormatDirective], anchor: Directive | None
    ) -> OptionalGroupDirective:
        if anchor is None:
            raise _UnknownError
        first, *others = elements
        return OptionalGroupDirective(anchor, (), first, tuple(others), ())

    def _operand(self, name: str, index: int) -> Any:
        return _OPERANDS[type(self._definition.operands[index][1])](name, index)

    def _typed(self, name: str) -> Any:
        """The operand or result whose type `type` asks for."""
        if (index := self._operands.get(name)) is not None:
            return self._operand(name, index)
        for i, (result, definition) in enumerate(self._definition.results):
            if result == name and type(definition) is ResultDef:
                return ResultVariable(name, i)
        raise _UnknownError

    def _variable(self, name: str) -> FormatDirective:
        if (index := self._operands.get(name)) is not None:
            operand = self._operand(name, index)
            if type(operand) is not OperandVariable:
                self._reserved.add(AttrSizedOperandSegments.attribute_name)
            return operand
        for i, (region, definition) in enumerate(self._definition.regions):
            if region == name and type(definition) in (RegionDef, SingleBlockRegionDef):
                return RegionVariable(name, i)
        return self._property(name)

    def _property(self, name: str) -> FormatDirective:
        definition = self._definition.properties.get(name)
        if definition is None:
            raise _UnknownError
        self._seen.add(name)
        constraint, default = definition.constr, definition.default_value
        field = name, True, type(definition) is OptPropertyDef, default
        match constraint:
            case SymbolNameConstraint():
                return SymbolNameAttributeVariable(*field)
            case irdl.ParamAttrConstraint(base_attr=base, param_constrs=(element, *_)) if (
                base is DenseArrayBase and element.can_infer(set())
            ):
                type_ = cast(Any, element.infer(VerificationContext()))
                return DenseArrayAttributeVariable(*field, type_)
            case irdl.ParamAttrConstraint() | irdl.VarConstraint():
                raise _UnknownError
            case _:
                bases = constraint.get_bases() or ()
        if len(bases) != 1:
            return AttributeVariable(*field)
        (base,) = bases
        if base is UnitAttr:
            return OptionalUnitAttrVariable(name, True)
        if base in Builtin.attributes:
            return AttributeVariable(*field)
        return UniqueBaseAttributeVariable(*field, base)
