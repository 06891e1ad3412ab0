"""Races between parallel iterations that are run as lanes.

Lanes execute an op all together before any executes the next. So a kernel that lacks a BARRIER
would give the right result here, and a wrong one on a device. To find such races, each cell of a
memory that parallel iterations share remembers who has read it, written it, and added to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tgdialect.interpreter.block_analysis import Axis, Instance, is_work_item, parallel_race
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

_UNKNOWN_BITS = 16
"""The width of the numbers of a loop without a constant bound, in bits. Races between iterations
whose difference is a multiple of 2 to this power may go unnoticed; a wider one leaves less room for
the other loops of a nest, of which `_NUMBER_BITS` are for all together."""

_NUMBER_BITS = 62
"""The width of the number of an iteration of a nest of loops, in bits: that of an i64 without its
sign, and one bit for rounding up."""


class Numbering:
    """Numbers for the iterations of the parallel loops around each op of a block, in mixed radix.

    Loops that are not around any op together share digits.
    """

    def __init__(self, around: Callable[[Operation], Sequence[Axis]], ops: Iterable[Operation]):
        """`around` gives the parallel loops around an op. A number is less significant in work
        items than in workgroups, so that those of a workgroup follow each other."""
        self.around = around
        nests = dict.fromkeys(tuple(around(op)) for op in ops)
        bits = _UNKNOWN_BITS
        for nest in nests:
            known = [bound for axis in nest if (bound := tg.known_index(axis.bound))]
            room = _NUMBER_BITS - math.prod(known).bit_length()
            bits = min(bits, room // max(1, len(nest) - len(known)))
        unknown = 1 << max(1, bits)
        self.radix = {a: tg.known_index(a.bound) or unknown for nest in nests for a in nest}
        self.stride: dict[Axis, int] = {}
        for axis in sorted(self.radix, key=is_work_item, reverse=True):
            nested = {other for nest in nests if axis in nest for other in nest}
            below = [self.stride[a] * self.radix[a] for a in nested if a in self.stride]
            self.stride[axis] = max(below, default=1)
        self._ops: dict[Operation, int] = {}
        self.ops: list[Operation] = []

    def op_number(self, op: Operation) -> int:
        """A small number for an op, its position in `ops`."""
        if op not in self._ops:
            self._ops[op] = len(self.ops)
            self.ops.append(op)
        return self._ops[op]

    def digit(self, numbers: Any, axis: Axis) -> Any:
        """The values of one loop variable."""
        return numbers // self.stride[axis] % self.radix[axis]

    def instance(self, op: Operation, number: int) -> Instance:
        """An op in the iterations of a number."""
        return Instance(op, tuple((a, self.digit(number, a)) for a in self.around(op)))


@dataclass(frozen=True)
class LaneInstances:
    """An op in the lanes that execute it.

    `numbers` are those of the lanes' iterations, and `barriers` counts the BARRIERs that their
    workgroups have reached; both are arrays of lanes.
    """

    op: Operation
    numbering: Numbering
    numbers: Array
    barriers: Array

    def at(self, number: int) -> Instance:
        return self.numbering.instance(self.op, number)


@dataclass(frozen=True)
class _Batch:
    """Accesses by one op: for each a different cell, the number of its iteration, and BARRIERs."""

    op: int
    cells: Array
    numbers: Array
    barriers: Array

    def where(self, chosen: Array) -> _Batch:
        return _Batch(self.op, self.cells[chosen], self.numbers[chosen], self.barriers[chosen])


_Accesses = Array
"""For each cell of a memory the latest access of a kind, and an earlier one that is in no order
with it: for both the op (-1 for none), the number of the iteration, and BARRIERs.

