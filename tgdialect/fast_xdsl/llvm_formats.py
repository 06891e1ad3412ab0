"""xDSL's `llvm` dialect, whose assembly formats are compiled when they are first used.

xDSL compiles all 40 when it defines the ops. A compilation neither parses nor prints any of them.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module

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
    at_once = FormatProgram.from_str
    # By name, since for type checkers it has not the declared signature.
    setattr(FormatProgram, "from_str", _Later)  # noqa: B010
    try:
        yield
    finally:
        FormatProgram.from_str = staticmethod(at_once)


with _formats_later():
    import_module("xdsl.dialects.llvm")
