"""The base classes of input formats: `Frontend`, of bytes, and `TextFrontend`, of text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpecConvertible

from tgdialect.diagnostics import SourceFile, decode_source

try:
    if TYPE_CHECKING:
        raise ModuleNotFoundError
    from xdsl.utils.frontend import Frontend
except ModuleNotFoundError:

    @dataclass(frozen=True)
    class Frontend(ArgSpecConvertible, ABC):
        """Reads files of a format. xDSL has this class from version 0.75 on."""

        name: ClassVar[str]

        @abstractmethod
        def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
            """The module of a file, which need not be verified. Raises `CompilationError`, with
            one diagnostic for each thing that is wrong."""


@dataclass(frozen=True)
class TextFrontend(Frontend):
    """Reads text in UTF-8, which may be a chunk of a file, and which errors show."""

    @abstractmethod
    def parse_text(self, ctx: Context, source: SourceFile) -> ModuleOp:
        """As `parse`, of text."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        return self.parse_text(ctx, decode_source(input_name, input.read()))
