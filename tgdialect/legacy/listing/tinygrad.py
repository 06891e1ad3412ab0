"""Reads a listing of tinygrad, of any age."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.legacy.listing.builders import BUILDERS
from tgdialect.legacy.listing.dtypes import Column, parse_dtype, show_type
from tgdialect.legacy.listing.forms import Matched, match_sources
from tgdialect.legacy.listing.lines import Line, Source
from tgdialect.legacy.listing.program import ProgramBuilder
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.properties import is_memory, shape_of, tensor


def read_program(lines: Sequence[Line]) -> ProgramBuilder:
    """The program of a listing. Raises CompilationError with one diagnostic."""
    matched: list[Matched] = []
    for line in lines:
        column = parse_dtype(line.dtype)
        if column.vector is not None and (len(column.vector.extents) != 1 or column.lanes < 1):
            raise column.token.error("a vector has one axis, of one element or more")
        matched.append(match_sources(line, column, _resolved(line, lines), matched))
    program = ProgramBuilder(matched)
    for each in matched:
        program.enter(each)
        value = _value(program, each)
        _check_column(each.column, value)
        program.leave(value)
    program.finish()
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


def _check_column(column: Column, value: SSAValue) -> None:
    """Raise unless a value is what the dtype column says. Today's has no shapes."""
    if column.element is None or not is_tensor(value.type):
        return
    says_shape = column.vector is not None and column.vector.extents != shape_of(value)
    says_memory = column.pointer is not None and not is_memory(value)
    if says_shape or says_memory or column.element != tensor(value).element_type:
        given = show_type(tensor(value))
        raise column.token.error(f"the line says {column.token.text}, the op gives {given}")


def _value(program: ProgramBuilder, matched: Matched) -> SSAValue:
    """The value that a line gives, whose ops are added."""
    operands: dict[str, SSAValue | list[SSAValue] | None] = {}
    try:
        for parameter in matched.form.parameters:
            values = [program.operand(each) for each in matched.sources[parameter.name]]
            single = values[0] if values else None
            operands[parameter.name] = values if parameter.is_repeated else single
        return BUILDERS[matched.line.name](program, **operands)
    except VerifyException as error:
        raise matched.line.op.error(str(error)) from error