Any later access that conflicts with an access to the cell conflicts with one of these two.
"""


class LaneRaces:
    """The readers, writers and additions of each cell of a memory."""

    def __init__(
        self, cells: int, numbering: Numbering, axes: Sequence[Axis], show: Callable[[int], str]
    ):
        """`axes` are the parallel loops whose iterations share the memory; `show` names a cell."""
        self._numbering, self._axes, self._show = numbering, axes, show
        self._readers, self._writers, self._adders = np.full((3, 2, 3, cells), -1, np.int64)

    def read(self, cells: Array, there: Array, now: LaneInstances) -> None:
        """Lanes read cells, where `there`."""
        for batch in _batches(cells, there, now):
            self._check(batch, "reads", self._writers, "has written")
            self._check(batch, "reads", self._adders, "has added to")
            self._record(batch, self._readers)

    def write(self, cells: Array, there: Array, changed: Array, now: LaneInstances) -> None:
        """Lanes write cells, where `there`; `changed` says which of these are changed.

        Several may write a cell in one op: `check_parallel_writes` compares their values.
        """
        changes = np.zeros(there.shape, np.bool_)
        changes[there] = changed
        for batch in _batches(cells, there & changes, now):
            self._check(batch, "writes", self._writers, "has written with another value")
        batches = _batches(cells, there, now)
        for batch in batches:
            self._check(batch, "writes", self._readers, "has read")
            self._check(batch, "writes", self._adders, "has added to")
        for batch in batches:
            self._record(batch, self._writers)

    def add(self, cells: Array, there: Array, now: LaneInstances) -> None:
        """Lanes add to cells, where `there`."""
        for batch in _batches(cells, there, now):
            self._check(batch, "adds to", self._readers, "has read")
            self._check(batch, "adds to", self._writers, "has written")
            self._record(batch, self._adders)

    def _check(self, batch: _Batch, does: str, others: _Accesses, did: str) -> None:
        """Refuse accesses that are in no order with one of the others to their cells."""
        latest, earlier = others[:, :, batch.cells]
        with_latest = self._conflict(batch, latest)
        wrong = with_latest | self._conflict(batch, earlier)
        if not bool(wrong.any()):
            return
        at = int(np.argmax(wrong))
        op, number = map(int, (latest if with_latest[at] else earlier)[:2, at])
        of = self._numbering
        now = of.instance(of.ops[batch.op], int(batch.numbers[at]))
        other = of.instance(of.ops[op], number)
        raise parallel_race(self._show(int(batch.cells[at])), now, does, other, did)

    def _record(self, batch: _Batch, accesses: _Accesses) -> None:
        """Make accesses the latest to their cells."""
        latest, earlier = accesses[:, :, batch.cells]
        # One of another workgroup is in no order with any of this one, whatever BARRIERs come.
        keeps = self._conflict(batch, earlier, always=True)
        takes = self._conflict(batch, latest) & ~keeps
        keeps |= self._conflict(batch, earlier)
        accesses[1][:, batch.cells] = np.where(takes, latest, np.where(keeps, earlier, -1))
        ops = np.full(batch.cells.shape, batch.op)
        accesses[0][:, batch.cells] = np.stack([ops, batch.numbers, batch.barriers])

    def _conflict(self, now: _Batch, before: Array, *, always: bool = False) -> Array:
        """Whether accesses are in no order with earlier ones of their cells, of which `before` are
        the ops, numbers and BARRIERs. `always` leaves out those that a BARRIER would order."""
        ops, numbers, barriers = before
        result = np.zeros(now.cells.shape, np.bool_)
        of = self._numbering
        around = of.around(of.ops[now.op])
        for op in {int(op) for op in ops} - {-1}:
            there = ops == op
            others = of.around(of.ops[op])
            for axis in self._axes:
                if axis not in around or axis not in others or (always and is_work_item(axis)):
                    continue
                differ = there & (of.digit(numbers, axis) != of.digit(now.numbers, axis))
                result |= differ & (barriers == now.barriers) if is_work_item(axis) else differ
        return result


def _batches(cells: Array, there: Array, now: LaneInstances) -> Sequence[_Batch]:
    """The accesses of lanes, where `there`: the first and the last iteration for each cell.

    Of several workgroups these are two different ones, and of several work items too.
    """
    shape = np.broadcast_shapes(there.shape, cells.shape)
    lanes = np.broadcast_shapes(now.numbers.shape, now.barriers.shape)
    shape = np.broadcast_shapes(shape, lanes + (1,) * (len(shape) - len(lanes)))
    there = np.broadcast_to(there, shape)
    cells = np.broadcast_to(cells, shape)[there]
    numbers, barriers = (on_elements(x, shape)[there] for x in (now.numbers, now.barriers))
    order = np.lexsort((numbers, cells))
    new = np.diff(cells[order], prepend=-1, append=-1) != 0 if cells.size else np.zeros(1, bool)
    all = _Batch(now.numbering.op_number(now.op), cells, numbers, barriers)
    first, last = all.where(order[new[:-1]]), all.where(order[new[1:]])
    return (first,) if np.array_equal(first.numbers, last.numbers) else (first, last)


def on_elements(lanes: Array, shape: Sequence[int]) -> Array:
    """An array of lanes, broadcast to the elements that each lane has."""
    return np.broadcast_to(lanes.reshape(lanes.shape + (1,) * (len(shape) - lanes.ndim)), shape)


def differ(a: Array, b: Array) -> Array:
    """Where two one-dimensional arrays of one dtype differ in any bit: a NaN equals itself."""
    width = a.dtype.itemsize
    one, other = (np.ascontiguousarray(x).view(np.uint8).reshape(-1, width) for x in (a, b))
    return np.asarray((one != other).any(axis=1))


def check_parallel_writes(
    cells: Array, lost: Array, there: Array, now: LaneInstances, show: Callable[[int], str]
) -> None:
    """Refuse writes of one op to one cell by iterations that run in parallel.

    `lost` are the writes, where `there`, whose value another write to the same cell has replaced;
    of one iteration the last may do that. Of writes of equal values it does not matter which is
    last.
    """
    # Along an axis on which nothing varies, any iteration stands for all.
    varying = tuple(slice(None) if n > 1 else slice(0, 1) for n in there.shape)
    numbers = on_elements(now.numbers[varying[: now.numbers.ndim]], there.shape)[there]
    contested = np.isin(cells, cells[lost])
    unique, which = np.unique(cells[contested], return_inverse=True)
    least = np.full(unique.size, np.iinfo(np.int64).max)
    greatest = np.full(unique.size, -1)
    np.minimum.at(least, which, numbers[contested])
    np.maximum.at(greatest, which, numbers[contested])
    if bool((several := least != greatest).any()):
        at = int(np.argmax(several))
        one, other = now.at(int(greatest[at])), now.at(int(least[at]))
        did = "has written with another value"
        raise parallel_race(show(int(unique[at])), one, "writes", other, did)
