"""Remarks as LLVM has them: a kind, a category, a name, and arguments: numbers and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

RemarkArgument = str | int | float

_WORD = re.compile(r"[\w.@:+-]+", re.ASCII)
_PRINTABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*")


class RemarkKind(StrEnum):
    """The outcome that a remark tells of, in LLVM's words."""

    PASSED = "Passed"
    MISSED = "Missed"
    ANALYSIS = "Analysis"
    FAILED = "Failure"


@dataclass(frozen=True)
class Remark:
    """A decision and its reason. `category` is the pass that decided, `function` the symbol that it
    is about, both empty if they are unknown; `arguments` are in the order of the reason."""

    kind: RemarkKind
    name: str
    message: str
    category: str = ""
    function: str = ""
    arguments: Mapping[str, RemarkArgument] = field(default_factory=dict[str, RemarkArgument])

    def __str__(self) -> str:
        """One line, as mlir-opt prints it."""
        shown = {"Remark": self.message, **self.arguments}
        return " | ".join(
            (
                f"[{self.kind}] {self.name}",
                *([f"Category:{self.category}"] if self.category else []),
                *([f"Function={self.function}"] if self.function else []),
                ", ".join(f"{key}={_quoted(shown[key])}" for key in shown),
            )
        )

    def yaml(self, file: str | None, line: int | None, column: int | None) -> str:
        """A document as LLVM writes it for `opt-viewer` and `llvm-remarkutil`. Lines and columns
        count from 1; those of an unknown place are 0."""
        place = f"{{ File: {_scalar(file or '<unknown file>')}, "
        lines = [
            f"--- !{self.kind}",
            f"Pass:            {_scalar(self.category)}",
            f"Name:            {_scalar(self.name)}",
            f"DebugLoc:        {place}Line: {line or 0}, Column: {column or 0} }}",
            f"Function:        {_scalar(self.function)}",
            "Args:",
            f"  - {'Remark:':<16} {_scalar(self.message)}",
            *(f"  - {f'{key}:':<16} {_scalar(_shown(v))}" for key, v in self.arguments.items()),
            "...",
        ]
        return "\n".join(lines) + "\n"


def _shown(argument: RemarkArgument) -> str:
    """An argument in few digits."""
    return f"{argument:.4g}" if isinstance(argument, float) else str(argument)


def _quoted(argument: RemarkArgument) -> str:
    shown = _shown(argument)
    return shown if _WORD.fullmatch(shown) else f'"{shown}"'


def _scalar(shown: str) -> str:
    """A text in YAML: between single quotes, unless it has control characters."""
    if _PRINTABLE.fullmatch(shown):
        doubled = shown.replace("'", "''")
        return f"'{doubled}'"
    return json.dumps(shown)


# -- filters ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RemarkFilter:
    """The categories of remarks that somebody asks for: a regular expression for each kind, which
    has to match all of a category."""

    patterns: Mapping[RemarkKind, re.Pattern[str]]

    def wants(self, remark: Remark) -> bool:
        """Whether the remark is asked for."""
        wanted = self.patterns.get(remark.kind)
        return wanted is not None and wanted.fullmatch(remark.category) is not None


_category: ContextVar[str] = ContextVar("category", default="")


@contextmanager
def remarks_of(category: str) -> Generator[None]:
    """Within the context, remarks are those of a pass."""
    token = _category.set(category)
    try:
        yield
    finally:
        _category.reset(token)


def remark_category() -> str:
    """The pass that remarks are of."""
    return _category.get()
