"""From a `.uops` file to a module."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region

from tgdialect.diagnostics import SourceFile
from tgdialect.input_formats import TextFrontend
from tgdialect.legacy.listing.attributes import parse_dictionary, parse_symbol
from tgdialect.legacy.listing.lines import Line, read_listings
from tgdialect.legacy.listing.tinygrad import read_program
from tgdialect.legacy.listing.titled import read_titled
from tgdialect.ops import tg


@dataclass(frozen=True)
class UopsFrontend(TextFrontend):
    """Reads listings of ops."""

    name = "uops"

    def parse_text(self, ctx: Context, source: SourceFile) -> ModuleOp:
        return parse_listings(ctx, source)


def parse_listings(ctx: Context, source: SourceFile) -> ModuleOp:
    """The module of a `.uops` file: a program or function for each listing, in order.

    A listing with a title is our own, and one without is tinygrad's, of any age; the name of its
    program is what KernelInfo says, else `kernel`. Raises CompilationError with one diagnostic.
    """
    ops: list[Operation] = []
    name: str | None = None
    attributes: dict[str, Attribute] = {}
    symbols: dict[str, int] = {}
    for listing in read_listings(source):
        title = listing.title
        if title is None:
            ops.append(_program(listing.lines, symbols))
        elif title.kind.text != "module":
            ops.append(read_titled(ctx, listing, title))
            symbols[parse_symbol(ctx, title.name)] = 0
        elif ops or listing.lines:
            raise title.kind.error("the title of the module is the first line, before listings")
        else:
            name = parse_symbol(ctx, title.name) or None
            attributes = parse_dictionary(ctx, title.attributes) if title.attributes.text else {}
    return ModuleOp(ops, attributes, None if name is None else StringAttr(name))


def _program(lines: list[Line], symbols: dict[str, int]) -> tg.ProgramOp:
    """The program of a listing of tinygrad. `symbols` has the names so far, and the last number
    that was appended to each."""
    found = read_program(lines)
    linear = tg.LinearOp(Region(Block(found.ops)))
    name = wanted = found.name or "kernel"
    while name in symbols:
        symbols[wanted] += 1
        name = f"{wanted}_{symbols[wanted]}"
    symbols[name] = 0
    program = tg.ProgramOp(name, Region(Block([linear])))
    linear.location = program.location = lines[0].op.location
    return program
