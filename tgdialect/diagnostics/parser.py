"""xDSL's parser, which also records the position of each operation and locates every failure."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.ir import (
    AttributeInvT,
    Operation,
    SSAValue,
)
from xdsl.parser import UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

from tgdialect.diagnostics.bounded_parser import BoundedParser
from tgdialect.diagnostics.diagnostic import (
    CompilationError,
    Diagnostic,
    SourceFile,
    exception_text,
    parse_error_diagnostic,
)
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.func_ops import QUICKER
from tgdialect.fast_xdsl.parser import FastLexer

# -- names that last: xDSL takes `_1` off a name each time that it is copied -----------------------

_NAME = re.compile(r"[A-Za-z_$.-][\w$.-]*", re.ASCII)
_SUFFIXES = re.compile(r"(?:_[0-9]+)+\Z")


def lasting_hint(name: str | None) -> str | None:
    """A name as it is after any number of copies: `sum_1_2` is `sum`. None for one of which nothing
    is left, as `_1`, which xDSL could not copy, and for what is no name in a text, as `é`."""
    if name is None or _NAME.fullmatch(name) is None:
        return None
    return _SUFFIXES.sub("", name) or None


# -- located errors --------------------------------------------------------------------------------

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


class _Lexer(FastLexer):
    """A lexer of hostile texts.

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

    def _lex_number(self, start_pos: int) -> MLIRToken:
        token = super()._lex_number(start_pos)
        if token.kind is MLIRTokenKind.INTEGER_LIT and token.text[:2] in ("0x", "0X"):
            # Python reads hexadecimal integers of any length, but does not print them.
            digits = (len(token.text) - 2) * math.log10(16)
            if 0 < _MOST_DIGITS < digits:
                raise ParseError(token.span, f"an integer of more than {_MOST_DIGITS} digits")
        return token


Resources = Mapping[str, Mapping[str, str | bool | int]]
"""Resources by their owner and name."""


class LocatedParser(BoundedParser):
    """
    Parses `source` like xDSL's parser, within the bounds of `BoundedParser`, and further

    * gives each operation without a `loc(...)` the position of its name as location;
    * accepts a file without operations as an empty module, as MLIR does;
    * turns every exception that a malformed text causes into a `ParseError` with a position.
    """

    LEXER = _Lexer
    source: SourceFile
    data_folder: str | None
    """The folder of the files whose bytes the text names; None is that of the text's own file."""
    _op_name_offsets: list[int]
    """The offsets of the names of the operations that are being parsed, innermost last."""
    _first_uses: dict[str, Span]
    """The first use of each value that was used before its definition."""
    resources: dict[str, Mapping[str, str | bool | int]]
    """The resources at the end of the text that are of no dialect."""

    def __init__(self, ctx: Context, source: SourceFile) -> None:
        self.source = source
        self.data_folder = source.data_folder
        self._filename = builtin.StringAttr(source.name)
        self._op_name_offsets = []
        self._first_uses = {}
        self.resources = {}
        super().__init__(ctx, source.text, source.name)

    def parse_module(self, allow_implicit_module: bool = True) -> builtin.ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
            if isinstance(module.location, builtin.UnknownLoc):
                module.location = self._location(0)
            return module
        except ParseError as error:
            if error.msg == _NO_OPERATION and allow_implicit_module and self._at_end():
                return builtin.ModuleOp([])
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

    def _location(self, offset: int) -> builtin.FileLineColLoc:
        line, column = map(unchecked.number, self.source.position(offset))
        return unchecked.made(
            builtin.FileLineColLoc, filename=self._filename, line=line, column=column
        )

    def _parse_external_resources(self) -> None:
        self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_owner)

    def _parse_owner(self) -> None:
        owner = self._resource_name()
        fields = self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_field)
        self.resources[owner] = dict(fields)

    def _parse_field(self) -> tuple[str, str | bool | int]:
        name = self._resource_name()
        if (value := self.parse_optional_boolean()) is None:
            value = self.parse_optional_integer(allow_boolean=False)
        return name, self.parse_str_literal() if value is None else value

    def _resource_name(self) -> str:
        name = self.parse_optional_str_literal() or self.parse_identifier()
        self.parse_punctuation(":")
        return name

    def parse_operation(self) -> Operation:
        depth = len(self._op_name_offsets)
        op = super().parse_operation()
        if isinstance(op.location, builtin.UnknownLoc):
            op.location = self._location(self._op_name_offsets[depth])
        del self._op_name_offsets[depth:]
        return op

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
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
        if name not in self.ssa_values and name not in self.forward_ssa_references:
            self._first_uses[name] = operand.span
        return super().resolve_operand(operand, type)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        if (op_type := self.ctx.get_optional_op(name, dialect_stack=stack)) is not None:
            is_generic = self.source.text.startswith('"', self._op_name_offsets[-1])
            return op_type if is_generic else QUICKER.get(op_type, op_type)
        dialect = name.split(".", maxsplit=1)[0]
        from difflib import get_close_matches

        message = f"operation '{name}' is not registered"
        if "." in name and dialect not in self.ctx.registered_dialect_names:
            message = f"dialect '{dialect}' of operation '{name}' is not registered"
            known = list(self.ctx.registered_dialect_names)
            nearest = get_close_matches(dialect, known)
        else:
            known = [op.name for op in self.ctx.loaded_ops]
            nearest = get_close_matches(name, known, cutoff=0.8)
        if nearest:
            message += f"; did you mean {' or '.join(nearest)}?"
        self.raise_error(message, self._op_name_offsets[-1])


class _ResourceParser(LocatedParser):
    """Parses resources without the dialects that some are of."""

    def _parse_single_dialect_resources(self) -> None:
        self._resource_name()
        self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_field)


def external_resources_start(text: str) -> int | None:
    """Where the last dictionary of resources begins in a text of MLIR; None if there is none."""
    found = text.rfind("\n{-#")
    return 0 if found < 0 and text.startswith("{-#") else found + 1 or None


def external_resources(source: SourceFile) -> Resources:
    """The resources at the end of a text that are of no dialect, as `mlir_reproducer`. Raises
    `CompilationError` if they are malformed."""
    if (start := external_resources_start(source.text)) is None:
        return {}
    line, _ = source.position(start)
    parser = _ResourceParser(Context(), SourceFile(source.name, source.text[start:], line))
    try:
        parser.parse_module()
    except ParseError as error:
        raise CompilationError(parse_error_diagnostic(error, parser.source)) from error
    return parser.resources


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


def parse_module(
    ctx: Context, source: SourceFile, implicit_module: bool = True
) -> builtin.ModuleOp:
    """
    Parse a module, without verifying it. Raises `CompilationError` with one diagnostic if the text
    is malformed. Without `implicit_module` the text must be one `builtin.module`, and is not
    wrapped into one.
    """
    try:
        return LocatedParser(ctx, source).parse_module(implicit_module)
    except ParseError as error:
        raise CompilationError(parse_error_diagnostic(error, source)) from error
