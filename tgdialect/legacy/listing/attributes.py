"""The arguments of ops in our own listings: attributes, as Python shows their values, or MLIR.

Required ones come first, in the order of the op's definition, then optional ones: `name=value`, or
the name alone where that is all. `%x` is the name of the value, a dictionary what else there is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptPropertyDef, PropertyDef
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tgdialect.diagnostics import LocatedParser, SourceFile, lasting_hint
from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.legacy.listing.dtypes import ELEMENTS, show_element
from tgdialect.legacy.listing.lines import Token
from tgdialect.ops import tg
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.dtypes import DTYPES, number_attribute
from tgdialect.ops.properties import number


def argument_definitions(kind: type[Operation]) -> Mapping[str, PropertyDef]:
    """The properties of an op that its arguments say."""
    if not issubclass(kind, IRDLOperation):
        return {}
    found = kind.get_irdl_definition().properties
    return {name: each for name, each in found.items() if name != SEGMENTS}


# -- to text -------------------------------------------------------------------------------------


def show_arguments(op: Operation) -> str:
    """The arguments of an op."""
    return ", ".join(_arguments(op))


def _arguments(op: Operation) -> Iterator[str]:
    definitions = argument_definitions(type(op))
    result = op.results[0] if op.results else None
    element = result.type.element_type if result is not None and is_tensor(result.type) else None
    required = [name for name, each in definitions.items() if not isinstance(each, OptPropertyDef)]
    for name in required:
        yield show_attribute(op.properties[name], element)
    for name in op.properties:
        if name in required or name == SEGMENTS:
            continue
        value = op.properties[name]
        unit = isinstance(value, UnitAttr)
        yield name if unit else f"{name}={show_attribute(value, element)}"
    yield from show_rest(result, op.attributes)


def show_rest(value: SSAValue | None, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    """The name of a value, and further attributes."""
    if value is not None and value.name_hint:
        yield f"%{value.name_hint}"
    if attributes:
        yield show_mlir(DictionaryAttr(dict(attributes)))


def show_attribute(attribute: Attribute, element: Attribute | None) -> str:
    """An attribute of an op whose result has a certain element type."""
    match attribute:
        case IntegerAttr() | FloatAttr() if attribute.type == element:
            value = number(attribute)
            return str(bool(value)) if element == i1 else str(value)
        case tg.InvalidAttr() if attribute.dtype == element:
            return "invalid"
        case tg.NumberAttr(data=value):
            return str(value)
        case StringAttr(data=text):
            return repr(text)
        case tg.DataAttr(data=data):
            return repr(data.hex())
        case tg.AxisTypeAttr(data=keyword) | tg.ReduceKindAttr(data=keyword):
            return str(keyword)
        case DenseArrayBase(elt_type=of) if of in (i1, i64):
            values = cast(DenseArrayBase[IntegerType], attribute).get_values()
            return f"({', '.join(str(bool(v) if of == i1 else v) for v in values)})"
        case _ if attribute in DTYPES:
            return show_element(attribute)
        case _:
            return show_mlir(attribute)


def show_mlir(attribute: Attribute) -> str:
    """An attribute as MLIR writes it."""
    text = StringIO()
    Printer(text).print_attribute(attribute)
    return text.getvalue()


# -- from text -----------------------------------------------------------------------------------

_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|->|[(\[{<]|[)\]}>]|,|['"]""")
_NAMED = re.compile(r"(?P<name>[A-Za-z_][\w.]*)=(?!=)")
_NUMBER = re.compile(
    r"True|False|invalid|nan|[-+]?inf|[-+]?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?", re.ASCII
)
_MOST_DIGITS = 400
"""The most characters of a number. `int` takes quadratic time and fails at 4300 digits; no dtype
has a number as long."""


def split_arguments(token: Token) -> list[Token]:
    """The arguments in a text, which commas outside of brackets separate."""
    pieces: list[Token] = []
    depth = start = 0
    for mark in _PIECE.finditer(token.text):
        if mark[0] in ("'", '"'):
            raise token.part(mark.start()).error("this string is not terminated")
        depth += (mark[0] in "([{<") - (mark[0] in ")]}>")
        if depth < 0:
            raise token.part(mark.start()).error(f"{mark[0]!r} closes nothing")
        if mark[0] == "," and depth == 0:
            pieces.append(token.part(start, mark.start()))
            start = mark.end()
    pieces.append(token.part(start))
    if depth:
        raise token.part(len(token.text)).error("a bracket is not closed")
    for piece in pieces if len(pieces) > 1 else ():
        if not piece.text:
            raise piece.error("expected an argument")
    return [piece for piece in pieces if piece.text]


