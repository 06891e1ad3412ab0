"""From text to numbered lines: number, op, dtype, sources, argument.

Lines of other kinds, as DEBUG dumps have them, are skipped, and end a listing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from tgdialect.diagnostics import CompilationError, Diagnostic, SourceFile


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a file."""

    text: str
    offset: int
    source: SourceFile = field(repr=False)

    def part(self, start: int, end: int | None = None) -> Token:
        """The piece from `start` to `end`, without blanks around it."""
        text = self.text[start:end]
        stripped = text.lstrip()
        return Token(
            stripped.rstrip(), self.offset + start + len(text) - len(stripped), self.source
        )

    @property
    def line(self) -> int:
        """The line of the file."""
        return self.source.position(self.offset)[0]

    @property
    def location(self) -> FileLineColLoc:
        """The place of the first character, as the location of an op."""
        line, column = self.source.position(self.offset)
        return FileLineColLoc(StringAttr(self.source.name), IntAttr(line), IntAttr(column))

    def error(self, message: str) -> CompilationError:
        """An error at the first character."""
        line, column = self.source.position(self.offset)
        shown = self.source.line(line)
        return CompilationError(
            Diagnostic(message, file=self.source.name, line=line, column=column, source_line=shown)
        )


@dataclass(frozen=True, slots=True)
class Source:
    """One of the sources of a line: the number of a line, or the text of a constant.

    Our own listings name optional sources: `gate=4`.
    """

    token: Token
    number: int | None
    constant: str | None = None
    name: str | None = None

    @property
    def literal(self) -> Token:
        """The text of a constant, without its quotes."""
        assert self.constant is not None
        return Token(self.constant, self.token.offset + 1, self.token.source)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a listing."""

    number: int
    op: Token
    dtype: Token
    source_list: Token
    sources: tuple[Source, ...]
    argument: Token

    @property
    def name(self) -> str:
        """The name of the op, without `Ops.` or `UOps.`."""
        return self.op.text.split(".", 1)[1]

    def __str__(self) -> str:
        return f"{self.name} {self.number} in line {self.op.line}"


@dataclass(frozen=True, slots=True)
class Title:
    """The title of one of our own listings: `@k`, or `func @main {tg.workspace_bytes = 64}`."""

    kind: Token
    name: Token
    attributes: Token


@dataclass(slots=True)
class Listing:
    """Numbered lines, from 0."""

    title: Title | None
    lines: list[Line] = field(default_factory=list[Line])


_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(r"[^\n]*")
_IGNORED = re.compile(r"[ \t\r]*+(//|#|$)")
_TITLE = re.compile(
    r'[ \t]*+(?P<kind>[a-z]*+)[ \t]*+(?P<name>@(?:[\w$.-]++|"(?:[^"\\]|\\.)*+"))?[ \t]*+'
    r"(?P<attributes>\{.*\})?\s*+$"
)
_HEAD = re.compile(r"[ \t]*+(?P<number>[-+]?\d\S*+(?=[ \t]))?[ \t]*+(?P<op>U?Ops\.[^\s:\[]*+)")
_NO_OP = re.compile(r"[ \t]*+\d++[ \t]++(?P<op>\w++)[ \t]*+:[^\[\n]*+\[")
_NAME = re.compile(r"U?Ops\.[A-Z0-9_.]*[A-Z0-9]")
_DTYPE = re.compile(
    r"""[ \t]*+:[ \t]*+(?:[0-9m_]++(?:[ \t]*+,[ \t]*+[0-9m_]++)*+(?=[ \t]))?"""
    r"""(?P<dtype>(?:'[^']*+'|"[^"]*+"|[^\['"]++)*+)"""
)
"""The colon, the column of the loops that a line is in, which today's listings have, and the dtype.
Loops that were coloured one by one have blanks around their commas."""
_ITEM = re.compile(
    r"""[ \t]*+(?:(?:(?P<name>[a-z_]++)=)?(?P<number>[0-9]++)"""
    r"""|'(?P<text>[^'\n]*+)'|"(?P<other>[^"\n]*+)")"""
)
_SEPARATOR = re.compile(r"[ \t]*+(?P<mark>[,\]])")

MOST_DIGITS = 9
"""The digits of the number of a line. `int` takes quadratic time, and fails at 4300 digits."""


