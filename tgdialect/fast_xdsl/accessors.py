"""Reads the operands and results of an op, by their names or numbers, in a quarter of the time that
xDSL takes.

xDSL makes a view of all operands for each access, which is indexed by two more calls of Python
code. Hashes and fields of its values are calls as well. Tests compare ours with xDSL's on the ops
of the dialect (`test_creation.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.ir.core import OpOperands, SSAValues
from xdsl.irdl.operations import (
    AttrSizedOperandSegments,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SingleAttrAccessor,
    UniqueVariadicAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

from tgdialect.fast_xdsl.unchecked import array_values

_item = tuple[Any, ...].__getitem__
_operands = attrgetter("_operands")
_set_values: Any = vars(Operation)["operands"].fset


class FastResult(OpResult[Attribute]):
    """A result of an op. It is equal to itself only."""

    if not TYPE_CHECKING:  # For which they are xDSL's.
        __hash__ = object.__hash__
        __eq__ = object.__eq__
        owner = property(attrgetter("op"))
        type = property(attrgetter("_type"))


class Values(SSAValues[Any]):
    """The results of an op. A slice of them is a tuple."""

    if not TYPE_CHECKING:
        __getitem__ = tuple.__getitem__


class Operands(Values):
    """The operands of an op, of which single ones may be replaced. Who has them keeps those of
    before: they are no view."""

    op: Operation

    def __setitem__(self, index: int, operand: SSAValue) -> None:
        OpOperands(self.op)[index] = operand
        _own(self.op, _operands(self.op))


def _own(op: Operation, values: Sequence[SSAValue]) -> None:
    owned = Operands(values)
    owned.op = op
    op._operands = owned  # pyright: ignore[reportPrivateUsage]


def _set_operands(op: Operation, values: Sequence[SSAValue]) -> None:
    """Replace all operands of an op, by xDSL's setter."""
    _set_values(op, values)
    _own(op, _operands(op))


operands = property(_operands, _set_operands)
"""The operands of an op, as a property of its class."""


class _Operand(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> SSAValue:
        return _item(_operands(obj), self.idx)


class _Result(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> SSAValue:
        return _item(obj.results, self.idx)


class _Operands(UniqueVariadicAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Sequence[SSAValue]:
        operands = _operands(obj)
        if self.num_defs == 1:
            return operands
        return Values(operands[self.idx : self.idx + len(operands) - self.num_defs + 1])


class _Segment(VariadicAttrAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Sequence[SSAValue]:
        sizes = array_values(obj.properties[SEGMENTS])
        start = sum(sizes[: self.idx])
        return Values(_operands(obj)[start : start + sizes[self.idx]])


class _Optional(OptionalAttrAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> SSAValue | None:
        sizes = array_values(obj.properties[SEGMENTS])
        return _item(_operands(obj), sum(sizes[: self.idx])) if sizes[self.idx] else None


class _Single(SingleAttrAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> SSAValue:
        return _item(_operands(obj), sum(array_values(obj.properties[SEGMENTS])[: self.idx]))


SEGMENTS = AttrSizedOperandSegments.attribute_name
"""The property that says how many operands each variadic one of a definition stands for."""


def quicker(accessor: object) -> object:
    """An accessor that gives what one of xDSL's gives, or that one itself."""
    match accessor:
        case BeforeVariadicSingleAccessor(VarIRConstruct.RESULT, index):
            return _Result(VarIRConstruct.RESULT, index)
        case BeforeVariadicSingleAccessor(VarIRConstruct.OPERAND, index):
            return _Operand(VarIRConstruct.OPERAND, index)
        case UniqueVariadicAccessor(VarIRConstruct.OPERAND, first, count):
            return _Operands(VarIRConstruct.OPERAND, first, count)
        case VariadicAttrAccessor(VarIRConstruct.OPERAND, index, option) if option.as_property:
            return _Segment(VarIRConstruct.OPERAND, index, option)
        case OptionalAttrAccessor(VarIRConstruct.OPERAND, index, option) if option.as_property:
            return _Optional(VarIRConstruct.OPERAND, index, option)
        case SingleAttrAccessor(VarIRConstruct.OPERAND, index, option) if option.as_property:
            return _Single(VarIRConstruct.OPERAND, index, option)
        case _:
            return accessor
