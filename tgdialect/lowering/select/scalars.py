"""Emitting ops on scalars that a target has: equal ops once, constants folded.

A kernel is a graph, in which the position of an op means nothing, so that two equal ops anywhere
in it are one. Ops that the target lacks are emitted as their decompositions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, SSAValue

from tgdialect.lowering.select.targets import TargetOps
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import BOOL, DTYPES, INDEX, number_attribute, wrap_to
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.folding import constant_attribute, evaluate
from tgdialect.ops.movement import BitcastOp
from tgdialect.ops.properties import dtype_of, number, tensor_type
from tgdialect.ops.source import ConstOp
from tgdialect.transforms.decompose import BINARY, TERNARY, UNARY
from tgdialect.transforms.recipe import Dtype, Value

TYPES: dict[str, Attribute] = {row.name: type for type, row in DTYPES.items()}
"""The builtin type of each dtype, by its name."""

Index = int | SSAValue
"""An index that is known, or a `tensor<index>`."""

_CLASSES: dict[str, type[TgOp]] = {
    op.name.removeprefix("tg."): op for op in (*PRIMITIVES, *DECOMPOSED, BitcastOp)
}
_RECIPES: Mapping[str, Callable[..., Value[SSAValue]]] = {**UNARY, **BINARY, **TERNARY}
_TYPED = ("cast", "bitcast")
"""Ops with the result's dtype as a property."""

_BITS = {"f32": "<f", "f64": "<d", "i32": "<i", "ui32": "<I", "i64": "<q", "ui64": "<Q"}
"""The dtypes whose constants are folded through BITCAST, as `struct` calls them."""


def dtype_name(value: SSAValue) -> Dtype:
    """The name of a value's dtype."""
    return cast(Dtype, dtype_of(value).name)


class Scalars:
    """Appends ops to a block. It is a target that recipes can be carried out on."""

    def __init__(self, block: Block, target: TargetOps) -> None:
        self.block = block
        self.target = target
        self.location: LocationAttr | None = None
        """The source location of what is being emitted."""
        self._known: dict[tuple[object, ...], SSAValue] = {}

    def append(self, op: TgOp) -> SSAValue:
        """Append an op as it is; returns its result."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op.results[0]

    def emit(
        self,
        kind: type[TgOp],
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute] = {},
        type: Attribute | None = None,
    ) -> SSAValue:
        """The result of an op without side effects, a new one unless there is one already."""
        key = (kind, *operands, *properties.values())
        if (known := self._known.get(key)) is None:
            op = kind.__new__(kind)
            op.infer(operands, properties, type=type)
            known = self._known[key] = self.append(op)
        return known

    # -- the protocol of recipe.Target

    def constant(self, value: int | float, dtype: Dtype) -> SSAValue:
        return self.literal(number_attribute(value, TYPES[dtype]))

    def apply(self, primitive: str, operands: Sequence[SSAValue], dtype: Dtype) -> SSAValue:
        """An elementwise op or a BITCAST by name on scalars, with a result of `dtype`."""
        if (folded := _fold(primitive, operands, dtype)) is not None:
            return self.literal(folded)
        if (same := _neutral(primitive, operands)) is not None:
            return same
        if self.target.lacks(primitive):
            values = [Value(self, operand, dtype_name(operand)) for operand in operands]
            return _RECIPES[primitive](*values).handle
        type = TYPES[dtype]
        properties = {"dtype": type} if primitive in _TYPED else {}
        return self.emit(_CLASSES[primitive], operands, properties, tensor_type(type))

    # -- constants, index arithmetic and conditions

    def literal(self, attribute: Attribute) -> SSAValue:
        return self.emit(ConstOp, (), {"value": attribute})

    def index(self, index: Index) -> SSAValue:
        if isinstance(index, int):
            return self.constant(wrap_to(DTYPES[INDEX], index), "index")
        return index

    def known_index(self, value: SSAValue) -> Index:
        """The value as a `tensor<index>`, or its number if it is a constant."""
        if dtype_of(value) is not DTYPES[INDEX]:
            value = self.apply("cast", (value,), "index")
        attribute = constant_attribute(value)
        return value if attribute is None else int(number(attribute))

    def add(self, a: Index, b: Index) -> Index:
        if isinstance(a, int):
            a, b = b, a
        if isinstance(a, int) and isinstance(b, int):
            return wrap_to(DTYPES[INDEX], a + b)
        return a if b == 0 else self._arithmetic("add", a, b)

    def sub(self, a: Index, b: Index) -> Index:
        if isinstance(b, int):
            return self.add(a, -b)
        return self._arithmetic("sub", a, b)

    def mul(self, a: Index, b: Index) -> Index:
        if isinstance(a, int):
            a, b = b, a
        if isinstance(a, int) and isinstance(b, int):
            return wrap_to(DTYPES[INDEX], a * b)
        return a if b == 1 else self._arithmetic("mul", a, b)

    def idiv(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a // b if b else 0
        return a if b == 1 else self._arithmetic("idiv", a, b)

    def mod(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a % b if b else 0
        return self._arithmetic("mod", a, b)

    def _arithmetic(self, name: str, a: Index, b: Index) -> SSAValue:
        return self.apply(name, (self.index(a), self.index(b)), "index")

    def compare(self, name: str, a: Index, b: Index) -> SSAValue:
        return self.apply(name, (self.index(a), self.index(b)), "i1")

    def all_of(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """The conjunction; None, which is true, of no conditions."""
        result = None
        for condition in dict.fromkeys(conditions):
            result = condition if result is None else self.apply("and", (result, condition), "i1")
        return result

    def true(self) -> SSAValue:
        return self.literal(number_attribute(1, BOOL))


_NEUTRAL = {"add": 0, "mul": 1}


def _neutral(name: str, operands: Sequence[SSAValue]) -> SSAValue | None:
    """x of x + 0 and x * 1, on integers."""
    if name not in _NEUTRAL or not dtype_of(operands[0]).is_integer:
        return None
    a, b = operands
    for constant, other in ((a, b), (b, a)):
        attribute = constant_attribute(constant)
        if attribute is not None and number(attribute) == _NEUTRAL[name]:
            return other
    return None


def _fold(name: str, operands: Sequence[SSAValue], dtype: Dtype) -> Attribute | None:
    """The constant that an op on constants gives; None where it is not folded."""
    attributes: list[Attribute] = []
    for operand in operands:
        if (attribute := constant_attribute(operand)) is None:
            return None
        attributes.append(attribute)
    values = [number(a) for a in attributes]
    source, type = dtype_of(operands[0]), TYPES[dtype]
    if name == "bitcast":
        if source.name not in _BITS or dtype not in _BITS or values[0] != values[0]:
            return None
        (bits,) = cast(
            "tuple[Any]", struct.unpack(_BITS[dtype], struct.pack(_BITS[source.name], *values))
        )
        return None if bits != bits else number_attribute(bits, type)
    folded = evaluate(f"tg.{name}", source, DTYPES[type], values)
    return None if folded is None else number_attribute(folded, type)
