"""From a `.uops` file to a module: listings of tinygrad, of any age, and our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import SourceFile
from tgdialect.input_formats import TextFrontend
from tgdialect.legacy.alu import ALU, TRUNCATED
from tgdialect.legacy.listing.attributes import parse_dictionary, parse_symbol
from tgdialect.legacy.listing.builders import OPS
from tgdialect.legacy.listing.dtypes import Column, did_you_mean, parse_dtype, show_type
from tgdialect.legacy.listing.lines import Line, Source, read_listings
from tgdialect.legacy.listing.program import Form, Matched, ProgramBuilder, elementwise_form, form
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


ALU_FORMS = {name: elementwise_form(op) for name, op in ALU.items()} | {
    name: form("lhs:= rhs:=") for name in TRUNCATED
}
"""The form of ALU for each of its operations."""

_TUTORIAL_LOAD = form("buffer:= at:i gate:b alt:= dependencies:v*")
_OF_LOCATION = {
    "LOAD": form("buffer:= alt:=? gate:b? dependencies:v*"),
    "STORE": form("buffer:~ value:~ gate:b? dependencies:v*", "v"),
}
"""LOAD and STORE of a location."""

_LOCATIONS = frozenset({"INDEX", "CAST", "SHRINK"})
_WAITED_FOR = frozenset({"RANGE", "LOOP", "SPECIAL"})
"""Ops that LOAD and STORE wait for, though they give values."""


def read_program(lines: Sequence[Line]) -> ProgramBuilder:
    """The program of a listing. Raises CompilationError with one diagnostic."""
    matched: list[Matched] = []
    for line in lines:
        column = parse_dtype(line.dtype)
        if column.vector is not None and (len(column.vector.extents) != 1 or column.lanes < 1):
            raise column.token.error("a vector has one axis, of one element or more")
        matched.append(_match_sources(line, column, _resolved(line, lines), matched))
    program = ProgramBuilder(matched)
    for each in matched:
        program.enter(each)
        value = _value(program, each)
        _check_column(each.column, value)
        program.values.append(value)
    program.nesting.finish()
    return program


def _resolved(line: Line, lines: Sequence[Line]) -> list[Source]:
    """The sources of a line, which come before it. The loops that an accumulator is for come after
    it: they are left out."""
    found: list[Source] = []
    for each in line.sources:
        if each.name is not None:
            raise each.token.error("only a listing with a title names its sources")
        if each.number is None or each.number < line.number:
            found.append(each)
        elif each.number >= len(lines):
            raise each.token.error(f"there is no line {each.number}")
        elif each.number == line.number:
            raise each.token.error(f"{line} is a source of itself")
        elif line.name != "DEFINE_ACC" or lines[each.number].name not in ("RANGE", "LOOP"):
            raise each.token.error(f"{lines[each.number]} comes after {line}, which uses it")
    return found


def _match_sources(
    line: Line, column: Column, sources: Sequence[Source], before: Sequence[Matched]
) -> Matched:
    """Match the sources of a line with the form of its op. `before` has the lines above.

    Raises CompilationError if there are too few or too many, or if one gives no value.
    """
    pairs = [(each, None if each.number is None else before[each.number]) for each in sources]
    owners = [owner for _, owner in pairs]
    of_location = bool(owners) and owners[0] is not None and owners[0].is_location
    is_location = line.name in _LOCATIONS or (line.name in ("AFTER", "NOOP") and of_location)
    chosen = _form(line, of_location, owners)
    misfit = f"{line.name} takes {chosen.count}, got {len(sources)}"
    rest, bound = pairs[::-1], dict[str, Sequence[Source]]()
    for parameter in chosen.parameters:
        taken: list[tuple[Source, Matched | None]] = []
        if parameter.is_repeated:
            taken, rest = rest[::-1], []
        elif rest and (not parameter.is_optional or _is_operand(rest[-1][1])):
            taken = [rest.pop()]
        elif not parameter.is_optional:
            raise line.source_list.error(misfit)
        for source, given in taken if parameter.kind != "v" else ():
            if given is not None and not given.gives_value:
                raise source.token.error(f"{given.line} gives no value")
        bound[parameter.name] = [source for source, _ in taken]
    if rest:
        raise line.source_list.error(misfit)
    return Matched(line, column, chosen, bound, is_location)


def _is_operand(source: Matched | None) -> bool:
    """Whether a source is an operand that may be absent, not something to wait for."""
    return source is None or (source.gives_value and source.line.name not in _WAITED_FOR)


def _form(line: Line, of_location: bool, owners: Sequence[Matched | None]) -> Form:
    """The form of a line."""
    if line.name == "LOAD":
        # A LOAD of memory without a position reads all of it.
        second = owners[1] if len(owners) > 1 else None
        of_location |= len(owners) < 2 or (second is not None and not second.gives_value)
        if not of_location and len(owners) > 3 and _is_bool(owners[2]) and not _is_bool(owners[3]):
            return _TUTORIAL_LOAD
    if of_location and line.name in _OF_LOCATION:
        return _OF_LOCATION[line.name]
    if line.name == "ALU":
        if (found := ALU_FORMS.get(line.argument.text)) is None:
            known = did_you_mean(line.argument.text, ALU_FORMS)
            raise line.argument.error(f"{line.argument.text!r} is not an operation of ALU{known}")
        return found
    if (row := OPS.get(line.name)) is None:
        raise line.op.error(f"there is no op {line.name}{did_you_mean(line.name, OPS)}")
    return row.form


def _is_bool(source: Matched | None) -> bool:
    return source is not None and source.gives_bool


def _check_column(column: Column, value: SSAValue) -> None:
    """Raise unless a value is what the dtype column says. Today's has no shapes."""
    if column.element is None or not tg.is_tensor(value.type):
        return
    says_shape = column.vector is not None and column.vector.extents != tg.shape_of(value)
    says_memory = column.pointer is not None and not tg.is_memory(value)
    if says_shape or says_memory or column.element != tg.tensor(value).element_type:
        given = show_type(tg.tensor(value))
        raise column.token.error(f"the line says {column.token.text}, the op gives {given}")


def _value(program: ProgramBuilder, matched: Matched) -> SSAValue:
    """The value that a line gives, whose ops are added."""
    operands: dict[str, SSAValue | list[SSAValue] | None] = {}
    try:
        for parameter in matched.form.parameters:
            values = [program.operand(each) for each in matched.sources[parameter.name]]
            single = values[0] if values else None
            operands[parameter.name] = values if parameter.is_repeated else single
        build = OPS[matched.line.name].build
        if isinstance(build, type):
            return program.add(cast(Any, build)(*operands.values()))
        return build(program, **operands)
    except VerifyException as error:
        raise matched.line.op.error(str(error)) from error
