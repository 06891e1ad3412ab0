"""From operations and exceptions to diagnostics."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from traceback import walk_tb
from typing import TypeVar, cast

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span

from tgdialect.diagnostics.diagnostic import (
    CompilationError,
    Diagnostic,
    Severity,
    SourceFile,
    emit,
    exception_text,
    one_line,
    remarks_are_wanted,
)

_Error = TypeVar("_Error", bound=Exception)

_OPERATION_ARGUMENT = {
    "emit_error": "self",
    "match_and_rewrite": "op",
    "verify_": "self",
}
"""xDSL methods with the name of their argument that is the operation being processed. An exception
that passes through one is reported at that operation."""


def file_location(location: Attribute) -> FileLineColLoc | None:
    """The first position in a location: of a call site its callee, of a fused location its
    first."""
    pending = [location]
    while pending:
        match pending.pop():
            case FileLineColLoc() as found:
                return found
            case NameLoc(location=child):
                pending.append(child)
            case CallSiteLoc(callee=callee, caller=caller):
                pending += (caller, callee)
            case FusedLoc(locations=children):
                pending += reversed(tuple(cast("list[Attribute]", children)))
            case _:
                pass
    return None


def operation_location(op: Operation) -> FileLineColLoc | None:
    """The position of an operation, or of the innermost enclosing one that has a position."""
    enclosing: Operation | None = op
    while enclosing is not None:
        if (location := file_location(enclosing.location)) is not None:
            return location
        enclosing = enclosing.parent_op()
    return None


def _at(
    location: FileLineColLoc | None, message: str, severity: Severity, file: str | None = None
) -> Diagnostic:
    if location is None:
        return Diagnostic(message, severity, file)
    line, column = location.line.data, location.column.data
    return Diagnostic(message, severity, location.filename.data, line, column)


def operation_diagnostic(
    op: Operation, message: str, severity: Severity = Severity.ERROR
) -> Diagnostic:
    """A diagnostic at the operation."""
    return _at(operation_location(op), one_line(message), severity)


def emit_warning(op: Operation, message: str) -> None:
    """Warn about the operation and go on."""
    emit(operation_diagnostic(op, message, Severity.WARNING))


def emit_remark(op: Operation, message: str) -> None:
    """Remark on the operation (an optimization done or missed), if remarks are shown."""
    if remarks_are_wanted():
        emit(operation_diagnostic(op, message, Severity.REMARK))


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


def _exception_location(error: BaseException) -> FileLineColLoc | None:
    """
    The operation to report an exception at: the one given to `locate`, or else the one that xDSL
    was verifying or rewriting, which is found in the traceback.
    """
    location = getattr(error, "location", None)
    if isinstance(location, FileLineColLoc):
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
