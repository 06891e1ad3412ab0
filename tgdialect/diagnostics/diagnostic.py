"""Diagnostics as values: message, severity, position, and how they are shown."""

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from traceback import walk_tb
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Operation
from xdsl.utils.colors import RESET, Colors
from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span

from tgdialect.diagnostics.locations import file_location, names_text, operation_location
from tgdialect.diagnostics.remarks import Remark, RemarkArgument, RemarkKind, remark_category

CONTEXT_WIDTH = 160
"""A source line longer than this is shown only around the caret (dense literals are long)."""


class Severity(StrEnum):
    """The severity of a diagnostic. Only errors make a run fail."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


_SEVERITY_COLORS = {
    Severity.ERROR: Colors.BRIGHT_RED,
    Severity.WARNING: Colors.BRIGHT_MAGENTA,
    Severity.REMARK: Colors.BRIGHT_BLUE,
    Severity.NOTE: Colors.BRIGHT_BLACK,
}


@dataclass(frozen=True)
class SourceFile:
    """
    A named text, or a chunk of one: `first_line` is the line of the file on which the chunk begins,
    so that positions in a chunk are reported as positions in the file. `data_folder` has the files
    whose bytes the text names; None is the folder of the text's own file.
    """

    name: str
    text: str
    first_line: int = 1
    data_folder: str | None = None

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(newline.end() for newline in re.finditer("\n", self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column, both from 1, of a character offset."""
        line = bisect_right(self._line_starts, offset) - 1
        return line + self.first_line, offset - self._line_starts[line] + 1

    def line(self, number: int) -> str | None:
        """The text of a line of the file, without its end; None if this chunk has no such line."""
        index = number - self.first_line
        starts = self._line_starts
        if not 0 <= index < len(starts):
            return None
        end = starts[index + 1] if index + 1 < len(starts) else len(self.text)
        return self.text[starts[index] : end].rstrip("\r\n")


@dataclass(frozen=True)
class Diagnostic:
    """
    A message at a position in a file. `file`, `line`, `column` and `source_line` are None if they
    are unknown; lines and columns count from 1. `node` has the names in the location, in quotes, if
    the program was imported: `"/encoder/Conv_3"`. `remark` has what a remark says in parts.
    """

    message: str
    severity: Severity = Severity.ERROR
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
    notes: tuple["Diagnostic", ...] = ()
    node: str | None = None
    remark: Remark | None = None

    @property
    def place(self) -> str:
        """The position and the node, as `file.mlir:3:8` or `file.onnx: "/encoder/Conv_3"`; empty if
        neither is known."""
        file = None if self.file is None else printable(self.file)
        place = ":".join(str(p) for p in (file, self.line, self.column) if p is not None)
        if self.line is None:
            place = file or ""
        if self.node is None:
            return place
        return f"{place}: {printable(self.node)}" if place else printable(self.node)

    def render(self, colored: bool = False) -> str:
        """
        The message as Clang and MLIR write it, then its notes, without a final newline:

        ```
        file.mlir:3:8: error: message
          %0 = arith.addi %a, %b : i33
               ^
        ```

        An error of an imported program names the node: `file.onnx: "/encoder/Conv_3": error: ...`.
        """
        place = self.place
        severity = f"{self.severity}:"
        if colored:
            severity = f"{_SEVERITY_COLORS[self.severity]}{severity}{RESET}"
        message = f"{severity} {printable(self.message)}"
        lines = [f"{place}: {message}" if place else message]
        if self.source_line is not None and self.column is not None:
            lines += _caret_lines(printable(self.source_line), self.column)
        lines += (note.render(colored) for note in self.notes)
        return "\n".join(lines)


_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def printable(text: str) -> str:
    """The text without control characters: neither a binary file nor a name may send them to a
    terminal, or begin a line of their own."""
    return _CONTROL_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)


def _caret_lines(source_line: str, column: int) -> tuple[str, str]:
    """The source line, cut to a window when it is long, and the line with the caret."""
    before, after = source_line[: column - 1], source_line[column - 1 :]
    if len(source_line) > CONTEXT_WIDTH:
        half = CONTEXT_WIDTH // 2
        if len(before) > half:
            before = "..." + before[-half:]
        if len(after) > half:
            after = after[:half] + "..."
    # Keep tabs, so that the caret is below its character for any tab width.
    indent = "".join("\t" if character == "\t" else " " for character in before)
    return before + after, indent + "^"


