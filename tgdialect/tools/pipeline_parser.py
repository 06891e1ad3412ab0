"""
The text of a pipeline.

```
pipeline ::= (`builtin.module` | `any`) `(` passes `)`      MLIR's spelling
           | passes                                         xDSL's spelling
passes   ::= (pass (`,` pass)*)?
pass     ::= name (`{` option* `}`)?
           | (operation | `any`) `(` passes `)`             on each such operation by itself
           | `mlir-opt` (`-` version)? `[` any text `]`     xDSL's: a pipeline for mlir-opt
option   ::= name (`=` value (`,` value)*)?                 also `=[...]` or `={...}`: a list
value    ::= number | `true` | `false` | text | string in double quotes
```

White space separates options and is optional elsewhere; `-` and `_` are the same in option names.
xDSL's own parser is not used because it knows neither anchors nor optional white space, and its
errors have no position.
"""

import re
from dataclasses import dataclass
from typing import NoReturn

from tgdialect.diagnostics import Diagnostic, SourceFile
from tgdialect.tools.console import UsageError

ANCHORS = ("builtin.module", "any")
"""The operations that a pipeline may be anchored on: passes run on the top-level module."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_VALUE = re.compile(r"[^\s,{}()\[\]\"=]+")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
MOST_NESTED = 64
"""The most pipelines within one another: more than operations of any module are, and fewer than
Python's stack holds."""
_MLIR_OPT = re.compile(r"mlir-opt(-[0-9.]+)?")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Option:
    """One option as it was written, at `offset` in the text of the pipeline."""

    name: str
    values: tuple[str, ...]
    quoted: tuple[bool, ...]
    offset: int


@dataclass(frozen=True)
class PassSpec:
    """A pass (or target) name with its options, as it was written in `text`.

    With `nested` the name is that of an operation, and these passes run on each such operation.
    """

    name: str
    options: tuple[Option, ...]
    offset: int
    text: str
    nested: tuple["PassSpec", ...] | None = None


def spec_error(text: str, offset: int, message: str) -> UsageError:
    """An error in the text of a pipeline or target, shown with a caret."""
    source = SourceFile("", text)
    line, column = source.position(offset)
    return UsageError(Diagnostic(message, column=column, source_line=source.line(line)))


