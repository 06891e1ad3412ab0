"""xDSL's parser, which also records the position of each operation and locates every failure."""

import difflib
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FileLineColLoc,
    IndexType,
    ModuleOp,
    StringAttr,
    UnknownLoc,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, AttributeInvT, Operation, SSAValue, TypeAttribute
from xdsl.parser import ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    PunctuationSpelling,
)

from tgdialect import unchecked
from tgdialect.diagnostics.bounded_parser import BoundedParser
from tgdialect.diagnostics.diagnostic import (
    CompilationError,
    Diagnostic,
    SourceFile,
    exception_text,
)
from tgdialect.diagnostics.func_ops import QUICKER
from tgdialect.diagnostics.hints import lasting_hint
from tgdialect.diagnostics.locations import parse_error_diagnostic

_NO_OPERATION = "Could not parse entire input!"
_NO_BLOCK = " in block definition"
_UNDEFINED_VALUES = "values used but not defined"
_UNDEFINED_BLOCKS = "dangling block references:"
"""Beginnings of xDSL's errors that are improved below."""
_MANY_DIGITS = "Exceeds the limit"
"""The beginning of Python's error."""
_MOST_DIGITS = sys.get_int_max_str_digits()
"""The most decimal digits of an integer that Python converts to a string, or 0 for no limit."""

_REPHRASED = {
    _NO_OPERATION: "expected an operation",
    _NO_BLOCK: "expected an operation, a block label or '}'",
    "End of file reached before closing string literal.": (
        "string literal is not closed, or has an invalid escape"
    ),
    "Expected ':'function type signature expected": "expected ':' and the type of the operation",
    "Expected suffix identifier after {first_char}": "expected a name or number after this",
}
"""Replacements for unclear messages of xDSL."""

_BYTECODE_MAGIC = b"ML\xefR"


_TENSOR = re.compile(r"tensor<[^<>]*(?:<[^<>]*>[^<>]*)*>")
"""A tensor type, provided that no string inside of it has angle brackets."""


_PLAIN_TENSOR = re.compile(r"tensor<((?:(?:[0-9]++|\?)x)*+)([a-z][a-z0-9]*+)>", re.ASCII)
"""A tensor type of a dtype, without encoding: its extents, each with an `x`, and the dtype."""