def read_listings(source: SourceFile) -> list[Listing]:
    """The listings of a file. Raises CompilationError where one is malformed, or if there is none.

    The escape sequences of colours are taken for blanks, which leaves the columns as they are.
    """
    text = _ANSI.sub(lambda found: " " * len(found[0]), source.text)
    listings, ended = [Listing(None)], True
    for match in _LINE.finditer(text):
        token = Token(match[0], match.start(), source)
        if not match[0] or _IGNORED.match(match[0]):
            continue
        if (title := _title(token)) is not None:
            listings.append(Listing(title))
            ended = False
        elif (line := _line(token)) is None:
            if listings[-1].lines or listings[-1].title is not None:
                listings.append(Listing(None))
            ended = True
        else:
            if line.number == 0 and listings[-1].lines:
                listings.append(Listing(None))
            _check_number(token, line.number, listings[-1], ended)
            listings[-1].lines.append(line)
            ended = False
    if not (found := [each for each in listings if each.lines or each.title is not None]):
        raise Token("", 0, source).error("there is no listing: no line reads `0 UOps.NAME : ...`")
    return found


def _title(token: Token) -> Title | None:
    """The title in a line: it has a name, or it is `module` with attributes."""
    if (found := _TITLE.match(token.text)) is None:
        return None
    if found["name"] is None and (found["kind"] != "module" or found["attributes"] is None):
        return None
    kind, name, attributes = (
        token.part(*found.span(group)) if found[group] is not None else token.part(found.end())
        for group in ("kind", "name", "attributes")
    )
    return Title(kind, name, attributes)


def _check_number(token: Token, number: int, listing: Listing, ended: bool) -> None:
    expected, place = len(listing.lines), token.part(0)
    if number == expected:
        return
    if number < expected:
        raise place.error(f"there are two lines {number}; this is line {expected}")
    if ended:
        raise place.error(f"a listing begins with line 0, not with line {number}")
    raise place.error(f"line {expected} is missing: the next one is {number}")


def _line(token: Token) -> Line | None:
    """The line in a line of text; None for text of another kind."""
    head = _HEAD.match(token.text)
    if head is None:
        if found := _NO_OP.match(token.text):
            raise token.part(found.start("op")).error("an op is written Ops.NAME or UOps.NAME")
        return None
    op = token.part(*head.span("op"))
    if head["number"] is None:
        raise op.error("a line begins with its number")
    number = _number(token.part(*head.span("number")))
    if not _NAME.fullmatch(op.text):
        raise op.error(f"{op.text!r} is not the name of an op")
    if (dtype := _DTYPE.match(token.text, head.end())) is None:
        raise token.part(head.end()).error("expected ':' after the op")
    start = dtype.end()
    if not token.text.startswith("[", start):
        raise token.part(start).error("expected a list of sources, such as [0, 1]")
    sources, end = _sources(token, start + 1)
    source_list, column = token.part(start, end), token.part(*dtype.span("dtype"))
    return Line(number, op, column, source_list, tuple(sources), token.part(end))


def _number(token: Token) -> int:
    if not re.fullmatch("[0-9]+", token.text):
        raise token.error(f"{token.text!r} is not the number of a line")
    if len(token.text) > MOST_DIGITS:
        raise token.error(f"a number of {len(token.text)} digits is too great for a line")
    return int(token.text)


def _sources(token: Token, start: int) -> tuple[list[Source], int]:
    """The sources, and the offset after the list."""
    sources: list[Source] = []
    if separator := _SEPARATOR.match(token.text, start):
        if separator["mark"] == "]":
            return sources, separator.end()
        raise token.part(separator.start("mark")).error("expected a source, or ']'")
    while True:
        if (item := _ITEM.match(token.text, start)) is None:
            raise token.part(start).error("a source is the number of a line, or a quoted constant")
        sources.append(_source(token, item))
        if (separator := _SEPARATOR.match(token.text, item.end())) is None:
            raise token.part(item.end()).error("expected ',' or ']' in the list of sources")
        start = separator.end()
        if separator["mark"] == "]":
            return sources, start


def _source(token: Token, item: re.Match[str]) -> Source:
    if item["number"] is not None:
        number = token.part(*item.span("number"))
        return Source(number, _number(number), name=item["name"])
    text = item["text"] if item["text"] is not None else item["other"]
    place = token.part(item.start(), item.end())
    if text == "--":
        raise place.error("this source is not in the listing")
    return Source(place, None, text)
