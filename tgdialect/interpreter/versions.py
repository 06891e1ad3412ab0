"""Versioned memory: the memory of a host program, as immutable values.

A memory is never changed. A STORE is a record; a version of a memory is its initial contents with a
set of stores applied, and a view of it is a value like any other. So the order in which a block
lists its ops means nothing, as docs/semantics.md has it: a read without AFTER sees no store, AFTER
sees those that its dependencies wait for.

Sets of stores are bit masks of their numbers in a `Journal`. A store gets a greater number than
each one that it waits for, so the order of numbers is an order of execution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.memory import CellMap, LiveMemory, flat_cells
from tgdialect.interpreter.values import MaskedArray, broadcast
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

Stores = int
"""A set of stores: bit k is store k of the journal."""


class VersionedMemory:
    """The identity of a memory, its initial contents, and the stores that have been made to it."""

    def __init__(self, contents: Array, dtype: tg.DType, name: str = "memory"):
        self.initial = contents
        self.dtype = dtype
        self.name = name
        self.stores: Stores = 0
        self._latest: tuple[Stores, Array] = (0, contents)

    @property
    def cell_map(self) -> CellMap:
        return CellMap(self.initial.shape, self.dtype)

    def contents(self, version: Stores, journal: Journal) -> Array:
        """The contents after the stores of `version`."""
        known, data = self._latest
        below = (1 << known.bit_length()) - 1
        if known & ~version or version & ~known & below:
            known, data = 0, self.initial
        pending = version & ~known
        while pending:
            lowest = pending & -pending
            data = journal.apply(lowest.bit_length() - 1, data, known)
            known |= lowest
            pending ^= lowest
        self._latest = (version, data)
        return data


@dataclass(frozen=True, eq=False)
class Store:
    """The write of an op, a STORE, ATOMICADD or CALL: `value` to `cell_map` where `mask` is true.

    `value` and `mask` have the shape of the cell map; a mask of None is true everywhere.
    """

    op: Operation
    memory: VersionedMemory
    cell_map: CellMap
    value: Array
    mask: Array | None
    waits_for: Stores
    adds: bool = False

    def on(self, contents: Array) -> Array:
        """A copy of `contents` with the store made."""
        if self.cell_map.source is None and self.mask is None and not self.adds:
            return self.value.reshape(contents.shape)
        result = np.array(contents, order="C")
        view = self.cell_map.read(MaskedArray(result)).data
        if not self.adds and np.may_share_memory(view, result) and view.flags.writeable:
            np.copyto(view, self.value, where=True if self.mask is None else self.mask)
            return result
        memory = LiveMemory(result, self.memory.dtype)
        memory.scatter(self.cell_map, self.value, self.mask, adds=self.adds)
        return memory.contents

    def written(self) -> Array:
        """A mask of the bytes that the store writes, flattened."""
        shape = self.memory.initial.shape
        touched = np.zeros(shape, self.memory.initial.dtype)
        cells = self.cell_map.cells
        chosen = cells.written(broadcast(self.mask, self.value.shape))
        bytes = flat_cells(touched, True)
        width = 1 if cells.bytewise else self.memory.dtype.itemsize
        bytes.reshape(-1, width)[cells.numbers[chosen] - 1] = 1
        return np.not_equal(bytes, 0)


class Journal:
    """Every store of one run of a function, in an order of execution."""

    def __init__(self) -> None:
        self._stores: list[Store] = []

    def add(self, store: Store) -> Stores:
        """Record a store; returns it as a set, with all that it waits for."""
        number = 1 << len(self._stores)
        self._stores.append(store)
        store.memory.stores |= number
        return number | store.waits_for

    def apply(self, number: int, contents: Array, applied: Stores) -> Array:
        """Make a store on top of `applied`, of which it may not race with any."""
        store = self._stores[number]
        unordered = applied & ~store.waits_for
        while unordered:
            lowest = unordered & -unordered
            with errors_at(store.op):
                self._check_race(store, self._stores[lowest.bit_length() - 1])
            unordered ^= lowest
        with errors_at(store.op):
            return store.on(contents)

    def check_races(self) -> None:
        """Refuse unordered stores to one cell, whether or not anything has read it."""
        for memory in dict.fromkeys(store.memory for store in self._stores):
            memory.contents(memory.stores, self)

    def written(self, version: Stores, memory: VersionedMemory) -> Array:
        """Which elements of a memory the stores of `version` have written, in its shape."""
        result = np.zeros(memory.initial.size * memory.dtype.itemsize, np.bool_)
        for number, store in enumerate(self._stores):
            if version >> number & 1 and store.memory is memory:
                result |= store.written()
        shape = (*memory.initial.shape, memory.dtype.itemsize)
        return np.asarray(result.reshape(shape).any(axis=-1))

    @staticmethod
    def _check_race(one: Store, other: Store) -> None:
        if one.adds and other.adds:
            return
        both = one.written() & other.written()
        if both.any():
            cell = int(np.argmax(both)) // one.memory.dtype.itemsize
            raise InterpretationError(
                f"race: two stores that neither waits for the other write cell {cell} of "
                f"{one.memory.name}"
            )


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
