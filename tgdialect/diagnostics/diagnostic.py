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

from xdsl.utils.colors import RESET, Colors

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
    so that positions in a chunk are reported as positions in the file.
    """

    name: str
    text: str
    first_line: int = 1

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
    are unknown; lines and columns count from 1.
    """

    message: str
    severity: Severity = Severity.ERROR
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
    notes: tuple["Diagnostic", ...] = ()

    def render(self, colored: bool = False) -> str:
        """
        The message as Clang and MLIR write it, then its notes, without a final newline:

        ```
        file.mlir:3:8: error: message
          %0 = arith.addi %a, %b : i33
               ^
        ```
        """
        file = None if self.file is None else printable(self.file)
        place = ":".join(str(p) for p in (file, self.line, self.column) if p is not None)
        if self.line is None:
            place = file or ""
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
    """The type and the message of an unforeseen exception, for an error message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def attach_source(diagnostic: Diagnostic, source: SourceFile) -> Diagnostic:
    """The diagnostic and its notes, with the text of those lines that are in `source`."""
    notes = tuple(attach_source(note, source) for note in diagnostic.notes)
    line = diagnostic.source_line
    if line is None and diagnostic.file == source.name and diagnostic.line is not None:
        line = source.line(diagnostic.line)
    return replace(diagnostic, source_line=line, notes=notes)


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
