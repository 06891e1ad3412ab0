"""Views of memory, and the cells that they show.

A view is a memory and the movements that lead to it. Reading it moves the contents. Writing it
needs to know where each of its elements lies: the same movements, applied to the cells' numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tgdialect.interpreter.movement import AppliedMovement
from tgdialect.interpreter.values import MaskedArray, check_size, lifted
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import DType
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import dtype_of


@dataclass(frozen=True)
class Cells:
    """Where each element of a view lies: one-based numbers of cells, 0 for one that is not there.

    A cell is an element of the memory, or a byte of it where a BITCAST has changed the size of the
    elements; then the last axis of `numbers` has the bytes of one element.
    """

    numbers: Array
    bytewise: bool

    def written(self, mask: Array | None) -> Array:
        """Which of `numbers` are there and, for each element, chosen by `mask`."""
        there = self.numbers != 0
        if mask is None:
            return there
        return there & (mask[..., np.newaxis] if self.bytewise else mask)


@dataclass(frozen=True, eq=False)
class CellMap:
    """The whole of a memory of `shape` and `dtype`, or another cell map with one more movement.

    `lanes` is the number of leading axes that each array of the kernel has before its shape.
    """

    shape: Sequence[int]
    dtype: DType
    lanes: int = 0
    source: CellMap | None = None
    movement: AppliedMovement | None = None
    _cache: dict[bool, MaskedArray] = field(default_factory=dict[bool, MaskedArray])

    def moved(self, movement: AppliedMovement) -> CellMap:
        """This cell map with one more movement."""
        return CellMap(self.shape, self.dtype, self.lanes, self, movement)

    def lifted(self, lanes: int) -> CellMap:
        """The same view of the same memory, for arrays with `lanes` axes before their shape."""
        if lanes == self.lanes:
            return self
        cell_map = CellMap(self.shape, self.dtype, lanes)
        for movement in self.movements:
            operands = [lifted(operand, lanes) for operand in movement.operands]
            cell_map = cell_map.moved(AppliedMovement(movement.op, operands, lanes))
        return cell_map

    @property
    def movements(self) -> list[AppliedMovement]:
        """The movements from the memory to here, in order."""
        result: list[AppliedMovement] = []
        cell_map = self
        while cell_map.source is not None and cell_map.movement is not None:
            result.append(cell_map.movement)
            cell_map = cell_map.source
        return result[::-1]

    def read(self, contents: MaskedArray) -> MaskedArray:
        """The view of this memory's `contents`, an array of the memory's shape."""
        for movement in self.movements:
            contents = movement.of(contents)
        return contents

    @cached_property
    def element_dtype(self) -> DType:
        """The dtype of an element here, which a BITCAST may have changed."""
        for movement in reversed(self.movements):
            if isinstance(movement.op, tg.BitcastOp):
                return dtype_of(movement.op.result)
        return self.dtype

    @property
    def is_bytewise(self) -> bool:
        """Whether a BITCAST has changed the size of the elements."""
        return any(_changes_size(movement) for movement in self.movements)

    @cached_property
    def cells(self) -> Cells:
        """Where each element lies."""
        if self.is_bytewise:
            return Cells(self.byte_numbers, True)
        return Cells(self._numbers(False).materialised(), False)

    @cached_property
    def byte_numbers(self) -> Array:
        """Where each byte of each element lies, on a new last axis: one-based, 0 for nowhere."""
        numbers = self._numbers(True).materialised()
        return np.ascontiguousarray(numbers).reshape(numbers.shape)[..., np.newaxis].view(np.int64)

    def _numbers(self, bytewise: bool) -> MaskedArray:
        """Cell numbers as an array that movements apply to; a chain's prefixes are kept."""
        chain: list[CellMap] = []
        cell_map = self
        while bytewise not in cell_map._cache and cell_map.source is not None:
            chain.append(cell_map)
            cell_map = cell_map.source
        if bytewise not in cell_map._cache:
            cell_map._cache[bytewise] = cell_map._base_numbers(bytewise)
        numbers = cell_map._cache[bytewise]
        for cell_map in reversed(chain):
            assert cell_map.movement is not None
            numbers = cell_map.movement.of(numbers, cells=True)
            cell_map._cache[bytewise] = numbers
        return numbers

    def _base_numbers(self, bytewise: bool) -> MaskedArray:
        size = math.prod(self.shape)
        shape = (1,) * self.lanes + tuple(self.shape)
        width = self.dtype.itemsize if bytewise else 1
        check_size((size, width), 8)
        numbers = np.arange(1, size * width + 1, dtype=np.int64)
        if bytewise:
            numbers = numbers.view(np.dtype((np.void, 8 * width)))
        return MaskedArray(numbers.reshape(shape))


def _changes_size(movement: AppliedMovement) -> bool:
    op = movement.op
    if not isinstance(op, tg.BitcastOp):
        return False
    return dtype_of(op.source).itemsize != dtype_of(op.result).itemsize


def to_cells(value: Array, dtype: DType, bytewise: bool) -> Array:
    """The elements of `value` as cells: as they are, or bytes on a new last axis."""
    if not bytewise:
        return value
    contiguous = np.ascontiguousarray(value.astype(numpy_dtype(dtype), copy=False))
    return contiguous.reshape(value.shape)[..., np.newaxis].view(np.uint8)


def from_cells(cells: Array, dtype: DType, bytewise: bool) -> Array:
    """The inverse of `to_cells`."""
    if not bytewise:
        return cells.view(numpy_dtype(dtype)) if cells.dtype != numpy_dtype(dtype) else cells
    joined: Array = np.ascontiguousarray(cells)
    if dtype.is_bool:
        return joined[..., 0] != 0
    return joined.view(numpy_dtype(dtype))[..., 0]


def flat_cells(memory: Array, bytewise: bool) -> Array:
    """A contiguous memory as a one-dimensional array of its cells, sharing its storage."""
    flat: np.ndarray[Any, Any] = memory.reshape(-1)
    return flat.view(np.uint8) if bytewise else flat
