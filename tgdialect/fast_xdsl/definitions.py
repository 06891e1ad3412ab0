"""How ops are defined, and what their definitions say in a form that is quick to check.

xDSL checks an op against its definition in 110 calls of Python code. Here the constraints of a
class become functions once, and an op takes ten calls. Constraints that are not among ours, and ops
that do not fit, are left to xDSL, which also reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i32
from xdsl.interfaces import _HasFolderInterfaceTrait  # pyright: ignore[reportPrivateUsage]
from xdsl.ir import Attribute, Operation, OpTrait
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    OptionalDef,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VariadicDef,
)
from xdsl.irdl.declarative_assembly_format import FormatProgram, ParsingState
from xdsl.parser import Parser, UnresolvedOperand

from tgdialect.fast_xdsl import formats
from tgdialect.fast_xdsl.accessors import SEGMENTS
from tgdialect.fast_xdsl.unchecked import array_values

OpT = TypeVar("OpT", bound=IRDLOperation)

Check = Callable[[Attribute], bool]
"""Whether an attribute satisfies a constraint. It may say no where xDSL would say yes."""

_successors = attrgetter("_successors")

_NO_CHECKS = {OpTrait.verify, _HasFolderInterfaceTrait.verify}
"""Verifiers of traits that check nothing."""


def op_definition(cls: type[OpT]) -> type[OpT]:
    """`irdl_op_definition`, but the assembly format is compiled when it is first used, and ops are
    checked by the functions of this file."""
    verify_own = cls.verify_
    op = formats.op_definition(cls, _parsed)
    verify_all = op.verify_

    def verify_(self: IRDLOperation) -> None:
        if fits(self):
            verify_own(cast(Any, self))
        else:
            verify_all(cast(Any, self))

    setattr(op, "verify_", verify_)  # noqa: B010
    return op


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
    operands = cast("Sequence[Sequence[UnresolvedOperand]]", state.operands)
    return kind.build(
        operands=[
            parser.resolve_operands(values, known[i], parser.pos)
            for i, values in enumerate(operands)
        ],
        result_types=known[len(operands) :],
        attributes=state.attributes,
        properties=state.properties,
        regions=state.regions,
        successors=state.successors,
    )


class Counts(NamedTuple):
    """How many values each operand and result of a definition stands for; None for any number."""

    operands: Sequence[int | None]
    results: Sequence[int | None]
    are_segmented: bool
    """Whether a property says how many there are of each operand."""

    def fit(self, operands: Sequence[Any], results: Sequence[Any]) -> bool:
        """Whether groups of values are lists or tuples, and have these numbers of values."""
        counts, groups = (*self.operands, *self.results), (*operands, *results)
        return len(counts) == len(groups) and all(
            type(group) in (list, tuple) and count in (None, len(group))
            for count, group in zip(counts, groups, strict=True)
        )

    def sizes(self, op: Operation) -> Sequence[int] | None:
        """The number of an op's operands for each operand of the definition; None if it has not as
        many as it must."""
        number = len(op.operands)
        if self.are_segmented:
            segments: Any = op.properties.get(SEGMENTS)
            if segments.__class__ is not DenseArrayBase or segments.elt_type != i32:
                return None
            sizes = array_values(segments)
        else:
            # All that the others leave is of the variadic one.
            rest = number - len(self.operands) + 1
            sizes = [rest if count is None else count for count in self.operands]
        fit = len(sizes) == len(self.operands) and all(
            size >= 0 and count in (None, size)
            for count, size in zip(self.operands, sizes, strict=True)
        )
        return sizes if fit and sum(sizes) == number else None


@cache
def counts(kind: type[IRDLOperation]) -> Counts | None:
    """How many operands and results ops of a class have. None for ops with regions or successors,
    and for those that may have one or none of something."""
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
    return Counts(operands, results, segmented)


class _Definition(NamedTuple):
    counts: Counts
    operands: Sequence[Check]
    results: Sequence[Check]
    required: Mapping[str, Check]
    optional: Mapping[str, Check]


def fits(op: IRDLOperation) -> bool:
    """Whether an op is known to fit its definition. Those that do not, or may not, are left to
    xDSL."""
    definition = _definition(type(op))
    if definition is None or op.regions or _successors(op):
        return False
    sizes, results = definition.counts.sizes(op), op.results
    if sizes is None or len(results) != len(definition.results):
        return False
    values = iter(op.operands)
    for check, size in zip(definition.operands, sizes, strict=True):
        for _ in range(size):
            if not check(next(values).type):
                return False
    for check, result in zip(definition.results, results, strict=True):
        if not check(result.type):
            return False
    return _have_fitting(op.properties, definition)


def _have_fitting(properties: Mapping[str, Attribute], definition: _Definition) -> bool:
    required, optional = definition.required, definition.optional
    for name, value in properties.items():
        check = required.get(name) or optional.get(name)
        if check is None or not check(value):
            return False
    return all(name in properties for name in required)


@cache
def _definition(kind: type[IRDLOperation]) -> _Definition | None:
    if (numbers := counts(kind)) is None:
        return None
    definition = kind.get_irdl_definition()
    if definition.attributes or any(
        type(trait).verify not in _NO_CHECKS for trait in definition.traits
    ):
        return None
    operands = [_check_of_each(field.constr) for _, field in definition.operands]
    results = [_check_of_each(field.constr) for _, field in definition.results]
    required: dict[str, Check | None] = {}
    optional: dict[str, Check | None] = {}
    for name, field in definition.properties.items():
        of = optional if isinstance(field, OptionalDef) else required
        of[name] = _check(field.constr)
    if numbers.are_segmented:
        required[SEGMENTS] = _anything
    if None in (*operands, *results, *required.values(), *optional.values()):
        return None
    return _Definition(numbers, *cast(Any, (operands, results, required, optional)))


def _check_of_each(constraint: RangeConstraint) -> Check | None:
    """The check of each of the values that an operand or result stands for."""
    if isinstance(constraint, RangeLengthConstraint):  # Of one: `counts` say so.
        constraint = constraint.constraint
    return _check(constraint.constr) if isinstance(constraint, RangeOf) else None


def _check(constraint: AttrConstraint) -> Check | None:
    match constraint:
        case AnyAttr():
            return _anything
        case BaseAttr(attr=kind):
            return lambda attribute: attribute.__class__ is kind
        case EqAttrConstraint(attr=wanted):
            return lambda attribute: attribute is wanted or attribute == wanted
        case ParamAttrConstraint(
            base_attr=base, param_constrs=(EqAttrConstraint(attr=element), AnyAttr())
        ) if base is DenseArrayBase:
            return lambda attribute: (
                attribute.__class__ is base and cast(Any, attribute).elt_type == element
            )
        case _:
            return None


def _anything(_: Attribute) -> bool:
    return True
