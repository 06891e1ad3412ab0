"""The dialects, passes, targets and input formats that the tools know."""

from collections.abc import Callable
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.universe import Universe

from tgdialect.diagnostics import SourceFile, parse_module

Frontend = Callable[[Context, SourceFile], ModuleOp]


def _get_llvm() -> Dialect:
    # Imported when the dialect is used, as every dialect is: start-up time.
    from tgdialect.backends.llvm_dialect import LLVM_WITH_GAPS

    return LLVM_WITH_GAPS


DIALECT_REPLACEMENTS: dict[str, Callable[[], Dialect]] = {"llvm": _get_llvm}
"""Dialects that the tools take from here and not from xDSL, which lacks operations we emit."""

FRONTENDS: dict[str, Frontend] = {"mlir": parse_module}
"""Input formats by file extension; any other extension is read as `mlir`."""


@cache
def universe() -> Universe:
    """Everything that the installed packages offer to xDSL."""
    found = Universe.get_multiverse()
    return Universe(
        all_dialects=found.all_dialects | DIALECT_REPLACEMENTS,
        all_passes=found.all_passes,
        all_targets=found.all_targets,
    )


def make_context(allow_unregistered: bool = False) -> Context:
    """A context with every dialect registered; each is loaded when it is used."""
    context = Context(allow_unregistered)
    for name, factory in universe().all_dialects.items():
        context.register_dialect(name, factory)
    return context
