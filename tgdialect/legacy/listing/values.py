"""Arguments as Python prints them: numbers, strings, tuples, names, calls."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from tgdialect.legacy.listing.lines import Token


@dataclass(frozen=True)
class Word:
    """A name, such as `AddrSpace.REG` or `dtypes.float`."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call, such as `ParamArg(0, dtypes.int, addrspace=AddrSpace.REG)`."""

    function: str
    arguments: tuple[PythonValue, ...]
    keywords: dict[str, PythonValue]


PythonValue = int | float | str | Word | Call | None | tuple["PythonValue", ...]
"""The value of an argument. A list is a tuple; `<AxisType.LOOP: 1>` is the Word `AxisType.LOOP`."""

_TOKEN = re.compile(
    r"""[ \t]*(?:
    (?P<number>[-+]?(?:inf|nan|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)(?![\w.]))
    |(?P<name>[A-Za-z_][\w.]*|\?)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |<(?P<member>[\w.]+):[^<>]*>
    |(?P<mark>[()\[\],=])
    |(?P<end>$)
    )""",
    re.VERBOSE | re.ASCII,
)
_WORDS: dict[str, PythonValue] = {"None": None, "True": True, "False": False}
_CLOSING = {"(": ")", "[": "]"}
_MOST_DIGITS = 400
"""The most characters of a number. `int` takes quadratic time and fails at 4300 digits; no dtype
has a number as long."""
_DEEPEST = 50
"""The greatest depth of brackets. Larger: Python's recursion limit is met; smaller: listings are
refused. tinygrad prints no deeper than a few."""


def parse_value(token: Token) -> PythonValue:
    """The value that a text is. Raises CompilationError at the character that is wrong."""
    parser = _Parser(token)
    value = parser.value()
    if parser.kind != "end":
        raise parser.error("expected the end of the argument")
    return value


class _Parser:
    """A parser with a look-ahead of one token."""

    def __init__(self, token: Token):
        self.token, self.end, self.depth = token, 0, 0
        self.advance()

    def advance(self) -> None:
        """Read the next token."""
        text, start = self.token.text, self.end
        if (found := _TOKEN.match(text, start)) is None:
            character = self.token.part(start)
            if character.text[0] in "'\"":
                raise character.error("this string is not terminated")
            raise character.error(f"unexpected {character.text[0]!r} in an argument")
        assert found.lastgroup is not None
        self.text, self.end = found[found.lastgroup], found.end()
        self.kind = self.text if found.lastgroup == "mark" else found.lastgroup
        self.start = self.end - len(found[0].lstrip())

    def error(self, message: str):
        """An error at the next token."""
        return self.token.part(self.start).error(message)

    def value(self) -> PythonValue:
        kind, text, start = self.kind, self.text, self.start
        if kind in _CLOSING:
            values, named = self.items(_CLOSING[kind])
            if named:
                raise self.token.part(start).error("only the arguments of a call have names")
            return values
        if kind not in ("number", "name", "string", "member"):
            what = "the end of the line" if kind == "end" else repr(text)
            raise self.error(f"expected a value, not {what}")
        self.advance()
        if kind == "number":
            return self.number(text, start)
        if kind == "string":
            return self.string(text, start)
        if kind == "member":
            return Word(text)
        if self.kind == "(":
            return Call(text, *self.items(")"))
        return _WORDS[text] if text in _WORDS else Word(text)

    def items(self, closing: str) -> tuple[tuple[PythonValue, ...], dict[str, PythonValue]]:
        """The values up to a closing bracket, and those with a name."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error("brackets are nested too deeply")
        values: list[PythonValue] = []
        named: dict[str, PythonValue] = {}
        self.advance()
        while self.kind != closing:
            value = self.value()
            if self.kind != "=":
                values.append(value)
            elif isinstance(value, Word):
                self.advance()
                named[value.text] = self.value()
            else:
                raise self.error("only a name has a value")
            if self.kind == ",":
                self.advance()
            elif self.kind != closing:
                raise self.error(f"expected ',' or {closing!r}")
        self.advance()
        self.depth -= 1
        return tuple(values), named

    def number(self, text: str, start: int) -> int | float:
        if text.lstrip("+-") in ("inf", "nan"):
            return math.nan if text.endswith("nan") else float(text)
        if len(text) > _MOST_DIGITS:
            raise self.token.part(start).error(f"a number of {len(text)} characters is too long")
        return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)

    def string(self, text: str, start: int) -> str:
        try:
            value = ast.literal_eval(text)
        except (SyntaxError, ValueError):
            raise self.token.part(start).error("this string has an invalid escape") from None
        return str(value)