class _PipelineParser:
    """Recursive descent over the text of a pipeline; `offset` is how far it has read, and `depth`
    how many pipelines it is in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = self.depth = 0

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        raise spec_error(self.text, self.offset if offset is None else offset, message)

    def skip_space(self) -> bool:
        """Skip white space; returns whether there was any."""
        start = self.offset
        if (match := _SPACE.match(self.text, start)) is not None:
            self.offset = match.end()
        return self.offset > start

    def accept(self, character: str) -> bool:
        self.skip_space()
        found = self.text.startswith(character, self.offset)
        self.offset += found
        return found

    def expect(self, character: str, context: str) -> None:
        if not self.accept(character):
            found = self.text[self.offset : self.offset + 1]
            what = f"found '{found}'" if found else "the text ends"
            self.fail(f"expected '{character}' {context}, {what}")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip_space()
        if (match := pattern.match(self.text, self.offset)) is None:
            return None
        self.offset = match.end()
        return match.group()

    def expect_end(self) -> None:
        self.skip_space()
        if self.offset < len(self.text):
            self.fail(f"unexpected '{self.text[self.offset]}' after the end")

    def parse_pipeline(self, anchor_required: bool) -> list[PassSpec]:
        start = self.offset
        name = self.match(_NAME)
        if name is not None and self.accept("("):
            if name not in ANCHORS:
                text = self.text.strip()
                self.fail(f"a pipeline runs on a module: write 'builtin.module({text})'", start)
            specs = self.parse_passes()
            self.expect(")", "at the end of the pipeline")
        else:
            if anchor_required:
                text = self.text.strip()
                self.fail(f"expected 'builtin.module(...)': write 'builtin.module({text})'", start)
            self.offset = start
            specs = self.parse_passes()
        self.expect_end()
        return specs

    def parse_passes(self) -> list[PassSpec]:
        """Passes separated by commas; empty entries are skipped."""
        specs: list[PassSpec] = []
        while True:
            self.skip_space()
            if self.text[self.offset : self.offset + 1] not in (",", ")", ""):
                specs.append(self.parse_spec())
            if not self.accept(","):
                return specs

    def parse_spec(self) -> PassSpec:
        self.skip_space()
        start = self.offset
        if (name := self.match(_NAME)) is None:
            self.fail(f"expected a name, found '{self.text[start : start + 1]}'")
        if (tool := _MLIR_OPT.fullmatch(name)) is not None and self.accept("["):
            return PassSpec("mlir-opt", self.parse_mlir_opt_pipeline(tool[1]), start, self.text)
        if self.accept("("):
            if self.depth == MOST_NESTED:
                self.fail(f"pipelines are nested {MOST_NESTED} deep at most", start)
            self.depth += 1
            nested = tuple(self.parse_passes())
            self.expect(")", f"at the end of the pipeline on '{name}'")
            self.depth -= 1
            return PassSpec(name, (), start, self.text, nested)
        options = self.parse_options(name) if self.accept("{") else ()
        return PassSpec(name, options, start, self.text)

    def parse_mlir_opt_pipeline(self, version: str | None) -> tuple[Option, ...]:
        start, depth = self.offset, 1
        while depth:
            character = self.text[self.offset : self.offset + 1]
            if not character:
                self.fail("expected ']' at the end of the pipeline for mlir-opt, the text ends")
            depth += (character == "[") - (character == "]")
            self.offset += 1
        pipeline = f"builtin.module({self.text[start : self.offset - 1]})"
        flags = ("--mlir-print-op-generic", "--allow-unregistered-dialect", "-p", pipeline)
        arguments = Option("arguments", flags, (True,) * len(flags), start)
        if version is None:
            return (arguments,)
        return Option("executable", (f"mlir-opt{version}",), (True,), start), arguments

    def parse_options(self, owner: str) -> tuple[Option, ...]:
        options: dict[str, Option] = {}
        while not self.accept("}"):
            start = self.offset
            if (name := self.match(_NAME)) is None:
                found = self.text[self.offset : self.offset + 1]
                what = f"found '{found}'" if found else "the text ends"
                self.fail(f"expected an option of '{owner}' or '}}', {what}")
            name = name.replace("-", "_")
            if name in options:
                self.fail(f"option '{name}' of '{owner}' is given twice", start)
            texts, quoted = self.parse_values() if self.accept("=") else ((), ())
            options[name] = Option(name, texts, quoted, start)
        return tuple(options.values())

    def parse_values(self) -> tuple[tuple[str, ...], tuple[bool, ...]]:
        closing = next((end for begin, end in ("[]", "{}") if self.accept(begin)), None)
        values = [self.parse_value()]
        while self.accept(","):
            values.append(self.parse_value())
        if closing is not None:
            self.expect(closing, "at the end of the list")
        return tuple(text for text, _ in values), tuple(quoted for _, quoted in values)

    def parse_value(self) -> tuple[str, bool]:
        if (string := self.match(_STRING)) is not None:
            return re.sub(r"\\(.)", r"\1", string[1:-1]), True
        if (text := self.match(_VALUE)) is None:
            self.fail("expected a value")
        return text, False


def parse_pipeline(text: str, anchor_required: bool = False) -> list[PassSpec]:
    """
    Parse a pipeline, without looking up its passes. `anchor_required` is set for MLIR's
    `--pass-pipeline`. Raises `UsageError`.
    """
    return _PipelineParser(text).parse_pipeline(anchor_required)


def parse_spec(text: str) -> PassSpec:
    """Parse one name with options, as `-t` takes it. Raises `UsageError`."""
    parser = _PipelineParser(text)
    spec = parser.parse_spec()
    parser.expect_end()
    return spec
