"""How ops are defined, and what an assembly format makes of a text.

xDSL resolves the variables of constraints while it parses an op, and looks at every field of the
definition to build it. Here the types that the text says are taken as they stand, since the
verifier checks them, and an op is created at once if each field has as many values as it must.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptionalDef, VariadicDef
from xdsl.irdl.declarative_assembly_format import FormatProgram, ParsingState
from xdsl.parser import Parser, UnresolvedOperand

from tgdialect.fast_xdsl import formats
from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.fast_xdsl.creation import created
from tgdialect.fast_xdsl.unchecked import segments

OpT = TypeVar("OpT", bound=IRDLOperation)


def op_definition(cls: type[OpT]) -> type[OpT]:
    """`irdl_op_definition`, but the assembly format is compiled when it is first used, and parsed
    by the function below."""
    return formats.op_definition(cls, _parsed)


def _is_tensor(type: Attribute) -> bool:
    return type.__class__ is TensorType


def _parsed(program: FormatProgram, parser: Parser, kind: type[OpT]) -> OpT:
    """An op, as `FormatProgram.parse` reads it. That checks constraints of types and properties,
    for variables that no op of ours has, and the verifier checks them again."""
    definition, state = kind.get_irdl_definition(), ParsingState(kind)
    for directive in program.stmts:
        directive.parse(parser, state)
    for i, (values, given) in enumerate(zip(state.operands, state.operand_types, strict=True)):
        if given is None and not values:
            state.operand_types[i] = ()
    types: Sequence[Sequence[Attribute] | None] = (*state.operand_types, *state.result_types)
    if not all(group is not None and all(map(_is_tensor, group)) for group in types):
        program.resolve_constraint_variables(state, definition)
        operand_types = program.resolve_operand_types(state, definition)
        types = (*operand_types, *program.resolve_result_types(state, definition))
    known = cast("Sequence[Sequence[Attribute]]", types)
    unresolved = cast("Sequence[Sequence[UnresolvedOperand]]", state.operands)
    operands = [
        parser.resolve_operands(values, known[i], parser.pos) for i, values in enumerate(unresolved)
    ]
    results = known[len(operands) :]
    sizes = map(len, (*operands, *results))
    expected = None if state.attributes else counts(kind)
    if expected is None or any(n not in (None, m) for n, m in zip(expected, sizes, strict=True)):
        return kind.build(
            operands=operands,
            result_types=results,
            attributes=state.attributes,
            properties=state.properties,
            regions=state.regions,
            successors=state.successors,
        )
    properties = dict(state.properties)
    if definition.options:
        properties[SEGMENTS] = segments(*map(len, operands))
    return created(
        kind,
        [value for group in operands for value in group],
        [type for group in results for type in group],
        properties,
    )


@cache
def counts(kind: type[IRDLOperation]) -> Sequence[int | None] | None:
    """How many values each operand and result of a definition stands for; None for any number. No
    counts for ops with regions or successors, and for those that may have one or none of
    something: xDSL builds these, and those that do not fit."""
    definition = kind.get_irdl_definition()
    segmented = definition.options == [AttrSizedOperandSegments(as_property=True)]
    operands, results = (
        [None if isinstance(field, VariadicDef) else 1 for _, field in fields]
        for fields in (definition.operands, definition.results)
    )
    fields = [field for _, field in (*definition.operands, *definition.results)]
    if (
        definition.regions
        or definition.successors
        or (definition.options and not segmented)
        or any(isinstance(field, OptionalDef) for field in fields)
        or None in results
        or (operands.count(None) > 1 and not segmented)
    ):
        return None
    return *operands, *results
