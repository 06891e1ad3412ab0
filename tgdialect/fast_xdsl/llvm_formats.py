"""xDSL's `llvm` dialect, whose assembly formats are compiled when they are first used.

xDSL compiles all 40 when it defines the ops. A compilation neither parses nor prints any of them.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property

from xdsl.irdl import IRDLOperation, OpDef
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer


class _Later:
    """Takes the place of the program of a format, which it compiles."""

    def __init__(self, text: str, definition: OpDef) -> None:
        self._text = text
        self._definition = definition

    @cached_property
    def _program(self) -> FormatProgram:
        return FormatProgram.from_str(self._text, self._definition)

    def parse(self, parser: Parser, op_type: type[IRDLOperation]) -> IRDLOperation:
        return self._program.parse(parser, op_type)

    def print(self, printer: Printer, op: IRDLOperation) -> None:
        self._program.print(printer, op)


@contextmanager
def _formats_later() -> Generator[None]:
    at_once = FormatProgram.__dict__["from_str"]
    FormatProgram.from_str = staticmethod(_Later)
    try:
        yield
    finally:
        FormatProgram.from_str = at_once


with _formats_later():
    import xdsl.dialects.llvm  # noqa: F401
