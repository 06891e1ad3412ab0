"""Memory: views, the cells that they show, and live memory, which a kernel or LINEAR reads and
changes in place as it runs.

A view is a memory and the movements that lead to it. Reading it moves the contents. Writing it
needs to know where each of its elements lies: the same movements, applied to the cells' numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.block_analysis import not_written, unordered_stores
from tgdialect.interpreter.lane_races import (
    LaneInstances,
    LaneRaces,
    check_parallel_writes,
    differ,
    on_elements,
)
from tgdialect.interpreter.movement import AppliedMovement
from tgdialect.interpreter.values import MaskedArray, check_size, lifted
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.numpy_dtypes import Array


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
    dtype: tg.DType
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
    def element_dtype(self) -> tg.DType:
        """The dtype of an element here, which a BITCAST may have changed."""
        for movement in reversed(self.movements):
            if isinstance(movement.op, tg.BitcastOp):
                return tg.dtype_of(movement.op.result)
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
    return tg.dtype_of(op.source).itemsize != tg.dtype_of(op.result).itemsize


def to_cells(value: Array, dtype: tg.DType, bytewise: bool) -> Array:
    """The elements of `value` as cells: as they are, or bytes on a new last axis."""
    if not bytewise:
        return value
    contiguous = np.ascontiguousarray(value.astype(numpy_dtype(dtype), copy=False))
    return contiguous.reshape(value.shape)[..., np.newaxis].view(np.uint8)


def from_cells(cells: Array, dtype: tg.DType, bytewise: bool) -> Array:
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


# -- live memory -----------------------------------------------------------------------------------


class AssumptionError(Exception):
    """An iteration has read a value that another one stored in a buffer, assumed to be private."""


class Lanes:
    """The copies of a private memory: their `count`, and the `number` of each lane's copy."""

    def __init__(self, extents: Sequence[int], private: Sequence[int]):
        """`extents` of all lane axes; `private` are the axes over which there are copies."""
        self.count = math.prod(extents[axis] for axis in private)
        number = np.zeros((1,) * len(extents), np.int64)
        stride = self.count
        for axis in private:
            stride //= max(extents[axis], 1)
            along = [1] * len(extents)
            along[axis] = extents[axis]
            number = number + np.arange(extents[axis]).reshape(along) * stride
        self.number = number


