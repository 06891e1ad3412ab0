"""
MLIR's `--verify-diagnostics`: comments declare the diagnostics that a file must produce.

```
// expected-error {{text that the message contains}}       on this line
// expected-warning@+2 {{...}}                             two lines below; also @-1
// expected-note@below {{...}}                             the next line without such a comment
// expected-remark@above {{...}}                           the last line without such a comment
// expected-error@unknown {{...}}                          a diagnostic without a position
// expected-error-re {{shape {{[0-9]+}} is wrong}}         regular expressions in braces
```
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tgdialect.diagnostics import Diagnostic, Severity, SourceFile

_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)
_ATTEMPT = re.compile(r"//.*expected-(error|note|remark|warning)\b")
_EMBEDDED_REGEX = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class _Expectation:
    """An expected diagnostic: on `line`, or without a position if that is None."""

    severity: Severity
    line: int | None
    text: str
    pattern: re.Pattern[str]
    comment: Diagnostic
    produced: bool = field(default=False)

    def matches(self, diagnostic: Diagnostic, file: str) -> bool:
        line = diagnostic.line if diagnostic.file == file else None
        return (
            diagnostic.severity is self.severity
            and line == self.line
            and self.pattern.search(diagnostic.message) is not None
        )


def _text_pattern(text: str, is_regex: bool) -> str:
    if not is_regex:
        return re.escape(text)
    # `split` with one group gives plain text and expressions in turn.
    pieces = _EMBEDDED_REGEX.split(text)
    return "".join(f"(?:{p})" if i % 2 else re.escape(p) for i, p in enumerate(pieces))


def _parse_expectations(source: SourceFile) -> tuple[list[_Expectation], list[Diagnostic]]:
    """The expectations in the comments of a file, and errors for malformed comments."""
    expectations: list[_Expectation] = []
    errors: list[Diagnostic] = []
    waiting: list[_Expectation] = []
    last_plain_line = source.first_line
    for number, text in enumerate(source.text.split("\n"), source.first_line):
        text = text.rstrip("\r")
        match = _EXPECTATION.search(text)
        if match is None:
            last_plain_line = number
            for expectation in waiting:
                expectation.line = number
            waiting.clear()
            if (attempt := _ATTEMPT.search(text)) is not None:
                message = "malformed expectation: write expected-error {{text}}"
                column = attempt.start() + 1
                errors.append(
                    Diagnostic(message, Severity.ERROR, source.name, number, column, text)
                )
            continue
        comment = Diagnostic("", Severity.ERROR, source.name, number, match.start() + 1, text)
        try:
            pattern = re.compile(_text_pattern(match["text"], bool(match["regex"])))
        except re.error as error:
            errors.append(replace(comment, message=f"invalid regular expression: {error}"))
            continue
        line: int | None = number
        match match["place"]:
            case None | "below":
                pass
            case "above":
                line = last_plain_line
            case "unknown":
                line = None
            case offset:
                line = number + int(offset)
        severity = Severity(match["severity"])
        expectation = _Expectation(severity, line, match["text"], pattern, comment)
        expectations.append(expectation)
        if match["place"] == "below":
            waiting.append(expectation)
    return expectations, errors


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for diagnostic in diagnostics:
        yield replace(diagnostic, notes=())
        yield from diagnostic.notes


def check_diagnostics(source: SourceFile, produced: Sequence[Diagnostic]) -> list[Diagnostic]:
    """
    The errors to report: one for each diagnostic that no comment expects, and one for each
    expectation without a diagnostic. An empty list means that the check has passed.
    """
    expectations, errors = _parse_expectations(source)
    for diagnostic in _with_notes(produced):
        met = [each for each in expectations if each.matches(diagnostic, source.name)]
        if not met:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            errors.append(replace(diagnostic, message=message, severity=Severity.ERROR))
            continue
        # If several expectations match, prefer one that has not been met yet.
        next((each for each in met if not each.produced), met[0]).produced = True
    errors += (
        replace(each.comment, message=f'expected {each.severity} "{each.text}" was not produced')
        for each in expectations
        if not each.produced
    )
    return sorted(errors, key=lambda error: (error.line or 0, error.column or 0))
