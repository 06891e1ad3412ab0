"""xDSL's lexer and parser, which find most tokens by one regular expression and parse equal types
once."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.ir import Attribute, AttributeInvT, SSAValue, TypeAttribute
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    PunctuationSpelling,
)

from tgdialect.fast_xdsl import unchecked

_TENSOR = re.compile(r"tensor<[^<>]*(?:<[^<>]*>[^<>]*)*>")
"""A tensor type, provided that no string inside of it has angle brackets."""


_PLAIN_TENSOR = re.compile(r"tensor<((?:(?:[0-9]++|\?)x)*+)([a-z][a-z0-9]*+)>", re.ASCII)
"""A tensor type of a dtype, without encoding: its extents, each with an `x`, and the dtype."""

_DTYPES: dict[str, Attribute] = {
    **{
        "f16": builtin.f16,
        "f32": builtin.f32,
        "f64": builtin.f64,
        "bf16": builtin.bf16,
        "index": builtin.IndexType(),
    },
    **{
        "i1": builtin.i1,
        "i8": builtin.i8,
        "i16": builtin.i16,
        "i32": builtin.i32,
        "i64": builtin.i64,
    },
}
"""The usual dtypes by their names."""


_EXTENTS = re.compile(r"(?:[0-9]++|\?)(?:x(?:[0-9]++|\?))*+(?=x[^\W\d]|x!)")
"""The extents of a shape before the `x` and the name of its element type."""


_PLAIN_TOKEN = re.compile(
    r"""(?:\s++|//[^\n]*+)*+(?:
    (%(?:[0-9]++|[a-zA-Z$._-][a-zA-Z0-9$._-]*+))|
    ([a-zA-Z_][a-zA-Z0-9_$.]*+)|
    ([0-9]++(?![.x]))|
    ("[^"\\\n\v\f]*+")|
    (->|[:,()\[\]<>}=?]|\{(?!-\#)))""",
    re.ASCII | re.VERBOSE,
)
"""Most tokens, after white space and comments. Other numbers, names, punctuation and literals, as
strings with escapes, are left to xDSL."""

_GROUP_KINDS = {
    1: MLIRTokenKind.PERCENT_IDENT,
    2: MLIRTokenKind.BARE_IDENT,
    3: MLIRTokenKind.INTEGER_LIT,
    4: MLIRTokenKind.STRING_LIT,
}
"""The kinds of the tokens in the groups of `_PLAIN_TOKEN`; its last group is punctuation."""


class _PlainToken(MLIRToken):
    """A token that keeps its text, which xDSL's parser asks for at each comparison. A string has no
    escapes."""

    text = ""  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class FastLexer(MLIRLexer):
    """xDSL's lexer, in a third of the time."""

    def lex(self) -> MLIRToken:
        found = _PLAIN_TOKEN.match(self.input.content, self.pos)
        if found is None:
            return super().lex()
        group: Any = found.lastindex
        text = found[group]
        start, self.pos = found.span(group)
        kind = _GROUP_KINDS.get(group) or KIND_BY_PUNCTUATION_SPELLING[text]
        # Their constructors, of frozen data classes, take most of the time of a token.
        span: Span[str] = object.__new__(Span)
        span.__dict__.update(start=start, end=self.pos, input=self.input)
        token = object.__new__(_PlainToken)
        token.__dict__.update(kind=kind, span=span, text=text)
        return token


class FastParser(Parser):
    """xDSL's parser with a `FastLexer`. Equal tensor types are parsed once, and shapes in linear
    time."""

    LEXER: ClassVar[type[FastLexer]] = FastLexer
    _types: dict[str, TypeAttribute]
    """The tensor types that were parsed, by their text."""

    def __init__(self, ctx: Context, input: str, name: str) -> None:
        self._types = {}
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(self.LEXER(Input(input, name)))

    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> MLIRToken | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            return None
        state.current_token = state.lexer.lex()
        return token

    def _resume_from(self, pos: Any) -> None:
        if not isinstance(pos, int):
            super()._resume_from(pos)
            return
        state = self._parser_state
        state.lexer.pos = pos
        state.current_token = state.lexer.lex()

    @property
    def pos(self) -> int:
        return self._parser_state.current_token.span.start

    def parse_optional_punctuation(self, punctuation: PunctuationSpelling) -> Any:
        state = self._parser_state
        if state.current_token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            return None
        state.current_token = state.lexer.lex()
        return punctuation

    def parse_punctuation(self, punctuation: PunctuationSpelling, context_msg: str = "") -> Any:
        if self.parse_optional_punctuation(punctuation) is None:
            return super().parse_punctuation(punctuation, context_msg)
        return punctuation

    def parse_optional_characters(self, text: str) -> str | None:
        state = self._parser_state
        if state.current_token.text != text:
            return None
        state.current_token = state.lexer.lex()
        return text

    def parse_optional_type(self) -> TypeAttribute | None:
        text, start = self.lexer.input.content, self.pos
        if (found := _TENSOR.match(text, start)) is None:
            return super().parse_optional_type()
        if (known := self._types.get(found[0])) is not None:
            self._resume_from(found.end())
            return known
        if (shaped := _PLAIN_TENSOR.fullmatch(found[0])) and shaped[2] in _DTYPES:
            self._resume_from(found.end())
            extents = self._extents(shaped[1][:-1])
            type = self._types[found[0]] = unchecked.tensor_of(_DTYPES[shaped[2]], extents)
            return type
        type = super().parse_optional_type()
        if type is not None and text[start : self.pos].rstrip() == found[0]:
            self._types[found[0]] = type
        return type

    def parse_dimension_list(self) -> list[int]:
        # After each extent xDSL lexes the rest of `1x1x1xf32` as a name: quadratic time.
        if (found := _EXTENTS.match(self.lexer.input.content, self.pos)) is None:
            return super().parse_dimension_list()
        self._resume_from(found.end())
        return self._extents(found[0])

    def _extents(self, text: str) -> list[int]:
        if not text:
            return []
        found = [builtin.DYNAMIC_INDEX if e == "?" else int(e) for e in text.split("x")]
        return self._checked_extents(found)

    def _checked_extents(self, extents: list[int]) -> list[int]:
        """The extents of a shape, which a parser with bounds may refuse."""
        return extents

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        state = self._parser_state
        name = state.current_token
        if name.kind is MLIRTokenKind.PERCENT_IDENT:
            # One result, or else the list is parsed again.
            state.current_token = state.lexer.lex()
            if self.parse_optional_punctuation("=") is not None:
                return [(name.span, 1)]
            self._resume_from(name.span.start)
        return super()._parse_op_result_list()

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        values = self.ssa_values.get(operand.operand_name)
        if values is not None and operand.index == 0 and values[0].type is type:
            found: Any = values[0]
            return found
        return super().resolve_operand(operand, type)

    def parse_optional_str_literal(self) -> str | None:
        token = self._current_token
        if not isinstance(token, _PlainToken) or token.kind is not MLIRTokenKind.STRING_LIT:
            return super().parse_optional_str_literal()
        self._consume_token()
        return token.text[1:-1]