def one_line(message: str) -> str:
    """A message of several lines (xDSL's constraint errors) as one line."""
    return re.sub(r"\s*\n\s*", " ", message.strip())


def exception_text(error: BaseException) -> str:
    """The type, the message and the notes of an unforeseen exception, for an error message. A note
    of several lines is the whole module, which xDSL adds, and left out."""
    shown = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    notes = (note for note in getattr(error, "__notes__", ()) if "\n" not in note.strip())
    return "; ".join((shown, *notes))


def attach_source(diagnostic: Diagnostic, source: SourceFile) -> Diagnostic:
    """The diagnostic and its notes, with the text of those lines that are in `source`. One that
    knows its node alone gets the file's name."""
    notes = tuple(attach_source(note, source) for note in diagnostic.notes)
    line, file = diagnostic.source_line, diagnostic.file
    if line is None and file == source.name and diagnostic.line is not None:
        line = source.line(diagnostic.line)
    if file is None and diagnostic.node is not None and source.name[:1] not in ("", "<"):
        file = source.name
    return replace(diagnostic, file=file, source_line=line, notes=notes)


class CompilationError(Exception):
    """A program or request was refused. `str()` gives its diagnostics as tg-opt shows them."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]):
        single = isinstance(diagnostics, Diagnostic)
        self.diagnostics = (diagnostics,) if single else tuple(diagnostics)
        super().__init__(*self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)

    def with_source(self, source: SourceFile) -> "CompilationError":
        """The same error with the lines of `source` to which it refers."""
        shown = CompilationError([attach_source(each, source) for each in self.diagnostics])
        return shown.with_traceback(self.__traceback__)


class InternalError(CompilationError):
    """A failure of the compiler, and not of the program."""


DiagnosticHandler = Callable[[Diagnostic], None]


def _print_to_stderr(diagnostic: Diagnostic) -> None:
    print(diagnostic.render(sys.stderr.isatty()), file=sys.stderr)


_handler: ContextVar[DiagnosticHandler] = ContextVar("handler", default=_print_to_stderr)
_remarks: ContextVar[bool] = ContextVar("remarks", default=False)


def emit(diagnostic: Diagnostic) -> None:
    """Report a warning, remark or note; compilation goes on. Errors are raised instead."""
    _handler.get()(diagnostic)


def remarks_are_wanted() -> bool:
    """Whether remarks are shown. If not, their text need not be computed."""
    return _remarks.get()


@contextmanager
def diagnostic_handler(
    handler: DiagnosticHandler, *, remarks: bool = False
) -> Generator[None, None, None]:
    """Within the context, emitted diagnostics go to `handler` instead of stderr."""
    token, remarks_token = _handler.set(handler), _remarks.set(remarks)
    try:
        yield
    finally:
        _handler.reset(token)
        _remarks.reset(remarks_token)


# -- from operations and exceptions to diagnostics -------------------------------------------------

_Error = TypeVar("_Error", bound=Exception)

_OPERATION_ARGUMENT = {
    "emit_error": "self",
    "match_and_rewrite": "op",
    "verify_": "self",
}
"""xDSL methods with the name of their argument that is the operation being processed. An exception
that passes through one is reported at that operation."""


def _at(
    location: LocationAttr | None, message: str, severity: Severity, file: str | None = None
) -> Diagnostic:
    """A diagnostic at a location, or in a file if the location has no position."""
    if location is None:
        return Diagnostic(message, severity, file)
    node = names_text(location)
    if (at := file_location(location)) is None:
        return Diagnostic(message, severity, file, node=node)
    line, column = at.line.data or None, at.column.data or None
    return Diagnostic(message, severity, at.filename.data, line, column, node=node)


def place_of(location: LocationAttr) -> str:
    """A location as errors show it."""
    return _at(location, "", Severity.REMARK).place


def operation_diagnostic(
    op: Operation, message: str, severity: Severity = Severity.ERROR
) -> Diagnostic:
    """A diagnostic at the operation."""
    return _at(operation_location(op), one_line(message), severity)


def emit_warning(op: Operation, message: str) -> None:
    """Warn about the operation and go on."""
    emit(operation_diagnostic(op, message, Severity.WARNING))


def emit_remark(
    op: Operation,
    message: str,
    name: str = "Decision",
    kind: RemarkKind = RemarkKind.ANALYSIS,
    **arguments: RemarkArgument,
) -> None:
    """Remark on a decision about the operation, if remarks are shown.

    `name` is the kind of decision in one word, and `arguments` are its reasons, in numbers where
    there are some. What is costly to find is found only if `remarks_are_wanted`.
    """
    if remarks_are_wanted():
        found = operation_diagnostic(op, message, Severity.REMARK)
        of = Remark(kind, name, found.message, remark_category(), _symbol_around(op), arguments)
        emit(replace(found, remark=of))


def _symbol_around(op: Operation) -> str:
    """The name of the innermost symbol that an operation is, or is in; empty if there is none."""
    around: Operation | None = op
    while around is not None:
        symbol = around.properties.get("sym_name", around.attributes.get("sym_name"))
        if isinstance(symbol, StringAttr):
            return symbol.data
        around = around.parent_op()
    return ""


def locate(error: _Error, op: Operation) -> _Error:
    """
    The same exception, to be reported at `op`:
    `raise locate(PassFailedException("axis 1 is not divisible by 3"), op)`.
    """
    vars(error)["location"] = operation_location(op)
    return error


def add_note(error: _Error, op: Operation, message: str) -> _Error:
    """
    The same exception, with a note at another operation that it is about:
    `raise add_note(locate(error, store), load, "the cell is read here")`.
    """
    vars(error).setdefault("notes", []).append(operation_diagnostic(op, message, Severity.NOTE))
    return error


@contextmanager
def errors_at(op: Operation) -> Generator[None]:
    """Locate errors that are raised within the context at `op`, unless they are located already."""
    try:
        yield
    except DiagnosticException as error:
        if "location" not in vars(error):
            locate(error, op)
        raise


@contextmanager
def errors_in(source: SourceFile) -> Generator[None]:
    """Raise the errors of a program, however they are raised within, as a `CompilationError` that
    shows the lines of `source`. An error without a location names the file, if there is one."""
    file = None if source.name.startswith("<") else source.name
    try:
        yield
    except (CompilationError, DiagnosticException) as error:
        found = CompilationError(diagnose(error, file))
        raise found.with_source(source) from error


def _exception_location(error: BaseException) -> LocationAttr | None:
    """
    The operation to report an exception at: the one given to `locate`, or else the one that xDSL
    was verifying or rewriting, which is found in the traceback.
    """
    location = getattr(error, "location", None)
    if isinstance(location, LocationAttr):
        return location
    op: object = None
    for frame, _ in walk_tb(error.__traceback__):
        argument = _OPERATION_ARGUMENT.get(frame.f_code.co_name)
        if argument is not None and isinstance(found := frame.f_locals.get(argument), Operation):
            op = found
    return operation_location(op) if isinstance(op, Operation) else None


def diagnose(
    error: BaseException,
    file: str | None = None,
    context: str = "",
    default: Operation | None = None,
) -> tuple[Diagnostic, ...]:
    """
    The diagnostics that report an exception. `context` ("pass canonicalize: ") goes before the
    message; an exception without a position is reported at `default`, or else names `file`.
    """
    match error:
        case CompilationError():
            return error.diagnostics
        case ParseError():
            return (parse_error_diagnostic(error),)
        case DiagnosticException():
            message = str(error).removeprefix("Operation does not verify: ") or "failed"
        case _:
            message = f"internal error: {exception_text(error)}"
    message = context + one_line(message)
    location = _exception_location(error)
    if location is None and default is not None:
        location = operation_location(default)
    found = _at(location, message, Severity.ERROR, file)
    return (replace(found, notes=tuple(getattr(error, "notes", ()))),)


def span_diagnostic(
    span: Span[str] | Span[bytes],
    message: str,
    source: SourceFile | None = None,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    """A diagnostic at the beginning of a span of `source`, or of the span's own input."""
    content = span.input.content
    if source is None or source.text is not content:
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        source = SourceFile(span.input.name, text, 1 + span.line_offset)
    line, column = source.position(min(span.start, len(content)))
    return Diagnostic(one_line(message), severity, source.name, line, column, source.line(line))


def parse_error_diagnostic(error: ParseError, source: SourceFile | None = None) -> Diagnostic:
    """A parse error, with xDSL's further spans as notes."""
    diagnostic = span_diagnostic(error.span, error.msg, source)
    if not isinstance(error, MultipleSpansParseError):
        return diagnostic
    notes = tuple(
        span_diagnostic(span, message or error.ref_text or "here", source, Severity.NOTE)
        for span, message in error.refs
    )
    return replace(diagnostic, notes=notes)
