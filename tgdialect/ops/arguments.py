"""What the attributes of a function's arguments say: `%n: tensor<index> {tg.min = 1 : index}`.

| attribute | on | meaning |
|---|---|---|
| `tg.name`, `tg.min`, `tg.max` | an index scalar | a dynamic dimension: its name and bounds |
| `tg.dims` | a tensor with `?` | the positions of the arguments that its dynamic dimensions are |
| `tg.constant` | a tensor | it is the same in every call, until another array is passed |
| `tg.output` | memory | a result is stored here |
| `tg.buffer` | memory | the BUFFER of that slot |
| `tg.workspace` | memory | scratch memory of the whole program |
| `tg.persistent` | memory | what constant arguments decide, after 8 bytes that are 0 before |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, BlockArgument

ARENAS = frozenset({"tg.workspace", "tg.persistent"})
"""What marks bytes that buffers of the program are views of; these arguments come last."""

ALLOCATED = ARENAS | {"tg.output", "tg.buffer"}
"""What marks an argument that a stage made: whoever calls the function allocates it."""

ARGUMENT_ATTRIBUTES: Mapping[str, type[Attribute]] = {
    "tg.name": StringAttr,
    "tg.min": IntegerAttr,
    "tg.max": IntegerAttr,
    "tg.dims": DenseArrayBase,
    "tg.constant": UnitAttr,
    "tg.output": UnitAttr,
    "tg.buffer": IntegerAttr,
    "tg.workspace": UnitAttr,
    "tg.persistent": UnitAttr,
}
"""The kind of attribute that each one is."""


def argument_attributes(argument: BlockArgument) -> Mapping[str, Attribute]:
    """The attributes of a block argument of a `func.func`; none for any other block's."""
    function = argument.block.parent_op()
    attributes = None if function is None else function.properties.get("arg_attrs")
    if not isinstance(attributes, ArrayAttr):
        return {}
    return cast(ArrayAttr[DictionaryAttr], attributes).data[argument.index].data


def integer_attribute(attributes: Mapping[str, Attribute], name: str) -> int | None:
    """An integer attribute's value, None where there is none."""
    attribute = attributes.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def dims_attribute(attributes: Mapping[str, Attribute]) -> tuple[int, ...] | None:
    """The argument positions in `tg.dims`, None where there are none."""
    attribute = attributes.get("tg.dims")
    if not isinstance(attribute, DenseArrayBase):
        return None
    return tuple(cast(Any, attribute).get_values())
