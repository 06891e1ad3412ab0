"""The dialects, passes, targets and input formats of our own tools."""

import os
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe
from xdsl.utils.target import Target

from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.fast_xdsl.context import FastContext
from tgdialect.universe import TG_UNIVERSE

Frontend = Callable[[Context, SourceFile], ModuleOp]


def _machine_code(name: str) -> type[Target]:
    return getattr(import_module("tgdialect.runtime.machine_code"), name)


MACHINE_CODE: dict[str, Callable[[], type[Target]]] = {
    "cubin": partial(_machine_code, "CubinTarget"),
    "hsaco": partial(_machine_code, "HsacoTarget"),
    "obj": partial(_machine_code, "ObjectTarget"),
    "so": partial(_machine_code, "SharedLibraryTarget"),
}
"""Targets that are bytes: xDSL's driver writes text."""


def _parse_listings(ctx: Context, source: SourceFile) -> ModuleOp:
    from tgdialect.legacy.listing.reader import parse_listings

    return parse_listings(ctx, source)


FRONTENDS: dict[str, Frontend] = {"mlir": parse_module, "uops": _parse_listings}
"""Input formats by file extension; any other extension is read as `mlir`."""


def frontend_of(file: str, format: str | None = None) -> Frontend:
    """What reads a file: by the format that is named, else by its extension."""
    extension = os.path.splitext(file)[1].removeprefix(".")
    return FRONTENDS.get(format or extension, parse_module)


@cache
def universe() -> Universe:
    """Everything that the installed packages offer to xDSL, and this one, installed or not."""
    found = Universe.get_multiverse()
    return Universe(
        all_dialects=found.all_dialects | TG_UNIVERSE.all_dialects,
        all_passes=found.all_passes | TG_UNIVERSE.all_passes,
        all_targets=found.all_targets | TG_UNIVERSE.all_targets | MACHINE_CODE,
    )


def make_context(allow_unregistered: bool = False) -> Context:
    """A context with every dialect registered; each is loaded when it is used."""
    context = FastContext(allow_unregistered)
    for name, factory in universe().all_dialects.items():
        context.register_dialect(name, factory)
    return context
