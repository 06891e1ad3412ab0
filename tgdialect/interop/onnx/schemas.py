"""The schemas of operators, and nodes that do not follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from onnx import AttributeProto, defs

from tgdialect.interop.onnx.values import Refused


@dataclass(frozen=True)
class OperatorSchema:
    """The operands and attributes of an operator, by its schema."""

    least: int
    most: int
    types: tuple[str, ...]
    """The type parameter of each operand."""
    attributes: Mapping[str, int]
    """The kinds of attributes by name."""
    required: frozenset[str]
    defaults: Mapping[str, AttributeProto]

    def check(self, operands: int, attributes: Sequence[AttributeProto]) -> None:
        """Raise Refused for a node with others."""
        if operands < self.least:
            raise Refused(f"{operands} operands, where at least {self.least} are needed")
        if operands > self.most:
            raise Refused(f"{operands} operands, where at most {self.most} are allowed")
        for each in attributes:
            if each.name not in self.attributes:
                raise Refused(f"there is no attribute {each.name!r}")
            if each.type != self.attributes[each.name]:
                name: Any = AttributeProto.AttributeType.Name
                kinds = f"{name(each.type)}, not {name(self.attributes[each.name])}"
                raise Refused(f"the attribute {each.name!r} is of type {kinds}")
        if missing := sorted(self.required - {each.name for each in attributes}):
            raise Refused(f"the attribute {missing[0]!r} is missing")


@cache
def schema_of(domain: str, op_type: str, opset: int) -> OperatorSchema | None:
    """The schema of an operator in an opset; None if onnx knows none."""
    try:
        found: Any = defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None
    attributes = found.attributes
    return OperatorSchema(
        found.min_input,
        found.max_input,
        tuple(i.type_str for i in found.inputs),
        {name: int(a.type.value) for name, a in attributes.items()},
        frozenset(name for name, a in attributes.items() if a.required),
        {name: a.default_value for name, a in attributes.items() if a.default_value.name},
    )
