"""Attributes of a function's arguments, as `%n: tensor<index> {tg.min = 1 : index}`.

| attribute | on | meaning |
|---|---|---|
| `tg.name` | any, and a result | its name in the source; of a dynamic dimension its name |
| `tg.min`, `tg.max` | an index scalar | the bounds of a dynamic dimension |
| `tg.dims` | a tensor with `?` | per `?`, the position of the argument with its value |
| `tg.computed` | an index scalar | its value, of those before it: `"%0 2 idiv"` is half of `%0` |
| `tg.constant` | a tensor | passing the same array again means the same contents |
| `tg.donated` | a tensor | not needed after a call: a result may be stored there, best the n-th |
| `tg.output` | memory | a result is stored here |
| `tg.result` | memory | an input that is overwritten: result n is stored here |
| `tg.buffer` | memory | the BUFFER of that slot |
| `tg.data` | memory | what a BINARY is there: these bytes, which no call changes |
| `tg.workspace` | memory | the arena of intermediate values of one call |
| `tg.persistent` | memory | values from constants; its first 8 bytes are an initialised flag |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument

from tgdialect.ops.attributes import DataAttr
from tgdialect.ops.data_files import Contents

NAME = "tg.name"
"""The attribute with the source's name for an argument or a result: any text."""

ARENAS = frozenset({"tg.workspace", "tg.persistent"})
"""Attributes of arenas: bytes of which buffers of the program are views. Arenas come last."""

ANY_RESULT = -1
"""The `tg.donated` of an argument for whose memory no result is the best."""

ALLOCATED = ARENAS | {"tg.output", "tg.buffer", "tg.data", "tg.computed"}
"""Attributes of arguments that a stage has added. No caller gives them: they are allocated, or
computed, by each call."""

ARGUMENT_ATTRIBUTES: Mapping[str, type[Attribute]] = {
    NAME: builtin.StringAttr,
    "tg.min": builtin.IntegerAttr,
    "tg.max": builtin.IntegerAttr,
    "tg.dims": builtin.DenseArrayBase,
    "tg.computed": builtin.StringAttr,
    "tg.constant": builtin.UnitAttr,
    "tg.donated": builtin.IntegerAttr,
    "tg.output": builtin.UnitAttr,
    "tg.result": builtin.IntegerAttr,
    "tg.buffer": builtin.IntegerAttr,
    "tg.data": DataAttr,
    "tg.workspace": builtin.UnitAttr,
    "tg.persistent": builtin.UnitAttr,
}
"""The class of each attribute."""


def argument_attributes(argument: BlockArgument) -> Mapping[str, Attribute]:
    """The attributes of a block argument of a `func.func`; none for any other block's."""
    function = argument.block.parent_op()
    attributes = None if function is None else function.properties.get("arg_attrs")
    if not isinstance(attributes, builtin.ArrayAttr):
        return {}
    return cast(builtin.ArrayAttr[builtin.DictionaryAttr], attributes).data[argument.index].data


def result_attributes(function: FuncOp, number: int) -> Mapping[str, Attribute]:
    """The attributes of a result of a function."""
    attributes = function.properties.get("res_attrs")
    if not isinstance(attributes, builtin.ArrayAttr):
        return {}
    given = cast(builtin.ArrayAttr[builtin.DictionaryAttr], attributes).data
    return given[number].data if number < len(given) else {}


def name_attribute(attributes: Mapping[str, Attribute]) -> str | None:
    """The source's name for an argument or a result; None if it has none."""
    name = attributes.get(NAME)
    return name.data if isinstance(name, builtin.StringAttr) else None


def integer_attribute(attributes: Mapping[str, Attribute], name: str) -> int | None:
    """The value of an integer attribute; None if it is absent."""
    attribute = attributes.get(name)
    return attribute.value.data if isinstance(attribute, builtin.IntegerAttr) else None


def data_attribute(attributes: Mapping[str, Attribute]) -> Contents | None:
    """The contents that an argument has in every call; None if it is given them, or writes them."""
    attribute = attributes.get("tg.data")
    return attribute.data if isinstance(attribute, DataAttr) else None


def computed_attribute(attributes: Mapping[str, Attribute]) -> str | None:
    """The expression that gives the value of an index argument (`expressions.py`); None if the
    caller does."""
    attribute = attributes.get("tg.computed")
    return attribute.data if isinstance(attribute, builtin.StringAttr) else None


def overwritten_arguments(function: FuncOp) -> list[tuple[int, BlockArgument]]:
    """The results that are stored in inputs: the number of each, in order, and the argument."""
    numbers = ((integer_attribute(argument_attributes(a), "tg.result"), a) for a in function.args)
    return sorted(((n, a) for n, a in numbers if n is not None), key=lambda pair: pair[0])


def dims_attribute(attributes: Mapping[str, Attribute]) -> tuple[int, ...] | None:
    """The argument positions in `tg.dims`; None if it is absent."""
    attribute = attributes.get("tg.dims")
    if not isinstance(attribute, builtin.DenseArrayBase):
        return None
    return tuple(cast(Any, attribute).get_values())