class Arguments:
    """The arguments of an op as properties, name and attributes."""

    def __init__(
        self, ctx: Context, token: Token, kind: type[Operation], element: Attribute | None
    ):
        self.properties: dict[str, Attribute] = {}
        self.attributes: dict[str, Attribute] = {}
        self.name_hint: str | None = None
        self._ctx, self._element = ctx, element
        definitions = argument_definitions(kind)
        positional = [
            name for name, each in definitions.items() if not isinstance(each, OptPropertyDef)
        ]
        for piece in split_arguments(token):
            named = _NAMED.match(piece.text)
            if piece.text[0] == "%":
                self.name_hint = parse_hint(piece)
            elif piece.text[0] == "{":
                self.attributes |= parse_dictionary(ctx, piece)
            elif named is not None and named["name"] in definitions:
                name = named["name"]
                self.properties[name] = self._value(
                    piece.part(named.end()), name, definitions[name]
                )
            elif piece.text in definitions and piece.text not in positional:
                self.properties[piece.text] = UnitAttr()
            elif positional:
                name = positional.pop(0)
                self.properties[name] = self._value(piece, name, definitions[name])
            else:
                raise piece.error(f"{kind.name} has no such argument")
        if positional:
            raise token.part(len(token.text)).error(f"{kind.name} needs its {positional[0]}")

    def _value(self, token: Token, name: str, definition: PropertyDef) -> Attribute:
        """The value of a property."""
        kinds: Sequence[type[Attribute]] = tuple(definition.constr.get_bases() or ())
        try:
            return self._attribute(token, name, kinds)
        except VerifyException as error:
            raise token.error(str(error)) from error

    def _attribute(self, token: Token, name: str, kinds: Sequence[type[Attribute]]) -> Attribute:
        text = token.text
        if text[:1] in ("'", '"'):
            string = parse_string(token)
            return tg.DataAttr.of_digits(string) if kinds == (tg.DataAttr,) else StringAttr(string)
        if len(kinds) == 1:
            (kind,) = kinds
            if kind is tg.NumberAttr:
                return tg.NumberAttr(_integer(token))
            if kind is DenseArrayBase and text.startswith("("):
                return _array(token, name == "flags")
            if (keywords := _KEYWORDS.get(kind)) is not None:
                if token.text not in list(keywords):
                    raise token.error(f"{token.text!r} is not one of {', '.join(keywords)}")
                return cast(Any, kind)(keywords(token.text))
        if _NUMBER.fullmatch(text) and self._element is not None:
            return _number(token, self._element)
        if text.startswith("dtypes."):
            if (element := ELEMENTS.get(text.removeprefix("dtypes."))) is None:
                raise token.error(f"there is no dtype {text!r}")
            return element
        return parse_mlir(self._ctx, token)


def parse_string(token: Token) -> str:
    """The text in a string literal."""
    try:
        return str(ast.literal_eval(token.text))
    except (SyntaxError, ValueError):
        raise token.error("this string is malformed") from None


def _integer(token: Token) -> int:
    if not re.fullmatch(r"-?[0-9]{1,400}", token.text):
        raise token.error(f"expected an integer, not {token.text!r}")
    return int(token.text)


def _array(token: Token, of_flags: bool) -> Attribute:
    words = {"True": 1, "False": 0} if of_flags else {}
    values: list[int] = []
    for piece in split_arguments(token.part(1, len(token.text) - 1)):
        value = words[piece.text] if piece.text in words else _integer(piece)
        if not -(2**63) <= value < 2**63:
            raise piece.error(f"{value} does not fit in 64 bits")
        values.append(value)
    return DenseArrayBase.from_list(i1 if of_flags else i64, values)


_KEYWORDS: Mapping[type[Attribute], Any] = {
    tg.AxisTypeAttr: tg.AxisType,
    tg.ReduceKindAttr: tg.ReduceKind,
}
"""The keywords of attributes that one says."""


def _number(token: Token, element: Attribute) -> Attribute:
    if token.text == "invalid":
        return tg.InvalidAttr(element)
    if len(token.text) > _MOST_DIGITS:
        raise token.error(f"a number of {len(token.text)} characters is too long")
    words = {"True": 1, "False": 0}
    is_integer = re.fullmatch(r"[-+]?[0-9]+", token.text) is not None
    value = int(token.text) if is_integer else words.get(token.text)
    return number_attribute(float(token.text) if value is None else value, element)


def parse_hint(token: Token) -> str | None:
    """The name of a value: `%x`."""
    name = token.text[1:]
    if not SSAValue.is_valid_name(name):
        raise token.error(f"{token.text!r} is not the name of a value")
    return lasting_hint(name)


def parse_dictionary(ctx: Context, token: Token) -> dict[str, Attribute]:
    """A dictionary of attributes, as MLIR writes it."""
    found = parse_mlir(ctx, token)
    if not isinstance(found, DictionaryAttr):
        raise token.error("expected a dictionary of attributes")
    return dict(found.data)


def parse_symbol(ctx: Context, token: Token) -> str:
    """The name of a symbol, `@x`, with MLIR's quotes if it is no identifier; empty if the token
    is."""
    if not token.text.startswith('@"'):
        return token.text[1:]
    found = parse_mlir(ctx, token)
    assert isinstance(found, SymbolRefAttr)
    return found.root_reference.data


def _message(error: ParseError) -> str:
    """The message of xDSL's parser, which leaves a placeholder in one."""
    return error.msg.replace("{first_char}", "#, !, % or ^")


def parse_mlir(ctx: Context, token: Token) -> Attribute:
    """An attribute or a type, as MLIR writes it."""
    try:
        parser = LocatedParser(ctx, SourceFile(token.source.name, token.text))
        attribute = parser.parse_attribute()
    except ParseError as error:
        raise token.part(min(error.span.start, len(token.text))).error(_message(error)) from error
    except RecursionError:
        raise token.error("nested too deeply to be parsed") from None
    except Exception as error:  # xDSL's parser does not check everything.
        raise token.error(f"{token.text!r} is malformed") from error
    if parser.pos < len(token.text):
        raise token.part(parser.pos).error("expected ',' or the end of the line")
    return attribute
