"""The values of a host program: tensors, views of memory, ordering edges and tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tgdialect.interpreter.cell_maps import CellMap
from tgdialect.interpreter.values import MaskedArray
from tgdialect.interpreter.versions import Stores, VersionedMemory


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A value, and the stores that it waits for."""

    array: MaskedArray
    after: Stores = 0


@dataclass(frozen=True, slots=True, eq=False)
class VersionedView:
    """Memory: what a read through the view sees, and where a store through it goes.

    `version` are the stores to `memory` that the view sees; it may wait for others as well.
    """

    array: MaskedArray
    memory: VersionedMemory
    cell_map: CellMap
    version: Stores = 0
    after: Stores = 0


@dataclass(frozen=True, slots=True)
class Void:
    """An ordering edge: the stores that have been made once it is reached."""

    after: Stores = 0


@dataclass(frozen=True, slots=True)
class Tuple:
    """The values of a TUPLE; as a whole it waits for `after`."""

    values: Sequence[HostValue]
    after: Stores = 0


HostValue = TensorValue | VersionedView | Void | Tuple


def whole(memory: VersionedMemory) -> VersionedView:
    """The view of all of a memory, before any store."""
    return VersionedView(MaskedArray(memory.initial), memory, memory.cell_map)


def waits_for(values: Sequence[HostValue]) -> Stores:
    """The stores that any of the values waits for."""
    result: Stores = 0
    for value in values:
        result |= value.after
    return result
