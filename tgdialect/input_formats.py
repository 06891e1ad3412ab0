"""The base class of input formats that are text. That of others is xDSL's `Frontend`: its `parse`
returns a module, which need not be verified, or raises `CompilationError`, with one diagnostic for
each thing that is wrong."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from tgdialect.diagnostics import SourceFile, decode_source


@dataclass(frozen=True)
class TextFrontend(Frontend):
    """Reads text in UTF-8, which may be a chunk of a file, and which errors show."""

    @abstractmethod
    def parse_text(self, ctx: Context, source: SourceFile) -> ModuleOp:
        """As `parse`, of text."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        return self.parse_text(ctx, decode_source(input_name, input.read()))
