"""All that is installed, for our own tools and the compiler: plug-ins, contexts, input formats, and
the passes that make `tg` of other vocabularies."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.frontend import Frontend

from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    SourceFile,
    exception_text,
    parse_module,
    read_source,
    verify_module,
)
from tgdialect.fast_xdsl.context import FastContext
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.input_formats import TextFrontend

if TYPE_CHECKING:
    from xdsl.universe import Universe

    from tgdialect.plugin import Plugin

MLIR = "mlir"
"""The input format of files whose extension is no other one's."""

Frontends = Mapping[str, Callable[[], type[Frontend]]]


# -- what there is ---------------------------------------------------------------------------------


@cache
def universe() -> Plugin:
    """Everything that the installed packages offer, and this one, installed or not.

    Raises CompilationError if a plug-in cannot be imported, or two have something of one name.
    """
    # Imported here: most compilations need no plug-in, nor xDSL's tables.
    from importlib.metadata import entry_points

    from xdsl.universe import Universe

    from tgdialect.plugin import merged
    from tgdialect.universe import BYTES, TG_UNIVERSE

    found: dict[str, Universe] = {"tgdialect": TG_UNIVERSE, "tgdialect's tools": BYTES}
    for point in sorted(entry_points(group="xdsl.universe")):
        try:
            plugin = point.load()
        except Exception as error:
            message = f"cannot import the plug-in {point.name}: {exception_text(error)}"
            raise CompilationError(Diagnostic(message)) from error
        if not isinstance(plugin, Universe):
            message = f"the plug-in {point.name} is no Universe: {point.value}"
            raise CompilationError(Diagnostic(message))
        if plugin is not TG_UNIVERSE:
            found[point.name] = plugin
    try:
        return merged(found)
    except ValueError as error:
        raise CompilationError(Diagnostic(str(error))) from error


def make_context(allow_unregistered: bool = False) -> Context:
    """A context with every dialect registered; each is loaded when it is used."""
    context = FastContext(allow_unregistered)
    for name, factory in universe().all_dialects.items():
        context.register_dialect(name, factory)
    return context


# -- input formats ---------------------------------------------------------------------------------


def formats() -> Sequence[str]:
    """The names of the input formats, which are the extensions of their files."""
    return (MLIR, *(name for name in universe().all_frontends if name != MLIR))


def frontend_of(
    file: str, format: str | None = None, frontends: Frontends | None = None
) -> Frontend | None:
    """The front end of a file, by the format that is named, else by its extension; None for MLIR.

    `frontends` are all front ends, by default those that are installed.
    """
    format = format or os.path.splitext(file)[1].removeprefix(".")
    if format in (MLIR, ""):
        return None
    found = universe().all_frontends if frontends is None else frontends
    return None if (frontend := found.get(format)) is None else frontend()()


def read_program(
    file: str, format: str | None = None, frontends: Frontends | None = None
) -> SourceFile:
    """The text of a file, or of stdin for `-`, for `parse_program`. Only the front end reads one
    that is no text: it is the name alone.

    Raises CompilationError if it cannot be read.
    """
    if isinstance(frontend_of(file, format, frontends), TextFrontend | None):
        return read_source(file)
    return SourceFile(file, "")


def parse_program(
    ctx: Context,
    source: SourceFile,
    format: str | None = None,
    frontends: Frontends | None = None,
    *,
    implicit_module: bool = True,
) -> ModuleOp:
    """The module of a source, which is not verified. Raises CompilationError if it is malformed,
    or has a `data_folder`, and the format is no text.

    Without `implicit_module` MLIR must be one `builtin.module`, and is not wrapped into one.
    """
    frontend = frontend_of(source.name, format, frontends)
    if frontend is None:
        return parse_module(ctx, source, implicit_module)
    if isinstance(frontend, TextFrontend):
        return frontend.parse_text(ctx, source)
    if source.data_folder is not None:
        message = "a folder for data is for formats that are text: this one has files of its own"
        raise CompilationError(Diagnostic(message, file=source.name))
    if source.name == "-":
        return frontend.parse(ctx, sys.stdin.buffer, "<stdin>")
    try:
        with open(source.name, "rb") as file:
            return frontend.parse(ctx, file, source.name)
    except OSError as error:
        message = f"cannot open input file '{source.name}': {error.strerror or error}"
        raise CompilationError(Diagnostic(message)) from error


# -- other vocabularies ----------------------------------------------------------------------------

_OURS = frozenset({"tg", "builtin", "func", "llvm", "gpu"})
"""The dialects that the compiler knows. For others all installed plug-ins are looked through."""


def upgrades_for(module: ModuleOp) -> Mapping[str, str]:
    """The passes that rewrite ops of a module into `tg`, by their dialects."""
    kinds: set[type[Operation]] = {type(op) for op in nested_ops(module)}
    dialects = {kind.name.partition(".")[0] for kind in kinds}
    if not (others := dialects - _OURS):
        return {}
    known = universe().all_upgrades
    return {dialect: known[dialect] for dialect in sorted(others) if dialect in known}


def upgrade(module: ModuleOp, ctx: Context) -> None:
    """Rewrite the ops of other vocabularies in a module into `tg`, in place, and verify it.

    Raises PassFailedException, located, for what a pass cannot say in `tg`.
    """
    done: set[str] = set()
    while left := [each for each in upgrades_for(module).values() if each not in done]:
        done.add(left[0])
        universe().all_passes[left[0]]()().apply(ctx, module)
        verify_module(module)
