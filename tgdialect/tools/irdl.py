"""`tg-opt --print-irdl`: a dialect as an `irdl.dialect`, the declaration that MLIR's tools share.

IRDL says the types and attributes of a dialect, and of each operation the operands, results,
properties that are not optional, and regions, each with its kind. Verifiers and assembly formats
are Python, of which IRDL says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import builtin, irdl
from xdsl.dialects.irdl.pyrdl_to_irdl import depython_name
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    EqAttrConstraint,
    IRDLOperation,
    OperandDef,
    OptionalDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    ResultDef,
    VarConstraint,
    VariadicDef,
)
from xdsl.rewriter import InsertPoint

_UPSTREAM: dict[type[Attribute], str] = {
    builtin.ArrayAttr: "#builtin.array",
    builtin.DenseArrayBase: "#builtin.dense_array",
    builtin.DictionaryAttr: "#builtin.dictionary",
    builtin.FloatAttr: "#builtin.float",
    builtin.IntegerAttr: "#builtin.integer",
    builtin.IntegerType: "!builtin.integer",
    builtin.StringAttr: "#builtin.string",
    builtin.SymbolRefAttr: "#builtin.symbol_ref",
    builtin.TensorType: "!builtin.tensor",
    builtin.UnitAttr: "#builtin.unit",
    builtin.VectorType: "!builtin.vector",
}
"""Upstream's names of builtin kinds."""

FieldT = TypeVar("FieldT", OperandDef, ResultDef)


def irdl_of(dialect: Dialect) -> irdl.DialectOp:
    """The declaration of a dialect.

    Symbols of IRDL are unique in a dialect, names of a dialect only among its types, its attributes
    and its operations: a type or attribute with the name of an operation gets its sigil, as in
    `@"!tuple"`.
    """
    taken = {Dialect.split_name(op.name)[1] for op in dialect.operations}
    symbols: dict[type[Attribute], str] = {}
    for kind in dialect.attributes:
        name = Dialect.split_name(kind.name)[1]
        symbols[kind] = f"{_sigil(kind)}{name}" if name in taken else name
    block = Block()
    for kind, symbol in symbols.items():
        declaration = irdl.TypeOp if _sigil(kind) == "!" else irdl.AttributeOp
        block.add_op(declaration(symbol, _Declaration(dialect.name, symbols).parameters(kind)))
    for op in dialect.operations:
        if issubclass(op, IRDLOperation):
            body = _Declaration(dialect.name, symbols).fields(op)
            block.add_op(irdl.OperationOp(Dialect.split_name(op.name)[1], body))
    return irdl.DialectOp(dialect.name, Region(block))


def _sigil(kind: type[Attribute]) -> str:
    return "!" if issubclass(kind, TypeAttribute) else "#"


class _Declaration:
    """The body of a declaration. A variable of constraints is one value, as in IRDL."""

    def __init__(self, dialect: str, symbols: dict[type[Attribute], str]):
        self._dialect, self._symbols = dialect, symbols
        self._block = Block()
        self._builder = Builder(InsertPoint.at_end(self._block))
        self._variables: dict[str, SSAValue] = {}

    def parameters(self, kind: type[Attribute]) -> Region:
        """The parameters of a type or attribute; one that holds Python's data has none."""
        if issubclass(kind, ParametrizedAttribute):
            found = kind.get_irdl_definition().parameters
            if values := [self._constraint(parameter.constr) for _, parameter in found]:
                names = _names(name for name, _ in found)
                self._builder.insert(irdl.ParametersOp(values, names))
        return Region(self._block)

    def fields(self, op: type[IRDLOperation]) -> Region:
        """The operands, results, properties and regions of an operation."""
        definition = op.get_irdl_definition()
        if operands := definition.operands:
            self._builder.insert(irdl.OperandsOp(*self._ranges(operands)))
        if results := definition.results:
            self._builder.insert(irdl.ResultsOp(*self._ranges(results)))
        attributes = {
            name: self._constraint(field.constr)
            for name, field in (definition.properties | definition.attributes).items()
            if not isinstance(field, OptionalDef)
        }
        if attributes:
            self._builder.insert(irdl.AttributesOp.get(attributes))
        if definition.regions:
            regions = [
                self._builder.insert(irdl.RegionOp.create(result_types=[irdl.RegionType()])).output
                for _ in definition.regions
            ]
            names = _names(name for name, _ in definition.regions)
            self._builder.insert(irdl.RegionsOp(regions, names))
        return Region(self._block)

    def _ranges(
        self, fields: list[tuple[str, FieldT]]
    ) -> tuple[list[SSAValue], irdl.VariadicityArrayAttr, builtin.ArrayAttr[builtin.StringAttr]]:
        """The constraints of operands or results, how many each is, and their names."""
        values = [self._constraint(_element(field.constr)) for _, field in fields]
        variadicity = builtin.ArrayAttr(map(_variadicity, (field for _, field in fields)))
        return values, irdl.VariadicityArrayAttr(variadicity), _names(name for name, _ in fields)

    def _constraint(self, constraint: AttrConstraint) -> SSAValue:
        if isinstance(constraint, VarConstraint):
            if constraint.name not in self._variables:
                self._variables[constraint.name] = self._constraint(constraint.constraint)
            return self._variables[constraint.name]
        if isinstance(constraint, EqAttrConstraint) and _is_builtin(type(constraint.attr)):
            return self._builder.insert(irdl.IsOp(constraint.attr)).output
        bases = sorted(constraint.get_bases() or (), key=str)
        if not bases or any(kind not in self._symbols and kind not in _UPSTREAM for kind in bases):
            return self._builder.insert(irdl.AnyOp()).output
        values = list(map(self._base, bases))
        return values[0] if len(values) == 1 else self._builder.insert(irdl.AnyOfOp(values)).output

    def _base(self, kind: type[Attribute]) -> SSAValue:
        """The constraint that an attribute is of a class."""
        symbol = self._symbols.get(kind)
        base = _UPSTREAM[kind] if symbol is None else builtin.SymbolRefAttr(self._dialect, [symbol])
        return self._builder.insert(irdl.BaseOp(base)).output


def _is_builtin(kind: type[Attribute]) -> bool:
    return kind.__module__ == builtin.__name__


def _element(constraint: RangeConstraint) -> AttrConstraint:
    """The constraint of each of some operands or results."""
    match constraint:
        case RangeLengthConstraint(constraint=inner):
            return _element(inner)
        case RangeOf(constr=element):
            return element
        case _:
            return AnyAttr()


def _variadicity(field: OperandDef | ResultDef) -> irdl.VariadicityAttr:
    if isinstance(field, OptionalDef):
        return irdl.VariadicityAttr.OPTIONAL
    variadic = irdl.VariadicityAttr.VARIADIC
    return variadic if isinstance(field, VariadicDef) else irdl.VariadicityAttr.SINGLE


def _names(names: Iterable[str]) -> builtin.ArrayAttr[builtin.StringAttr]:
    return builtin.ArrayAttr(builtin.StringAttr(depython_name(name)) for name in names)
