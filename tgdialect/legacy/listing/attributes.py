"""The arguments of ops in our own listings: attributes, as Python shows their values, or MLIR.

Required ones come first, in the order of the op's definition, then optional ones: `name=value`, or
the name alone where that is all. `%x` is the name of the value, a dictionary what else there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptPropertyDef, PropertyDef
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tgdialect.diagnostics import LocatedParser, lasting_hint
from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.legacy.listing import arguments
from tgdialect.legacy.listing.dtypes import ELEMENTS, show_element
from tgdialect.legacy.listing.lines import Token
from tgdialect.legacy.listing.values import Word, parse_value
from tgdialect.ops import tg


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
    element = result.type.element_type if result is not None and tg.is_tensor(result.type) else None
    required = [name for name, each in definitions.items() if not isinstance(each, OptPropertyDef)]
    yield from (show_attribute(op.properties[name], element) for name in required)
    for name, value in op.properties.items():
        if name not in (*required, SEGMENTS):
            is_unit = isinstance(value, builtin.UnitAttr)
            yield name if is_unit else f"{name}={show_attribute(value, element)}"
    yield from show_rest(result, op.attributes)


def show_rest(value: SSAValue | None, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    """The name of a value, and further attributes."""
    if value is not None and value.name_hint:
        yield f"%{value.name_hint}"
    if attributes:
        yield show_mlir(builtin.DictionaryAttr(dict(attributes)))


def show_attribute(attribute: Attribute, element: Attribute | None) -> str:
    """An attribute of an op whose result has a certain element type."""
    match attribute:
        case builtin.IntegerAttr() | builtin.FloatAttr() if attribute.type == element:
            value = tg.number(attribute)
            return str(bool(value)) if element == builtin.i1 else str(value)
        case tg.InvalidAttr() if attribute.dtype == element:
            return "invalid"
        case tg.NumberAttr() | tg.AxisTypeAttr() | tg.ReduceKindAttr():
            return str(attribute.data)
        case builtin.StringAttr(data=text):
            return repr(text)
        case tg.DataAttr(data=bytes() as data):
            return repr(data.hex())
        case builtin.DenseArrayBase(elt_type=of) if of in (builtin.i1, builtin.i64):
            values = cast(builtin.DenseArrayBase[builtin.IntegerType], attribute).get_values()
            return f"({', '.join(str(bool(v) if of == builtin.i1 else v) for v in values)})"
        case _ if attribute in tg.DTYPES:
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
        positional = [n for n, each in definitions.items() if not isinstance(each, OptPropertyDef)]
        for piece in split_arguments(token):
            if piece.text[0] == "%":
                self.name_hint = parse_hint(piece)
            elif piece.text[0] == "{":
                self.attributes |= parse_dictionary(ctx, piece)
            elif piece.text in definitions and piece.text not in positional:
                self.properties[piece.text] = builtin.UnitAttr()
            else:
                named = _NAMED.match(piece.text)
                if named is not None and named["name"] in definitions:
                    name, piece = named["name"], piece.part(named.end())
                elif positional:
                    name = positional.pop(0)
                else:
                    raise piece.error(f"{kind.name} has no such argument")
                self.properties[name] = self._value(piece, name, definitions[name])
        if positional:
            raise token.part(len(token.text)).error(f"{kind.name} needs its {positional[0]}")

    def _value(self, token: Token, name: str, definition: PropertyDef) -> Attribute:
        """The value of a property."""
        kinds = tuple(definition.constr.get_bases() or ())
        try:
            return self._attribute(token, name, kinds[0] if len(kinds) == 1 else Attribute)
        except VerifyException as error:
            raise token.error(str(error)) from error

    def _attribute(self, token: Token, name: str, kind: type[Attribute]) -> Attribute:
        text = token.text
        if text[:1] in ("'", '"'):
            string = parse_string(token)
            return (
                tg.DataAttr.of_digits(string) if kind is tg.DataAttr else builtin.StringAttr(string)
            )
        if kind is tg.NumberAttr:
            if type(number := parse_value(token)) is not int:
                raise token.error(f"expected an integer, not {text!r}")
            return tg.NumberAttr(number)
        if kind is builtin.DenseArrayBase and text.startswith("("):
            return _array(token, bool if name == "flags" else int)
        if (keywords := _KEYWORDS.get(kind)) is not None:
            if text not in list(keywords):
                raise token.error(f"{text!r} is not one of {', '.join(keywords)}")
            return cast(Any, kind)(keywords(text))
        if _NUMBER.fullmatch(text) and self._element is not None:
            value = Word("Invalid") if text == "invalid" else parse_value(token)
            return arguments.number(value, self._element, token)
        if text.startswith("dtypes."):
            if (element := ELEMENTS.get(text.removeprefix("dtypes."))) is None:
                raise token.error(f"there is no dtype {text!r}")
            return element
        return parse_mlir(self._ctx, token)


_KEYWORDS: Mapping[type[Attribute], Any] = {
    tg.AxisTypeAttr: tg.AxisType,
    tg.ReduceKindAttr: tg.ReduceKind,
}
"""The keywords of attributes that one says."""


def _array(token: Token, of: type[int]) -> Attribute:
    """The array of a tuple of integers or of flags."""
    values = parse_value(token)
    given = values if isinstance(values, tuple) else ()
    found = [v for v in given if isinstance(v, int) and type(v) is of]
    if values != tuple(found) or not all(-(2**63) <= v < 2**63 for v in found):
        raise token.error(f"expected {of.__name__}s of 64 bits or less, not {token.text!r}")
    return builtin.DenseArrayBase.from_list(builtin.i1 if of is bool else builtin.i64, found)


def parse_string(token: Token) -> str:
    """The text in a string literal."""
    if not isinstance(value := parse_value(token), str):
        raise token.error("this string is malformed")
    return value


def parse_hint(token: Token) -> str | None:
    """The name of a value: `%x`."""
    name = token.text[1:]
    if not SSAValue.is_valid_name(name):
        raise token.error(f"{token.text!r} is not the name of a value")
    return lasting_hint(name)


def parse_dictionary(ctx: Context, token: Token) -> dict[str, Attribute]:
    """A dictionary of attributes, as MLIR writes it."""
    found = parse_mlir(ctx, token)
    if not isinstance(found, builtin.DictionaryAttr):
        raise token.error("expected a dictionary of attributes")
    return dict(found.data)


def parse_symbol(ctx: Context, token: Token) -> str:
    """The name of a symbol, `@x`, with MLIR's quotes if it is no identifier; empty if the token
    is."""
    if not token.text.startswith('@"'):
        return token.text[1:]
    found = parse_mlir(ctx, token)
    assert isinstance(found, builtin.SymbolRefAttr)
    return found.root_reference.data


def parse_mlir(ctx: Context, token: Token) -> Attribute:
    """An attribute or a type, as MLIR writes it."""
    try:
        parser = LocatedParser(ctx, replace(token.source, text=token.text, first_line=1))
        attribute = parser.parse_attribute()
    except ParseError as error:
        # The parser leaves a placeholder in one message.
        message = error.msg.replace("{first_char}", "#, !, % or ^")
        raise token.part(min(error.span.start, len(token.text))).error(message) from error
    except RecursionError:
        raise token.error("nested too deeply to be parsed") from None
    except Exception as error:  # xDSL's parser does not check everything.
        raise token.error(f"{token.text!r} is malformed") from error
    if parser.pos < len(token.text):
        raise token.part(parser.pos).error("expected ',' or the end of the line")
    return attribute