class LiveMemory:
    """Contents that stores change, with a copy per lane where `copies` says so.

    `copies` is called when the memory is first used, because only then the loops that have copies
    are running. `defined` marks the cells that have been written, if reading any other cell is an
    error, which is given to `undefined`, or would refute the assumption that the memory is private
    (`assumed`).
    `written` marks the cells of a caller's memory that have been written; `is_shared` says that
    several parameters are views of it. `watch` makes the checker
    of races between the parallel iterations that share the memory, given its number of cells.
    """

    def __init__(
        self,
        contents: Array,
        dtype: tg.DType,
        *,
        name: str = "memory",
        copies: Callable[[], Lanes] | None = None,
        assumed: bool = False,
        undefined: Callable[[InterpretationError], None] | None = None,
        keep_snapshot: bool = False,
        is_shared: bool = False,
    ):
        self.shape = contents.shape
        self.size = contents.size
        self.dtype = dtype
        self.name = name
        self.contents = np.ascontiguousarray(contents).reshape(contents.shape)
        self.snapshot: Array | None = None
        if keep_snapshot:
            self.take_snapshot()
        self.written: Array | None = None
        self.defined: Array | None = None
        self._lanes: Lanes | None = None
        self._copies = self._makes_copies = copies
        self._is_assumed, self._report_undefined = assumed, undefined
        self.is_shared = is_shared
        # By a write, the cells whose present value it has written; which are adds.
        self._writers: dict[Operation, Array] = {}
        self._adders: set[Operation] = set()
        self.watch: Callable[[int, Callable[[int], str]], LaneRaces] | None = None
        self._races: LaneRaces | None = None

    def view(self, lanes: int = 0) -> LiveView:
        """All of it, for arrays with so many axes before their shape."""
        return LiveView(self, CellMap(self.shape, self.dtype, lanes))

    @property
    def first_contents(self) -> Array:
        """The contents before every store, if a snapshot is kept; otherwise the present ones."""
        return self.contents if self.snapshot is None else self.snapshot

    def take_snapshot(self) -> None:
        """Make the present contents the first."""
        self.snapshot = self.contents.copy()

    @property
    def is_copied(self) -> bool:
        """Whether there is a copy per lane."""
        return self._lanes is not None

    def renew(self) -> None:
        """Forget the contents, and make the copies again on the next use."""
        self.contents = np.zeros(self.shape, self.contents.dtype)
        if self.snapshot is not None:
            self.take_snapshot()
        self._copies, self._lanes = self._makes_copies, None
        self.defined = self._races = None
        self._writers.clear()
        self._adders.clear()

    def _begin(self) -> None:
        """On first use: make the copies, and begin to look for races."""
        if self._copies is not None:
            self._copy(self._copies())
            self._copies = None
        if self.defined is None and (self._is_assumed or self._report_undefined):
            self.defined = np.zeros(self.contents.size, np.bool_)
        if self.watch is not None:
            self._races, self.watch = self.watch(self.contents.size, self._cell), None

    def _copy(self, lanes: Lanes) -> None:
        self._lanes = lanes
        shape = (lanes.count, *self.shape)
        check_size(shape, self.contents.dtype.itemsize)
        self.contents = np.broadcast_to(self.contents, shape).copy()
        if self.snapshot is not None:
            self.take_snapshot()

    def _cell(self, position: int) -> str:
        """The name of the cell at a position in the flat contents of all copies."""
        return f"cell {position % self.size} of {self.name}"

    def _flat(self, cells: Cells, numbers: Array) -> Array:
        """Positions in the flat contents of all copies; those of no cell are negative or wrong."""
        if self._lanes is None:
            return numbers - 1
        copy = self._lanes.number
        copy = copy.reshape(copy.shape + (1,) * (numbers.ndim - copy.ndim))
        return numbers - 1 + copy * (self.size * (self.dtype.itemsize if cells.bytewise else 1))

    def gather(
        self,
        cell_map: CellMap,
        mask: Array | None,
        now: Callable[[], LaneInstances],
        *,
        snapshot: bool = False,
    ) -> Array:
        """The elements of a view where `mask` is true and they exist; 0 elsewhere.

        `now` says who reads.
        """
        self._begin()
        cells = cell_map.cells
        there = cells.written(mask)
        source = self.first_contents if snapshot else self.contents
        flat = flat_cells(source, cells.bytewise)
        positions = self._flat(cells, cells.numbers)
        width = self.dtype.itemsize if cells.bytewise else 1
        if self.defined is not None:
            self._check_defined(positions // width, there, now)
        if self._races is not None and not snapshot:
            self._races.read(positions // width, there, now())
        if flat.size == 0:
            data = np.zeros(np.broadcast_shapes(positions.shape, there.shape), flat.dtype)
        elif bool(there.all()):
            data = flat[positions]
        else:
            chosen = np.where(there, positions, 0)
            data = np.where(there, flat[chosen], np.zeros((), flat.dtype))
        return from_cells(data, cell_map.element_dtype, cells.bytewise)

    def _check_defined(self, cells: Array, there: Array, now: Callable[[], LaneInstances]) -> None:
        assert self.defined is not None
        cells, there = np.broadcast_arrays(cells, there)
        missing = ~self.defined[cells[there]]
        if not bool(missing.any()):
            return
        if self._report_undefined is None:
            raise AssumptionError
        reader = now()
        shape = np.broadcast_shapes(
            there.shape, reader.numbers.shape + (1,) * (there.ndim - reader.numbers.ndim)
        )
        there = np.broadcast_to(there, shape)
        missing = ~self.defined[np.broadcast_to(cells, shape)[there]]
        at = int(np.argmax(missing))
        number = int(on_elements(reader.numbers, shape)[there][at])
        cell = self._cell(int(np.broadcast_to(cells, shape)[there][at]))
        self._report_undefined(not_written(reader.at(number), cell))

    def scatter(
        self,
        cell_map: CellMap,
        value: Array,
        mask: Array | None,
        now: Callable[[], LaneInstances] | None = None,
        *,
        adds: bool = False,
        shape: Sequence[int] = (),
        unordered: tuple[Operation, Set[Operation]] | None = None,
    ) -> None:
        """Write (or add) the elements of `value` where `mask` is true and the cell exists.

        Of several writes to a cell the last in row-major order of the axes stays. `shape` is what
        the lane axes are broadcast to, as an addition is made once per lane. `unordered` is the
        write and those that it is not ordered with. `now` says who writes, unless it is one lane:
        parallel ones may not write different values to a cell.
        """
        self._begin()
        cells = cell_map.cells
        # For each lane and element: whether it is written, its position in the memory, its bytes.
        there = cells.written(mask)
        positions = self._flat(cells, cells.numbers)
        values = to_cells(value, cell_map.element_dtype, cells.bytewise)
        full = np.broadcast_shapes(positions.shape, there.shape, values.shape)
        full = np.broadcast_shapes((*shape, *[1] * (len(full) - len(shape))), full)
        check_size(full, 8)
        positions, there, values = (np.broadcast_to(x, full) for x in (positions, there, values))
        width = self.dtype.itemsize if cells.bytewise else 1
        everywhere, positions, values = positions, positions[there], values[there]
        elements = positions // width
        flat = flat_cells(self.contents, cells.bytewise)
        if not adds and values.dtype != flat.dtype:
            values = values.view(flat.dtype)
        changed: Array | None = None
        if not adds and (self._races is not None or unordered is not None):
            changed = differ(flat[positions], values)
        if self._races is not None and now is not None:
            if changed is not None:
                self._races.write(everywhere // width, there, changed, now())
            else:
                self._races.add(everywhere // width, there, now())
        if adds and self.defined is not None and now is not None:
            self._check_defined(everywhere // width, there, now)
        if unordered is not None:
            self._check_order(elements, *unordered, changed)
        if not adds:
            flat[positions] = values
            # A value that is not there afterwards has been overwritten by another iteration.
            if now is not None:
                lost = differ(flat[positions], values)
                if bool(lost.any()):
                    check_parallel_writes(elements, lost, there, now(), self._cell)
        elif cells.bytewise:
            raise InterpretationError("an atomic add to memory through a BITCAST of its elements")
        else:
            np.add.at(flat.view(numpy_dtype(cell_map.element_dtype)), positions, values)
        if self.written is not None:
            self.written[elements] = True
        if self.defined is not None:
            self.defined[elements] = True

    def _check_order(
        self, cells: Array, op: Operation, unordered: Set[Operation], changed: Array | None
    ) -> None:
        """Raise InterpretationError if an unordered write has written one of these cells before.

        `changed` marks the cells whose value a store changes; it is None for an addition. Two
        stores of equal values do not race.
        """
        for other in [o for o in self._writers if o in unordered]:
            contested = self._writers[other][cells]
            if changed is not None and other not in self._adders:
                contested &= changed
            if bool(contested.any()):
                raise unordered_stores(self._cell(int(cells[contested][0])), op, other)
        if changed is None:
            self._adders.add(op)
        else:
            for written in self._writers.values():
                written[cells[changed]] = False
        written = self._writers.setdefault(op, np.zeros(self.contents.size, np.bool_))
        written[cells] = True


@dataclass(frozen=True, slots=True, eq=False)
class LiveView:
    """A view of live memory."""

    memory: LiveMemory
    cell_map: CellMap

    def overlaps(self, other: LiveView) -> bool:
        """Whether the cells from the first to the last one of two views have some in common."""
        if self.memory is not other.memory:
            return False
        (a, b), (c, d) = self._reach, other._reach
        return a < d and c < b

    @property
    def _reach(self) -> tuple[int, int]:
        """The bytes of the memory from the first cell to the last one."""
        cells = self.cell_map.cells
        there = cells.numbers[cells.numbers > 0]
        width = 1 if cells.bytewise else self.memory.dtype.itemsize
        return (int(there.min() - 1) * width, int(there.max()) * width) if there.size else (0, 0)

    def contents(self) -> Array:
        """The elements that the memory has here now."""
        memory = self.memory
        return self.cell_map.read(MaskedArray(memory.contents)).materialised()

    def written(self) -> Array:
        """Which of the elements have been written, at least in part."""
        cells, flags = self.cell_map.cells, self.memory.written
        assert flags is not None
        width = self.memory.dtype.itemsize if cells.bytewise else 1
        found: Array = flags[(cells.numbers - 1) // width] & (cells.numbers > 0)
        return np.asarray(found.any(axis=-1)) if cells.bytewise else found