_DTYPES: dict[str, Attribute] = {
    **{"f16": f16, "f32": f32, "f64": f64, "bf16": bf16, "index": IndexType()},
    **{"i1": i1, "i8": i8, "i16": i16, "i32": i32, "i64": i64},
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


class _Lexer(MLIRLexer):
    """xDSL's lexer, which finds most tokens by one regular expression, in a third of the time.

    String literals have possessive quantifiers: xDSL's own regular expression takes exponential
    time on an unclosed one. One whose escapes are UTF-8, as every printer writes what is no ASCII,
    is a text and no sequence of bytes.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is not MLIRTokenKind.BYTES_LIT:
            return token
        try:
            MLIRTokenKind.STRING_LIT.get_string_literal_value(token.span)
        except UnicodeDecodeError:
            return token
        return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)

    def lex(self) -> MLIRToken:
        found = _PLAIN_TOKEN.match(self.input.content, self.pos)
        if found is None:
            token = super().lex()
            if token.kind is MLIRTokenKind.INTEGER_LIT and token.text[:2] in ("0x", "0X"):
                # Python reads hexadecimal integers of any length, but does not print them.
                digits = (len(token.text) - 2) * math.log10(16)
                if 0 < _MOST_DIGITS < digits:
                    raise ParseError(token.span, f"an integer of more than {_MOST_DIGITS} digits")
            return token
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


class LocatedParser(BoundedParser):
    """
    Parses `source` like xDSL's parser, within bounds (`bounded_parser.py`), and further

    * gives each operation without a `loc(...)` the position of its name as location;
    * accepts a file without operations as an empty module, as MLIR does;
    * finds most tokens by one regular expression;
    * parses equal tensor types only once, and shapes in linear time;
    * turns every exception that a malformed text causes into a `ParseError` with a position.
    """

    source: SourceFile
    _op_name_offsets: list[int]
    """The offsets of the names of the operations that are being parsed, innermost last."""
    _first_uses: dict[str, Span]
    """The first use of each value that was used before its definition."""
    _types: dict[str, TypeAttribute]
    """The tensor types that were parsed, by their text."""

    def __init__(self, ctx: Context, source: SourceFile) -> None:
        self.source = source
        self._filename = StringAttr(source.name)
        self._op_name_offsets = []
        self._first_uses = {}
        self._types = {}
        super().__init__(ctx, "", source.name)
        self._parser_state = ParserState(_Lexer(Input(source.text, source.name)))

    def parse_optional_str_literal(self) -> str | None:
        token = self._current_token
        if not isinstance(token, _PlainToken) or token.kind is not MLIRTokenKind.STRING_LIT:
            return super().parse_optional_str_literal()
        self._consume_token()
        return token.text[1:-1]

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
            if isinstance(module.location, UnknownLoc):
                module.location = self._location(0)
            return module
        except ParseError as error:
            if error.msg == _NO_OPERATION and allow_implicit_module and self._at_end():
                return ModuleOp([])
            raise self._improved(error) from error
        except RecursionError:
            self.raise_error("nested too deeply to be parsed")
        except VerifyException as error:
            self._raise_malformed(error, str(error))
        except (NotImplementedError, ValueError) as error:
            message = str(error) or "not supported by the parser"
            if message.startswith(_MANY_DIGITS):
                message = f"an integer of more than {_MOST_DIGITS} digits"
            self._raise_malformed(error, message)
        except AssertionError as error:
            raise ParseError(self._current_token.span, "unexpected token") from error
        except Exception as error:
            # xDSL's parser does not check everything: a malformed text may also cause a KeyError.
            self._raise_malformed(error, f"malformed text ({exception_text(error)})")

    def _raise_malformed(self, cause: Exception, message: str) -> NoReturn:
        """Raise at the operation that is being parsed, or at the next token outside of
        operations."""
        start = self._op_name_offsets[-1] if self._op_name_offsets else self.pos
        raise ParseError(Span(start, start, self.lexer.input), message) from cause

    def _improved(self, error: ParseError) -> ParseError:
        """The error at its cause: undefined names at their first use, and something missing at the
        end of a line there, not at the beginning of the next one."""
        if error.msg.startswith(_UNDEFINED_VALUES):
            name = next(iter(self.forward_ssa_references))
            return ParseError(self._first_uses[name], f"use of undeclared SSA value %{name}")
        if isinstance(error, MultipleSpansParseError):
            if error.ref_text == _UNDEFINED_BLOCKS:
                span = error.refs[0][0]
                return ParseError(span, f"reference to undefined block {span.text}")
            return error
        start = error.span.start
        wrong_token = error.msg in (_NO_OPERATION, _NO_BLOCK) and not self._at_end()
        if start == self.pos and not wrong_token:
            start = self._end_of_code_before(start)
        message = _REPHRASED.get(error.msg, error.msg)
        return ParseError(Span(start, start, self.lexer.input), message)

    def _at_end(self) -> bool:
        return self.pos >= len(self.source.text)

    def _end_of_code_before(self, start: int) -> int:
        """The end of the last line of code before `start`, if `start` is the first in its line."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        if text[line_start:start].strip():
            return start
        end = line_start - 1
        while end > 0:
            line_start = text.rfind("\n", 0, end) + 1
            if code := text[line_start:end].split("//")[0].rstrip():
                return line_start + len(code)
            end = line_start - 1
        return start

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> MLIRToken:
        # As xDSL's, without its properties: it is called for each token.
        state = self._parser_state
        token = state.current_token
        assert expected_kind is None or token.kind is expected_kind
        state.current_token = state.lexer.lex()
        return token

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

    def _location(self, offset: int) -> FileLineColLoc:
        line, column = map(unchecked.number, self.source.position(offset))
        return unchecked.made(FileLineColLoc, filename=self._filename, line=line, column=column)

    def parse_operation(self) -> Operation:
        depth = len(self._op_name_offsets)
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            op.location = self._location(self._op_name_offsets[depth])
        del self._op_name_offsets[depth:]
        return op

    def parse_type(self) -> TypeAttribute:
        type = self.parse_optional_type()
        return super().parse_type() if type is None else type

    def parse_optional_type(self) -> TypeAttribute | None:
        text, start = self.source.text, self.pos
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
        if (found := _EXTENTS.match(self.source.text, self.pos)) is None:
            return super().parse_dimension_list()
        self._resume_from(found.end())
        return self._extents(found[0])

    def _extents(self, text: str) -> list[int]:
        if not text:
            return []
        found = [DYNAMIC_INDEX if e == "?" else int(e) for e in text.split("x")]
        return self._checked_extents(found)

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        state = self._parser_state
        name = state.current_token
        if name.kind is MLIRTokenKind.PERCENT_IDENT:
            # One result, or else the list is parsed again.
            state.current_token = state.lexer.lex()
            if self.parse_optional_punctuation("=") is not None:
                self._op_name_offsets.append(self.pos)
                return [(name.span, 1)]
            self._resume_from(name.span.start)
        results = super()._parse_op_result_list()
        self._op_name_offsets.append(self.pos)
        return results

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        if name[-1].isdecimal() and "_" in name:
            for value in values:
                value.name_hint = lasting_hint(name)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        name = operand.operand_name
        if (values := self.ssa_values.get(name)) is not None:
            if operand.index == 0 and values[0].type is type:
                found: Any = values[0]
                return found
        elif name not in self.forward_ssa_references:
            self._first_uses[name] = operand.span
        return super().resolve_operand(operand, type)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        if (op_type := self.ctx.get_optional_op(name, dialect_stack=stack)) is not None:
            is_generic = self.source.text.startswith('"', self._op_name_offsets[-1])
            return op_type if is_generic else QUICKER.get(op_type, op_type)
        dialect = name.split(".", maxsplit=1)[0]
        message = f"operation '{name}' is not registered"
        if "." in name and dialect not in self.ctx.registered_dialect_names:
            message = f"dialect '{dialect}' of operation '{name}' is not registered"
            known = list(self.ctx.registered_dialect_names)
            nearest = difflib.get_close_matches(dialect, known)
        else:
            known = [op.name for op in self.ctx.loaded_ops]
            nearest = difflib.get_close_matches(name, known, cutoff=0.8)
        if nearest:
            message += f"; did you mean {' or '.join(nearest)}?"
        self.raise_error(message, self._op_name_offsets[-1])


def decode_source(name: str, content: bytes) -> SourceFile:
    """The text of a file. Raises `CompilationError` if it is not UTF-8."""
    try:
        return SourceFile(name, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        message = f"not UTF-8 text: byte 0x{content[error.start]:02x}"
        if content.startswith(_BYTECODE_MAGIC):
            message = "MLIR bytecode; convert it to text with mlir-opt"
        raise CompilationError(Diagnostic(message, file=name, line=line, column=column)) from None


def read_source(path: str) -> SourceFile:
    """The text of a file, or of stdin for `-`. Raises `CompilationError` if it cannot be read."""
    try:
        if path != "-":
            return decode_source(path, Path(path).read_bytes())
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise CompilationError(Diagnostic("cannot read stdin, which is closed: name a file"))
        return decode_source("<stdin>", sys.stdin.buffer.read())
    except OSError as error:
        what = "read stdin" if path == "-" else f"open input file '{path}'"
        message = f"cannot {what}: {error.strerror or error}"
        raise CompilationError(Diagnostic(message)) from error


def parse_module(ctx: Context, source: SourceFile, implicit_module: bool = True) -> ModuleOp:
    """
    Parse a module, without verifying it. Raises `CompilationError` with one diagnostic if the text
    is malformed. Without `implicit_module` the text must be one `builtin.module`, and is not
    wrapped into one.
    """
    try:
        return LocatedParser(ctx, source).parse_module(implicit_module)
    except ParseError as error:
        raise CompilationError(parse_error_diagnostic(error, source)) from error
