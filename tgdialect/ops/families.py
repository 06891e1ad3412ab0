"""All ops of the dialect, by family in the order of the specification, and all attributes."""

from __future__ import annotations

from types import ModuleType
from typing import TypeVar

from xdsl.ir import Attribute, Operation

from tgdialect.ops import (
    attributes,
    call,
    codegen,
    elementwise,
    marker,
    memory,
    movement,
    multi,
    ordering,
    reduce,
    scan,
    source,
)
from tgdialect.ops.base import TgOp

T = TypeVar("T")

_FAMILIES = (
    *(source, movement, reduce, call, scan, memory),
    *(ordering, elementwise, marker, codegen, multi),
)


def _named(module: ModuleType, kind: type[T]) -> list[type[T]]:
    """The classes of a kind that a file defines, but for abstract ones, which have no name."""
    own = (x for x in vars(module).values() if isinstance(x, type) and issubclass(x, kind))
    return [each for each in own if each.__module__ == module.__name__ and "name" in vars(each)]


OPERATIONS: list[type[Operation]] = [op for family in _FAMILIES for op in _named(family, TgOp)]
"""Every op."""

ATTRIBUTES = _named(attributes, Attribute)
"""Every attribute and type but that for a target, which is in `targets`."""
