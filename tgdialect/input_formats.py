"""The base classes of input formats that are text, and of those that another program executes as
well. That of others is xDSL's `Frontend`: its `parse` returns a module, which need not be verified,
or raises `CompilationError`, with one diagnostic for each thing that is wrong."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

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


class Peer(NamedTuple):
    """Another program that executes a file: its name, and a call of it on given inputs."""

    name: str
    run: Callable[[], object]


@dataclass(frozen=True)
class ComparedFrontend(Frontend):
    """Reads files that another program executes as well: `tg-run --benchmark` times that, too."""

    @abstractmethod
    def peer(self, file: str, inputs: Mapping[str, Any], threads: int) -> Peer | None:
        """The other program for a file and arrays by name, on so many threads; None where it is not
        installed. Raises ValueError if it does not take the file or the inputs."""
